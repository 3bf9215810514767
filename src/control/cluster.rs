//! What is in a cluster from the start, and the kinds of objects by name.

use nodeproof_core::network::{
    CSI_NODES, Call as ApiCall, EVENTS, Identity, LEASES, NAMESPACES, NODES, PODS, Resource, Verb,
};
use nodeproof_core::objects::FieldError;

use super::{Control, Refusal};

/// Kinds by name: resource, and whether its objects live in namespaces.
const KINDS: [(&str, Resource, bool); 6] = [
    ("Node", NODES, false),
    ("Pod", PODS, true),
    ("Lease", LEASES, true),
    ("Event", EVENTS, true),
    ("Namespace", NAMESPACES, false),
    ("CSINode", CSI_NODES, false),
];

/// Finds a kind by its name, or by its plural name as kubectl allows it.
pub(super) fn kind(name: &str) -> Option<(Resource, bool)> {
    let (_, resource, namespaced) =
        KINDS.into_iter().find(|(kind, resource, _)| *kind == name || *resource.plural == *name)?;
    Some((resource, namespaced))
}

/// Makes the error about a kind that is not known.
pub(super) fn unknown_kind(field: String, name: &str) -> FieldError {
    FieldError::unknown(field, "kind", name, KINDS.iter().map(|(kind, ..)| *kind))
}

impl Control {
    /// Puts machines and objects of the set-up into the cluster.
    pub(super) fn populate(&mut self) -> Result<(), Refusal> {
        let cluster = self.setup.cluster().clone();
        for (at, object) in cluster.get("objects").items().iter().enumerate() {
            let field = format!("cluster.objects[{at}]");
            let name = object.get("kind").as_str().unwrap_or_default();
            let (resource, namespaced) = kind(name).ok_or_else(|| unknown_kind(format!("{field}.kind"), name))?;
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
