//! The ports of all nodes that Services take.
//!
//! Mirrors pkg/registry/core/service/storage/alloc.go and pkg/registry/core/service/portallocator (v1.34). Inputs: a
//! Service, the ports that it had, the ports of the others, chance. Outputs: the Service with its ports, or which ones
//! cannot be had. Pure.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::validation::service::needs_health_check;
use super::super::validation::{FieldError, Problem};
use crate::chance::Chance;
use crate::objects::Json;

/// `--service-node-port-range` and the ports at its start that are left to clients. Source: pkg/kubeapiserver/options/
/// options.go, pkg/registry/core/service/portallocator/allocator.go (v1.34), `calculateRangeOffset`.
const NODE_PORTS: core::ops::RangeInclusive<i64> = 30_000..=32_767;
const OWN_PORTS: i64 = 86;

const TAKEN: &str = "provided port is already allocated";
const OUT_OF_RANGE: &str = "provided port is not in the valid range. The range of valid ports is 30000-32767";

/// The ports of all nodes as one write takes of them. Source: pkg/registry/core/service/portallocator/{operation,
/// allocator}.go (v1.34).
pub(super) struct PortOperation {
    taken: Vec<i64>,
    chance: Chance,
    /// What a dry run gives out.
    next: i64,
    is_dry_run: bool,
}

impl PortOperation {
    /// Begins with the ports that other Services have.
    pub(super) fn new(taken: Vec<i64>, chance: Chance, is_dry_run: bool) -> Self {
        Self { taken, chance, next: NODE_PORTS.end() + 1, is_dry_run }
    }

    /// Takes a port that was asked for.
    fn take(&mut self, number: i64) -> Result<(), &'static str> {
        match () {
            () if !self.is_dry_run && !NODE_PORTS.contains(&number) => Err(OUT_OF_RANGE),
            () if self.taken.contains(&number) => Err(TAKEN),
            () => {
                self.taken.push(number);
                Ok(())
            }
        }
    }

    /// Takes a free port by chance.
    fn take_any(&mut self) -> i64 {
        if self.is_dry_run {
            self.next += 1;
            self.taken.push(self.next);
            return self.next;
        }
        let count = NODE_PORTS.end() - NODE_PORTS.start() + 1 - OWN_PORTS;
        let start = i64::try_from(self.chance.below(u64::try_from(count).unwrap_or(1))).unwrap_or(0);
        let mut all = (0..count).map(|step| NODE_PORTS.start() + OWN_PORTS + (start + step) % count);
        let free = all.find(|port| !self.taken.contains(port)).unwrap_or(0);
        self.taken.push(free);
        free
    }
}

/// Takes the ports of a new Service: those of one number, which differ in their protocols, share one on the nodes.
/// Source: pkg/registry/core/service/storage/alloc.go (v1.34), `initNodePorts`, `allocHealthCheckNodePort`.
pub(super) fn first_ports(tree: &mut Json, mut operation: PortOperation) -> Result<(), FieldError> {
    let needs = needs_node_ports(tree);
    let has_ports = needs || tree.at(&["spec", "type"]).as_str() == Some("LoadBalancer");
    let number = |port: &Json, field: &str| port.get(field).as_i64().unwrap_or(0);
    let mut ports = if has_ports { tree.at(&["spec", "ports"]).items().to_vec() } else { Vec::new() };
    let mut shared: Vec<(i64, i64)> = Vec::new();
    for at in 0..ports.len() {
        let (own, wanted) = (number(&ports[at], "port"), number(&ports[at], "nodePort"));
        let invalid =
            |wanted: i64, why: &str| FieldError::invalid(format!("spec.ports[{at}].nodePort"), &Json::Int(wanted), why);
        if wanted == 0 && !needs {
            continue;
        }
        let given = shared.iter().find(|(port, _)| *port == own).map(|(_, given)| *given);
        let node_port = match given {
            Some(given) if wanted == 0 || wanted == given => given,
            Some(_) => {
                operation.take(wanted).map_err(|why| invalid(wanted, why))?;
                wanted
            }
            None => {
                let mut alike = ports.iter().filter(|port| number(port, "port") == own);
                let asked = alike.find_map(|port| Some(number(port, "nodePort")).filter(|number| *number != 0));
                let given = match asked {
                    Some(asked) => operation.take(asked).map(|()| asked).map_err(|why| invalid(asked, why))?,
                    None => operation.take_any(),
                };
                shared.push((own, given));
                given
            }
        };
        ports[at].set(&["nodePort"], node_port);
    }
    if !ports.is_empty() {
        tree.set(&["spec", "ports"], Json::array(ports));
    }
    if !needs_health_check(tree.get("spec")) {
        return Ok(());
    }
    match tree.at(&["spec", "healthCheckNodePort"]).as_i64().unwrap_or(0) {
        0 => tree.set(&["spec", "healthCheckNodePort"], operation.take_any()),
        number => operation.take(number).map_err(|why| {
            let why = format!("failed to allocate requested HealthCheck NodePort {number}: {why}");
            FieldError::new("", Problem::Internal, String::new(), why)
        })?,
    }
    Ok(())
}

/// Takes the ports that a changed Service asks for or lacks; those that it had are its own.
pub(super) fn changed_ports(tree: &mut Json, kept: &[i64], mut operation: PortOperation) -> Vec<FieldError> {
    let (mut errors, mut own): (_, Vec<(Json, i64)>) = (Vec::new(), Vec::new());
    let kind = tree.at(&["spec", "type"]).as_str();
    let (is_external, is_balancer) = (kind == Some("ExternalName"), kind == Some("LoadBalancer"));
    let needs = needs_node_ports(tree);
    let count = if is_external { 0 } else { tree.at(&["spec", "ports"]).items().len() };
    for at in 0..count {
        let port = &mut tree.entry(&["spec", "ports"]).make_array()[at];
        let (protocol, number) = (port.get("protocol").clone(), port.get("nodePort").as_i64().unwrap_or(0));
        let is_kept = kept.contains(&number);
        if number == 0 && needs {
            port.set(&["nodePort"], operation.take_any());
        } else if number != 0 && (needs || is_balancer) {
            let is_twice = own.contains(&(protocol.clone(), number));
            let is_shared = own.iter().any(|(_, it)| *it == number);
            let why = if is_twice || !is_kept && operation.taken.contains(&number) && !is_shared {
                TAKEN
            } else if !operation.is_dry_run && !is_kept && !NODE_PORTS.contains(&number) {
                OUT_OF_RANGE
            } else {
                own.push((protocol, number));
                continue;
            };
            errors.push(FieldError::invalid(format!("spec.ports[{at}].nodePort"), &Json::Int(number), why));
        }
    }
    let has_own = tree.at(&["spec", "healthCheckNodePort"]).as_i64().unwrap_or(0) != 0;
    if errors.is_empty() && needs_health_check(tree.get("spec")) && !has_own {
        tree.set(&["spec", "healthCheckNodePort"], operation.take_any());
    }
    errors
}

/// Tells whether the ports of a Service are given ports on the nodes. Source:
/// pkg/registry/core/service/storage/alloc.go (v1.34), `shouldAllocateNodePorts`.
pub(super) fn needs_node_ports(tree: &Json) -> bool {
    let spec = tree.get("spec");
    match spec.get("type").as_str() {
        Some("NodePort") => true,
        Some("LoadBalancer") => spec.get("allocateLoadBalancerNodePorts").as_bool() != Some(false),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn take(spec: Json, taken: Vec<i64>) -> Result<Json, String> {
        let mut tree = json!({});
        tree.set(&["spec"], spec);
        let operation = PortOperation::new(taken, Chance::new(1), false);
        first_ports(&mut tree, operation).map_err(|error| error.text()).map(|()| tree)
    }

    #[test]
    fn ports_of_one_number_share_a_port_of_the_nodes() {
        let first = json!({"port": 53, "protocol": "TCP"});
        let spec =
            |type_name: &str, second: &Json| json!({"type": type_name, "ports": [first.clone(), second.clone()]});
        let asked = json!({"port": 53, "protocol": "UDP", "nodePort": 30053});
        let made = take(spec("NodePort", &asked), Vec::new()).unwrap();
        let ports = made.at(&["spec", "ports"]).items();
        assert!(ports.iter().all(|port| port.get("nodePort").as_i64() == Some(30053)), "{made}");
        let made = take(spec("NodePort", &json!({"port": 53, "protocol": "UDP"})), Vec::new()).unwrap();
        let ports = made.at(&["spec", "ports"]).items();
        assert_eq!(ports[0].get("nodePort"), ports[1].get("nodePort"));
        let made = take(spec("ClusterIP", &json!({"port": 53, "protocol": "UDP"})), Vec::new()).unwrap();
        assert!(made.at(&["spec", "ports"]).items()[0].get("nodePort").is_null());
    }

    #[test]
    fn a_port_that_cannot_be_had_is_told_once() {
        let twice = json!({"type": "NodePort", "ports": [{"port": 1, "nodePort": 1}, {"port": 2, "nodePort": 1}]});
        let told = format!("spec.ports[0].nodePort: Invalid value: 1: {OUT_OF_RANGE}");
        assert_eq!(take(twice, Vec::new()), Err(told));
        let other = json!({"type": "NodePort", "ports": [{"port": 1, "nodePort": 30001}]});
        assert_eq!(
            take(other, Vec::from([30001])),
            Err(format!("spec.ports[0].nodePort: Invalid value: 30001: {TAKEN}"))
        );
        let health = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 1});
        assert!(take(health, Vec::new()).unwrap_err().contains("failed to allocate requested HealthCheck NodePort 1"));
    }
}
