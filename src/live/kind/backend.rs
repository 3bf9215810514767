//! The kind backend: a cluster that all scenarios share, each with workers of its own.
//!
//! Inputs: prepared scenarios. Outputs: environments on which they run, or the reasons why they cannot; for a dry run,
//! what would be done to which node. Invariant: what kind cannot do is a missing capability or an obstacle, and known
//! when scenarios are listed.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use nodeproof_core::components::machine::{MachineAction, MachineSpec};
use nodeproof_core::network::{Call, Endpoint, Fault, NODES, Resource, Target, Verb};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::{
    Action, ActionId, Bystanders, Capabilities, Capability, Expectation, FaultEffect, FieldTest, Predicate, Scenario,
    ScenarioAction, Setup, Subject,
};

use super::behaviour;
use super::cluster::{KindCluster, KindOptions, NoCluster, Share};
use super::docker_effects::DockerEffects;
use super::fault::{self, FaultPlan};
use super::inspection::Looks;
use super::mask;
use super::programs;
use super::settings::KubeletSettings;
use super::sizes;
use super::worker::{Preparation, obstacle};
use crate::live::cleanup::docker::Docker;
use crate::live::cleanup::node_fault::NodeFault;
use crate::live::timing::{HEALING_MARGIN, KIND_LATENCY, SHARE_PAUSE};
use crate::live::{
    Access, Environment, EnvironmentFuture, FallibleFuture, IsolationReason, LiveBackend, ScenarioPlan, TimingTolerance,
};

/// A kind cluster that scenarios share, and others for those that need one for themselves.
#[derive(Debug)]
pub struct KindBackend {
    /// The one that scenarios share.
    cluster: Arc<KindCluster>,
    others: Vec<Arc<KindCluster>>,
}

impl KindBackend {
    /// Attaches to a cluster, or creates one that is removed with the backend.
    ///
    /// # Errors
    /// Docker does not answer, or the cluster must not be touched; the text says why, and what would help.
    pub fn open(options: &KindOptions) -> Result<Self, NoCluster> {
        let mut clusters = NoCluster::unless(KindCluster::open(options))?.into_iter().map(Arc::new);
        let none = || NoCluster::Absent("no cluster was made".to_owned());
        let cluster = clusters.next().ok_or_else(none)?;
        Ok(Self { cluster, others: clusters.collect() })
    }

    /// Waits for a cluster, or for a share of one.
    async fn cluster_for(&self, is_alone: bool) -> (Arc<KindCluster>, Share) {
        if !is_alone || self.others.is_empty() {
            return (Arc::clone(&self.cluster), self.cluster.share(is_alone).await);
        }
        loop {
            for cluster in self.others.iter().chain([&self.cluster]) {
                if let Some(share) = cluster.share_at_once() {
                    return (Arc::clone(cluster), share);
                }
            }
            tokio::time::sleep(SHARE_PAUSE).await;
        }
    }
}

impl LiveBackend for KindBackend {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = capabilities();
        if self.is_otherwise_empty() {
            capabilities.insert(Capability::ControlPlaneFlags);
        }
        capabilities
    }

    fn obstacle(&self, plan: &ScenarioPlan) -> Option<String> {
        let own = &self.cluster.common.version;
        let wanted = plan.settings.profile().release().to_string();
        let minor = |version: &str| version.trim_start_matches('v').split('.').take(2).collect::<Vec<_>>().join(".");
        if minor(own) != minor(&wanted) {
            return Some(format!("the cluster runs Kubernetes {own}: --k8s {} fits", minor(own)));
        }
        obstacle_in(plan, own)
    }

    fn announcement(&self) -> Option<String> {
        let clusters = [&self.cluster].into_iter().chain(&self.others);
        Some(clusters.map(|cluster| cluster.target.to_string()).collect::<Vec<_>>().join("\n"))
    }

    fn concurrency(&self) -> NonZeroUsize {
        // Joining a worker uses a core for two seconds; a worker that waits uses a few hundredths of a core.
        const PER_CORE: NonZeroUsize = NonZeroUsize::new(7).expect("not zero");
        if !self.cluster.stand_ins.is_empty() {
            return NonZeroUsize::MIN;
        }
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        cores.saturating_mul(PER_CORE).saturating_add(self.others.len())
    }

    fn own_clusters(&self) -> usize {
        self.others.len()
    }

    fn stand_ins(&self, scenario: &Scenario) -> BTreeMap<String, String> {
        let machines = replaceable(scenario).map(ToString::to_string);
        machines.zip(self.cluster.stand_ins.iter().cloned()).collect()
    }

    fn is_otherwise_empty(&self) -> bool {
        self.cluster.is_emptied()
    }

    fn has_capacity(&self, plan: &ScenarioPlan) -> bool {
        // The scheduler could choose a hand-fed Node, on which no Pod runs; and a scenario about the cluster as it is
        // would see the heartbeats that the driver writes.
        plan.alone == Some(IsolationReason::Scheduler) || plan.scenario.cluster.bystanders == Bystanders::AsItIs
    }

    fn dry_run(&self, plan: &ScenarioPlan) -> Vec<String> {
        dry_run(plan, &self.cluster.stand_ins)
    }

    fn environment<'a>(&'a self, plan: &'a ScenarioPlan) -> EnvironmentFuture<'a> {
        Box::pin(async move {
            let length = crate::live::expected_length(&plan.scenario);
            let patience = Duration::try_from(length).unwrap_or_default() + HEALING_MARGIN;
            let (cluster, share) = self.cluster_for(plan.alone.is_some()).await;
            let access = cluster.access.clone();
            let docker_effects = DockerEffects::on(cluster, patience).await?;
            let docker_effects = docker_effects.preparing(preparation(&plan.scenario), Looks::of(&plan.scenario));
            docker_effects.run_with(&plan.scenario.cluster.flags).await?;
            let timing_tolerance = TimingTolerance::of(KIND_LATENCY, &plan.settings);
            Ok(Box::new(KindEnvironment {
                docker_effects,
                access,
                timing_tolerance,
                rules: BTreeMap::new(),
                _share: share,
            }) as Box<dyn Environment>)
        })
    }
}

fn capabilities() -> Capabilities {
    Capabilities::from([
        Capability::KubeletFlags,
        Capability::Machines,
        Capability::HandFedNodes,
        Capability::Connections,
        Capability::KubeletServers,
        Capability::Custom,
    ])
}

/// Returns the machines of a scenario that any worker can replace: ready ones without special parts, whose actions
/// leave no trace after healing. A Node that others write to is changed afterwards, and a worker of the cluster boots
/// with the same boot id as before.
fn replaceable(scenario: &Scenario) -> impl Iterator<Item = &Text> {
    // A worker is prepared when it is made.
    let is_any = !behaviour::is_told(scenario) && !sizes::is_told(scenario);
    let ready = scenario.given.iter().filter(move |_| is_any).flat_map(|given| match &given.setup {
        Setup::ReadyNodes(specs) => specs.as_slice(),
        _ => &[],
    });
    let has_wishes = |spec: &MachineSpec| *spec != MachineSpec { name: spec.name.clone(), ..MachineSpec::default() };
    ready.filter(move |spec| !has_wishes(spec)).map(|spec| &spec.name).filter(move |name| {
        !scenario.actions().any(|action| match action {
            ScenarioAction::Taint { node, .. } | ScenarioAction::Feed { node, .. } => node == *name,
            ScenarioAction::Action(action) => match &**action {
                Action::Machine { name: machine, action } => machine == *name && leaves_traces(action),
                Action::Api { call, .. } => {
                    let is_read = matches!(call.verb, Verb::Get | Verb::List | Verb::Watch);
                    !is_read && matches!(&call.target, Target::Resource { resource, .. } if *resource == NODES)
                }
                _ => false,
            },
            _ => false,
        })
    })
}

/// Tells whether an action leaves traces on a worker that kind has made, or has another result there: such a worker is
/// restarted once when it has gone down by itself.
///
/// Source: sigs.k8s.io/kind pkg/cluster/internal/providers/docker/provision.go (v0.27), `--restart=on-failure:1`.
const fn leaves_traces(action: &MachineAction) -> bool {
    use MachineAction::{Behave, Change, KubeletRestart, PowerOn, Reboot, Shutdown};
    matches!(
        action,
        PowerOn { .. } | Reboot { .. } | Shutdown { .. } | KubeletRestart(Some(_)) | Change(_) | Behave { .. }
    )
}

fn machines(plan: &ScenarioPlan) -> impl Iterator<Item = &MachineSpec> {
    let ready = plan.scenario.given.iter().flat_map(|given| match &given.setup {
        Setup::ReadyNodes(specs) => specs.as_slice(),
        _ => &[],
    });
    let added = plan.scenario.actions().filter_map(|action| match action {
        ScenarioAction::Action(action) => match &**action {
            Action::AddMachine(spec) => Some(spec),
            _ => None,
        },
        _ => None,
    });
    ready.chain(added)
}

/// Returns why kind cannot run a scenario.
fn obstacle_in(plan: &ScenarioPlan, version: &str) -> Option<String> {
    const WORKERS_MAX: usize = 8;
    let count = machines(plan).count();
    if count > WORKERS_MAX {
        return Some(format!("{count} machines: kind has room for {WORKERS_MAX} a scenario"));
    }
    if let Some(why) = machines(plan).find_map(|spec| obstacle(spec, version)) {
        return Some(why);
    }
    if let Some(why) = programs::obstacle(&plan.scenario.cluster.flags) {
        return Some(why);
    }
    if let Some(why) = behaviour::obstacle(&plan.scenario) {
        return Some(why);
    }
    if plan.scenario.actions().any(proxies_to_pods) {
        return Some("containers of a kind node serve nothing".to_owned());
    }
    if count > 0
        && let Some(driver) = plan.scenario.objects_made().find_map(driver_of)
    {
        return Some(format!("no driver {driver} runs on a kind node"));
    }
    // The reasons of the mask do not apply to a cluster with other flags.
    let lines = plan.scenario.expectations();
    if let Some(why) = lines.filter(|_| plan.scenario.cluster.flags.is_empty()).find_map(of_line) {
        return Some(why);
    }
    let settings = KubeletSettings::default();
    plan.scenario.actions().find_map(|action| match action {
        ScenarioAction::Action(action) => match &**action {
            Action::Machine { action, .. } => fault::of_machine(action, "", &settings).err(),
            Action::AddRule(fault) => match fault::machine_of(fault) {
                Some(_) => fault::of_network(fault, "").err(),
                None => Some("only the connection of a machine can be met".to_owned()),
            },
            _ => None,
        },
        _ => None,
    })
}

/// Returns the CSI driver that a volume needs, be it made beside Pods or within one.
fn driver_of((_, object): (&Resource, &Json)) -> Option<String> {
    let volumes = object.at(&["spec", "volumes"]).items().iter().chain([object.get("spec")]);
    let mut drivers = volumes.filter_map(|volume| volume.at(&["csi", "driver"]).as_str());
    drivers.next().map(str::to_owned)
}

fn proxies_to_pods(action: &ScenarioAction) -> bool {
    let ScenarioAction::Action(action) = action else { return false };
    let Action::Api { call: Call { target: Target::Resource { resource, subresource, .. }, .. }, .. } = &**action
    else {
        return false;
    };
    *subresource == *"proxy" && *resource != NODES
}

/// Returns what is done to each worker of a scenario before its kubelet starts.
fn preparation(scenario: &Scenario) -> Preparation {
    Preparation { is_behaving: behaviour::is_told(scenario), is_sized: sizes::is_told(scenario) }
}

/// Returns why a line cannot hold on a kind node: it expects a value that is different there.
fn of_line(line: &Expectation) -> Option<String> {
    if let (Subject::Machine(_), Predicate::Field { path, .. }) = (&line.fact.subject, &line.fact.predicate) {
        let path = path.to_string();
        // What is announced by a signal alone is no property of logind.
        let is_seen = path == "state" || path.starts_with("logind.") && path != "logind.preparingForShutdown";
        return (!is_seen)
            .then(|| format!("{path}: a container shows its processes, not what a machine has beside them"));
    }
    if let Predicate::Refused { text: Some(text) } = &line.fact.predicate {
        // Source: pkg/kubelet/cm/node_container_manager_linux.go and cmd/kubelet/app/server.go (v1.34).
        let names_capacity = ["but capacity of", "online-cpus"].into_iter().any(|part| text.contains(part));
        return mask::reason("status.capacity").filter(|_| names_capacity).map(str::to_owned);
    }
    let (Subject::Object(of), Predicate::Field { path, test }) = (&line.fact.subject, &line.fact.predicate) else {
        return None;
    };
    let is_about_value = matches!(test, FieldTest::Is(_) | FieldTest::OneOf(_) | FieldTest::Absent);
    let why = mask::reason(&path.to_string()).filter(|_| is_about_value && of.resource == NODES)?;
    Some(format!("{path}: {why}"))
}

/// Describes what a scenario would do to which node, one line each, as commands for people.
fn dry_run(plan: &ScenarioPlan, stand_ins: &[String]) -> Vec<String> {
    let mut lines = programs::dry_run(&plan.scenario.cluster.flags);
    for spec in machines(plan) {
        let alias = &spec.name;
        let spec = plan.aliases.machine(spec.clone());
        if stand_ins.iter().any(|own| *own == *spec.name) {
            lines.push(format!("{}: stands in for {alias}, and is healed at the end", spec.name));
            continue;
        }
        let zone = spec.zone.as_ref().map(|zone| format!(" in zone {zone}")).unwrap_or_default();
        lines.push(format!("{}: a worker is added from the node image{zone}, and removed at the end", spec.name));
    }
    let settings = KubeletSettings::default();
    for action in plan.scenario.actions() {
        let (machine, steps) = match action {
            ScenarioAction::Action(action) => match &**action {
                Action::Machine { name, action } => {
                    let name = plan.aliases.real(name);
                    (name.clone(), fault::of_machine(action, &name, &settings))
                }
                Action::AddRule(fault) => {
                    let Some(name) = fault::machine_of(fault) else { continue };
                    let name = plan.aliases.real(name);
                    (name.clone(), fault::of_network(fault, &name))
                }
                _ => continue,
            },
            ScenarioAction::Heal(Endpoint::Name(name)) => {
                let Some(name) = name.strip_prefix("machine/") else { continue };
                let name = plan.aliases.real(name);
                (name.clone(), Ok(FaultPlan::heal(NodeFault::Cut, &name)))
            }
            _ => continue,
        };
        match steps {
            Ok(steps) => {
                lines.extend(steps.ops.iter().map(|op| format!("{machine}: {op}")));
                let revert = steps.makes.map(|node_fault| node_fault.healing(&machine)).unwrap_or_default();
                lines.extend(revert.iter().map(|op| format!("{machine}: if the run is killed: {op}")));
            }
            Err(why) => lines.push(format!("{machine}: cannot be done: {why}")),
        }
    }
    lines
}

/// One scenario's workers on a kind cluster.
struct KindEnvironment {
    docker_effects: DockerEffects,
    access: Access,
    timing_tolerance: TimingTolerance,
    rules: BTreeMap<u32, ActiveFault>,
    /// Held until the scenario's Nodes are gone.
    _share: Share,
}

/// A fault that an action has made.
struct ActiveFault {
    machine: String,
    /// What it had met when it was healed.
    met: Option<u64>,
}

impl Environment for KindEnvironment {
    fn access(&self) -> &Access {
        &self.access
    }

    fn timing_tolerance(&self) -> TimingTolerance {
        self.timing_tolerance.clone()
    }

    fn trouble(&self) -> Option<String> {
        Docker::trouble()
    }

    fn add_machine(&mut self, spec: MachineSpec) -> FallibleFuture<'_, ()> {
        Box::pin(async move { self.docker_effects.add(&spec).await })
    }

    fn machine_do<'a>(&'a mut self, name: &'a str, action: MachineAction) -> FallibleFuture<'a, ()> {
        Box::pin(async move { self.docker_effects.act(name, &action).await })
    }

    fn add_rule(&mut self, id: ActionId, fault: Fault) -> FallibleFuture<'_, ()> {
        Box::pin(async move {
            let machine = fault::machine_of(&fault).ok_or("only the connection of a machine can be met")?.to_owned();
            // Without an interface there are no packets to count: every connection has ended.
            if self.docker_effects.cut(&machine, &fault).await? != Some(NodeFault::Detached) {
                self.rules.insert(id.0, ActiveFault { machine, met: None });
            }
            Ok(())
        })
    }

    fn heal(&mut self, endpoint: Endpoint) -> FallibleFuture<'_, ()> {
        Box::pin(async move {
            let Endpoint::Name(name) = &endpoint else { return Err("a machine is to be named".to_owned()) };
            let machine = name.strip_prefix("machine/").ok_or("only the connection of a machine can be healed")?;
            for rule in self.rules.values_mut().filter(|rule| rule.machine == machine && rule.met.is_none()) {
                rule.met = Some(self.docker_effects.hits(machine).await?);
            }
            self.docker_effects.heal(machine).await
        })
    }

    fn effect(&mut self, id: ActionId) -> FallibleFuture<'_, FaultEffect> {
        Box::pin(async move {
            let Some(rule) = self.rules.get(&id.0) else { return Ok(FaultEffect::Ended) };
            let met = match rule.met {
                Some(met) => met,
                None => self.docker_effects.hits(&rule.machine).await?,
            };
            Ok(FaultEffect::Messages(met))
        })
    }

    fn note_creation(&mut self, resource: &Resource, name: &str) -> Result<(), String> {
        self.docker_effects.note_creation(resource, name)
    }

    fn note_removal(&mut self) -> Result<(), String> {
        self.docker_effects.note_removal()
    }

    fn describe<'a>(&'a mut self, name: &'a str) -> FallibleFuture<'a, Json> {
        Box::pin(async move { self.docker_effects.describe(name).await })
    }

    fn clean_up(self: Box<Self>) -> FallibleFuture<'static, ()> {
        Box::pin(async move {
            let mut own = self;
            let problems = own.docker_effects.clean_up().await;
            if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
        })
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::scenario::{Bound, Fact, GraceLimits, Position};

    use super::*;

    #[test]
    fn a_refusal_that_names_the_capacity_cannot_hold_on_a_kind_node() {
        let why = |text: &str| {
            let predicate = Predicate::Refused { text: Some(text.into()) };
            let fact = Fact { subject: Subject::Command, predicate };
            let (bound, in_grace) = (Bound::AtOnce, GraceLimits::default());
            of_line(&Expectation { fact, bound, in_grace, position: Position::default() })
        };
        assert!(why("has a reservation of {{1 0}} but capacity of {{2 0}}").is_some());
        assert!(why("reserved-cpus: 0-7 is not a subset of online-cpus: 0-3").is_some());
        assert_eq!(why("cannot reserve \"gpu\" resource"), None);
    }
}
