//! Reads who may use the kubelet's server. Inputs: the merged configuration and flags. Outputs: settings, or the
//! kubelet's message.

use alloc::format;
use alloc::string::String;

use super::decoder::Decoder;
use crate::objects::{Json, Text};

/// Who may use the server. Defaults as a configuration file has them, with kubeadm's `clientCAFile`.
///
/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34), `SetDefaults_KubeletConfiguration`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerSettings {
    /// `authentication.anonymous.enabled`. Default false.
    pub anonymous: bool,
    /// Whether `authentication.webhook.enabled` is false, so that no token is known. Default false.
    pub without_tokens: bool,
    /// Whether `authorization.mode` is `AlwaysAllow`. Default false, that is `Webhook`.
    pub always_allow: bool,
}

impl ServerSettings {
    /// Reads the fields of the configuration, and the flags that stand before them.
    pub(super) fn read(merged: &Json, flag: &dyn Fn(&str) -> Option<Text>) -> Result<Self, String> {
        let of_flag = |name: &str| flag(name).map(|value| value.as_str() == "true");
        let enabled = |of: &str| merged.at(&["authentication", of, "enabled"]).as_bool();
        let mode = flag("authorization-mode").or_else(|| merged.at(&["authorization", "mode"]).as_text().cloned());
        let mode = mode.as_deref().unwrap_or("Webhook");
        if !["AlwaysAllow", "Webhook"].contains(&mode) {
            return Err(format!("failed to run Kubelet: unknown authorization mode {mode}"));
        }
        Ok(Self {
            anonymous: of_flag("anonymous-auth").or_else(|| enabled("anonymous")).unwrap_or(false),
            without_tokens: !of_flag("authentication-token-webhook").or_else(|| enabled("webhook")).unwrap_or(true),
            always_allow: mode == "AlwaysAllow",
        })
    }
}

impl ServerSettings {
    /// Checks that a kubelet without an API server asks none.
    ///
    /// Source: cmd/kubelet/app/auth.go (v1.34), `BuildAuthn` and `BuildAuthz`.
    pub(super) fn check_without_client(&self) -> Result<(), String> {
        let asked = match self {
            Self { without_tokens: false, .. } => "authentication",
            Self { always_allow: false, .. } => "authorization",
            _ => return Ok(()),
        };
        Err(format!("failed to run Kubelet: no client provided, cannot use webhook {asked}"))
    }
}

/// Checks the types of the fields that [`ServerSettings::read`] reads.
pub(super) fn check(read: &Decoder<'_>) -> Result<(), String> {
    for field in ["authentication", "authorization"] {
        let value = read.0.get(field);
        if !value.is_null() && !value.is_object() {
            read.text(field)?;
        }
    }
    Ok(())
}
