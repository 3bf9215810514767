//! A cloud as data: instances with what a provider says of them, the routes that were made, and how calls fail.
//!
//! Stands for a provider behind k8s.io/cloud-provider cloud.go (v0.37), with `InstancesV2` or with the older
//! `Instances`, and `Routes`. Inputs: changes of instances, calls. Outputs: answers, each with how long it takes.
//! Invariant: nothing happens in a cloud but what it is told and what it is asked for. Read at v0.37.0-alpha.1, and not
//! compared with the files of older releases. Left out on purpose: load balancers, zones without
//! instances, the several calls of the older interface, which count as one each.

mod instance;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;

use jiff::SignedDuration;

pub use self::instance::{CloudAction, CloudError, Instance, Interface};
use crate::json;
use crate::network::{Answer, CloudCall, CloudNode};
use crate::objects::{Json, Text};

/// The errors that controllers tell apart. Source: k8s.io/cloud-provider cloud.go (v0.37).
pub(super) const INSTANCE_NOT_FOUND: u16 = 404;
/// Source: as [`INSTANCE_NOT_FOUND`], `NotImplemented`.
pub(super) const NOT_IMPLEMENTED: u16 = 501;

/// A cloud.
#[derive(Clone, Debug, Default)]
pub struct Cloud {
    is_there: bool,
    instances: BTreeMap<Text, Instance>,
    interface: Interface,
    /// The routes, by the Nodes that they lead to and their networks.
    routes: BTreeSet<(Text, Text)>,
}

impl Cloud {
    /// Tells whether the cluster runs in a cloud.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.is_there
    }

    /// Returns an instance.
    #[must_use]
    pub fn instance(&self, name: &str) -> Option<&Instance> {
        self.instances.get(name)
    }

    /// Returns the names of the instances.
    pub fn names(&self) -> impl Iterator<Item = &Text> {
        self.instances.keys()
    }

    /// Changes the cloud; from the first change on it is there.
    pub fn handle_action(&mut self, action: CloudAction) {
        self.is_there = true;
        match action {
            CloudAction::Appear => {}
            CloudAction::Put(name, instance) => {
                self.interface = instance.interface.unwrap_or(self.interface);
                self.instances.insert(name, *instance);
            }
            CloudAction::Remove(name) => {
                self.instances.remove(&name);
            }
        }
    }

    /// Answers a call, and says how long that takes.
    pub fn answer(&mut self, call: &CloudCall) -> (Answer, SignedDuration) {
        let about = match call {
            CloudCall::Metadata(node) | CloudCall::Exists(node) | CloudCall::Shutdown(node) => self.find(node),
            CloudCall::CreateRoute { node, .. } | CloudCall::DeleteRoute { node, .. } => self.instances.get(node),
            CloudCall::ListRoutes => None,
        };
        let takes = about.map_or(SignedDuration::ZERO, |instance| instance.delay);
        let told = |name| about.and_then(|instance| instance.error(name));
        let answer = match call {
            CloudCall::Metadata(_) => told("instanceMetadata").map_or_else(|| self.metadata(about), refusal),
            CloudCall::Exists(node) => match self.lookup(node, about) {
                Err(CloudError::NotFound) => is(false),
                Err(error) => refusal(&error),
                Ok(()) => told("instanceExists").map_or_else(|| is(about.is_some_and(|it| it.exists)), refusal),
            },
            CloudCall::Shutdown(node) => match self.lookup(node, about) {
                Err(CloudError::NotFound) => is(false),
                Err(error) => refusal(&error),
                Ok(()) => match told("instanceShutdown") {
                    Some(CloudError::NotImplemented) if self.interface == Interface::Instances => is(false),
                    told => told.map_or_else(|| is(about.is_some_and(|it| it.exists && it.shutdown)), refusal),
                },
            },
            CloudCall::CreateRoute { node, cidr } => match told("createRoute") {
                Some(error) => refusal(error),
                None => {
                    self.routes.insert((node.clone(), cidr.clone()));
                    Answer::json(200, Json::object())
                }
            },
            CloudCall::DeleteRoute { node, cidr } => match told("deleteRoute") {
                Some(error) => refusal(error),
                None => {
                    self.routes.remove(&(node.clone(), cidr.clone()));
                    Answer::json(200, Json::object())
                }
            },
            CloudCall::ListRoutes => {
                let route = |(node, cidr): &(Text, Text)| json!({"node": node.as_str(), "cidr": cidr.as_str()});
                let routes: Json = self.routes.iter().map(route).collect();
                let mut list = Json::object();
                list.set(&["routes"], routes);
                Answer::json(200, list)
            }
        };
        (answer, takes)
    }

    /// Finds the instance of a Node: the one of its providerID, or else the one of its name that has none.
    fn find(&self, node: &CloudNode) -> Option<&Instance> {
        let named = self.instances.get(&node.name);
        if node.provider_id.is_empty() {
            return named;
        }
        let same = |instance: &&Instance| instance.provider_id.as_ref() == Some(&node.provider_id);
        self.instances.values().find(same).or_else(|| named.filter(|instance| instance.provider_id.is_none()))
    }

    /// Does what the older interface needs first: it asks for the id of the Node's instance, if the Node has none.
    ///
    /// Source: k8s.io/cloud-provider controllers/nodelifecycle/node_lifecycle_controller.go (v0.37), `getProviderID`.
    fn lookup(&self, node: &CloudNode, about: Option<&Instance>) -> Result<(), CloudError> {
        if self.interface == Interface::V2 || !node.provider_id.is_empty() {
            return Ok(());
        }
        match about {
            None => Err(CloudError::NotFound),
            Some(instance) => instance.error("instanceMetadata").map_or(Ok(()), |error| Err(error.clone())),
        }
    }

    /// Returns what is known of an instance. A Node gets no providerID of a cloud with the older interface that has
    /// none; with the newer one that is an error of the caller.
    fn metadata(&self, about: Option<&Instance>) -> Answer {
        let Some(instance) = about.filter(|instance| instance.exists) else {
            return refusal(&CloudError::NotFound);
        };
        let mut body = instance.metadata();
        body.set(&["needsProviderID"], self.interface == Interface::V2);
        Answer::json(200, body)
    }
}

fn is(what: bool) -> Answer {
    Answer::json(200, json!({"is": what}))
}

fn refusal(error: &CloudError) -> Answer {
    let (code, message) = match error {
        CloudError::NotFound => (INSTANCE_NOT_FOUND, String::from("instance not found")),
        CloudError::NotImplemented => (NOT_IMPLEMENTED, String::from("unimplemented")),
        CloudError::Other(text) => (500, String::from(text.as_str())),
    };
    Answer::json(code, json!({"message": message}))
}

#[cfg(test)]
mod tests {
    use super::{Cloud, CloudAction, Instance};
    use crate::json;
    use crate::network::{CloudCall, CloudNode};
    use crate::objects::{Json, Text};

    fn cloud(instance: &Json) -> Cloud {
        let mut cloud = Cloud::default();
        let instance = Instance::from_json(instance).unwrap();
        cloud.handle_action(CloudAction::Put(Text::of("w1"), instance.into()));
        cloud
    }

    fn node(provider_id: &'static str) -> CloudNode {
        CloudNode { name: Text::of("w1"), provider_id: Text::of(provider_id) }
    }

    #[test]
    fn an_instance_is_found_by_the_id_of_its_node_or_else_by_its_name() {
        let mut with_id = cloud(&json!({"providerID": "test://1"}));
        for (id, exists) in [("", true), ("test://1", true), ("test://2", false)] {
            let (answer, _) = with_id.answer(&CloudCall::Exists(node(id)));
            assert_eq!(answer.body().get("is").as_bool(), Some(exists), "{id}");
        }
        let (answer, _) = cloud(&json!({})).answer(&CloudCall::Exists(node("test://1")));
        assert_eq!(answer.body().get("is").as_bool(), Some(true));
    }

    #[test]
    fn the_older_interface_takes_a_missing_id_for_a_missing_instance_and_can_lack_the_look_for_shutdowns() {
        let told = json!({"interface": "instances", "errors": {"instanceMetadata": "not-found"}});
        let (answer, _) = cloud(&told).answer(&CloudCall::Exists(node("")));
        assert_eq!(answer.body().get("is").as_bool(), Some(false));
        let told =
            json!({"interface": "instances", "shutdown": true, "errors": {"instanceShutdown": "not-implemented"}});
        let (answer, _) = cloud(&told).answer(&CloudCall::Shutdown(node("")));
        assert_eq!(answer.body().get("is").as_bool(), Some(false));
        let told = json!({"shutdown": true, "errors": {"instanceShutdown": "not-implemented"}});
        let (answer, _) = cloud(&told).answer(&CloudCall::Shutdown(node("")));
        assert_eq!((answer.code, answer.message().as_str()), (501, "unimplemented"));
    }
}
