//! Sentences about workloads, whose controllers create the Pods and whose Pods the scheduler places. The names of these
//! Pods are random, so sentences name their owner and their Node.

use cucumber::{given, then};
use nodeproof_core::json;
use nodeproof_core::network::Resource;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::{Fact, Predicate, Setup, Subject};

use super::draft::Draft;
use super::words;

/// A placeholder: a sentence about one Pod is compiled with this name, then applied to the Pods of an owner.
const STAND_IN: &str = "stand-in-for-the-pods-of-an-owner";

/// A workload whose Pods carry the label `app` with its name; the scenario waits until so many of them run. The Pods of
/// a StatefulSet are called `name-0` and so on; a DaemonSet has one on each Node, the bystander included.
#[given(regex = r#"^a (?P<kind>Deployment|StatefulSet|DaemonSet) "(?P<name>[^"]*)" of (?P<count>\d+) Pods?$"#)]
fn workload(draft: &mut Draft, kind: String, name: String, count: String) {
    let Some(name) = draft.take(&name, words::object_name(&name)) else { return };
    let Ok(count) = count.parse::<usize>() else {
        draft.problem(&count, format!("{count} is too much"));
        return;
    };
    if draft.owners.contains(&name) {
        draft.problem(&name, format!("there is a workload {name:?} already"));
        return;
    }
    draft.owners.push(name.clone());
    if kind == "StatefulSet" {
        for ordinal in 0..count {
            let _ = draft.declare_pod(&format!("{name}-{ordinal}"), None);
        }
    }
    let (resource, body) = manifest(&kind, &name, count);
    draft.given(Setup::Objects(vec![(resource, body)]));
    draft.given(Setup::Until(Fact { subject: pods_of(&name, None), predicate: running(count) }));
}

/// A budget that lets evictions take the Pods with a label, `app=web`, as long as so many of them are healthy; a number
/// or a percentage.
#[given(regex = r#"^a PodDisruptionBudget "(?P<name>[^"]*)" that keeps (?P<count>\d+%?) of "(?P<selector>[^"]*)"$"#)]
fn budget(draft: &mut Draft, name: String, count: String, selector: String) {
    let Some(name) = draft.take(&name, words::object_name(&name)) else { return };
    let Some((key, value)) = draft.take(&selector, words::label(&selector)) else { return };
    let Some(value) = value else {
        draft.problem(&selector, "a label with its value is needed, as in app=web".to_owned());
        return;
    };
    let mut body = json!({"kind": "PodDisruptionBudget", "apiVersion": "policy/v1",
        "metadata": {"name": name.as_str(), "namespace": "default"}, "spec": {}});
    match count.parse::<i64>() {
        Ok(number) => body.set(&["spec", "minAvailable"], number),
        Err(_) => body.set(&["spec", "minAvailable"], count.as_str()),
    }
    body.set(&["spec", "selector", "matchLabels", key.as_str()], value);
    draft.given(Setup::Objects(vec![(Resource::of("policy", "v1", "poddisruptionbudgets"), body)]));
}

/// So many Pods of an owner run, on any Node or on this one: exactly so many, whichever. `0 Pods` is none.
#[given(
    regex = r#"^(?P<count>\d+) Pods? of "(?P<owner>[^"]*)" (?:is|are) running(?: on Node "(?P<node>[^"]*)")?(?P<bound>,? .*)?$"#
)]
#[then(
    regex = r#"^(?P<count>\d+) Pods? of "(?P<owner>[^"]*)" (?:is|are) running(?: on Node "(?P<node>[^"]*)")?(?P<bound>,? .*)?$"#
)]
fn pods_run(draft: &mut Draft, count: String, owner: String, node: String, bound: String) {
    let what = draft.running_pods(&count, &owner, &node);
    draft.expect_becomes(what, &bound);
}

/// So many Pods of an owner run all the time, neither more nor fewer.
#[then(
    regex = r#"^(?P<count>\d+) Pods? of "(?P<owner>[^"]*)" (?:keeps|keep) running(?: on Node "(?P<node>[^"]*)")?(?P<for>,? .*)?$"#
)]
fn pods_keep_running(draft: &mut Draft, count: String, owner: String, node: String, bound: String) {
    let what = draft.running_pods(&count, &owner, &node);
    draft.expect_lasts(what, &bound);
}

/// Any of the sentences about one Pod, for the Pods of an owner on a Node or on any: it holds if it holds for one of
/// them; they are deleted or gone if all are that were there when the act began.
#[given(regex = r#"^the Pods? of "(?P<owner>[^"]*)"(?: on Node "(?P<node>[^"]*)")? (?P<rest>.+)$"#)]
#[then(regex = r#"^the Pods? of "(?P<owner>[^"]*)"(?: on Node "(?P<node>[^"]*)")? (?P<rest>.+)$"#)]
fn pods_of_owner(draft: &mut Draft, owner: String, node: String, rest: String) {
    let Some(subject) = draft.owned_pods(&owner, &node) else { return };
    if !draft.pods.iter().any(|pod| *pod.name == *STAND_IN) {
        let _ = draft.declare_pod(STAND_IN, None);
    }
    draft.instead(&format!("Pod \"{STAND_IN}\" {}", singular(&rest)));
    draft.pods.retain(|pod| *pod.name != *STAND_IN);
    let is_stand_in = |of: &Subject| matches!(of, Subject::Object(of) if *of.key.name == *STAND_IN);
    let acts = draft.scenario.acts.iter_mut().flat_map(|act| &mut act.expectations).map(|line| &mut line.fact.subject);
    let givens = draft.scenario.given.iter_mut().filter_map(|given| match &mut given.setup {
        Setup::Until(fact) => Some(&mut fact.subject),
        _ => None,
    });
    for own in acts.chain(givens).filter(|own| is_stand_in(own)) {
        *own = subject.clone();
    }
}

/// Turns the plural of a sentence into the singular: `are gone` becomes `is gone`.
fn singular(rest: &str) -> String {
    let verbs = [("are ", "is "), ("have ", "has "), ("keep ", "keeps "), ("stay ", "stays ")];
    let found = verbs.iter().find_map(|(many, one)| rest.strip_prefix(many).map(|rest| format!("{one}{rest}")));
    found.unwrap_or_else(|| rest.to_owned())
}

fn pods_of(owner: &Text, node: Option<Text>) -> Subject {
    Subject::PodsOf { namespace: Text::of("default"), owner: owner.clone(), node }
}

fn running(count: usize) -> Predicate {
    let runs = Predicate::All(vec![Predicate::Phase(Text::of("Running")), Predicate::Terminating.negated()]);
    Predicate::Count { count, of: Box::new(runs) }
}

impl Draft {
    fn owned_pods(&mut self, owner: &str, node: &str) -> Option<Subject> {
        let known = self.owners.iter().find(|own| ***own == *owner).cloned();
        let Some(owner) = known else {
            if !self.doubtful.contains(owner) {
                let help = vec![format!("declare it: Given a Deployment {owner:?} of 3 Pods")];
                self.problem_with(owner, format!("no workload {owner:?} is declared"), help);
            }
            return None;
        };
        let node = if node.is_empty() { None } else { Some(self.node(node)?) };
        Some(pods_of(&owner, node))
    }

    fn running_pods(&mut self, count: &str, owner: &str, node: &str) -> Option<(Subject, Predicate)> {
        let subject = self.owned_pods(owner, node)?;
        let Ok(count) = count.parse::<usize>() else {
            self.problem(count, format!("{count} is too much"));
            return None;
        };
        Some((subject, running(count)))
    }
}

/// Returns the manifest of a workload as a user would write it.
fn manifest(kind: &str, name: &Text, count: usize) -> (Resource, Json) {
    let plural = match kind {
        "Deployment" => "deployments",
        "StatefulSet" => "statefulsets",
        _ => "daemonsets",
    };
    let mut body = json!({"kind": kind, "apiVersion": "apps/v1",
        "metadata": {"name": name.as_str(), "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": name.as_str()}},
            "template": {"metadata": {"labels": {"app": name.as_str()}},
                "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}}}});
    if kind != "DaemonSet" {
        body.set(&["spec", "replicas"], i64::try_from(count).unwrap_or(i64::MAX));
    }
    if kind == "StatefulSet" {
        body.set(&["spec", "serviceName"], name);
    }
    (Resource::of("apps", "v1", plural), body)
}
