//! The specification of a machine and of its kubelet.
//!
//! Inputs: the body of `POST machines` or of a `change`. Outputs: a specification, or an error that names the field;
//! unknown fields are refused with the nearest name. Common parts are shared: a clone costs a few reference counts, for
//! clusters of 100,000 machines.

use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::joining::{CniSource, read_credentials};
use super::kubelet_options::{check_field_names, read_flag};
use super::lists::{read_failing, read_images};
use super::numa::{DevicePlugin, NumaNode, only_node, read_device_plugins, read_numa, totals};
use crate::network::Identity;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{FieldError, FieldReader, Json, NodeAddress, QUANTITY_NEEDED, Text};
use crate::profile::Release;

/// The specification of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineSpec {
    /// The machine's name, unique in the simulation.
    pub name: Text,
    /// The host name, from which the Node gets its name. Default: the machine's name.
    pub node_name: Option<Text>,
    /// The zone, which becomes the label `topology.kubernetes.io/zone` unless a cloud provider sets it.
    pub zone: Option<Text>,
    /// The region, which becomes the label `topology.kubernetes.io/region` unless a cloud provider sets it.
    pub region: Option<Text>,
    /// `/etc/machine-id`. Default: made from the name.
    pub machine_id: Option<Text>,
    /// The UUID of the firmware. Default: made from the name.
    pub system_uuid: Option<Text>,
    /// The boot id of the first boot. Default: made from the name.
    pub boot_id: Option<Text>,
    /// How far the machine's clock is ahead. Default 0.
    pub clock_skew: SignedDuration,
    /// Whether the machine is powered on at once. Default true.
    pub powered: bool,
    /// Where the configuration of its container network comes from. Default: it is there.
    pub cni: CniSource,
    /// The user of the bootstrap token with which its kubelet asks for a certificate. Default: it has one.
    pub bootstrap: Option<Arc<Identity>>,
    /// Its hardware.
    pub hardware: Arc<Hardware>,
    /// What its kubelet is started with.
    pub kubelet: Arc<KubeletSpec>,
}

impl Default for MachineSpec {
    fn default() -> Self {
        Self {
            name: Text::default(),
            node_name: None,
            zone: None,
            region: None,
            machine_id: None,
            system_uuid: None,
            boot_id: None,
            clock_skew: SignedDuration::ZERO,
            powered: true,
            cni: CniSource::default(),
            bootstrap: None,
            hardware: Arc::default(),
            kubelet: Arc::default(),
        }
    }
}

/// The hardware, which many machines have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// The CPUs. Default 4.
    pub cpu: Quantity,
    /// The memory. Default 16Gi.
    pub memory: Quantity,
    /// The root file system. Default 100476656Ki.
    pub ephemeral_storage: Quantity,
    /// The inodes of the root file system. Default: one for each 16 KiB, as mke2fs(8) makes them.
    pub inodes: Option<i64>,
    /// How many processes and threads there can be: the smaller of `kernel.pid_max` and `kernel.threads-max`. Default
    /// 32768.
    pub pids: i64,
    /// The number of pods, if the machine and not the kubelet's configuration sets it.
    pub pods: Option<i64>,
    /// Extended resources: name, capacity, and how much of it is healthy.
    pub extended: Vec<(Text, Quantity, Quantity)>,
    /// The NUMA nodes, by id. Default: one that has everything.
    pub numa: Vec<NumaNode>,
    /// The device plugins with their devices; each resource is among the extended ones.
    pub device_plugins: Vec<DevicePlugin>,
    /// The addresses. Default: one `InternalIP` made from the name.
    pub addresses: Option<Vec<NodeAddress>>,
    /// The swap space. Default none.
    pub swap: Quantity,
    /// Whether the kernel has a swap controller. Default true.
    pub swap_controller: bool,
    /// 1 or 2. Default 2.
    pub cgroup_version: i64,
    /// The images, each with `names` and `sizeBytes`. Default none.
    pub images: Vec<Json>,
    /// Default `Debian GNU/Linux 13 (trixie)`.
    pub os_image: Text,
    /// Default `6.12.0-1-amd64`.
    pub kernel_version: Text,
    /// Type and version of the container runtime. Default `containerd://2.1.4`.
    pub container_runtime: Text,
    /// logind's `InhibitDelayMaxSec`. Default 5 s (logind.conf(5)).
    pub inhibit_max_delay: SignedDuration,
    /// How many volumes of a CSI driver the machine takes, by driver. Default: no driver says.
    pub attach_limits: Vec<(Text, i64)>,
    /// What fails: `machine-info`, `version-info`, `runtime-status`; `logind`, which is not there; `inhibit-delay`,
    /// which no drop-in file of the kubelet changes, since another one wins over it; `image-pull`.
    pub failing: Vec<Text>,
    /// The kubeconfig files, with the credentials that each holds. Default: [`KUBECONFIG`] with the node's own.
    pub kubeconfigs: Vec<(Text, Credentials)>,
}

/// Where a kubelet finds its credentials unless `--kubeconfig` names another file.
///
/// Source: cmd/kubeadm/app/constants/constants.go (v1.34), `KubeletKubeConfigFileName`.
pub const KUBECONFIG: &str = "/etc/kubernetes/kubelet.conf";

/// The credentials of a kubelet at the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// Those of its node.
    Node,
    /// Credentials that the API server does not know.
    Unknown,
    /// Those of another user.
    User(Arc<Identity>),
}

impl Credentials {
    /// Returns the identity of a kubelet's requests.
    #[must_use]
    pub fn identity(&self, node: &str) -> Arc<Identity> {
        match self {
            Self::Node => Identity::kubelet(node),
            Self::Unknown => Identity::unknown("kubelet"),
            Self::User(identity) => identity.clone(),
        }
    }

    /// Reads `"node"`, `"unknown"`, `"anonymous"` or `{"user", "groups"}`.
    fn from_json(value: &Json, path: &str) -> Result<Self, FieldError> {
        const WORDS: [&str; 3] = ["node", "unknown", "anonymous"];
        let user = |user: &Text, groups: Vec<Text>| {
            Self::User(Arc::new(Identity { user: user.clone(), groups, agent: Text::of("kubelet"), details: None }))
        };
        match value.as_str() {
            Some("node") => return Ok(Self::Node),
            Some("unknown") => return Ok(Self::Unknown),
            Some("anonymous") => {
                return Ok(user(&Text::of("system:anonymous"), Vec::from([Text::of("system:unauthenticated")])));
            }
            Some(word) => return Err(FieldError::unknown(path.to_string(), "credentials", word, WORDS)),
            None => {}
        }
        let mut reader = FieldReader::new(value, path)?;
        let name = reader.needed_text("user")?.clone();
        let mut groups: Vec<Text> =
            reader.list("groups")?.unwrap_or_default().iter().filter_map(Json::as_text).cloned().collect();
        reader.finish()?;
        groups.push(Text::of("system:authenticated"));
        Ok(user(&name, groups))
    }
}

impl Default for Hardware {
    fn default() -> Self {
        Self {
            cpu: Quantity::whole(4, Format::DecimalSi),
            memory: Quantity::whole(16 << 30, Format::BinarySi),
            ephemeral_storage: Quantity::whole(100_476_656 << 10, Format::BinarySi),
            inodes: None,
            pids: 32_768,
            pods: None,
            extended: Vec::new(),
            numa: Vec::new(),
            device_plugins: Vec::new(),
            addresses: None,
            swap: Quantity::whole(0, Format::BinarySi),
            swap_controller: true,
            cgroup_version: 2,
            images: Vec::new(),
            os_image: Text::of("Debian GNU/Linux 13 (trixie)"),
            kernel_version: Text::of("6.12.0-1-amd64"),
            container_runtime: Text::of("containerd://2.1.4"),
            inhibit_max_delay: SignedDuration::from_secs(5),
            attach_limits: Vec::new(),
            failing: Vec::new(),
            kubeconfigs: Vec::from([(Text::of(KUBECONFIG), Credentials::Node)]),
        }
    }
}

/// What a kubelet is started with.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct KubeletSpec {
    /// The kubelet's release, which may be older than the offered ones: of these only what a kubelet does with swap
    /// space is known. Default: the control plane's.
    pub version: Option<Release>,
    /// The flags, without dashes, in the order of their names.
    pub flags: Vec<(Text, Text)>,
    /// The `KubeletConfiguration`; an object.
    pub config: Json,
}

/// Source: mke2fs.conf(5), `inode_ratio` of ext4.
const BYTES_PER_INODE: i64 = 16_384;

impl MachineSpec {
    /// Reads the body of `POST machines`.
    ///
    /// # Errors
    /// A field is unknown, or has a value that cannot be.
    pub fn from_json(body: &Json) -> Result<Self, FieldError> {
        let mut reader = FieldReader::new(body, "")?;
        let mut spec = Self { name: reader.needed_text("name")?.clone(), ..Self::default() };
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
        if spec.name.len() > 253 || !spec.name.chars().all(fits) {
            let message = "a host name is needed: at most 253 letters, digits, '-', '.' and '_'";
            return Err(reader.error("name", message));
        }
        spec.node_name = reader.text("nodeName")?.cloned();
        spec.zone = reader.text("zone")?.cloned();
        spec.region = reader.text("region")?.cloned();
        for (field, value) in [("zone", &spec.zone), ("region", &spec.region)] {
            // Both become labels, and the API server refuses a Node with an invalid label.
            let wrong = value.as_ref().map(|value| names::label_value(value, Wording::Characters)).unwrap_or_default();
            if let Some(problem) = wrong.into_iter().next() {
                return Err(reader.error(field, problem));
            }
        }
        spec.machine_id = reader.text("machineId")?.cloned();
        spec.system_uuid = reader.text("systemUuid")?.cloned();
        spec.boot_id = reader.text("bootId")?.cloned();
        spec.clock_skew = reader.signed_duration("clockSkew")?.unwrap_or_default();
        spec.powered = reader.boolean("powered")?.unwrap_or(true);
        spec.cni = CniSource::read(&mut reader)?;
        spec.bootstrap = read_credentials(&mut reader)?;
        let mut hardware = Hardware::default();
        hardware.read(&mut reader)?;
        spec.hardware = Arc::new(hardware);
        if let Some(kubelet) = reader.any("kubelet") {
            spec.kubelet = Arc::new(KubeletSpec::from_json(kubelet, "kubelet")?);
        }
        reader.finish()?;
        Ok(spec)
    }
}

impl MachineSpec {
    /// Reads the fields of a `change`: fields that are not named stay as they are.
    ///
    /// # Errors
    /// A field is unknown, or has a value that cannot be; nothing is changed then.
    pub fn changed(&self, body: &Json) -> Result<Self, FieldError> {
        let mut hardware = Hardware::clone(&self.hardware);
        let mut reader = FieldReader::new(body, "")?;
        reader.any("action");
        let clock_skew = reader.signed_duration("clockSkew")?.unwrap_or(self.clock_skew);
        hardware.read(&mut reader)?;
        reader.finish()?;
        Ok(Self { clock_skew, hardware: Arc::new(hardware), ..self.clone() })
    }
}

/// Reads how many volumes of each driver a machine takes.
fn read_limits(limits: &Json) -> Result<Vec<(Text, i64)>, FieldError> {
    if !limits.is_object() {
        return Err(FieldError::new("attachLimits", "an object is needed, as {\"csi.example.com\": 8}"));
    }
    let read = |(driver, count): (&Text, &Json)| {
        let needed =
            || FieldError::new(format!("attachLimits.{driver}"), "a whole number from 0 to 2147483647 is needed");
        let count = count.as_i64().filter(|count| (0..=i64::from(i32::MAX)).contains(count)).ok_or_else(needed)?;
        Ok((driver.clone(), count))
    };
    limits.fields().map(read).collect()
}

impl Hardware {
    fn read(&mut self, reader: &mut FieldReader<'_>) -> Result<(), FieldError> {
        if let Some(limits) = reader.any("attachLimits") {
            self.attach_limits = read_limits(limits)?;
        }
        let capacity = reader.any("capacity");
        if let Some(capacity) = capacity {
            self.read_capacity(capacity)?;
        }
        if let Some(numa) = reader.list("numa")? {
            self.numa = read_numa(numa)?;
        }
        self.fit_numa(capacity.unwrap_or(&Json::Null))?;
        self.inodes = reader.integer("inodes", 1, i64::MAX)?.or(self.inodes);
        self.pids = reader.integer("pids", 1, i64::MAX)?.unwrap_or(self.pids);
        if let Some(plugins) = reader.list("devicePlugins")? {
            self.read_device_plugins(plugins)?;
        }
        if let Some(addresses) = reader.list("addresses")? {
            self.addresses = Some(NodeAddress::read_list(addresses, &reader.path("addresses"))?);
        }
        if let Some(swap) = reader.quantity("swap")? {
            self.swap = swap;
        }
        if self.swap.is_negative() {
            return Err(reader.error("swap", "a quantity of at least 0 is needed: without swap space it is 0"));
        }
        if (self.ephemeral_storage - self.swap).is_negative() {
            let message = format!(
                "{} of swap space do not fit on a disk of {}: less of it, or a larger ephemeral-storage",
                self.swap, self.ephemeral_storage
            );
            return Err(reader.error("swap", &message));
        }
        self.swap_controller = reader.boolean("swapController")?.unwrap_or(self.swap_controller);
        self.cgroup_version = reader.integer("cgroupVersion", 1, 2)?.unwrap_or(self.cgroup_version);
        if let Some(images) = reader.list("images")? {
            self.images = read_images(images)?;
        }
        for (place, name) in [
            (&mut self.os_image, "osImage"),
            (&mut self.kernel_version, "kernelVersion"),
            (&mut self.container_runtime, "containerRuntime"),
        ] {
            if let Some(text) = reader.text(name)? {
                *place = text.clone();
            }
        }
        if !self.container_runtime.contains("://") {
            let message = "a type and a version are needed, as \"containerd://2.1.4\"";
            return Err(reader.error("containerRuntime", message));
        }
        self.inhibit_max_delay = reader.duration("inhibitMaxDelay")?.unwrap_or(self.inhibit_max_delay);
        if let Some(failing) = reader.list("failing")? {
            self.failing = read_failing(failing)?;
        }
        if let Some(files) = reader.any("kubeconfigs") {
            if !files.is_object() {
                return Err(reader.error("kubeconfigs", "an object is needed"));
            }
            for (path, value) in files.fields() {
                let credentials = Credentials::from_json(value, &format!("kubeconfigs.{path}"))?;
                self.kubeconfigs.retain(|(own, _)| own != path);
                self.kubeconfigs.push((path.clone(), credentials));
            }
        }
        Ok(())
    }

    /// Returns the number of inodes of the root file system.
    #[must_use]
    pub fn inodes(&self) -> i64 {
        self.inodes.unwrap_or_else(|| self.ephemeral_storage.value() / BYTES_PER_INODE)
    }

    fn read_capacity(&mut self, capacity: &Json) -> Result<(), FieldError> {
        if !capacity.is_object() {
            return Err(FieldError::new("capacity", "an object is needed"));
        }
        for (name, value) in capacity.fields() {
            let field = format!("capacity.{name}");
            let amount = Quantity::from_json(value)
                .filter(|amount| !amount.is_negative())
                .ok_or_else(|| FieldError::new(field.as_str(), QUANTITY_NEEDED))?;
            let is_whole = (amount - Quantity::whole(amount.value(), amount.format())).is_zero();
            match name.as_str() {
                "cpu" | "memory" if amount.is_zero() => {
                    return Err(FieldError::new(field, "more than 0 is needed: there is no machine without"));
                }
                "cpu" => self.cpu = amount,
                "memory" => self.memory = amount,
                "ephemeral-storage" => self.ephemeral_storage = amount,
                whole if !is_whole && (whole == "pods" || whole.contains('/')) => {
                    return Err(FieldError::new(field, "a whole number is needed"));
                }
                "pods" => self.pods = Some(amount.value()),
                extended if extended.contains('/') || extended.starts_with("hugepages-") => {
                    self.extended.retain(|(own, ..)| own != name);
                    self.extended.push((name.clone(), amount, amount));
                }
                unknown => {
                    // An extended resource has a domain, as `example.com/gpu`.
                    let known = ["cpu", "memory", "ephemeral-storage", "pods"];
                    return Err(FieldError::unknown(field, "resource", unknown, known));
                }
            }
        }
        Ok(())
    }

    /// A device plugin's resource counts its devices; healthy ones are allocatable. A plugin that is not named any more
    /// is gone.
    fn read_device_plugins(&mut self, plugins: &[Json]) -> Result<(), FieldError> {
        for gone in core::mem::take(&mut self.device_plugins) {
            self.extended.retain(|(name, ..)| *name != gone.resource);
        }
        for (at, plugin) in read_device_plugins(plugins)?.into_iter().enumerate() {
            let nodes = self.numa_nodes();
            let unknown = |id: &&u32| !nodes.iter().any(|node| node.id == **id);
            let mut devices = plugin.devices.iter().enumerate();
            if let Some((number, id)) =
                devices.find_map(|(number, device)| Some((number, device.numa.iter().find(unknown)?)))
            {
                let field = format!("devicePlugins[{at}].devices[{number}].numa");
                return Err(FieldError::new(field, format!("the machine has no NUMA node {id}")));
            }
            let count = |number: usize| Quantity::whole(i64::try_from(number).unwrap_or(i64::MAX), Format::DecimalSi);
            let healthy = plugin.devices.iter().filter(|device| device.is_healthy).count();
            self.extended.retain(|(own, ..)| *own != plugin.resource);
            self.extended.push((plugin.resource.clone(), count(plugin.devices.len()), count(healthy)));
            self.device_plugins.push(plugin);
        }
        Ok(())
    }

    /// CPUs and memory of a machine are those of its NUMA nodes, if it tells of them.
    fn fit_numa(&mut self, capacity: &Json) -> Result<(), FieldError> {
        if self.numa.is_empty() {
            return Ok(());
        }
        let (cpus, memory) = totals(&self.numa);
        let cpu = Quantity::whole(cpus, Format::DecimalSi);
        let memory = Quantity::whole(memory, Format::BinarySi);
        for (field, sum, given) in [("cpu", cpu, self.cpu), ("memory", memory, self.memory)] {
            if !capacity.get(field).is_null() && sum != given {
                let message = format!("the NUMA nodes have {sum} together, and the machine {given}");
                return Err(FieldError::new(format!("capacity.{field}"), message));
            }
        }
        (self.cpu, self.memory) = (cpu, memory);
        Ok(())
    }

    /// Returns the NUMA nodes: one, if the machine tells of none.
    #[must_use]
    pub fn numa_nodes(&self) -> Vec<NumaNode> {
        if self.numa.is_empty() { Vec::from([only_node(self.cpu, self.memory)]) } else { self.numa.clone() }
    }
}

impl KubeletSpec {
    /// Reads `{"version", "flags", "config"}`.
    ///
    /// # Errors
    /// A field, flag or field of the configuration is unknown. The kubelet checks the values at its start.
    pub fn from_json(body: &Json, path: &str) -> Result<Self, FieldError> {
        let mut reader = FieldReader::new(body, path)?;
        let version = match reader.text("version")? {
            Some(text) => Some(Release::of_kubelet(text).map_err(|error| reader.error("version", error.to_string()))?),
            None => None,
        };
        let mut flags = Vec::new();
        if let Some(given) = reader.any("flags") {
            if !given.is_object() {
                return Err(reader.error("flags", "an object is needed"));
            }
            for (name, value) in given.fields() {
                flags.push(read_flag(name, value, &reader.path("flags"))?);
            }
        }
        let mut config = Json::object();
        if let Some(given) = reader.any("config") {
            check_field_names(given, &reader.path("config"))?;
            config = given.clone();
        }
        reader.finish()?;
        Ok(Self { version, flags, config })
    }
}

#[cfg(test)]
mod tests {
    use super::MachineSpec;
    use crate::json;

    #[test]
    fn a_full_specification_is_read() {
        let spec = MachineSpec::from_json(&json!({
            "name": "w1", "nodeName": "node-1", "zone": "a", "clockSkew": "-3s", "powered": false,
            "capacity": {"cpu": 8, "memory": "32Gi", "pods": "20", "example.com/gpu": "2"},
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "devicePlugins": [{"resource": "example.com/fpga", "devices": [{"id": "a"}, {"id": "b",
                "healthy": false}]}],
            "kubelet": {"version": "1.31", "flags": {"node-labels": "a=b", "--register-node": false},
                "config": {"maxPods": 30}},
        }))
        .unwrap();
        assert_eq!(spec.clock_skew.as_secs(), -3);
        assert_eq!(spec.hardware.pods, Some(20));
        assert_eq!(spec.hardware.extended.len(), 2);
        assert_eq!(spec.hardware.extended[1].2.value(), 1);
        assert_eq!(spec.kubelet.flags[0].0, "register-node");
        assert!(!spec.powered);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (body, field, near) in [
            (json!({"zone": "a"}), "name", None),
            (json!({"name": "w", "zone": "a b"}), "zone", None),
            (json!({"name": "w", "capacity": {"pods": "1.5"}}), "capacity.pods", None),
            (json!({"name": "w", "capacity": {"example.com/gpu": "500m"}}), "capacity.example.com/gpu", None),
            (json!({"name": "w", "zoen": "a"}), "zoen", Some("zone")),
            (json!({"name": "w", "clockSkew": "-3"}), "clockSkew", None),
            (json!({"name": "w", "capacity": {"memory": "4GB"}}), "capacity.memory", None),
            (json!({"name": "w", "capacity": {"memroy": "4Gi"}}), "capacity.memroy", Some("memory")),
            (json!({"name": "w", "cgroupVersion": 3}), "cgroupVersion", None),
            (json!({"name": "w", "swap": "-1Gi"}), "swap", None),
            (json!({"name": "w", "swap": "5Gi", "capacity": {"ephemeral-storage": "4Gi"}}), "swap", None),
            (json!({"name": "w", "kubelet": {"config": {"maxpods": 3}}}), "kubelet.config.maxpods", Some("maxPods")),
            (
                json!({"name": "w", "kubelet": {"flags": {"lock-file": "/run/kubelet.lock"}}}),
                "kubelet.flags.lock-file",
                None,
            ),
            (
                json!({"name": "w", "kubelet": {"flags": {"node-label": 1}}}),
                "kubelet.flags.node-label",
                Some("node-labels"),
            ),
            (json!({"name": "w", "addresses": [{"type": "Internal-IP"}]}), "addresses[0].type", Some("InternalIP")),
            (
                json!({"name": "w", "addresses": [{"type": "InternalIP", "address": "300.1.1.1"}]}),
                "addresses[0].address",
                None,
            ),
            (json!({"name": "w", "numa": [{"id": 0, "memory": "1Gi"}]}), "numa[0].cpus", None),
            (json!({"name": "w", "numa": [{"id": 0, "cpus": 0, "memory": "1Gi"}]}), "numa[0].cpus", None),
            (json!({"name": "w", "numa": [{"id": 0, "cpus": 2}]}), "numa[0].memory", None),
            (
                json!({"name": "w", "numa": [{"id": 0, "cpus": "0-1", "memory": "1Gi"},
                    {"id": 1, "cpus": "1-2", "memory": "1Gi"}]}),
                "numa[1].cpus",
                None,
            ),
            (
                json!({"name": "w", "capacity": {"cpu": 8}, "numa": [{"id": 0, "cpus": 2, "memory": "1Gi"}]}),
                "capacity.cpu",
                None,
            ),
            (
                json!({"name": "w", "devicePlugins": [{"resource": "a.b/c", "devices": [{"id": "x", "numa": 1}]}]}),
                "devicePlugins[0].devices[0].numa",
                None,
            ),
            (json!({"name": "w", "kubeconfigs": {"/a": "nod"}}), "kubeconfigs./a", Some("node")),
            (json!({"name": "w", "kubeconfigs": {"/a": {"users": "x"}}}), "kubeconfigs./a.users", Some("user")),
        ] {
            let error = MachineSpec::from_json(&body).unwrap_err();
            assert_eq!(error.field, field);
            assert_eq!(error.did_you_mean.as_deref(), near, "{field}");
        }
    }
}
