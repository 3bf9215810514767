//! Labels of a Pod that its own selectors name by their keys: they become part of the selectors.
//!
//! Mirrors pkg/registry/core/pod/strategy.go (v1.34), `mutatePodAffinity`, `mutateTopologySpreadConstraints`. Input: a
//! Pod that is created. Output: the Pod with longer selectors.

use crate::json;
use crate::objects::Json;
use crate::profile::Profile;

/// Adds the labels to the selectors of affinity, anti-affinity and spread.
pub(super) fn apply(tree: &mut Json, profile: &Profile) {
    let labels = tree.at(&["metadata", "labels"]).clone();
    if profile.is("pod-affinity-takes-label-keys") {
        for kind in ["podAffinity", "podAntiAffinity"] {
            let list = |when| ["spec", "affinity", kind, when];
            each(tree, &list("requiredDuringSchedulingIgnoredDuringExecution"), &mut |term| extend(term, &labels));
            each(tree, &list("preferredDuringSchedulingIgnoredDuringExecution"), &mut |term| {
                if term.get("podAffinityTerm").is_object() {
                    extend(term.entry(&["podAffinityTerm"]), &labels);
                }
            });
        }
    }
    if profile.is("spread-selectors-take-label-keys") {
        each(tree, &["spec", "topologySpreadConstraints"], &mut |constraint| extend(constraint, &labels));
    }
}

fn each(tree: &mut Json, path: &[&str], change: &mut dyn FnMut(&mut Json)) {
    if tree.at(path).is_array() {
        tree.entry(path).make_array().iter_mut().for_each(change);
    }
}

/// A selector that is absent selects nothing, and stays so.
fn extend(term: &mut Json, labels: &Json) {
    if term.get("labelSelector").is_null() {
        return;
    }
    for (list, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        for key in term.get(list).items().to_vec() {
            if let Some(value) = key.as_str().and_then(|key| labels.get(key).as_str()) {
                let wanted = json!({"key": key.as_str(), "operator": operator, "values": [value]});
                term.entry(&["labelSelector", "matchExpressions"]).make_array().push(wanted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::extend;
    use crate::json;

    #[test]
    fn only_labels_that_are_there_make_a_selector_longer() {
        let labels = json!({"ver": "2"});
        let mut term = json!({"labelSelector": {"matchLabels": {"app": "x"}}, "matchLabelKeys": ["ver", "other"],
            "mismatchLabelKeys": ["ver"]});
        extend(&mut term, &labels);
        assert_eq!(
            *term.at(&["labelSelector", "matchExpressions"]),
            json!([{"key": "ver", "operator": "In", "values": ["2"]},
                {"key": "ver", "operator": "NotIn", "values": ["2"]}])
        );
        let mut bare = json!({"matchLabelKeys": ["ver"]});
        extend(&mut bare, &labels);
        assert_eq!(bare, json!({"matchLabelKeys": ["ver"]}));
    }
}
