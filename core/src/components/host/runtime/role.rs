//! What a container is to its pod: one that prepares it, one that accompanies it, or one of those it is there for.
//!
//! Pure. Inputs: a pod. Outputs: the role of a container, and its part of the specification.

use crate::objects::lifecycle::is_sidecar;
use crate::objects::{Json, Object};

/// The lists of a pod that hold containers with a life of their own, in the order in which they start.
const LISTS: [&str; 2] = ["initContainers", "containers"];

/// What a container is to its pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContainerRole {
    /// It runs to its end before the next one starts.
    Init,
    /// It starts in its turn among the init containers, and runs on beside the others: `restartPolicy: Always`.
    Sidecar,
    /// One of `spec.containers`.
    Regular,
}

impl ContainerRole {
    /// Returns the containers of a pod in the order of their start, each with its role.
    pub fn containers(pod: &Object) -> impl Iterator<Item = (Self, &Json)> {
        let spec = pod.stable().get("spec");
        LISTS.into_iter().flat_map(move |list| {
            spec.get(list).items().iter().map(move |container| (Self::in_list(list, container), container))
        })
    }

    /// Returns a container of a pod with its role.
    #[must_use]
    pub fn find<'a>(pod: &'a Object, name: &str) -> Option<(Self, &'a Json)> {
        Self::containers(pod).find(|(_, container)| container.get("name").as_str() == Some(name))
    }

    /// Tells whether it is in the list `initContainers`.
    #[must_use]
    pub fn is_initial(self) -> bool {
        self != Self::Regular
    }

    /// Returns the field of a specification that lists it.
    #[must_use]
    pub fn list(self) -> &'static str {
        LISTS[usize::from(!self.is_initial())]
    }

    /// Returns the field of a status that lists it.
    #[must_use]
    pub fn status_list(self) -> &'static str {
        if self.is_initial() { "initContainerStatuses" } else { "containerStatuses" }
    }

    fn in_list(list: &str, container: &Json) -> Self {
        match () {
            () if list == LISTS[1] => Self::Regular,
            () if is_sidecar(container) => Self::Sidecar,
            () => Self::Init,
        }
    }
}
