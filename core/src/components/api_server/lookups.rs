//! What can be looked up in a server beside the network, and the objects that hold nothing.
//!
//! Inputs: resources and keys. Outputs: objects. Nothing is changed but the bookmarks that are kept for the next time.

use alloc::vec::Vec;

use super::ApiServer;
use super::workloads::TEMPLATE_GENERATION;
use crate::network::Resource;
use crate::network::kinds::{Kind, KindIndex};
use crate::objects::{Json, Object, ObjectKey};

impl ApiServer {
    /// Looks an object up, beside the network.
    #[must_use]
    pub fn object(&self, resource: &Resource, key: &ObjectKey) -> Option<Object> {
        let own = self.kinds.find(resource)?;
        let found = |index: KindIndex| self.tables[index].store.get(&key.namespace, &key.name);
        match self.stand_in(own) {
            Some(other) => found(other).map(|object| self.counterpart_of(object, own)),
            None => found(own).cloned(),
        }
    }

    /// Returns all objects of a kind in order of their keys, beside the network.
    #[must_use]
    pub fn objects(&self, resource: &Resource) -> Vec<Object> {
        let Some(own) = self.kinds.find(resource) else { return Vec::new() };
        match self.stand_in(own) {
            Some(other) => self.tables[other].store.iter("").map(|object| self.counterpart_of(object, own)).collect(),
            None => self.tables[own].store.iter("").cloned().collect(),
        }
    }

    /// Returns the objects of a kind of one namespace in order of their names, beside the network.
    pub(super) fn objects_in<'a>(
        &'a self,
        resource: &Resource,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Object> + use<'a> {
        let index = self.kinds.find(resource);
        index.into_iter().flat_map(move |index| self.tables[index].store.iter(namespace))
    }

    /// Returns the number of all objects.
    #[must_use]
    pub(crate) fn size(&self) -> usize {
        self.tables.iter().map(|table| table.store.len()).sum()
    }

    /// Returns the revision of the last write.
    #[must_use]
    pub fn resource_version(&self) -> u64 {
        self.revision
    }

    /// Makes the object of a bookmark: nothing but the revision.
    pub(super) fn bookmark(&mut self, kind_index: KindIndex) -> Object {
        if let Some(tree) = &self.tables[kind_index].bookmark {
            return Object::bookmark(tree.clone(), self.revision);
        }
        let kind = self.kinds.at(kind_index);
        let mut tree = self.empty(kind);
        tree.set(&["kind"], kind.name);
        tree.set(&["apiVersion"], kind.resource.api_version());
        // What the conversion from the internal type adds, whose numbers are no pointers.
        match kind.name {
            "Deployment" | "ReplicaSet" | "StatefulSet" => {
                tree.set(&["spec", "replicas"], 0);
                tree.set(&["spec", "selector"], Json::Null);
            }
            "DaemonSet" => {
                tree.set(&["spec", "selector"], Json::Null);
                tree.set(&["metadata", "annotations", TEMPLATE_GENERATION], "0");
            }
            "ControllerRevision" => tree.set(&["data"], Json::Null),
            _ => {}
        }
        self.tables[kind_index].bookmark = Some(tree.clone());
        Object::bookmark(tree, self.revision)
    }

    /// Returns an object of a kind without any value, as Go prints it.
    pub(super) fn empty(&self, kind: &Kind) -> Json {
        self.schema.decode(kind.type_name(), &Json::object()).map_or_else(|_| Json::object(), |decoded| decoded.object)
    }
}
