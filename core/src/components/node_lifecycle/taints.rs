//! The changes of taints and labels that this controller makes.
//!
//! Mirrors pkg/util/taints/taints.go, pkg/controller/controller_utils.go and
//! pkg/controller/util/node/controller_utils.go (v1.34): read the node (first from the server's cache), patch the whole
//! list with the version that was read, and again after a conflict.
//! Inputs: what to add and remove, answers, time. Outputs: requests, and whether they succeeded.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::work_items::{Io, Progress};
use crate::components::DecisionId;
use crate::components::client::RequestOutcome;
use crate::json;
use crate::network::{Call, NODES, Verb};
use crate::objects::lifecycle::condition_in;
use crate::objects::time::{self, to_time};
use crate::objects::{Json, Object, Text};

/// Key of the taint of a node whose Ready condition is False. Source: k8s.io/api core/v1/well_known_taints.go (v1.34).
pub(super) const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// Key of the taint of a node whose Ready condition is Unknown. Source: as [`NOT_READY`].
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// Key of the taint of a cordoned node. Source: as [`NOT_READY`].
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// The conditions that become NoSchedule taints: type, status, key.
///
/// Source: node_lifecycle_controller.go (v1.34), `nodeConditionToTaintKeyStatusMap`.
const CONDITION_TAINTS: [(&str, &str, &str); 6] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];

/// Tries of one write. Source: pkg/controller/controller_utils.go (v1.34), `UpdateTaintBackoff`, `UpdateLabelBackoff`.
pub(super) const TRIES_MAX: u32 = 5;
/// Pause after a conflict, with a jitter of up to its own length. Source: as [`TRIES_MAX`].
pub(super) const CONFLICT_PAUSE: SignedDuration = SignedDuration::from_millis(100);

/// A taint without value: all that this controller adds or removes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Taint {
    /// The key.
    pub(super) key: Text,
    /// The effect.
    pub(super) effect: &'static str,
}

impl Taint {
    /// Makes a NoExecute taint.
    #[must_use]
    pub(super) const fn no_execute(key: &'static str) -> Self {
        Self { key: Text::of(key), effect: "NoExecute" }
    }

    /// Makes a NoSchedule taint.
    pub(super) fn no_schedule(key: impl Into<Text>) -> Self {
        Self { key: key.into(), effect: "NoSchedule" }
    }

    /// Tells whether a taint of a node has this key and effect, whatever its value.
    #[must_use]
    pub(super) fn matches(&self, taint: &Json) -> bool {
        taint.get("key").as_str() == Some(&self.key) && taint.get("effect").as_str() == Some(self.effect)
    }

    /// Tells whether a node has it.
    #[must_use]
    pub(super) fn is_on(&self, node: &Json) -> bool {
        node.at(&["spec", "taints"]).items().iter().any(|taint| self.matches(taint))
    }
}

impl core::fmt::Display for Taint {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}", self.key, self.effect)
    }
}

/// Tells whether a node has one of the two NoExecute taints.
#[must_use]
pub(super) fn is_tainted(node: &Object) -> bool {
    [NOT_READY, UNREACHABLE].into_iter().any(|key| Taint::no_execute(key).is_on(node.stable()))
}

/// Returns what the NoSchedule pass adds to and removes from a node.
#[must_use]
pub(super) fn no_schedule_difference(node: &Json) -> (Vec<Taint>, Vec<Taint>) {
    let mut wanted: Vec<&str> = node
        .at(&["status", "conditions"])
        .items()
        .iter()
        .filter_map(|condition| {
            let field = |name| condition.get(name).as_str().unwrap_or("");
            CONDITION_TAINTS.iter().find(|(kind, status, _)| *kind == field("type") && *status == field("status"))
        })
        .map(|(_, _, key)| *key)
        .collect();
    if node.at(&["spec", "unschedulable"]).as_bool() == Some(true) {
        wanted.push(UNSCHEDULABLE);
    }
    let existing: Vec<&str> = node
        .at(&["spec", "taints"])
        .items()
        .iter()
        .filter(|taint| taint.get("effect").as_str() == Some("NoSchedule"))
        .filter_map(|taint| taint.get("key").as_str())
        .filter(|key| *key == UNSCHEDULABLE || CONDITION_TAINTS.iter().any(|(_, _, own)| own == key))
        .collect();
    let missing = |from: &[&str], keys: &[&str]| -> Vec<Taint> {
        keys.iter().filter(|key| !from.contains(key)).map(|key| Taint::no_schedule(*key)).collect()
    };
    (missing(&existing, &wanted), missing(&wanted, &existing))
}

/// Returns the taints that do not fit a Node's conditions and `spec.unschedulable`: the missing ones, and those without
/// a cause. A NoExecute taint may come late, so a missing one is not counted.
#[must_use]
pub fn taint_violations(node: &Json) -> (Vec<String>, Vec<String>) {
    let (missing, mut superfluous) = no_schedule_difference(node);
    let ready = condition_in(node.at(&["status", "conditions"]).items(), "Ready");
    let ready = ready.and_then(|condition| condition.get("status").as_str());
    for (key, status) in [(NOT_READY, "False"), (UNREACHABLE, "Unknown")] {
        let taint = Taint::no_execute(key);
        if taint.is_on(node) && ready != Some(status) {
            superfluous.push(taint);
        }
    }
    let shown = |taints: Vec<Taint>| taints.iter().map(ToString::to_string).collect();
    (shown(missing), shown(superfluous))
}

#[derive(Clone, Debug)]
enum TaintPatch {
    Add(Vec<Taint>),
    Remove(Vec<Taint>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TaintWriteState {
    Getting,
    Patching,
    Pausing,
}

/// A write of a node's taints under way.
#[derive(Clone, Debug)]
pub(super) struct TaintWrite {
    node: Text,
    added_at: Timestamp,
    steps: VecDeque<TaintPatch>,
    state: TaintWriteState,
    tries: u32,
    because: Option<DecisionId>,
}

impl TaintWrite {
    /// Adds taints, then removes others, as `SwapNodeControllerTaint`: two patches, the second only if the first
    /// succeeded and the cached node has one of the taints to remove.
    #[must_use]
    pub(super) fn swap(
        cached: &Object,
        add: Vec<Taint>,
        remove: Vec<Taint>,
        because: Option<DecisionId>,
        now: Timestamp,
    ) -> Self {
        let mut steps = VecDeque::new();
        if !add.is_empty() {
            steps.push_back(TaintPatch::Add(add));
        }
        Self::new(cached, steps, [remove], because, now)
    }

    /// Removes the NoExecute taints of this controller that the cached node has, one by one.
    #[must_use]
    pub(super) fn reachable(cached: &Object, because: Option<DecisionId>, now: Timestamp) -> Self {
        let remove = [UNREACHABLE, NOT_READY].map(|key| Vec::from([Taint::no_execute(key)]));
        Self::new(cached, VecDeque::new(), remove, because, now)
    }

    fn new(
        cached: &Object,
        mut steps: VecDeque<TaintPatch>,
        remove: impl IntoIterator<Item = Vec<Taint>>,
        because: Option<DecisionId>,
        now: Timestamp,
    ) -> Self {
        let on_node = |taints: &Vec<Taint>| taints.iter().any(|taint| taint.is_on(cached.stable()));
        steps.extend(remove.into_iter().filter(on_node).map(TaintPatch::Remove));
        Self {
            node: Text::from(cached.name()),
            added_at: now,
            steps,
            state: TaintWriteState::Getting,
            tries: 0,
            because,
        }
    }

    /// Tells whether no request is needed.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Sends the first request.
    pub(super) fn start(&mut self, io: &mut Io<'_>) -> Progress {
        if self.steps.is_empty() { Progress::Done(true) } else { self.get(io) }
    }

    /// Continues after an answer.
    pub(super) fn handle_outcome(&mut self, outcome: RequestOutcome, io: &mut Io<'_>) -> Progress {
        match (self.state, outcome) {
            (TaintWriteState::Getting, RequestOutcome::Done(Some(node))) => self.patch(&node, io),
            (TaintWriteState::Patching, RequestOutcome::Done(_)) => self.next(io),
            (_, RequestOutcome::Conflict) if self.tries < TRIES_MAX => {
                self.state = TaintWriteState::Pausing;
                Progress::Pausing(io.now + io.chance.jitter(CONFLICT_PAUSE, 1.0))
            }
            _ => Progress::Done(false),
        }
    }

    /// Continues after a pause.
    pub(super) fn handle_timeout(&mut self, io: &mut Io<'_>) -> Progress {
        self.get(io)
    }

    fn get(&mut self, io: &mut Io<'_>) -> Progress {
        let call = read(&self.node, self.tries);
        self.tries += 1;
        self.state = TaintWriteState::Getting;
        io.send(call, self.because)
    }

    fn patch(&mut self, node: &Object, io: &mut Io<'_>) -> Progress {
        let before = node.stable().at(&["spec", "taints"]);
        let Some(after) = self.steps.front().and_then(|step| applied(before.items(), step, self.added_at)) else {
            return self.next(io);
        };
        let mut patch = json!({"metadata": {"resourceVersion": format!("{}", node.resource_version())}});
        // If the lists are equal as JSON the patch has no taints: `timeAdded` may differ in fractions of a second only.
        if after.as_slice() != before.items() {
            patch.set(&["spec", "taints"], if after.is_empty() { Json::Null } else { Json::array(after) });
        }
        self.state = TaintWriteState::Patching;
        io.send(Call::strategic_patch(NODES, "", &self.node, patch), self.because)
    }

    fn next(&mut self, io: &mut Io<'_>) -> Progress {
        self.steps.pop_front();
        self.tries = 0;
        if self.steps.is_empty() { Progress::Done(true) } else { self.get(io) }
    }
}

/// Returns the whole new list; `None` if the step changes nothing.
fn applied(before: &[Json], step: &TaintPatch, added_at: Timestamp) -> Option<Vec<Json>> {
    match step {
        TaintPatch::Remove(taints) => {
            let kept: Vec<Json> =
                before.iter().filter(|own| !taints.iter().any(|taint| taint.matches(own))).cloned().collect();
            (kept.len() < before.len()).then_some(kept)
        }
        TaintPatch::Add(taints) => {
            let mut after = before.to_vec();
            let mut changed = false;
            for taint in taints {
                let new = json!({"key": &*taint.key, "effect": taint.effect, "timeAdded": to_time(added_at)});
                match after.iter_mut().find(|own| taint.matches(own)) {
                    Some(own) if is_same(own, added_at) => {}
                    Some(own) => {
                        *own = new;
                        changed = true;
                    }
                    None => {
                        after.push(new);
                        changed = true;
                    }
                }
            }
            changed.then_some(after)
        }
    }
}

/// Tells whether a taint has no value and was added at exactly this instant.
fn is_same(taint: &Json, added_at: Timestamp) -> bool {
    let value = taint.get("value").as_str().unwrap_or("");
    value.is_empty() && taint.get("timeAdded").as_str().and_then(time::parse) == Some(added_at)
}

/// Returns what the label pass sets on a node: the beta labels get the values of the stable ones.
///
/// Source: node_lifecycle_controller.go (v1.34), `labelReconcileInfo`.
#[must_use]
pub(super) fn label_difference(node: &Json) -> Vec<(&'static str, Text)> {
    let labels = node.at(&["metadata", "labels"]);
    [("kubernetes.io/os", "beta.kubernetes.io/os"), ("kubernetes.io/arch", "beta.kubernetes.io/arch")]
        .into_iter()
        .filter_map(|(stable, beta)| {
            let value = labels.get(stable).as_text()?;
            (labels.get(beta).as_text() != Some(value)).then(|| (beta, value.clone()))
        })
        .collect()
}

/// A write of a node's labels under way.
#[derive(Clone, Debug)]
pub(super) struct LabelWrite {
    node: Text,
    labels: Vec<(&'static str, Text)>,
    state: TaintWriteState,
    tries: u32,
    because: Option<DecisionId>,
}

/// Reads a Node before it is written. The first read may come from the server's cache; after a conflict it must not.
fn read(node: &Text, tries: u32) -> Call {
    let call = Call::new(Verb::Get, NODES, "", node);
    if tries == 0 { call.query("resourceVersion", "0") } else { call }
}

impl LabelWrite {
    /// Sets labels.
    #[must_use]
    pub(super) const fn new(node: Text, labels: Vec<(&'static str, Text)>, because: Option<DecisionId>) -> Self {
        Self { node, labels, state: TaintWriteState::Getting, tries: 0, because }
    }

    /// Sends the first request, and again after a pause.
    pub(super) fn start(&mut self, io: &mut Io<'_>) -> Progress {
        let call = read(&self.node, self.tries);
        self.tries += 1;
        self.state = TaintWriteState::Getting;
        io.send(call, self.because)
    }

    /// Continues after an answer.
    pub(super) fn handle_outcome(&mut self, outcome: RequestOutcome, io: &mut Io<'_>) -> Progress {
        match (self.state, outcome) {
            (TaintWriteState::Getting, RequestOutcome::Done(Some(node))) => {
                let labels = node.stable().at(&["metadata", "labels"]);
                let mut patch = Json::object();
                for (label, value) in &self.labels {
                    if labels.get(label).as_text() != Some(value) {
                        patch.set(&["metadata", "labels", *label], value);
                    }
                }
                self.state = TaintWriteState::Patching;
                io.send(Call::strategic_patch(NODES, "", &self.node, patch), self.because)
            }
            (TaintWriteState::Patching, RequestOutcome::Done(_)) => Progress::Done(true),
            (_, RequestOutcome::Conflict) if self.tries < TRIES_MAX => {
                self.state = TaintWriteState::Pausing;
                Progress::Pausing(io.now + io.chance.jitter(CONFLICT_PAUSE, 1.0))
            }
            _ => Progress::Done(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use jiff::Timestamp;

    use super::{NOT_READY, Taint, TaintPatch, UNREACHABLE, applied, label_difference, no_schedule_difference};
    use crate::json;
    use crate::objects::Json;

    fn conditions(list: &[(&str, &str)]) -> Json {
        list.iter().map(|(kind, status)| json!({"type": kind, "status": status})).collect()
    }

    fn keys(taints: &[Taint]) -> Vec<&str> {
        taints.iter().map(|taint| taint.key.as_str()).collect()
    }

    #[test]
    fn conditions_become_taints_in_the_order_of_the_conditions_and_unschedulable_comes_last() {
        let mut node = json!({"spec": {"unschedulable": true}});
        let list = conditions(&[("MemoryPressure", "True"), ("NetworkUnavailable", "Unknown"), ("Ready", "False")]);
        node.set(&["status", "conditions"], list);
        let (add, remove) = no_schedule_difference(&node);
        assert_eq!(keys(&add), ["node.kubernetes.io/memory-pressure", NOT_READY, "node.kubernetes.io/unschedulable"]);
        assert!(remove.is_empty());
    }

    #[test]
    fn a_taint_with_a_foreign_value_counts_as_present_and_other_effects_are_left_alone() {
        let node = json!({
            "spec": {"taints": [
                {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule", "value": "x"},
                {"key": UNREACHABLE, "effect": "NoExecute"},
                {"key": "dedicated", "effect": "NoSchedule"},
                {"key": NOT_READY, "effect": "NoSchedule"}]},
            "status": {"conditions": [{"type": "DiskPressure", "status": "True"}]}});
        let (add, remove) = no_schedule_difference(&node);
        assert!(add.is_empty());
        assert_eq!(keys(&remove), [NOT_READY]);
    }

    #[test]
    fn a_taint_is_replaced_in_place_and_a_new_one_goes_to_the_end() {
        let now: Timestamp = "2026-01-01T00:00:10.5Z".parse().unwrap();
        let before = [
            json!({"key": UNREACHABLE, "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:01Z"}),
            json!({"key": "dedicated", "effect": "NoExecute"}),
        ];
        let step = TaintPatch::Add([Taint::no_execute(UNREACHABLE), Taint::no_execute(NOT_READY)].into());
        let after = applied(&before, &step, now).unwrap();
        let times: Vec<_> = after.iter().map(|taint| taint.get("timeAdded").as_str()).collect();
        assert_eq!(times, [Some("2026-01-01T00:00:10Z"), None, Some("2026-01-01T00:00:10Z")]);
        assert!(applied(&after, &TaintPatch::Remove([Taint::no_schedule(UNREACHABLE)].into()), now).is_none());
    }

    #[test]
    fn beta_labels_follow_the_stable_ones() {
        let node = json!({"metadata": {"labels": {
            "kubernetes.io/os": "linux", "beta.kubernetes.io/os": "windows", "beta.kubernetes.io/arch": "arm64"}}});
        assert_eq!(label_difference(&node), [("beta.kubernetes.io/os", "linux".into())]);
    }
}
