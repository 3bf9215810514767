//! Decisions and trace lines as a driver numbers them: what failure texts and `GET decisions` show.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{Because, Decision};
use crate::json;
use crate::objects::time::to_micro_time;
use crate::objects::{Json, Text};

/// A decision with its number in the simulation.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedDecision {
    /// When.
    pub at: Timestamp,
    /// Its number in the simulation, printed as `d17`.
    pub number: u32,
    /// The component's name: `node-lifecycle-controller`, `kubelet/w1`.
    pub component: Text,
    /// The decision as the component put it.
    pub decision: Decision,
    /// The numbers of the decisions among its reasons.
    pub because: Vec<u32>,
}

impl RecordedDecision {
    /// Returns the JSON object of `GET decisions`.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut numbers = self.because.iter();
        let because: Json = self
            .decision
            .because
            .iter()
            .map(|reason| match reason {
                Because::Fact(fact) => json!({"fact": fact}),
                Because::Decision(_) => json!({"id": numbers.next().map(|number| format!("d{number}"))}),
            })
            .collect();
        let mut line = json!({
            "at": to_micro_time(self.at), "id": format!("d{}", self.number), "component": self.component.as_str(),
            "about": self.decision.about.as_str(), "what": self.decision.what,
        });
        line.set(&["because"], because);
        line
    }

    /// Returns the facts and decisions behind it in one line for people.
    #[must_use]
    pub fn reasons(&self) -> String {
        let mut numbers = self.because.iter();
        let reasons: Vec<String> = self
            .decision
            .because
            .iter()
            .map(|reason| match reason {
                Because::Fact(fact) => fact.clone(),
                Because::Decision(_) => numbers.next().map(|number| format!("d{number}")).unwrap_or_default(),
            })
            .collect();
        reasons.join("; ")
    }
}

/// A line of the trace.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceLine {
    /// When.
    pub at: Timestamp,
    /// Its number.
    pub n: u64,
    /// The rest of the line's fields.
    pub fields: Json,
}

impl TraceLine {
    /// Returns the JSON object of `GET trace`.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut line = self.fields.clone();
        line.set(&["at"], to_micro_time(self.at));
        line.set(&["n"], i64::try_from(self.n).unwrap_or(i64::MAX));
        line
    }
}
