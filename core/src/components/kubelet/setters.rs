//! The setters: what a kubelet writes into the status of its Node, from its machine and its configuration.
//!
//! Mirrors pkg/kubelet/nodestatus/setters.go and pkg/kubelet/kubelet_node_status.go (v1.34), in their order. Inputs: a
//! Node, the host, the configuration. Outputs: the changed Node, and the Events to emit.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

use jiff::{SignedDuration, Timestamp};

use super::conditions::{PRESSURES, set_ready};
use super::{Kubelet, Timer};
use crate::components::host::Host;
use crate::components::volumes::CONTROLLER_ATTACHES;
use crate::json;
use crate::objects::names::is_extended_resource;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{Json, NodeAddress, Text};

/// The labels that a kubelet sets at each tick: operating system and architecture.
pub(super) const OS_LABELS: [(&str, &str); 2] = [("kubernetes.io/os", "linux"), ("kubernetes.io/arch", "amd64")];
/// Source: k8s.io/cloud-provider/api/well_known_annotations.go (v1.34), `AnnotationAlphaProvidedIPAddr`.
pub(super) const PROVIDED_IP_ANNOTATION: &str = "alpha.kubernetes.io/provided-node-ip";
/// Source: pkg/kubelet/nodestatus/setters.go (v1.34), `MaxNamesPerImageInNodeStatus`.
const NAMES_PER_IMAGE_MAX: usize = 5;
/// How long the devices of a plugin that is gone count.
/// Source: pkg/kubelet/cm/devicemanager/types.go (v1.34), `endpointStopGracePeriod`.
pub(super) const GONE_DEVICES_STAY: SignedDuration = SignedDuration::from_mins(5);

/// The Events that the setters ask for: type, reason, message.
pub(super) type StatusEvents = Vec<(super::events::EventType, &'static str, String)>;

/// Capacity and allocatable as lists of a Node's status; valid while neither machine nor kubelet changes.
#[derive(Clone, Debug)]
pub(super) struct Resources {
    /// The generations of machine and kubelet.
    of: (u64, u64),
    capacity: Json,
    allocatable: Json,
}

/// Prints a quantity as it reads after a round trip through the API, which loses the binary format of a plain number.
fn as_stored(quantity: Quantity) -> String {
    let printed = quantity.to_string();
    Quantity::parse(&printed).map_or(printed, |read| read.to_string())
}

impl Kubelet {
    /// Builds the Node that the kubelet would create.
    pub(super) fn initial_node(&mut self, host: &Host, now: Timestamp, said: &mut StatusEvents) -> Json {
        let config = self.config.clone();
        let mut node = json!({"kind": "Node", "apiVersion": "v1"});
        node.set(&["metadata", "name"], &config.node_name);
        let labels = node.entry(&["metadata", "labels"]);
        for (key, value) in
            OS_LABELS.into_iter().chain([("beta.kubernetes.io/os", "linux"), ("beta.kubernetes.io/arch", "amd64")])
        {
            labels.set(&[key], value);
        }
        labels.set(&["kubernetes.io/hostname"], &config.node_name);
        for (key, value) in &config.node_labels {
            labels.set(&[key], value);
        }
        if config.attach_detach {
            node.set(&["metadata", "annotations", CONTROLLER_ATTACHES], "true");
        }
        node.set(&["spec"], Json::object());
        let mut taints = config.taints.clone();
        if !config.register_schedulable {
            node.set(&["spec", "unschedulable"], true);
            let taint = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
            let is_same = |other: &Json| ["key", "effect"].iter().all(|field| other.get(field) == taint.get(field));
            if !taints.iter().any(is_same) {
                taints.push(taint);
            }
        }
        if config.external_cloud {
            taints.push(json!({"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true",
                "effect": "NoSchedule"}));
        }
        if !taints.is_empty() {
            node.set(&["spec", "taints"], taints);
        }
        if !config.provider_id.is_empty() {
            node.set(&["spec", "providerID"], &config.provider_id);
        }
        node.set(&["status"], Json::object());
        self.set_status(&mut node, host, now, said);
        node
    }

    /// Runs all setters on a Node.
    pub(super) fn set_status(&mut self, node: &mut Json, host: &Host, now: Timestamp, said: &mut StatusEvents) {
        self.set_addresses(node, host);
        self.set_machine_info(node, host, now, said);
        self.set_version_info(node, host);
        node.set(&["status", "daemonEndpoints", "kubeletEndpoint", "Port"], self.config.port);
        self.set_images(node);
        node.set(&["status", "nodeInfo", "operatingSystem"], "linux");
        node.set(&["status", "nodeInfo", "architecture"], "amd64");
        self.set_runtime_features(node, host);
        self.set_conditions(node, host, now, said);
        let unschedulable = node.at(&["spec", "unschedulable"]).as_bool() == Some(true);
        if unschedulable != self.was_unschedulable {
            self.was_unschedulable = unschedulable;
            said.push(self.status_event(if unschedulable { "NodeNotSchedulable" } else { "NodeSchedulable" }));
        }
        self.set_volumes_in_use(node);
        let declared = self.settings.profile().text("declared-features");
        if !declared.is_empty() {
            node.set(&["status", "declaredFeatures"], declared.split(',').map(Json::from).collect::<Json>());
        }
    }

    fn status_event(&self, reason: &'static str) -> (super::events::EventType, &'static str, String) {
        (super::events::EventType::Normal, reason, format!("Node {} status is now: {reason}", self.config.node_name))
    }

    pub(super) fn set_addresses(&self, node: &mut Json, host: &Host) {
        let config = &self.config;
        let is_any = |ip: &Text| matches!(ip.as_str(), "0.0.0.0" | "::");
        let specific: Vec<&Text> = config.node_ips.iter().filter(|ip| !is_any(ip)).collect();
        if !specific.iter().all(|ip| is_of_node(ip, host)) || !host.is_connected {
            // The setter fails; the Node keeps its addresses.
            return;
        }
        if config.external_cloud && !specific.is_empty() {
            let list = specific.iter().map(|ip| ip.as_str()).collect::<Vec<_>>().join(",");
            node.set(&["metadata", "annotations", PROVIDED_IP_ANNOTATION], list);
        } else {
            node.remove(&["metadata", "annotations", PROVIDED_IP_ANNOTATION]);
        }
        if config.external_cloud && !node.at(&["status", "addresses"]).items().is_empty() {
            return;
        }
        let hostname = json!({"type": "Hostname", "address": config.node_name.as_str()});
        let internal = |ip: &str| json!({"type": "InternalIP", "address": ip});
        let mut addresses: Vec<Json> = if !specific.is_empty() {
            specific.iter().map(|ip| internal(ip)).collect()
        } else if config.external_cloud && config.node_ips.is_empty() {
            Vec::new()
        } else if let Some(ip) = ip_of_name(&config.node_name) {
            Vec::from([internal(&ip)])
        } else {
            // The kubelet looks up one address of its own; what other addresses a machine has, a cloud knows.
            Vec::from([internal(&host.default_ip(config.node_ips.first().is_some_and(|ip| *ip == *"::")))])
        };
        addresses.push(hostname);
        node.set(&["status", "addresses"], addresses);
    }

    fn resources_of(&self, host: &Host, of: (u64, u64), now: Timestamp) -> Resources {
        let hardware = &self.config.hardware;
        let pods = Quantity::whole(self.config.pods(), Format::DecimalSi);
        let mut capacity: Vec<(&str, Quantity, Quantity)> = Vec::new();
        if host.fails("machine-info") {
            capacity.push(("cpu", Quantity::milli(0), Quantity::milli(0)));
            let none = Quantity::whole(0, Format::BinarySi);
            capacity.push(("memory", none, none));
            let max_pods = Quantity::whole(self.config.max_pods, Format::DecimalSi);
            capacity.push(("pods", max_pods, max_pods));
        } else {
            let kept = self.config.reservations;
            let less = |amount: Quantity, kept: Quantity| {
                let rest = amount - kept;
                if rest.is_negative() { Quantity::whole(0, rest.format()) } else { rest }
            };
            let cpu = Quantity::milli(hardware.cpu.milli_value() / 1000 * 1000);
            capacity.push(("cpu", cpu, less(cpu, kept.cpu)));
            let bytes = |amount: Quantity| Quantity::whole(amount.value(), Format::BinarySi);
            if self.config.isolates_local_storage {
                let storage = bytes(hardware.ephemeral_storage);
                capacity.push(("ephemeral-storage", storage, less(storage, kept.ephemeral_storage)));
            }
            let mut memory = less(bytes(hardware.memory), kept.memory);
            let nothing = Quantity::whole(0, Format::BinarySi);
            if self.config.huge_pages().next().is_none() {
                capacity.extend(["hugepages-1Gi", "hugepages-2Mi"].map(|size| (size, nothing, nothing)));
            }
            for (name, all, healthy) in self.config.extended(host) {
                if is_huge_page(name) {
                    memory = less(memory, *all);
                }
                capacity.push((name, *all, *healthy));
            }
            capacity.extend(self.gone_devices(host, now));
            capacity.push(("memory", bytes(hardware.memory), memory));
            capacity.push(("pods", pods, pods));
        }
        let list = |pick: fn(&(&str, Quantity, Quantity)) -> Quantity| -> Json {
            capacity.iter().map(|entry| (Text::from(entry.0), Json::from(as_stored(pick(entry))))).collect()
        };
        Resources { of, capacity: list(|entry| entry.1), allocatable: list(|entry| entry.2) }
    }

    /// Returns what counts of device plugins that are gone: for a while their devices, all of them unhealthy, and then
    /// none. A kubelet that has started since knows their names alone.
    fn gone_devices<'a>(&self, host: &'a Host, now: Timestamp) -> impl Iterator<Item = (&'a str, Quantity, Quantity)> {
        let started = self.started;
        let amount = |count: usize| Quantity::whole(i64::try_from(count).unwrap_or(i64::MAX), Format::DecimalSi);
        host.gone_plugins.iter().map(move |gone| {
            let counts = gone.since >= started && now < gone.since + GONE_DEVICES_STAY;
            (gone.resource.as_str(), amount(if counts { gone.devices } else { 0 }), amount(0))
        })
    }

    fn set_machine_info(&mut self, node: &mut Json, host: &Host, now: Timestamp, said: &mut StatusEvents) {
        let of = (host.generation, self.generation);
        let known = self.resources.take().filter(|known| known.of == of);
        let ends = host.gone_plugins.iter().map(|gone| gone.since + GONE_DEVICES_STAY);
        if let Some(end) = ends.filter(|end| known.is_none() && *end > now).min() {
            self.set(Timer::Devices, end);
        }
        let resources = known.unwrap_or_else(|| self.resources_of(host, of, now));
        set_resources(node.entry(&["status"]), &resources);
        self.resources = Some(resources);
        if host.fails("machine-info") {
            // What was known of the machine stays.
            return;
        }
        let before = node.at(&["status", "nodeInfo", "bootID"]).as_str().unwrap_or_default();
        let is_reboot = !before.is_empty() && *before != *host.boot_id;
        if is_reboot && !(self.has_said_rebooted && self.settings.profile().is("rebooted-once-per-process")) {
            self.has_said_rebooted = true;
            let text = format!("Node {} has been rebooted, boot id: {}", self.config.node_name, host.boot_id);
            said.push((super::events::EventType::Warning, "Rebooted", text));
        }
        let info = node.entry(&["status", "nodeInfo"]);
        info.set(&["bootID"], &host.boot_id);
        info.set(&["machineID"], host.machine_id());
        info.set(&["systemUUID"], host.system_uuid());
        let swap = self.config.hardware.swap.value();
        if swap > 0 && self.settings.profile().is("swap-capacity-in-status") && self.settings.is_gate_on("NodeSwap") {
            info.set(&["swap", "capacity"], swap);
        }
        let is_told = self.settings.profile().is("user-namespace-in-status");
        if is_told && self.settings.is_gate_on("KubeletInUserNamespace") {
            info.set(&["runningInUserNamespace"], false);
        }
    }

    fn set_version_info(&self, node: &mut Json, host: &Host) {
        let hardware = &host.spec.hardware;
        let runtime = if host.takes_calls() && !host.fails("version-info") {
            hardware.container_runtime.clone()
        } else {
            let kind = hardware.container_runtime.split_once("://").map_or("containerd", |(kind, _)| kind);
            Text::from(format!("{kind}://Unknown"))
        };
        let version = format!("v{}", self.config.release);
        let info = node.entry(&["status", "nodeInfo"]);
        info.set(&["kernelVersion"], &hardware.kernel_version);
        info.set(&["osImage"], &hardware.os_image);
        info.set(&["containerRuntimeVersion"], runtime);
        let is_proxy_named = self.settings.profile().is("kube-proxy-version-in-status");
        info.set(&["kubeProxyVersion"], if is_proxy_named { version.as_str() } else { "" });
        info.set(&["kubeletVersion"], version);
    }

    fn set_images(&self, node: &mut Json) {
        let mut images = self.images.shown().to_vec();
        images.sort_by_key(|image| core::cmp::Reverse(image.get("sizeBytes").as_i64().unwrap_or_default()));
        if let Ok(most) = usize::try_from(self.config.max_images) {
            images.truncate(most);
        }
        for image in &mut images {
            if image.get("names").items().len() > NAMES_PER_IMAGE_MAX {
                image.entry(&["names"]).make_array().truncate(NAMES_PER_IMAGE_MAX);
            }
        }
        if images.is_empty() {
            node.remove(&["status", "images"]);
        } else {
            node.set(&["status", "images"], images);
        }
    }

    /// Sets runtime handlers and features as the runtime reports them.
    fn set_runtime_features(&self, node: &mut Json, host: &Host) {
        let is_on = |gate: &str| self.settings.is_gate_on(gate);
        if !host.has_runtime_features() {
            return;
        }
        if is_on("RecursiveReadOnlyMounts") || is_on("UserNamespacesSupport") {
            let features = json!({"recursiveReadOnlyMounts": true, "userNamespaces": true});
            let handler = |name: &str| {
                let mut handler = json!({"name": name});
                handler.set(&["features"], features.clone());
                handler
            };
            node.set(&["status", "runtimeHandlers"], Vec::from(["", "runc"].map(handler)));
        }
        if is_on("SupplementalGroupsPolicy") {
            node.set(&["status", "features", "supplementalGroupsPolicy"], true);
        }
    }

    fn set_conditions(&mut self, node: &mut Json, host: &Host, now: Timestamp, said: &mut StatusEvents) {
        let time = crate::objects::time::to_time(host.wall(now));
        let mut errors = self.ready_errors(now);
        let missing: Vec<&str> = ["cpu", "memory", "pods", "ephemeral-storage"]
            .into_iter()
            .filter(|name| *name != "ephemeral-storage" || self.config.isolates_local_storage)
            .filter(|name| node.at(&["status", "capacity", name]).is_null())
            .collect();
        if !missing.is_empty() {
            errors.push(format!("missing node capacity for resources: {}", missing.join(", ")));
        }
        let conditions = node.entry(&["status", "conditions"]);
        for (pressure, is_pressed) in PRESSURES.iter().zip(self.eviction.conditions()) {
            if let Some(reason) = pressure.set(conditions, is_pressed, &time) {
                said.push(self.status_event(reason));
            }
        }
        if let Some(reason) = set_ready(conditions, &errors, &time) {
            said.push(self.status_event(reason));
        }
    }
}

/// Tells whether a resource is memory in pages of one size.
pub(super) fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Writes what the machine has. What somebody else has added to the capacity stays, and is allocatable in whole.
fn set_resources(status: &mut Json, own: &Resources) {
    let foreign: Vec<(Text, Json)> = status
        .get("capacity")
        .fields()
        .filter(|(name, _)| own.capacity.get(name).is_null())
        .map(|(name, amount)| (name.clone(), amount.clone()))
        .collect();
    // An extended resource without a capacity goes.
    let left: Vec<(Text, Json)> = status
        .get("allocatable")
        .fields()
        .filter(|(name, _)| own.allocatable.get(name).is_null() && !is_extended_resource(name))
        .map(|(name, amount)| (name.clone(), amount.clone()))
        .collect();
    status.set(&["capacity"], own.capacity.clone());
    status.set(&["allocatable"], own.allocatable.clone());
    for (name, amount) in left {
        status.set(&["allocatable", &name], amount);
    }
    for (name, amount) in foreign {
        status.set(&["capacity", &name], amount.clone());
        status.set(&["allocatable", &name], amount);
    }
}

/// Returns the address that a Node is named after, if it is.
///
/// Source: pkg/kubelet/nodestatus/setters.go (v1.34), `NodeAddress`, `netutils.ParseIPSloppy(hostname)`.
fn ip_of_name(name: &str) -> Option<String> {
    let is_dotted = name.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let part = |part: &str| part.parse::<u8>().ok();
    let bytes: Option<Vec<u8>> = name.split('.').map(part).collect();
    let bytes: [u8; 4] = bytes.filter(|_| is_dotted)?.try_into().ok()?;
    Some(core::net::Ipv4Addr::from(bytes).to_string())
}

/// Tells whether an address can be a Node's. Source: pkg/kubelet/kubelet_node_status.go (v1.34), `validateNodeIP`. A
/// machine of which no addresses are told has them all.
fn is_of_node(ip: &str, host: &Host) -> bool {
    let Ok(ip) = ip.parse::<IpAddr>() else { return false };
    let is_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    let is_special = ip.is_loopback() || ip.is_multicast() || is_local || ip.is_unspecified();
    let is_own =
        |own: &NodeAddress| own.address.parse().is_ok_and(|own: IpAddr| own.to_canonical() == ip.to_canonical());
    !is_special && host.spec.hardware.addresses.as_ref().is_none_or(|list| list.iter().any(is_own))
}
