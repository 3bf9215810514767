//! Sentences about workloads, whose controllers create the Pods and whose Pods the scheduler places. The names of these
//! Pods are random, so sentences name their owner and their Node.

use cucumber::{given, then};
use nodeproof_core::json;
use nodeproof_core::network::Resource;
use nodeproof_core::objects::names::Wording;
use nodeproof_core::objects::selector::Selector;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::{Fact, PodPlace, PodsBy, Predicate, Setup, Subject};

use super::draft::Draft;
use super::words;

/// A placeholder: a sentence about one Pod is compiled with this name, then applied to the Pods of an owner.
const STAND_IN: &str = "the-pods-of-an-owner";

/// Most Pods of a workload in a sentence: what a cluster of the largest size that Kubernetes supports can hold.
/// Source: kubernetes.io/docs/setup/best-practices/cluster-large (v1.34).
const PODS_MOST: usize = 150_000;

/// A workload whose Pods carry the label `app` with its name; the scenario waits until so many of them run. The Pods of
/// a StatefulSet are called `name-0` and so on; a DaemonSet has one on each Node, the bystander included.
#[given(regex = r#"^a (?P<kind>Deployment|StatefulSet|DaemonSet) "(?P<name>[^"]*)" of (?P<count>\d+) Pods?$"#)]
fn workload(draft: &mut Draft, kind: String, name: String, count: String) {
    let Some(name) = draft.take(&name, words::object_name(&name)) else { return };
    let Some(count) = count.parse::<usize>().ok().filter(|count| *count <= PODS_MOST) else {
        draft.problem(&count, format!("{count} Pods are too many: at most {PODS_MOST}"));
        return;
    };
    if draft.owners.iter().any(|(_, own)| *own == name) {
        draft.problem(&name, format!("there is a workload {name:?} already"));
        return;
    }
    draft.owners.push((Text::from(kind.as_str()), name.clone()));
    if kind == "StatefulSet" {
        for ordinal in 0..count {
            let _ = draft.declare_pod(&format!("{name}-{ordinal}"), None);
        }
    }
    let (resource, body) = manifest(&kind, &name, count);
    draft.given(Setup::Objects(vec![(resource, body)]));
    draft.given(Setup::Until(Fact { subject: pods_of(PodsBy::Owner(name), None), predicate: running(count) }));
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
    if !draft.is_label_of_a_pod(&selector, &key, Some(&value)) {
        return;
    }
    let mut body = json!({"kind": "PodDisruptionBudget", "apiVersion": "policy/v1",
        "metadata": {"name": name.as_str(), "namespace": "default"}, "spec": {}});
    match count.parse::<i64>() {
        Ok(number) => body.set(&["spec", "minAvailable"], number),
        Err(_) => body.set(&["spec", "minAvailable"], count.as_str()),
    }
    body.set(&["spec", "selector", "matchLabels", key.as_str()], value);
    draft.given(Setup::Objects(vec![(Resource::of("policy", "v1", "poddisruptionbudgets"), body)]));
}

/// So many Pods run: exactly so many, whichever, of an owner, `"web"` or `Deployment "web"`, with a label, or any of
/// namespace `default`; anywhere, on a Node, or on the Nodes of a zone. `0 Pods` is none.
#[given(
    regex = r#"^(?P<count>\d+) Pods?(?: of (?P<owner>(?:[A-Z][A-Za-z]* )?"[^"]*")| with label "(?P<label>[^"]*)")? (?:is|are) running(?: on (?P<place>Node|Nodes of zone) "(?P<where>[^"]*)")?(?P<bound>,? .*)?$"#
)]
#[then(
    regex = r#"^(?P<count>\d+) Pods?(?: of (?P<owner>(?:[A-Z][A-Za-z]* )?"[^"]*")| with label "(?P<label>[^"]*)")? (?:is|are) running(?: on (?P<place>Node|Nodes of zone) "(?P<where>[^"]*)")?(?P<bound>,? .*)?$"#
)]
fn pods_run(
    draft: &mut Draft,
    count: String,
    owner: String,
    label: String,
    place: String,
    name: String,
    bound: String,
) {
    let what = draft.running_pods(&count, [&owner, &label], [&place, &name]);
    draft.expect_becomes(what, &bound);
}

/// So many Pods run all the time, neither more nor fewer.
#[then(
    regex = r#"^(?P<count>\d+) Pods?(?: of (?P<owner>(?:[A-Z][A-Za-z]* )?"[^"]*")| with label "(?P<label>[^"]*)")? (?:keeps|keep) running(?: on (?P<place>Node|Nodes of zone) "(?P<where>[^"]*)")?(?P<for>,? .*)?$"#
)]
fn pods_keep_running(
    draft: &mut Draft,
    count: String,
    owner: String,
    label: String,
    place: String,
    name: String,
    bound: String,
) {
    let what = draft.running_pods(&count, [&owner, &label], [&place, &name]);
    draft.expect_lasts(what, &bound);
}

/// Any of the sentences about one Pod, for Pods by their owner, by a label, or all of namespace `default`; anywhere, on
/// a Node, or on the Nodes of a zone: it holds if it holds for one of them; they are deleted or gone if all are that
/// were there when the act began.
#[given(
    regex = r#"^the Pods?(?: of (?P<owner>(?:[A-Z][A-Za-z]* )?"[^"]*")| with label "(?P<label>[^"]*)")?(?: on (?P<place>Node|Nodes of zone) "(?P<where>[^"]*)")? (?P<rest>.+)$"#
)]
#[then(
    regex = r#"^the Pods?(?: of (?P<owner>(?:[A-Z][A-Za-z]* )?"[^"]*")| with label "(?P<label>[^"]*)")?(?: on (?P<place>Node|Nodes of zone) "(?P<where>[^"]*)")? (?P<rest>.+)$"#
)]
fn pods_chosen(draft: &mut Draft, owner: String, label: String, place: String, name: String, rest: String) {
    let Some(subject) = draft.chosen_pods([&owner, &label], [&place, &name]) else { return };
    if !draft.pods.iter().any(|pod| *pod.name == *STAND_IN) {
        let _ = draft.declare_pod(STAND_IN, None);
    }
    draft.of_one(&format!("Pod \"{STAND_IN}\""), &singular(&rest));
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

fn pods_of(by: PodsBy, place: Option<PodPlace>) -> Subject {
    Subject::PodsOf { namespace: Text::of("default"), by, place }
}

fn running(count: usize) -> Predicate {
    let runs = Predicate::All(vec![Predicate::Phase(Text::of("Running")), Predicate::Terminating.negated()]);
    Predicate::Count { count, of: Box::new(runs) }
}

impl Draft {
    /// Reads which Pods are meant: an owner or a label, if either, and a Node or a zone, if either.
    fn chosen_pods(&mut self, [owner, label]: [&str; 2], [place, name]: [&str; 2]) -> Option<Subject> {
        let by = match (owner, label) {
            ("", "") => PodsBy::Namespace,
            ("", label) => self.pods_with_label(label)?,
            (owner, _) => PodsBy::Owner(self.owner(owner)?),
        };
        let nodes = match place {
            "" => return Some(pods_of(by, None)),
            "Node" => vec![self.node(name)?],
            _ => self.zone(name).into_iter().map(|node| node.name).collect(),
        };
        (!nodes.is_empty())
            .then(|| pods_of(by, Some(PodPlace { called: Text::from(format!("{place} {name:?}")), nodes })))
    }

    fn owner(&mut self, owner: &str) -> Option<Text> {
        let (kind, owner) = owner.split_once(' ').unwrap_or(("", owner));
        let owner = owner.trim_matches('"');
        let known = self.owners.iter().find(|(_, own)| **own == *owner).cloned();
        match &known {
            Some((is, _)) if !kind.is_empty() && *kind != **is => {
                let message = format!("{owner:?} is a {is}, and no {kind}");
                self.problem(kind, message);
            }
            None if !self.doubtful.contains(owner) => {
                let kind = if kind.is_empty() { "Deployment" } else { kind };
                let help = vec![format!("declare it: Given a {kind} {owner:?} of 3 Pods")];
                self.problem_with(owner, format!("no workload {owner:?} is declared"), help);
            }
            _ => {}
        }
        known.map(|(_, name)| name)
    }

    /// Reads a selector of labels.
    fn pods_with_label(&mut self, label: &str) -> Option<PodsBy> {
        let (key, value) = self.take(label, words::label(label))?;
        if !self.is_label_of_a_pod(label, &key, value.as_ref()) {
            return None;
        }
        match Selector::parse(label, Wording::Characters) {
            Ok(selector) => Some(PodsBy::Labels(Text::from(label), selector)),
            Err(message) => {
                self.problem(label, message);
                None
            }
        }
    }

    /// Checks that something in the scenario has a label, beside the step itself: a selector of another would select
    /// nothing, and a line that nothing runs would pass.
    fn is_label_of_a_pod(&mut self, label: &str, key: &Text, value: Option<&Text>) -> bool {
        let is_of_workload =
            key.as_str() == "app" && value.is_some_and(|value| self.owners.iter().any(|(_, own)| own == value));
        let is_said = |word: &Text| word.split('/').all(|part| self.says_elsewhere(part));
        if is_of_workload || [Some(key), value].into_iter().flatten().all(is_said) {
            return true;
        }
        let comes = value.is_some_and(|value| key.as_str() == "app" && self.says_elsewhere(value));
        let help = if comes {
            "the workload of that name comes below: put it above this line"
        } else {
            "a Pod gets it from its object, or `app=NAME` from a workload of that name"
        };
        let so_far = if comes { " so far" } else { "" };
        self.problem_with(label, format!("nothing in the scenario has label {label:?}{so_far}"), vec![help.to_owned()]);
        false
    }

    fn running_pods(&mut self, count: &str, by: [&str; 2], place: [&str; 2]) -> Option<(Subject, Predicate)> {
        let subject = self.chosen_pods(by, place)?;
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
