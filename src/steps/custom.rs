//! Custom kinds of a scenario: those whose definitions are among the objects that it says before.
//!
//! Inputs: objects as a step says them. Outputs: the same objects with the resource and the scope that a definition
//! gives to their kind, and kinds by name for expectations.

use nodeproof_core::network::{Resource, defined_kind, find_kind, is_known, kind_names};
use nodeproof_core::objects::Text;

use super::draft::Draft;
use super::manifest::Manifest;

/// The custom kinds, each with its resource and whether its objects live in namespaces.
pub(super) type CustomKinds = Vec<(Text, Resource, bool)>;

impl Draft {
    /// Notes the definitions among objects, and gives the objects of custom kinds their places.
    pub(super) fn place_custom(&mut self, objects: &mut [Manifest]) {
        self.custom.extend(objects.iter().filter_map(|object| defined_kind(&object.body)));
        for object in objects {
            let (kind, group) = (&object.kind, &object.resource.group);
            let Some((_, resource, is_namespaced)) = self
                .custom
                .iter()
                .find(|(name, resource, _)| *name == **kind && resource.group == *group && !is_known(&object.resource))
            else {
                continue;
            };
            object.resource.plural = resource.plural.clone();
            if *is_namespaced {
                object.body.set(&["metadata", "namespace"], object.namespace.clone());
            } else {
                object.namespace = Text::default();
            }
        }
    }

    /// Tells whether the scenario defines a kind.
    pub(super) fn defines(&self, kind: &str) -> bool {
        self.custom.iter().any(|(name, ..)| *name == *kind)
    }

    /// Finds a kind by its name: one of the table, or one that the scenario defines.
    pub(super) fn kind_named(&self, kind: &str) -> Option<(Resource, bool)> {
        let custom = self.custom.iter().find(|(name, ..)| *name == *kind);
        let known = kind_names().find(|own| *own == kind).and_then(find_kind);
        known.or_else(|| custom.map(|(_, resource, is_namespaced)| (resource.clone(), *is_namespaced)))
    }
}
