//! What keeps a container from being made although its image is there: an object that its environment names, and a user
//! that its pod forbids.
//!
//! Mirrors `makeEnvironmentVariables` of pkg/kubelet/kubelet_pods.go and `verifyRunAsNonRoot` of
//! pkg/kubelet/kuberuntime/security_context_others.go (v1.34). Inputs: the pod, the objects that it names. Output: why
//! it cannot be made. Left out on purpose: the user of an image, which is taken for another than root.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

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
        self.environment_error(pod, container, context)?;
        breaks_user_policy(pod, container).map_or(Ok(()), |why| Err(CacheError::Unknown(why)))
    }

    fn environment_error(
        &mut self,
        pod: &Object,
        container: &Json,
        context: &mut KubeletContext<'_>,
    ) -> Result<(), CacheError> {
        let namespace = pod.key().namespace;
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
            if let Some((field, kind)) = found {
                get(*kind, part.get(field))?;
            }
        }
        for variable in container.get("env").items() {
            // A value hides where else one may come from.
            if variable.get("value").as_str().is_some_and(|own| !own.is_empty()) {
                continue;
            }
            let from = variable.get("valueFrom");
            let found = KEYS.iter().find(|(field, ..)| from.get(field).is_object());
            let Some((field, kind, told)) = found else { continue };
            let source = from.get(field);
            let Some(object) = get(*kind, source)? else { continue };
            let key = source.get("key").as_str().unwrap_or_default();
            if object.stable().at(&["data", key]).is_null() && !is_optional(source) {
                let named = object.key();
                return Err(CacheError::Unknown(format!(
                    "couldn't find key {key} in {told} {}/{}",
                    named.namespace, named.name
                )));
            }
        }
        Ok(())
    }
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
