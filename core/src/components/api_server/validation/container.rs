//! Validation of containers: their names, ports, variables, mounts, probes and hooks.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34): `validateContainers`, `validateInitContainers`,
//! `validateContainerCommon`, `validateHandler`. Inputs: the specification of a Pod, and its valid volumes. Outputs:
//! errors. Left out on purpose: HTTP headers, signals.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::amount::{check_port, not_negative};
use super::pod_rules::Rules;
use super::{
    FieldError, Problem, invalid, one_of, placement, pod_resources, quote, restarts, security, text, variables,
};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

const NOT_FOR_INIT: &str = "may not be set for init containers without restartPolicy=Always";
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

/// What containers are checked against.
struct ContainerContext<'a> {
    spec: &'a Json,
    volumes: &'a [&'a Json],
    wording: Wording,
    rules: Rules,
}

/// Checks all containers of a Pod.
pub(super) fn validate(
    spec: &Json,
    volumes: &[&Json],
    (wording, rules): (Wording, Rules),
    errors: &mut Vec<FieldError>,
) {
    let context = ContainerContext { spec, volumes, wording, rules };
    let containers = spec.get("containers").items();
    if containers.is_empty() {
        errors.push(FieldError::required("spec.containers", ""));
    }
    let mut names: Vec<&str> = Vec::new();
    for (at, container) in containers.iter().enumerate() {
        let path = format!("spec.containers[{at}]");
        common(container, &path, &context, errors);
        is_new_name(container, &path, &mut names, errors);
        // An init container without a name takes none.
        names.push(text(container, "name"));
        lifecycle(container, &path, spec, errors);
        probes(container, &path, errors);
        restarts::of_container(container, &path, rules, errors);
    }
    unique_host_ports(containers, 0, "containers", errors);
    for (at, container) in spec.get("initContainers").items().iter().enumerate() {
        let path = format!("spec.initContainers[{at}]");
        common(container, &path, &context, errors);
        restarts::of_init_container(container, &path, rules, errors);
        is_new_name(container, &path, &mut names, errors);
        unique_host_ports(core::slice::from_ref(container), at, "initContainers", errors);
        if text(container, "restartPolicy") == "Always" {
            lifecycle(container, &path, spec, errors);
            probes(container, &path, errors);
        } else {
            for field in ["lifecycle"].into_iter().chain(PROBES).filter(|field| !container.get(field).is_null()) {
                errors.push(FieldError::forbidden(format!("{path}.{field}"), NOT_FOR_INIT));
            }
        }
    }
    for (at, container) in spec.get("ephemeralContainers").items().iter().enumerate() {
        let path = format!("spec.ephemeralContainers[{at}]");
        common(container, &path, &context, errors);
        trimmed_image(container, &path, errors);
        is_new_name(container, &path, &mut names, errors);
        only_for_debugging(container, &path, spec, errors);
    }
}

/// Checks that a container that debugs has nothing that a workload relies on. Source: validation.go (v1.34),
/// `validateEphemeralContainers`.
fn only_for_debugging(container: &Json, path: &str, spec: &Json, errors: &mut Vec<FieldError>) {
    let target = text(container, "targetContainerName");
    let mut others = ["containers", "initContainers"].into_iter().flat_map(|list| spec.get(list).items());
    if !target.is_empty() && !others.any(|other| text(other, "name") == target) {
        let field = format!("{path}.targetContainerName");
        errors.push(FieldError::new(field, super::Problem::NotFound, format!("{target:?}"), ""));
    }
    let fields = ["ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"];
    let fields = fields.into_iter().chain(PROBES).chain(["lifecycle"]);
    // An empty structure is its zero value, an empty list is not.
    for field in fields.filter(|field| match container.get(field) {
        Json::Null => false,
        Json::Object(own) => *field != "resources" || !own.is_empty(),
        _ => true,
    }) {
        errors.push(FieldError::forbidden(format!("{path}.{field}"), NOT_FOR_DEBUGGING));
    }
    for (at, mount) in container.get("volumeMounts").items().iter().enumerate() {
        for field in ["subPath", "subPathExpr"].into_iter().filter(|field| !text(mount, field).is_empty()) {
            errors.push(FieldError::forbidden(format!("{path}.volumeMounts[{at}].{field}"), NOT_FOR_DEBUGGING));
        }
    }
}

const NOT_FOR_DEBUGGING: &str = "cannot be set for an Ephemeral Container";

/// Checks the image of a container of a Pod; in templates it may have spaces around it. Source: validation.go (v1.34),
/// `validateContainerOnlyForPod`.
pub(super) fn trimmed_image(container: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let image = text(container, "image");
    if image.trim() != image {
        let why = "must not have leading or trailing whitespace";
        errors.push(FieldError::invalid_text(format!("{path}.image"), image, why));
    }
}

fn is_new_name<'a>(container: &'a Json, path: &str, names: &mut Vec<&'a str>, errors: &mut Vec<FieldError>) {
    let name = text(container, "name");
    if names.contains(&name) {
        errors.push(FieldError::duplicate(format!("{path}.name"), &Json::from(name)));
    } else if !name.is_empty() {
        names.push(name);
    }
}

/// Checks what is common to containers of all kinds.
fn common(container: &Json, path: &str, context: &ContainerContext<'_>, errors: &mut Vec<FieldError>) {
    let name = text(container, "name");
    if name.is_empty() {
        errors.push(FieldError::required(format!("{path}.name"), ""));
    } else {
        invalid(names::label(name, context.wording), format!("{path}.name"), name, errors);
    }
    if text(container, "image").is_empty() {
        errors.push(FieldError::required(format!("{path}.image"), ""));
    }
    let policies = ["File", "FallbackToLogsOnError"];
    let field = format!("{path}.terminationMessagePolicy");
    one_of(&field, text(container, "terminationMessagePolicy"), &policies, errors);
    ports(container, path, errors);
    variables::check(container, path, (context.wording, context.rules), errors);
    mounts(container, path, context, errors);
    devices(container, path, context, errors);
    let policies = ["Always", "IfNotPresent", "Never"];
    one_of(&format!("{path}.imagePullPolicy"), text(container, "imagePullPolicy"), &policies, errors);
    pod_resources::resources(container.get("resources"), &format!("{path}.resources"), context.wording, errors);
    placement::claims(context.spec, container, path, context.wording, errors);
    resize_policies(container, path, text(context.spec, "restartPolicy"), errors);
    security::of_container(container, path, context.spec, context.wording, errors);
}

fn ports(container: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let mut names: Vec<&str> = Vec::new();
    for (at, port) in container.get("ports").items().iter().enumerate() {
        let path = format!("{path}.ports[{at}]");
        let name = text(port, "name");
        let problems = if name.is_empty() { Vec::new() } else { names::port_name(name) };
        if !name.is_empty() && problems.is_empty() {
            if names.contains(&name) {
                errors.push(FieldError::duplicate(format!("{path}.name"), &Json::from(name)));
            }
            names.push(name);
        }
        invalid(problems, format!("{path}.name"), name, errors);
        match port.get("containerPort").as_i64().unwrap_or(0) {
            0 => errors.push(FieldError::required(format!("{path}.containerPort"), "")),
            number => check_port(&format!("{path}.containerPort"), number, errors),
        }
        if let Some(host) = port.get("hostPort").as_i64().filter(|host| *host != 0) {
            check_port(&format!("{path}.hostPort"), host, errors);
        }
        one_of(&format!("{path}.protocol"), text(port, "protocol"), &["SCTP", "TCP", "UDP"], errors);
    }
}

/// Checks that no two ports are the same one of the machine.
fn unique_host_ports(containers: &[Json], from: usize, list: &str, errors: &mut Vec<FieldError>) {
    let mut seen: Vec<String> = Vec::new();
    for (number, container) in containers.iter().enumerate() {
        for (at, port) in container.get("ports").items().iter().enumerate() {
            let Some(host) = port.get("hostPort").as_i64().filter(|host| *host != 0) else { continue };
            let key = format!("{}/{}/{host}", text(port, "protocol"), text(port, "hostIP"));
            if seen.contains(&key) {
                let path = format!("spec.{list}[{}].ports[{at}].hostPort", from + number);
                errors.push(FieldError::duplicate(path, &Json::from(key.as_str())));
            }
            seen.push(key);
        }
    }
}

fn not_found(path: String, name: &str) -> FieldError {
    FieldError::new(path, Problem::NotFound, quote(name), "")
}

/// Source: validation.go (v1.34), `ValidateVolumeMounts`.
fn mounts(container: &Json, path: &str, context: &ContainerContext<'_>, errors: &mut Vec<FieldError>) {
    let devices = container.get("volumeDevices").items();
    let mut paths: Vec<&str> = Vec::new();
    for (at, mount) in container.get("volumeMounts").items().iter().enumerate() {
        let field = |name: &str| format!("{path}.volumeMounts[{at}].{name}");
        let (name, mounted) = (text(mount, "name"), text(mount, "mountPath"));
        if name.is_empty() {
            errors.push(FieldError::required(field("name"), ""));
        }
        if !context.volumes.iter().any(|volume| text(volume, "name") == name) {
            errors.push(not_found(field("name"), name));
        }
        if mounted.is_empty() {
            errors.push(FieldError::required(field("mountPath"), ""));
        }
        if paths.contains(&mounted) {
            errors.push(FieldError::invalid_text(field("mountPath"), mounted, "must be unique"));
        }
        paths.push(mounted);
        if devices.iter().any(|device| text(device, "name") == name) {
            errors.push(FieldError::invalid_text(field("name"), name, "must not already exist in volumeDevices"));
        }
        if devices.iter().any(|device| text(device, "devicePath") == mounted) {
            let why = "must not already exist as a path in volumeDevices";
            errors.push(FieldError::invalid_text(field("mountPath"), mounted, why));
        }
        let (own, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
        local_path(own, format!("{path}.volumeMounts.subPath"), errors);
        if !own.is_empty() && !expression.is_empty() {
            let why = "subPathExpr and subPath are mutually exclusive";
            errors.push(FieldError::invalid_text(field("subPathExpr"), expression, why));
        }
        local_path(expression, format!("{path}.volumeMounts.subPathExpr"), errors);
        propagation(mount, container, path, errors);
    }
}

/// Checks which mounts a container sees, and whether they can be written below. Source: validation.go (v1.34),
/// `validateMountPropagation` and `validateMountRecursiveReadOnly`.
fn propagation(mount: &Json, container: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let mode = mount.get("mountPropagation").as_str();
    let field = format!("{path}.volumeMounts.mountPropagation");
    let modes = ["Bidirectional", "HostToContainer", "None"];
    if let Some(mode) = mode.filter(|mode| !modes.contains(mode)) {
        errors.push(FieldError::not_supported(field.as_str(), mode, &modes));
    }
    let is_privileged = container.at(&["securityContext", "privileged"]).as_bool() == Some(true);
    if mode == Some("Bidirectional") && !is_privileged {
        let why = "Bidirectional mount propagation is available only to privileged containers";
        errors.push(FieldError::forbidden(field, why));
    }
    let field = format!("{path}.volumeMounts.recursiveReadOnly");
    match mount.get("recursiveReadOnly").as_str() {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if mount.get("readOnly").as_bool() != Some(true) {
                errors.push(FieldError::forbidden(field.as_str(), "may only be specified when readOnly is true"));
            }
            if mode.is_some_and(|mode| mode != "None") {
                let why = "may only be specified when mountPropagation is None or not specified";
                errors.push(FieldError::forbidden(field, why));
            }
        }
        Some(other) => {
            errors.push(FieldError::not_supported(field, other, &["Disabled", "Enabled", "IfPossible"]));
        }
    }
}

/// Source: validation.go (v1.34), `validateLocalDescendingPath`.
pub(super) fn local_path(value: &str, path: String, errors: &mut Vec<FieldError>) {
    if value.starts_with('/') {
        errors.push(FieldError::invalid_text(path.as_str(), value, "must be a relative path"));
    }
    if value.split('/').any(|part| part == "..") {
        errors.push(FieldError::invalid_text(path, value, "must not contain '..'"));
    }
}

/// Source: validation.go (v1.34), `ValidateVolumeDevices`.
fn devices(container: &Json, path: &str, context: &ContainerContext<'_>, errors: &mut Vec<FieldError>) {
    let mounts = container.get("volumeMounts").items();
    let (mut names, mut paths): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (at, device) in container.get("volumeDevices").items().iter().enumerate() {
        let field = |name: &str| format!("{path}.volumeDevices[{at}].{name}");
        let (name, place) = (text(device, "name"), text(device, "devicePath"));
        if name.is_empty() {
            errors.push(FieldError::required(field("name"), ""));
        }
        if names.contains(&name) {
            errors.push(FieldError::invalid_text(field("name"), name, "must be unique"));
        }
        match context.volumes.iter().find(|volume| text(volume, "name") == name) {
            None => errors.push(not_found(field("name"), name)),
            Some(volume) if volume.get("persistentVolumeClaim").is_null() && volume.get("ephemeral").is_null() => {
                let why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.push(FieldError::invalid_text(field("name"), name, why));
            }
            Some(_) => {}
        }
        if place.is_empty() {
            errors.push(FieldError::required(field("devicePath"), ""));
        }
        if paths.contains(&place) {
            errors.push(FieldError::invalid_text(field("devicePath"), place, "must be unique"));
        }
        if place.split('/').any(|part| part == "..") {
            errors.push(FieldError::invalid_text(field("devicePath"), place, "can not contain backsteps ('..')"));
        } else {
            paths.push(place);
        }
        if mounts.iter().any(|mount| text(mount, "name") == name) {
            errors.push(FieldError::invalid_text(field("name"), name, "must not already exist in volumeMounts"));
        }
        if mounts.iter().any(|mount| text(mount, "mountPath") == place) {
            let why = "must not already exist as a path in volumeMounts";
            errors.push(FieldError::invalid_text(field("devicePath"), place, why));
        }
        names.extend((!name.is_empty()).then_some(name));
    }
}

/// Source: validation.go (v1.34), `validateResizePolicy`.
fn resize_policies(container: &Json, path: &str, restart: &str, errors: &mut Vec<FieldError>) {
    let path = format!("{path}.resizePolicy");
    let mut seen: Vec<&str> = Vec::new();
    for (at, own) in container.get("resizePolicy").items().iter().enumerate() {
        let (name, policy) = (text(own, "resourceName"), text(own, "restartPolicy"));
        if seen.contains(&name) {
            errors.push(FieldError::duplicate(format!("{path}[{at}]"), &Json::from(name)));
        }
        seen.push(name);
        one_of(&path, name, &["cpu", "memory"], errors);
        one_of(&path, policy, &["NotRequired", "RestartContainer"], errors);
        if restart == "Never" && policy != "NotRequired" {
            let why = "must be 'NotRequired' when `restartPolicy` is 'Never'";
            errors.push(FieldError::invalid_text(path.as_str(), policy, why));
        }
    }
}

/// Checks what a container does when it starts and stops.
fn lifecycle(container: &Json, path: &str, spec: &Json, errors: &mut Vec<FieldError>) {
    let grace = spec.get("terminationGracePeriodSeconds").as_i64().unwrap_or(0);
    for hook in ["postStart", "preStop"] {
        let handler = container.at(&["lifecycle", hook]);
        if !handler.is_null() {
            let kinds = ["exec", "httpGet", "tcpSocket", "sleep"];
            check_handler(handler, &kinds, &format!("{path}.lifecycle.{hook}"), grace, errors);
        }
    }
}

/// Checks the probes. Source: validation.go (v1.34), `validateProbe` and its callers.
fn probes(container: &Json, path: &str, errors: &mut Vec<FieldError>) {
    for name in PROBES {
        let probe = container.get(name);
        if probe.is_null() {
            continue;
        }
        let path = format!("{path}.{name}");
        check_handler(probe, &["exec", "httpGet", "tcpSocket", "grpc"], &path, 0, errors);
        for field in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
        {
            not_negative(probe, &path, field, errors);
        }
        let grace = probe.get("terminationGracePeriodSeconds");
        let field = format!("{path}.terminationGracePeriodSeconds");
        if grace.as_i64().is_some_and(|seconds| seconds <= 0) {
            errors.push(FieldError::invalid(field.as_str(), grace, "must be greater than 0"));
        }
        let times = probe.get("successThreshold");
        if name == "readinessProbe" {
            if !grace.is_null() {
                errors.push(FieldError::invalid(field, grace, "must not be set for readinessProbes"));
            }
        } else if times.as_i64() != Some(1) {
            errors.push(FieldError::invalid(format!("{path}.successThreshold"), times, "must be 1"));
        }
    }
}

/// Checks that a probe or a hook does one thing. Source: validation.go (v1.34), `validateHandler`.
fn check_handler(handler: &Json, kinds: &[&str], path: &str, grace: i64, errors: &mut Vec<FieldError>) {
    let mut given = kinds.iter().filter(|kind| !handler.get(kind).is_null());
    let Some(first) = given.next() else {
        errors.push(FieldError::required(path, "must specify a handler type"));
        return;
    };
    let own = handler.get(first);
    let field = |name: &str| format!("{path}.{first}.{name}");
    match *first {
        "exec" if own.get("command").is_empty() => errors.push(FieldError::required(field("command"), "")),
        "httpGet" => {
            if text(own, "path").is_empty() {
                errors.push(FieldError::required(field("path"), ""));
            }
            port_or_name(own.get("port"), field("port"), errors);
            let schemes = ["HTTP", "HTTPS"];
            if !schemes.contains(&text(own, "scheme")) {
                errors.push(FieldError::not_supported(field("scheme"), text(own, "scheme"), &schemes));
            }
        }
        "tcpSocket" | "grpc" => port_or_name(own.get("port"), field("port"), errors),
        "sleep" => {
            let seconds = own.get("seconds");
            if !seconds.as_i64().is_some_and(|seconds| (0..=grace).contains(&seconds)) {
                let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                errors.push(FieldError::invalid(format!("{path}.sleep"), seconds, why));
            }
        }
        _ => {}
    }
    for kind in given {
        errors.push(FieldError::forbidden(format!("{path}.{kind}"), "may not specify more than 1 handler type"));
    }
}

fn port_or_name(port: &Json, path: String, errors: &mut Vec<FieldError>) {
    match port.as_str() {
        Some(name) => {
            invalid(names::port_name(name), &path, name, errors);
        }
        None => check_port(&path, port.as_i64().unwrap_or(0), errors),
    }
}
