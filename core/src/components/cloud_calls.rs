//! What the controllers of a cloud share: how a Node is named in their calls. Pure.

use crate::network::CloudNode;
use crate::objects::{Object, Text};

/// Returns the Node as a provider finds its instance.
pub(super) fn cloud_node(node: &Object) -> CloudNode {
    let provider_id = node.stable().at(&["spec", "providerID"]).as_text().cloned().unwrap_or_default();
    CloudNode { name: Text::from(node.name()), provider_id }
}
