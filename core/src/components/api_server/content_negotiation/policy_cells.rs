//! The cells of kinds that steer the API server, whose columns are in `policy_columns`.
//!
//! Source: pkg/printers/internalversion/printers.go (v1.34, v1.36). Inputs: an object. Outputs: one cell for each
//! column behind the name; `None` for a kind without columns of its own.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::cell_values::{NONE, UNSET, count, length, text, text_or};
use crate::objects::lifecycle::condition_in;
use crate::objects::{Json, Text};

/// Returns the cells of an object of a kind.
pub(super) fn of(plural: &str, object: &Json, age: Json) -> Option<Vec<Json>> {
    let number = |path: &[&str]| Json::from(length(object.at(path)));
    let policy =
        |rules: &str| Vec::from([number(&["spec", rules]), Json::from(kind_of_parameters(object)), age.clone()]);
    Some(match plural {
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => {
            Vec::from([number(&["webhooks"]), age.clone()])
        }
        "validatingadmissionpolicies" => policy("validations"),
        "mutatingadmissionpolicies" => policy("mutations"),
        "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings" => Vec::from([
            text(object, &["spec", "policyName"]),
            Json::from(parameters(object.at(&["spec", "paramRef"]))),
            age.clone(),
        ]),
        "flowschemas" => {
            let conditions = object.at(&["status", "conditions"]).items();
            let dangling = condition_in(conditions, "Dangling");
            Vec::from([
                text(object, &["spec", "priorityLevelConfiguration", "name"]),
                count(object, &["spec", "matchingPrecedence"]),
                text_or(object, &["spec", "distinguisherMethod", "type"], NONE),
                age.clone(),
                dangling.map_or_else(|| Json::from("?"), |own| text(own, &["status"])),
            ])
        }
        "prioritylevelconfigurations" => {
            let limited = object.at(&["spec", "limited"]);
            let queuing = limited.at(&["limitResponse", "queuing"]);
            let limit =
                |part: &Json, field: &str| if part.is_null() { Json::from(NONE) } else { count(part, &[field]) };
            Vec::from([
                text(object, &["spec", "type"]),
                limit(limited, "nominalConcurrencyShares"),
                limit(queuing, "queues"),
                limit(queuing, "handSize"),
                limit(queuing, "queueLengthLimit"),
                age.clone(),
            ])
        }
        _ => return None,
    })
}

fn kind_of_parameters(policy: &Json) -> String {
    let kind = policy.at(&["spec", "paramKind"]);
    let part = |field: &str| kind.get(field).as_str().unwrap_or("");
    if kind.is_null() { String::from(UNSET) } else { format!("{}/{}", part("apiVersion"), part("kind")) }
}

/// Names the parameters of a policy: an object, or the selector as Go prints it.
fn parameters(parameters: &Json) -> String {
    let part = |field: &str| parameters.get(field).as_str().unwrap_or("");
    let selector = parameters.get("selector");
    match (part("namespace"), part("name")) {
        (_, "") if selector.is_null() => String::from(UNSET),
        (_, "") => printed_selector(selector),
        ("", name) => format!("*/{name}"),
        (namespace, name) => format!("{namespace}/{name}"),
    }
}

/// Source: k8s.io/apimachinery pkg/apis/meta/v1/generated.pb.go (v0.34), `LabelSelector.String`.
fn printed_selector(selector: &Json) -> String {
    let label = |(key, value): (&Text, &Json)| format!("{key}: {},", value.as_str().unwrap_or(""));
    let labels: String = selector.get("matchLabels").fields().map(label).collect();
    let expression = |own: &Json| {
        let part = |field: &str| own.get(field).as_str().unwrap_or("").to_string();
        let values: Vec<&str> = own.get("values").items().iter().filter_map(Json::as_str).collect();
        let (key, operator, values) = (part("key"), part("operator"), values.join(" "));
        format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},")
    };
    let expressions: String = selector.get("matchExpressions").items().iter().map(expression).collect();
    let expressions = format!("MatchExpressions:[]LabelSelectorRequirement{{{expressions}}}");
    format!("&LabelSelector{{MatchLabels:map[string]string{{{labels}}},{expressions},}}")
}

#[cfg(test)]
mod tests {
    use super::{of, parameters};
    use crate::json;
    use crate::objects::Json;

    #[test]
    fn parameters_of_a_policy_are_named_or_selected() {
        let selector = json!({"matchLabels": {"b": "2", "a": "1"},
            "matchExpressions": [{"key": "c", "operator": "In", "values": ["x", "y"]}]});
        for (own, shown) in [
            (Json::Null, "<unset>"),
            (json!({"name": "p"}), "*/p"),
            (json!({"name": "p", "namespace": "n"}), "n/p"),
            (
                json!({"selector": selector}),
                "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{\
                 LabelSelectorRequirement{Key:c,Operator:In,Values:[x y],},},}",
            ),
        ] {
            assert_eq!(parameters(&own), shown);
        }
    }

    #[test]
    fn a_priority_level_shows_the_limits_that_it_has() {
        let cells = |spec: Json| of("prioritylevelconfigurations", &json!({"spec": spec}), json!("1s")).unwrap();
        let none = json!("<none>");
        let exempt = cells(json!({"type": "Exempt", "exempt": {}}));
        assert_eq!(exempt, [json!("Exempt"), none.clone(), none.clone(), none.clone(), none.clone(), json!("1s")]);
        let rejects = cells(json!({"type": "Limited", "limited": {"nominalConcurrencyShares": 5,
            "limitResponse": {"type": "Reject"}}}));
        assert_eq!(rejects, [json!("Limited"), json!(5), none.clone(), none.clone(), none, json!("1s")]);
        let queues = cells(json!({"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "limitResponse": {
            "type": "Queue", "queuing": {"queues": 64, "handSize": 6, "queueLengthLimit": 50}}}}));
        assert_eq!(queues, [json!("Limited"), json!(5), json!(64), json!(6), json!(50), json!("1s")]);
    }
}
