//! Plays a scenario on a real cluster: the counterpart of the simulator's world, in real time.
//!
//! What is to be done and what comes of it is decided in [`live_run`] and [`verdict`], which are pure; here are the clock,
//! the watches and everything that waits. How deeds are done stands in [`deeds`]. What no component of the cluster does is
//! done here as well: routes for Nodes as a cloud makes them, and the feeding of Nodes without a kubelet. A failed scenario
//! is never run again.

mod deeds;
mod live_run;
mod removal;
mod verdict;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::objects::Text;
use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::{
    Capability, FaultEffect, Given, HandFedNode, Outcome, RunOptions, Scenario, Setup, Verdict, company,
};

use self::live_run::{Command, LiveRun};
use self::verdict::{Circumstances, Trouble, broken, conclude, undecided};
use super::aliases::Aliases;
use super::answers::{Measured, Probe, late_trouble};
use super::client::Caller;
use super::clock::Clock;
use super::feeding::Feeding;
use super::ground::{Ground, NoSite, Plan, Site};
use super::interrupt;
use super::pace::Pace;
use super::timing::{INTERRUPT_PERIOD, LEAD, WAIT_FOR_LATE};
use super::watches::Watches;

/// Runs a scenario on a ground.
#[must_use]
pub fn run_scenario(ground: &dyn Ground, plan: &Plan) -> Outcome {
    // Before the clock and the runtime: what waits costs nothing.
    let _room = ground.room(plan);
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
        let site = match ground.site(plan).await {
            Ok(site) => site,
            Err(NoSite { why, is_asked_for }) => {
                let outcome = if is_asked_for { broken } else { undecided };
                return outcome(&plan.scenario, why, clock.now());
            }
        };
        // It may have waited for its place until now.
        if interrupt::is_asked() {
            drop(site.leave().await);
            return undecided(&plan.scenario, interrupt::SAID.to_owned(), clock.now());
        }
        let has_machines = ground.has_room(plan) && ground.capabilities().contains(&Capability::Machines);
        match Driver::begin(site, plan, clock, has_machines).await {
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
    site: Box<dyn Site>,
    scenario: Arc<Scenario>,
    aliases: Aliases,
    clock: Clock,
    caller: Caller,
    watches: Watches,
    live: LiveRun,
    feeding: Feeding,
    /// Namespaces that were made for the scenario.
    namespaces: BTreeSet<Text>,
    /// When and by how much this program itself was woken too late: the machine is busier than it should be.
    lags: Measured,
    /// How long the API server takes to answer meanwhile.
    probe: Probe,
}

impl Driver {
    async fn begin(site: Box<dyn Site>, plan: &Plan, clock: Clock, has_machines: bool) -> Result<Self, String> {
        let caller = site.access().caller().await?;
        let pace = site.pace();
        let mut scenario = pace.widened(&plan.scenario);
        let company = company_here(&scenario, has_machines);
        scenario.given.splice(0..0, company);
        let options = run_options(&pace, &plan.settings);
        let live = LiveRun::new(scenario, plan.aliases.clone(), options, clock.now());
        let mut driver = Self {
            site,
            scenario: Arc::clone(&plan.scenario),
            aliases: plan.aliases.clone(),
            clock,
            watches: Watches::open(live.subscriptions(), &caller, clock),
            live,
            feeding: Feeding::default(),
            namespaces: BTreeSet::new(),
            lags: Measured::new(),
            probe: Probe::begin(caller.clone(), clock),
            caller,
        };
        match driver.make_namespace("default").await {
            Ok(()) => Ok(driver),
            Err(why) => Err(driver.site.trouble().unwrap_or(why)),
        }
    }

    /// Does what the run asks for, and tells it what arrives, until it is over.
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

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Perform(id, task) => {
                let performed = self.perform(id, task).await;
                let now = self.now();
                self.live.handle_performed(performed, now);
            }
            Command::FinishFeeding => {
                let written = self.feeding.finish().await;
                let now = self.now();
                self.live.handle_written(written, now);
            }
            Command::CountHits(id) => {
                let effect = self.site.effect(id).await.unwrap_or(FaultEffect::Messages(0));
                let now = self.now();
                self.live.handle_hits(id, effect, now);
            }
            Command::LookAtMachines(names) => {
                let mut shown = Vec::new();
                for name in names {
                    let state = self.site.describe(&self.aliases.real(&name)).await;
                    shown.extend(state.map(|state| (name, state)));
                }
                let now = self.now();
                self.live.handle_machines(shown, now);
            }
            Command::FindTrouble => self.live.handle_trouble(self.site.trouble(), self.clock.now()),
            Command::NodeChanged(name, node) => self.feeding.handle_node(&name, &node),
            Command::MakeRoute(name) => self.make_route(&name),
        }
    }

    /// Hands over what has arrived by now, and returns the time.
    fn now(&mut self) -> Timestamp {
        while let Some(arrival) = self.watches.try_next() {
            self.live.handle_arrival(arrival);
        }
        self.clock.now()
    }

    /// Waits for an arrival or for what is due.
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

    /// Removes what was made, and says what came of the scenario.
    async fn end(self) -> Outcome {
        let Self { mut site, scenario, aliases, clock, caller, watches, live, feeding, namespaces, lags, probe } = self;
        drop((feeding, watches));
        let (silence, is_blind) = live.silence(clock.now());
        let (outcome, ended) = live.into_outcome();
        let has_failed = outcome.as_ref().is_some_and(|outcome| outcome.verdict == Verdict::Failed);
        let trouble = match (ended, has_failed) {
            (Some(ended), _) => Some(ended),
            (None, true) => match site.trouble() {
                Some(why) => Some(Trouble::Cluster(why)),
                None => late_trouble(|| site.trouble(), &caller).await.map(Trouble::Cluster),
            },
            (None, false) => None,
        };
        let is_in_order = site.trouble().is_none();
        let removed = removal::remove_what_is_left(&caller, &aliases, namespaces, is_in_order).await;
        let removed = removed.and_then(|()| site.has_removed());
        let pace = site.pace();
        let left = site.leave().await.and(removed).err();
        let answers = probe.taken();
        let Some(outcome) = outcome else {
            let why = trouble.as_ref().map(ToString::to_string).unwrap_or_default();
            return undecided(&scenario, why, clock.now());
        };
        conclude(outcome, &scenario, Circumstances { pace, answers, lags, silence, is_blind, trouble, left })
    }
}

/// The company of a scenario; where there are no machines it is fed by hand.
fn company_here(scenario: &Scenario, has_machines: bool) -> Vec<Given> {
    let Some(given) = company(scenario) else { return Vec::new() };
    let (Setup::ReadyNodes(specs), false) = (&given.setup, has_machines) else { return vec![given] };
    let by_hand = |spec: &MachineSpec| {
        let mut node = HandFedNode::new(spec.name.clone());
        node.labels.extend(spec.zone.clone().map(|zone| (Text::of("topology.kubernetes.io/zone"), zone)));
        Given { setup: Setup::HandFedNode(node), position: given.position.clone() }
    };
    specs.iter().map(by_hand).collect()
}

fn run_options(pace: &Pace, settings: &Settings) -> RunOptions {
    RunOptions {
        health_period: pace.health_period,
        lead: pace.tolerance.max(LEAD),
        tolerance: pace.tolerance,
        wait_for_late: WAIT_FOR_LATE,
        grace_period: settings.duration("node-monitor-grace-period"),
        server: settings.profile().release(),
        ..RunOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::profile::Settings;
    use nodeproof_core::scenario::Capabilities;

    use super::*;
    use crate::live::ground::Siting;

    /// A ground on which nothing can be built.
    #[derive(Debug)]
    struct Swamp {
        is_asked_for: bool,
    }

    impl Ground for Swamp {
        fn capabilities(&self) -> Capabilities {
            Capabilities::new()
        }

        fn obstacle(&self, _plan: &Plan) -> Option<String> {
            None
        }

        fn site<'a>(&'a self, _plan: &'a Plan) -> Siting<'a> {
            let is_asked_for = self.is_asked_for;
            Box::pin(async move { Err(NoSite { why: "etcd ended with code 2".to_owned(), is_asked_for }) })
        }
    }

    #[test]
    fn a_scenario_without_a_cluster_has_failed_only_if_it_asks_for_what_cannot_be() {
        for (is_asked_for, verdict) in [(false, Verdict::Inconclusive), (true, Verdict::Failed)] {
            let ground = Swamp { is_asked_for };
            let plan = Plan::of(&ground, &Scenario::default(), &Settings::default(), 1).unwrap();
            let outcome = run_scenario(&ground, &plan);
            assert_eq!(outcome.verdict, verdict);
            assert_eq!(outcome.mismatch.unwrap().observed, "etcd ended with code 2");
        }
    }
}
