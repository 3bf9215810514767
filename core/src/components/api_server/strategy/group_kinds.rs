//! The defaults of kinds that nothing here acts on: of networks, autoscaling, flow control, admission and devices.
//!
//! Mirrors defaults.go and zz_generated.defaults.go of pkg/apis/{networking,autoscaling,flowcontrol,
//! admissionregistration,resource} (v1.34) and of kube-aggregator pkg/apis/apiregistration/v1 (v0.34). Inputs: an
//! object. Output: the object with its defaults. Pure. Left out on purpose: since when the devices of a ResourceSlice
//! have their taints.

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
        "HorizontalPodAutoscaler" => default_autoscaler(tree),
        "FlowSchema" if tree.at(&["spec", "matchingPrecedence"]).as_i64().unwrap_or(0) == 0 => {
            tree.set(&["spec", "matchingPrecedence"], 1000_i64);
        }
        "PriorityLevelConfiguration" => default_level(tree),
        "APIService" => default_port(tree, &["spec", "service"]),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            each(tree, &["webhooks"], |webhook| default_webhook(kind, webhook));
        }
        "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy" => {
            set_missing(tree.entry(&["spec"]), [("failurePolicy", "Fail".into())]);
            default_match(tree, &["spec", "matchConstraints"]);
        }
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
            default_match(tree, &["spec", "matchResources"]);
        }
        "ResourceClaim" => {
            default_devices(tree, &["spec", "devices", "requests"]);
            each(tree, &["status", "allocation", "devices", "results"], default_tolerations);
        }
        "ResourceClaimTemplate" => default_devices(tree, &["spec", "spec", "devices", "requests"]),
        _ => {}
    }
}

/// Changes each item of a list, if there is one.
fn each(tree: &mut Json, list: &[&str], change: impl FnMut(&mut Json)) {
    if !tree.at(list).items().is_empty() {
        tree.entry(list).make_array().iter_mut().for_each(change);
    }
}

/// Sets the fields that are not there.
fn set_missing<const N: usize>(tree: &mut Json, fields: [(&str, Json); N]) {
    for (field, value) in fields {
        if tree.get(field).is_null() {
            tree.set(&[field], value);
        }
    }
}

/// Source: pkg/apis/flowcontrol/v1/defaults.go (v1.34).
fn default_level(tree: &mut Json) {
    for (field, shares) in [("limited", 30_i64), ("exempt", 0)] {
        if !tree.at(&["spec", field]).is_null() {
            let level = tree.entry(&["spec", field]);
            set_missing(level, [("nominalConcurrencyShares", shares.into()), ("lendablePercent", 0_i64.into())]);
        }
    }
    let queuing = ["spec", "limited", "limitResponse", "queuing"];
    if !tree.at(&queuing).is_null() {
        for (field, number) in [("handSize", 8_i64), ("queues", 64), ("queueLengthLimit", 50)] {
            if tree.at(&queuing).get(field).as_i64().unwrap_or(0) == 0 {
                tree.entry(&queuing).set(&[field], number);
            }
        }
    }
}

/// Sets the port of a Service that is called, if one is.
fn default_port(tree: &mut Json, service: &[&str]) {
    if !tree.at(service).is_null() {
        set_missing(tree.entry(service), [("port", 443_i64.into())]);
    }
}

/// Sets what the rules of admission apply to.
fn default_selection(tree: &mut Json) {
    let fields =
        [("matchPolicy", "Equivalent".into()), ("namespaceSelector", json!({})), ("objectSelector", json!({}))];
    set_missing(tree, fields);
}

fn default_rule(rule: &mut Json) {
    set_missing(rule, [("scope", "*".into())]);
}

fn default_match(tree: &mut Json, place: &[&str]) {
    if !tree.at(place).is_null() {
        let matched = tree.entry(place);
        default_selection(matched);
        each(matched, &["resourceRules"], default_rule);
        each(matched, &["excludeResourceRules"], default_rule);
    }
}

fn default_webhook(kind: &str, webhook: &mut Json) {
    set_missing(webhook, [("failurePolicy", "Fail".into()), ("timeoutSeconds", 10_i64.into())]);
    default_selection(webhook);
    if kind == "MutatingWebhookConfiguration" {
        set_missing(webhook, [("reinvocationPolicy", "Never".into())]);
    }
    default_port(webhook, &["clientConfig", "service"]);
    each(webhook, &["rules"], default_rule);
}

/// Sets how many devices each request asks for.
fn default_devices(tree: &mut Json, requests: &[&str]) {
    each(tree, requests, |request| {
        if !request.get("exactly").is_null() {
            default_request(request.entry(&["exactly"]));
        }
        each(request, &["firstAvailable"], default_request);
    });
}

fn default_request(request: &mut Json) {
    if request.get("allocationMode").as_str().unwrap_or("").is_empty() {
        request.set(&["allocationMode"], "ExactCount");
    }
    if request.get("allocationMode").as_str() == Some("ExactCount") && request.get("count").as_i64().unwrap_or(0) == 0 {
        request.set(&["count"], 1_i64);
    }
    default_tolerations(request);
}

fn default_tolerations(tree: &mut Json) {
    each(tree, &["tolerations"], |toleration| {
        if toleration.get("operator").as_str().unwrap_or("").is_empty() {
            toleration.set(&["operator"], "Equal");
        }
    });
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

/// Source: pkg/apis/autoscaling/annotations.go (v1.34), `DefaultCPUUtilization`.
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
    // Source: pkg/apis/autoscaling/v2/defaults.go (v1.34), `defaultHPAScaleUpRules` and `defaultHPAScaleDownRules`.
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
    #[test]
    fn a_request_for_devices_asks_for_one() {
        let mut claim = json!({"spec": {"devices": {"requests": [
            {"name": "a", "exactly": {"deviceClassName": "d", "tolerations": [{"key": "k"}]}},
            {"name": "b", "firstAvailable": [{"deviceClassName": "d", "allocationMode": "All"}, {"count": 2}]}]}}});
        default("ResourceClaim", &mut claim);
        assert_eq!(
            *claim.at(&["spec", "devices", "requests"]),
            json!([{"name": "a", "exactly": {"deviceClassName": "d", "tolerations": [{"key": "k", "operator": "Equal"}],
                "allocationMode": "ExactCount", "count": 1}},
            {"name": "b", "firstAvailable": [{"deviceClassName": "d", "allocationMode": "All"},
                {"count": 2, "allocationMode": "ExactCount"}]}])
        );
        let mut template = json!({"spec": {"spec": {"devices": {"requests": [{"name": "a", "exactly": {}}]}}}});
        default("ResourceClaimTemplate", &mut template);
        let request = template.at(&["spec", "spec", "devices", "requests"]).items()[0].get("exactly").clone();
        assert_eq!(request, json!({"allocationMode": "ExactCount", "count": 1}));
        let mut claim = json!({"status": {"allocation": {"devices": {"results": [{"tolerations": [{"key": "k"}]}]}}}});
        default("ResourceClaim", &mut claim);
        let result = &claim.at(&["status", "allocation", "devices", "results"]).items()[0];
        assert_eq!(*result.get("tolerations"), json!([{"key": "k", "operator": "Equal"}]));
    }

    #[test]
    fn rules_of_admission_refuse_what_they_cannot_judge() {
        let mut hooks = json!({"webhooks": [{"clientConfig": {"service": {"name": "s"}}, "rules": [{}]}]});
        default("MutatingWebhookConfiguration", &mut hooks);
        let mut hook = hooks.get("webhooks").items()[0].clone();
        assert_eq!(hook.remove(&["reinvocationPolicy"]), Some("Never".into()));
        assert_eq!(
            hook,
            json!({"clientConfig": {"service": {"name": "s", "port": 443}}, "rules": [{"scope": "*"}],
                "failurePolicy": "Fail", "timeoutSeconds": 10, "matchPolicy": "Equivalent", "namespaceSelector": {},
                "objectSelector": {}})
        );
        let mut policy = json!({"spec": {"matchConstraints": {"resourceRules": [{}],
            "excludeResourceRules": [{"scope": "Cluster"}]}}});
        default("ValidatingAdmissionPolicy", &mut policy);
        assert_eq!(
            *policy.get("spec"),
            json!({"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [{"scope": "*"}],
                "excludeResourceRules": [{"scope": "Cluster"}], "matchPolicy": "Equivalent", "namespaceSelector": {},
                "objectSelector": {}}})
        );
        let mut binding = json!({"spec": {"policyName": "p", "matchResources": {"matchPolicy": "Exact"}}});
        default("ValidatingAdmissionPolicyBinding", &mut binding);
        let matched = json!({"matchPolicy": "Exact", "namespaceSelector": {}, "objectSelector": {}});
        assert_eq!(*binding.at(&["spec", "matchResources"]), matched);
    }

    #[test]
    fn levels_and_services_have_their_numbers() {
        let mut level = json!({"spec": {"limited": {"limitResponse": {"queuing": {"queues": 7}}}, "exempt": {}}});
        default("PriorityLevelConfiguration", &mut level);
        assert_eq!(
            *level.get("spec"),
            json!({"limited": {"limitResponse": {"queuing": {"queues": 7, "handSize": 8, "queueLengthLimit": 50}},
                "nominalConcurrencyShares": 30, "lendablePercent": 0},
                "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}})
        );
        let mut schema = json!({"spec": {"matchingPrecedence": 0}});
        default("FlowSchema", &mut schema);
        assert_eq!(schema.at(&["spec", "matchingPrecedence"]).as_i64(), Some(1000));
        let (mut local, mut served) = (json!({"spec": {}}), json!({"spec": {"service": {"name": "s"}}}));
        default("APIService", &mut local);
        default("APIService", &mut served);
        assert_eq!((local, served), (json!({"spec": {}}), json!({"spec": {"service": {"name": "s", "port": 443}}})));
    }
}
