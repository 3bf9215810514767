//! What is there from the start, and system namespaces that were deleted and come back.
//!
//! Mirrors pkg/controlplane/controller/systemnamespaces/system_namespaces_controller.go (v1.34), `Run`: once a minute
//! the server makes those that are missing. Inputs: removals, time. Outputs: commits.

use jiff::{SignedDuration, Timestamp};

use super::custom::server_identity;
use super::{ApiServer, Origin, strategy};
use crate::network::kinds::{self, KindIndex};
use crate::network::{NAMESPACES, Verb};
use crate::objects::{Json, Object, ObjectKey, time};

/// How often it is looked whether the system namespaces are there. Source: system_namespaces_controller.go (v1.34),
/// `NewController`.
const LOOK_PERIOD: SignedDuration = SignedDuration::from_mins(1);

/// Returns the system namespaces.
fn namespaces() -> impl Iterator<Item = (ObjectKey, Json)> {
    let objects = strategy::initial_objects().into_iter().filter(|(resource, _)| *resource == NAMESPACES);
    objects.map(|(_, tree)| {
        let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        (ObjectKey::cluster(name), tree)
    })
}

impl ApiServer {
    pub(super) fn put_initial(&mut self, kind_index: KindIndex, mut tree: Json, now: Timestamp) {
        self.begin_initial(kind_index, &mut tree, now);
        self.revision += 1;
        let object = Object::new(tree, self.revision);
        let key = object.key();
        self.tables[kind_index].store.insert(key.namespace, key.name, object);
    }

    fn begin_initial(&mut self, kind_index: KindIndex, tree: &mut Json, now: Timestamp) {
        tree.set(&["metadata", "uid"], self.new_uid());
        tree.set(&["metadata", "creationTimestamp"], time::to_time(now));
        self.own_initial(kind_index, tree);
    }

    /// Notes when the server makes a namespace again, if it is one of the system's.
    pub(super) fn note_removal(&mut self, kind_index: KindIndex, key: &ObjectKey, now: Timestamp) {
        if self.namespaces_due.is_none()
            && self.kinds.at(kind_index).resource == NAMESPACES
            && namespaces().any(|(own, _)| own == *key)
        {
            let looks = now.duration_since(self.started).as_secs() / LOOK_PERIOD.as_secs() + 1;
            self.namespaces_due = Some(self.started + SignedDuration::from_secs(looks * LOOK_PERIOD.as_secs()));
        }
    }

    /// Makes the system namespaces that are missing.
    pub(super) fn restore_namespaces(&mut self, now: Timestamp) {
        if self.namespaces_due.take_if(|due| *due <= now).is_none() {
            return;
        }
        let origin = Origin::unasked(server_identity(), Verb::Create, now);
        let Some(index) = kinds::find(&NAMESPACES) else { return };
        for (key, mut tree) in namespaces() {
            if self.tables[index].store.get(&key.namespace, &key.name).is_none() {
                self.begin_initial(index, &mut tree, now);
                self.commit(index, &origin, tree);
            }
        }
        self.outputs.append(&mut self.events);
        self.answer_ready(now);
    }
}
