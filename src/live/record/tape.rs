//! Turns what the watches show into the lines of a recording.
//!
//! Inputs: arrivals in order, writers from other sources. Outputs: lines of `watch.jsonl` and `actions.jsonl`, and the
//! anomalies of the recording. A renewal of a Lease that changes only the time is one short line. Lines are stored as
//! they will be written; of renewals, which are most of what a quiet cluster does, little more than the instants is
//! stored. Invariant: what was not seen is not invented: a watch that had to start over is an anomaly.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nodeproof_core::json;
use nodeproof_core::network::{LEASES, Resource};
use nodeproof_core::objects::{Json, Text};

use super::audit::AuditEntry;
use super::redact::Privacy;
use super::times::offset;
use crate::live::cache::{Arrival, CacheChange, Seen, WatchCache};
use crate::live::writer::writer_of;

/// The lines so far.
#[derive(Debug)]
pub(super) struct Tape {
    started: Timestamp,
    ended: f64,
    privacy: Privacy,
    cache: WatchCache,
    watch: Vec<String>,
    renewals: Vec<RenewalLine>,
    actions: Vec<(f64, Json)>,
    anomalies: Vec<String>,
}

/// A renewal of a Lease.
#[derive(Debug)]
struct RenewalLine {
    t: f64,
    node: Text,
    /// The new `renewTime`.
    time: Text,
}

impl RenewalLine {
    /// Returns the line of the renewal.
    fn line(&self) -> Json {
        json!({
            "t": self.t, "actor": format!("kubelet/{}", self.node), "do": "renew-lease",
            "request": {"body": {"spec": {"renewTime": self.time.clone()}}},
            "response": {"code": 200, "t": self.t},
        })
    }
}

impl Tape {
    /// Begins at an instant, from which all times count.
    pub(super) fn new(started: Timestamp, privacy: Privacy) -> Self {
        Self {
            started,
            ended: 0.0,
            privacy,
            cache: WatchCache::default(),
            watch: Vec::new(),
            renewals: Vec::new(),
            actions: Vec::new(),
            anomalies: Vec::new(),
        }
    }

    /// Takes what a watch shows.
    pub(super) fn take(&mut self, arrival: Arrival) {
        let Arrival { at, resource, seen } = arrival;
        let t = offset(self.started, at);
        let name = resource.qualified();
        let is_first = self.cache.shown(&resource).is_none();
        match &seen {
            Seen::Command(..) => {}
            Seen::Trouble(why) => self.anomalies.push(format!("t={t:.3}: {name}: {why}")),
            Seen::Listed { .. } if !is_first => self
                .anomalies
                .push(format!("t={t:.3}: {name} were listed anew: what came and went before was not seen")),
            _ => {}
        }
        for change in self.cache.take(&resource, seen) {
            if is_first {
                self.note(t, "LISTED", &change.object, None);
            } else {
                self.change(t, &resource, &change);
            }
        }
    }

    fn change(&mut self, t: f64, resource: &Resource, change: &CacheChange) {
        let CacheChange { key, before, object, is_gone, .. } = change;
        if !is_gone && *resource == LEASES && before.as_ref().is_some_and(|before| is_renewal(before, object)) {
            let time = object.at(&["spec", "renewTime"]).as_str().unwrap_or_default();
            self.renewals.push(RenewalLine { t, node: key.name.clone(), time: Text::from(time) });
            return;
        }
        match (is_gone, before) {
            (true, _) => self.note(t, "DELETED", object, None),
            (false, Some(before)) => self.note(t, "MODIFIED", object, Some(before)),
            (false, None) => self.note(t, "ADDED", object, None),
        }
    }

    fn note(&mut self, t: f64, word: &str, object: &Json, before: Option<&Json>) {
        let kind = object.get("kind").clone();
        let mut line = json!({"t": t, "type": word, "kind": kind.clone()});
        if matches!(word, "ADDED" | "MODIFIED") {
            let writer = writer_of(before, Some(object));
            if !writer.manager.is_empty() {
                line.set(&["writer", "manager"], writer.manager);
            }
            if !writer.subresource.is_empty() {
                line.set(&["writer", "subresource"], writer.subresource);
            }
        }
        line.set(&["object"], self.privacy.of(kind.as_str().unwrap_or_default(), object));
        self.watch.push(line.to_string());
    }

    /// Adds a line of `actions.jsonl` from another source.
    pub(super) fn act(&mut self, t: f64, line: Json) {
        self.actions.push((t, line));
    }

    /// Adds the writers that another source names by the revision.
    pub(super) fn name_writers(&mut self, entries: &[AuditEntry]) {
        let by: BTreeMap<&str, &AuditEntry> =
            entries.iter().filter(|entry| !entry.revision.is_empty()).map(|entry| (&*entry.revision, entry)).collect();
        for text in &mut self.watch {
            let Ok(mut line) = Json::parse(text) else { continue };
            if line.get("type").as_str() == Some("LISTED") {
                continue;
            }
            let revision = line.at(&["object", "metadata", "resourceVersion"]).as_str().unwrap_or_default();
            let Some(entry) = by.get(revision) else { continue };
            line.set(&["by", "actor"], entry.actor.as_str());
            line.set(&["by", "verb"], entry.verb.as_str());
            if !entry.subresource.is_empty() {
                line.set(&["by", "subresource"], entry.subresource.as_str());
            }
            *text = line.to_string();
        }
    }

    /// Ends the recording at an instant.
    pub(super) fn end(&mut self, at: Timestamp) {
        self.ended = offset(self.started, at);
    }

    /// Returns the instant that all times count from.
    pub(super) const fn started(&self) -> Timestamp {
        self.started
    }

    /// Returns when it ended, in seconds.
    pub(super) const fn ended(&self) -> f64 {
        self.ended
    }

    /// Returns how much of objects is stored.
    pub(super) const fn privacy(&self) -> Privacy {
        self.privacy
    }

    /// Returns the lines of `watch.jsonl`.
    pub(super) fn watch(&self) -> &[String] {
        &self.watch
    }

    /// Returns the lines of `actions.jsonl` in order of their instants.
    pub(super) fn actions(&self) -> impl Iterator<Item = String> {
        let renewals = self.renewals.iter().map(|renewal| (renewal.t, TapeEntry::RenewalLine(renewal)));
        let mut told: Vec<(f64, TapeEntry<'_>)> = renewals.collect();
        told.extend(self.actions.iter().map(|(t, line)| (*t, TapeEntry::Action(line))));
        told.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        told.into_iter().map(|(_, told)| match told {
            TapeEntry::RenewalLine(renewal) => renewal.line().to_string(),
            TapeEntry::Action(line) => line.to_string(),
        })
    }

    /// Returns the anomalies: what was not seen, and when.
    pub(super) fn anomalies(&self) -> &[String] {
        &self.anomalies
    }
}

/// The source of a line of `actions.jsonl`.
enum TapeEntry<'a> {
    RenewalLine(&'a RenewalLine),
    Action(&'a Json),
}

/// Tells whether a Lease changed only in its time.
fn is_renewal(before: &Json, after: &Json) -> bool {
    let bare = |lease: &Json| {
        let mut lease = lease.clone();
        lease.set(&["spec", "renewTime"], Text::of(""));
        lease.remove(&["metadata", "resourceVersion"]);
        lease.remove(&["metadata", "managedFields"]);
        lease
    };
    !after.at(&["spec", "renewTime"]).is_null() && bare(before) == bare(after)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use nodeproof_core::network::NODES;

    use super::*;

    fn lease(time: &str, revision: &str) -> Json {
        json!({"kind": "Lease", "metadata": {"name": "w1", "namespace": "kube-node-lease", "resourceVersion": revision},
            "spec": {"holderIdentity": "w1", "renewTime": time}})
    }

    fn node(revision: &str, ready: &str) -> Json {
        json!({"kind": "Node", "metadata": {"name": "w1", "resourceVersion": revision, "managedFields": [
            {"manager": "kubelet", "operation": "Update", "subresource": "status", "time": revision}]},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}})
    }

    #[test]
    fn renewals_are_short_and_everything_else_is_whole() {
        let mut tape = Tape::new(Timestamp::UNIX_EPOCH, Privacy::Redacted);
        let mut take = |millis, resource: &Resource, seen| {
            let at = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(millis);
            tape.take(Arrival { at, resource: resource.clone(), seen });
        };
        take(10, &NODES, Seen::Listed { objects: vec![node("1", "True")], resource_version: 5 });
        take(20, &LEASES, Seen::Listed { objects: Vec::new(), resource_version: 5 });
        take(500, &LEASES, Seen::Set(lease("2026-01-01T00:00:00.000000Z", "6")));
        take(10_500, &LEASES, Seen::Set(lease("2026-01-01T00:00:10.000000Z", "7")));
        take(11_000, &NODES, Seen::Set(node("8", "False")));
        take(12_000, &NODES, Seen::Gone(node("9", "False")));
        tape.end(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(13));
        let lines: Vec<String> = tape
            .watch()
            .iter()
            .map(|line| {
                let line = Json::parse(line).unwrap();
                let word = |field: &str| line.get(field).as_str().unwrap_or_default().to_owned();
                format!("{} {} {}", word("type"), word("kind"), line.at(&["writer", "manager"]))
            })
            .collect();
        assert_eq!(lines, ["LISTED Node null", "ADDED Lease null", r#"MODIFIED Node "kubelet""#, "DELETED Node null"]);
        assert!(tape.watch().iter().all(|line| !line.contains("managedFields")));
        assert_eq!(
            tape.actions().collect::<Vec<_>>(),
            [concat!(
                r#"{"actor":"kubelet/w1","do":"renew-lease","#,
                r#""request":{"body":{"spec":{"renewTime":"2026-01-01T00:00:10.000000Z"}}},"#,
                r#""response":{"code":200,"t":10.5},"t":10.5}"#
            )]
        );
        assert!(tape.anomalies().is_empty());
    }

    #[test]
    fn a_second_list_shows_what_it_missed_and_says_so() {
        let mut tape = Tape::new(Timestamp::UNIX_EPOCH, Privacy::Redacted);
        let listed = |objects| Arrival {
            at: Timestamp::UNIX_EPOCH,
            resource: NODES,
            seen: Seen::Listed { objects, resource_version: 9 },
        };
        tape.take(listed(vec![node("1", "True")]));
        tape.take(listed(Vec::new()));
        assert!(tape.watch()[1].contains(r#""type":"DELETED""#), "{}", tape.watch()[1]);
        assert_eq!(tape.anomalies().len(), 1);
    }
}
