//! The kinds that are not stored: bodies that subresources take, and what the server finds out each time.

use crate::network::Resource;
use crate::network::kinds::{Kind, Scope};

pub(super) static EVICTION: Kind = body_kind(Resource::of("policy", "v1", "evictions"), "Eviction");
pub(super) static TOKEN_REQUEST: Kind =
    body_kind(Resource::of("authentication.k8s.io", "v1", "tokenrequests"), "TokenRequest");
pub(super) static SCALE: Kind = body_kind(Resource::of("autoscaling", "v1", "scales"), "Scale");

pub(super) static COMPONENT_STATUS: Kind = body_kind(Resource::of("", "v1", "componentstatuses"), "ComponentStatus");

const fn body_kind(resource: Resource, name: &'static str) -> Kind {
    Kind {
        resource,
        name,
        singular: "",
        short_names: &[],
        categories: &[],
        scope: Scope::Namespaced,
        traits: &[],
        subresources: &[],
    }
}
