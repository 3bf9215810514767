//! The mask of the kind backend: fields of simulated nodes that have other values on a kind node. Snapshots are
//! compared without them, and scenarios must not expect their values.
//!
//! Inputs: the text of a snapshot, or a field. Outputs: the text without masked fields, and without writes of a history
//! that changed nothing else; the reason why a field differs. Invariant: each line of the mask has its reason; nothing
//! that a component of Kubernetes decides is masked.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_yaml::Value;

/// A field that is not compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Masked {
    /// The kind of object.
    kind: String,
    /// The field, with all below it, as `status.capacity`.
    field: String,
    /// What the value has in it, if not every value is meant.
    text: Option<String>,
    /// Why it differs on a kind node.
    why: String,
}

static MASK: LazyLock<Vec<Masked>> =
    LazyLock::new(|| serde_yaml::from_str(include_str!("mask.yaml")).expect("a file of our own"));

/// Removes the masked fields from a snapshot of an object or of its history; another text is not changed.
pub(crate) fn projected(text: &str) -> String {
    let Ok(mut value) = serde_yaml::from_str::<Value>(text) else { return text.to_owned() };
    match &mut value {
        Value::Mapping(_) => {
            let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
            for masked in MASK.iter().filter(|masked| masked.kind == kind && masked.text.is_none()) {
                remove(&mut value, &masked.field);
            }
        }
        Value::Sequence(writes) => {
            let has_changes = |write: &Value| write.get("changed").and_then(Value::as_mapping).is_some();
            if !writes.iter().any(has_changes) {
                return text.to_owned();
            }
            writes.retain_mut(|write| {
                let Some(changed) = write.get_mut("changed").and_then(Value::as_mapping_mut) else { return true };
                changed.retain(|field, _| field.as_str().and_then(reason).is_none());
                !changed.is_empty()
            });
        }
        _ => return text.to_owned(),
    }
    serde_yaml::to_string(&value).unwrap_or_else(|_| text.to_owned())
}

/// Returns why a field, as `status.capacity.cpu`, differs, with a value in brackets if it is one of several; `None` if
/// it is compared. A history does not contain its kind, but only Nodes have such fields.
pub(crate) fn reason(field: &str) -> Option<&'static str> {
    let is_below = |masked: &Masked| {
        let below = field.strip_prefix(masked.field.as_str());
        let has_text = |rest: &str| masked.text.as_ref().is_none_or(|text| rest.contains(text.as_str()));
        below.is_some_and(|rest| (rest.is_empty() || rest.starts_with(['.', '['])) && has_text(rest))
    };
    MASK.iter().find(|masked| is_below(masked)).map(|masked| masked.why.as_str())
}

fn remove(value: &mut Value, path: &str) {
    match path.split_once('.') {
        None => drop(value.as_mapping_mut().and_then(|mapping| mapping.remove(path))),
        Some((first, rest)) => {
            if let Some(inner) = value.get_mut(first) {
                remove(inner, rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_a_reason() {
        assert!(MASK.iter().all(|masked| masked.why.len() > 10 && !masked.field.is_empty()));
    }

    #[test]
    fn what_is_the_hosts_is_not_compared_and_all_else_is() {
        let node = |cpu: u32, address: &str| {
            format!(
                "kind: Node\nspec: {{}}\nstatus:\n  addresses:\n  - address: {address}\n  capacity:\n    \
                    cpu: \"{cpu}\"\n"
            )
        };
        assert_eq!(projected(&node(4, "a")), projected(&node(2, "a")));
        assert_ne!(projected(&node(4, "a")), projected(&node(2, "b")));
        let pod = "kind: Pod\nstatus:\n  capacity:\n    cpu: \"4\"\n";
        assert!(projected(pod).contains("cpu"));
    }

    #[test]
    fn a_message_differs_where_it_tells_of_the_host() {
        let with = |message: &str| reason(&format!("status.message[{message}]"));
        assert!(with("not enough resource: cpu, requested: 9, used: 0, capacity: 2").is_some());
        assert_eq!(with("the node has taints"), None);
        assert_eq!(reason("status.message"), None);
        assert!(reason("status.capacity.cpu").is_some() && reason("status.capacityless").is_none());
        let pod = "kind: Pod\nstatus:\n  message: m\n";
        assert!(projected(pod).contains("message"));
    }

    #[test]
    fn a_write_that_changed_nothing_else_is_none() {
        let history = "- at: +1s\n  by: kubelet\n  changed:\n    status.images: + a\n- at: +2s\n  by: kubelet\n  \
                       changed:\n    status.capacity.cpu: 1 -> 2\n    spec.taints: + b\n";
        assert_eq!(projected(history), "- at: +2s\n  by: kubelet\n  changed:\n    spec.taints: + b\n");
    }
}
