//! Requests that every backend sends in the same way, beside the cluster's components.
//!
//! Requests and Given lines as data: the bystanders of the Nodes that a scenario names,
//! and the change of taints as kubectl makes it. Pure: a driver sends the requests.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Bystanders, Given, Position, Scenario, Setup, Taint};
use crate::components::machine::MachineSpec;
use crate::json;
use crate::network::{Call, MERGE_PATCH, NODES, Verb};
use crate::objects::{Json, Text};

/// Returns the bystanders of a cluster that is made for a scenario, as its first Given.
#[must_use]
pub fn bystanders(scenario: &Scenario) -> Option<Given> {
    let node = |name: &str, zone: &str| MachineSpec {
        name: Text::from(name),
        zone: Some(Text::from(zone)),
        ..MachineSpec::default()
    };
    let (specs, text) = match scenario.cluster.bystanders {
        Bystanders::Bystander => {
            (Vec::from([node("bystander", "bystander")]), Text::of("Given a ready Node \"bystander\""))
        }
        Bystanders::AsItIs => {
            let specs = Vec::from([node("node-1", "a"), node("node-2", "a"), node("node-3", "b")]);
            (specs, Text::of("Given the cluster as it is"))
        }
        Bystanders::Nobody => return None,
    };
    Some(Given { setup: Setup::ReadyNodes(specs), position: Position { text, ..scenario.position.clone() } })
}

/// Returns the patch of a Node's whole list of taints, from the Node as it was read: added first, then those that stay.
///
/// Source: kubectl pkg/cmd/taint/taint.go, utils.go (v1.34).
///
/// # Errors
/// A taint that is to be removed is not there: in the words of `kubectl taint`.
pub fn taints_patch(found: &Json, node: &Text, add: &[Taint], remove: &[Taint]) -> Result<Call, String> {
    let is = |old: &Json, taint: &Taint| {
        old.get("key").as_str() == Some(&taint.key) && old.get("effect").as_str() == Some(&taint.effect)
    };
    let old = found.at(&["spec", "taints"]).items();
    if let Some(missing) = remove.iter().find(|taint| !old.iter().any(|old| is(old, taint))) {
        return Err(format!("taint \"{}:{}\" not found", missing.key, missing.effect));
    }
    let stays = |old: &&Json| !add.iter().chain(remove).any(|taint| is(old, taint));
    let added = add.iter().map(|taint| {
        let mut new = json!({"key": taint.key.as_str(), "effect": taint.effect.as_str()});
        if let Some(value) = &taint.value {
            new.set(&["value"], value);
        }
        new
    });
    let taints: Json = added.chain(old.iter().filter(stays).cloned()).collect();
    let mut patch = Json::object();
    patch.set(&["metadata", "resourceVersion"], found.at(&["metadata", "resourceVersion"]).clone());
    patch.set(&["spec", "taints"], taints);
    let call = Call::new(Verb::Patch, NODES, "", node.clone());
    Ok(call.header("content-type", Text::of(MERGE_PATCH)).body(patch))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::{Taint, taints_patch};
    use crate::json;
    use crate::objects::Text;

    #[test]
    fn a_taint_that_is_not_there_is_not_removed() {
        let node = json!({"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}});
        let taint = |key, effect| Taint { key: Text::of(key), value: None, effect: Text::of(effect) };
        let remove = |taint| taints_patch(&node, &Text::of("n"), &[], &[taint]).map(drop);
        assert_eq!(remove(taint("a", "NoSchedule")), Ok(()));
        assert_eq!(remove(taint("a", "NoExecute")), Err(String::from("taint \"a:NoExecute\" not found")));
        assert_eq!(remove(taint("b", "NoSchedule")), Err(String::from("taint \"b:NoSchedule\" not found")));
    }
}
