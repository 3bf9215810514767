//! The conditions that a kubelet writes, with their reasons, messages and times.
//!
//! Mirrors pkg/kubelet/nodestatus/setters.go (v1.34): `MemoryPressureCondition`, `DiskPressureCondition`,
//! `PIDPressureCondition` and `ReadyCondition`. A pressure condition is rewritten only when its status flips, so that a
//! foreign reason with the right status stays; Ready is rewritten each time. Inputs: the list of conditions, the state,
//! the time. Outputs: the changed list, and the reason of an Event if the status flipped.

use alloc::string::String;

use crate::json;
use crate::objects::{Json, aggregate};

/// Reason and message of a condition in one of its two states.
#[derive(Clone, Copy, Debug)]
struct ConditionTexts {
    reason: &'static str,
    message: &'static str,
    event: &'static str,
}

/// A pressure condition: its type, and what it says without and with pressure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressure {
    kind: &'static str,
    without: ConditionTexts,
    with: ConditionTexts,
}

/// The pressure conditions in the order in which a kubelet creates them.
pub(super) const PRESSURES: [Pressure; 3] = [
    Pressure {
        kind: "MemoryPressure",
        without: ConditionTexts {
            reason: "KubeletHasSufficientMemory",
            message: "kubelet has sufficient memory available",
            event: "NodeHasSufficientMemory",
        },
        with: ConditionTexts {
            reason: "KubeletHasInsufficientMemory",
            message: "kubelet has insufficient memory available",
            event: "NodeHasInsufficientMemory",
        },
    },
    Pressure {
        kind: "DiskPressure",
        without: ConditionTexts {
            reason: "KubeletHasNoDiskPressure",
            message: "kubelet has no disk pressure",
            event: "NodeHasNoDiskPressure",
        },
        with: ConditionTexts {
            reason: "KubeletHasDiskPressure",
            message: "kubelet has disk pressure",
            event: "NodeHasDiskPressure",
        },
    },
    Pressure {
        kind: "PIDPressure",
        without: ConditionTexts {
            reason: "KubeletHasSufficientPID",
            message: "kubelet has sufficient PID available",
            event: "NodeHasSufficientPID",
        },
        with: ConditionTexts {
            reason: "KubeletHasInsufficientPID",
            message: "kubelet has insufficient PID available",
            event: "NodeHasInsufficientPID",
        },
    },
];

fn find<'a>(conditions: &'a mut Json, kind: &str) -> Option<&'a mut Json> {
    let at = conditions.items().iter().position(|item| item.get("type").as_str() == Some(kind))?;
    conditions.make_array().get_mut(at)
}

impl Pressure {
    /// Returns the type of the condition.
    pub(super) const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Writes the condition into a list and returns the reason of the Event, if the status flipped.
    pub(super) fn set(&self, conditions: &mut Json, is_pressed: bool, time: &str) -> Option<&'static str> {
        if find(conditions, self.kind).is_none() {
            conditions.make_array().push(json!({"type": self.kind, "status": "Unknown"}));
        }
        let condition = find(conditions, self.kind)?;
        condition.set(&["lastHeartbeatTime"], time);
        let (status, said) = if is_pressed { ("True", self.with) } else { ("False", self.without) };
        if condition.get("status").as_str() == Some(status) {
            return None;
        }
        condition.set(&["status"], status);
        condition.set(&["reason"], said.reason);
        condition.set(&["message"], said.message);
        condition.set(&["lastTransitionTime"], time);
        Some(said.event)
    }
}

/// Writes Ready into a list and returns the reason of the Event, if it was there with another status.
pub(super) fn set_ready(conditions: &mut Json, errors: &[String], time: &str) -> Option<&'static str> {
    let (status, reason, event) = if errors.is_empty() {
        ("True", "KubeletReady", "NodeReady")
    } else {
        ("False", "KubeletNotReady", "NodeNotReady")
    };
    let message = aggregate(errors).unwrap_or_else(|| String::from("kubelet is posting ready status"));
    let mut ready = json!({"type": "Ready", "status": status, "reason": reason, "lastHeartbeatTime": time,
        "lastTransitionTime": time});
    ready.set(&["message"], message);
    match find(conditions, "Ready") {
        None => {
            conditions.make_array().push(ready);
            None
        }
        Some(place) => {
            let is_flip = place.get("status").as_str() != Some(status);
            if !is_flip && !place.get("lastTransitionTime").is_null() {
                ready.set(&["lastTransitionTime"], place.get("lastTransitionTime").clone());
            }
            *place = ready;
            is_flip.then_some(event)
        }
    }
}

/// Tells whether two lists of conditions differ in more than their heartbeats, regardless of order.
pub(super) fn differ(old: &Json, new: &Json) -> bool {
    let without_heartbeat = |condition: &Json| {
        let mut condition = condition.clone();
        condition.remove(&["lastHeartbeatTime"]);
        condition
    };
    old.items().len() != new.items().len()
        || new.items().iter().any(|condition| {
            let before = old.items().iter().find(|before| before.get("type") == condition.get("type"));
            before.is_none_or(|before| without_heartbeat(before) != without_heartbeat(condition))
        })
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::{PRESSURES, differ, set_ready};
    use crate::json;

    #[test]
    fn a_foreign_reason_with_the_right_status_stays_and_unknown_is_put_right() {
        let mut conditions = json!([
            {"type": "MemoryPressure", "status": "False", "reason": "Other", "lastTransitionTime": "t0"},
            {"type": "DiskPressure", "status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": "t0"},
        ]);
        assert_eq!(PRESSURES[0].set(&mut conditions, false, "t1"), None);
        assert_eq!(PRESSURES[1].set(&mut conditions, false, "t1"), Some("NodeHasNoDiskPressure"));
        assert_eq!(
            conditions,
            json!([
                {"type": "MemoryPressure", "status": "False", "reason": "Other", "lastTransitionTime": "t0",
                    "lastHeartbeatTime": "t1"},
                {"type": "DiskPressure", "status": "False", "reason": "KubeletHasNoDiskPressure",
                    "message": "kubelet has no disk pressure",
                 "lastTransitionTime": "t1", "lastHeartbeatTime": "t1"},
            ])
        );
    }

    #[test]
    fn ready_says_all_that_is_wrong_once_and_its_time_moves_with_the_status_alone() {
        let mut conditions = json!([]);
        let errors = ["a", "b", "a"].map(String::from);
        assert_eq!(set_ready(&mut conditions, &errors, "t1"), None);
        assert_eq!(conditions.items()[0].get("message").as_str(), Some("[a, b]"));
        assert_eq!(set_ready(&mut conditions, &errors[..1], "t2"), None);
        assert_eq!(conditions.items()[0].get("message").as_str(), Some("a"));
        assert_eq!(conditions.items()[0].get("lastTransitionTime").as_str(), Some("t1"));
        assert_eq!(set_ready(&mut conditions, &[], "t3"), Some("NodeReady"));
        assert_eq!(conditions.items()[0].get("lastTransitionTime").as_str(), Some("t3"));
    }

    #[test]
    fn heartbeats_alone_are_no_difference() {
        let old = json!([{"type": "A", "lastHeartbeatTime": "t1"}, {"type": "B"}]);
        assert!(!differ(&old, &json!([{"type": "B"}, {"type": "A", "lastHeartbeatTime": "t2"}])));
        assert!(differ(&old, &json!([{"type": "A"}, {"type": "B", "status": "x"}])));
    }
}
