//! The sentences of this crate: a fictitious operator that replaces a lost Node by a spare one.

use cucumber::{then, when};
use nodeproof::own::{Cluster, ClusterReader, Draft, Json, Own, Seen, json};

const RACK: &str = "/api/v1/namespaces/default/configmaps/rack";

/// The actions and looks of these sentences.
pub(crate) fn own() -> Own {
    Own::new().action("replace", replace).look("in service", in_service)
}

/// The operator takes a Node out of service and the rack's spare Node into it.
#[when(regex = r#"^the operator replaces Node "(?P<node>[^"]*)"$"#)]
fn replaces(draft: &mut Draft, node: String) {
    if let Some(node) = draft.node(&node) {
        draft.own_action("replace", json!({"node": node}));
    }
}

/// So many Nodes are in service, all the time.
#[then(regex = r"^(?P<count>\d+) Nodes? (?:is|are) in service(?P<for> .*)?$")]
fn stay_in_service(draft: &mut Draft, count: String, bound: String) {
    match count.parse::<i64>() {
        Ok(count) => draft.own_keeps("in service", &json!({"count": count}), &bound),
        Err(error) => draft.problem(&count, error.to_string()),
    }
}

/// A Node is cordoned: another sentence under a name of this crate's own.
#[then(regex = r#"^Node "(?P<node>[^"]*)" goes out of service(?P<bound> .*)?$"#)]
fn goes_out_of_service(draft: &mut Draft, node: String, bound: String) {
    draft.say(&format!("Node \"{node}\" field spec.unschedulable is true{bound}"));
}

fn replace(cluster: &mut Cluster<'_>, body: &Json) -> Result<(), String> {
    let rack = cluster.look().get(RACK).ok_or("there is no ConfigMap \"rack\" that names a spare Node")?;
    let spare = rack.at(&["data", "spare"]).as_str().ok_or("the ConfigMap \"rack\" names no spare Node")?;
    let node = body.get("node").as_str().unwrap_or_default();
    // The spare Node first, so that there is never one Node too few.
    cluster.send("PATCH", &path(spare), json!({"metadata": {"labels": {"example.com/in-service": "true"}}}))?;
    cluster.send(
        "PATCH",
        &path(node),
        json!({"metadata": {"labels": {"example.com/in-service": null}}, "spec": {"unschedulable": true}}),
    )?;
    Ok(())
}

fn in_service(glance: &ClusterReader<'_>, body: &Json) -> Seen {
    let is_in_service = |node: &Json| node.at(&["metadata", "labels"]).get("example.com/in-service").as_str().is_some();
    let count = glance.list("/api/v1/nodes").iter().filter(|node| is_in_service(node)).count();
    let wanted = body.get("count").as_i64().unwrap_or_default();
    Seen { holds: i64::try_from(count) == Ok(wanted), seen: format!("{count} in service") }
}

fn path(node: &str) -> String {
    format!("/api/v1/nodes/{node}")
}
