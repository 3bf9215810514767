//! A scenario on its way to a site: its settings, whether it needs a control plane for itself, how its names are mapped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nodeproof_core::components::api_server::is_namespaced;
use nodeproof_core::network::{Body, Call, Endpoint, Identity, NODE_LEASES, NODES, PODS, Resource, Target, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::{Action, Company, Deed, Predicate, Scenario, Setup, Subject};

use super::{Aliases, Ground, Patience};

/// A scenario on its way to a site.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The scenario, with its aliases.
    pub scenario: Arc<Scenario>,
    /// Release, flags and gates in force.
    pub settings: Settings,
    /// The seed of free choices that are ours.
    pub seed: u64,
    /// Why the scenario needs a control plane for itself; `None` if it can share one.
    pub alone: Option<&'static str>,
    /// How its names are mapped.
    pub aliases: Aliases,
}

impl Plan {
    /// Plans a scenario for a ground.
    ///
    /// # Errors
    /// A flag is unknown or its value does not fit; the text says which.
    pub fn of(ground: &dyn Ground, scenario: &Scenario, run: &Settings, seed: u64) -> Result<Self, String> {
        let settings = scenario.cluster.settings(run).map_err(|error| error.to_string())?;
        let mapped = Aliases::of(scenario, &suffix()).standing_in(ground.stand_ins(scenario));
        let odd = || (!mapped.can_be_mapped()).then_some("its names would mean something else with a suffix");
        let alone = alone(scenario).or_else(odd).or_else(|| ground.parts_all());
        let has_own = alone.is_some() && ground.gives_control_planes();
        let aliases = if has_own { Aliases::none() } else { mapped };
        Ok(Self { scenario: Arc::new(scenario.clone()), settings, seed, alone, aliases })
    }

    /// Tells why the scenario cannot be run on a ground; known when scenarios are listed.
    #[must_use]
    pub fn obstacle(&self, ground: &dyn Ground, patience: Patience) -> Option<String> {
        let capable = ground.capabilities();
        let own = ground.obstacle(self);
        let missing = || self.scenario.needs().into_iter().find(|need| !capable.contains(need));
        let lonely = || self.alone.filter(|_| !ground.gives_control_planes());
        own.or_else(|| patience.obstacle(&self.scenario))
            .or_else(|| deeds(&self.scenario).find_map(of_others).map(str::to_owned))
            .or_else(|| missing().map(|need| format!("this backend cannot do: {need}")))
            .or_else(|| lonely().map(|why| format!("it needs a cluster for itself: {why}")))
    }
}

/// Tells why a scenario needs a control plane for itself.
fn alone(scenario: &Scenario) -> Option<&'static str> {
    if !scenario.cluster.flags.is_empty() {
        return Some("it sets flags of the control plane");
    }
    if scenario.cluster.company != Company::Bystander {
        return Some("it is about all Nodes of the cluster");
    }
    let mut made = scenario.given.iter().filter_map(|given| match &given.setup {
        Setup::RunningPod { pod } => of_object(&PODS, pod),
        Setup::Objects(objects) => objects.iter().find_map(|(resource, object)| of_object(resource, object)),
        _ => None,
    });
    let lines = || scenario.acts.iter().flat_map(|act| &act.expectations);
    let seen = || {
        lines().find_map(|line| match (&line.fact.subject, &line.fact.predicate) {
            (Subject::Table(_), _) => Some("it looks at whole lists"),
            (_, Predicate::Costs { .. }) => Some("it counts bytes, and names have a length"),
            _ => None,
        })
    };
    made.next().or_else(|| deeds(scenario).find_map(of_deed)).or_else(seen)
}

/// Returns everything that a scenario does, what it does before its first act included.
fn deeds(scenario: &Scenario) -> impl Iterator<Item = &Deed> {
    let given = scenario.given.iter().filter_map(|given| match &given.setup {
        Setup::Do(deed) => Some(deed),
        _ => None,
    });
    given.chain(scenario.acts.iter().flat_map(|act| &act.when).flat_map(|when| &when.deeds))
}

/// Tells why a deed cannot be done to programs that are not ours.
fn of_others(deed: &Deed) -> Option<&'static str> {
    let Deed::Action(action) = deed else { return None };
    match &**action {
        Action::AddRule(fault) => match &fault.from {
            Endpoint::Name(name) if name.starts_with("machine/") => None,
            _ => Some("connections of the control plane's own programs cannot be cut one by one"),
        },
        Action::RemoveRule(_) => Some("rules are taken away by their numbers"),
        _ => None,
    }
}

fn of_deed(deed: &Deed) -> Option<&'static str> {
    match deed {
        Deed::Action(action) => match &**action {
            Action::Api { identity, call } => of_call(identity, call),
            Action::Controller { .. } => Some("it stops controllers"),
            _ => None,
        },
        _ => None,
    }
}

fn of_call(identity: &Identity, call: &Call) -> Option<&'static str> {
    let Target::Resource { resource, name, .. } = &call.target else { return None };
    match (call.verb, &call.body) {
        (Verb::Create, Body::Json(object)) => of_object(resource, object),
        // Others than administrators are refused most of them, and that is what such scenarios look at.
        (Verb::List | Verb::Watch | Verb::DeleteCollection, _)
            if name.is_empty() && identity.groups.iter().any(|group| *group == *"system:masters") =>
        {
            Some("it asks for whole lists")
        }
        _ => None,
    }
}

fn of_object(resource: &Resource, object: &Json) -> Option<&'static str> {
    let is_bound = !object.at(&["spec", "nodeName"]).is_null();
    let namespace = object.at(&["metadata", "namespace"]).as_str().unwrap_or("");
    if namespace.starts_with("kube-") && namespace != NODE_LEASES {
        return Some("it uses a namespace of the system");
    }
    if *resource == PODS {
        return (!is_bound).then_some("the scheduler chooses among all Nodes");
    }
    if resource.group == "apps" || resource.group == "batch" {
        return Some("the scheduler chooses among all Nodes");
    }
    (!is_namespaced(resource) && *resource != NODES).then_some("it makes objects of the whole cluster")
}

/// Returns four letters that no other scenario of this run has, and hardly one of another run.
fn suffix() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz";
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut number = std::process::id().wrapping_mul(7919).wrapping_add(count.wrapping_mul(104_729));
    let mut text = String::from("np");
    for _ in 0..4 {
        text.push(char::from(LETTERS[number as usize % LETTERS.len()]));
        number /= 20;
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use nodeproof_core::json;

    use super::*;

    #[test]
    fn each_scenario_has_a_suffix_of_its_own() {
        let many: BTreeSet<String> = (0..500).map(|_| suffix()).collect();
        assert_eq!(many.len(), 500);
    }

    #[test]
    fn what_the_scheduler_places_needs_a_cluster_alone() {
        let deployments = Resource::of("apps", "v1", "deployments");
        let nodes = json!({"metadata": {"name": "n"}});
        assert!(of_object(&PODS, &json!({"spec": {}})).is_some());
        assert!(of_object(&PODS, &json!({"spec": {"nodeName": "n"}})).is_none());
        assert!(of_object(&deployments, &json!({})).is_some());
        assert!(of_object(&NODES, &nodes).is_none());
    }
}
