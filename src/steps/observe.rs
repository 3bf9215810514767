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
    draft.instead(&format!("{lease}Node \"*\" {rest}"));
    draft.of_every_node = false;
}

/// A Node's Lease is renewed again and again, each time within a quarter of its own duration and the 4 % that a kubelet
/// adds; by the instants at which that is seen, whatever clock the machine has.
#[then(regex = r#"^(?P<object>the Lease of Node "[^"]*") is renewed on time(?P<for> for .*)?$"#)]
fn lease_is_renewed_on_time(draft: &mut Draft, object: String, bound: String) {
    draft.object_lasts(&object, Some(Predicate::RenewedOnTime), &bound);
}

/// A Node's Lease names it as its holder, and as its owner with its uid.
#[then(regex = r#"^(?P<object>Node "[^"]*") has a Lease of its own(?P<bound>,? .*)?$"#)]
fn has_own_lease(draft: &mut Draft, object: String, bound: String) {
    draft.object_becomes(&object, Some(Predicate::Sound(Aspect::Lease)), &bound);
}

/// Ready and the three pressure conditions are there, each once and with a time; all of them are Unknown or none is.
#[then(regex = r#"^(?P<object>Node "[^"]*") has the conditions of a kubelet(?P<bound>,? .*)?$"#)]
fn has_conditions(draft: &mut Draft, object: String, bound: String) {
    draft.object_becomes(&object, Some(Predicate::Sound(Aspect::Conditions)), &bound);
}

/// A Node has the NoSchedule taints that follow from its conditions and from a cordon, and no other taint of theirs;
/// NoExecute only with its condition.
#[then(regex = r#"^(?P<object>Node "[^"]*") has the taints of its conditions(?P<bound>,? .*)?$"#)]
fn has_taints_of_conditions(draft: &mut Draft, object: String, bound: String) {
    draft.object_becomes(&object, Some(Predicate::Sound(Aspect::Taints)), &bound);
}

/// CPU, memory and Pods are there, and no resource has more allocatable than capacity.
#[then(regex = r#"^(?P<object>Node "[^"]*") has allocatable within its capacity(?P<bound>,? .*)?$"#)]
fn has_allocatable(draft: &mut Draft, object: String, bound: String) {
    draft.object_becomes(&object, Some(Predicate::Sound(Aspect::Allocatable)), &bound);
}

/// The labels of host name, operating system and architecture are there and agree with what the kubelet reports.
#[then(regex = r#"^(?P<object>Node "[^"]*") has the labels of its machine(?P<bound>,? .*)?$"#)]
fn has_labels_of_machine(draft: &mut Draft, object: String, bound: String) {
    draft.object_becomes(&object, Some(Predicate::Sound(Aspect::Labels)), &bound);
}

/// A host name and an internal IP address are there, and each IP address is one.
#[then(regex = r#"^(?P<object>Node "[^"]*") has its addresses(?P<bound>,? .*)?$"#)]
fn has_addresses(draft: &mut Draft, object: String, bound: String) {
    draft.object_becomes(&object, Some(Predicate::Sound(Aspect::Addresses)), &bound);
}

/// The kubelet is no newer than the API server and not too many minor releases older: three, or two if it is older than
/// 1.25.
#[then(regex = r#"^(?P<object>Node "[^"]*") has a kubelet within the version skew(?P<bound>,? .*)?$"#)]
fn has_kubelet_within_skew(draft: &mut Draft, object: String, bound: String) {
    draft.object_becomes(&object, Some(Predicate::Sound(Aspect::Skew)), &bound);
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
