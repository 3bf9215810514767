//! Prepares a scenario for a live backend: its settings, whether it needs a control plane for itself, how its names are
//! mapped.
//!
//! Inputs: a scenario, a backend, the settings of the run. Outputs: a [`ScenarioPlan`], and the reason if the backend
//! cannot run it. Nothing is sent to a cluster.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nodeproof_core::network::{
    Body, Call, Endpoint, Identity, NAMESPACES, NODE_LEASES, NODES, PODS, Resource, Target, Verb, is_namespaced,
};
use nodeproof_core::objects::Json;
use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::{Action, Bystanders, Fact, PodsBy, Predicate, Scenario, ScenarioAction, Setup, Subject};

use super::LiveBackend;
use crate::live::aliases::Aliases;
use crate::live::tolerance::TimeLimit;

/// The most Nodes that a scenario may bring to a shared control plane. The others have two or three each.
const NODES_MAX: usize = 10;

/// Why a scenario needs a control plane for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolationReason {
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
    /// It changes or deletes objects of the whole cluster that it has not made.
    SystemObjects,
    /// Its names would mean something else with a suffix.
    OddNames,
    /// It runs commands of kubectl, which print names.
    Kubectl,
    /// It has many Nodes, and a shared control plane must not have too many.
    ManyNodes,
    /// The backend gives every scenario one, for this reason.
    Asked(&'static str),
}

impl IsolationReason {
    /// Tells whether a cluster that was made for the run is enough: it has no other Nodes meanwhile, names have
    /// suffixes, and what a scenario makes is removed behind it.
    #[must_use]
    pub const fn can_be_emptied_for(self) -> bool {
        matches!(self, Self::Flags | Self::AllNodes | Self::Scheduler | Self::Lists | Self::ClusterObjects)
    }
}

impl fmt::Display for IsolationReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flags => "it sets flags of the control plane",
            Self::Controllers => "it stops controllers",
            Self::AllNodes => "it is about all Nodes of the cluster",
            Self::Scheduler => "the scheduler chooses among all Nodes",
            Self::Lists => "it looks at whole lists",
            Self::SystemNamespace => "it uses a namespace of the system",
            Self::ClusterObjects => "it makes objects of the whole cluster",
            Self::SystemObjects => "it changes objects that every cluster has",
            Self::OddNames => "its names would mean something else with a suffix",
            Self::Kubectl => "kubectl prints its names",
            Self::ManyNodes => "it has many Nodes",
            Self::Asked(why) => why,
        })
    }
}

/// A scenario prepared for a live backend.
#[derive(Debug, Clone)]
pub struct ScenarioPlan {
    /// The scenario, with its own names.
    pub scenario: Arc<Scenario>,
    /// Release, flags and gates in force.
    pub settings: Settings,
    /// The seed of the program's own random choices.
    pub seed: u64,
    /// Why the scenario needs a control plane for itself; `None` if it can share one.
    pub alone: Option<IsolationReason>,
    /// How its names are mapped.
    pub aliases: Aliases,
}

impl ScenarioPlan {
    /// Prepares a scenario for a live backend.
    ///
    /// # Errors
    /// A flag is unknown or its value does not fit; the text says which.
    pub fn of(live_backend: &dyn LiveBackend, scenario: &Scenario, run: &Settings, seed: u64) -> Result<Self, String> {
        let settings = scenario.cluster.settings(run).map_err(|error| error.to_string())?;
        let dedicated = live_backend.has_dedicated_control_planes();
        let mapped = Aliases::of(scenario, &suffix()).standing_in(live_backend.stand_ins(scenario));
        let odd = || (!mapped.can_be_mapped()).then_some(IsolationReason::OddNames);
        // Odd names need a control plane of their own even where a cluster without other Nodes is enough for the rest.
        let alone = match alone(scenario) {
            Some(why) if why.can_be_emptied_for() => odd().or(Some(why)),
            alone => alone
                .or_else(odd)
                .or_else(|| (dedicated && nodes(scenario) > NODES_MAX).then_some(IsolationReason::ManyNodes))
                .or_else(|| live_backend.isolates_all().map(IsolationReason::Asked)),
        };
        let aliases = match alone {
            Some(_) if dedicated => Aliases::none(),
            Some(_) if live_backend.is_otherwise_empty() => mapped.without_others(),
            _ => mapped,
        };
        let mut scenario = scenario.clone();
        scenario.set_grace_period(settings.duration("node-monitor-grace-period"));
        Ok(Self { scenario: Arc::new(scenario), settings, seed, alone, aliases })
    }

    /// Returns why the scenario cannot be run on a backend; known when scenarios are listed.
    #[must_use]
    pub fn obstacle(&self, live_backend: &dyn LiveBackend, time_limit: TimeLimit) -> Option<String> {
        let capable = live_backend.capabilities();
        let own = live_backend.obstacle(self);
        let missing = || self.scenario.needs().into_iter().find(|need| !capable.contains(need));
        let is_served = |why: &IsolationReason| {
            live_backend.has_dedicated_control_planes() || live_backend.is_otherwise_empty() && why.can_be_emptied_for()
        };
        let isolated = || self.alone.filter(|why| !is_served(why));
        own.or_else(|| time_limit.obstacle(&self.scenario))
            .or_else(|| self.scenario.actions().find_map(of_others).map(str::to_owned))
            .or_else(|| missing().map(|need| format!("this backend cannot do: {need}")))
            .or_else(|| isolated().map(|why| format!("it needs a cluster for itself: {why}")))
    }
}

/// Returns how many Nodes a scenario has from the start.
fn nodes(scenario: &Scenario) -> usize {
    let of = |setup: &Setup| match setup {
        Setup::ReadyNodes(specs) => specs.len(),
        Setup::HandFedNodes(nodes) => nodes.len(),
        _ => 0,
    };
    scenario.given.iter().map(|given| of(&given.setup)).sum()
}

/// Returns why a scenario needs a control plane for itself.
fn alone(scenario: &Scenario) -> Option<IsolationReason> {
    let made: Made<'_> = scenario.objects_made().map(|(resource, object)| (resource, name_of(object))).collect();
    let given = scenario.given.iter().flat_map(|given| match &given.setup {
        Setup::RunningPod { pod } => of_object(&PODS, pod).into_iter().collect(),
        Setup::Objects(objects) => {
            objects.iter().filter_map(|(resource, object)| of_object(resource, object)).collect()
        }
        _ => Vec::new(),
    });
    let seen = scenario.expectations().filter_map(|line| looks_at_lists(&line.fact).then_some(IsolationReason::Lists));
    let flags = (!scenario.cluster.flags.is_empty()).then_some(IsolationReason::Flags);
    let bystanders = (scenario.cluster.bystanders != Bystanders::Bystander).then_some(IsolationReason::AllNodes);
    let found: Vec<IsolationReason> = given
        .chain(scenario.actions().filter_map(|action| of_action(action, &made)))
        .chain(seen)
        .chain(flags)
        .chain(bystanders)
        .collect();
    // A reason for which a cluster without other Nodes is not enough comes first.
    found.iter().find(|why| !why.can_be_emptied_for()).or(found.first()).copied()
}

/// Tells whether a line is about a whole list or a watch of one.
const fn looks_at_lists(fact: &Fact) -> bool {
    let is_list = match &fact.subject {
        Subject::Table(_) | Subject::Watch => true,
        Subject::PodsOf { by, .. } => !matches!(by, PodsBy::Owner(_)),
        _ => false,
    };
    is_list || matches!(fact.predicate, Predicate::Lists(_))
}

/// Returns why an action cannot be done to programs that the run did not start.
fn of_others(action: &ScenarioAction) -> Option<&'static str> {
    let ScenarioAction::Action(action) = action else { return None };
    match &**action {
        Action::AddRule(fault) => match &fault.from {
            Endpoint::Name(name) if name.starts_with("machine/") => None,
            _ => Some("connections of the control plane's own programs cannot be cut one by one"),
        },
        Action::RemoveRule(_) => Some("rules are taken away by their numbers"),
        _ => None,
    }
}

fn of_action(action: &ScenarioAction, made: &Made<'_>) -> Option<IsolationReason> {
    match action {
        ScenarioAction::Action(action) => match &**action {
            Action::Api { identity, call } => of_call(identity, call, made),
            Action::Controller { .. } => Some(IsolationReason::Controllers),
            Action::Drain(_) | Action::Describe(_) => Some(IsolationReason::Kubectl),
            _ => None,
        },
        _ => None,
    }
}

fn of_call(identity: &Identity, call: &Call, made: &Made<'_>) -> Option<IsolationReason> {
    let Target::Resource { resource, namespace, name, .. } = &call.target else { return None };
    match (call.verb, &call.body) {
        (Verb::Create, Body::Json(object)) => of_object(resource, object),
        (Verb::Update | Verb::Patch | Verb::Delete | Verb::DeleteCollection, _)
            if is_of_system(resource, namespace) =>
        {
            let is_own = made.contains(&(resource, name.as_str()));
            (!is_own).then_some(IsolationReason::SystemObjects)
        }
        // Users other than administrators are refused most lists, and scenarios about that look only at the refusal.
        (Verb::List | Verb::Watch | Verb::DeleteCollection, _)
            if name.is_empty() && identity.groups.iter().any(|group| *group == *"system:masters") =>
        {
            Some(IsolationReason::Lists)
        }
        _ => None,
    }
}

/// The resources and names of what a scenario makes.
type Made<'a> = BTreeSet<(&'a Resource, &'a str)>;

fn name_of(object: &Json) -> &str {
    object.at(&["metadata", "name"]).as_str().unwrap_or_default()
}

/// Tells whether every cluster has objects of a resource, or what is in a namespace, that scenarios have not made. The
/// names of Nodes and namespaces are a scenario's own.
fn is_of_system(resource: &Resource, namespace: &str) -> bool {
    if is_namespaced(resource) {
        return namespace.starts_with("kube-") && namespace != NODE_LEASES;
    }
    *resource != NODES && *resource != NAMESPACES
}

fn of_object(resource: &Resource, object: &Json) -> Option<IsolationReason> {
    let is_bound = !object.at(&["spec", "nodeName"]).is_null();
    let namespace = object.at(&["metadata", "namespace"]).as_str().unwrap_or("");
    if namespace.starts_with("kube-") && namespace != NODE_LEASES {
        return Some(IsolationReason::SystemNamespace);
    }
    if *resource == PODS {
        return (!is_bound).then_some(IsolationReason::Scheduler);
    }
    if resource.group == "apps" || resource.group == "batch" {
        return Some(IsolationReason::Scheduler);
    }
    let is_shared = is_namespaced(resource) || *resource == NODES || concerns_those_who_name_it(resource, object);
    (!is_shared).then_some(IsolationReason::ClusterObjects)
}

/// Tells whether an object of the whole cluster concerns only objects that name it.
fn concerns_those_who_name_it(resource: &Resource, object: &Json) -> bool {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("scheduling.k8s.io", "priorityclasses") => object.get("globalDefault").as_bool() != Some(true),
        ("node.k8s.io", "runtimeclasses") => true,
        _ => false,
    }
}

/// Returns a suffix of `np` and four letters. No other scenario of this run has it, and one of another run hardly ever.
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

    #[test]
    fn what_every_cluster_has_is_left_alone() {
        let (bindings, classes) = (
            Resource::of("rbac.authorization.k8s.io", "v1", "clusterrolebindings"),
            Resource::of("scheduling.k8s.io", "v1", "priorityclasses"),
        );
        let own: Made<'_> = [(&classes, "batch")].into_iter().collect();
        let why = |verb, resource: &Resource, namespace: &str, name: &str| {
            of_call(&Identity::admin(), &Call::new(verb, resource.clone(), namespace, name.to_owned()), &own)
        };
        assert_eq!(why(Verb::Delete, &bindings, "", "cluster-admin"), Some(IsolationReason::SystemObjects));
        assert_eq!(why(Verb::Patch, &PODS, "kube-system", "etcd"), Some(IsolationReason::SystemObjects));
        assert_eq!(why(Verb::Delete, &classes, "", "batch"), None);
        assert_eq!(why(Verb::Get, &bindings, "", "cluster-admin"), None);
        assert_eq!(why(Verb::Delete, &NODES, "", "worker-1"), None);
        assert_eq!(of_object(&classes, &json!({"value": 1})), None);
        let default = json!({"value": 1, "globalDefault": true});
        assert_eq!(of_object(&classes, &default), Some(IsolationReason::ClusterObjects));
    }
}
