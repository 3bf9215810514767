//! A scenario on its way to a site: its settings, whether it needs a control plane for itself, how its names are mapped.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nodeproof_core::network::{
    Body, Call, Endpoint, Identity, NODE_LEASES, NODES, PODS, Resource, Target, Verb, is_namespaced,
};
use nodeproof_core::objects::Json;
use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::{Action, Company, Deed, Scenario, Setup, Subject};

use super::Ground;
use crate::live::aliases::Aliases;
use crate::live::pace::Patience;

/// Why a scenario needs a control plane for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// It sets flags of the control plane.
    Flags,
    /// It stops controllers.
    Controllers,
    /// It is about all Nodes of the cluster.
    AllNodes,
    /// The scheduler chooses among all Nodes.
    Scheduler,
    /// It looks at whole lists.
    Lists,
    /// It uses a namespace of the system.
    SystemNamespace,
    /// It makes objects of the whole cluster.
    ClusterObjects,
    /// Its names would mean something else with a suffix.
    OddNames,
    /// The ground gives every scenario one.
    Asked(&'static str),
}

impl Alone {
    /// Tells whether a cluster will do that was made for the run, has no other Nodes for the time, and where names have
    /// suffixes.
    #[must_use]
    pub const fn can_be_emptied_for(self) -> bool {
        matches!(self, Self::Flags | Self::AllNodes | Self::Scheduler | Self::Lists)
    }
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flags => "it sets flags of the control plane",
            Self::Controllers => "it stops controllers",
            Self::AllNodes => "it is about all Nodes of the cluster",
            Self::Scheduler => "the scheduler chooses among all Nodes",
            Self::Lists => "it looks at whole lists",
            Self::SystemNamespace => "it uses a namespace of the system",
            Self::ClusterObjects => "it makes objects of the whole cluster",
            Self::OddNames => "its names would mean something else with a suffix",
            Self::Asked(why) => why,
        })
    }
}

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
    pub alone: Option<Alone>,
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
        let odd = || (!mapped.can_be_mapped()).then_some(Alone::OddNames);
        // Where all would do with a cluster without other Nodes, odd names would still not.
        let alone = match alone(scenario) {
            Some(why) if why.can_be_emptied_for() => odd().or(Some(why)),
            alone => alone.or_else(odd).or_else(|| ground.parts_all().map(Alone::Asked)),
        };
        let aliases = match alone {
            Some(_) if ground.gives_control_planes() => Aliases::none(),
            Some(_) if ground.has_no_others() => mapped.without_others(),
            _ => mapped,
        };
        Ok(Self { scenario: Arc::new(scenario.clone()), settings, seed, alone, aliases })
    }

    /// Tells why the scenario cannot be run on a ground; known when scenarios are listed.
    #[must_use]
    pub fn obstacle(&self, ground: &dyn Ground, patience: Patience) -> Option<String> {
        let capable = ground.capabilities();
        let own = ground.obstacle(self);
        let missing = || self.scenario.needs().into_iter().find(|need| !capable.contains(need));
        let is_served =
            |why: &Alone| ground.gives_control_planes() || ground.has_no_others() && why.can_be_emptied_for();
        let lonely = || self.alone.filter(|why| !is_served(why));
        own.or_else(|| patience.obstacle(&self.scenario))
            .or_else(|| self.scenario.deeds().find_map(of_others).map(str::to_owned))
            .or_else(|| missing().map(|need| format!("this backend cannot do: {need}")))
            .or_else(|| lonely().map(|why| format!("it needs a cluster for itself: {why}")))
    }
}

/// Tells why a scenario needs a control plane for itself.
fn alone(scenario: &Scenario) -> Option<Alone> {
    let made = scenario.given.iter().flat_map(|given| match &given.setup {
        Setup::RunningPod { pod } => of_object(&PODS, pod).into_iter().collect(),
        Setup::Objects(objects) => {
            objects.iter().filter_map(|(resource, object)| of_object(resource, object)).collect()
        }
        _ => Vec::new(),
    });
    let seen = scenario
        .expectations()
        .filter_map(|line| matches!(line.fact.subject, Subject::Table(_)).then_some(Alone::Lists));
    let flags = (!scenario.cluster.flags.is_empty()).then_some(Alone::Flags);
    let company = (scenario.cluster.company != Company::Bystander).then_some(Alone::AllNodes);
    let found: Vec<Alone> =
        made.chain(scenario.deeds().filter_map(of_deed)).chain(seen).chain(flags).chain(company).collect();
    // What a cluster without other Nodes does not serve comes first.
    found.iter().find(|why| !why.can_be_emptied_for()).or(found.first()).copied()
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

fn of_deed(deed: &Deed) -> Option<Alone> {
    match deed {
        Deed::Action(action) => match &**action {
            Action::Api { identity, call } => of_call(identity, call),
            Action::Controller { .. } => Some(Alone::Controllers),
            _ => None,
        },
        _ => None,
    }
}

fn of_call(identity: &Identity, call: &Call) -> Option<Alone> {
    let Target::Resource { resource, name, .. } = &call.target else { return None };
    match (call.verb, &call.body) {
        (Verb::Create, Body::Json(object)) => of_object(resource, object),
        // Others than administrators are refused most of them, and that is what such scenarios look at.
        (Verb::List | Verb::Watch | Verb::DeleteCollection, _)
            if name.is_empty() && identity.groups.iter().any(|group| *group == *"system:masters") =>
        {
            Some(Alone::Lists)
        }
        _ => None,
    }
}

fn of_object(resource: &Resource, object: &Json) -> Option<Alone> {
    let is_bound = !object.at(&["spec", "nodeName"]).is_null();
    let namespace = object.at(&["metadata", "namespace"]).as_str().unwrap_or("");
    if namespace.starts_with("kube-") && namespace != NODE_LEASES {
        return Some(Alone::SystemNamespace);
    }
    if *resource == PODS {
        return (!is_bound).then_some(Alone::Scheduler);
    }
    if resource.group == "apps" || resource.group == "batch" {
        return Some(Alone::Scheduler);
    }
    (!is_namespaced(resource) && *resource != NODES).then_some(Alone::ClusterObjects)
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
