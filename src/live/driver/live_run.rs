//! A scenario under way on a live cluster: the judge of the core, and what real time adds to it. Pure.
//!
//! Inputs: what watches show, the results of commands, the state of the cluster, each with the time. Outputs:
//! [`DriverCommand`]s for the driver. Arrivals of all watches are held for a moment and handed to the judge in the
//! order of their revisions; bounds are judged after everything that arrived before their end. The first action of a
//! line waits until the cluster is quiet; an action counts as done when the watches have shown what it wrote.
//! Invariants: no clock, no connection, no waiting; early and repeated wake-ups are harmless; an expectation is never
//! retried.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::network::{LEASES, NODES, Resource};
use nodeproof_core::objects::{Json, ObjectKey, Text};
use nodeproof_core::scenario::{
    ActionId, FaultEffect, ObjectChange, Observation, Outcome, Position, Run, RunOptions, RunOutput, Scenario,
    ScenarioAction, Subject, Task, WatchedEvent, Writer,
};

use super::sight::Sight;
use super::verdict::Trouble;
use crate::live::aliases::Aliases;
use crate::live::cache::{Arrival, CacheChange, CommandNews, Held, Seen, WatchCache, key_of, revision_of};
use crate::live::heartbeat_tasks::Written;
use crate::live::timing::{
    FIRST_LIST_WAIT, HOLD, MACHINE_PERIOD, MACHINE_PERIOD_MAX, MACHINE_SHARE, OWN_WRITE_WAIT, QUIET, QUIET_WAIT,
    TROUBLE_PERIOD,
};
use crate::live::writer::writer_of;

/// A command for the driver.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DriverCommand {
    /// Do this task, which has the names of the cluster, and report it by [`LiveRun::handle_performed`].
    Perform(ActionId, Task),
    /// Wait for the writes of hand-fed Nodes that are under way, and report them by [`LiveRun::handle_written`].
    FinishFeeding,
    /// Count what a fault has met, and report it by [`LiveRun::handle_hits`].
    CountHits(ActionId),
    /// Inspect these machines, named as in the scenario, and report their state by [`LiveRun::handle_machines`].
    LookAtMachines(Vec<Text>),
    /// Check the cluster itself, and report the result by [`LiveRun::handle_trouble`].
    FindTrouble,
    /// A Node has changed; its heartbeat writer has to be told.
    NodeChanged(Text, Json),
}

/// The result of an action.
#[derive(Debug)]
pub(super) struct Performed {
    /// The observation for the judge.
    pub(super) observation: Observation,
    /// The revisions that it has written itself.
    pub(super) written: Vec<Written>,
    /// The uid of the object that it has removed, if the answer said that nothing of it is left.
    pub(super) removed: Option<(Resource, ObjectKey, Text)>,
    /// The user of the request; `None` if no request was sent.
    pub(super) writer: Option<Writer>,
}

impl Performed {
    /// An action that has written nothing.
    pub(super) const fn of(observation: Observation) -> Self {
        Self { observation, written: Vec::new(), removed: None, writer: None }
    }
}

#[derive(Debug)]
enum LivePhase {
    /// Waiting for the first lists.
    Listing { until: Timestamp },
    /// Waiting for the next deadline or change.
    Running,
    /// Waiting until the cluster is quiet; then this task is done.
    Settling { until: Timestamp, id: ActionId, task: Task },
    /// Waiting for the result of an action of this line.
    Performing(Position),
    /// Waiting for the writes of hand-fed Nodes.
    HeartbeatTasks(Observation),
    /// Waiting until the watches show what an action has written.
    CatchingUp { until: Timestamp, observation: Observation },
    /// Waiting for the count of what a fault has met.
    Counting,
    /// Waiting for the state of machines; deadlines up to this instant are judged after that.
    Looking(Timestamp),
    /// The scenario is over.
    Over,
}

/// A scenario under way.
#[derive(Debug)]
pub(super) struct LiveRun {
    run: Run,
    aliases: Aliases,
    phase: LivePhase,
    commands: VecDeque<DriverCommand>,
    cache: WatchCache,
    held: Held,
    /// The kinds whose first list is missing.
    awaited: BTreeSet<Resource>,
    /// The instant of the last observation.
    told: Timestamp,
    /// When something other than a Lease changed last.
    stirred: Timestamp,
    /// The line whose actions are being done: they follow each other at once, as one action.
    line: Option<Position>,
    /// The revisions that the current actions have written.
    own: Vec<Written>,
    /// The object that the last of them has removed.
    removed: Option<(Resource, ObjectKey, Text)>,
    /// The action that has started the last command of kubectl.
    command: Option<ActionId>,
    /// The user of the last of them.
    asked: Writer,
    /// The state of the machines that expectations are about.
    machines: BTreeMap<Text, Json>,
    looked: Timestamp,
    /// The time between two looks at them.
    look_period: SignedDuration,
    sight: Sight,
    /// When the cluster itself was last checked.
    examined: Timestamp,
    has_begun: bool,
    /// Whether the judge has judged everything that is due and waits for a change.
    awaits_change: bool,
    /// Why the scenario could not go on.
    broken: Option<Trouble>,
}

impl LiveRun {
    /// Prepares the run of a scenario whose names are mapped.
    pub(super) fn new(scenario: Scenario, aliases: Aliases, options: RunOptions, now: Timestamp) -> Self {
        let machines = scenario.expectations().filter_map(|line| match &line.fact.subject {
            Subject::Machine(name) => Some((name.clone(), Json::Null)),
            _ => None,
        });
        let machines = machines.collect();
        let run = Run::new(Arc::new(scenario), options, now);
        Self {
            awaited: run.subscriptions(),
            run,
            aliases,
            phase: LivePhase::Listing { until: now + FIRST_LIST_WAIT },
            commands: VecDeque::new(),
            cache: WatchCache::default(),
            held: Held::default(),
            told: now,
            stirred: now,
            line: None,
            own: Vec::new(),
            removed: None,
            command: None,
            asked: Writer::default(),
            machines,
            looked: now,
            look_period: MACHINE_PERIOD,
            sight: Sight::default(),
            examined: now,
            has_begun: false,
            awaits_change: false,
            broken: None,
        }
    }

    /// Returns the kinds that have to be watched.
    pub(super) fn subscriptions(&self) -> BTreeSet<Resource> {
        self.run.subscriptions()
    }

    /// Takes what a watch shows. The driver hands over all arrivals before any other input.
    pub(super) fn handle_arrival(&mut self, arrival: Arrival) {
        self.sight.handle(&arrival);
        let Arrival { at, resource, seen } = arrival;
        let owns = |object: &Json| self.aliases.owns(&key_of(object));
        let seen = match seen {
            Seen::Trouble(_) => return,
            Seen::Watched(_, shown) if !owns(&shown.object) => return,
            // Of objects of others only the revision counts.
            Seen::Set(object) | Seen::Gone(object) if !owns(&object) => Seen::Bookmark(revision_of(&object)),
            Seen::Listed { mut objects, resource_version } => {
                self.awaited.remove(&resource);
                objects.retain(owns);
                Seen::Listed { objects, resource_version }
            }
            seen => seen,
        };
        self.held.push(Arrival { at, resource, seen });
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        if now >= self.examined + TROUBLE_PERIOD && !self.is_over() {
            self.examined = now;
            self.commands.push_back(DriverCommand::FindTrouble);
        }
        self.advance(now);
        if matches!(self.phase, LivePhase::Running) {
            let settled = now - HOLD;
            self.hand_over(settled);
            if !self.machines.is_empty() && now >= self.looked + self.look_period {
                self.looked = now;
                self.commands.push_back(DriverCommand::LookAtMachines(self.machines.keys().cloned().collect()));
                self.phase = LivePhase::Looking(settled);
            } else {
                self.judge(settled);
            }
            self.advance(now);
        }
    }

    /// Takes the result of an action.
    pub(super) fn handle_performed(&mut self, performed: Performed, now: Timestamp) {
        let LivePhase::Performing(step) = &self.phase else { return };
        // Several actions of one line are done without a pause, so that no controller acts in between if possible.
        let goes_on = self.run.goes_on_with(step);
        let Performed { observation, written, removed, writer } = performed;
        self.own.extend(written);
        self.asked = writer.unwrap_or_else(|| mem::take(&mut self.asked));
        self.removed = removed;
        if goes_on && self.removed.is_none() {
            self.tell(observation, now);
            self.phase = LivePhase::Running;
        } else {
            self.commands.push_back(DriverCommand::FinishFeeding);
            self.phase = LivePhase::HeartbeatTasks(observation);
        }
        self.advance(now);
    }

    /// Takes the revisions that hand-fed Nodes have written meanwhile.
    pub(super) fn handle_written(&mut self, written: Vec<Written>, now: Timestamp) {
        self.own.extend(written);
        match mem::replace(&mut self.phase, LivePhase::Running) {
            LivePhase::HeartbeatTasks(observation) => {
                self.phase = LivePhase::CatchingUp { until: now + OWN_WRITE_WAIT, observation };
                self.advance(now);
            }
            other => self.phase = other,
        }
    }

    /// Takes the count of what a fault has met.
    pub(super) fn handle_hits(&mut self, id: ActionId, effect: FaultEffect, now: Timestamp) {
        if matches!(self.phase, LivePhase::Counting) {
            self.phase = LivePhase::Running;
            self.tell(Observation::FaultHits(id, effect), now);
            self.advance(now);
        }
    }

    /// Takes the state of machines, named as in the scenario; machines that cannot be inspected are left out.
    pub(super) fn handle_machines(&mut self, shown: Vec<(Text, Json)>, now: Timestamp) {
        let LivePhase::Looking(settled) = self.phase else { return };
        self.phase = LivePhase::Running;
        self.look_period = (now.duration_since(self.looked) * MACHINE_SHARE).clamp(MACHINE_PERIOD, MACHINE_PERIOD_MAX);
        for (name, state) in shown {
            let state = self.aliases.home(&state);
            if self.machines.insert(name.clone(), state.clone()).is_some_and(|before| before != state) {
                self.tell(Observation::Machine { name, state }, now);
            }
        }
        self.judge(settled);
        self.advance(now);
    }

    /// Takes what is wrong with the cluster itself; `None` if nothing is known to be wrong.
    pub(super) fn handle_trouble(&mut self, trouble: Option<String>, now: Timestamp) {
        trouble.or_else(|| self.sight.lost(now)).into_iter().for_each(|why| self.end(Trouble::Cluster(why)));
    }

    /// Ends the scenario: it cannot go on.
    pub(super) fn end(&mut self, why: Trouble) {
        if !self.is_over() {
            self.broken = Some(why);
            self.phase = LivePhase::Over;
            self.commands.clear();
        }
    }

    /// Returns the next command for the driver.
    pub(super) fn poll_command(&mut self) -> Option<DriverCommand> {
        self.commands.pop_front()
    }

    /// Tells whether the scenario is over.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self.phase, LivePhase::Over)
    }

    /// Returns when to call [`Self::handle_timeout`] if nothing arrives before; `None` once it is over.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        let due = match &self.phase {
            LivePhase::Over => return None,
            LivePhase::Listing { until } | LivePhase::CatchingUp { until, .. } => Some(*until),
            LivePhase::Settling { until, .. } => Some((self.stirred + QUIET).min(*until)),
            LivePhase::Running => {
                let hold = self.held.since().map(|at| at + HOLD);
                let bound = self.run.next_deadline().map(|deadline| deadline.at + HOLD);
                let bound = bound.filter(|_| !self.awaits_change);
                let look = (!self.machines.is_empty()).then_some(self.looked + self.look_period);
                hold.into_iter().chain(bound).chain(look).min()
            }
            _ => None,
        };
        due.into_iter().chain([self.examined + TROUBLE_PERIOD]).min()
    }

    /// Returns the longest time for which the API server did not answer, and whether it still does not.
    pub(super) fn silence(&self, now: Timestamp) -> (SignedDuration, bool) {
        self.sight.silence(now)
    }

    /// Returns the outcome and why the scenario could not go on, if it could not; no outcome if it has not begun.
    pub(super) fn into_outcome(self) -> (Option<Outcome>, Option<Trouble>) {
        (self.has_begun.then(|| self.run.into_outcome()), self.broken)
    }

    /// Goes from phase to phase until an input is needed.
    fn advance(&mut self, now: Timestamp) {
        loop {
            let phase = mem::replace(&mut self.phase, LivePhase::Running);
            match phase {
                LivePhase::Running => match self.run.poll_output() {
                    Some(RunOutput::Perform { id, task, step }) => self.take_up(id, task, step, now),
                    Some(RunOutput::CountHits(id)) => {
                        self.commands.push_back(DriverCommand::CountHits(id));
                        self.phase = LivePhase::Counting;
                    }
                    Some(RunOutput::Finished) => {}
                    None if self.run.is_over() => self.phase = LivePhase::Over,
                    None => return,
                },
                LivePhase::Listing { .. } if self.awaited.is_empty() => {
                    self.hand_over(now);
                    self.has_begun = true;
                    self.run.handle_start(now);
                }
                LivePhase::Listing { until } if now >= until => {
                    let why = self.sight.trouble();
                    self.end(Trouble::Cluster(format!("the cluster cannot be watched: {why}")));
                    return;
                }
                LivePhase::Settling { until, id, task } => {
                    self.hand_over(now);
                    if now < (self.stirred + QUIET).min(until) {
                        self.phase = LivePhase::Settling { until, id, task };
                        return;
                    }
                    self.perform(id, task, now);
                }
                LivePhase::CatchingUp { until, observation } => {
                    self.hand_over(now);
                    if now < until && !self.has_caught_up() {
                        self.phase = LivePhase::CatchingUp { until, observation };
                        return;
                    }
                    self.own.clear();
                    self.removed = None;
                    self.tell(observation, now);
                }
                waiting => {
                    self.phase = waiting;
                    return;
                }
            }
        }
    }

    /// Begins an action: the first one of a line waits until the cluster is quiet.
    fn take_up(&mut self, id: ActionId, task: Task, step: Position, now: Timestamp) {
        if self.line.as_ref() == Some(&step) {
            self.perform(id, task, now);
        } else {
            self.line = Some(step);
            self.phase = LivePhase::Settling { until: now + QUIET_WAIT, id, task };
        }
    }

    fn perform(&mut self, id: ActionId, task: Task, now: Timestamp) {
        if is_command(&task) {
            self.command = Some(id);
            self.tell(Observation::Started, now);
        }
        self.commands.push_back(DriverCommand::Perform(id, self.aliases.task(task)));
        self.phase = LivePhase::Performing(self.line.clone().unwrap_or_default());
    }

    /// Tells whether the watches have shown what actions have written. A kind that is not watched is not awaited.
    fn has_caught_up(&self) -> bool {
        let is_there = self.removed.as_ref().is_some_and(|(resource, key, _)| {
            self.cache.get(resource, key).is_some_and(|known| self.note_removal(resource, key, known))
        });
        let is_shown = |(resource, own): &Written| self.cache.shown(resource).is_none_or(|shown| shown >= *own);
        !is_there && self.own.iter().all(is_shown)
    }

    /// Tells whether an object is the one that the current action has removed.
    fn note_removal(&self, resource: &Resource, key: &ObjectKey, object: &Json) -> bool {
        self.removed.as_ref().is_some_and(|(of, name, uid)| {
            of == resource && name == key && object.at(&["metadata", "uid"]).as_str() == Some(uid)
        })
    }

    fn tell(&mut self, observation: Observation, now: Timestamp) {
        self.told = self.told.max(now);
        self.run.handle_observation(observation, self.told);
    }

    /// Judges the deadlines up to an instant of which everything is known.
    fn judge(&mut self, settled: Timestamp) {
        self.awaits_change = false;
        while !self.awaits_change
            && let Some(deadline) = self.run.next_deadline().map(|deadline| deadline.at).filter(|at| *at <= settled)
        {
            self.told = self.told.max(deadline);
            self.run.handle_timeout(self.told);
            self.awaits_change = self.run.next_deadline().is_some_and(|next| next.at <= deadline);
        }
    }

    /// Tells the judge what arrived up to an instant, in the order of revisions.
    fn hand_over(&mut self, until: Timestamp) {
        for Arrival { at, resource, seen } in self.held.ripe(until) {
            self.told = self.told.max(at);
            if let Seen::Watched(id, WatchedEvent { event, object }) = seen {
                let shown = WatchedEvent { event, object: self.aliases.home(&object) };
                self.run.handle_observation(Observation::Watched(id, shown), self.told);
                continue;
            }
            if let Seen::Command(id, news) = seen {
                // What an earlier command still prints is nobody's business.
                if self.command == Some(id) {
                    self.run.handle_observation(observation_of(news), self.told);
                }
                continue;
            }
            if matches!(seen, Seen::Listed { .. }) && self.cache.shown(&resource).is_some() {
                self.run.handle_observation(Observation::Gap(resource.clone()), self.told);
            }
            for change in self.cache.take(&resource, seen) {
                self.see(&resource, change);
            }
        }
    }

    /// Tells the judge of a change, with the names of the scenario.
    fn see(&mut self, resource: &Resource, change: CacheChange) {
        let CacheChange { key, before, revision, .. } = &change;
        if let (true, Some(node)) = (*resource == NODES, change.after()) {
            self.commands.push_back(DriverCommand::NodeChanged(key.name.clone(), node.clone()));
        }
        if *resource != LEASES {
            self.stirred = self.told;
        }
        let text = |text: &Text| Text::from(self.aliases.home_text(text));
        let change = ObjectChange {
            resource: resource.clone(),
            key: ObjectKey { namespace: text(&key.namespace), name: text(&key.name) },
            before: before.as_ref().map(|object| self.aliases.home_object(object)),
            after: change.after().map(|object| self.aliases.home_object(object)),
            resource_version: *revision,
            writer: self.writer(resource, &change),
            because: None,
        };
        self.run.handle_observation(Observation::Change(change), self.told);
    }

    /// Returns who made a change. A removal leaves no trace of its manager; for requests of this run it is known.
    fn writer(&self, resource: &Resource, change: &CacheChange) -> Writer {
        let before = change.before.as_ref();
        let writer = writer_of(before, change.after());
        let is_removed = change.is_gone && before.is_some_and(|old| self.note_removal(resource, &change.key, old));
        if !is_removed && !self.own.contains(&(resource.clone(), change.revision)) {
            return writer;
        }
        let is_known = !self.asked.manager.is_empty() && !change.is_gone;
        if is_known { self.asked.clone() } else { Writer { user: self.asked.user.clone(), ..writer } }
    }
}

/// Tells whether a task is a command of kubectl.
fn is_command(task: &Task) -> bool {
    match task {
        Task::Action(ScenarioAction::Action(action)) => action.is_command(),
        _ => false,
    }
}

fn observation_of(news: CommandNews) -> Observation {
    match news {
        CommandNews::Printed(line) => Observation::Printed(line),
        CommandNews::Exited(code) => Observation::Exited(code),
    }
}

#[cfg(test)]
mod tests;
