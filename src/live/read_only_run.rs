//! Judges scenarios that only read a cluster, by what its watches show.
//!
//! Inputs: a kubeconfig's context, scenarios without actions on the cluster. Outputs: an outcome for each. One watch of
//! each kind serves all scenarios, which run side by side: together they take as long as the longest alone. Invariants:
//! nothing is ever written, which the client itself ensures ([`super::read_only_client`]); where something may have
//! been missed the verdict is inconclusive.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use nodeproof_core::network::{Call, NODES, Resource, Target, Verb, kind_of};
use nodeproof_core::objects::{Json, Object};
use nodeproof_core::profile::{Release, Value, row};
use nodeproof_core::scenario::{ObjectChange, Observation, Outcome, Run, RunOptions, RunOutput, Scenario, Writer};
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use super::Access;
use super::cache::{Arrival, CacheChange, Seen, WatchCache, revision_of};
use super::client::{Caller, is_success, request, told};
use super::clock::Clock;
use super::interrupt::signalled;
use super::record::{OPTIONAL_KINDS, Privacy, REQUIRED_KINDS, Recorded, Recorder};
use super::timing::{LOOK_PATIENCE, LOOK_PERIOD, LOOK_TOLERANCE, STRANGERS_LIST_WAIT};
use super::watches::{Watches, namespace_of};

/// How many objects one answer to a list has at most.
const LIST_PART: &str = "500";

/// A read-only connection to a cluster.
#[derive(Debug)]
pub struct ReadOnlyRun {
    runtime: Runtime,
    caller: Caller,
    clock: Clock,
    /// The version that the API server reports, as `v1.34.4`.
    pub version: String,
    /// The release of that version, modelled or not.
    pub release: Release,
}

impl ReadOnlyRun {
    /// Connects, and asks the API server for its version.
    ///
    /// # Errors
    /// There is no answer, or its version cannot be read.
    pub fn open(access: &Access) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
        let (caller, version) = runtime.block_on(async {
            let caller = access.reader().await?;
            let call = Call { target: Target::Path("/version".into()), ..Call::new(Verb::Get, NODES, "", "") };
            let answer = caller.ask(&call).await;
            let version = answer.body.get("gitVersion").as_str().map(str::to_owned);
            let silent = || format!("the API server does not say what it is: {} {}", answer.code, answer.message);
            version.map(|version| (caller, version)).ok_or_else(silent)
        })?;
        let release = release_of(&version).ok_or_else(|| format!("{version:?} is no release of Kubernetes"))?;
        Ok(Self { runtime, caller, clock: Clock::new(), version, release })
    }

    /// Checks that some kinds may be listed and watched.
    ///
    /// # Errors
    /// One may not; the text names the right that is missing.
    pub fn check_rights(&self, kinds: &BTreeSet<Resource>) -> Result<(), String> {
        self.runtime.block_on(async {
            for kind in kinds {
                let list = Call::new(Verb::List, kind.clone(), namespace_of(kind), "").query("limit", "1");
                let answer = self.caller.ask(&list).await;
                if !is_success(&answer) {
                    return Err(missing("list", kind, answer.code, &answer.message));
                }
                let watch = Call::new(Verb::Watch, kind.clone(), namespace_of(kind), "").query("timeoutSeconds", "1");
                let answer = self.caller.client().send(request(None, &watch)?).await.map_err(|error| told(&error))?;
                if !answer.status().is_success() {
                    return Err(missing("watch", kind, answer.status().as_u16(), ""));
                }
            }
            Ok(())
        })
    }

    /// Lists the objects of a kind, in parts; each gets its kind, which the items of a list do not have.
    ///
    /// # Errors
    /// It may not be listed; the text names the right that is missing.
    pub fn list(&self, kind: &Resource) -> Result<Vec<Json>, String> {
        let mut found = Vec::new();
        let mut from = String::new();
        loop {
            let list = Call::new(Verb::List, kind.clone(), namespace_of(kind), "").query("limit", LIST_PART);
            let list = if from.is_empty() { list } else { list.query("continue", &*from) };
            let answer = self.runtime.block_on(self.caller.ask(&list));
            if !is_success(&answer) {
                return Err(missing("list", kind, answer.code, &answer.message));
            }
            for item in answer.body.get("items").items() {
                let mut item = item.clone();
                item.set(&["kind"], kind_of(kind).unwrap_or_default());
                item.set(&["apiVersion"], kind.api_version());
                found.push(item);
            }
            answer.body.at(&["metadata", "continue"]).as_str().unwrap_or("").clone_into(&mut from);
            if from.is_empty() {
                return Ok(found);
            }
        }
    }

    /// Returns the bounds for Nodes that apply unless options say otherwise: the defaults of the release.
    #[must_use]
    pub fn defaults(&self) -> RunOptions {
        let duration = |name: &str| match row(name).and_then(|row| row.value_at(self.release)) {
            Some(Value::Duration(duration)) => duration,
            _ => SignedDuration::ZERO,
        };
        RunOptions {
            health_period: duration("node-monitor-period"),
            grace_period: duration("node-monitor-grace-period"),
            patience: LOOK_PATIENCE,
            wait_for_late: SignedDuration::ZERO,
            tolerance: LOOK_TOLERANCE,
            server: self.release,
            ..RunOptions::default()
        }
    }

    /// Judges scenarios side by side; the outcomes are in the order of the scenarios.
    ///
    /// # Errors
    /// A scenario does more than read, or what it reads is not available.
    pub fn judge(&self, scenarios: &[Scenario], options: &RunOptions) -> Result<Vec<Outcome>, String> {
        if let Some(touch) = scenarios.iter().find_map(Scenario::first_touch) {
            return Err(format!("{}:{}: this does more than to look", touch.file, touch.line));
        }
        self.runtime.block_on(self.play(scenarios, options))
    }

    /// Records what happens for some time, or until Ctrl-C or SIGTERM. Returns the recording and the kinds that the
    /// credentials may not watch.
    ///
    /// # Errors
    /// The credentials may not watch a kind that a replay needs, or it is not available.
    pub(crate) fn record(&self, length: SignedDuration) -> Result<(Recorded, Vec<Resource>), String> {
        self.check_rights(&BTreeSet::from(REQUIRED_KINDS))?;
        let is_open = |kind: &Resource| self.check_rights(&BTreeSet::from([kind.clone()])).is_ok();
        let (open, closed): (Vec<Resource>, Vec<Resource>) = OPTIONAL_KINDS.iter().cloned().partition(is_open);
        let kinds = open.into_iter().chain(REQUIRED_KINDS).collect();
        self.runtime.block_on(async {
            let recorder = Recorder::begin(kinds, &self.caller, self.clock, Privacy::Redacted).await?;
            tokio::select! {
                () = sleep(Duration::try_from(length).unwrap_or_default()) => {}
                // Where signals cannot be handled, only the time ends it.
                () = signalled() => {}
            }
            Ok((recorder.end().await?, closed))
        })
    }

    async fn play(&self, scenarios: &[Scenario], options: &RunOptions) -> Result<Vec<Outcome>, String> {
        let kinds = kinds_of(scenarios);
        let mut watches = Watches::open(kinds.clone(), &self.caller, self.clock);
        let mut cache = WatchCache::default();
        let mut awaited = kinds;
        let mut trouble = String::new();
        while !awaited.is_empty() {
            match timeout(STRANGERS_LIST_WAIT, watches.next()).await {
                Ok(Some(Arrival { seen: Seen::Trouble(why), .. })) => trouble = why,
                Ok(Some(arrival)) => {
                    awaited.remove(&arrival.resource);
                    drop(cache.take(&arrival.resource, arrival.seen));
                }
                Ok(None) | Err(_) => return Err(format!("the cluster cannot be looked at: {trouble}")),
            }
        }
        let now = self.clock.now();
        let mut runs: Vec<Run> = Vec::new();
        for scenario in scenarios {
            let mut run = Run::new(Arc::new(scenario.clone()), options.clone(), now);
            as_created(&cache).for_each(|change| run.handle_observation(Observation::Change(change), now));
            run.handle_start(now);
            runs.push(run);
        }
        while !settle(&mut runs, self.clock) {
            let due = runs.iter().filter_map(Run::next_deadline).map(|deadline| deadline.at).min();
            let pause = due.map_or(LOOK_PERIOD, |at| self.clock.until(at));
            tokio::select! {
                biased;
                Some(arrival) = watches.next() => hand_over(&mut runs, &mut cache, arrival),
                () = sleep(pause) => {
                    while let Some(arrival) = watches.try_next() {
                        hand_over(&mut runs, &mut cache, arrival);
                    }
                    let now = self.clock.now();
                    runs.iter_mut().filter(|run| !run.is_over()).for_each(|run| run.handle_timeout(now));
                }
            }
        }
        Ok(runs.into_iter().map(Run::into_outcome).collect())
    }
}

/// Returns the kinds that scenarios read; always Nodes too.
#[must_use]
pub fn kinds_of(scenarios: &[Scenario]) -> BTreeSet<Resource> {
    scenarios.iter().flat_map(Scenario::looks_at).chain([NODES]).collect()
}

/// Returns which rights the reading of some kinds needs.
#[must_use]
pub fn rights(kinds: &BTreeSet<Resource>) -> String {
    let named: Vec<String> = kinds.iter().map(place).collect();
    format!("get, list and watch of {}", named.join(", "))
}

fn place(kind: &Resource) -> String {
    let namespace = namespace_of(kind);
    if namespace.is_empty() { kind.qualified() } else { format!("{} in namespace {namespace}", kind.qualified()) }
}

fn missing(verb: &str, kind: &Resource, code: u16, message: &str) -> String {
    match code {
        401 => format!("the API server does not know these credentials (401 {message})"),
        403 => format!("the right to {verb} {} is missing (403 {message})", place(kind)),
        _ => format!("{} cannot be had: {verb} is answered {code} {message}", place(kind)),
    }
}

/// Reads `v1.34.4`, `v1.29.3-eks-adc7111`, `v1.30.5+k3s1`.
pub(super) fn release_of(version: &str) -> Option<Release> {
    let mut parts = version.strip_prefix('v')?.split('.');
    let number = |part: Option<&str>| {
        let part = part?;
        part[..part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len())].parse::<u16>().ok()
    };
    let (major, minor) = (number(parts.next())?, number(parts.next())?);
    let patch = number(parts.next()).unwrap_or(0);
    (major == 1).then(|| Release::new(minor, patch))
}

/// Polls the outputs of all runs; true if all of them are over. Their scenarios have no actions, so one is refused.
fn settle(runs: &mut [Run], clock: Clock) -> bool {
    for run in runs.iter_mut() {
        while let Some(output) = run.poll_output() {
            if let RunOutput::Perform { id, .. } = output {
                run.handle_observation(Observation::Refused(id, "nothing is done here".to_owned()), clock.now());
            }
        }
    }
    runs.iter().all(Run::is_over)
}

/// Tells all runs what a watch has shown.
fn hand_over(runs: &mut [Run], cache: &mut WatchCache, arrival: Arrival) {
    let Arrival { at, resource, seen } = arrival;
    let may_have_missed = matches!(seen, Seen::Listed { .. } | Seen::Trouble(_));
    let changes = cache.take(&resource, seen).into_iter();
    let changes: Vec<ObjectChange> = changes.map(|change| told_to_runs(&resource, change)).collect();
    for run in runs.iter_mut().filter(|run| !run.is_over()) {
        if may_have_missed {
            run.handle_observation(Observation::Gap(resource.clone()), at);
        }
        for change in &changes {
            run.handle_observation(Observation::Change(change.clone()), at);
        }
    }
}

/// Converts a change of the cache for the runs; its writer is not known.
fn told_to_runs(resource: &Resource, change: CacheChange) -> ObjectChange {
    let (revision, writer) = (change.revision, Writer::default());
    let after = change.after().cloned().map(Object::as_received);
    let before = change.before.map(Object::as_received);
    let resource = resource.clone();
    ObjectChange { resource, key: change.key, before, after, resource_version: revision, writer, because: None }
}

/// Returns all objects as if they had just been created.
fn as_created(cache: &WatchCache) -> impl Iterator<Item = ObjectChange> {
    cache.objects().map(|(resource, key, object)| {
        let (key, object, revision) = (key.clone(), object.clone(), revision_of(object));
        told_to_runs(resource, CacheChange { key, before: None, object, is_gone: false, revision })
    })
}

#[cfg(test)]
mod tests {
    use nodeproof_core::network::LEASES;

    use super::*;

    #[test]
    fn releases_of_all_providers_are_read() {
        for (version, release) in [
            ("v1.34.4", Some(Release::new(34, 4))),
            ("v1.29.3-eks-adc7111", Some(Release::new(29, 3))),
            ("v1.30.5+k3s1", Some(Release::new(30, 5))),
            ("v1.35.0-alpha.1", Some(Release::new(35, 0))),
            ("v2.0.0", None),
            ("unknown", None),
        ] {
            assert_eq!(release_of(version), release, "{version}");
        }
    }

    #[test]
    fn the_missing_right_is_named() {
        assert_eq!(
            missing("watch", &LEASES, 403, "no"),
            "the right to watch leases.coordination.k8s.io in namespace kube-node-lease is missing (403 no)"
        );
    }
}
