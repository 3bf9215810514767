//! The addresses of the node in the statuses of its pods: those that the Node names.
//!
//! Mirrors `getHostIPsAnyWay` of pkg/kubelet/kubelet_getters.go and `GetNodeHostIPs` of pkg/util/node/node.go (v1.34).
//! Inputs: the Node, the machine. Outputs: the first address, and one of the other family; syncs of the pods that show
//! another one. Where a cloud names the addresses, there is none before it has.

use core::net::IpAddr;

use super::*;

impl Kubelet {
    /// Returns the first address of the node, empty if none is known, and the first one of the other family: those that
    /// the Node has with the kubelet's next look at it. A process that has just started looks before it syncs pods.
    pub(super) fn host_ips(&self, host: &Host) -> (Text, Option<Text>) {
        let mut node = Json::object();
        if let Some(known) = self.cached_node() {
            node.set(&["status", "addresses"], known.stable().at(&["status", "addresses"]).clone());
        }
        self.set_addresses(&mut node, host);
        first_of_each_family(node.at(&["status", "addresses"]))
    }

    /// Returns the first address of the node.
    pub(super) fn host_ip(&self, host: &Host) -> Text {
        self.host_ips(host).0
    }

    /// Notes which address the node has, for the status of a pod that is synced.
    pub(super) fn take_host_ip(&mut self, uid: &Text, host: &Host) {
        let host_ip = self.host_ip(host);
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.host_ip = host_ip;
            worker.resync_at = None;
        }
    }

    /// Schedules the syncs that will find another address of the node, at any time of their period, and looks after
    /// the names in the certificate of its server.
    pub(in crate::components::kubelet) fn note_address(&mut self, context: &KubeletContext<'_>) {
        let addresses = self.cached_node().map(|node| node.stable().at(&["status", "addresses"]).clone());
        if addresses.as_ref().zip(self.pods.addresses.as_ref()).is_some_and(|(own, known)| own == known) {
            return;
        }
        self.pods.addresses = addresses;
        self.note_served_names(context);
        let host_ip = self.host_ip(context.host);
        let is_stale = |worker: &&Worker| worker.host_ip != host_ip && worker.resync_at.is_none();
        let stale: Vec<Text> = self.pods.workers.active().filter(is_stale).map(|worker| worker.uid.clone()).collect();
        for uid in stale {
            self.schedule_resync(&uid, (context.now, context.now), context.now);
        }
        self.pods.recompute_deadline(context.now);
    }
}

fn first_of_each_family(addresses: &Json) -> (Text, Option<Text>) {
    let of_type =
        |kind: &'static str| addresses.items().iter().filter(move |own| own.get("type").as_str() == Some(kind));
    let all = of_type("InternalIP").chain(of_type("ExternalIP"));
    let mut all =
        all.filter_map(|own| Some((own.get("address").as_str()?.parse::<IpAddr>().ok()?, own.get("address"))));
    let Some((first, text)) = all.next() else { return (Text::default(), None) };
    let second = all.find(|(other, _)| other.is_ipv6() != first.is_ipv6());
    let text_of = |address: &Json| address.as_text().cloned().unwrap_or_default();
    (text_of(text), second.map(|(_, address)| text_of(address)))
}

#[cfg(test)]
mod tests {
    use super::first_of_each_family;
    use crate::json;
    use crate::objects::Text;

    #[test]
    fn internal_addresses_come_before_external_ones_and_the_second_is_of_the_other_family() {
        let own = |kind: &str, address: &str| json!({"type": kind, "address": address});
        let (outer, inner) = (own("ExternalIP", "203.0.113.7"), own("InternalIP", "10.0.0.7"));
        let named = own("Hostname", "10.9.9.9");
        for (addresses, first, second) in [
            (json!([outer.clone(), inner.clone(), named.clone()]), "10.0.0.7", None),
            (json!([outer.clone(), named.clone()]), "203.0.113.7", None),
            (json!([named.clone()]), "", None),
            (json!([inner, own("ExternalIP", "fd00::7"), outer]), "10.0.0.7", Some("fd00::7")),
        ] {
            let (found, other) = first_of_each_family(&addresses);
            assert_eq!((found.as_str(), other.as_ref().map(Text::as_str)), (first, second));
        }
    }
}
