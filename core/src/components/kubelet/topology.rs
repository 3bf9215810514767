//! The topology manager: where on a machine the resources of a container come from, and whether they fit together.
//!
//! Mirrors pkg/kubelet/cm/topologymanager, with the providers of hints cpumanager (policy static), memorymanager
//! (policy Static) and devicemanager (v1.34). Providers are asked in the order devices, CPUs, memory. What was given to
//! a container stays its own until its pod has ended, also over a restart of the kubelet.
//! Inputs: the pod, the machine, the settings. Outputs: assignments on the machine, or reason and message of a refusal.
//! Invariant: what an init container got may be given to those after it, unless it is a sidecar.
//! Left out on purpose: huge pages of single NUMA nodes.

mod merge;
mod providers;
mod settings;
mod take;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use self::merge::{Hint, Hints, Mask, Merger, Policy};
use self::providers::Demand;
pub(super) use self::settings::{TopologySettings, parse_reserved_memory, reserved_memory_errors};
use super::setters::GONE_DEVICES_STAY;
use super::{Kubelet, KubeletContext};
use crate::components::Because;
use crate::components::host::{Assignment, GonePlugin, Host, NumaNode};
use crate::objects::{Json, Object, Text};

/// Reason and message of a refusal.
type Refusal = (Text, String);

/// What the managers know while they admit a pod.
struct Place<'a> {
    settings: &'a TopologySettings,
    host: &'a Host,
    nodes: Vec<NumaNode>,
    /// The resources of device plugins that are gone, but not forgotten yet.
    lost: Vec<Text>,
}

impl Kubelet {
    /// Gives a pod the resources that are for it alone.
    ///
    /// # Errors
    /// Reason and message of its refusal.
    pub(super) fn allocate(&mut self, pod: &Object, context: &mut KubeletContext<'_>) -> Result<(), Refusal> {
        let settings = &self.config.topology;
        let host = &*context.host;
        let has_devices = !host.spec.hardware.device_plugins.is_empty() || !host.gone_plugins.is_empty();
        let is_asked = settings.policy != Policy::None || !context.host.told_hints.is_empty();
        let is_exclusive = settings.reserved_cpus.is_some() || settings.reserved_memory.is_some();
        if !is_asked && !is_exclusive && !has_devices {
            return Ok(());
        }
        let own = Text::from(pod.uid());
        context.host.assignments.retain(|given| given.uid == own || self.keeps_resources(&given.uid));
        let requests = self.place(context.host, context.now).requests_of(pod);
        let affinities = self.affinities(&requests, context)?;
        for (request, affinity) in requests.iter().zip(affinities) {
            let place = self.place(context.host, context.now);
            let unexpected = |why: String| {
                (Text::of("UnexpectedAdmissionError"), format!("Allocate failed due to {why}, which is unexpected"))
            };
            let is_own = |given: &&Assignment| given.uid == own && given.container == request.container;
            if let Some(given) = context.host.assignments.iter().find(is_own) {
                // What runs has what it needs: the kubelet alone has started anew.
                if !context.host.runtime.container(&own, &request.container).is_some_and(|own| own.is_running()) {
                    place.check_devices(request, given).map_err(unexpected)?;
                }
                continue;
            }
            let mut given = Assignment {
                uid: own.clone(),
                pod: (pod.key().namespace, pod.key().name),
                container: request.container.clone(),
                is_left: request.is_left,
                affinity: affinity.map(|hint| {
                    let ids = place.nodes.iter().map(|node| node.id).collect();
                    (hint.affinity.map_or(ids, Mask::ids), hint.is_preferred)
                }),
                ..Assignment::default()
            };
            let hint = affinity.unwrap_or(Hint { affinity: None, is_preferred: false });
            place.assign(request, hint, &mut given).map_err(unexpected)?;
            context.host.assignments.push(given);
        }
        Ok(())
    }

    fn place<'a>(&'a self, host: &'a Host, now: Timestamp) -> Place<'a> {
        let stays = |own: &&GonePlugin| now < own.since.max(self.started) + GONE_DEVICES_STAY;
        let lost = host.gone_plugins.iter().filter(stays).map(|own| own.resource.clone()).collect();
        Place { settings: &self.config.topology, host, nodes: self.config.hardware.numa_nodes(), lost }
    }

    /// Returns the merged hint of each container; none without a policy.
    fn affinities(&self, requests: &[Demand], context: &mut KubeletContext<'_>) -> Result<Vec<Option<Hint>>, Refusal> {
        let settings = &self.config.topology;
        if settings.policy == Policy::None {
            return Ok(requests.iter().map(|_| None).collect());
        }
        let mut found = Vec::new();
        let mut assigned = Vec::new();
        let whole = [Demand::whole(requests)];
        let asked: &[Demand] = if settings.is_by_pod { &whole } else { requests };
        for request in asked {
            // Containers are placed one after the other, each with what those before it have left.
            let mut host = context.host.clone();
            host.assignments.extend(assigned.iter().cloned());
            let place = self.place(&host, context.now);
            let (hint, may_run) = place.merged(request);
            if !may_run {
                let facts = place.facts(request);
                context.outbox.decide(
                    Text::from(format!("pod/{}/{}", request.pod.0, request.pod.1)),
                    "resources do not fit together",
                    facts,
                );
                return Err((
                    Text::of("TopologyAffinityError"),
                    "Resources cannot be allocated with Topology locality".into(),
                ));
            }
            found.push(Some(hint));
            if host.assignments.iter().any(|own| own.uid == request.uid && own.container == request.container) {
                continue;
            }
            let mut given = Assignment {
                uid: request.uid.clone(),
                container: request.container.clone(),
                is_left: request.is_left,
                ..Assignment::default()
            };
            // Whether it can be given is told by the assignment proper, in the same order.
            if place.assign(request, hint, &mut given).is_err() {
                break;
            }
            assigned.push(given);
        }
        while found.len() < requests.len() {
            let last = found.last().copied().flatten();
            found.push(last);
        }
        Ok(found)
    }
}

impl Place<'_> {
    /// Returns what the providers say of each resource, by name.
    fn hints(&self, request: &Demand) -> Vec<(Text, Hints)> {
        let mut all = self.device_hints(request);
        all.extend(self.cpu_hints(request).map(|hints| (Text::of("cpu"), hints)));
        all.extend(self.memory_hints(request).map(|hints| (Text::of("memory"), hints)));
        let is_meant = |container: &Text| request.container.is_empty() || *container == request.container;
        for told in self.host.told_hints.iter().filter(|told| told.pod == request.pod && is_meant(&told.container)) {
            let hint = |(ids, is_preferred): &(Vec<u32>, bool)| Hint {
                affinity: Some(Mask::of(ids.iter().copied())),
                is_preferred: *is_preferred,
            };
            let hints = told.hints.as_ref().map_or(Hints::Any, |list| Hints::From(list.iter().map(hint).collect()));
            all.retain(|(resource, _)| *resource != told.resource);
            all.push((told.resource.clone(), hints));
        }
        all
    }

    fn merged(&self, request: &Demand) -> (Hint, bool) {
        let hints: Vec<Hints> = self.hints(request).into_iter().map(|(_, hints)| hints).collect();
        let settings = self.settings;
        let merger = Merger { nodes: &self.nodes, policy: settings.policy, prefers_closest: settings.prefers_closest };
        merger.merge(&hints)
    }

    /// Says where each resource could come from.
    fn facts(&self, request: &Demand) -> Vec<Because> {
        let say = |(resource, hints): &(Text, Hints)| {
            let text = match hints {
                Hints::Any => String::from("anywhere"),
                Hints::From(list) if list.is_empty() => String::from("nowhere"),
                Hints::From(list) => {
                    let one = |hint: &Hint| {
                        let ids = hint.affinity.map(Mask::ids).unwrap_or_default();
                        format!("{ids:?}{}", if hint.is_preferred { " preferred" } else { "" })
                    };
                    list.iter().map(one).collect::<Vec<_>>().join(", ")
                }
            };
            Because::Fact(format!("{resource} from NUMA nodes {text}"))
        };
        self.hints(request).iter().map(say).collect()
    }
}

/// Tells whether a pod is one of those that get resources for themselves: each container has limits for CPU and memory
/// that equal its requests, and the pod has none of its own.
fn is_guaranteed(pod: &Object) -> bool {
    pod.stable().at(&["status", "qosClass"]).as_str() == Some("Guaranteed")
}

/// Tells whether a pod has resources of its own. They are not supported by the managers here.
fn has_pod_level_resources(pod: &Json) -> bool {
    !pod.at(&["spec", "resources"]).is_empty()
}
