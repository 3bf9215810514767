//! Taints that Kubernetes never sets in the form that a line names: the line would hold whatever happens.

use nodeproof_core::scenario::Taint;

use super::own_names::OwnNames;

/// Key and value of each taint that a controller or a kubelet sets.
///
/// Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go, `UnreachableTaintTemplate` and
/// `nodeConditionToTaintKeyStatusMap`; k8s.io/cloud-provider api/well_known_taints.go and
/// controllers/nodelifecycle/node_lifecycle_controller.go, `ShutdownTaint` (v1.34).
const FORMS: &[(&str, &str)] = &[
    ("node.kubernetes.io/not-ready", ""),
    ("node.kubernetes.io/unreachable", ""),
    ("node.kubernetes.io/unschedulable", ""),
    ("node.kubernetes.io/memory-pressure", ""),
    ("node.kubernetes.io/disk-pressure", ""),
    ("node.kubernetes.io/pid-pressure", ""),
    ("node.kubernetes.io/network-unavailable", ""),
    ("node.cloudprovider.kubernetes.io/uninitialized", "true"),
    ("node.cloudprovider.kubernetes.io/shutdown", ""),
];

/// Returns a taint that nothing in the cluster can have, as it is written, why, and what is meant; `own` is what the
/// scenario itself says. `PreferNoSchedule` is only for users; that a taint comes with `NoSchedule` and not with
/// `NoExecute` is worth a line.
pub(super) fn impossible(taint: &Taint, own: &OwnNames) -> Option<[String; 3]> {
    let (key, value) = FORMS.iter().find(|(key, _)| *key == &*taint.key && !own.sets(key))?;
    let has_value = taint.value.as_deref().is_none_or(|own| own == *value);
    if has_value && &*taint.effect != "PreferNoSchedule" {
        return None;
    }
    let form = taint.value.as_deref().map_or_else(|| taint.key.to_string(), |value| format!("{}={value}", taint.key));
    let equals = if value.is_empty() { "" } else { "=" };
    let effect = if &*taint.effect == "PreferNoSchedule" { "NoSchedule" } else { &*taint.effect };
    let written = format!("{form}:{}", taint.effect);
    let message = format!("Kubernetes sets no taint {written}");
    Some([written, message, format!("its own form is {key}{equals}{value}:{effect}")])
}

#[cfg(test)]
mod tests {
    use nodeproof_core::scenario::Taint;

    use super::super::own_names::OwnNames;
    use super::impossible;

    #[test]
    fn a_taint_in_a_form_that_nobody_sets_is_told_with_the_right_one() {
        let taint = |key: &str, value: Option<&str>, effect: &str| Taint {
            key: key.into(),
            value: value.map(Into::into),
            effect: effect.into(),
        };
        let unreachable = "node.kubernetes.io/unreachable";
        let help = |taint: &Taint, own: &str| {
            impossible(taint, &OwnNames::with(own)).map(|[_, message, help]| (message, help))
        };
        for (value, effect, form, right) in [
            (Some("true"), "NoExecute", "=true:NoExecute", ":NoExecute"),
            (None, "PreferNoSchedule", ":PreferNoSchedule", ":NoSchedule"),
        ] {
            let told = help(&taint(unreachable, value, effect), "");
            let (message, help) = ("Kubernetes sets no taint", "its own form is");
            assert_eq!(told, Some((format!("{message} {unreachable}{form}"), format!("{help} {unreachable}{right}"))));
        }
        for (key, value, effect, own) in [
            (unreachable, None, "NoExecute", ""),
            ("node.kubernetes.io/disk-pressure", None, "NoExecute", ""),
            (
                unreachable,
                Some("x"),
                "NoExecute",
                "the user taints Node \"a\" with \"node.kubernetes.io/unreachable=x\"",
            ),
            ("node.cloudprovider.kubernetes.io/uninitialized", Some("true"), "NoSchedule", ""),
            ("example.com/own", Some("x"), "PreferNoSchedule", ""),
        ] {
            assert_eq!(help(&taint(key, value, effect), own), None, "{key}");
        }
    }
}
