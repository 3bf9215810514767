//! The state of a machine that its kubelet can see: hardware, boot, container runtime, network configuration.
//!
//! Data that `machine` and `kubelet` read and change; nothing here acts by itself. Identities and addresses that were
//! not given are made from the machine's name, so that they are the same in every run.

mod behaviour;
mod config_types;
mod joining;
mod kubelet_options;
mod limits;
mod lists;
mod logind;
mod manifests;
mod numa;
pub mod runtime;
mod spec;
mod usage;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use self::runtime::Runtime;
use self::usage::UsedAmounts;
use crate::json;
use crate::objects::x509::Certificate;
use crate::objects::{Json, NodeAddress, Text, fnv};

pub use behaviour::{After, BEHAVIOUR_PREFIX, ContainerBehaviour, PodBehaviour};
pub use config_types::{check_types, type_of};
pub use joining::CniSource;
pub use kubelet_options::{BETWEEN_USES, FLAGS, check_field_names, find_flag, read_flag};
pub use limits::{ContainerLimits, SwapLimit};
pub use logind::{Logind, ShutdownState};
pub use manifests::{Manifest, Manifests};
pub use numa::{Assignment, Device, DevicePlugin, GonePlugin, NumaNode, ToldHints, distance};
pub use spec::{Credentials, Hardware, KUBECONFIG, KubeletSpec, MachineSpec};
pub use usage::{Free, Level, Resource, USES, Uses};

/// What a kubelet finds on its machine.
#[derive(Clone, Debug)]
pub struct Host {
    /// What the machine is made of.
    pub spec: MachineSpec,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Text,
    /// How often the machine has booted.
    pub boots: u32,
    /// Whether the container runtime runs.
    pub is_runtime_up: bool,
    /// Whether the machine has a network interface.
    pub is_connected: bool,
    /// Whether the container network is configured.
    pub is_cni_installed: bool,
    /// The client certificate that its kubelet has got by its bootstrap token.
    pub client_certificate: Option<Certificate>,
    /// The signed certificate of its kubelet's server.
    pub serving_certificate: Option<Certificate>,
    /// Whether a kubelet has served device plugins here: their folder is not empty then, and stays so.
    pub has_served_plugins: bool,
    /// The images, each with `names` and `sizeBytes`.
    pub images: Vec<Json>,
    /// The device plugins that are gone.
    pub gone_plugins: Vec<GonePlugin>,
    /// What the kubelet gave to containers for themselves.
    pub assignments: Vec<Assignment>,
    /// The policies of CPU manager and memory manager that the last kubelet ran with, as the files of both tell.
    pub manager_policies: Option<[&'static str; 2]>,
    /// What providers would answer to the topology manager.
    pub told_hints: Vec<ToldHints>,
    /// What everything but containers and images uses.
    others: UsedAmounts,
    /// Counts the changes of what the status of the Node is made of: an unchanged machine is recognised by one
    /// comparison.
    pub generation: u64,
    /// The folder of static Pods.
    pub manifests: Manifests,
    /// The containers.
    pub runtime: Runtime,
    /// What is known of shutdowns.
    pub logind: Logind,
}

impl Host {
    /// Makes a machine that has just booted.
    #[must_use]
    pub fn new(spec: MachineSpec) -> Self {
        let mut host = Self {
            boot_id: Text::default(),
            boots: 0,
            is_runtime_up: true,
            is_connected: true,
            is_cni_installed: spec.cni == CniSource::Installed,
            client_certificate: None,
            serving_certificate: None,
            has_served_plugins: false,
            images: spec.hardware.images.clone(),
            gone_plugins: Vec::new(),
            assignments: Vec::new(),
            manager_policies: None,
            told_hints: Vec::new(),
            others: UsedAmounts::default(),
            generation: 0,
            manifests: Manifests::default(),
            runtime: Runtime::default(),
            logind: Logind::default(),
            spec,
        };
        host.boot(None);
        host
    }

    /// Changes what the machine is made of.
    pub fn respec(&mut self, spec: MachineSpec, now: Timestamp) {
        let before = self.spec.hardware.device_plugins.iter();
        let lost =
            before.map(|own| GonePlugin { resource: own.resource.clone(), devices: own.devices.len(), since: now });
        self.gone_plugins.extend(lost);
        let is_there =
            |own: &GonePlugin| spec.hardware.device_plugins.iter().any(|other| other.resource == own.resource);
        self.gone_plugins.retain(|own| !is_there(own));
        self.spec = spec;
    }

    /// Boots: a new boot id, and a container runtime that runs.
    pub fn boot(&mut self, boot_id: Option<Text>) {
        self.boots += 1;
        let first = if self.boots == 1 { self.spec.boot_id.clone() } else { None };
        self.boot_id = boot_id.or(first).unwrap_or_else(|| uuid(&format!("boot/{}/{}", self.spec.name, self.boots)));
        self.is_runtime_up = true;
        self.runtime.forget_freeze();
        self.others = self.others.after_boot();
        self.generation += 1;
    }

    /// Returns what the machine's own clock shows.
    #[must_use]
    pub fn wall(&self, now: Timestamp) -> Timestamp {
        now + self.spec.clock_skew
    }

    /// Tells whether the machine is configured to fail at something.
    #[must_use]
    pub fn fails(&self, what: &str) -> bool {
        self.spec.hardware.failing.iter().any(|failing| *failing == *what)
    }

    /// Tells whether the container runtime does what it is asked for.
    #[must_use]
    pub const fn takes_calls(&self) -> bool {
        self.is_runtime_up && !self.runtime.is_frozen()
    }

    /// Tells whether the container runtime answers when it is asked for its status.
    #[must_use]
    pub fn is_runtime_answering(&self) -> bool {
        self.takes_calls() && !self.fails("runtime-status")
    }

    /// Tells whether the container runtime tells its handlers and what they can do: containerd does since 2.0.
    #[must_use]
    pub fn has_runtime_features(&self) -> bool {
        let version = self.spec.hardware.container_runtime.split_once("://").map_or("", |(_, version)| version);
        let major: Option<u32> = version.split('.').next().and_then(|major| major.parse().ok());
        major.is_some_and(|major| major >= 2)
    }

    /// Returns `/etc/machine-id`.
    #[must_use]
    pub fn machine_id(&self) -> Text {
        self.spec.machine_id.clone().unwrap_or_else(|| {
            let (high, low) = hash(&format!("machine/{}", self.spec.name));
            Text::from(format!("{high:016x}{low:016x}"))
        })
    }

    /// Returns the UUID of the firmware.
    #[must_use]
    pub fn system_uuid(&self) -> Text {
        self.spec.system_uuid.clone().unwrap_or_else(|| uuid(&format!("system/{}", self.spec.name)))
    }

    /// Returns how many devices of a resource containers have for themselves.
    #[must_use]
    pub fn given_devices(&self, resource: &str) -> i64 {
        let all = self.assignments.iter().flat_map(|given| &given.devices);
        let ids: BTreeSet<&Text> = all.filter(|(own, _)| **own == *resource).map(|(_, id)| id).collect();
        i64::try_from(ids.len()).unwrap_or(i64::MAX)
    }

    /// Returns the devices that a container has for itself, by resource, with their health. One of which no plugin
    /// tells any more counts as healthy.
    ///
    /// Source: pkg/kubelet/cm/devicemanager/manager.go (v1.31, v1.34, v1.37), `UpdateAllocatedResourcesStatus`.
    #[must_use]
    pub fn device_health(&self, uid: &str, container: &str) -> Json {
        let own = self.assignments.iter().filter(|given| *given.uid == *uid && *given.container == *container);
        let own: BTreeSet<&(Text, Text)> = own.flat_map(|given| &given.devices).collect();
        let all = || self.spec.hardware.device_plugins.iter();
        let is_unhealthy = |(resource, id): &(Text, Text)| {
            let told = all().filter(|plugin| plugin.resource == *resource).flat_map(|plugin| &plugin.devices);
            told.filter(|device| device.id == *id).any(|device| !device.is_healthy)
        };
        let resources: BTreeSet<&Text> = own.iter().map(|(resource, _)| resource).collect();
        let shown = resources.into_iter().map(|resource| {
            let devices = own.iter().filter(|(other, _)| other == resource).map(|device| {
                let health = if is_unhealthy(device) { "Unhealthy" } else { "Healthy" };
                json!({"resourceID": device.1.as_str(), "health": health})
            });
            json!({"name": resource.as_str(), "resources": devices.collect::<Json>()})
        });
        shown.collect()
    }

    /// Returns the address that a kubelet finds when nobody tells it one: of the family that it wants, or else of the
    /// other; without any, one made from the name.
    ///
    /// Source: pkg/kubelet/nodestatus/setters.go (v1.34), `NodeAddress`.
    #[must_use]
    pub fn default_ip(&self, wants_ipv6: bool) -> Text {
        let own = || self.spec.hardware.addresses.iter().flatten().filter(|address| address.kind == *"InternalIP");
        let fits = |address: &&NodeAddress| address.address.contains(':') == wants_ipv6;
        let given = own().find(fits).or_else(|| own().next());
        given.map_or_else(|| private_ip(&self.spec.name), |address: &NodeAddress| address.address.clone())
    }
}

/// Makes an address of 10.0.0.0/8 from a name, always the same.
fn private_ip(name: &str) -> Text {
    let (hash, _) = hash(&format!("address/{name}"));
    let part = |shift: u32, least: u64, count: u64| (hash >> shift) % count + least;
    Text::from(format!("10.{}.{}.{}", part(40, 0, 240), part(20, 0, 256), part(0, 1, 254)))
}

/// FNV-1a, mixed once more: any hash function would do.
fn hash(text: &str) -> (u64, u64) {
    let mix = |seed: u64| {
        let hash = fnv::add(seed, text.bytes());
        let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 31)
    };
    (mix(fnv::START), mix(0x9e37_79b9_7f4a_7c15))
}

/// Makes a UUID of version 4 from a text, always the same.
#[must_use]
pub fn uuid(text: &str) -> Text {
    let (high, low) = hash(text);
    let (first, second, third) = (high >> 32, (high >> 16) & 0xffff, high & 0x0fff);
    let (fourth, fifth) = ((low >> 48) & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
    Text::from(format!("{first:08x}-{second:04x}-4{third:03x}-{fourth:04x}-{fifth:012x}"))
}
