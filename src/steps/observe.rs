//! Sentences that apply to the Nodes of any cluster, for scenarios that only read it.

use cucumber::then;
use nodeproof_core::scenario::{Aspect, Predicate};

use super::draft::Draft;

/// Any of the sentences about one Node or its Lease that can be told of several, for every Node that is there when the
/// act begins, whoever has named it: `each Node of the cluster has label "kubernetes.io/os" at once`. Nodes that come
/// later are not looked at, and those that are deleted no more.
#[then(regex = r#"^(?P<lease>the Lease of )?each Node of the cluster (?P<rest>.+)$"#)]
fn every_node(draft: &mut Draft, lease: String, rest: String) {
    draft.of_every_node = true;
    draft.of_one(&format!("{lease}Node \"*\""), &rest);
    draft.of_every_node = false;
}

/// A Node's Lease is renewed again and again, each time within a quarter of its own duration and the 4 % that a kubelet
/// adds; by the instants at which that is seen, whatever clock the machine has.
#[then(regex = r#"^(?P<object>the Lease of Node "[^"]*") is renewed on time(?P<for> for .*)?$"#)]
fn lease_is_renewed_on_time(draft: &mut Draft, object: String, bound: String) {
    draft.object_lasts(&object, Some(Predicate::RenewedOnTime), &bound);
}

/// A part of a Node is as it is of any sound Node. A Lease of its own names it as holder, and as owner with its uid.
/// The conditions of a kubelet are Ready and the three pressure conditions, each once and with a time; all of them are
/// Unknown, or none is. The taints of its conditions are the NoSchedule taints that follow from conditions and a
/// cordon, and no other of theirs; NoExecute only with its condition. Allocatable: CPU, memory and Pods are there, and
/// nothing has more allocatable than capacity. Labels and addresses are those that a kubelet reports. Within the
/// version skew: no newer than the API server, and at most three minor releases older, two if older than 1.25.
#[then(
    regex = r#"^(?P<object>Node "[^"]*") has (?P<what>a Lease of its own|the conditions of a kubelet|the taints of its conditions|allocatable within its capacity|the labels of its machine|its addresses|a kubelet within the version skew)(?P<bound>,? .*)?$"#
)]
fn has_sound(draft: &mut Draft, object: String, what: String, bound: String) {
    let aspect = match what.as_str() {
        "a Lease of its own" => Aspect::Lease,
        "the conditions of a kubelet" => Aspect::Conditions,
        "the taints of its conditions" => Aspect::Taints,
        "allocatable within its capacity" => Aspect::Allocatable,
        "the labels of its machine" => Aspect::Labels,
        "its addresses" => Aspect::Addresses,
        _ => Aspect::Skew,
    };
    draft.object_becomes(&object, Some(Predicate::Sound(aspect)), &bound);
}

/// A heartbeat is seen within the grace period and two health passes, or Ready is Unknown: no silence goes unnoticed.
#[then(regex = r#"^(?P<object>Node "[^"]*") keeps being heard from, or is Unknown(?P<for>,? for .*)?$"#)]
fn is_heard_from(draft: &mut Draft, object: String, bound: String) {
    draft.object_lasts(&object, Some(Predicate::Sound(Aspect::HeardFrom)), &bound);
}

/// A Node has no condition whose status has been Unknown for longer than this.
#[then(
    regex = r#"^(?P<object>Node "[^"]*") has no condition Unknown for longer than (?P<duration>\S+)(?P<bound>,? .*)?$"#
)]
fn unknown_at_most(draft: &mut Draft, object: String, duration: String, bound: String) {
    let predicate = draft.duration(&duration).map(|limit| Predicate::Sound(Aspect::UnknownAtMost(limit)));
    draft.object_becomes(&object, predicate, &bound);
}
