//! Reads who may use the kubelet's server. Inputs: the merged configuration. Outputs: settings, or the kubelet's
//! message.

use alloc::format;
use alloc::string::String;

use crate::objects::Json;

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
    /// Reads the fields of the configuration.
    pub(super) fn read(merged: &Json) -> Self {
        let enabled = |of: &str| merged.at(&["authentication", of, "enabled"]).as_bool();
        Self {
            anonymous: enabled("anonymous").unwrap_or(false),
            without_tokens: !enabled("webhook").unwrap_or(true),
            always_allow: merged.at(&["authorization", "mode"]).as_str() == Some("AlwaysAllow"),
        }
    }

    /// Checks what asks for access and gives it.
    ///
    /// Source: cmd/kubelet/app/auth.go (v1.34), `BuildAuthn` and `BuildAuthz`.
    ///
    /// # Errors
    /// The kubelet's message.
    pub(super) fn check(&self, merged: &Json, is_standalone: bool) -> Result<(), String> {
        let why = match merged.at(&["authorization", "mode"]).as_str().unwrap_or("Webhook") {
            _ if is_standalone && !self.without_tokens => {
                "no client provided, cannot use webhook authentication".into()
            }
            "AlwaysAllow" => return Ok(()),
            "Webhook" if is_standalone => "no client provided, cannot use webhook authorization".into(),
            "Webhook" => return Ok(()),
            "" => "no authorization mode specified".into(),
            unknown => format!("unknown authorization mode {unknown}"),
        };
        Err(format!("failed to run Kubelet: {why}"))
    }
}
