//! Runs a scenario on the simulator: hands actions to the simulation, and observations to the run.
//!
//! A driver without policy. Observations come from the tap of the store, in order of revision, without the network.
//! What no component of the cluster does is done here: routes for Nodes as a cloud makes them, and the heartbeats of
//! hand-fed Nodes. Inputs: a scenario, options, the user's own steps. Output: the outcome.

#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::drains::DrainTold;
use super::own::{Looks, Own};
use super::setup_cache::{Prepared, RunInput, SetupKey};
use super::watches::Watches;
use super::{SetupCache, Simulation, SimulationOptions, unmodelled};
use crate::chance::Chance;
use crate::components::api_server::{Commit, Tap};
use crate::network::{Call, Endpoint, Identity, NODES, RuleId, Verb, WatchType};
use crate::objects::{Json, NOT_MODELLED, Text};
use crate::profile::SettingsError;
use crate::scenario::{
    Action, ActionId, AnswerSeen, DRAWN_NODES, FaultEffect, Feed, HandFedNode, HeartbeatWriter, ObjectChange,
    Observation, Outcome, Predicate, Run, RunOptions, RunOutput, Scenario, ScenarioAction, Subject, Taint, Task,
    Verdict, Writer, bystanders, taints_patch,
};

/// Runs a scenario in a simulated cluster of its own.
///
/// The scenario's release and flags override those of the options.
#[must_use]
pub fn run_scenario(scenario: &Scenario, options: SimulationOptions) -> Outcome {
    run_scenario_with(scenario, options, &Own::default(), &mut SetupCache::default())
}

/// Runs a scenario as [`run_scenario`] does, with steps of the user's own, and a cache that reuses clusters of earlier
/// scenarios.
#[must_use]
pub fn run_scenario_with(
    scenario: &Scenario,
    mut options: SimulationOptions,
    own: &Own,
    cache: &mut SetupCache,
) -> Outcome {
    match scenario.cluster.settings(&options.settings) {
        Ok(settings) => options.settings = settings,
        Err(error @ SettingsError::NotModelled { .. }) => {
            return Outcome::unsupported(scenario, error.to_string(), options.start);
        }
        Err(error) => {
            let expected = "a cluster with the scenario's settings";
            return Outcome::never_began(scenario, expected, error.to_string(), options.start);
        }
    }
    if let Some(what) = options.settings.not_modelled().next() {
        return Outcome::unsupported(scenario, format!("{what}{NOT_MODELLED}"), options.start);
    }
    // A look of the user's own may depend on renewals, and a trace has to contain all commits.
    if !options.trace && !options.renewals && own.is_empty() && !scenario.depends_on_renewals() {
        let outcome = World::new(scenario, &options, own, Tap::AllButRenewals, cache).play(cache);
        if outcome.verdict == Verdict::Passed {
            return outcome;
        }
        // The explanation of a failure may need the last renewal of a Lease, so the scenario runs again with renewals
        // in the tap.
    }
    World::new(scenario, &options, own, Tap::Everything, cache).play(cache)
}

/// A machine that lines look at.
#[derive(Clone)]
struct Looked {
    /// The last state that the run was told.
    shown: Json,
    /// Whether lines look at its containers only; other parts, as its clock, change all the time.
    of_containers: bool,
}

/// The cluster, and what the driver knows of it beside its run.
#[derive(Clone)]
pub(super) struct ClusterState {
    simulation: Simulation,
    heartbeat_writers: BTreeMap<Text, HeartbeatWriter>,
    /// The rules that actions have added to the network.
    rules: BTreeMap<ActionId, (RuleId, Endpoint)>,
    /// The hits of removed rules.
    hits: BTreeMap<RuleId, u64>,
    /// The watches that the scenario has opened.
    watches: Watches,
    decisions_told: usize,
    drain_told: DrainTold,
    /// Machines that lines look at.
    machines: BTreeMap<Text, Looked>,
}

struct World<'a> {
    /// What the user's own steps do.
    own: &'a Own,
    looks: Looks,
    cluster: ClusterState,
    run: Run,
    /// The inputs of the run, if the next scenario may need them.
    inputs: Option<Vec<RunInput>>,
    /// The next deadline of the run, valid until its next input.
    bound: Option<Option<Timestamp>>,
}

impl ClusterState {
    /// Returns the number of the cluster's objects.
    pub(super) fn size(&self) -> usize {
        self.simulation.api().size()
    }
}

impl<'a> World<'a> {
    /// Starts from the cluster of the scenario before, as far as the `Given` lines are the same.
    fn new(scenario: &Scenario, options: &SimulationOptions, own: &'a Own, tap: Tap, cache: &mut SetupCache) -> Self {
        let mut scenario = scenario.clone();
        if let Some(bystanders) = bystanders(&scenario) {
            scenario.given.insert(0, bystanders);
        }
        let health_period = options.settings.duration("node-monitor-period");
        let machines = scenario.expectations().filter_map(|line| match &line.fact.subject {
            Subject::Machine(name) => Some((name, is_of_containers(&line.fact.predicate))),
            _ => None,
        });
        let machines = machines.fold(BTreeMap::new(), |mut looked: BTreeMap<Text, bool>, (name, of_containers)| {
            *looked.entry(name.clone()).or_insert(true) &= of_containers;
            looked
        });
        let looks = Looks::of(&scenario, own);
        let lead = health_period.mul_f64(phase(options.seed));
        let starts = (options.seed != 1).then(|| Chance::new(options.seed).fork("starts"));
        let grace_period = options.settings.duration("node-monitor-grace-period");
        scenario.set_grace_period(grace_period);
        let (server, usual) = (options.settings.profile().release(), RunOptions::default());
        let other_nodes = usize::from(options.renewals) * DRAWN_NODES;
        let run_options = RunOptions { health_period, lead, starts, grace_period, server, other_nodes, ..usual };
        let scenario = Arc::new(scenario);
        let fresh = || Run::new(scenario.clone(), run_options.clone(), options.start);
        let mut run = fresh();
        // A user's own step may change state that a copy does not have.
        let prepared = own.is_empty().then(|| {
            let (options, kinds) = (options.clone(), run.subscriptions());
            let key = SetupKey { options, tap, kinds, machines: machines.clone() };
            cache.resume(key, scenario.given.iter().map(|given| given.setup.clone()).collect(), &mut run)
        });
        let keeps = own.is_empty() && cache.keeps_after().is_some();
        if let Some(Prepared { cluster, inputs }) = prepared.flatten() {
            return Self { own, looks, cluster, run, inputs: keeps.then_some(inputs), bound: None };
        }
        let mut simulation = cache.start(options);
        simulation.tap(tap);
        let looked = |(name, of_containers)| (name, Looked { shown: Json::Null, of_containers });
        let cluster = ClusterState {
            simulation,
            heartbeat_writers: BTreeMap::new(),
            rules: BTreeMap::new(),
            hits: BTreeMap::new(),
            watches: Watches::default(),
            decisions_told: 0,
            drain_told: DrainTold::default(),
            machines: machines.into_iter().map(looked).collect(),
        };
        let inputs = keeps.then(Vec::new);
        let mut world = Self { own, looks, cluster, run: fresh(), inputs, bound: None };
        world.tell_what_is_there();
        world.give(RunInput::Start(world.cluster.simulation.now()));
        world
    }

    fn play(mut self, cache: &mut SetupCache) -> Outcome {
        loop {
            self.keep(cache);
            while let Some(output) = self.run.poll_output() {
                if let Some(inputs) = &mut self.inputs {
                    inputs.push(RunInput::Poll(output.clone()));
                }
                self.serve(output);
            }
            if self.run.is_over() {
                break;
            }
            let run = &self.run;
            let bound = *self.bound.get_or_insert_with(|| run.next_deadline().map(|deadline| deadline.at));
            let feed = self.cluster.heartbeat_writers.values().filter_map(HeartbeatWriter::next_deadline).min();
            let until = bound.into_iter().chain(feed).min().expect("a run that is not over waits for some instant");
            // Machines and looks may change at each instant.
            let is_watched = !self.cluster.machines.is_empty() || !self.looks.is_empty();
            let simulation = &mut self.cluster.simulation;
            if if is_watched { simulation.step(until) } else { simulation.step_to_news(until) } {
                self.tell();
                continue;
            }
            simulation.advance_until(until);
            self.feed();
            self.tell();
            if bound.is_some_and(|bound| bound <= self.cluster.simulation.now()) {
                self.bound = None;
                self.give(RunInput::Timeout(self.cluster.simulation.now()));
            }
        }
        let mut outcome = self.run.into_outcome();
        outcome.trace = self.cluster.simulation.record().trace().to_vec();
        outcome
    }

    /// Gives the run an input.
    fn give(&mut self, input: RunInput) {
        if let Some(inputs) = &mut self.inputs {
            inputs.push(input.clone());
        }
        input.give(&mut self.run);
    }

    /// Keeps the cluster for the next scenario after the last `Given` line that they may have in common.
    fn keep(&mut self, cache: &mut SetupCache) {
        if cache.keeps_after() == Some(self.run.given())
            && !self.run.is_over()
            && let Some(inputs) = self.inputs.take()
        {
            cache.keep(Prepared { cluster: self.cluster.clone(), inputs });
        }
    }

    /// Tells the run of the objects that exist at the beginning.
    fn tell_what_is_there(&mut self) {
        let now = self.cluster.simulation.now();
        for resource in self.run.subscriptions() {
            for object in self.cluster.simulation.api().objects(&resource) {
                let change = ObjectChange {
                    resource: resource.clone(),
                    key: object.key(),
                    before: None,
                    resource_version: object.resource_version(),
                    after: Some(object),
                    writer: Writer::default(),
                    because: None,
                };
                self.give(RunInput::Observation(Observation::Change(change), now));
            }
        }
    }

    fn observe(&mut self, observation: Observation, at: Timestamp) {
        self.bound = None;
        self.give(RunInput::Observation(observation, at));
    }

    /// Tells the run what has happened since the last time, and gives new Nodes their routes.
    fn tell(&mut self) {
        loop {
            let now = self.cluster.simulation.now();
            while let Some(decision) = self.cluster.simulation.record().decisions().get(self.cluster.decisions_told) {
                let decision = decision.clone();
                self.cluster.decisions_told += 1;
                self.give(RunInput::Observation(Observation::Decision(decision), now));
            }
            let commits = self.cluster.simulation.take_commits();
            if commits.is_empty() {
                break;
            }
            for commit in commits {
                let name = commit.object.key().name;
                let at = commit.at;
                if commit.resource == NODES
                    && let Some(writer) = self.cluster.heartbeat_writers.get_mut(&name)
                {
                    writer.handle_node(&commit.object.json());
                }
                let change = self.change_of(commit);
                self.observe(Observation::Change(change), at);
            }
        }
        for (id, seen) in self.cluster.watches.shown(&mut self.cluster.simulation) {
            self.observe(Observation::Watched(id, seen), self.cluster.simulation.now());
        }
        for news in self.cluster.drain_told.news(&self.cluster.simulation) {
            self.observe(news, self.cluster.simulation.now());
        }
        self.look_around();
    }

    fn change_of(&self, commit: Commit) -> ObjectChange {
        let decision = commit.because.and_then(|id| self.cluster.simulation.record().decision_of(commit.client, id));
        ObjectChange {
            key: commit.object.key(),
            before: commit.before,
            after: (commit.event != WatchType::Deleted).then_some(commit.object),
            resource: commit.resource,
            resource_version: commit.resource_version,
            writer: Writer {
                manager: commit.identity.agent.clone(),
                subresource: commit.subresource,
                user: commit.identity.user.clone(),
            },
            because: decision.map(|decision| decision.number),
        }
    }

    fn look_around(&mut self) {
        let now = self.cluster.simulation.now();
        let mut changed = Vec::new();
        for (name, looked) in &mut self.cluster.machines {
            let Some(machine) = self.cluster.simulation.machine(name) else { continue };
            if looked.of_containers && *looked.shown.get("containers") == machine.describe_containers(now) {
                continue;
            }
            let state = machine.describe(now);
            if state != looked.shown {
                looked.shown = state.clone();
                changed.push(Observation::Machine { name: name.clone(), state });
            }
        }
        for observation in changed {
            self.observe(observation, now);
        }
        for (look, seen) in self.looks.changed(&self.cluster.simulation) {
            self.observe(Observation::Own(look, seen), now);
        }
    }

    fn serve(&mut self, output: RunOutput) {
        match output {
            RunOutput::Perform { id, task, .. } => {
                let observation = match task {
                    Task::Feed(node) => self.start_heartbeats(id, node),
                    Task::Action(action) => self.perform(id, action),
                };
                self.tell();
                self.observe(observation, self.cluster.simulation.now());
            }
            RunOutput::CountHits(id) => {
                let effect = self.effect_of(id);
                self.observe(Observation::FaultHits(id, effect), self.cluster.simulation.now());
            }
            RunOutput::Finished => {}
        }
    }

    fn perform(&mut self, id: ActionId, action: ScenarioAction) -> Observation {
        match action {
            ScenarioAction::Action(action) => self.act(id, *action),
            ScenarioAction::Heal(endpoint) => {
                self.heal(&endpoint);
                Observation::Done(id)
            }
            ScenarioAction::Feed { node, feed } => self.change_heartbeats(id, &node, feed),
            ScenarioAction::Taint { node, add, remove } => self.taint(id, &node, &add, &remove),
            ScenarioAction::Pass(_) | ScenarioAction::Until(_) => Observation::Done(id),
        }
    }

    fn act(&mut self, id: ActionId, action: Action) -> Observation {
        let done = match action {
            Action::Api { identity, call } if call.verb == Verb::Watch => {
                let cluster = &mut self.cluster;
                let seen = cluster.watches.open(&mut cluster.simulation, id, identity, call);
                return Observation::Answer(id, seen);
            }
            Action::Api { identity, call } => return self.request(id, identity, call),
            Action::FromPod { pod, call } => return self.cluster.simulation.ask_from_pod(id, &pod, call),
            Action::Http(call) => return Observation::Answer(id, self.cluster.simulation.ask_http(call)),
            Action::AddMachine(spec) => {
                let name = spec.name.clone();
                let added = self.cluster.simulation.add_machine(spec);
                added.and_then(|()| self.cluster.simulation.check_modelled(&name))
            }
            Action::Machine { name, action } => {
                let done = self.cluster.simulation.machine_do(&name, action);
                done.and_then(|()| self.cluster.simulation.check_modelled(&name))
            }
            Action::AddRule(fault) => {
                let from = fault.from.clone();
                self.cluster.rules.insert(id, (self.cluster.simulation.add_rule(fault), from));
                Ok(())
            }
            Action::RemoveRule(rule) => self.cluster.simulation.remove_rule(rule).map(|rule| {
                self.cluster.hits.insert(rule.id, rule.hits.total);
            }),
            Action::Controller { name, action } => self.cluster.simulation.controller_do(&name, &action),
            Action::Drain(command) => {
                self.cluster.drain_told = DrainTold::default();
                self.observe(Observation::Started, self.cluster.simulation.now());
                self.cluster.simulation.drain(command);
                Ok(())
            }
            Action::Describe(nodes) => {
                let (news, now) = (self.cluster.simulation.describe_nodes(&nodes), self.cluster.simulation.now());
                news.into_iter().for_each(|news| self.observe(news, now));
                Ok(())
            }
            Action::Cloud(action) => {
                self.cluster.simulation.cloud_do(action);
                Ok(())
            }
            Action::Custom { name, body } => {
                return match self.own.act(&name, &mut self.cluster.simulation, &body) {
                    Ok(()) => Observation::Done(id),
                    Err(why) => Observation::Refused(id, why),
                };
            }
        };
        done.map_or_else(|error| Observation::Refused(id, error.to_string()), |()| Observation::Done(id))
    }

    /// Reads the Node and patches the whole list, as `kubectl taint` does.
    fn taint(&mut self, id: ActionId, node: &Text, add: &[Taint], remove: &[Taint]) -> Observation {
        let read = Call::new(Verb::Get, NODES, "", node.clone());
        let answered = self.cluster.simulation.request(Identity::admin(), read);
        let found = AnswerSeen::of(&answered);
        match &answered {
            Ok(answer) if answer.is_success() => {}
            Ok(_) => return Observation::Answer(id, found),
            Err(error) => return Observation::Refused(id, error.to_string()),
        }
        let call = taints_patch(&found.body, node, add, remove);
        call.map_or_else(|why| Observation::Refused(id, why), |call| self.request(id, Identity::admin(), call))
    }

    fn request(&mut self, id: ActionId, identity: Arc<Identity>, call: Call) -> Observation {
        let part = unmodelled::part_with_effect(&call);
        let mut seen = AnswerSeen::of(&self.cluster.simulation.request(identity, call));
        seen.unmodelled = part.and_then(|part| self.cluster.simulation.effect_not_modelled(&part, &seen));
        Observation::Answer(id, seen)
    }

    fn heal(&mut self, endpoint: &Endpoint) {
        let laid = self.cluster.rules.values().filter(|(_, from)| from == endpoint || *endpoint == Endpoint::Any);
        let open: Vec<RuleId> = laid.map(|(id, _)| *id).filter(|id| !self.cluster.hits.contains_key(id)).collect();
        for id in open {
            // A rule that has ended by itself is gone already.
            if let Ok(rule) = self.cluster.simulation.remove_rule(id) {
                self.cluster.hits.insert(id, rule.hits.total);
            }
        }
    }

    fn effect_of(&self, id: ActionId) -> FaultEffect {
        let Some((rule, _)) = self.cluster.rules.get(&id) else { return FaultEffect::Ended };
        let mut rules = self.cluster.simulation.rules().chain(self.cluster.simulation.ended_rules());
        let total = rules.find(|other| other.id == *rule).map(|rule| rule.hits.total);
        FaultEffect::Messages(total.or_else(|| self.cluster.hits.get(rule).copied()).unwrap_or(0))
    }

    fn start_heartbeats(&mut self, id: ActionId, node: HandFedNode) -> Observation {
        let mut writer = HeartbeatWriter::new(node, self.cluster.simulation.now());
        for call in writer.creation(self.cluster.simulation.now()) {
            match self.cluster.simulation.request(writer.identity(), call) {
                Ok(answer) if answer.is_success() => writer.handle_answer(&answer.body()),
                Ok(answer) => return Observation::Refused(id, answer.message()),
                Err(error) => return Observation::Refused(id, error.to_string()),
            }
        }
        self.cluster.heartbeat_writers.insert(writer.name().clone(), writer);
        self.feed();
        Observation::Done(id)
    }

    fn change_heartbeats(&mut self, id: ActionId, node: &Text, feed: Feed) -> Observation {
        let Some(writer) = self.cluster.heartbeat_writers.get_mut(node) else {
            return Observation::Refused(id, format!("Node {:?} is not hand-fed", node.as_str()));
        };
        writer.handle_feed(feed, self.cluster.simulation.now());
        self.feed();
        Observation::Done(id)
    }

    /// Sends the due writes of hand-fed Nodes. A failed write is not repeated: the next one is due soon.
    fn feed(&mut self) {
        let now = self.cluster.simulation.now();
        for writer in self.cluster.heartbeat_writers.values_mut() {
            writer.handle_timeout(now);
            while let Some(call) = writer.poll_call() {
                let _ = self.cluster.simulation.request(writer.identity(), call);
            }
        }
    }
}

/// Tells whether a predicate of a machine is about its containers alone.
fn is_of_containers(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::Not(inner) => is_of_containers(inner),
        Predicate::ContainerRuns { .. } => true,
        _ => false,
    }
}

/// Where in a period of the health pass the first act of a scenario begins: seed 1 at once, and the seeds after it
/// spread over the period evenly, as multiples of the golden ratio do.
fn phase(seed: u64) -> f64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let steps = seed.wrapping_sub(1).wrapping_mul(GOLDEN) >> 32;
    f64::from(u32::try_from(steps).unwrap_or(0)) / (f64::from(u32::MAX) + 1.0)
}
