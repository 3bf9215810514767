//! The folder of static Pods of a machine: its files, and the hash by which a kubelet knows the content of each.
//!
//! Inputs: files that are written and removed. Outputs: the files. Invariant: the same content has the same hash; a
//! file that is put back without a content has the one that it had before.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;

use super::uuid;
use crate::objects::{Json, ObjectKey, Text};

/// A file in the folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The Pod, as it was written.
    pub object: Json,
    /// The hash of the content, which is the UID of the static Pod: 32 hexadecimal digits.
    pub hash: Text,
}

/// The folder.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    files: BTreeMap<Text, Manifest>,
    removed: BTreeMap<Text, Manifest>,
    /// The hashes that a recording shows, by namespace and name of the Pod, in the order of the contents.
    pub recorded: BTreeMap<ObjectKey, VecDeque<Text>>,
}

impl Manifests {
    /// Returns the files by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Manifest)> {
        self.files.iter()
    }

    /// Returns a file.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Manifest> {
        self.files.get(name)
    }

    /// Writes a file; without an object the one that was removed is put back. False if there is nothing to put back.
    pub fn write(&mut self, name: &Text, object: Option<Json>) -> bool {
        let known = self.files.get(name).or_else(|| self.removed.get(name)).cloned();
        let manifest = match (object, known) {
            (None, None) => return false,
            (None, Some(known)) => known,
            (Some(object), Some(known)) if known.object == object => known,
            (Some(object), _) => {
                let text = |field: &str| object.at(&["metadata", field]).as_text().cloned();
                let namespace = text("namespace").unwrap_or_else(|| Text::of("default"));
                let pod = ObjectKey::namespaced(namespace, text("name").unwrap_or_default());
                let recorded = self.recorded.get_mut(&pod).and_then(VecDeque::pop_front);
                let made = || Text::from(uuid(&format!("manifest/{name}/{object}")).replace('-', ""));
                Manifest { hash: recorded.unwrap_or_else(made), object }
            }
        };
        self.files.insert(name.clone(), manifest);
        true
    }

    /// Puts a file of a recording in place.
    pub fn restore(&mut self, name: Text, manifest: Manifest) {
        self.files.insert(name, manifest);
    }

    /// Removes a file; false if there is none.
    pub fn remove(&mut self, name: &Text) -> bool {
        let removed = self.files.remove(name);
        let was_there = removed.is_some();
        if let Some(manifest) = removed {
            self.removed.insert(name.clone(), manifest);
        }
        was_there
    }
}
