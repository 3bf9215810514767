//! A custom kind as its definition names it. Inputs: names. Outputs: a kind like those of the table.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{GET_PATCH_UPDATE, Kind, Scope, Subresource, Trait, foreign, sub};
use crate::network::Resource;
use crate::objects::Text;

/// What a CustomResourceDefinition says of the kind that it defines, in one version.
#[derive(Clone, Debug, Default)]
pub(crate) struct CustomNames {
    pub(crate) group: Text,
    pub(crate) version: Text,
    pub(crate) plural: Text,
    pub(crate) name: Text,
    pub(crate) singular: Text,
    pub(crate) short_names: Vec<Text>,
    pub(crate) categories: Vec<Text>,
    pub(crate) is_namespaced: bool,
    pub(crate) has_status: bool,
    pub(crate) has_scale: bool,
}

impl CustomNames {
    /// Makes the kind. Its names live as long as the program: a cluster defines few kinds, and whoever handles a
    /// request refers to one without a hold on the server.
    pub(super) fn kind(&self) -> &'static Kind {
        let subresources: &'static [Subresource] = match (self.has_scale, self.has_status) {
            (true, true) => const { &[SCALE, CUSTOM_STATUS] },
            (true, false) => const { &[SCALE] },
            (false, true) => const { &[CUSTOM_STATUS] },
            (false, false) => &[],
        };
        // The status has the kind of the object itself.
        let of_kind = |sub: &Subresource| Subresource {
            kind: if sub.name == "status" { kept(&self.name) } else { sub.kind },
            ..sub.clone()
        };
        let subresources: Vec<Subresource> = subresources.iter().map(of_kind).collect();
        let list = |names: &[Text]| -> &'static [&'static str] {
            Box::leak(names.iter().map(kept).collect::<Vec<_>>().into_boxed_slice())
        };
        Box::leak(Box::new(Kind {
            resource: Resource {
                group: self.group.clone(),
                version: self.version.clone(),
                plural: self.plural.clone(),
            },
            name: kept(&self.name),
            singular: kept(&self.singular),
            short_names: list(&self.short_names),
            categories: list(&self.categories),
            scope: if self.is_namespaced { Scope::Namespaced } else { Scope::Cluster },
            traits: &[Trait::Conditional, Trait::Generation, Trait::Custom],
            subresources: Box::leak(subresources.into_boxed_slice()),
        }))
    }

    /// Tells whether a kind is the one that these names are of.
    pub(super) fn is(&self, kind: &Kind) -> bool {
        let same = |texts: &[Text], names: &[&str]| texts.iter().map(Text::as_str).eq(names.iter().copied());
        let resource = &kind.resource;
        resource.group == self.group
            && resource.version == self.version
            && resource.plural == self.plural
            && kind.name == self.name.as_str()
            && kind.singular == self.singular.as_str()
            && same(&self.short_names, kind.short_names)
            && same(&self.categories, kind.categories)
            && kind.is_namespaced() == self.is_namespaced
            && kind.subresource("status").is_some() == self.has_status
            && kind.subresource("scale").is_some() == self.has_scale
    }
}

const SCALE: Subresource = foreign("scale", ("autoscaling", "v1", "Scale"), GET_PATCH_UPDATE);
const CUSTOM_STATUS: Subresource = sub("status", "", GET_PATCH_UPDATE);

fn kept(text: &Text) -> &'static str {
    Box::leak(Box::<str>::from(text.as_str()))
}
