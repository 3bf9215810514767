//! By which way the API server reaches nodes: directly, or through konnectivity.
//!
//! Mirrors k8s.io/apiserver pkg/server/egressselector/{config,egress_selector}.go and
//! pkg/apis/apiserver/validation (v1.34). The flag's value is the content of the file that it names in Kubernetes.
//! Inputs: the flag. Outputs: the way, or why it is refused. Left out on purpose: the connections `controlplane` and
//! `etcd`, and addresses of the proxy.

use alloc::format;
use alloc::string::String;

use super::plugins::FlagError;
use crate::objects::Json;
use crate::profile::Settings;

/// The flag.
const FLAG: &str = "egress-selector-config-file";

/// The way to nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Egress {
    /// Straight.
    Direct,
    /// Through the agents of konnectivity, which hold connections to its server.
    Konnectivity,
}

impl Egress {
    /// Reads the flag.
    ///
    /// # Errors
    /// The value is no `EgressSelectorConfiguration`, or names an unknown connection or protocol.
    pub fn of(settings: &Settings) -> Result<Self, FlagError> {
        let text = settings.text(FLAG).trim();
        if text.is_empty() {
            return Ok(Self::Direct);
        }
        let refuse = |why: String| Err((FLAG, why));
        let Ok(config) = Json::parse(text) else {
            return refuse(String::from("the content of the file is needed, as JSON: {\"egressSelections\": […]}"));
        };
        if config.get("kind").as_str() != Some("EgressSelectorConfiguration") {
            return refuse(String::from(
                "invalid service configuration object: kind EgressSelectorConfiguration is needed",
            ));
        }
        let mut way = Self::Direct;
        for selection in config.get("egressSelections").items() {
            let name = selection.get("name").as_str().unwrap_or("");
            let protocol = selection.at(&["connection", "proxyProtocol"]).as_str().unwrap_or("");
            let found = match protocol {
                "Direct" => Self::Direct,
                "HTTPConnect" | "GRPC" => Self::Konnectivity,
                _ => return refuse(format!("unrecognized service connection protocol {protocol:?}")),
            };
            match name {
                "cluster" => way = found,
                "controlplane" | "etcd" => {}
                _ => return refuse(format!("unrecognized egress selection name {name:?}")),
            }
        }
        Ok(way)
    }
}
