//! The defaults of kinds that nothing here acts on: NetworkPolicy, IngressClass, HorizontalPodAutoscaler.
//!
//! Mirrors pkg/apis/networking/v1/defaults.go and pkg/apis/autoscaling/{v2/defaults.go,types.go} (v1.34). Inputs: an
//! object. Output: the object with its defaults. Pure.

use crate::json;
use crate::objects::Json;

/// Sets the defaults.
pub(super) fn default(kind: &str, tree: &mut Json) {
    match kind {
        "NetworkPolicy" => default_policy(tree),
        "IngressClass" => {
            let parameters = tree.at(&["spec", "parameters"]);
            if !parameters.is_null() && parameters.get("scope").is_null() {
                tree.set(&["spec", "parameters", "scope"], "Cluster");
            }
        }
        _ => default_autoscaler(tree),
    }
}

/// A policy that names no direction is one of what comes in, and of what goes out if it has rules for that.
fn default_policy(tree: &mut Json) {
    if tree.at(&["spec", "policyTypes"]).is_empty() {
        let goes_out = !tree.at(&["spec", "egress"]).is_empty();
        let types = if goes_out { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        tree.set(&["spec", "policyTypes"], types);
    }
    for rules in ["ingress", "egress"] {
        for at in 0..tree.at(&["spec", rules]).items().len() {
            for port in 0..tree.at(&["spec", rules]).items()[at].get("ports").items().len() {
                let rule = &mut tree.entry(&["spec", rules]).make_array()[at];
                let port = &mut rule.entry(&["ports"]).make_array()[port];
                if port.get("protocol").is_null() {
                    port.set(&["protocol"], "TCP");
                }
            }
        }
    }
}

/// Source: pkg/apis/autoscaling/types.go (v1.34), `DefaultCPUUtilization`.
fn default_autoscaler(tree: &mut Json) {
    if tree.at(&["spec", "minReplicas"]).is_null() {
        tree.set(&["spec", "minReplicas"], 1_i64);
    }
    if tree.at(&["spec", "metrics"]).is_empty() {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        tree.set(&["spec", "metrics"], json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]));
    }
    if tree.at(&["spec", "behavior"]).is_null() {
        return;
    }
    // Source: pkg/apis/autoscaling/v2/defaults.go (v1.34), `scaleUpRules` and `scaleDownRules`.
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
    for (way, window, policies) in
        [("scaleUp", Some(0_i64), json!([pods, percent.clone()])), ("scaleDown", None, json!([percent]))]
    {
        let rules = tree.entry(&["spec", "behavior", way]);
        for (field, value) in
            [("stabilizationWindowSeconds", window.map(Json::Int)), ("selectPolicy", Some("Max".into()))]
        {
            if let Some(value) = value.filter(|_| rules.get(field).is_null()) {
                rules.set(&[field], value);
            }
        }
        if rules.get("policies").is_null() {
            rules.set(&["policies"], policies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::default;
    use crate::json;

    #[test]
    fn a_policy_is_one_of_the_directions_that_it_has_rules_for() {
        let mut policy = json!({"spec": {"ingress": [{"ports": [{"port": 80}]}]}});
        default("NetworkPolicy", &mut policy);
        assert_eq!(
            policy,
            json!({"spec": {"ingress": [{"ports": [{"port": 80, "protocol": "TCP"}]}],
            "policyTypes": ["Ingress"]}})
        );
        let mut policy = json!({"spec": {"egress": [{}]}});
        default("NetworkPolicy", &mut policy);
        assert_eq!(*policy.at(&["spec", "policyTypes"]), json!(["Ingress", "Egress"]));
        let mut policy = json!({"spec": {"egress": [{}], "policyTypes": ["Egress"]}});
        default("NetworkPolicy", &mut policy);
        assert_eq!(*policy.at(&["spec", "policyTypes"]), json!(["Egress"]));
    }

    #[test]
    fn an_autoscaler_looks_at_the_cpu() {
        let mut own = json!({"spec": {"maxReplicas": 3, "behavior": {"scaleDown": {"selectPolicy": "Min"}}}});
        default("HorizontalPodAutoscaler", &mut own);
        assert_eq!(own.at(&["spec", "minReplicas"]).as_i64(), Some(1));
        assert_eq!(own.at(&["spec", "metrics"]).items().len(), 1);
        let down = own.at(&["spec", "behavior", "scaleDown"]);
        assert_eq!(
            *down,
            json!({"selectPolicy": "Min",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]})
        );
    }
}
