//! What the server sets in Services: defaults, IP families, cluster IPs and node ports.
//!
//! Mirrors pkg/apis/core/v1/defaults.go, `SetDefaults_Service`, and pkg/registry/core/service/{strategy.go,
//! storage/storage.go,storage/alloc.go} (v1.34). Inputs: a Service that is written, the stored ones, chance. Outputs:
//! the same Service, or what cannot be allocated. Left out on purpose: clusters with two families, ServiceCIDRs.

mod node_ports;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use self::node_ports::{PortOperation, changed_ports, first_ports, needs_node_ports};
use super::fields::put;
use super::rbac_kubeadm::Maker;
use super::validation::ip::{self, Reading};
use super::validation::service::{self, is_headless, is_open_outside, needs_health_check};
use super::validation::{FieldError, Problem, worded};
use super::{ApiServer, status};
use crate::chance::Chance;
use crate::json;
use crate::network::kinds::{self, Kind};
use crate::network::{Answer, SERVICES};
use crate::objects::Json;

/// `--service-cluster-ip-range` as kubeadm sets it. Source: cmd/kubeadm/app/apis/kubeadm/v1beta4/defaults.go (v1.34),
/// `DefaultServicesSubnet`.
const KUBEADM_RANGE: Range = Range { base: Ipv4Addr::new(10, 96, 0, 0), bits: 12 };
/// Its default. Source: pkg/kubeapiserver/options/options.go (v1.34), `DefaultServiceIPCIDR`.
const DEFAULT_RANGE: Range = Range { base: Ipv4Addr::new(10, 0, 0, 0), bits: 24 };
/// A network of cluster IPs.
#[derive(Clone, Copy)]
struct Range {
    base: Ipv4Addr,
    bits: u32,
}

impl Range {
    /// The number of addresses that are given out: all but the first and the last.
    fn count(self) -> u32 {
        (1 << (32 - self.bits)) - 2
    }

    /// How many at the start are left to clients. Source: pkg/registry/core/service/ipallocator/bitmap.go (v1.34),
    /// `calculateRangeOffset`.
    fn left_to_clients(self) -> u32 {
        (self.count() / 16).clamp(16, 256)
    }

    /// Returns the address of a place.
    fn at(self, place: u32) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.base) + 1 + place)
    }

    fn has(self, address: Ipv4Addr) -> bool {
        let place = u32::from(address).checked_sub(u32::from(self.base) + 1);
        place.is_some_and(|place| place < self.count())
    }
}

/// Sets what the API's defaults set.
pub(super) fn default(tree: &mut Json) {
    let spec = tree.entry(&["spec"]);
    let mut set_empty = |field: &str, value: &str| {
        if spec.get(field).as_str().unwrap_or("").is_empty() {
            spec.set(&[field], value);
        }
    };
    set_empty("sessionAffinity", "None");
    set_empty("type", "ClusterIP");
    match spec.get("sessionAffinity").as_str() {
        Some("None") => _ = spec.remove(&["sessionAffinityConfig"]),
        Some("ClientIP") if spec.at(&["sessionAffinityConfig", "clientIP", "timeoutSeconds"]).is_null() => {
            spec.set(&["sessionAffinityConfig"], json!({"clientIP": {"timeoutSeconds": 10800}}));
        }
        _ => {}
    }
    if !spec.get("ports").is_empty() {
        spec.entry(&["ports"]).make_array().iter_mut().for_each(default_port);
    }
    if is_open_outside(spec) && spec.get("externalTrafficPolicy").as_str().unwrap_or("").is_empty() {
        spec.set(&["externalTrafficPolicy"], "Cluster");
    }
    let kind = spec.get("type").as_str().unwrap_or("");
    let is_alias = kind == "ExternalName";
    let (is_inside, is_balanced) = (["NodePort", "LoadBalancer", "ClusterIP"].contains(&kind), kind == "LoadBalancer");
    if is_inside && spec.get("internalTrafficPolicy").is_null() {
        spec.set(&["internalTrafficPolicy"], "Cluster");
    }
    if is_balanced && spec.get("allocateLoadBalancerNodePorts").is_null() {
        spec.set(&["allocateLoadBalancerNodePorts"], true);
    }
    // Nobody ever reads it there. Source: pkg/registry/core/service/storage/storage.go (v1.34), `defaultOnRead`.
    if is_alias {
        spec.remove(&["internalTrafficPolicy"]);
    }
    if is_balanced && !tree.at(&["status", "loadBalancer", "ingress"]).is_empty() {
        for point in tree.entry(&["status", "loadBalancer", "ingress"]).make_array() {
            if point.get("ip").as_str().is_some_and(|ip| !ip.is_empty()) && point.get("ipMode").is_null() {
                point.set(&["ipMode"], "VIP");
            }
        }
    }
}

fn default_port(port: &mut Json) {
    if port.get("protocol").as_str().unwrap_or("").is_empty() {
        port.set(&["protocol"], "TCP");
    }
    let target = port.get("targetPort");
    if target.is_null() || target.as_i64() == Some(0) || target.as_str() == Some("") {
        let number = port.get("port").as_i64().unwrap_or(0);
        port.set(&["targetPort"], number);
    }
}

fn needs_address(tree: &Json) -> bool {
    let kind = tree.at(&["spec", "type"]).as_str().unwrap_or("");
    ["NodePort", "LoadBalancer", "ClusterIP"].contains(&kind)
}

/// Source: pkg/registry/core/service/strategy.go (v1.34), `needsClusterIP`.
fn has_address(tree: &Json) -> bool {
    tree.at(&["spec", "type"]).as_str() != Some("ExternalName")
}

fn node_ports(tree: &Json) -> Vec<i64> {
    let number = |port: &Json| port.get("nodePort").as_i64().filter(|number| *number != 0);
    tree.at(&["spec", "ports"]).items().iter().filter_map(number).collect()
}

/// Takes away what a changed type makes useless, if it is as it was. Source: strategy.go, `dropTypeDependentFields`.
pub(super) fn drop_fields(tree: &mut Json, old: &Json) {
    let is_balanced = |tree: &Json| tree.at(&["spec", "type"]).as_str() == Some("LoadBalancer");
    let gone = |needs: fn(&Json) -> bool, tree: &Json| needs(old) && !needs(tree);
    let mut dropped: Vec<&str> = Vec::new();
    if gone(has_address, tree) {
        dropped.extend(["ipFamilies", "ipFamilyPolicy"]);
        if tree.at(&["spec", "clusterIPs"]) == old.at(&["spec", "clusterIPs"]) {
            tree.remove(&["spec", "clusterIP"]);
            tree.remove(&["spec", "clusterIPs"]);
        }
    }
    if gone(needs_node_ports, tree) && node_ports(tree) == node_ports(old) && !tree.at(&["spec", "ports"]).is_empty() {
        for port in tree.entry(&["spec", "ports"]).make_array() {
            port.remove(&["nodePort"]);
        }
    }
    if gone(|tree| needs_health_check(tree.get("spec")), tree) {
        dropped.push("healthCheckNodePort");
    }
    if gone(|tree| is_open_outside(tree.get("spec")), tree) {
        dropped.push("externalTrafficPolicy");
    }
    if is_balanced(old) && !is_balanced(tree) {
        dropped.extend(["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
    }
    // Source: as above, the same from v1.31 to v1.37.
    if !is_balanced(tree) && !tree.at(&["status", "loadBalancer"]).is_empty() {
        tree.set(&["status", "loadBalancer"], Json::object());
    }
    for field in dropped {
        if tree.at(&["spec", field]) == old.at(&["spec", field]) {
            tree.remove(&["spec", field]);
        }
    }
}

/// Keeps what was allocated if the writer does not say it. Source: storage.go, `patchAllocatedValues`,
/// `normalizeClusterIPs`.
fn keep_allocated(tree: &mut Json, old: &Json) {
    let is_unset = |tree: &Json, field: &str| tree.at(&["spec", field]).is_empty();
    if needs_address(old) && needs_address(tree) {
        for field in ["clusterIP", "clusterIPs"] {
            if tree.at(&["spec", field]).as_str().is_none_or(str::is_empty) && is_unset(tree, field) {
                put(tree, &["spec", field], old.at(&["spec", field]));
            }
        }
    }
    if needs_node_ports(old) && needs_node_ports(tree) && !is_unset(tree, "ports") {
        let used: Vec<i64> = node_ports(old).into_iter().filter(|port| node_ports(tree).contains(port)).collect();
        for port in tree.entry(&["spec", "ports"]).make_array() {
            let same = |own: &&Json| own.get("name") == port.get("name");
            let known =
                old.at(&["spec", "ports"]).items().iter().find(same).and_then(|own| own.get("nodePort").as_i64());
            if port.get("nodePort").as_i64().unwrap_or(0) == 0
                && let Some(number) = known.filter(|number| !used.contains(number))
            {
                port.set(&["nodePort"], number);
            }
        }
    }
    if needs_health_check(old.get("spec"))
        && needs_health_check(tree.get("spec"))
        && is_unset(tree, "healthCheckNodePort")
    {
        put(tree, &["spec", "healthCheckNodePort"], old.at(&["spec", "healthCheckNodePort"]));
    }
    let (own, all) = (tree.at(&["spec", "clusterIP"]).clone(), tree.at(&["spec", "clusterIPs"]));
    if own != *old.at(&["spec", "clusterIP"]) && all == old.at(&["spec", "clusterIPs"]) {
        if own.as_str().is_none_or(str::is_empty) {
            tree.remove(&["spec", "clusterIPs"]);
        } else {
            tree.set(&["spec", "clusterIPs"], Json::array(Vec::from([own])));
        }
    }
}

/// Sets policy and families. Source: alloc.go, `initIPFamilyFields`, for a cluster of IPv4 alone.
fn families(tree: &mut Json, old: &Json, reading: Reading) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let is_bare = is_headless(tree.get("spec")) && tree.at(&["spec", "selector"]).is_empty();
    if tree.at(&["spec", "ipFamilyPolicy"]).is_null() {
        let stored = old.at(&["spec", "ipFamilyPolicy"]).as_str();
        let policy = stored.unwrap_or(if is_bare { "RequireDualStack" } else { "SingleStack" });
        tree.set(&["spec", "ipFamilyPolicy"], policy);
    }
    service::cluster_ips(tree, old, reading, &mut errors);
    if !errors.is_empty() {
        return errors;
    }
    let policy = tree.at(&["spec", "ipFamilyPolicy"]).clone();
    let is_single = policy.as_str() == Some("SingleStack");
    let ips = tree.at(&["spec", "clusterIPs"]).clone();
    for (list, what) in [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")] {
        if is_single && tree.at(&["spec", list]).items().len() == 2 {
            let why = format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
            errors.push(FieldError::invalid("spec.ipFamilyPolicy", &policy, why));
        }
    }
    for (at, address) in ips.items().iter().enumerate().skip(tree.at(&["spec", "ipFamilies"]).items().len()) {
        match address.as_str().and_then(ip::parse) {
            Some(address) if ip::is_ipv4(address) => {
                tree.entry(&["spec", "ipFamilies"]).make_array().push(Json::from("IPv4"));
            }
            Some(_) => {
                let why = "IPv6 is not configured on this cluster";
                errors.push(FieldError::invalid(format!("spec.clusterIPs[{at}]"), &ips, why));
            }
            None => break,
        }
    }
    if !errors.is_empty() {
        return errors;
    }
    if !is_bare {
        if policy.as_str() == Some("RequireDualStack") {
            let why = "this cluster is not configured for dual-stack services";
            errors.push(FieldError::invalid("spec.ipFamilyPolicy", &policy, why));
        }
        for (at, family) in tree.at(&["spec", "ipFamilies"]).items().iter().enumerate() {
            if family.as_str() != Some("IPv4") {
                let path = format!("spec.ipFamilies[{at}]");
                errors.push(FieldError::invalid(path, family, "not configured on this cluster"));
            }
        }
    }
    if errors.is_empty() && tree.at(&["spec", "ipFamilies"]).is_empty() {
        tree.set(&["spec", "ipFamilies"], json!(["IPv4"]));
    }
    let first = tree.at(&["spec", "ipFamilies"]).items().first().cloned().unwrap_or_default();
    if is_bare && !is_single && tree.at(&["spec", "ipFamilies"]).items().len() < 2 {
        let other = if first.as_str() == Some("IPv4") { "IPv6" } else { "IPv4" };
        tree.entry(&["spec", "ipFamilies"]).make_array().push(Json::from(other));
    }
    errors
}

/// Finds a port of a changed Service that repeats another's number on its nodes, and says so.
/// Source: pkg/registry/core/service/storage/alloc.go (v1.34), `updateNodePorts`.
fn repeated_node_port(tree: &Json) -> Option<(usize, String)> {
    let pair = |port: &Json| (port.get("protocol").clone(), port.get("nodePort").as_i64().unwrap_or(0));
    let pairs: Vec<_> = tree.at(&["spec", "ports"]).items().iter().map(pair).collect();
    let at = (1..pairs.len()).find(|at| pairs[*at].1 != 0 && pairs[..*at].contains(&pairs[*at]))?;
    let (protocol, number) = &pairs[at];
    Some((at, format!("duplicate nodePort: {{{} {number}}}", protocol.as_str().unwrap_or(""))))
}

impl ApiServer {
    /// Sets what the server allocates for a Service that is written: new, or in place of an old one.
    pub(super) fn allocate(&mut self, kind: &Kind, tree: &mut Json, old: &Json, dry_run: bool) -> Result<(), Answer> {
        if kind.rules() != "Service" {
            return Ok(());
        }
        if old.is_null() {
            let own = tree.at(&["spec", "clusterIP"]).clone();
            if own.as_str().is_some_and(|own| !own.is_empty()) && tree.at(&["spec", "clusterIPs"]).is_empty() {
                tree.set(&["spec", "clusterIPs"], Json::array(Vec::from([own])));
            }
        } else {
            keep_allocated(tree, old);
        }
        let errors = self.allocate_service(tree, old, dry_run);
        let Some(first) = errors.first() else { return Ok(()) };
        if first.problem == Problem::Internal {
            return Err(status::internal(&first.detail));
        }
        if !old.is_null()
            && let Some((at, why)) = repeated_node_port(tree)
            && first.field == format!("spec.ports[{at}].nodePort")
        {
            return Err(status::untyped(&why));
        }
        let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
        Err(status::invalid(kind, name, &worded(errors, &self.settings)))
    }

    fn allocate_service(&mut self, tree: &mut Json, old: &Json, dry_run: bool) -> Vec<FieldError> {
        let is_external = tree.at(&["spec", "type"]).as_str() == Some("ExternalName");
        if !is_external {
            let errors = families(tree, old, Reading::of(&self.settings));
            if !errors.is_empty() {
                return errors;
            }
            if !is_headless(tree.get("spec")) && (old.is_null() || !needs_address(old)) {
                let errors = self.allocate_address(tree, dry_run);
                if !errors.is_empty() {
                    return errors;
                }
            }
        }
        self.allocate_ports(tree, old, dry_run)
    }

    /// Returns the other Services.
    fn other_services<'a>(&'a self, tree: &Json) -> impl Iterator<Item = Json> + use<'a> {
        let of = |field: &str| tree.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
        let (namespace, name) = (of("namespace"), of("name"));
        let all = kinds::find(&SERVICES).map(|kind| self.tables[kind].store.iter(""));
        all.into_iter().flatten().map(crate::objects::Object::json).filter(move |other| {
            let metadata = other.get("metadata");
            metadata.get("name").as_str() != Some(name.as_str())
                || metadata.get("namespace").as_str() != Some(namespace.as_str())
        })
    }

    /// Takes the address that a Service asks for, or a free one by chance.
    fn allocate_address(&mut self, tree: &mut Json, dry_run: bool) -> Vec<FieldError> {
        let range = if self.rbac.maker == Maker::Kubeadm { KUBEADM_RANGE } else { DEFAULT_RANGE };
        let wanted = tree.at(&["spec", "clusterIPs"]).clone();
        let taken: Vec<Json> =
            self.other_services(tree).flat_map(|other| other.at(&["spec", "clusterIPs"]).items().to_vec()).collect();
        if let Some(text) = wanted.items().first().and_then(Json::as_str) {
            let address = ip::parse(text).map(|address| format!("{}", address.to_canonical())).unwrap_or_default();
            let why = if !address.parse().is_ok_and(|address| range.has(address)) {
                let Range { base, bits } = range;
                // Source: pkg/registry/core/service/ipallocator/interfaces.go (v1.32, v1.33), `ErrMismatchedNetwork`
                // and `ErrNotInRange`.
                match self.settings.profile().is("service-cidrs-are-served") && !dry_run {
                    true => String::from("the provided network does not match the current range"),
                    false => format!(
                        "the provided IP ({address}) is not in the valid range. The range of valid IPs is {base}/{bits}"
                    ),
                }
            } else if !dry_run && taken.contains(&Json::from(text)) {
                String::from("provided IP is already allocated")
            } else {
                return Vec::new();
            };
            let why = format!("failed to allocate IP {text}: {why}");
            return Vec::from([FieldError::invalid("spec.clusterIPs", &wanted, why)]);
        }
        let address = if dry_run {
            Json::from(format!("{}", range.base))
        } else {
            let first = range.left_to_clients();
            let count = range.count() - first;
            let start = u32::try_from(self.choice(tree, "cluster-ip").below(u64::from(count))).unwrap_or(0);
            let mut all = (0..count).map(|step| range.at(first + (start + step) % count));
            let free = all.find_map(|address| {
                let address = Json::from(format!("{address}"));
                (!taken.contains(&address)).then_some(address)
            });
            free.unwrap_or_default()
        };
        tree.set(&["spec", "clusterIP"], address.clone());
        tree.set(&["spec", "clusterIPs"], Json::array(Vec::from([address])));
        Vec::new()
    }

    /// Returns the chance of a choice for a Service, which shifts no other.
    fn choice(&self, tree: &Json, what: &str) -> Chance {
        let of = |field: &str| tree.at(&["metadata", field]).as_str().unwrap_or("");
        self.chance.fork(&format!("{what}/{}/{}", of("namespace"), of("name")))
    }

    fn allocate_ports(&self, tree: &mut Json, old: &Json, dry_run: bool) -> Vec<FieldError> {
        let taken = self.other_services(tree).flat_map(|other| {
            let health = other.at(&["spec", "healthCheckNodePort"]).as_i64();
            node_ports(&other).into_iter().chain(health)
        });
        let operation = PortOperation::new(taken.collect(), self.choice(tree, "node-port"), dry_run);
        match old {
            Json::Null => first_ports(tree, operation).err().into_iter().collect(),
            old => changed_ports(tree, &node_ports(old), operation),
        }
    }
}
