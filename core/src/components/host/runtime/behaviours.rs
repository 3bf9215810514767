//! How containers behave: by what was said of their pod, by its annotations, and by their commands.
//!
//! Inputs: behaviours by the name of a pod. Outputs: the behaviour of a container, and a new end of one that runs.

use jiff::Timestamp;

use super::commands::CommandEnd;
use super::{ContainerRole, Runtime, Sandbox};
use crate::components::host::behaviour::{ContainerBehaviour, PodBehaviour};
use crate::objects::{Json, Object, ObjectKey, Text};

impl Runtime {
    /// Sets how the containers of a pod behave from now on.
    pub fn behave(&mut self, key: ObjectKey, behaviour: PodBehaviour, now: Timestamp) {
        // A running process gets the new instant of its crash at once.
        if let Some(after) = behaviour.process.crashes_after {
            for sandbox in self.sandboxes.values_mut().filter(|sandbox| sandbox.key == key) {
                for container in &mut sandbox.containers {
                    let is_meant = behaviour.container.as_ref().is_none_or(|name| *name == container.name);
                    if is_meant && container.is_running() && container.signals.is_empty() {
                        let code = behaviour.process.exit_code.unwrap_or(1);
                        let end = |after| container.started_at.checked_add(after).unwrap_or(Timestamp::MAX);
                        container.ends = after.delay().map(|after| (end(after).max(now), code));
                    }
                }
            }
        }
        self.is_told_uses |= !behaviour.process.uses.is_null();
        let of_pod = |(_, sandbox): &(&Text, &Sandbox)| sandbox.key == key;
        let uid = self.sandboxes.iter().find(of_pod).map(|(uid, _)| uid.clone());
        self.behaviours.push((key, behaviour));
        if let Some(uid) = uid {
            self.end_over_limit(&uid, now);
        }
    }

    /// Returns how a container of a pod behaves: what was set last wins, then the pod's annotations, then what its
    /// command says, unless the ends of its containers were recorded.
    #[must_use]
    pub fn behaviour(&self, pod: &Object, container: &str) -> ContainerBehaviour {
        let mut told = self.behaviour_of(&pod.key(), pod.stable().at(&["metadata", "annotations"]), container);
        if self.script.is_none()
            && told.crashes_after.is_none()
            && told.exit_code.is_none()
            && let Some((_, own)) = ContainerRole::find(pod, container)
        {
            let shares = |field: &str| pod.stable().at(&["spec", field]).as_bool() == Some(true);
            let of_command = CommandEnd::behaviour(own, shares("shareProcessNamespace") || shares("hostPID"));
            told.fill(&of_command.unwrap_or_default());
        }
        told
    }

    pub(super) fn behaviour_of(&self, key: &ObjectKey, annotations: &Json, container: &str) -> ContainerBehaviour {
        let mut behaviour = ContainerBehaviour::default();
        let meant = |said: &PodBehaviour| said.container.as_ref().is_none_or(|name| *name == *container);
        for (_, said) in self.behaviours.iter().rev().filter(|(own, said)| own == key && meant(said)) {
            behaviour.fill(&said.process);
        }
        behaviour.fill(&ContainerBehaviour::from_annotations(annotations, container));
        behaviour
    }
}
