//! What keeps a container from being made although its image is there: an object or a container that its environment
//! names, a part of a volume, and a user that its pod forbids.
//!
//! Mirrors `makeEnvironmentVariables` of pkg/kubelet/kubelet_pods.go and `verifyRunAsNonRoot` of
//! pkg/kubelet/kuberuntime/security_context_others.go (v1.34). Inputs: the pod, the objects that it names. Output: why
//! it cannot be made. Left out on purpose: the user of an image, which is taken for another than root.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use super::sub_paths::Variables;
use crate::components::ROOT_CERTIFICATE;
use crate::components::host::runtime::ContainerRole;
use crate::components::kubelet::object_cache::{CacheError, CacheReader, CachedKind};
use crate::components::kubelet::{Kubelet, KubeletContext};
use crate::objects::{Json, Object, ObjectKey, Text};

/// The reason of a container that cannot be made.
/// Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34), `ErrCreateContainerConfig`.
pub(super) const CONFIG_ERROR: &str = "CreateContainerConfigError";

/// Where a part of an environment names a ConfigMap or secret, and the kind as errors about its keys print it.
const WHOLE: [(&str, CachedKind); 2] = [("configMapRef", CachedKind::ConfigMap), ("secretRef", CachedKind::Secret)];
const KEYS: [(&str, CachedKind, &str); 2] =
    [("configMapKeyRef", CachedKind::ConfigMap, "ConfigMap"), ("secretKeyRef", CachedKind::Secret, "Secret")];

impl Kubelet {
    /// Tells why a container cannot be made.
    pub(super) fn config_error(
        &mut self,
        pod: &Object,
        name: &str,
        context: &mut KubeletContext<'_>,
    ) -> Result<(), CacheError> {
        let Some((_, container)) = ContainerRole::find(pod, name) else { return Ok(()) };
        let variables = self.variables(pod, container, context)?;
        let why = variables.mount_error(container).or_else(|| breaks_user_policy(pod, container));
        why.map_or(Ok(()), |why| Err(CacheError::Unknown(why)))
    }

    fn variables(
        &mut self,
        pod: &Object,
        container: &Json,
        context: &mut KubeletContext<'_>,
    ) -> Result<Variables, CacheError> {
        let namespace = pod.key().namespace;
        let mut variables = Variables::default();
        let mut known: BTreeMap<(CachedKind, Text), Object> = BTreeMap::new();
        let mut get = |kind: CachedKind, source: &Json| {
            let name = source.get("name").as_text().cloned().unwrap_or_default();
            if kind == CachedKind::ConfigMap && name == *ROOT_CERTIFICATE {
                return Ok(None);
            }
            if let Some(known) = known.get(&(kind, name.clone())) {
                return Ok(Some(known.clone()));
            }
            let key = ObjectKey { namespace: namespace.clone(), name: name.clone() };
            match self.referenced(kind, &key, CacheReader::Container, context) {
                Err(CacheError::NotFound(_)) if is_optional(source) => Ok(None),
                found => found.map(|object| {
                    known.insert((kind, name), object.clone());
                    Some(object)
                }),
            }
        };
        for part in container.get("envFrom").items() {
            let found = WHOLE.iter().find(|(field, _)| part.get(field).is_object());
            let Some((field, kind)) = found else { continue };
            let Some(object) = get(*kind, part.get(field))? else { continue };
            let prefix = part.get("prefix").as_str().unwrap_or_default();
            for (key, value) in object.stable().get("data").fields() {
                variables.set(&format!("{prefix}{key}"), value_of(*kind, value));
            }
        }
        for variable in container.get("env").items() {
            let name = variable.get("name").as_str().unwrap_or_default();
            // A value hides where else one may come from.
            if let Some(value) = variable.get("value").as_str().filter(|own| !own.is_empty()) {
                variables.set_expanded(name, value);
                continue;
            }
            let from = variable.get("valueFrom");
            let found = KEYS.iter().find(|(field, ..)| from.get(field).is_object());
            let Some((field, kind, told)) = found else {
                if let Some(missing) = missing_container(pod, from) {
                    return Err(CacheError::Unknown(format!("container {missing} not found")));
                }
                let is_empty = from.is_null() || is_empty_field(pod, from);
                variables.set(name, is_empty.then(String::new));
                continue;
            };
            let source = from.get(field);
            let Some(object) = get(*kind, source)? else { continue };
            let key = source.get("key").as_str().unwrap_or_default();
            let value = object.stable().at(&["data", key]);
            if !value.is_null() {
                variables.set(name, value_of(*kind, value));
            } else if !is_optional(source) {
                let named = object.key();
                return Err(CacheError::Unknown(format!(
                    "couldn't find key {key} in {told} {}/{}",
                    named.namespace, named.name
                )));
            }
        }
        Ok(variables)
    }
}

/// Returns the value of a variable that is taken from an object; the one of a secret is not looked at.
fn value_of(kind: CachedKind, value: &Json) -> Option<String> {
    value.as_str().filter(|_| kind == CachedKind::ConfigMap).map(String::from)
}

/// Returns the container whose resources a variable tells, if the pod does not have it.
///
/// Source: pkg/api/v1/resource/helpers.go (v1.34), `findContainerInPod`.
fn missing_container<'a>(pod: &Object, from: &'a Json) -> Option<&'a str> {
    let name = from.at(&["resourceFieldRef", "containerName"]).as_str().filter(|name| !name.is_empty())?;
    ContainerRole::find(pod, name).is_none().then_some(name)
}

/// Tells whether a variable takes its value from a label or an annotation that the pod does not have.
fn is_empty_field(pod: &Object, from: &Json) -> bool {
    let path = from.at(&["fieldRef", "fieldPath"]).as_str().and_then(|path| path.strip_prefix("metadata."));
    let part = path.and_then(|path| path.split_once("['"));
    part.is_some_and(|(list, key)| {
        let value = pod.stable().at(&["metadata", list, key.trim_end_matches("']")]);
        value.as_str().is_none_or(str::is_empty)
    })
}

/// Tells whether a reference says that what it names may be missing.
pub(in crate::components::kubelet) fn is_optional(source: &Json) -> bool {
    source.get("optional").as_bool() == Some(true)
}

/// Tells how the user of a container breaks the rule that it is not to be root.
fn breaks_user_policy(pod: &Object, container: &Json) -> Option<String> {
    let own = |field: &str| {
        let of_container = container.at(&["securityContext", field]);
        if of_container.is_null() { pod.stable().at(&["spec", "securityContext", field]) } else { of_container }
    };
    let is_root = own("runAsNonRoot").as_bool() == Some(true) && own("runAsUser").as_i64() == Some(0);
    let key = pod.key();
    is_root.then(|| {
        format!(
            "container's runAsUser breaks non-root policy (pod: \"{}_{}({})\", container: {})",
            key.name,
            key.namespace,
            pod.uid(),
            container.get("name").as_str().unwrap_or_default()
        )
    })
}
