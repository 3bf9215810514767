//! From the Pods of a Service to endpoints, in groups that have the same ports.
//!
//! Mirrors k8s.io/endpointslice utils.go and the first half of reconciler.go's `reconcileByAddressType` (v1.34). An
//! endpoint is ready while its Pod is Ready and not being deleted; it names the Pod's node and that node's zone. A Pod
//! whose Node is gone is left out, unless the Service publishes what is not ready. Inputs: a Service, its Pods, Nodes.
//! Outputs: groups of endpoints, and what was left out, in words.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::components::client::node_name;
use crate::components::workload::pods::labels;
use crate::json;
use crate::objects::digest::md5;
use crate::objects::fnv;
use crate::objects::kubelet_labels::ZONE;
use crate::objects::lifecycle::{is_ending, is_ready, is_terminal};
use crate::objects::{Json, Object, Text};
use crate::profile::Profile;

/// The kind of addresses that a slice holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    /// Its name, as `addressType` and `ipFamilies` have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
        }
    }

    /// Returns those of a Service.
    ///
    /// Source: k8s.io/endpointslice utils.go (v1.34), `getAddressTypesForService`.
    pub(super) fn of(service: &Object) -> BTreeSet<Self> {
        let spec = service.stable().get("spec");
        let names = spec.get("ipFamilies").items().iter().filter_map(Json::as_str);
        let named: BTreeSet<Self> =
            names.filter_map(|name| [Self::Ipv4, Self::Ipv6].into_iter().find(|own| own.name() == name)).collect();
        if !named.is_empty() {
            return named;
        }
        match spec.get("clusterIP").as_str().and_then(|address| address.parse().ok()) {
            Some(IpAddr::V4(_)) => BTreeSet::from([Self::Ipv4]),
            Some(IpAddr::V6(_)) => BTreeSet::from([Self::Ipv6]),
            None => BTreeSet::from([Self::Ipv4, Self::Ipv6]),
        }
    }

    /// Returns the first one of a Service, the only one in its Endpoints.
    pub(super) fn first_of(service: &Object) -> Self {
        let first = service.stable().at(&["spec", "ipFamilies"]).items().first().and_then(Json::as_str);
        let named = first.and_then(|name| [Self::Ipv4, Self::Ipv6].into_iter().find(|own| own.name() == name));
        named.or_else(|| Self::of(service).into_iter().next()).unwrap_or(Self::Ipv4)
    }

    /// Returns those of a Pod's addresses that are of this kind.
    pub(super) fn addresses(self, pod: &Object) -> Vec<Json> {
        let all = pod.stable().at(&["status", "podIPs"]).items().iter();
        let own = all.filter_map(|one| one.get("ip").as_str()?.parse::<IpAddr>().ok());
        own.filter(|ip| ip.is_ipv4() == (self == Self::Ipv4)).map(|ip| Json::from(ip.to_string())).collect()
    }
}

/// By which digest of how Go prints them ports are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum PortOrder {
    #[default]
    Md5,
    Fnv,
}

impl PortOrder {
    pub(super) fn of(profile: &Profile) -> Self {
        if profile.is("endpoint-ports-sorted-by-fnv") { Self::Fnv } else { Self::Md5 }
    }

    pub(super) fn digest(self, printed: &str) -> Vec<u8> {
        match self {
            Self::Md5 => md5(printed.as_bytes()),
            Self::Fnv => fnv::wide(printed.bytes()).to_be_bytes().to_vec(),
        }
    }
}

/// Endpoints with the same ports.
pub(super) struct PortGroup {
    pub(super) ports: Json,
    pub(super) endpoints: Vec<Json>,
}

/// Returns the endpoints of a Service's Pods by their ports, and says which Pods were left out.
pub(super) fn groups<'a>(
    service: &Object,
    (family, order): (Family, PortOrder),
    pods: impl Iterator<Item = &'a Object>,
    node: impl Fn(&Text) -> Option<&'a Object>,
) -> (Vec<PortGroup>, Vec<String>) {
    let key = service.key();
    let publishes = service.stable().at(&["spec", "publishNotReadyAddresses"]).as_bool() == Some(true);
    let (mut groups, mut skipped): (Vec<PortGroup>, Vec<String>) = (Vec::new(), Vec::new());
    for pod in pods.filter(|pod| may_be_endpoint(pod)) {
        let ports = sorted_ports(service, pod, order);
        let at = groups.iter().position(|group| group.ports == ports).unwrap_or_else(|| {
            groups.push(PortGroup { ports, endpoints: Vec::new() });
            groups.len() - 1
        });
        let own_node = node_name(pod).and_then(&node);
        if own_node.is_none() && !publishes {
            let service = format!("{}/{}", key.namespace, key.name);
            let name = node_name(pod).cloned().unwrap_or_default();
            skipped.push(format!("skipping Pod {} for Service {service}: Node {name} Not Found", pod.name()));
            continue;
        }
        let addresses = family.addresses(pod);
        if !addresses.is_empty() {
            groups[at].endpoints.push(endpoint(service, pod, own_node, addresses, publishes));
        }
    }
    (groups, skipped)
}

/// Source: k8s.io/endpointslice util/controller_utils.go (v1.34), `ShouldPodBeInEndpoints`.
pub(super) fn may_be_endpoint(pod: &Object) -> bool {
    !is_terminal(pod) && !pod.stable().at(&["status", "podIPs"]).is_empty()
}

/// Source: k8s.io/endpointslice utils.go (v1.34), `podToEndpoint`.
fn endpoint(service: &Object, pod: &Object, node: Option<&Object>, addresses: Vec<Json>, publishes: bool) -> Json {
    let serving = is_ready(pod);
    let ready = publishes || (serving && !is_ending(pod));
    let mut endpoint = json!({"addresses": [],
        "conditions": {"ready": ready, "serving": serving, "terminating": is_ending(pod)}});
    endpoint.set(&["addresses"], Json::array(addresses));
    name_pod(&mut endpoint, service, pod);
    if let Some(zone) = node.and_then(|node| labels(node).get(ZONE).as_text()).filter(|zone| !zone.is_empty()) {
        endpoint.set(&["zone"], zone);
    }
    endpoint
}

/// Lets an endpoint name its Pod, the node and, in a Service that gives it one, the host name.
pub(super) fn name_pod(endpoint: &mut Json, service: &Object, pod: &Object) {
    let spec = pod.stable().get("spec");
    if !matches!(spec.get("hostname").as_str(), None | Some(""))
        && spec.get("subdomain").as_str() == Some(service.name())
    {
        endpoint.set(&["hostname"], spec.get("hostname").clone());
    }
    let namespace = service.key().namespace;
    endpoint.set(
        &["targetRef"],
        json!({"kind": "Pod", "namespace": namespace.as_str(), "name": pod.name(), "uid": pod.uid()}),
    );
    if let Some(name) = node_name(pod) {
        endpoint.set(&["nodeName"], name);
    }
}

/// Tells whether two endpoints are of one Pod at one address.
/// Source: k8s.io/endpointslice util/endpointset.go (v1.34), `hashEndpoint`.
pub(super) fn is_same_endpoint(own: &Json, other: &Json) -> bool {
    let text = |endpoint: &Json, path: &[&str]| endpoint.at(path).as_text().cloned().unwrap_or_default();
    let paths: [&[&str]; 3] = [&["hostname"], &["targetRef", "name"], &["targetRef", "namespace"]];
    let sorted = |endpoint: &Json| {
        let mut all: Vec<Text> =
            endpoint.get("addresses").items().iter().filter_map(|ip| ip.as_text().cloned()).collect();
        all.sort();
        all
    };
    paths.into_iter().all(|path| text(own, path) == text(other, path)) && sorted(own) == sorted(other)
}

/// Tells whether two endpoints of one Pod say the same; hints do not count.
/// Source: k8s.io/endpointslice util/controller_utils.go (v1.34), `EndpointsEqualBeyondHash`.
pub(super) fn says_the_same(own: &Json, other: &Json) -> bool {
    let paths: [&[&str]; 9] = [
        &["nodeName"],
        &["zone"],
        &["conditions", "ready"],
        &["conditions", "serving"],
        &["conditions", "terminating"],
        &["targetRef", "kind"],
        &["targetRef", "uid"],
        &["targetRef", "apiVersion"],
        &["targetRef", "fieldPath"],
    ];
    paths.into_iter().all(|path| own.at(path) == other.at(path))
}

/// Returns the ports of a Pod that a Service leads to, in the order of the Service.
/// Source: k8s.io/endpointslice utils.go (v1.34), `getEndpointPorts` and `FindPort`.
pub(super) fn ports_of(service: &Object, pod: &Object) -> Vec<Json> {
    let of_service = service.stable().at(&["spec", "ports"]).items().iter();
    let found = of_service.filter_map(|port| {
        let protocol = port.get("protocol").as_str().unwrap_or("TCP");
        let target = match port.get("targetPort") {
            Json::Str(name) => named_port(pod, name, protocol)?,
            Json::Null => port.get("port").as_i64()?,
            number => number.as_i64()?,
        };
        let mut own = json!({"name": port.get("name").as_str().unwrap_or(""), "protocol": protocol, "port": target});
        if let Some(application) = port.get("appProtocol").as_str() {
            own.set(&["appProtocol"], application);
        }
        Some(own)
    });
    found.collect()
}

fn sorted_ports(service: &Object, pod: &Object, order: PortOrder) -> Json {
    let mut found = ports_of(service, pod);
    found.sort_by_cached_key(|port| rank(port, order));
    if found.is_empty() { Json::Null } else { Json::array(found) }
}

/// Returns what the ports of a slice are sorted by: a digest of how Go prints them, so that their order means nothing.
/// Source: k8s.io/endpointslice util/controller_utils.go (v1.34), `portsInOrder`; k8s.io/apimachinery
/// pkg/util/dump/dump.go, `ForHash`.
fn rank(port: &Json, order: PortOrder) -> Vec<u8> {
    let text = |field: &str| port.get(field).as_str().unwrap_or("<nil>");
    let (name, protocol, application) = (text("name"), text("protocol"), text("appProtocol"));
    let number = port.get("port").as_i64().unwrap_or(0);
    let printed = format!(
        "(v1.EndpointPort){{Name:(*string){name} Protocol:(*v1.Protocol){protocol} Port:(*int32){number} \
         AppProtocol:(*string){application}}}"
    );
    order.digest(&printed)
}

fn named_port(pod: &Object, name: &str, protocol: &str) -> Option<i64> {
    let spec = pod.stable().get("spec");
    let restarts = |container: &&Json| container.get("restartPolicy").as_str() == Some("Always");
    let containers = spec.get("containers").items().iter();
    let containers = containers.chain(spec.get("initContainers").items().iter().filter(restarts));
    let fits = |port: &&Json| {
        port.get("name").as_str() == Some(name) && port.get("protocol").as_str().unwrap_or("TCP") == protocol
    };
    containers.flat_map(|container| container.get("ports").items()).find(fits)?.get("containerPort").as_i64()
}

#[cfg(test)]
mod tests {
    use super::{PortOrder, rank};
    use crate::json;

    /// What the function of upstream returns for these ports (k8s.io/endpointslice v0.34.4).
    #[test]
    fn the_digests_of_ports_are_those_of_upstream() {
        for (port, start) in [
            (json!({"name": "q", "protocol": "TCP", "port": 81}), [0x97, 0x27, 0xd5, 0x2c]),
            (json!({"name": "p", "protocol": "TCP", "port": 9090, "appProtocol": "http"}), [0xb2, 0xc4, 0x5b, 0x60]),
            (json!({"name": "p", "protocol": "TCP", "port": 80}), [0x22, 0x19, 0x38, 0xe1]),
            (json!({"name": "q", "protocol": "UDP", "port": 8080}), [0x34, 0x73, 0x28, 0x79]),
            (
                json!({"name": "", "protocol": "SCTP", "port": 80, "appProtocol": "kubernetes.io/h2c"}),
                [0xa5, 0xcd, 0xd6, 0x56],
            ),
        ] {
            assert!(rank(&port, PortOrder::Md5).starts_with(&start), "{port:?}");
        }
        let port = json!({"name": "p", "protocol": "TCP", "port": 80});
        assert!(rank(&port, PortOrder::Fnv).starts_with(&[0xfb, 0x0b, 0xe1, 0x18]), "that of 0.35");
    }
}
