//! Which objects of a user would change what happens to others by an effect that is not modelled: then nothing that the
//! scenario says of them can be judged.
//!
//! Pure. Input: an object as the server stored it. Output: what is not modelled.

use alloc::format;
use alloc::string::String;

use super::Simulation;
use crate::network::{Call, Target, Verb};
use crate::objects::{Json, NOT_MODELLED, Text};
use crate::scenario::{AnswerSeen, Unmodelled};

/// Kinds that decide by admission what becomes of other requests.
const OF_ADMISSION: [&str; 4] = [
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicyBinding",
];
/// Kinds that change others by a controller. The server itself treats them as any object.
const OF_CONTROLLERS: [&str; 2] = ["HorizontalPodAutoscaler", "ResourceClaim"];

/// Subresources by which a user changes the containers of a Pod that runs: a kubelet here does nothing of it, or not in
/// each case.
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
        if *part == *"resize" && self.resizes(&answer.body) {
            return None;
        }
        if !part.is_empty() {
            let what = format!("what a kubelet does when {part} of a Pod is written{NOT_MODELLED}");
            // Lines about the answer hold.
            return Some(Unmodelled { what, only_for_others_than: Some(String::new()) });
        }
        let what = effect(&answer.body)?;
        let kind = answer.body.get("kind").as_str().filter(|kind| OF_CONTROLLERS.contains(kind)).map(String::from);
        Some(Unmodelled { what, only_for_others_than: kind })
    }

    /// Tells whether a kubelet here does what follows from other resources of a Pod: it does in releases that tell of
    /// it in conditions, and not of resources of the Pod as a whole.
    fn resizes(&self, pod: &Json) -> bool {
        self.settings.profile().is("resize-has-conditions") && pod.at(&["spec", "resources"]).is_empty()
    }
}

/// Returns what of an object's effect is not modelled.
fn effect(object: &Json) -> Option<String> {
    let kind = object.get("kind").as_str().unwrap_or_default();
    let name = object.at(&["metadata", "name"]).as_str().unwrap_or_default();
    if OF_ADMISSION.contains(&kind) || OF_CONTROLLERS.contains(&kind) {
        return Some(format!("what {kind} \"{name}\" does to other objects{NOT_MODELLED}"));
    }
    match kind {
        "Pod" => effect_of_pod(object.get("spec")),
        _ => effect_of_pod(object.at(&["spec", "template", "spec"])),
    }
}

fn effect_of_pod(spec: &Json) -> Option<String> {
    let claims = spec.get("resourceClaims").items();
    (!claims.is_empty()).then(|| format!("a Pod with claims of devices{NOT_MODELLED}"))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::effect;
    use crate::json;
    use crate::objects::Json;

    fn told(object: &Json) -> String {
        effect(object).unwrap_or_default()
    }

    #[test]
    fn what_would_change_others_is_named() {
        let hook = json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w"}});
        let what = "what ValidatingWebhookConfiguration \"w\" does to other objects is not modelled yet";
        assert_eq!(told(&hook), what);
        assert_eq!(told(&json!({"kind": "Namespace", "metadata": {"name": "n"}})), "");
    }

    #[test]
    fn a_pod_with_claims_of_devices_is_not_modelled() {
        let pod = |spec: Json| json!({"kind": "Pod", "spec": spec});
        for spec in [
            json!({"volumes": [{"configMap": {"name": "nope"}}]}),
            json!({"containers": [{"name": "main", "env": [{"name": "A", "value": "b"}]}]}),
        ] {
            assert_eq!(told(&pod(spec.clone())), "", "{spec:?}");
        }
        let claims = json!({"resourceClaims": [{}]});
        let what = "a Pod with claims of devices is not modelled yet";
        assert_eq!(told(&pod(claims.clone())), what);
        assert_eq!(told(&json!({"kind": "Deployment", "spec": {"template": {"spec": claims}}})), what);
    }
}
