//! The NUMA nodes of a machine, the devices of its device plugins, and what a kubelet has given to containers of both.
//!
//! Inputs: the fields `numa` and `devicePlugins` of a machine, `PUT machines/NAME/hints`. Outputs: the layout, or an
//! error that names the field. Assignments stand here since a kubelet keeps them in files: they outlive its process.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use crate::json;
use crate::objects::cpu_set::{CpuSet, parse_cpu_set, print_cpu_set};
use crate::objects::names::is_extended_resource;
use crate::objects::quantity::Quantity;
use crate::objects::{FieldError, FieldReader, Json, Text};

/// The largest id of a NUMA node: masks of them have 64 bits.
const ID_MAX: i64 = 63;
/// The distance of a NUMA node to itself and to another, where none is given. Source: Linux, `LOCAL_DISTANCE` and
/// `REMOTE_DISTANCE` of include/linux/topology.h.
const DISTANCES: (u64, u64) = (10, 20);

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaNode {
    /// Its number.
    pub id: u32,
    /// The numbers of its CPUs.
    pub cpus: CpuSet,
    /// Its memory, in bytes.
    pub memory: i64,
    /// Its distances to the NUMA nodes in the order in which they are given; empty for the usual ones.
    pub distances: Vec<u64>,
}

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name, unique for its plugin.
    pub id: Text,
    /// The NUMA nodes that it is near to; none if the plugin tells nothing of them.
    pub numa: Vec<u32>,
    /// Whether it can be used.
    pub is_healthy: bool,
}

/// The devices of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePlugin {
    /// The extended resource.
    pub resource: Text,
    /// The devices.
    pub devices: Vec<Device>,
}

/// A device plugin that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GonePlugin {
    /// The extended resource.
    pub resource: Text,
    /// How many devices there were.
    pub devices: usize,
    /// Since when it is gone.
    pub since: Timestamp,
}

/// What a provider would answer to the topology manager about one resource of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldHints {
    /// Namespace and name of the pod.
    pub pod: (Text, Text),
    /// The container.
    pub container: Text,
    /// The resource.
    pub resource: Text,
    /// Sets of NUMA nodes, each with whether it is preferred; `None` for no preference at all.
    pub hints: Option<Vec<(Vec<u32>, bool)>>,
}

/// What a container got for itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Assignment {
    /// The UID of the pod.
    pub uid: Text,
    /// Namespace and name of the pod.
    pub pod: (Text, Text),
    /// The container.
    pub container: Text,
    /// The NUMA nodes that were chosen, and whether they were preferred; `None` if nobody chose.
    pub affinity: Option<(Vec<u32>, bool)>,
    /// CPUs of its own.
    pub cpus: CpuSet,
    /// Memory of its own: bytes, and the NUMA nodes from which it comes.
    pub memory: Option<(i64, Vec<u32>)>,
    /// Devices, by resource.
    pub devices: Vec<(Text, Text)>,
    /// Whether containers of the pod that start later may have the same: those after an init container that ends.
    pub is_left: bool,
}

impl Assignment {
    /// Shows it, as `GET machines/NAME` does.
    #[must_use]
    pub fn describe(&self) -> Json {
        let numbers = |list: &[u32]| list.iter().map(|id| Json::Int(i64::from(*id))).collect::<Json>();
        let mut shown = json!({"namespace": self.pod.0.as_str(), "pod": self.pod.1.as_str(),
            "container": self.container.as_str()});
        if let Some((numa, is_preferred)) = &self.affinity {
            shown.set(&["numa"], numbers(numa));
            shown.set(&["preferred"], *is_preferred);
        }
        if !self.cpus.is_empty() {
            shown.set(&["cpus"], print_cpu_set(&self.cpus));
        }
        if let Some((bytes, numa)) = &self.memory {
            shown.set(&["memory", "bytes"], *bytes);
            shown.set(&["memory", "numa"], numbers(numa));
        }
        for (resource, id) in &self.devices {
            shown.entry(&["devices", resource]).make_array().push(Json::from(id));
        }
        shown
    }
}

fn read_ids(value: &Json, path: &str) -> Result<Vec<u32>, FieldError> {
    let one = core::slice::from_ref(value);
    let items = if value.is_array() { value.items() } else { one };
    let id = |item: &Json| item.as_i64().filter(|id| (0..=ID_MAX).contains(id)).and_then(|id| u32::try_from(id).ok());
    let read: Option<Vec<u32>> = items.iter().map(id).collect();
    read.ok_or_else(|| FieldError::new(path, "the number of a NUMA node is needed, or a list of them"))
}

/// Reads the NUMA nodes of a machine. CPUs are a count or a list as `0-3,8`; counted ones follow those before.
///
/// # Errors
/// A field is wrong, or a NUMA node has no CPUs, or two have one id or a CPU in common.
pub(super) fn read_numa(list: &[Json]) -> Result<Vec<NumaNode>, FieldError> {
    let mut read: Vec<NumaNode> = Vec::new();
    let mut next = 0;
    for (at, node) in list.iter().enumerate() {
        let path = format!("numa[{at}]");
        let mut reader = FieldReader::new(node, path.as_str())?;
        let id = reader.integer("id", 0, ID_MAX)?.unwrap_or(i64::try_from(at).unwrap_or(ID_MAX));
        let id = u32::try_from(id).unwrap_or_default();
        let cpus = match reader.any("cpus") {
            Some(Json::Str(text)) => {
                parse_cpu_set(text).map_err(|why| reader.error("cpus", format!("no list of CPUs: {why}")))?
            }
            Some(Json::Int(count)) if (0..=4096).contains(count) => {
                (next..next + u32::try_from(*count).unwrap_or_default()).collect()
            }
            None => CpuSet::new(),
            Some(_) => return Err(reader.error("cpus", "a count of CPUs is needed, or a list as \"0-3,8\"")),
        };
        if cpus.is_empty() {
            return Err(reader.error("cpus", "a NUMA node needs at least one CPU"));
        }
        let memory = reader.quantity("memory")?.filter(|amount| !amount.is_negative());
        let memory = memory.ok_or_else(|| reader.error("memory", "a quantity is needed, as \"8Gi\""))?.value();
        let distances = reader.list("distances")?.unwrap_or_default().iter();
        let distances: Option<Vec<u64>> =
            distances.map(|item| item.as_i64().and_then(|own| u64::try_from(own).ok())).collect();
        let Some(distances) = distances.filter(|own| own.is_empty() || own.len() == list.len()) else {
            return Err(reader.error("distances", "a number for each NUMA node is needed"));
        };
        if read.iter().any(|other| other.id == id) {
            return Err(reader.error("id", format!("another NUMA node has the id {id}")));
        }
        if let Some(cpu) = read.iter().find_map(|other| other.cpus.intersection(&cpus).next()) {
            return Err(reader.error("cpus", format!("another NUMA node has CPU {cpu}")));
        }
        reader.finish()?;
        next = cpus.last().map_or(next, |last| next.max(last + 1));
        read.push(NumaNode { id, cpus, memory, distances });
    }
    read.sort_by_key(|node| node.id);
    Ok(read)
}

/// Reads the devices of the plugins.
///
/// # Errors
/// A field is wrong, or two devices of a plugin have one name.
pub(super) fn read_device_plugins(plugins: &[Json]) -> Result<Vec<DevicePlugin>, FieldError> {
    let mut read: Vec<DevicePlugin> = Vec::new();
    for (at, plugin) in plugins.iter().enumerate() {
        let path = format!("devicePlugins[{at}]");
        let mut reader = FieldReader::new(plugin, path.as_str())?;
        let resource = reader.needed_text("resource")?.clone();
        if !is_of_plugin(&resource) {
            return Err(reader.error("resource", "the name of an extended resource is needed, as \"example.com/gpu\""));
        }
        let mut devices: Vec<Device> = Vec::new();
        for (number, device) in reader.list("devices")?.unwrap_or_default().iter().enumerate() {
            let path = format!("{path}.devices[{number}]");
            let mut own = FieldReader::new(device, path.as_str())?;
            let id = own.text("id")?.cloned().unwrap_or_else(|| Text::from(format!("{number}")));
            if devices.iter().any(|other| other.id == id) {
                return Err(own.error("id", format!("another device has the id {id}")));
            }
            let numa = own.any("numa").map(|value| read_ids(value, &format!("{path}.numa"))).transpose()?;
            let is_healthy = own.boolean("healthy")?.unwrap_or(true);
            own.finish()?;
            devices.push(Device { id, numa: numa.unwrap_or_default(), is_healthy });
        }
        reader.finish()?;
        read.retain(|own| own.resource != resource);
        read.push(DevicePlugin { resource, devices });
    }
    Ok(read)
}

/// Tells whether a plugin may register a resource: an extended one with a domain and a name in it.
fn is_of_plugin(resource: &str) -> bool {
    let is_whole = |(domain, name): (&str, &str)| !domain.is_empty() && !name.is_empty();
    is_extended_resource(resource) && resource.split_once('/').is_some_and(is_whole)
}

impl ToldHints {
    /// Reads the body of `PUT machines/NAME/hints`.
    ///
    /// # Errors
    /// A field is missing or wrong, or names a NUMA node that the machine does not have.
    pub fn from_json(body: &Json, nodes: &[NumaNode]) -> Result<Self, FieldError> {
        let mut reader = FieldReader::new(body, "")?;
        let pod = (
            reader.text("namespace")?.cloned().unwrap_or_else(|| Text::of("default")),
            reader.needed_text("pod")?.clone(),
        );
        let container = reader.needed_text("container")?.clone();
        let resource = reader.needed_text("resource")?.clone();
        let hints = match reader.any_or_null("hints") {
            None => return Err(reader.missing("hints", "a list of hints is needed, or null for no preference")),
            Some(Json::Null) => None,
            Some(list) if list.is_array() => Some(read_hints(list.items(), nodes)?),
            Some(_) => return Err(reader.error("hints", "a list of hints is needed, or null for no preference")),
        };
        reader.finish()?;
        Ok(Self { pod, container, resource, hints })
    }
}

fn read_hints(list: &[Json], nodes: &[NumaNode]) -> Result<Vec<(Vec<u32>, bool)>, FieldError> {
    let mut read = Vec::new();
    for (at, hint) in list.iter().enumerate() {
        let path = format!("hints[{at}]");
        let mut reader = FieldReader::new(hint, path.as_str())?;
        let value = reader.any("numa").ok_or_else(|| reader.missing("numa", "it is missing"))?;
        let numa: BTreeSet<u32> = read_ids(value, &format!("{path}.numa"))?.into_iter().collect();
        if let Some(id) = numa.iter().find(|id| !nodes.iter().any(|node| node.id == **id)) {
            return Err(reader.error("numa", format!("the machine has no NUMA node {id}")));
        }
        if numa.is_empty() {
            return Err(reader.error("numa", "at least one NUMA node is needed"));
        }
        let is_preferred = reader.boolean("preferred")?.unwrap_or(false);
        reader.finish()?;
        read.push((numa.into_iter().collect(), is_preferred));
    }
    Ok(read)
}

/// Returns the distance between two of the NUMA nodes, by their places.
#[must_use]
pub fn distance(nodes: &[NumaNode], one: usize, other: usize) -> u64 {
    let usual = if one == other { DISTANCES.0 } else { DISTANCES.1 };
    nodes.get(one).and_then(|node| node.distances.get(other).copied()).unwrap_or(usual)
}

/// Returns CPUs and memory of all NUMA nodes together.
pub(super) fn totals(nodes: &[NumaNode]) -> (i64, i64) {
    let cpus: usize = nodes.iter().map(|node| node.cpus.len()).sum();
    (i64::try_from(cpus).unwrap_or(i64::MAX), nodes.iter().map(|node| node.memory).sum())
}

/// Returns the one NUMA node of a machine that tells of none.
pub(super) fn only_node(cpu: Quantity, memory: Quantity) -> NumaNode {
    let count = u32::try_from(cpu.milli_value() / 1000).unwrap_or(u32::MAX);
    NumaNode { id: 0, cpus: (0..count).collect(), memory: memory.value(), distances: Vec::new() }
}
