//! Plays a scenario on a real cluster: the counterpart of the simulator's world, in real time.
//!
//! Inputs: a backend and a prepared scenario. Output: its outcome. The decisions are made in [`live_run`] and
//! [`verdict`], which are pure; this module has the clock, the watches and everything that waits. [`actions`] carries
//! out actions. The driver also does what no component of the cluster does: it gives Nodes routes as a cloud does, and
//! writes the heartbeats of hand-fed Nodes. Invariant: a scenario that failed is not run again.

mod actions;
mod live_run;
mod removal;
mod sight;
mod verdict;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::network::Resource;
use nodeproof_core::objects::Text;
use nodeproof_core::profile::{Release, Settings};
use nodeproof_core::scenario::{
    Capability, DRAWN_NODES, FaultEffect, Given, HandFedNode, Outcome, RunOptions, Scenario, Setup, Verdict, bystanders,
};

use self::live_run::{DriverCommand, LiveRun};
use self::removal::Left;
use self::verdict::{Circumstances, Trouble, broken, conclude, undecided};
use super::aliases::Aliases;
use super::answers::{Measured, Probe, late_trouble};
use super::backend::{Environment, LiveBackend, NoEnvironment, ScenarioPlan};
use super::client::Caller;
use super::clock::Clock;
use super::heartbeat_tasks::HeartbeatTasks;
use super::interrupt;
use super::timing::{INTERRUPT_PERIOD, LATE_TROUBLE, LEAD, WAIT_FOR_LATE};
use super::tolerance::TimingTolerance;
use super::watches::Watches;

/// Runs a scenario on a backend.
#[must_use]
pub fn run_scenario(live_backend: &dyn LiveBackend, plan: &ScenarioPlan) -> Outcome {
    // Taken before the clock and the runtime are made, so that a waiting scenario costs nothing.
    let _room = live_backend.room(plan);
    let clock = Clock::new();
    if interrupt::is_asked() {
        return undecided(&plan.scenario, interrupt::SAID.to_owned(), clock.now());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return broken(&plan.scenario, format!("no runtime: {error}"), clock.now()),
    };
    runtime.block_on(async {
        let environment = match live_backend.environment(plan).await {
            Ok(environment) => environment,
            Err(NoEnvironment { why, is_asked_for }) => {
                let outcome = if is_asked_for { broken } else { undecided };
                return outcome(&plan.scenario, why, clock.now());
            }
        };
        // The run may have been interrupted while the environment was made.
        if interrupt::is_asked() {
            drop(environment.clean_up().await);
            return undecided(&plan.scenario, interrupt::SAID.to_owned(), clock.now());
        }
        let has_machines =
            live_backend.has_capacity(plan) && live_backend.capabilities().contains(&Capability::Machines);
        match Driver::begin(environment, plan, clock, has_machines).await {
            Ok(mut driver) => {
                driver.play().await;
                driver.end().await
            }
            Err(why) => undecided(&plan.scenario, why, clock.now()),
        }
    })
}

/// Returns the outcome of a scenario that cannot be played at all.
#[must_use]
pub fn unplayable(scenario: &Scenario, why: String) -> Outcome {
    broken(scenario, why, Clock::new().now())
}

struct Driver {
    environment: Box<dyn Environment>,
    scenario: Arc<Scenario>,
    aliases: Aliases,
    clock: Clock,
    caller: Caller,
    watches: Watches,
    live: LiveRun,
    heartbeat_tasks: HeartbeatTasks,
    /// Namespaces that were created for the scenario.
    namespaces: BTreeSet<Text>,
    /// What the scenario has created for the whole cluster, Nodes aside.
    made: Vec<(Resource, Text)>,
    /// By how much this program itself was woken too late, and when: the machine is too busy.
    lags: Measured,
    /// Measures meanwhile how long the API server takes to answer.
    probe: Probe,
}

impl Driver {
    async fn begin(
        environment: Box<dyn Environment>,
        plan: &ScenarioPlan,
        clock: Clock,
        has_machines: bool,
    ) -> Result<Self, String> {
        let caller = environment.access().caller().await?;
        let timing_tolerance = environment.timing_tolerance();
        let mut scenario = timing_tolerance.widened(&plan.scenario);
        let bystanders = bystanders_here(&scenario, has_machines, plan.settings.profile().release());
        scenario.given.splice(0..0, bystanders);
        let options = run_options(&timing_tolerance, &plan.settings);
        let live = LiveRun::new(scenario, plan.aliases.clone(), options, clock.now());
        let mut driver = Self {
            environment,
            scenario: Arc::clone(&plan.scenario),
            aliases: plan.aliases.clone(),
            clock,
            watches: Watches::open(live.subscriptions(), &caller, clock),
            live,
            heartbeat_tasks: HeartbeatTasks::default(),
            namespaces: BTreeSet::new(),
            made: Vec::new(),
            lags: Measured::new(),
            probe: Probe::begin(caller.clone(), clock),
            caller,
        };
        match driver.make_namespace("default").await {
            Ok(()) => Ok(driver),
            Err(why) => Err(driver.environment.trouble().unwrap_or(why)),
        }
    }

    /// Carries out the commands of the run and hands arrivals to it until it is over.
    async fn play(&mut self) {
        while !self.live.is_over() {
            let now = self.now();
            self.live.handle_timeout(now);
            while let Some(command) = self.live.poll_command() {
                self.obey(command).await;
            }
            self.wait().await;
            if interrupt::is_asked() {
                self.live.end(Trouble::Interrupted);
            }
        }
    }

    async fn obey(&mut self, command: DriverCommand) {
        match command {
            DriverCommand::Perform(id, task) => {
                let performed = self.perform(id, task).await;
                let now = self.now();
                self.live.handle_performed(performed, now);
            }
            DriverCommand::FinishFeeding => {
                let written = self.heartbeat_tasks.finish().await;
                let now = self.now();
                self.live.handle_written(written, now);
            }
            DriverCommand::CountHits(id) => {
                let effect = self.environment.effect(id).await.unwrap_or(FaultEffect::Messages(0));
                let now = self.now();
                self.live.handle_hits(id, effect, now);
            }
            DriverCommand::LookAtMachines(names) => {
                let mut shown = Vec::new();
                for name in names {
                    let state = self.environment.describe(&self.aliases.real(&name)).await;
                    shown.extend(state.map(|state| (name, state)));
                }
                let now = self.now();
                self.live.handle_machines(shown, now);
            }
            DriverCommand::FindTrouble => self.live.handle_trouble(self.environment.trouble(), self.clock.now()),
            DriverCommand::NodeChanged(name, node) => self.heartbeat_tasks.handle_node(&name, &node),
        }
    }

    /// Hands over what has arrived by now, and returns the time.
    fn now(&mut self) -> Timestamp {
        while let Some(arrival) = self.watches.try_next() {
            self.live.handle_arrival(arrival);
        }
        self.clock.now()
    }

    /// Waits for an arrival or for the next deadline.
    async fn wait(&mut self) {
        let Some(due) = self.live.next_deadline() else { return };
        let pause = self.clock.until(due).min(INTERRUPT_PERIOD);
        let woken = self.clock.now() + pause;
        match tokio::time::timeout(pause, self.watches.next()).await {
            Ok(Some(arrival)) => self.live.handle_arrival(arrival),
            Ok(None) => {}
            Err(_) => {
                let now = self.clock.now();
                self.lags.push((now, now.duration_since(woken)));
            }
        }
    }

    /// Removes what was made, and returns the outcome of the scenario.
    async fn end(self) -> Outcome {
        let Self {
            mut environment,
            scenario,
            aliases,
            clock,
            caller,
            watches,
            live,
            heartbeat_tasks,
            namespaces,
            made,
            lags,
            probe,
        } = self;
        drop((heartbeat_tasks, watches));
        let (silence, is_blind) = live.silence(clock.now());
        let (outcome, ended) = live.into_outcome();
        let has_failed = outcome.as_ref().is_some_and(|outcome| outcome.verdict == Verdict::Failed);
        let trouble = match (ended, has_failed) {
            (Some(ended), _) => Some(ended),
            (None, true) => match environment.trouble() {
                Some(why) => Some(Trouble::Cluster(why)),
                None => late_trouble(LATE_TROUBLE, || environment.trouble(), &caller).await.map(Trouble::Cluster),
            },
            (None, false) => None,
        };
        let is_in_order = environment.trouble().is_none();
        let removed = removal::remove_what_is_left(&caller, &aliases, Left { namespaces, made }, is_in_order).await;
        let removed = removed.and_then(|()| environment.note_removal());
        let timing_tolerance = environment.timing_tolerance();
        let left = environment.clean_up().await.and(removed).err();
        let answers = probe.taken();
        let Some(outcome) = outcome else {
            let why = trouble.as_ref().map(ToString::to_string).unwrap_or_default();
            return undecided(&scenario, why, clock.now());
        };
        conclude(
            outcome,
            &scenario,
            Circumstances { timing_tolerance, answers, lags, silence, is_blind, trouble, left },
        )
    }
}

/// Returns the bystanders of a scenario; where there are no machines they are hand-fed Nodes with the version of a
/// kubelet, which tables show.
fn bystanders_here(scenario: &Scenario, has_machines: bool, release: Release) -> Option<Given> {
    let given = bystanders(scenario)?;
    let (Setup::ReadyNodes(specs), false) = (&given.setup, has_machines) else { return Some(given) };
    let by_hand = |spec: &MachineSpec| {
        let mut node = HandFedNode::new(spec.name.clone());
        node.version = Some(Text::from(format!("v{release}")));
        node.labels.extend(spec.zone.clone().map(|zone| (Text::of("topology.kubernetes.io/zone"), zone)));
        node
    };
    Some(Given { setup: Setup::HandFedNodes(specs.iter().map(by_hand).collect()), position: given.position })
}

fn run_options(timing_tolerance: &TimingTolerance, settings: &Settings) -> RunOptions {
    RunOptions {
        health_period: timing_tolerance.health_period,
        lead: timing_tolerance.tolerance.max(LEAD),
        tolerance: timing_tolerance.tolerance,
        wait_for_late: WAIT_FOR_LATE,
        grace_period: settings.duration("node-monitor-grace-period"),
        server: settings.profile().release(),
        other_nodes: DRAWN_NODES,
        ..RunOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::profile::Settings;
    use nodeproof_core::scenario::Capabilities;

    use super::*;
    use crate::live::backend::EnvironmentFuture;

    /// A backend that can make no environment.
    #[derive(Debug)]
    struct BrokenBackend {
        is_asked_for: bool,
    }

    impl LiveBackend for BrokenBackend {
        fn capabilities(&self) -> Capabilities {
            Capabilities::new()
        }

        fn obstacle(&self, _plan: &ScenarioPlan) -> Option<String> {
            None
        }

        fn environment<'a>(&'a self, _plan: &'a ScenarioPlan) -> EnvironmentFuture<'a> {
            let is_asked_for = self.is_asked_for;
            Box::pin(async move { Err(NoEnvironment { why: "etcd ended with code 2".to_owned(), is_asked_for }) })
        }
    }

    #[test]
    fn a_bystander_without_a_machine_has_the_version_of_its_cluster() {
        let given = bystanders_here(&Scenario::default(), false, Settings::default().profile().release()).unwrap();
        let Setup::HandFedNodes(nodes) = &given.setup else { panic!("hand-fed") };
        assert_eq!(nodes[0].version.as_deref(), Some("v1.34.4"));
    }

    #[test]
    fn a_scenario_without_a_cluster_has_failed_only_if_it_asks_for_what_cannot_be() {
        for (is_asked_for, verdict) in [(false, Verdict::Inconclusive), (true, Verdict::Failed)] {
            let live_backend = BrokenBackend { is_asked_for };
            let plan = ScenarioPlan::of(&live_backend, &Scenario::default(), &Settings::default(), 1).unwrap();
            let outcome = run_scenario(&live_backend, &plan);
            assert_eq!(outcome.verdict, verdict);
            assert_eq!(outcome.mismatch.unwrap().observed, "etcd ended with code 2");
        }
    }
}
