//! A compiled scenario: data that every backend can run, and what can be derived from it (facts, actions, needed
//! capabilities, bounds). Nothing here runs.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::{Action, Capabilities, Capability, DEFAULT_GRACE_PERIOD, Expectation, Fact, Position, Taint};
use crate::components::controller::ControllerAction;
use crate::components::machine::MachineSpec;
use crate::network::{Body, Call, Endpoint, Resource, Target, Verb};
use crate::objects::{Json, Text};
use crate::profile::{Release, Settings, SettingsError};

/// A scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// Its name; a row of an outline carries the row's values.
    pub name: Text,
    /// The area: the directory of the feature file below `features/`.
    pub area: Text,
    /// The topic: the feature file's name without `.feature`.
    pub topic: Text,
    /// The feature's name.
    pub feature: Text,
    /// The rule under test.
    pub rule: Option<Text>,
    /// All tags that apply, without `@`.
    pub tags: Vec<Text>,
    /// Where it stands.
    pub position: Position,
    /// The cluster that it needs.
    pub cluster: ClusterSpec,
    /// What is there before the first act.
    pub given: Vec<Given>,
    /// The acts: what is done, and what is expected of it.
    pub acts: Vec<Act>,
    /// The first thing that it uses and that is not modelled; then it is not run.
    pub not_modelled: Option<Text>,
}

/// The control plane and the bystanders that a scenario wants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterSpec {
    /// The release; `None` leaves it to the run.
    pub release: Option<Release>,
    /// Flags, `COMPONENT.FLAG`, with their values, in order.
    pub flags: Vec<(Text, Text)>,
    /// The bystanders.
    pub bystanders: Bystanders,
}

impl ClusterSpec {
    /// Returns the settings in force, from those of the run.
    ///
    /// # Errors
    /// A flag is unknown or its value does not fit.
    pub fn settings(&self, run: &Settings) -> Result<Settings, SettingsError> {
        let mut settings = self.release.map_or_else(|| run.clone(), |release| run.at_release(release));
        for (flag, value) in &self.flags {
            settings.set(flag, value)?;
        }
        Ok(settings)
    }
}

/// The bystanders: Nodes beside those that a scenario names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bystanders {
    /// One healthy Node `bystander` in a zone of its own: a lone Node would be a full disruption.
    #[default]
    Bystander,
    /// None: `no other Node`.
    Nobody,
    /// The existing Nodes: `the cluster as it is`. A cluster that is made for the scenario gets three ready Nodes in
    /// two zones.
    AsItIs,
}

/// A `Given` line.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// What it asks for.
    pub setup: Setup,
    /// Where it stands.
    pub position: Position,
}

/// What a `Given` line asks for; the next line waits until it is established.
#[derive(Clone, Debug, PartialEq)]
pub enum Setup {
    /// Ready Nodes: Ready=True, Lease there, and two health passes since the last status write, or five minutes of
    /// being ready. They start together.
    ReadyNodes(Vec<MachineSpec>),
    /// Nodes without a kubelet; the scenario writes their heartbeats. They start together.
    HandFedNodes(Vec<HandFedNode>),
    /// A Pod that is created as it is given and then runs.
    RunningPod {
        /// The Pod.
        pod: Json,
    },
    /// Objects that are created as they are given.
    Objects(Vec<(Resource, Json)>),
    /// Something that is done, as in a `When`.
    Do(ScenarioAction),
    /// A fact that must become true before the scenario continues.
    Until(Fact),
}

/// A Node without a kubelet: the scenario writes its status and renews its Lease until told to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct HandFedNode {
    /// Its name.
    pub name: Text,
    /// Its labels, zone included.
    pub labels: Vec<(Text, Text)>,
    /// Its taints, as objects.
    pub taints: Vec<Json>,
    /// The release of the kubelet that it is said to have, as `v1.34.4`. Default: it is not said.
    pub version: Option<Text>,
    /// How often the Lease is renewed. Default 10 s, as a kubelet does.
    pub lease_every: SignedDuration,
    /// How often the status is written. Default 5 min, as a kubelet does.
    pub status_every: SignedDuration,
}

impl HandFedNode {
    /// Makes a Node without labels and taints, with the heartbeat periods of a kubelet.
    pub fn new(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            labels: Vec::new(),
            taints: Vec::new(),
            version: None,
            lease_every: SignedDuration::from_secs(10),
            status_every: SignedDuration::from_mins(5),
        }
    }
}

/// A `When` with the `Then` lines that follow from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Act {
    /// The steps of the `When` (`And` included); zero is the instant at which the last took effect.
    pub when: Vec<When>,
    /// The `Then` lines.
    pub expectations: Vec<Expectation>,
}

/// A `When` line.
#[derive(Clone, Debug, PartialEq)]
pub struct When {
    /// What is done, in order.
    pub actions: Vec<ScenarioAction>,
    /// Where it stands.
    pub position: Position,
}

/// Something that a scenario does.
#[derive(Clone, Debug, PartialEq)]
pub enum ScenarioAction {
    /// An action that every entry point of the simulator knows.
    Action(Box<Action>),
    /// All rules that the scenario has added to a client's connection are removed.
    Heal(Endpoint),
    /// Time passes before the next action.
    Pass(SignedDuration),
    /// The next action waits until this is true, as a `Given` does.
    Until(Fact),
    /// Taints are added and removed, and the others stay: as `kubectl taint` does, which reads the Node and patches the
    /// whole list with its resourceVersion.
    ///
    /// Source: kubectl pkg/cmd/taint/taint.go (v1.34).
    Taint {
        /// The Node.
        node: Text,
        /// What is added; one of the same key and effect is replaced.
        add: Vec<Taint>,
        /// What is removed, by key and effect.
        remove: Vec<Taint>,
    },
    /// The heartbeats of a hand-fed Node change.
    Feed {
        /// The Node.
        node: Text,
        /// What.
        feed: Feed,
    },
}

impl From<Action> for ScenarioAction {
    fn from(action: Action) -> Self {
        Self::Action(Box::new(action))
    }
}

/// A change of the heartbeats of a hand-fed Node.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// Neither status nor Lease is written any more.
    Silence,
    /// The Lease is no longer renewed; the status is.
    SilenceLease,
    /// The status is no longer written; the Lease is.
    SilenceStatus,
    /// Both are written at once, and periodically from then on.
    Resume,
    /// A condition is written at once, with the whole status, and in each later write.
    Condition {
        /// The condition's type.
        kind: Text,
        /// `True`, `False` or `Unknown`.
        status: Text,
        /// The reason.
        reason: Text,
        /// The message.
        message: Text,
    },
}

impl ScenarioAction {
    /// Tells whether something is done to the cluster, and not only waited for.
    #[must_use]
    pub const fn touches_the_cluster(&self) -> bool {
        !matches!(self, Self::Pass(_) | Self::Until(_))
    }
}

impl Setup {
    /// Tells whether something is done to the cluster, and not only waited for.
    #[must_use]
    pub const fn touches_the_cluster(&self) -> bool {
        match self {
            Self::Do(action) => action.touches_the_cluster(),
            Self::Until(_) => false,
            Self::ReadyNodes(_) | Self::HandFedNodes(_) | Self::RunningPod { .. } | Self::Objects(_) => true,
        }
    }
}

impl Scenario {
    /// Returns the first line that needs more than reads of the API; `None` if the scenario can run on any cluster
    /// without a write.
    #[must_use]
    pub fn first_touch(&self) -> Option<&Position> {
        if self.cluster.bystanders != Bystanders::AsItIs
            || !self.cluster.flags.is_empty()
            || self.cluster.release.is_some()
        {
            return Some(&self.position);
        }
        let given = self.given.iter().filter(|given| given.setup.touches_the_cluster()).map(|given| &given.position);
        let when = self.acts.iter().flat_map(|act| &act.when);
        let when =
            when.filter(|when| when.actions.iter().any(ScenarioAction::touches_the_cluster)).map(|when| &when.position);
        let lines = self.expectations().filter(|line| !line.fact.subject.is_of_the_api()).map(|line| &line.position);
        given.chain(when).chain(lines).next()
    }

    /// Returns the kinds of objects that its lines look at.
    #[must_use]
    pub fn looks_at(&self) -> BTreeSet<Resource> {
        self.facts().flat_map(Fact::looks_at).collect()
    }

    /// Tells whether the truth of one of its lines may depend on the renewal of a Lease.
    #[must_use]
    pub fn depends_on_renewals(&self) -> bool {
        self.facts().any(Fact::depends_on_renewals)
    }

    /// Returns its `Then` lines, in order.
    pub fn expectations(&self) -> impl Iterator<Item = &Expectation> {
        self.acts.iter().flat_map(|act| &act.expectations)
    }

    /// Returns all its actions, in order: those of `Given` lines, and of each `When`.
    pub fn actions(&self) -> impl Iterator<Item = &ScenarioAction> {
        let given = self.given.iter().filter_map(|given| match &given.setup {
            Setup::Do(action) => Some(action),
            _ => None,
        });
        given.chain(self.acts.iter().flat_map(|act| &act.when).flat_map(|when| &when.actions))
    }

    /// Returns the objects that it makes, each with its resource, but for Pods that run already.
    pub fn objects_made(&self) -> impl Iterator<Item = (&Resource, &Json)> {
        let given = self.given.iter().filter_map(|given| match &given.setup {
            Setup::Objects(objects) => Some(objects.iter().map(|(resource, object)| (resource, object))),
            _ => None,
        });
        let created = self.actions().filter_map(|action| match action {
            ScenarioAction::Action(action) => match &**action {
                Action::Api { call, .. } => match (call.verb, &call.target, &call.body) {
                    (Verb::Create, Target::Resource { resource, .. }, Body::Json(object)) => Some((resource, object)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
        given.flatten().chain(created)
    }

    /// Returns all facts of its lines: what they wait for, what they expect, and what bounds depend on.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        let given = self.given.iter().filter_map(|given| match &given.setup {
            Setup::Until(fact) => Some(fact),
            _ => None,
        });
        let actions = self.actions().filter_map(|action| match action {
            ScenarioAction::Until(fact) => Some(fact),
            _ => None,
        });
        given.chain(actions).chain(self.expectations().flat_map(Expectation::facts))
    }

    /// Returns what a backend must be able to do.
    #[must_use]
    pub fn needs(&self) -> Capabilities {
        let mut needs = BTreeSet::new();
        if !self.cluster.flags.is_empty() {
            needs.insert(Capability::ControlPlaneFlags);
        }
        if self.cluster.bystanders == Bystanders::AsItIs {
            needs.insert(Capability::Machines);
        }
        for given in &self.given {
            match &given.setup {
                Setup::HandFedNodes(_) => drop(needs.insert(Capability::HandFedNodes)),
                Setup::ReadyNodes(_) => drop(needs.insert(Capability::Machines)),
                Setup::Do(_) | Setup::RunningPod { .. } | Setup::Objects(_) | Setup::Until(_) => {}
            }
        }
        let done: SignedDuration = self.actions().map(|action| needs_of(action, &mut needs)).sum();
        let passes = self.acts.iter().map(Act::length).sum::<SignedDuration>() + done;
        if passes > LIVE_PATIENCE {
            needs.insert(Capability::VirtualTime);
        }
        needs
    }
}

/// How long a scenario may take on a live cluster before it counts as one that needs virtual time.
const LIVE_PATIENCE: SignedDuration = SignedDuration::from_mins(30);

/// Tells whether the API server passes a request on to a kubelet, a Pod or a Service, and whether for a stream.
fn passed_on(call: &Call) -> Option<bool> {
    let Target::Resource { subresource, .. } = &call.target else { return None };
    match subresource.as_str() {
        "exec" | "attach" | "portforward" => Some(true),
        "log" | "proxy" => Some(false),
        _ => None,
    }
}

/// Notes what an action needs and returns how long it lasts.
fn needs_of(action: &ScenarioAction, needs: &mut Capabilities) -> SignedDuration {
    match action {
        ScenarioAction::Pass(duration) => return *duration,
        ScenarioAction::Taint { .. } | ScenarioAction::Until(_) => {}
        ScenarioAction::Feed { .. } => drop(needs.insert(Capability::HandFedNodes)),
        ScenarioAction::Heal(_) => drop(needs.insert(Capability::Connections)),
        ScenarioAction::Action(action) => match &**action {
            Action::Api { call, .. } => match passed_on(call) {
                Some(true) => drop(needs.insert(Capability::Calls)),
                Some(false) => drop(needs.insert(Capability::KubeletServers)),
                None => {}
            },
            Action::Http(_) | Action::FromPod { .. } => drop(needs.insert(Capability::Calls)),
            Action::AddMachine(spec) => {
                needs.insert(Capability::Machines);
                if spec.bootstrap.is_some() {
                    needs.insert(Capability::Bootstrap);
                }
            }
            Action::Machine { .. } => drop(needs.insert(Capability::Machines)),
            Action::AddRule(fault) if fault.to == Endpoint::Name(Text::of("cloud")) => {
                needs.insert(Capability::Cloud);
            }
            Action::AddRule(fault) if fault.matching.is_some() => drop(needs.insert(Capability::Requests)),
            Action::AddRule(_) | Action::RemoveRule(_) => drop(needs.insert(Capability::Connections)),
            Action::Controller { action: ControllerAction::RunOnce(_), .. } => {
                needs.insert(Capability::VirtualTime);
            }
            Action::Controller { .. } => drop(needs.insert(Capability::Controllers)),
            Action::Drain(_) | Action::Describe(_) => drop(needs.insert(Capability::Kubectl)),
            Action::Cloud(_) => drop(needs.insert(Capability::Cloud)),
            Action::Custom { .. } => drop(needs.insert(Capability::Custom)),
        },
    }
    SignedDuration::ZERO
}

impl Scenario {
    /// Gives the limits that are told by the grace period the one of the cluster; called once, before the run.
    pub fn set_grace_period(&mut self, grace_period: SignedDuration) {
        let by = grace_period - DEFAULT_GRACE_PERIOD;
        for line in self.acts.iter_mut().flat_map(|act| &mut act.expectations) {
            line.bound.shift(line.in_grace, by);
        }
    }
}

impl Expectation {
    /// Returns the facts of the line: its own, and what its bound depends on.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        core::iter::once(&self.fact).chain(self.bound.anchor())
    }
}

impl Act {
    /// Returns the largest bound that is known before the run: the act's length, but for facts that bounds depend on.
    #[must_use]
    pub fn length(&self) -> SignedDuration {
        self.expectations.iter().map(|expectation| expectation.bound.end()).max().unwrap_or_default()
    }

    /// Returns the first of its `When` lines after which time passes before zero, if that is not before anything is
    /// done: what follows from that line at once lies before zero.
    #[must_use]
    pub fn before_zero(&self) -> Option<&When> {
        let waits = |action: &ScenarioAction| matches!(action, ScenarioAction::Pass(_) | ScenarioAction::Until(_));
        let last_wait = self.when.iter().rposition(|step| step.actions.iter().any(waits))?;
        self.when[..last_wait].iter().find(|step| !step.actions.iter().all(waits))
    }
}
