//! One round: what is to be detached, then what is to be attached, then what Nodes are told.
//!
//! Mirrors pkg/controller/volume/attachdetach/reconciler/reconciler.go and
//! statusupdater/node_status_updater.go (v1.34). A Node is told that it loses a volume before the volume is detached,
//! and the round waits for that. Inputs: both states, Nodes, answers. Outputs: operations, patches of Nodes, Events.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::actual::AttachState;
use super::desired::Wanted;
use super::operations::{OperationKey, OperationKind};
use super::{ATTACHMENT_CACHE, AttachDetach, AttachPurpose, UNMOUNT_MAX};
use crate::components::Because;
use crate::components::controller::{ApiResult, code, failure};
use crate::components::events::{EventType, InvolvedObject};
use crate::components::volumes::attachment_name;
use crate::json;
use crate::network::{Call, NODES};
use crate::objects::lifecycle::{OUT_OF_SERVICE, is_out_of_service, is_ready};
use crate::objects::patch::two_way;
use crate::objects::time::{seconds, to_micro_time};
use crate::objects::{Json, Object, Text};

/// A round under way.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// Volumes with their nodes, to be looked at.
    left: VecDeque<(Text, Text)>,
    /// The detachment that waits until its Node is told.
    next: Option<Detachment>,
    /// The Nodes that are told at the end; `None` before that.
    to_tell: Option<VecDeque<Text>>,
}

/// A detachment that was decided.
#[derive(Clone, Debug)]
struct Detachment {
    unique: Text,
    node: Text,
    key: OperationKey,
    /// Why it is done by force; `None` if the Node is asked first.
    forced: Option<&'static str>,
    because: Vec<String>,
}

impl AttachDetach {
    pub(super) fn begin_pass(&mut self, now: Timestamp) {
        self.tick = None;
        self.is_dirty = false;
        let unwanted = self.actual.all().filter(|((unique, node), _)| !self.desired.wants(unique, node));
        let left = unwanted.map(|(key, _)| key.clone()).collect();
        self.pass = Some(Pass { left, next: None, to_tell: None });
        self.advance(now);
    }

    /// Continues the round until a Node is being told something.
    fn advance(&mut self, now: Timestamp) {
        while let Some(pass) = &mut self.pass {
            if let Some(nodes) = &mut pass.to_tell {
                match nodes.pop_front() {
                    Some(node) if self.tell(&node, now) => return,
                    Some(_) => {}
                    None => return self.finish(now),
                }
            } else if let Some((unique, node)) = pass.left.pop_front() {
                let Some(detachment) = self.consider(&unique, &node, now) else { continue };
                self.actual.withdraw(&unique, &node);
                let node = detachment.node.clone();
                if let Some(pass) = &mut self.pass {
                    pass.next = Some(detachment);
                }
                if self.tell(&node, now) {
                    return;
                }
                self.detach_next(now);
            } else {
                self.attach_wanted(now);
                let due = self.actual.due().into();
                if let Some(pass) = &mut self.pass {
                    pass.to_tell = Some(due);
                }
            }
        }
    }

    fn finish(&mut self, now: Timestamp) {
        let check = self.next_check(self.phase);
        self.pass = None;
        self.phase = now;
        if self.is_doubtful && check.is_some_and(|at| at <= now) {
            self.is_doubtful = false;
            self.check_attachments();
        }
    }

    /// Forgets the attachments that are gone.
    ///
    /// Source: csi_attacher.go (v1.34), `VolumesAreAttached`; an attachment that the cache lacks is not looked up
    /// again.
    fn check_attachments(&mut self) {
        let mut gone = Vec::new();
        for ((unique, node), own) in self.actual.all() {
            let Some(volume) = own.volume.as_ref().filter(|_| own.is_confirmed) else { continue };
            let name = attachment_name(&volume.handle, &volume.driver, node);
            let cached = self.runtime.cache(ATTACHMENT_CACHE).cache().get("", &name);
            if cached.is_none_or(|own| own.stable().at(&["status", "attached"]).as_bool() != Some(true)) {
                gone.push((unique.clone(), node.clone()));
            }
        }
        for (unique, node) in gone {
            self.actual.forget(&unique, &node);
            self.is_dirty = true;
        }
    }

    /// Decides whether a volume that no Pod wants is detached now.
    fn consider(&mut self, unique: &Text, node: &Text, now: Timestamp) -> Option<Detachment> {
        if self.desired.wants(unique, node) {
            return None;
        }
        let own = self.actual.get(unique, node)?;
        let key = OperationKey {
            volume: unique.clone(),
            node: own.volume.as_ref().is_none_or(|volume| volume.is_shared).then(|| node.clone()),
        };
        if !self.operations.may_begin(&key, OperationKind::Detach, now) {
            return None;
        }
        let is_new = own.detach_since.is_none();
        let since = own.detach_since.unwrap_or(now);
        if let Some(own) = self.actual.get_mut(unique, node) {
            own.detach_since = Some(since);
        }
        let object = self.node(node);
        let is_healthy = object.is_some_and(is_ready);
        let is_over = now.duration_since(since) > UNMOUNT_MAX && self.rules.detaches_after_time;
        let is_forced = is_over && !(is_healthy && self.rules.spares_healthy);
        let is_given_up = self.rules.detaches_out_of_service && object.is_some_and(is_out_of_service);
        let is_in_use = self.actual.is_in_use(unique, node);
        if is_in_use && !is_forced && !is_given_up {
            if is_new {
                let facts = [
                    format!("Node {node} lists it in status.volumesInUse"),
                    format!("it is waited for until {}", to_micro_time(since + UNMOUNT_MAX)),
                ];
                let because = facts.into_iter().map(Because::Fact).collect();
                self.runtime.decide(format!("node/{node}"), format!("do not detach volume {unique} yet"), because);
            }
            return None;
        }
        let mut because = Vec::from([format!("no Pod on Node {node} wants it")]);
        if is_given_up {
            because.push(format!("Node {node} has taint {OUT_OF_SERVICE}"));
        }
        if is_over {
            because.push(format!("it was waited for {}", seconds(UNMOUNT_MAX)));
        }
        if !is_in_use {
            because.push(format!("Node {node} does not list it in status.volumesInUse"));
        }
        let forced = if is_over { Some("timeout") } else { is_given_up.then_some("out-of-service") };
        Some(Detachment { unique: unique.clone(), node: node.clone(), key, forced, because })
    }

    /// Tells a Node what is attached to it; false if there is nothing to tell or no Node.
    fn tell(&mut self, name: &Text, now: Timestamp) -> bool {
        let Some(volumes) = self.actual.take_report(name) else { return false };
        let Some(node) = self.node(name) else { return false };
        let list: Vec<Json> = volumes.iter().map(|own| json!({"name": own.as_str(), "devicePath": ""})).collect();
        let mut old = Json::object();
        let known = node.stable().at(&["status", "volumesAttached"]);
        if !known.is_empty() {
            old.set(&["status", "volumesAttached"], known.clone());
        }
        let mut new = Json::object();
        if !list.is_empty() {
            new.set(&["status", "volumesAttached"], list);
        }
        for tree in [&mut old, &mut new] {
            tree.entry(&["status"]).make_object();
        }
        let call = Call::strategic_patch(NODES, "", name, two_way(&old, &new)).subresource("status");
        let id = self.runtime.send(call, None, now);
        self.under_way.insert(id, AttachPurpose::Report(name.clone()));
        true
    }

    /// Takes the answer to what a Node was told.
    pub(super) fn reported(&mut self, node: &Text, reply: &ApiResult, now: Timestamp) {
        let has_failed = failure(reply).is_some() && code(reply) != 404;
        if has_failed {
            self.actual.report_again(node);
            self.is_dirty = true;
        }
        let waiting = self.pass.as_mut().and_then(|pass| pass.next.take());
        match waiting {
            Some(detachment) if has_failed => self.actual.report(&detachment.unique, &detachment.node),
            Some(detachment) => {
                if let Some(pass) = &mut self.pass {
                    pass.next = Some(detachment);
                }
                self.detach_next(now);
            }
            None => {}
        }
        self.advance(now);
    }

    /// Starts the detachment that was decided.
    fn detach_next(&mut self, now: Timestamp) {
        let Some(detachment) = self.pass.as_mut().and_then(|pass| pass.next.take()) else { return };
        let Detachment { unique, node, key, forced, because } = detachment;
        if !self.operations.begin(key.clone(), OperationKind::Detach, now) {
            self.actual.report(&unique, &node);
            return;
        }
        if let Some(reason) = forced {
            *self.forced.entry(reason).or_default() += 1;
        }
        let how = if forced.is_some() { "by force" } else { "when the Node has let it go" };
        let because = because.into_iter().map(Because::Fact).collect();
        let because = self.runtime.decide(format!("node/{node}"), format!("detach volume {unique} {how}"), because);
        self.start_detachment(unique, node, key, forced.is_none(), because, now);
    }

    /// Attaches what is wanted and not attached.
    fn attach_wanted(&mut self, now: Timestamp) {
        let wanted: Vec<(Text, Wanted)> =
            self.desired.all().map(|(node, wanted)| (node.clone(), wanted.clone())).collect();
        for (node, wanted) in wanted {
            let volume = &wanted.volume;
            let key = OperationKey { volume: volume.unique.clone(), node: volume.is_shared.then(|| node.clone()) };
            if self.operations.is_pending(&key) {
                continue;
            }
            if self.actual.state(&volume.unique, &node) == AttachState::Attached {
                if let Some(own) = self.actual.get_mut(&volume.unique, &node) {
                    own.detach_since = None;
                }
                continue;
            }
            let others = if volume.is_shared { Vec::new() } else { self.actual.nodes_of(&volume.unique) };
            if !others.is_empty() {
                if !wanted.is_error_reported {
                    self.say_taken(&node, &wanted, &others, now);
                    self.desired.note_error(&volume.unique, &node);
                }
                continue;
            }
            if self.operations.begin(key.clone(), OperationKind::Attach, now) {
                self.start_attachment(wanted, node, key, now);
            }
        }
    }

    /// Says that another node has a volume that Pods want.
    ///
    /// Source: reconciler.go (v1.34), `reportMultiAttachError`.
    fn say_taken(&mut self, node: &Text, wanted: &Wanted, others: &[Text], now: Timestamp) {
        let others: Vec<Text> = others.iter().filter(|other| *other != node).cloned().collect();
        let name = wanted.volume.name.clone();
        let users: Vec<(Text, Text)> = {
            let pods = self.desired.pods_on(&others, &wanted.volume.unique);
            let mut users: Vec<(Text, Text)> = pods.iter().map(|pod| (pod.key().namespace, pod.key().name)).collect();
            users.sort();
            users
        };
        for pod in wanted.pods.values() {
            let (waiting, who) = (self.rules.waiting, who_has_it(pod, &users, self.rules.unused));
            let message = format!("{waiting} for volume \"{name}\" {who}");
            let fact = format!("it is attached to Node {}", others.first().map_or("", Text::as_str));
            let about = format!("pod/{}", pod.key());
            let because = self.runtime.decide(about, format!("wait for volume {name}"), [Because::Fact(fact)].into());
            let about = InvolvedObject::pod(pod);
            self.runtime.emit(&about, EventType::Warning, "FailedAttachVolume", &message, Some(because), now);
        }
    }
}

/// Tells a Pod's users who has their volume: by name in their own namespace, by number in others.
fn who_has_it(pod: &Object, users: &[(Text, Text)], unused: &str) -> String {
    if users.is_empty() {
        return format!("Volume is already exclusively attached to one node{unused}");
    }
    let namespace = pod.key().namespace;
    let own: Vec<&str> = users.iter().filter(|(other, _)| *other == namespace).map(|(_, name)| name.as_str()).collect();
    let count = users.len() - own.len();
    match (own.is_empty(), count) {
        (true, _) => format!("Volume is already used by {count} pod(s) in different namespaces"),
        (false, 0) => format!("Volume is already used by pod(s) {}", own.join(", ")),
        (false, _) => {
            format!("Volume is already used by pod(s) {} and {count} pod(s) in different namespaces", own.join(", "))
        }
    }
}
