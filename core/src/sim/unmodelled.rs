//! Which objects of a user would change what happens to others by an effect that is not modelled: then nothing that the
//! scenario says of them can be judged.
//!
//! Pure. Inputs: an object as the server stored it, and what else is stored. Output: what is not modelled.

use alloc::format;
use alloc::string::String;

use super::Simulation;
use crate::network::{Call, Resource, Target, Verb};
use crate::objects::{Json, NOT_MODELLED, ObjectKey, Text};
use crate::scenario::{AnswerSeen, Unmodelled};

/// Kinds that decide by admission what becomes of other requests.
const OF_ADMISSION: [&str; 4] = [
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicyBinding",
];
/// Kinds that change others by a controller. The server itself treats them as any object.
const OF_CONTROLLERS: [&str; 4] = ["HorizontalPodAutoscaler", "CronJob", "Job", "ResourceClaim"];
/// Level of Pod security that lets every Pod in. Source: k8s.io/pod-security-admission api/constants.go (v1.34).
const ENFORCE: &str = "pod-security.kubernetes.io/enforce";
/// What a volume of every Pod names, and the root-ca-certificate-publisher-controller writes.
const ROOT_CA: &str = "kube-root-ca.crt";

/// Subresources by which a user changes the containers of a Pod that runs: its kubelet does nothing of it here.
const OF_KUBELETS: [&str; 2] = ["ephemeralcontainers", "resize"];

/// Returns which part of an object a request writes, if that may change what happens elsewhere: the whole, which is an
/// empty text, or a subresource that a kubelet acts on. A dry run writes nothing.
pub(super) fn part_with_effect(call: &Call) -> Option<Text> {
    let Target::Resource { subresource, .. } = &call.target else { return None };
    let writes = matches!(call.verb, Verb::Create | Verb::Update | Verb::Patch);
    let has_effect = subresource.is_empty() || OF_KUBELETS.contains(&subresource.as_str());
    let is_dry = call.query.iter().any(|(name, _)| *name == *"dryRun");
    (writes && has_effect && !is_dry).then(|| subresource.clone())
}

impl Simulation {
    /// Returns what of the effect is not modelled that an object has of which a part was just written.
    pub(super) fn effect_not_modelled(&self, part: &Text, answer: &AnswerSeen) -> Option<Unmodelled> {
        if !(200..300).contains(&answer.code) {
            return None;
        }
        if !part.is_empty() {
            let what = format!("what a kubelet does when {part} of a Pod is written{NOT_MODELLED}");
            // Lines about the answer hold.
            return Some(Unmodelled { what, only_for_others_than: Some(String::new()) });
        }
        let namespace = answer.body.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
        let what = effect(&answer.body, |kind, name| {
            let plural = if kind == "Secret" { "secrets" } else { "configmaps" };
            let key = ObjectKey { namespace: namespace.clone(), name: Text::from(name) };
            self.api.object(&Resource::of("", "v1", plural), &key).is_some()
        })?;
        let kind = answer.body.get("kind").as_str().filter(|kind| OF_CONTROLLERS.contains(kind)).map(String::from);
        Some(Unmodelled { what, only_for_others_than: kind })
    }
}

/// Returns what of an object's effect is not modelled; `is_there` tells whether a ConfigMap or Secret of its namespace
/// is stored.
fn effect(object: &Json, is_there: impl Fn(&str, &str) -> bool) -> Option<String> {
    let kind = object.get("kind").as_str().unwrap_or_default();
    let name = object.at(&["metadata", "name"]).as_str().unwrap_or_default();
    if OF_ADMISSION.contains(&kind) || OF_CONTROLLERS.contains(&kind) {
        return Some(format!("what {kind} \"{name}\" does to other objects{NOT_MODELLED}"));
    }
    match kind {
        "Namespace" => {
            let level = object.at(&["metadata", "labels", ENFORCE]).as_str()?;
            (level != "privileged").then(|| format!("the level {level} of Pod security in \"{name}\"{NOT_MODELLED}"))
        }
        "Pod" => effect_of_pod(object.get("spec"), is_there),
        _ => effect_of_pod(object.at(&["spec", "template", "spec"]), is_there),
    }
}

fn effect_of_pod(spec: &Json, is_there: impl Fn(&str, &str) -> bool) -> Option<String> {
    if !spec.get("resourceClaims").items().is_empty() {
        return Some(format!("a Pod with claims of devices{NOT_MODELLED}"));
    }
    let needed = |kind: &'static str, source: &Json, name: &str| {
        let name = source.get(name).as_str().filter(|name| *name != ROOT_CA)?;
        (source.get("optional").as_bool() != Some(true) && !is_there(kind, name)).then(|| (kind, String::from(name)))
    };
    let of_volume = |volume: &Json| {
        let projected = volume.at(&["projected", "sources"]).items();
        let mut of_sources = projected.iter().filter_map(|source| {
            let of_map = needed("ConfigMap", source.get("configMap"), "name");
            of_map.or_else(|| needed("Secret", source.get("secret"), "name"))
        });
        let own = needed("ConfigMap", volume.get("configMap"), "name");
        own.or_else(|| needed("Secret", volume.get("secret"), "secretName")).or_else(|| of_sources.next())
    };
    let of_variables = |container: &Json| {
        let whole = container.get("envFrom").items().iter().map(|source| (source, "configMapRef", "secretRef"));
        let single = container.get("env").items().iter().map(|own| own.get("valueFrom"));
        let single = single.map(|source| (source, "configMapKeyRef", "secretKeyRef"));
        whole.chain(single).find_map(|(source, map, secret)| {
            let of_map = needed("ConfigMap", source.get(map), "name");
            of_map.or_else(|| needed("Secret", source.get(secret), "name"))
        })
    };
    let mut volumes = spec.get("volumes").items().iter();
    let mut containers = ["initContainers", "containers"].into_iter().flat_map(|list| spec.get(list).items().iter());
    let missing = volumes.find_map(of_volume).or_else(|| containers.find_map(of_variables));
    missing.map(|(kind, name)| format!("a Pod that waits for {kind} \"{name}\", which is not there,{NOT_MODELLED}"))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::effect;
    use crate::json;
    use crate::objects::Json;

    fn told(object: &Json) -> String {
        effect(object, |kind, name| kind == "ConfigMap" && name == "there").unwrap_or_default()
    }

    #[test]
    fn what_would_change_others_is_named() {
        let hook = json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w"}});
        let what = "what ValidatingWebhookConfiguration \"w\" does to other objects is not modelled yet";
        assert_eq!(told(&hook), what);
        let level = |level: &str| {
            json!({"kind": "Namespace", "metadata": {"name": "n",
                "labels": {"pod-security.kubernetes.io/enforce": level}}})
        };
        assert_eq!(told(&level("restricted")), "the level restricted of Pod security in \"n\" is not modelled yet");
        assert_eq!(told(&level("privileged")), "");
        assert_eq!(told(&json!({"kind": "Namespace", "metadata": {"name": "n"}})), "");
    }

    #[test]
    fn a_pod_waits_for_what_it_names_unless_that_is_optional() {
        let pod = |spec: Json| json!({"kind": "Pod", "spec": spec});
        let missing = |kind: &str| {
            alloc::format!("a Pod that waits for {kind} \"nope\", which is not there, is not modelled yet")
        };
        for (spec, kind) in [
            (json!({"volumes": [{"configMap": {"name": "there"}}, {"configMap": {"name": "nope"}}]}), "ConfigMap"),
            (json!({"volumes": [{"secret": {"secretName": "nope"}}]}), "Secret"),
            (json!({"volumes": [{"projected": {"sources": [{"secret": {"name": "nope"}}]}}]}), "Secret"),
            (json!({"containers": [{"envFrom": [{"configMapRef": {"name": "nope"}}]}]}), "ConfigMap"),
            (json!({"initContainers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "nope"}}}]}]}), "Secret"),
        ] {
            assert_eq!(told(&pod(spec.clone())), missing(kind), "{spec:?}");
            assert_eq!(told(&json!({"kind": "Deployment", "spec": {"template": {"spec": spec}}})), missing(kind));
        }
        for spec in [
            json!({"volumes": [{"configMap": {"name": "nope", "optional": true}}, {"emptyDir": {}}]}),
            json!({"volumes": [{"projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}}]}),
            json!({"containers": [{"name": "main", "env": [{"name": "A", "value": "b"}]}]}),
        ] {
            assert_eq!(told(&pod(spec.clone())), "", "{spec:?}");
        }
        assert_eq!(told(&pod(json!({"resourceClaims": [{}]}))), "a Pod with claims of devices is not modelled yet");
    }
}
