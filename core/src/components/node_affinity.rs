//! Whether a Node matches the node selector and the node affinity of a Pod.
//!
//! Mirrors k8s.io/component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go (v1.34). The scheduler and the
//! admission of kubelets use it.
//! Inputs: the Pod's spec, the Node. Outputs: yes or no, and the weight of preferences.

use alloc::collections::BTreeSet;

use crate::objects::{Json, Text};

/// Tells whether a Node has what the spec of a Pod requires: its node selector and its required node affinity.
///
/// Source: nodeaffinity.go (v1.34), `GetRequiredNodeAffinity`.
#[must_use]
pub fn matches_required(spec: &Json, node: &Json) -> bool {
    let label = |key: &str| node.at(&["metadata", "labels", key]).as_str();
    let selected = spec.get("nodeSelector").fields().all(|(key, value)| label(key) == value.as_str());
    let required = required(spec);
    selected
        && (required.is_null() || required.get("nodeSelectorTerms").items().iter().any(|term| term_matches(term, node)))
}

/// Tells whether a Pod requires anything of its Node's labels or name.
#[must_use]
pub fn is_required(spec: &Json) -> bool {
    !spec.get("nodeSelector").is_empty() || !required(spec).is_null()
}

/// Tells whether a Pod prefers anything of its Node's labels or name.
#[must_use]
pub fn has_preference(spec: &Json) -> bool {
    !preferences(spec).is_empty()
}

fn preferences(spec: &Json) -> &[Json] {
    spec.at(&["affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"]).items()
}

/// Returns the summed weights of the preferences that a Node meets.
///
/// Source: nodeaffinity.go (v1.34), `PreferredSchedulingTerms.Score`.
#[must_use]
pub fn preference(spec: &Json, node: &Json) -> i64 {
    let met = preferences(spec).iter().filter(|term| term_matches(term.get("preference"), node));
    met.filter_map(|term| term.get("weight").as_i64()).sum()
}

/// Returns the only Nodes that the required node affinity allows by name; `None` if it does not select by name.
///
/// Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go (v1.34), `PreFilter`.
#[must_use]
pub fn named_nodes(spec: &Json) -> Option<BTreeSet<Text>> {
    let terms = required(spec).get("nodeSelectorTerms").items();
    let mut all: Option<BTreeSet<Text>> = None;
    for term in terms {
        let mut named: Option<BTreeSet<Text>> = None;
        for field in term.get("matchFields").items() {
            if field.get("key").as_str() == Some("metadata.name") && field.get("operator").as_str() == Some("In") {
                let values: BTreeSet<Text> =
                    field.get("values").items().iter().filter_map(|value| value.as_text().cloned()).collect();
                named = Some(named.map_or(values.clone(), |known| known.intersection(&values).cloned().collect()));
            }
        }
        all.get_or_insert_with(BTreeSet::new).extend(named?);
    }
    all
}

/// Tells whether a volume can be used on a Node.
///
/// Source: k8s.io/component-helpers storage/volume/helpers.go (v1.34), `CheckNodeAffinity`.
#[must_use]
pub fn matches_volume(spec: &Json, node: &Json) -> bool {
    let required = spec.at(&["nodeAffinity", "required"]);
    required.is_null() || required.get("nodeSelectorTerms").items().iter().any(|term| term_matches(term, node))
}

fn required(spec: &Json) -> &Json {
    spec.at(&["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"])
}

fn term_matches(term: &Json, node: &Json) -> bool {
    let (expressions, fields) = (term.get("matchExpressions").items(), term.get("matchFields").items());
    let label = |key: &str| node.at(&["metadata", "labels", key]).as_str();
    let field = |key: &str| if key == "metadata.name" { node.at(&["metadata", "name"]).as_str() } else { None };
    let key = |requirement: &Json| requirement.get("key").as_text().cloned().unwrap_or_default();
    // An empty term matches nothing.
    !(expressions.is_empty() && fields.is_empty())
        && expressions.iter().all(|requirement| holds(requirement, label(&key(requirement))))
        && fields.iter().all(|requirement| holds(requirement, field(&key(requirement))))
}

fn holds(requirement: &Json, value: Option<&str>) -> bool {
    let values = requirement.get("values").items();
    let is_listed = values.iter().any(|own| own.as_str() == value && value.is_some());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    let bound = number(values.first().and_then(Json::as_str));
    match requirement.get("operator").as_str() {
        Some("In") => is_listed,
        Some("NotIn") => !is_listed,
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        Some("Gt") => number(value).zip(bound).is_some_and(|(own, bound)| own > bound),
        Some("Lt") => number(value).zip(bound).is_some_and(|(own, bound)| own < bound),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{matches_required, named_nodes, preference};
    use crate::json;

    #[test]
    fn an_expression_is_met_by_its_operator() {
        let node = json!({"metadata": {"name": "w1", "labels": {"disk": "ssd", "cores": "8"}}});
        for (key, operator, values, met) in [
            ("disk", "In", json!(["hdd", "ssd"]), true),
            ("disk", "In", json!(["hdd"]), false),
            ("gpu", "In", json!(["a"]), false),
            ("disk", "NotIn", json!(["ssd"]), false),
            ("gpu", "NotIn", json!(["a"]), true),
            ("disk", "Exists", json!([]), true),
            ("gpu", "Exists", json!([]), false),
            ("gpu", "DoesNotExist", json!([]), true),
            ("cores", "Gt", json!(["7"]), true),
            ("cores", "Gt", json!(["8"]), false),
            ("cores", "Lt", json!(["9"]), true),
            ("disk", "Lt", json!(["9"]), false),
        ] {
            let mut expression = json!({"key": key, "operator": operator});
            expression.set(&["values"], values);
            let mut term = json!({});
            term.set(&["matchExpressions"], crate::objects::Json::array(alloc::vec![expression]));
            let mut spec = json!({});
            let required = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
            let path: alloc::vec::Vec<&str> = required.into_iter().chain(["nodeSelectorTerms"]).collect();
            spec.set(&path, crate::objects::Json::array(alloc::vec![term]));
            assert_eq!(matches_required(&spec, &node), met, "{key} {operator}");
        }
    }

    #[test]
    fn an_empty_term_matches_nothing_and_no_requirement_matches_all() {
        let node = json!({"metadata": {"name": "w1"}});
        let empty = json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": [{}]}}}});
        assert!(!matches_required(&empty, &node));
        assert!(matches_required(&json!({}), &node));
    }

    #[test]
    fn preferences_add_up_and_names_are_intersected_within_a_term() {
        let spec = json!({"affinity": {"nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 10, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}},
                {"weight": 5, "preference": {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}}],
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": ["a", "b"]},
                {"key": "metadata.name", "operator": "In", "values": ["b", "c"]}]}]}}}});
        assert_eq!(preference(&spec, &json!({"metadata": {"name": "b", "labels": {"disk": ""}}})), 10);
        let named = named_nodes(&spec).unwrap();
        assert!(named.len() == 1 && named.contains("b"));
        assert_eq!(named_nodes(&json!({})), None);
    }
}
