//! From the Pods of a Service to the subsets of its Endpoints.
//!
//! Mirrors pkg/controller/endpoint/endpoints_controller.go, `syncService` and `truncateEndpoints`, and
//! pkg/api/v1/endpoints/util.go, `RepackSubsets` (v1.34). An address counts with a Service's first family of addresses;
//! ports that the same addresses have share a subset. Inputs: a Service, its Pods. Outputs: subsets. Subsets go in the
//! order of their lowest ports: upstream's is that of a digest with the UIDs of Pods, so that it means nothing.

use alloc::format;
use alloc::vec::Vec;

use super::endpoints::{Family, PortOrder, may_be_endpoint, name_pod, ports_of};
use crate::json;
use crate::objects::lifecycle::{is_ending, is_ready};
use crate::objects::{Json, Object};

/// The most addresses of an Endpoints object.
/// Source: endpoints_controller.go (v1.34), `maxCapacity`.
const ADDRESSES_MAX: usize = 1000;
const READY: &str = "addresses";
const NOT_READY: &str = "notReadyAddresses";

/// Ports with the addresses that have them, and whether each is ready.
struct PortAddresses {
    ports: Vec<Json>,
    addresses: Vec<(Json, bool)>,
}

/// Returns the subsets of a Service's Endpoints.
pub(super) fn subsets<'a>(service: &Object, pods: impl Iterator<Item = &'a Object>, order: PortOrder) -> Vec<Json> {
    let spec = service.stable().get("spec");
    let publishes = spec.get("publishNotReadyAddresses").as_bool() == Some(true);
    // A Service without ports has addresses alone, if it has no address itself.
    let is_bare = spec.get("ports").is_empty();
    if is_bare && spec.get("clusterIP").as_str() != Some("None") {
        return Vec::new();
    }
    let family = Family::first_of(service);
    let mut by_port: Vec<PortAddresses> = Vec::new();
    for pod in pods.filter(|pod| may_be_endpoint(pod) && (publishes || !is_ending(pod))) {
        let Some(ip) = family.addresses(pod).into_iter().next() else { continue };
        let mut address = json!({});
        address.set(&["ip"], ip);
        name_pod(&mut address, service, pod);
        let is_ready = publishes || is_ready(pod);
        let ports = ports_of(service, pod).into_iter().map(|port| Vec::from([unnamed(port)]));
        for ports in ports.chain(is_bare.then(Vec::new)) {
            let at = by_port.iter().position(|own| own.ports == ports).unwrap_or_else(|| {
                by_port.push(PortAddresses { ports, addresses: Vec::new() });
                by_port.len() - 1
            });
            by_port[at].addresses.push((address.clone(), is_ready));
        }
    }
    let mut packed: Vec<PortAddresses> = Vec::new();
    for mut own in by_port {
        own.addresses.sort_by(|(one, _), (other, _)| place(one).cmp(&place(other)));
        match packed.iter_mut().find(|known| known.addresses == own.addresses) {
            Some(known) => known.ports.append(&mut own.ports),
            None => packed.push(own),
        }
    }
    for own in &mut packed {
        own.ports.sort_by_cached_key(|port| rank(port, order));
    }
    packed.sort_by_cached_key(|own| {
        let number = |port: &Json| (port.get("port").as_i64(), port.get("name").as_text().cloned());
        own.ports.iter().map(number).min()
    });
    packed.into_iter().map(PortAddresses::into_subset).collect()
}

impl PortAddresses {
    fn into_subset(self) -> Json {
        let mut subset = json!({});
        for (list, wanted) in [(READY, true), (NOT_READY, false)] {
            let own = self.addresses.iter().filter(|(_, is_ready)| *is_ready == wanted);
            let own: Vec<Json> = own.map(|(address, _)| address.clone()).collect();
            if !own.is_empty() {
                subset.set(&[list], own);
            }
        }
        if !self.ports.is_empty() {
            subset.set(&["ports"], self.ports);
        }
        subset
    }
}

/// Returns a port without an empty name, which Endpoints leave out.
fn unnamed(mut port: Json) -> Json {
    if port.get("name").is_empty() {
        port.remove(&["name"]);
    }
    port
}

/// Source: util.go (v1.34), `LessEndpointAddress`.
fn place(address: &Json) -> (&str, &str) {
    (address.get("ip").as_str().unwrap_or(""), address.at(&["targetRef", "uid"]).as_str().unwrap_or(""))
}

/// Returns what ports are sorted by. Source: util.go (v1.34), `portsByHash`.
fn rank(port: &Json, order: PortOrder) -> Vec<u8> {
    let text = |field: &str, default| port.get(field).as_str().unwrap_or(default);
    let (name, protocol) = (text("name", ""), text("protocol", ""));
    let (number, application) = (port.get("port").as_i64().unwrap_or(0), text("appProtocol", "<nil>"));
    order.digest(&format!(
        "(v1.EndpointPort){{Name:(string){name} Port:(int32){number} Protocol:(v1.Protocol){protocol} \
         AppProtocol:(*string){application}}}"
    ))
}

/// Returns how many addresses a subset has that are ready, and that are not.
fn sizes(subset: &Json) -> [usize; 2] {
    [READY, NOT_READY].map(|list| subset.get(list).items().len())
}

/// Tells whether subsets have more addresses than an object may have.
pub(super) fn is_too_large(subsets: &[Json]) -> bool {
    subsets.iter().flat_map(sizes).sum::<usize>() > ADDRESSES_MAX
}

/// Leaves out what is too much: first addresses that are not ready, from each subset its share.
///
/// Source: endpoints_controller.go (v1.34), `truncateEndpoints`.
pub(super) fn truncate(subsets: &mut [Json]) {
    let total = |at: usize| subsets.iter().map(|subset| sizes(subset)[at]).sum::<usize>();
    let (ready, not_ready) = (total(0), total(1));
    let (list, total, most) = if ready > ADDRESSES_MAX {
        (READY, ready, ADDRESSES_MAX)
    } else {
        (NOT_READY, not_ready, ADDRESSES_MAX - ready)
    };
    let mut room = most;
    for subset in subsets {
        if list == READY {
            subset.remove(&[NOT_READY]);
        }
        let own = subset.get(list).items();
        let share = (own.len() * most).div_ceil(total.max(1)).min(room).min(own.len());
        let kept = own[..share].to_vec();
        room -= share;
        if kept.is_empty() {
            subset.remove(&[list]);
        } else {
            subset.set(&[list], kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::{PortOrder, is_too_large, rank, sizes, truncate};
    use crate::json;
    use crate::objects::Json;

    /// What the functions of upstream return for these ports (k8s.io/api v0.34.4).
    #[test]
    fn the_digests_of_ports_are_those_of_upstream() {
        let named = json!({"name": "q", "port": 8080, "protocol": "UDP", "appProtocol": "http"});
        assert!(rank(&named, PortOrder::Md5).starts_with(&[0x39, 0x8e, 0x1c, 0x69]));
        assert!(rank(&named, PortOrder::Fnv).starts_with(&[0x27, 0x96, 0x03, 0xd2]));
        let unnamed = json!({"port": 9090, "protocol": "SCTP"});
        assert!(rank(&unnamed, PortOrder::Md5).starts_with(&[0x3b, 0x4b, 0xcc, 0x22]));
        assert!(rank(&unnamed, PortOrder::Fnv).starts_with(&[0xe0, 0x2e, 0x3f, 0x6b]));
    }

    fn subset(ready: usize, not_ready: usize) -> Json {
        let list = |count: usize| (0..count).map(|at| json!({"ip": format!("ip-{at}")})).collect::<Vec<Json>>();
        let mut subset = json!({});
        subset.set(&["addresses"], list(ready));
        subset.set(&["notReadyAddresses"], list(not_ready));
        subset
    }

    /// Source: endpoints_controller_test.go (v1.34), `TestTruncateEndpoints`.
    #[test]
    fn what_is_too_much_is_left_out_by_shares_and_not_ready_first() {
        for (before, after) in [
            (&[(100, 100), (100, 100), (300, 300)][..], &[(100, 100), (100, 100), (300, 300)][..]),
            (
                &[(90, 101), (110, 200), (50, 200), (10, 201), (20, 298)],
                &[(90, 73), (110, 144), (50, 144), (10, 145), (20, 214)],
            ),
            (
                &[(205, 100), (400, 200), (402, 200), (400, 200), (693, 300)],
                &[(98, 0), (191, 0), (192, 0), (191, 0), (328, 0)],
            ),
        ] {
            let mut subsets: Vec<Json> = before.iter().map(|(ready, not_ready)| subset(*ready, *not_ready)).collect();
            if is_too_large(&subsets) {
                truncate(&mut subsets);
            }
            let left: Vec<[usize; 2]> = subsets.iter().map(sizes).collect();
            let wanted: Vec<[usize; 2]> = after.iter().map(|(ready, not_ready)| [*ready, *not_ready]).collect();
            assert_eq!(left, wanted, "{before:?}");
        }
    }
}
