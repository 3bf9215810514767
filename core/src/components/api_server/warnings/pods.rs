//! Warnings of the server about Pods that it accepts.
//!
//! Mirrors pkg/api/pod/warnings.go (v1.34), `warningsForPodSpecAndMeta`, and pkg/api/node/util.go. Inputs: the metadata
//! and the specification of a Pod or a template. Outputs: warnings.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::validation::{ip, meta, security};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::profile::Settings;

/// Says why the label of a Node is not to be used any more.
pub(super) fn deprecated_label(key: &str) -> Option<&'static str> {
    Some(match key {
        "beta.kubernetes.io/arch" => "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
        "beta.kubernetes.io/os" => "deprecated since v1.14; use \"kubernetes.io/os\" instead",
        "failure-domain.beta.kubernetes.io/region" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"
        }
        "failure-domain.beta.kubernetes.io/zone" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"
        }
        "beta.kubernetes.io/instance-type" => {
            "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"
        }
        "app.kubernetes.io/created-by" => "deprecated since v1.9",
        "scheduler.alpha.kubernetes.io/preferAvoidPods" => "deprecated since v1.22; use Taints and Tolerations instead",
        "node-role.kubernetes.io/master" => "use \"node-role.kubernetes.io/control-plane\" instead",
        _ => return None,
    })
}

/// Warns about a Pod, or about the template of Pods at a path that ends with a dot.
pub(super) fn of(tree: &Json, path: &str, settings: &Settings, warnings: &mut Vec<String>) {
    let (metadata, spec) = (tree.get("metadata"), tree.get("spec"));
    let annotations = (metadata.get("annotations"), format!("{path}metadata.annotations"));
    let (is_template, takes_app_armor) = (!path.is_empty(), settings.profile().is("app-armor-is-a-field"));
    let path = format!("{path}spec");
    placement(spec, &path, meta::wording(settings), warnings);
    for (key, why) in ANNOTATIONS.iter().filter(|(key, _)| !annotations.0.get(key).is_null()) {
        warnings.push(format!("{}[{key}]: {why}", annotations.1));
    }
    volumes(spec, &path, settings, warnings);
    repeated_names(spec, &path, warnings);
    fractions(spec.get("overhead"), &format!("{path}.overhead"), warnings);
    let unused = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
    let has_own = |of: &Json| !of.at(&["securityContext", "seccompProfile"]).is_null();
    if !has_own(spec) && !annotations.0.get(SECCOMP_OF_POD).is_null() {
        warnings.push(format!("{}[{SECCOMP_OF_POD}]: {unused}", annotations.1));
    }
    for (own, container) in containers(spec, &path) {
        let key = format!("{SECCOMP_OF_CONTAINER}{}", text(container, "name"));
        if !has_own(container) && !annotations.0.get(&key).is_null() {
            warnings.push(format!("{}[{key}]: {unused}", annotations.1));
        }
        let key = format!("{APP_ARMOR}{}", text(container, "name"));
        let annotation = annotations.0.get(&key).as_str().filter(|_| is_template && takes_app_armor);
        if annotation.is_some_and(|annotation| security::needs_app_armor_field(annotation, container, spec)) {
            warnings.push(format!("{}[{key}]: {APP_ARMOR_IS_A_FIELD}", annotations.1));
        }
        for list in ["limits", "requests"] {
            fractions(container.at(&["resources", list]), &format!("{own}.resources.{list}"), warnings);
        }
        variables(container, &own, warnings);
    }
    ports(spec, &path, settings, warnings);
    if spec.get("terminationGracePeriodSeconds").as_i64().is_some_and(|seconds| seconds < 0) {
        warnings.push(format!(
            "{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    null_selectors(spec, &path, warnings);
    if settings.profile().is("unusual-addresses-warn") {
        addresses(spec, &path, warnings);
    }
}

/// Warns about profiles of AppArmor that a new Pod, as it was sent, has as annotations. Source:
/// pkg/registry/core/pod/strategy.go (v1.34), `applyAppArmorVersionSkew`.
pub(in super::super) fn of_app_armor(sent: &Json, settings: &Settings) -> Vec<String> {
    let (own, spec) = (sent.at(&["metadata", "annotations"]), sent.get("spec"));
    if !settings.profile().is("app-armor-is-a-field") || spec.at(&["os", "name"]).as_str() == Some("windows") {
        return Vec::new();
    }
    let keys = containers(spec, "").into_iter().filter_map(|(_, container)| {
        let key = format!("{APP_ARMOR}{}", text(container, "name"));
        let annotation = own.get(&key).as_str()?;
        security::needs_app_armor_field(annotation, container, spec).then_some(key)
    });
    keys.map(|key| format!("metadata.annotations[{key}]: {APP_ARMOR_IS_A_FIELD}")).collect()
}

/// The annotations that mean nothing any more. Source: warnings.go (v1.34), `deprecatedAnnotations`.
const ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    ("security.alpha.kubernetes.io/unsafe-sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
];
/// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `SeccompPodAnnotationKey`.
const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
/// Source: as above, `SeccompContainerAnnotationKeyPrefix`.
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
/// Source: as above, `DeprecatedAppArmorBetaContainerAnnotationKeyPrefix`.
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const APP_ARMOR_IS_A_FIELD: &str = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const NULL_SELECTOR: &str = "a null labelSelector results in matching no pod";
/// The types of volumes that are going or gone. Source: warnings.go (v1.34), `warningsForPodSpecAndMeta`.
const VOLUMES: [(&str, &str, &str); 8] = [
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

fn text<'a>(of: &'a Json, field: &str) -> &'a str {
    of.get(field).as_str().unwrap_or("")
}

/// Returns the containers with their paths, in the order in which upstream visits them.
fn containers<'a>(spec: &'a Json, path: &str) -> Vec<(String, &'a Json)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"].into_iter();
    lists
        .flat_map(|list| {
            let all = spec.get(list).items().iter().enumerate();
            all.map(move |(at, own)| (format!("{path}.{list}[{at}]"), own))
        })
        .collect()
}

fn placement(spec: &Json, path: &str, wording: Wording, warnings: &mut Vec<String>) {
    for (key, _) in spec.get("nodeSelector").fields() {
        warnings.extend(deprecated_label(key).map(|why| format!("{path}.nodeSelector[{key}]: {why}")));
    }
    let affinity = spec.at(&["affinity", "nodeAffinity"]);
    for (at, term) in affinity.at(&[REQUIRED, "nodeSelectorTerms"]).items().iter().enumerate() {
        node_term(term, &format!("{path}.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[{at}]"), warnings);
    }
    for (at, term) in affinity.get(PREFERRED).items().iter().enumerate() {
        let (term, path) =
            (term.get("preference"), format!("{path}.affinity.nodeAffinity.{PREFERRED}[{at}].preference"));
        for (at, expression) in term.get("matchExpressions").items().iter().enumerate() {
            let path = format!("{path}.matchExpressions[{at}]");
            expression_key(expression, &path, warnings);
            for (at, value) in expression.get("values").items().iter().filter_map(Json::as_str).enumerate() {
                let problems = names::label_value(value, wording).into_iter();
                warnings.extend(problems.map(|why| format!("{path}.values[{at}]: {value} is invalid, {why}")));
            }
        }
    }
    for (at, constraint) in spec.get("topologySpreadConstraints").items().iter().enumerate() {
        let field = format!("{path}.topologySpreadConstraints[{at}]");
        let key = text(constraint, "topologyKey");
        warnings.extend(deprecated_label(key).map(|why| format!("{field}.topologyKey: {key} is {why}")));
        if constraint.get("labelSelector").is_null() {
            warnings.push(format!("{field}.labelSelector: {NULL_SELECTOR}"));
        }
    }
}

pub(super) fn node_term(term: &Json, path: &str, warnings: &mut Vec<String>) {
    for (at, expression) in term.get("matchExpressions").items().iter().enumerate() {
        expression_key(expression, &format!("{path}.matchExpressions[{at}]"), warnings);
    }
}

fn expression_key(expression: &Json, path: &str, warnings: &mut Vec<String>) {
    let key = text(expression, "key");
    warnings.extend(deprecated_label(key).map(|why| format!("{path}.key: {key} is {why}")));
}

fn null_selectors(spec: &Json, path: &str, warnings: &mut Vec<String>) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        for (when, inner) in [(REQUIRED, ""), (PREFERRED, ".podAffinityTerm")] {
            for (at, term) in spec.at(&["affinity", kind, when]).items().iter().enumerate() {
                let term = if inner.is_empty() { term } else { term.get("podAffinityTerm") };
                if term.get("labelSelector").is_null() {
                    warnings.push(format!("{path}.affinity.{kind}.{when}[{at}]{inner}.labelSelector: {NULL_SELECTOR}"));
                }
            }
        }
    }
}

/// Warns about volumes of types that are going, and about files of one volume that hide each other.
fn volumes(spec: &Json, path: &str, settings: &Settings, warnings: &mut Vec<String>) {
    let all = spec.get("volumes").items();
    for (at, volume) in all.iter().enumerate() {
        let old = VOLUMES.iter().filter(|(source, ..)| !volume.get(source).is_null());
        warnings.extend(old.map(|(_, shown, why)| format!("{path}.volumes[{at}].{shown}: {why}")));
        if !volume.get("gitRepo").is_null() {
            let more =
                if settings.profile().is("git-repos-are-off") { ", and disabled by default in v1.33+" } else { "" };
            warnings.push(format!("{path}.volumes[{at}].gitRepo: deprecated in v1.11{more}"));
        }
        let template = volume.at(&["ephemeral", "volumeClaimTemplate"]);
        super::claim(
            template.get("spec"),
            &format!("{path}.volumes[{at}].ephemeral.volumeClaimTemplate.spec"),
            warnings,
        );
    }
    if !settings.profile().is("overlapping-paths-warn") {
        return;
    }
    for volume in all {
        let name = text(volume, "name");
        for (source, what) in [
            ("configMap", format!("ConfigMap {:?}", text(volume.get("configMap"), "name"))),
            ("secret", format!("Secret {:?}", text(volume.get("secret"), "secretName"))),
            ("downwardAPI", String::from("DownwardAPI")),
        ] {
            let mut seen = Vec::new();
            for item in volume.at(&[source, "items"]).items() {
                overlaps(text(item, "path"), "", &mut seen, |told| {
                    warnings.push(format!("volume {name:?} ({what}): overlapping paths: {told}"));
                });
            }
        }
        let mut seen = Vec::new();
        for source in volume.at(&["projected", "sources"]).items() {
            if source.fields().len() == 0 {
                warnings.push(format!("volume {name:?} (Projected) has no sources provided"));
            }
            for (path, what) in projected_paths(source) {
                overlaps(&path, &what, &mut seen, |told| {
                    warnings.push(format!("volume {name:?} (Projected): overlapping paths: {told}"));
                });
            }
        }
    }
}

/// Returns the files of a source with what they are from.
fn projected_paths(source: &Json) -> Vec<(String, String)> {
    let of_items = |field: &str, what: String| -> Vec<(String, String)> {
        let all = source.at(&[field, "items"]).items().iter();
        all.map(|item| (text(item, "path").to_string(), what.clone())).collect()
    };
    let name = |field: &str| text(source.get(field), "name");
    if !source.at(&["configMap", "items"]).is_empty() {
        return of_items("configMap", format!("ConfigMap {:?}", name("configMap")));
    }
    if !source.at(&["secret", "items"]).is_empty() {
        return of_items("secret", format!("Secret {:?}", name("secret")));
    }
    if !source.at(&["downwardAPI", "items"]).is_empty() {
        return of_items("downwardAPI", String::from("DownwardAPI"));
    }
    let own = |field: &str| text(source.get(field), "path").to_string();
    if source.get("serviceAccountToken").is_object() {
        return Vec::from([(own("serviceAccountToken"), String::from("ServiceAccountToken"))]);
    }
    let bundle = source.get("clusterTrustBundle");
    if bundle.is_object() {
        let named = if bundle.get("name").is_null() { "signerName" } else { "name" };
        return Vec::from([(own("clusterTrustBundle"), format!("ClusterTrustBundle {:?}", text(bundle, named)))]);
    }
    Vec::new()
}

/// Tells of the paths that a further one hides or is hidden by. Source: warnings.go (v1.34), `checkForOverlap`.
fn overlaps(path: &str, what: &str, seen: &mut Vec<(String, String)>, mut tell: impl FnMut(String)) {
    let shown =
        |path: &str, what: &str| if what.is_empty() { format!("{path:?}") } else { format!("{path:?} ({what})") };
    let path = path.trim_end_matches('/');
    let is_within = |inner: &str, outer: &str| format!("{inner}/").starts_with(&format!("{outer}/"));
    for (other, from) in seen.iter().filter(|(other, _)| !path.is_empty() && !other.is_empty()) {
        if is_within(other, path) || is_within(path, other) {
            tell(format!("{} with {}", shown(path, what), shown(other, from)));
        }
    }
    seen.push((path.to_string(), what.to_string()));
}

fn repeated_names(spec: &Json, path: &str, warnings: &mut Vec<String>) {
    let aliases = spec.get("hostAliases").items();
    for (at, alias) in aliases.iter().enumerate() {
        let ip = text(alias, "ip");
        if aliases[..at].iter().any(|other| text(other, "ip") == ip) {
            warnings.push(format!("{path}.hostAliases[{at}].ip: duplicate ip {ip:?}"));
        }
    }
    let secrets = spec.get("imagePullSecrets").items();
    for (at, secret) in secrets.iter().enumerate() {
        let name = text(secret, "name");
        if secrets[..at].iter().any(|other| text(other, "name") == name) {
            warnings.push(format!("{path}.imagePullSecrets[{at}].name: duplicate name {name:?}"));
        }
    }
    for (at, _) in secrets.iter().enumerate().filter(|(_, secret)| text(secret, "name").is_empty()) {
        warnings.push(format!("{path}.imagePullSecrets[{at}].name: invalid empty name \"\""));
    }
}

/// Warns about parts of bytes.
fn fractions(amounts: &Json, path: &str, warnings: &mut Vec<String>) {
    for name in ["memory", "ephemeral-storage"] {
        let amount = amounts.get(name);
        if Quantity::from_json(amount).is_some_and(|amount| amount.milli_value() % 1000 != 0) {
            let value = amount.as_str().unwrap_or("");
            warnings.push(format!("{path}[{name}]: fractional byte value {value:?} is invalid, must be an integer"));
        }
    }
}

/// Warns about variables that hide others of their name, unless they hold them.
fn variables(container: &Json, path: &str, warnings: &mut Vec<String>) {
    let all = container.get("env").items();
    for (at, variable) in all.iter().enumerate() {
        let (name, value) = (text(variable, "name"), text(variable, "value"));
        let own = format!("$({name})");
        let holds = variable.get("valueFrom").is_null() && value != own && value.contains(&own);
        if !holds && all[..at].iter().any(|other| text(other, "name") == name) {
            let why = format!("hides previous definition of {name:?}, which may be dropped when using apply");
            warnings.push(format!("{path}.env[{at}]: {why}"));
        }
    }
}

/// Warns about ports that are there twice, by number or by name.
fn ports(spec: &Json, path: &str, settings: &Settings, warnings: &mut Vec<String>) {
    let containers = containers(spec, path);
    let all = containers.iter().flat_map(|(path, container)| {
        let ports = container.get("ports").items().iter().enumerate();
        ports.map(move |(at, port)| (format!("{path}.ports[{at}]"), port))
    });
    let all: Vec<(String, &Json)> = all.collect();
    let number = |port: &Json, field: &str| port.get(field).as_i64().unwrap_or(0);
    for (at, (path, port)) in all.iter().enumerate() {
        let (ip, host) = (text(port, "hostIP"), number(port, "hostPort"));
        let (inner, protocol) = (number(port, "containerPort"), text(port, "protocol"));
        if !ip.is_empty() && host == 0 {
            let shown = format!(
                "{{Name:{} HostPort:0 ContainerPort:{inner} Protocol:{protocol} HostIP:{ip}}}",
                text(port, "name")
            );
            warnings.push(format!("{path}: hostIP set without hostPort: {shown}"));
        }
        let is_same = |other: &Json| number(other, "containerPort") == inner && text(other, "protocol") == protocol;
        for (other_path, other) in all[..at].iter().filter(|(_, other)| is_same(other)) {
            let (other_ip, other_host) = (text(other, "hostIP"), number(other, "hostPort"));
            let what = match () {
                () if ip == other_ip && host == other_host => "duplicate",
                () if host == 0 || other_host == 0 => "overlapping",
                () if host == other_host && ip.is_empty() != other_ip.is_empty() => "dangerously ambiguous",
                () => continue,
            };
            warnings.push(format!("{path}: {what} port definition with {other_path}"));
        }
    }
    if !settings.profile().is("port-names-warn") {
        return;
    }
    for (at, (path, port)) in all.iter().enumerate() {
        let name = text(port, "name");
        if let Some((first, _)) = all[..at].iter().find(|(_, other)| !name.is_empty() && text(other, "name") == name) {
            warnings.push(format!(
                "{path}: duplicate port name {name:?} with {first}, services and probes that select ports by name will \
                 use {first}"
            ));
        }
    }
}

fn addresses(spec: &Json, path: &str, warnings: &mut Vec<String>) {
    for (at, server) in spec.at(&["dnsConfig", "nameservers"]).items().iter().filter_map(Json::as_str).enumerate() {
        warnings.extend(ip::warning(server, &format!("{path}.dnsConfig.nameservers[{at}]")));
    }
    for (at, alias) in spec.get("hostAliases").items().iter().enumerate() {
        warnings.extend(ip::warning(text(alias, "ip"), &format!("{path}.hostAliases[{at}].ip")));
    }
}
