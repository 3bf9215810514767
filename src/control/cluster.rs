//! Creates the initial objects and machines of a cluster, in their order, and reports unknown kinds.

use nodeproof_core::network::{Call as ApiCall, Identity, Resource, Verb};
use nodeproof_core::objects::{FieldError, Text, nearest};

use super::{Control, Refusal};

impl Control {
    /// Finds a kind that the server has, a custom one too. Returns with it whether its objects live in namespaces.
    pub(super) fn find_kind(&self, field: String, name: &str) -> Result<(Resource, bool), FieldError> {
        let api = self.sim.api();
        api.find_kind(name).ok_or_else(|| {
            let mut error = FieldError::new(field, format!("unknown kind {name:?}"));
            error.did_you_mean = nearest(name, api.kind_names()).map(String::from);
            error
        })
    }

    /// Creates the objects and machines of the set-up.
    pub(super) fn populate(&mut self) -> Result<(), Refusal> {
        let cluster = self.setup.cluster().clone();
        for (at, object) in cluster.get("objects").items().iter().enumerate() {
            let field = format!("cluster.objects[{at}]");
            let name = object.get("kind").as_str().unwrap_or_default();
            let (mut resource, namespaced) = self.find_kind(format!("{field}.kind"), name)?;
            if let Some(api_version) = object.get("apiVersion").as_str() {
                let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
                (resource.group, resource.version) = (Text::from(group), Text::from(version));
            }
            let namespace = match object.at(&["metadata", "namespace"]).as_text() {
                _ if !namespaced => "".into(),
                None => "default".into(),
                Some(namespace) => namespace.clone(),
            };
            let call = ApiCall::new(Verb::Create, resource, namespace, "").body(object.clone());
            let answer = self.sim.request(Identity::admin(), call);
            self.sim.finish_instant();
            match answer {
                Ok(answer) if answer.is_success() => {}
                Ok(answer) => return Err(FieldError::new(field, answer.message()).into()),
                Err(error) => return Err(FieldError::new(field, error.to_string()).into()),
            }
        }
        for (at, machine) in cluster.get("machines").items().iter().enumerate() {
            self.power_on(machine).map_err(|mut refusal| {
                let inner = std::mem::take(&mut refusal.error.field);
                refusal.error.field =
                    format!("cluster.machines[{at}]{}{inner}", if inner.is_empty() { "" } else { "." });
                refusal
            })?;
        }
        Ok(())
    }
}
