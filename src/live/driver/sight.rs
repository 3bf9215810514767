//! Whether the API server answers the watches of a scenario.
//!
//! Inputs: what watches show. Outputs: for how long nothing could be seen, and why a scenario has to end. Pure.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::network::Resource;
use nodeproof_core::objects::time::seconds;

use crate::live::cache::{Arrival, Seen};
use crate::live::timing::BLIND_MAX;

/// Which kinds cannot be seen now, and since when.
#[derive(Debug, Default)]
pub(super) struct Sight {
    blind: BTreeMap<Resource, Timestamp>,
    /// The longest of these times that is over.
    longest: SignedDuration,
    /// The last trouble of a watch.
    trouble: Option<String>,
}

impl Sight {
    pub(super) fn handle(&mut self, arrival: &Arrival) {
        if matches!(arrival.seen, Seen::Command(..)) {
            return;
        }
        if let Seen::Trouble(why) = &arrival.seen {
            self.trouble = Some(why.clone());
            self.blind.entry(arrival.resource.clone()).or_insert(arrival.at);
        } else if let Some(since) = self.blind.remove(&arrival.resource) {
            self.longest = self.longest.max(arrival.at.duration_since(since));
        }
    }

    /// Returns why the scenario has to end, if the API server has not answered for too long.
    pub(super) fn lost(&self, now: Timestamp) -> Option<String> {
        let since = self.blind.values().min()?;
        let why = self.trouble();
        let is_lost = now.duration_since(*since) > BLIND_MAX;
        is_lost.then(|| format!("the API server has not answered for {}: {why}", seconds(BLIND_MAX)))
    }

    /// Returns the last trouble.
    pub(super) fn trouble(&self) -> &str {
        self.trouble.as_deref().unwrap_or("no answer")
    }

    /// Returns the longest time for which the API server did not answer, and whether it still does not.
    pub(super) fn silence(&self, now: Timestamp) -> (SignedDuration, bool) {
        let open = self.blind.values().map(|since| now.duration_since(*since));
        (open.fold(self.longest, SignedDuration::max), !self.blind.is_empty())
    }
}
