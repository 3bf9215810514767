//! Gives a new Pod its service account and the volume with its token.
//!
//! Mirrors plugin/pkg/admission/serviceaccount/admission.go (v1.34). The controller that makes the account `default` of
//! each namespace is not part of the server. So a missing account `default` counts as present, but no token is mounted.
//! After [`ApiServer::require_service_accounts`] a Pod with a missing account is always refused.
//! Inputs: a new Pod. Outputs: the Pod with account, volume and mounts, or 403.

use alloc::format;
use alloc::string::String;

use super::admission_write::subject;
use super::{ApiServer, status};
use crate::components::MIRROR;
use crate::components::pod_references::{self, Reference};
use crate::json;
use crate::network::kinds::{self, Kind};
use crate::network::{Answer, SERVICE_ACCOUNTS};
use crate::objects::Json;

/// Source: admission.go, `DefaultAPITokenMountPath`.
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Source: admission.go, `ServiceAccountVolumeName`.
const TOKEN_VOLUME: &str = "kube-api-access-";
/// Source: admission.go, `EnforceMountableSecretsAnnotation`.
const ONLY_OWN_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";
/// Source: pkg/serviceaccount/claims.go (v1.34), `WarnOnlyBoundTokenExpirationSeconds`: an hour and seven seconds.
const TOKEN_SECONDS: i64 = 60 * 60 + 7;

impl ApiServer {
    /// Says that all service accounts are in the store, or will be: a Pod with another one is refused.
    pub fn require_service_accounts(&mut self) {
        self.has_all_accounts = true;
    }
}

/// Runs the plugin for a new Pod.
pub(super) fn admit(server: &mut ApiServer, kind: &Kind, tree: &mut Json) -> Result<(), Answer> {
    let name = String::from(subject(tree));
    let refuse = |why: &str| status::forbidden(&kind.resource, &name, why);
    let spec = tree.get("spec");
    if !tree.at(&["metadata", "annotations", MIRROR]).is_null() {
        if !spec.get("serviceAccountName").is_null() {
            return Err(refuse("a mirror pod may not reference service accounts"));
        }
        if !pod_references::names(tree, Reference::Secret).is_empty() {
            return Err(refuse("a mirror pod may not reference secrets"));
        }
        let mut sources =
            spec.get("volumes").items().iter().flat_map(|volume| volume.at(&["projected", "sources"]).items());
        if sources.any(|source| !source.get("serviceAccountToken").is_null()) {
            return Err(refuse("a mirror pod may not use ServiceAccountToken volume projections"));
        }
        return Ok(());
    }
    if spec.get("serviceAccountName").is_null() {
        tree.set(&["spec", "serviceAccountName"], "default");
        tree.set(&["spec", "serviceAccount"], "default");
    }
    let account = tree.at(&["spec", "serviceAccountName"]).as_text().cloned().unwrap_or_default();
    let namespace = tree.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
    let accounts = kinds::find(&SERVICE_ACCOUNTS).expect("a kind of the table");
    let store = &server.tables[accounts].store;
    // A controller makes the account `default`; a server without that controller takes it for present.
    let is_needed = *account != *"default" || server.has_all_accounts;
    if store.get(&namespace, &account).is_none() && !is_needed {
        return Ok(());
    }
    let Some(found) = store.get(&namespace, &account).cloned() else {
        let why =
            format!("error looking up service account {namespace}/{account}: serviceaccount {account:?} not found");
        return Err(refuse(&why));
    };
    if found.stable().at(&["metadata", "annotations", ONLY_OWN_SECRETS]).as_str().is_some_and(parses_as_true) {
        only_own_secrets(tree.get("spec"), found.stable(), &account).map_err(|why| refuse(&why))?;
    }
    let wanted = |json: &Json| json.get("automountServiceAccountToken").as_bool();
    if wanted(tree.get("spec")).or_else(|| wanted(found.stable())).unwrap_or(true) {
        let volumes = tree.at(&["spec", "volumes"]).items();
        let mut known = volumes.iter().filter_map(|volume| volume.get("name").as_str());
        let known = known.find(|name| name.starts_with(TOKEN_VOLUME)).map(String::from);
        let has = known.is_some();
        let volume = known.unwrap_or_else(|| format!("{TOKEN_VOLUME}{}", server.random_suffix()));
        if mount_token(&volume, tree) && !has {
            add_volume(&volume, tree);
        }
    }
    let secrets = found.stable().get("imagePullSecrets");
    if tree.at(&["spec", "imagePullSecrets"]).is_empty() && !secrets.is_empty() {
        tree.set(&["spec", "imagePullSecrets"], secrets.clone());
    }
    Ok(())
}

/// Mounts the token in containers that have none there, and tells whether there are any.
fn mount_token(volume: &str, tree: &mut Json) -> bool {
    let mut mounted = false;
    for list in ["initContainers", "containers"] {
        if !tree.at(&["spec", list]).is_array() {
            continue;
        }
        for container in tree.entry(&["spec", list]).make_array() {
            let has = |mount: &Json| mount.get("mountPath").as_str() == Some(MOUNT_PATH);
            if container.get("volumeMounts").items().iter().any(has) {
                continue;
            }
            let mut mount = json!({"readOnly": true, "mountPath": MOUNT_PATH});
            mount.set(&["name"], String::from(volume));
            container.entry(&["volumeMounts"]).make_array().push(mount);
            mounted = true;
        }
    }
    mounted
}

fn add_volume(volume: &str, tree: &mut Json) {
    let mut token = json!({"projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [
            {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}});
    token.set(&["name"], String::from(volume));
    tree.entry(&["spec", "volumes"]).make_array().push(token);
}

/// Source: Go's strconv/atob.go (1.24), `ParseBool`.
fn parses_as_true(text: &str) -> bool {
    ["1", "t", "T", "TRUE", "true", "True"].contains(&text)
}

/// Refuses a Pod with Secrets that its account does not name. Source: admission.go, `limitSecretReferences`.
fn only_own_secrets(spec: &Json, account: &Json, called: &str) -> Result<(), String> {
    let names =
        |list: &str, name: &str| account.get(list).items().iter().any(|own| own.get("name").as_str() == Some(name));
    let text = |tree: &Json, path: &[&str]| tree.at(path).as_str().map(String::from);
    let refused = format!("is not allowed because service account {called} does not reference that");
    for secret in spec.get("volumes").items().iter().filter_map(|volume| text(volume, &["secret", "secretName"])) {
        if !names("secrets", &secret) {
            return Err(format!("volume with secret.secretName=\"{secret}\" {refused} secret"));
        }
    }
    for (list, what) in [("initContainers", "init container"), ("containers", "container")] {
        for container in spec.get(list).items() {
            let own = container.get("name").as_str().unwrap_or("");
            for variable in container.get("env").items() {
                let secret = text(variable, &["valueFrom", "secretKeyRef", "name"]);
                if let Some(secret) = secret.filter(|secret| !names("secrets", secret)) {
                    let name = variable.get("name").as_str().unwrap_or("");
                    return Err(format!(
                        "{what} {own} with envVar {name} referencing secret.secretName=\"{secret}\" {refused} secret"
                    ));
                }
            }
            for from in container.get("envFrom").items() {
                let secret = text(from, &["secretRef", "name"]);
                if let Some(secret) = secret.filter(|secret| !names("secrets", secret)) {
                    return Err(format!(
                        "{what} {own} with envFrom referencing secret.secretName=\"{secret}\" {refused} secret"
                    ));
                }
            }
        }
    }
    for (at, secret) in spec.get("imagePullSecrets").items().iter().enumerate() {
        let secret = secret.get("name").as_str().unwrap_or("");
        if !names("imagePullSecrets", secret) {
            return Err(format!("imagePullSecrets[{at}].name=\"{secret}\" {refused} imagePullSecret"));
        }
    }
    Ok(())
}
