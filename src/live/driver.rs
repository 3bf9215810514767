//! Plays a scenario on a real cluster: hands deeds to it and what happens to the judge.
//!
//! The counterpart of the simulator's world, in real time. Arrivals of all watches are held for a moment and handed over
//! in the order of their revisions; limits are judged after everything that arrived before them. What no component of
//! the cluster does is done here: routes for Nodes as a cloud makes them, and the feeding of Nodes without a kubelet.
//! An expectation is never retried and a failed scenario never run again. How deeds are done stands in [`deeds`].

mod deeds;
mod removal;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::network::{LEASES, NODES, Resource};
use nodeproof_core::objects::time::seconds;
use nodeproof_core::objects::{Json, Object, ObjectKey, Text};
use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::{
    Capability, Change, FaultEffect, Given, HandFedNode, Observation, Outcome, Position, Run, RunOptions, RunOutput,
    Scenario, Setup, StepVerdict, Subject, Verdict, Writer, company,
};

use super::answers::{Measured, Probe, late_trouble, worst};
use super::client::Caller;
use super::clock::Clock;
use super::feeding::{Feeding, Written};
use super::watches::{Arrival, Seen, Watches, revision_of};
use super::writer::writer_of;
use super::{Aliases, Ground, NoSite, Pace, Plan, Site, interrupt};

/// How long arrivals are held, so that those of one kind do not overtake those of another.
const HOLD: SignedDuration = SignedDuration::from_millis(150);
/// How long a deed's own write is awaited on the watches before the deed counts as done.
const OWN_WRITE_WAIT: SignedDuration = SignedDuration::from_secs(3);
/// How long it has to be quiet before a deed, so that what belongs to the time before it is seen before it: Events follow
/// the writes that they are about.
const QUIET: SignedDuration = SignedDuration::from_millis(400);
/// How long quiet is awaited at most.
const QUIET_WAIT: SignedDuration = SignedDuration::from_secs(1);
/// How long the first act waits at least after all that was given is there: taints and annotations that controllers make
/// of a new Node or of a condition are there by then.
const LEAD: SignedDuration = SignedDuration::from_secs(2);
/// How long the first lists may take.
const FIRST_LIST_WAIT: Duration = Duration::from_secs(30);
/// How often machines are looked at that lines speak of.
const LOOK_PERIOD: SignedDuration = SignedDuration::from_millis(250);
/// How long the API server may not answer before the scenario ends: what happens meanwhile is not seen in time.
const BLIND_MAX: SignedDuration = SignedDuration::from_secs(20);
/// How often the cluster itself is looked at.
const TROUBLE_PERIOD: SignedDuration = SignedDuration::from_secs(3);
/// How long before an act that may have happened which it shows: a grace period, 50 s, and a health pass.
const CONCERNED: SignedDuration = SignedDuration::from_secs(60);
/// How often an interrupted run is noticed at least.
const INTERRUPT_PERIOD: Duration = Duration::from_millis(500);
/// How long a missed line is still awaited.
const WAIT_FOR_LATE: SignedDuration = SignedDuration::from_secs(30);

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
            Ok(driver) => driver.play().await,
            Err(why) => undecided(&plan.scenario, why, clock.now()),
        }
    })
}

/// Returns the outcome of a scenario that cannot be played at all.
#[must_use]
pub fn unplayable(scenario: &Scenario, why: String) -> Outcome {
    broken(scenario, why, Clock::new().now())
}

/// The outcome of a scenario that could not be played.
fn broken(scenario: &Scenario, why: String, start: Timestamp) -> Outcome {
    Outcome::never_began(scenario, "a cluster on which the scenario can be played", why, start)
}

/// The outcome of a scenario of which nothing can be said, since it was not begun.
fn undecided(scenario: &Scenario, why: String, start: Timestamp) -> Outcome {
    Outcome { verdict: Verdict::Inconclusive, ..broken(scenario, why, start) }
}

/// Ends the outcome of a scenario whose cluster broke down under it: nothing can be said of what was not seen.
fn cut_short(mut outcome: Outcome, scenario: &Scenario, why: String) -> Outcome {
    let end = broken(scenario, why, outcome.start);
    outcome.verdict = Verdict::Inconclusive.max(outcome.verdict);
    outcome.mismatch = outcome.mismatch.or(end.mismatch);
    outcome.snapshots.clear();
    outcome
}

/// Tells whether a line was missed that could have held on a faster machine: what an answer says does not hang on that.
fn hangs_on_time(outcome: &Outcome, scenario: &Scenario) -> bool {
    let Some(mismatch) = &outcome.mismatch else { return false };
    let mut lines = scenario.acts.iter().flat_map(|act| &act.expectations);
    !lines.any(|line| line.fact.subject == Subject::Answer && line.position == mismatch.step)
}

struct Driver {
    site: Box<dyn Site>,
    scenario: Arc<Scenario>,
    aliases: Aliases,
    clock: Clock,
    caller: Caller,
    watches: Watches,
    run: Run,
    feeding: Feeding,
    /// What arrived and was not handed over yet.
    held: Vec<Arrival>,
    /// The objects as they were handed over, by their real names.
    objects: BTreeMap<(Resource, ObjectKey), Json>,
    /// How far each kind was shown.
    shown: BTreeMap<Resource, u64>,
    /// The instant of the last observation.
    told: Timestamp,
    /// What the deeds under way have written.
    own: Vec<Written>,
    /// What it has removed: the object's uid, where it was answered that nothing is left of it.
    removed: Option<(Resource, ObjectKey, Text)>,
    /// Who asked for it.
    asked: Writer,
    /// The line whose deeds are being done: they follow each other at once, as one deed.
    line: Option<Position>,
    /// When something other than a Lease changed last.
    stirred: Timestamp,
    machines: BTreeMap<Text, Json>,
    looked: Timestamp,
    /// Namespaces that were made for the scenario.
    namespaces: BTreeSet<Text>,
    /// What was wrong with the connection last.
    trouble: Option<String>,
    /// The kinds whose watches are broken, and since when.
    blind: BTreeMap<Resource, Timestamp>,
    /// How long the longest such time was that is over.
    was_blind: SignedDuration,
    /// When the cluster itself was looked at last.
    examined: Timestamp,
    /// Why the scenario could not go on.
    broken: Option<String>,
    /// When and by how much this program itself was woken too late: the machine is busier than it should be.
    lags: Measured,
    /// How long the API server takes to answer meanwhile.
    probe: Probe,
    /// Whether what was there before is known: Nodes that come now are new.
    is_playing: bool,
}

impl Driver {
    async fn begin(site: Box<dyn Site>, plan: &Plan, clock: Clock, has_machines: bool) -> Result<Self, String> {
        let caller = site.access().caller().await?;
        let pace = site.pace();
        let mut scenario = pace.widened(&plan.scenario);
        let company = company_here(&scenario, has_machines);
        scenario.given.splice(0..0, company);
        let machines = scenario.acts.iter().flat_map(|act| &act.expectations);
        let machines = machines.filter_map(|line| match &line.fact.subject {
            Subject::Machine(name) => Some((name.clone(), Json::Null)),
            _ => None,
        });
        let machines = machines.collect();
        let run = Run::new(Arc::new(scenario), run_options(&pace, &plan.settings), clock.now());
        let watches = Watches::open(run.subscriptions(), &caller, clock);
        let probe = Probe::begin(caller.clone(), clock);
        let mut driver = Self {
            site,
            scenario: Arc::clone(&plan.scenario),
            aliases: plan.aliases.clone(),
            clock,
            caller,
            watches,
            run,
            feeding: Feeding::default(),
            held: Vec::new(),
            objects: BTreeMap::new(),
            shown: BTreeMap::new(),
            told: clock.now(),
            own: Vec::new(),
            removed: None,
            asked: Writer::default(),
            line: None,
            stirred: clock.now(),
            machines,
            looked: clock.now(),
            namespaces: BTreeSet::new(),
            trouble: None,
            blind: BTreeMap::new(),
            was_blind: SignedDuration::ZERO,
            examined: clock.now(),
            broken: None,
            is_playing: false,
            lags: Measured::new(),
            probe,
        };
        match driver.settle_in().await {
            Ok(()) => Ok(driver),
            Err(why) => Err(driver.site.trouble().unwrap_or(why)),
        }
    }

    async fn settle_in(&mut self) -> Result<(), String> {
        self.make_namespace("default").await?;
        self.await_first_lists().await
    }

    async fn await_first_lists(&mut self) -> Result<(), String> {
        let wanted = self.run.subscriptions().len();
        let listed = async {
            while self.held.iter().filter(|arrival| matches!(arrival.seen, Seen::Listed { .. })).count() < wanted {
                match self.watches.next().await {
                    Some(Arrival { seen: Seen::Trouble(why), .. }) => self.trouble = Some(why),
                    Some(arrival) => self.held.push(arrival),
                    None => break,
                }
            }
        };
        if tokio::time::timeout(FIRST_LIST_WAIT, listed).await.is_err() {
            let why = self.trouble.take().unwrap_or_else(|| "no answer".to_owned());
            return Err(format!("the cluster cannot be watched: {why}"));
        }
        self.hand_over(self.clock.now());
        Ok(())
    }

    async fn play(mut self) -> Outcome {
        self.is_playing = true;
        self.run.handle_start(self.clock.now());
        loop {
            while let Some(output) = self.run.poll_output() {
                self.serve(output).await;
            }
            if self.run.is_over() {
                break;
            }
            self.wait().await;
            self.broken = self.find_trouble();
            if self.broken.is_some() {
                break;
            }
            let settled = self.clock.now() - HOLD;
            self.hand_over(settled);
            self.look_around().await;
            self.judge(settled);
        }
        let silence = self.longest_silence();
        let Self { mut site, run, feeding, watches, caller, aliases, namespaces, broken, .. } = self;
        let Self { scenario, lags, blind, probe, .. } = self;
        drop((feeding, watches));
        let mut outcome = run.into_outcome();
        let has_failed = outcome.verdict == Verdict::Failed;
        let trouble = match broken.or_else(|| site.trouble().filter(|_| has_failed)) {
            None if has_failed => late_trouble(|| site.trouble(), &caller).await,
            known => known,
        };
        let is_in_order = site.trouble().is_none();
        let removed = removal::remove_what_is_left(&caller, &aliases, namespaces, is_in_order).await;
        let removed = removed.and_then(|()| site.has_removed());
        outcome.tolerance = format!(
            "{}; an answer took up to {}, and this program itself was late by up to {}",
            site.pace(),
            seconds(probe.slowest_since(outcome.start)),
            seconds(worst(&lags, outcome.start))
        );
        let concerned = outcome.zeros.last().map_or(outcome.start, |zero| *zero - CONCERNED);
        let slowest = probe.slowest_since(concerned).max(worst(&lags, concerned));
        if let Some(why) = trouble {
            outcome = cut_short(outcome, &scenario, why);
        } else if has_failed && (!blind.is_empty() || silence > site.pace().tolerance) {
            outcome.verdict = Verdict::Inconclusive;
            outcome.tolerance += &format!("; the API server did not answer for {}", seconds(silence));
        } else if has_failed && hangs_on_time(&outcome, &scenario) && site.pace().is_overrun_by(slowest) {
            outcome.verdict = Verdict::Inconclusive;
            outcome.tolerance += ": too slow for these bounds, so that nothing can be said";
        }
        if let Err(why) = site.leave().await.and(removed) {
            let position = outcome.mismatch.as_ref().map(|mismatch| mismatch.step.clone()).unwrap_or_default();
            let at = SignedDuration::ZERO;
            outcome.steps.push(StepVerdict { position, verdict: Verdict::Passed, at, observed: why });
        }
        outcome
    }

    /// Returns how long the API server did not answer at the longest, up to now where it still does not.
    fn longest_silence(&self) -> SignedDuration {
        let now = self.clock.now();
        self.blind.values().map(|since| now.duration_since(*since)).fold(self.was_blind, SignedDuration::max)
    }

    /// Looks from time to time whether the cluster itself is in order, and whether it can be seen.
    fn find_trouble(&mut self) -> Option<String> {
        if interrupt::is_asked() {
            return Some(interrupt::SAID.to_owned());
        }
        let now = self.clock.now();
        if now < self.examined + TROUBLE_PERIOD {
            return None;
        }
        self.examined = now;
        let since = self.blind.values().min().copied();
        let is_blind = since.is_some_and(|since| now.duration_since(since) > BLIND_MAX);
        let unseen = || {
            let why = self.trouble.as_deref().unwrap_or("no answer");
            is_blind.then(|| format!("the API server has not answered for {}: {why}", seconds(BLIND_MAX)))
        };
        self.site.trouble().or_else(unseen)
    }

    /// Waits for an arrival or for what is due.
    async fn wait(&mut self) {
        let hold = self.held.iter().map(|arrival| arrival.at + HOLD).min();
        let bound = self.run.next_deadline().map(|deadline| deadline.at + HOLD);
        let look = (!self.machines.is_empty()).then_some(self.looked + LOOK_PERIOD);
        let until = hold.into_iter().chain(bound).chain(look).min();
        let pause = until.map_or(INTERRUPT_PERIOD, |at| self.clock.until(at).min(INTERRUPT_PERIOD));
        let woken = self.clock.now() + pause;
        match tokio::time::timeout(pause, self.watches.next()).await {
            Ok(Some(arrival)) => self.held.push(arrival),
            Ok(None) => {}
            Err(_) => {
                let now = self.clock.now();
                self.lags.push((now, now.duration_since(woken)));
            }
        }
        while let Some(arrival) = self.watches.try_next() {
            self.held.push(arrival);
        }
    }

    /// Decides what was due at an instant of which everything is known.
    fn judge(&mut self, settled: Timestamp) {
        while let Some(deadline) = self.run.next_deadline().map(|deadline| deadline.at).filter(|at| *at <= settled) {
            self.told = self.told.max(deadline);
            self.run.handle_timeout(self.told);
            if self.run.next_deadline().is_some_and(|next| next.at <= deadline) {
                // It wants to be asked again when something has changed.
                break;
            }
        }
    }

    /// Tells the run what arrived up to an instant, in the order of revisions.
    fn hand_over(&mut self, until: Timestamp) {
        let (mut ripe, held): (Vec<_>, Vec<_>) = self.held.drain(..).partition(|arrival| arrival.at <= until);
        self.held = held;
        ripe.sort_by_key(|arrival| match &arrival.seen {
            Seen::Set(object) | Seen::Gone(object) => revision_of(object),
            Seen::Listed { .. } | Seen::Bookmark(_) | Seen::Trouble(_) => 0,
        });
        for arrival in ripe {
            self.told = self.told.max(arrival.at);
            let resource = arrival.resource;
            if matches!(arrival.seen, Seen::Trouble(_)) {
                self.blind.entry(resource.clone()).or_insert(arrival.at);
            } else if let Some(since) = self.blind.remove(&resource) {
                self.was_blind = self.was_blind.max(arrival.at.duration_since(since));
            }
            match arrival.seen {
                Seen::Set(object) => self.see(&resource, Some(object), None),
                Seen::Gone(object) => self.see(&resource, None, Some(object)),
                Seen::Listed { objects, resource_version } => self.see_list(&resource, objects, resource_version),
                Seen::Bookmark(revision) => self.note(&resource, revision),
                Seen::Trouble(why) => self.trouble = Some(why),
            }
        }
    }

    fn note(&mut self, resource: &Resource, revision: u64) {
        let shown = self.shown.entry(resource.clone()).or_default();
        *shown = revision.max(*shown);
    }

    /// Takes a list: what differs from what was known has changed at some time before.
    fn see_list(&mut self, resource: &Resource, objects: Vec<Json>, revision: u64) {
        let is_first = !self.shown.contains_key(resource);
        if !is_first {
            self.run.handle_observation(Observation::Gap(resource.clone()), self.told);
        }
        let keys: BTreeSet<ObjectKey> = objects.iter().map(key_of).collect();
        let known = self.objects.iter().filter(|((of, _), _)| of == resource);
        let gone: Vec<Json> = known.filter(|((_, key), _)| !keys.contains(key)).map(|(_, old)| old.clone()).collect();
        for old in gone {
            self.see(resource, None, Some(old));
        }
        for object in objects {
            let known = self.objects.get(&(resource.clone(), key_of(&object)));
            if known.is_none_or(|known| revision_of(known) < revision_of(&object)) {
                self.see(resource, Some(object), None);
            }
        }
        self.note(resource, revision);
    }

    /// Tells the run of a change: an object as it is now, or as it was last.
    fn see(&mut self, resource: &Resource, now: Option<Json>, last: Option<Json>) {
        let Some(object) = now.as_ref().or(last.as_ref()) else { return };
        let (key, revision) = (key_of(object), revision_of(object));
        self.note(resource, revision);
        if !self.aliases.owns(&key) {
            return;
        }
        let place = (resource.clone(), key.clone());
        let before = match &now {
            Some(object) => self.objects.insert(place, object.clone()),
            None => self.objects.remove(&place),
        };
        if *resource == NODES
            && let Some(node) = &now
        {
            self.feeding.handle_node(&key.name, node);
            if before.is_none() && self.is_playing {
                self.make_route(&key.name);
            }
        }
        let mut writer = writer_of(before.as_ref(), now.as_ref());
        let is_removed =
            now.is_none() && before.as_ref().is_some_and(|before| self.has_removed(resource, &key, before));
        if is_removed || self.own.contains(&(resource.clone(), revision)) {
            // What only removes leaves no trace of its manager; of our own requests it is known.
            let is_known = !self.asked.manager.is_empty() && now.is_some();
            writer = if is_known { self.asked.clone() } else { Writer { user: self.asked.user.clone(), ..writer } };
        }
        if *resource != LEASES {
            self.stirred = self.told;
        }
        let home = |object: &Json| self.aliases.home_object(object);
        let after = now.as_ref().map(home);
        let before = before.as_ref().map(home);
        let home_key = |key: &ObjectKey| ObjectKey {
            namespace: Text::from(self.aliases.home_text(&key.namespace)),
            name: Text::from(self.aliases.home_text(&key.name)),
        };
        let change = Change {
            resource: resource.clone(),
            key: home_key(&key),
            before,
            after,
            resource_version: revision,
            writer,
            because: None,
        };
        self.run.handle_observation(Observation::Change(change), self.told);
    }

    async fn look_around(&mut self) {
        if self.machines.is_empty() || self.clock.now() < self.looked + LOOK_PERIOD {
            return;
        }
        self.looked = self.clock.now();
        for (name, shown) in &mut self.machines {
            let Ok(state) = self.site.describe(&self.aliases.real(name)).await else { continue };
            let state = self.aliases.home(&state);
            if state != *shown {
                *shown = state.clone();
                self.told = self.told.max(self.clock.now());
                self.run.handle_observation(Observation::Machine { name: name.clone(), state }, self.told);
            }
        }
    }

    async fn serve(&mut self, output: RunOutput) {
        match output {
            RunOutput::Perform { id, task, step } => {
                if self.line.as_ref() != Some(&step) {
                    self.settle().await;
                    self.line = Some(step.clone());
                }
                let observation = self.perform(id, self.aliases.task(task)).await;
                // What a line does to several of them is done without a pause, so that hardly a controller comes in between.
                if self.removed.is_some() || !self.run.goes_on_with(&step) {
                    self.own.extend(self.feeding.finish().await);
                    self.catch_up().await;
                    self.own.clear();
                    self.removed = None;
                }
                self.told = self.told.max(self.clock.now());
                self.run.handle_observation(observation, self.told);
            }
            RunOutput::CountHits(id) => {
                let effect = self.site.effect(id).await.unwrap_or(FaultEffect::Messages(0));
                self.told = self.told.max(self.clock.now());
                self.run.handle_observation(Observation::FaultHits(id, effect), self.told);
            }
            RunOutput::Finished => {}
        }
    }

    /// Waits until nothing has changed for a moment, and hands over what arrived.
    async fn settle(&mut self) {
        let end = self.clock.now() + QUIET_WAIT;
        loop {
            self.catch_up().await;
            let quiet = (self.stirred + QUIET).min(end);
            if quiet <= self.clock.now() {
                return;
            }
            let pause = self.clock.until(quiet);
            if let Ok(Some(arrival)) = tokio::time::timeout(pause, self.watches.next()).await {
                self.held.push(arrival);
            }
        }
    }

    /// Hands over everything that has arrived, and of what a deed has written itself also what has not yet.
    async fn catch_up(&mut self) {
        let end = self.clock.now() + OWN_WRITE_WAIT;
        loop {
            while let Some(arrival) = self.watches.try_next() {
                self.held.push(arrival);
            }
            self.hand_over(self.clock.now());
            // A kind that nobody watches is not awaited, and a write that no watch shows has changed nothing.
            let shown = |(resource, own): &Written| self.shown.get(resource).is_none_or(|shown| shown >= own);
            let is_there = self.removed.as_ref().is_some_and(|(resource, key, _)| {
                let known = self.objects.get(&(resource.clone(), key.clone()));
                known.is_some_and(|known| self.has_removed(resource, key, known))
            });
            if !is_there && self.own.iter().all(shown) || self.clock.now() >= end {
                return;
            }
            let pause = self.clock.until(end);
            if let Ok(Some(arrival)) = tokio::time::timeout(pause, self.watches.next()).await {
                self.held.push(arrival);
            }
        }
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

fn key_of(object: &Json) -> ObjectKey {
    Object::as_received(object.clone()).key()
}

#[cfg(test)]
mod tests {
    use nodeproof_core::profile::Settings;
    use nodeproof_core::scenario::{Act, Bound, Capabilities, Expectation, Fact, ObjectRef, Predicate};

    use super::*;
    use crate::live::Siting;

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
    fn what_an_answer_says_hangs_on_no_time() {
        let line = |subject, step: &str| Expectation {
            fact: Fact { subject, predicate: Predicate::Gone },
            bound: Bound::AtOnce,
            position: Position { text: step.into(), ..Position::default() },
        };
        let expectations =
            Vec::from([line(Subject::Answer, "answer"), line(Subject::Object(ObjectRef::node("w1")), "node")]);
        let scenario = Scenario { acts: Vec::from([Act { expectations, ..Act::default() }]), ..Scenario::default() };
        for (step, hangs) in [("answer", false), ("node", true), ("a Given", true)] {
            let mut outcome = broken(&scenario, "late".to_owned(), Timestamp::UNIX_EPOCH);
            if let Some(mismatch) = &mut outcome.mismatch {
                mismatch.step = Position { text: step.into(), ..Position::default() };
            }
            assert_eq!(hangs_on_time(&outcome, &scenario), hangs, "{step}");
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
