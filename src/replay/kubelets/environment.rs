//! What the environment of a recorded machine decided, and which free choices its kubelet made.
//!
//! Inputs: the recording. Outputs: the script of a machine's containers, the instants at which its kubelet acted, and
//! what it had when the recording began.

use std::collections::{BTreeMap, VecDeque};

use nodeproof_core::components::machine::{
    ContainerEnd, ContainerRun, Manifest, MeasuredPod, RecordedChoices, RecordedEvictions, RuntimeScript,
};
use nodeproof_core::network::{CSI_NODES, LEASES, NODES, PODS, Verb};
use nodeproof_core::objects::quantity::Quantity;
use nodeproof_core::objects::{Json, Object, ObjectKey, Text, time};

use super::files::{KubeletRecording, MachineEntry, VerbLine};
use super::outage::failed_renewals;
use super::process::note_starts;
use super::recorded::RecordedWrites;
use crate::replay::load::{self, Micros};

/// The annotation of a mirror Pod that holds the UID of its static Pod.
const HASH: &str = "kubernetes.io/config.hash";

/// Returns the UID under which a machine knows a Pod, and the container that an outcome is about.
pub(super) fn subject(outcome: &Json) -> (Text, Text) {
    let text = |field: &str| outcome.get(field).as_text().cloned();
    (text("static").or_else(|| text("uid")).unwrap_or_default(), text("container").unwrap_or_default())
}

/// Returns the UID under which a machine knows a Pod.
fn own_uid(pod: &Object) -> Text {
    let hash = pod.stable().at(&["metadata", "annotations", HASH]).as_text().cloned();
    hash.unwrap_or_else(|| Text::from(pod.uid()))
}

/// The ids of containers, by the UID of the pod, the name and the number of restarts.
type ContainerIds = BTreeMap<(Text, Text, u32), Text>;

/// Notes the ids that the runtime gave to the containers of a Pod, and the digests of its images.
fn note_ids(pod: &Object, before: &ContainerIds, script: &mut RuntimeScript) {
    let uid = own_uid(pod);
    for list in ["containerStatuses", "initContainerStatuses"] {
        for status in pod.stable().at(&["status", list]).items() {
            let text = |field: &str| status.get(field).as_text().cloned().unwrap_or_default();
            let restarts = u32::try_from(status.get("restartCount").as_i64().unwrap_or_default()).unwrap_or_default();
            let is_waiting = !status.at(&["state", "waiting"]).is_null();
            if let Some((_, id)) =
                status.get("containerID").as_str().and_then(|id| id.split_once("://")).filter(|_| !is_waiting)
            {
                let own = (uid.clone(), text("name"), restarts);
                // A container that starts in the recording may have the number of the one before it.
                if script.ids.get(&own).is_none_or(|known| before.get(&own) == Some(known)) {
                    script.ids.insert(own, Text::from(id));
                }
            }
            if !text("imageID").is_empty() {
                script.digests.insert(text("image"), text("imageID"));
                script.images.insert((uid.clone(), text("name")), text("image"));
            }
        }
    }
}

/// How long at most a kubelet that ran before is driven before the recording begins.
pub(super) const BEFORE: Micros = 90_000_000;
/// The wait between two renewals of a Lease of 40 s: the least, the middle, the most.
pub(super) const WAIT_LEAST: Micros = 10_000_000;
const WAIT: Micros = 10_200_000;
pub(super) const WAIT_MOST: Micros = 10_400_000;
/// How long the set-up of a process takes.
const SET_UP: Micros = 400_000;

/// Returns from when on a kubelet that ran before is driven: from its start, or else from a renewal two waits before
/// the last one.
pub(super) fn begin(entry: &MachineEntry) -> Micros {
    let start = entry.started + SET_UP;
    let renewed = load::seconds(&entry.running, "lease").ok();
    let begin = match renewed {
        Some(at) if start > -BEFORE && at > start => {
            // The start is known to a second or so; the renewals since then have their waits of 10 to 10.4 s.
            let waits = ((at - start + WAIT / 2) / WAIT).max(1);
            at - (at - start).clamp(waits * WAIT_LEAST, waits * WAIT_MOST)
        }
        _ if start > -BEFORE => start,
        renewed => renewed.map_or(-BEFORE / 2, |at| at - 2 * WAIT),
    };
    begin.clamp(-BEFORE, -100_000)
}

/// Returns what the containers of a machine did.
pub(super) fn script(recording: &KubeletRecording, machine: &str) -> RuntimeScript {
    let mut script = RuntimeScript::default();
    let (initial, later): (Vec<_>, Vec<_>) =
        recording.watch.iter().filter(|line| line.kind == "Pod").partition(|line| line.initial);
    initial.iter().for_each(|line| note_ids(&line.object, &ContainerIds::new(), &mut script));
    let before = script.ids.clone();
    later.iter().for_each(|line| note_ids(&line.object, &before, &mut script));
    for verb in recording.verbs.iter().filter(|verb| verb.machine == machine) {
        let sandbox = verb.line.at(&["outcome", "sandbox"]);
        if let Some(address) = sandbox.get("podIP").as_text() {
            script.addresses.insert(subject(sandbox).0, address.clone());
        }
        let outcome = verb.line.at(&["outcome", "container"]);
        let key = subject(outcome);
        let instant = |field: &str| outcome.get(field).as_str().and_then(time::parse);
        let at = recording.at(verb.t);
        match outcome.get("state").as_str() {
            Some("running") => {
                let mut run = ContainerRun { at, started_at: instant("startedAt").unwrap_or(at), end: None };
                // One that ended at once may be told to have ended before it is told to have started.
                let is_same = |end: &ContainerEnd| end.at <= at && end.finished_at >= run.started_at;
                if script.ends.get(&key).is_some_and(is_same) {
                    run.end = script.ends.remove(&key).map(|end| ContainerEnd { at: at.max(end.at), ..end });
                }
                script.runs.entry(key).or_default().push_back(run);
            }
            Some("terminated") => {
                let end = ContainerEnd {
                    at,
                    finished_at: instant("finishedAt").unwrap_or(at),
                    exit_code: outcome.get("exitCode").as_i64().unwrap_or_default(),
                    reason: outcome.get("reason").as_text().cloned().unwrap_or_default(),
                };
                match script.runs.get_mut(&key).and_then(|runs| runs.back_mut()) {
                    Some(run) if run.end.is_none() => run.end = Some(end),
                    _ => {
                        script.ends.entry(key).or_insert(end);
                    }
                }
            }
            _ => {}
        }
    }
    add_early_runs(recording, &mut script);
    script
}

/// Returns when a verb takes effect: a runtime that is started answers a little later.
pub(super) fn takes_effect(recording: &KubeletRecording, verb: &VerbLine) -> Micros {
    let action = verb.line.at(&["do", "action"]).as_str().unwrap_or_default();
    if !matches!(action, "runtime-start" | "runtime-thaw") {
        return verb.t;
    }
    let answers = |later: &&VerbLine| {
        later.t >= verb.t
            && later.machine == verb.machine
            && later.line.at(&["outcome", "runtime"]).as_str() == Some("answers")
    };
    recording.verbs.iter().find(answers).map_or(verb.t, |later| later.t)
}

/// Tells whether the status before the recording does not show yet that a container has started.
fn is_new(recording: &KubeletRecording, (uid, container): &(Text, Text)) -> bool {
    let pods = recording.watch.iter().filter(|line| line.initial && line.kind == "Pod");
    let mut own = pods.filter(|line| own_uid(&line.object) == *uid);
    own.next().is_some_and(|line| {
        let statuses = line.object.stable().at(&["status", "containerStatuses"]);
        let known = statuses.items().iter().find(|item| item.get("name").as_str() == Some(container));
        known.is_none_or(|known| known.get("containerID").is_null())
    })
}

/// Adds the runs that began before the recording and were seen only in it, without an outcome of their own.
fn add_early_runs(recording: &KubeletRecording, script: &mut RuntimeScript) {
    for line in recording.watch.iter().filter(|line| !line.initial && line.kind == "Pod") {
        for status in line.object.stable().at(&["status", "containerStatuses"]).items() {
            let Some(name) = status.get("name").as_text() else { continue };
            let key = (own_uid(&line.object), name.clone());
            let of_state = |state: &str| status.at(&["state", state, "startedAt"]).as_str().and_then(time::parse);
            let started = of_state("running").or_else(|| of_state("terminated"));
            if let Some(started_at) = started.filter(|at| *at < recording.started)
                && is_new(recording, &key)
                && !script.runs.contains_key(&key)
            {
                let end = script.ends.remove(&key);
                let run = ContainerRun { at: started_at, started_at, end };
                script.runs.entry(key).or_default().push_back(run);
            }
        }
    }
}

/// Returns the instants at which the kubelet of a machine acted.
pub(super) fn choices(
    recording: &KubeletRecording,
    recorded: &RecordedWrites<'_>,
    entry: &MachineEntry,
) -> RecordedChoices {
    let mut choices = RecordedChoices::default();
    for write in recorded.writes.iter().filter(|write| write.place.name == *entry.node) {
        if write.place.resource == NODES && write.verb == Verb::Patch {
            choices.posts.push(recording.at(write.t));
        }
        if write.place.resource == LEASES {
            let renewed = write.body.at(&["spec", "renewTime"]).as_str().and_then(time::parse);
            choices.renewals.push(renewed.unwrap_or_else(|| recording.at(write.t)));
        }
    }
    // The creation of a Lease names it in its body alone.
    let created = recorded.writes.iter().filter(|write| {
        write.verb == Verb::Create
            && write.place.resource == LEASES
            && write.body.at(&["metadata", "name"]).as_str() == Some(&entry.node)
    });
    choices.renewals.extend(created.map(|write| recording.at(write.t)));
    let known = |field: &str| load::seconds(&entry.running, field).ok();
    choices.renewals.extend(known("lease").map(|t| recording.at(t)));
    choices.last_post = known("status").map(|t| recording.at(t));
    choices.posts.extend(choices.last_post);
    let csi_nodes = recording.requests.iter().filter(|request| request.place.resource == CSI_NODES);
    choices.csi_nodes = csi_nodes.map(|request| recording.at(request.t)).collect();
    choices.csi_nodes.sort();
    let failed = failed_renewals(recording, entry, &choices.renewals);
    choices.renewals.extend(failed.into_iter().map(|(began, _)| recording.at(began)));
    choices.is_under_way = entry.started + SET_UP <= -BEFORE;
    choices.static_hashes = static_hashes(recording, recorded, &entry.node);
    choices.posts.sort();
    choices.renewals.sort();
    for write in recorded.writes.iter().filter(|write| write.place.resource == PODS) {
        if let Some(uid) = write.body.at(&["metadata", "uid"]).as_text() {
            choices.pods.entry(uid.clone()).or_default().push(recording.at(write.t));
        }
    }
    for event in &recorded.events {
        if let Some(uid) = event.event.at(&["involvedObject", "uid"]).as_text() {
            if event.event.get("reason").as_str() == Some("Preempting") {
                choices.preempted.push((recording.at(event.t), uid.clone()));
            }
            choices.pods.entry(uid.clone()).or_default().push(recording.at(event.t));
        }
    }
    for write in recorded.writes.iter().filter(|write| write.place.resource == PODS) {
        let status = write.body.get("status");
        let Some(uid) = write.body.at(&["metadata", "uid"]).as_text() else { continue };
        let is_bare = status.get("conditions").is_null();
        if is_bare && (!status.get("hostIP").is_null() || !status.at(&["resources", "limits"]).is_null()) {
            choices.resyncs.entry(uid.clone()).or_default().push(recording.at(write.t));
        }
        let is_emptied = status.get("resources").fields().any(|(_, value)| value.is_null());
        if is_bare && is_emptied {
            choices.seen_ended.insert(uid.clone());
        }
    }
    choices.pods.values_mut().for_each(|seen| seen.sort());
    choices.evictions = evictions(recording, recorded, entry);
    let is_up =
        |verb: &&VerbLine| verb.machine == entry.name && verb.line.at(&["outcome", "kubelet"]).as_str() == Some("up");
    let ups: Vec<Micros> = recording.verbs.iter().filter(is_up).map(|verb| verb.t).collect();
    note_starts(recording, recorded, (entry, &ups), &mut choices);
    choices
}

/// Returns what the passes of a machine's eviction manager found.
fn evictions(recording: &KubeletRecording, recorded: &RecordedWrites<'_>, entry: &MachineEntry) -> RecordedEvictions {
    const ATTEMPT: &str = "Attempting to reclaim ";
    /// How far the Event of a pass and its outcome may be apart.
    const WITHIN: Micros = 1_000_000;
    let mut found = RecordedEvictions::default();
    let mut met: Vec<(Micros, Text)> = Vec::new();
    for verb in recording.verbs.iter().filter(|verb| verb.machine == entry.name) {
        let (at, threshold) = (recording.at(verb.t), verb.line.at(&["outcome", "threshold"]));
        if threshold.get("met").as_bool() == Some(true) {
            met.extend(threshold.get("resource").as_text().map(|resource| (verb.t, resource.clone())));
        }
        let ranked = threshold.get("ranked").items().iter().filter_map(Json::as_str);
        let ranked = ranked.filter_map(|name| name.split_once('/'));
        let ranked: Vec<ObjectKey> = ranked.map(|(namespace, name)| ObjectKey::namespaced(namespace, name)).collect();
        if !ranked.is_empty() {
            found.ranked.push((at, ranked));
        }
        let measured = verb.line.at(&["outcome", "measured"]);
        if let Some(text) = measured.get("text").as_text() {
            let name = |field: &str| measured.get(field).as_text().cloned().unwrap_or_default();
            let containers = measured.get("containers").fields();
            let containers = containers.filter_map(|(name, used)| Some((name.clone(), Quantity::from_json(used)?)));
            let (key, containers) = (ObjectKey::namespaced(name("namespace"), name("pod")), containers.collect());
            found.measured.push(MeasuredPod { at, key, text: text.clone(), containers });
        }
    }
    for event in recorded.events.iter().filter(|event| {
        event.event.get("reason").as_str() == Some("EvictionThresholdMet")
            && event.event.at(&["involvedObject", "name"]).as_str() == Some(&entry.node)
    }) {
        let resource = event.event.get("message").as_str().and_then(|message| message.strip_prefix(ATTEMPT));
        let is_told = |resource: &str| met.iter().any(|(t, own)| (t - event.t).abs() < WITHIN && **own == *resource);
        if let Some(resource) = resource.filter(|resource| !is_told(resource)) {
            met.push((event.t, Text::from(resource)));
        }
    }
    found.met = met.into_iter().map(|(t, resource)| (recording.at(t), resource)).collect();
    found
}

/// Returns the name of a static Pod without its Node's.
fn bare_name(pod: &Json, node: &str) -> Option<Text> {
    let name = pod.at(&["metadata", "name"]).as_str()?;
    name.strip_suffix(&format!("-{node}")).map(Text::from)
}

/// Returns the files in the folder of static Pods before the recording, as the mirror Pods show them.
pub(super) fn manifests(recording: &KubeletRecording, node: &str) -> Vec<(Text, Manifest)> {
    let initial = recording.watch.iter().filter(|line| line.initial && line.kind == "Pod");
    let mirrors = initial.filter(|line| line.object.stable().at(&["spec", "nodeName"]).as_str() == Some(node));
    mirrors
        .filter_map(|line| {
            let pod = line.object.json();
            let hash = pod.at(&["metadata", "annotations", HASH]).as_text()?.clone();
            let name = bare_name(&pod, node)?;
            let mut object = nodeproof_core::json!({"apiVersion": "v1", "kind": "Pod"});
            object.set(&["metadata", "name"], &name);
            for field in ["namespace", "labels"] {
                if !pod.at(&["metadata", field]).is_null() {
                    object.set(&["metadata", field], pod.at(&["metadata", field]).clone());
                }
            }
            object.set(&["spec"], pod.get("spec").clone());
            // What the API server has added.
            for field in ["priority", "preemptionPolicy"] {
                object.remove(&["spec", field]);
            }
            // Names of files are not recorded; those of two namespaces may have Pods of one name.
            let file = match pod.at(&["metadata", "namespace"]).as_str() {
                None | Some("default" | "kube-system") => format!("{name}.yaml"),
                Some(namespace) => format!("{namespace}.{name}.yaml"),
            };
            Some((Text::from(file), Manifest { object, hash }))
        })
        .collect()
}

/// Returns the hashes of the static Pods that were written during the recording, by namespace and name.
fn static_hashes(
    recording: &KubeletRecording,
    recorded: &RecordedWrites<'_>,
    node: &str,
) -> BTreeMap<ObjectKey, VecDeque<Text>> {
    let mut found: BTreeMap<ObjectKey, VecDeque<Text>> = BTreeMap::new();
    let before: Vec<Text> = manifests(recording, node).into_iter().map(|(_, manifest)| manifest.hash).collect();
    for write in recorded.writes.iter().filter(|write| write.verb == Verb::Create && write.place.resource == PODS) {
        let hash = write.body.at(&["metadata", "annotations", HASH]).as_text();
        if let (Some(hash), Some(name)) = (hash, bare_name(&write.body, node))
            && !before.contains(hash)
        {
            let own = found.entry(ObjectKey::namespaced(write.place.namespace.clone(), name)).or_default();
            if !own.contains(hash) {
                own.push_back(hash.clone());
            }
        }
    }
    found
}

/// Returns the Pods of a Node that were there before the recording, by the UIDs under which its machine knows them.
pub(super) fn pods(recording: &KubeletRecording, node: &str) -> Vec<(Text, Object)> {
    let initial = recording.watch.iter().filter(|line| line.initial && line.kind == "Pod");
    let here = initial.filter(|line| line.object.stable().at(&["spec", "nodeName"]).as_str() == Some(node));
    here.map(|line| (own_uid(&line.object), line.object.clone())).collect()
}

/// Returns the images of a machine: those of the first Node that its kubelet wrote.
pub(super) fn images(recording: &KubeletRecording, entry: &MachineEntry) -> Option<Json> {
    let first: Micros = load::seconds(&entry.first_node, "t").ok()?;
    let of_node = |line: &&super::files::WatchedLine| line.kind == "Node" && line.object.name() == entry.node;
    let mut lines = recording.watch.iter().filter(of_node).filter(|line| line.t >= first);
    let images = lines.find_map(|line| {
        let images = line.object.stable().at(&["status", "images"]);
        (!images.is_empty()).then(|| images.clone())
    })?;
    Some(images)
}
