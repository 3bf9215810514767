//! The providers of hints: CPUs and memory for a container alone, and devices.
//!
//! Mirrors `GetTopologyHints` and `Allocate` of pkg/kubelet/cm/cpumanager/policy_static.go,
//! pkg/kubelet/cm/memorymanager/policy_static.go and topology_hints.go, manager.go of pkg/kubelet/cm/devicemanager
//! (v1.34).
//! A hint is preferred if it needs no more NUMA nodes than it would on an empty machine. Inputs: what a container asks
//! for, what others have. Outputs: hints, and what the container gets.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::merge::{Hint, Hints, Mask, all_masks};
use super::{Place, has_pod_level_resources, is_guaranteed, take};
use crate::components::host::{Assignment, Device, DevicePlugin, Host, NumaNode};
use crate::objects::cpu_set::CpuSet;
use crate::objects::quantity::Quantity;
use crate::objects::{Object, Text};

/// What a container asks for that may come from some place or other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// The UID of the pod.
    pub(super) uid: Text,
    /// Namespace and name of the pod.
    pub(super) pod: (Text, Text),
    /// The container; empty for the whole pod.
    pub(super) container: Text,
    /// CPUs for it alone; 0 for none.
    cpus: usize,
    /// Memory for it alone, in bytes; 0 for none.
    memory: i64,
    /// Devices, by resource.
    devices: Vec<(Text, usize)>,
}

impl Demand {
    /// Adds the requests of all containers of a pod up.
    pub(super) fn whole(requests: &[Self]) -> Self {
        let mut sum = requests.first().cloned().unwrap_or_default();
        sum.container = Text::default();
        for own in requests.iter().skip(1) {
            sum.cpus += own.cpus;
            sum.memory = sum.memory.saturating_add(own.memory);
            for (resource, count) in &own.devices {
                match sum.devices.iter_mut().find(|(other, _)| other == resource) {
                    Some((_, all)) => *all += count,
                    None => sum.devices.push((resource.clone(), *count)),
                }
            }
        }
        sum
    }
}

/// Returns what each container of a pod asks for.
pub(super) fn requests_of(pod: &Object, host: &Host) -> Vec<Demand> {
    let is_alone = is_guaranteed(pod) && !has_pod_level_resources(pod.stable());
    let key = pod.key();
    let containers = pod.stable().at(&["spec", "containers"]).items().iter();
    let read = containers.map(|container| {
        let amount = |kind: &str, resource: &str| Quantity::from_json(container.at(&["resources", kind, resource]));
        let cpu = amount("requests", "cpu").filter(|_| is_alone);
        let cpu = cpu.filter(|cpu| cpu.value().saturating_mul(1000) == cpu.milli_value());
        let count = |amount: Quantity| usize::try_from(amount.value()).unwrap_or_default();
        let device = |plugin: &DevicePlugin| {
            let wanted = count(amount("limits", &plugin.resource)?);
            (wanted > 0).then(|| (plugin.resource.clone(), wanted))
        };
        Demand {
            uid: Text::from(pod.uid()),
            pod: (key.namespace.clone(), key.name.clone()),
            container: container.get("name").as_text().cloned().unwrap_or_default(),
            cpus: cpu.map(count).unwrap_or_default(),
            memory: amount("requests", "memory").filter(|_| is_alone).map_or(0, |memory| memory.value()),
            devices: host.spec.hardware.device_plugins.iter().filter_map(device).collect(),
        }
    });
    read.collect()
}

/// Makes hints of all sets of NUMA nodes that have enough; those of the smallest set that would do on an empty machine
/// are preferred.
fn hints_of(nodes: &[NumaNode], would_do: impl Fn(Mask) -> bool, does: impl Fn(Mask) -> bool) -> Vec<Hint> {
    let masks = all_masks(nodes);
    let all = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let least = masks.iter().filter(|mask| would_do(**mask)).map(|mask| mask.count()).min().unwrap_or(all);
    let fitting = masks.into_iter().filter(|mask| does(*mask));
    fitting.map(|mask| Hint { affinity: Some(mask), is_preferred: mask.count() == least }).collect()
}

impl Place<'_> {
    fn given(&self) -> impl Iterator<Item = &Assignment> {
        self.host.assignments.iter()
    }

    /// Returns what a container, or all of a pod, has got already.
    fn own<'a>(&'a self, request: &'a Demand) -> impl Iterator<Item = &'a Assignment> {
        let is_meant = move |own: &&Assignment| request.container.is_empty() || own.container == request.container;
        self.given().filter(|own| own.uid == request.uid).filter(is_meant)
    }

    fn cpus_in(&self, mask: Mask) -> CpuSet {
        let own = self.nodes.iter().filter(|node| mask.has(node.id));
        own.flat_map(|node| node.cpus.iter().copied()).collect()
    }

    fn free_cpus(&self, reserved: &CpuSet) -> CpuSet {
        let mut free: CpuSet = self.nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect();
        free.retain(|cpu| !reserved.contains(cpu) && !self.given().any(|own| own.cpus.contains(cpu)));
        free
    }

    /// Returns the hints for CPUs; `None` if none is for the container alone.
    pub(super) fn cpu_hints(&self, request: &Demand) -> Option<Hints> {
        let reserved = self.settings.reserved_cpus.as_ref().filter(|_| request.cpus > 0)?;
        let own: CpuSet = self.own(request).flat_map(|own| own.cpus.iter().copied()).collect();
        let free = if own.len() == request.cpus { own } else { self.free_cpus(reserved) };
        let does = |mask: Mask| self.cpus_in(mask).intersection(&free).count() >= request.cpus;
        let would_do = |mask: Mask| self.cpus_in(mask).len() >= request.cpus;
        Some(Hints::From(hints_of(&self.nodes, would_do, does)))
    }

    /// Returns the hints for memory; `None` if none is for the container alone. If there is not enough anywhere, there
    /// is no preference either, and the allocation fails.
    pub(super) fn memory_hints(&self, request: &Demand) -> Option<Hints> {
        self.settings.reserved_memory.as_ref().filter(|_| request.memory > 0)?;
        if let Some((bytes, numa)) = self.own(request).find_map(|own| own.memory.as_ref())
            && *bytes == request.memory
        {
            let affinity = Some(Mask::of(numa.iter().copied()));
            return Some(Hints::From(Vec::from([Hint { affinity, is_preferred: true }])));
        }
        let hints = self.memory_masks(request.memory);
        (!hints.is_empty()).then_some(Hints::From(hints))
    }

    /// Source: policy_static.go (v1.34), `calculateHints`: a NUMA node serves single containers or groups, not both.
    fn memory_masks(&self, wanted: i64) -> Vec<Hint> {
        let sum = |mask: Mask, amount: &dyn Fn(&NumaNode) -> i64| -> i64 {
            self.nodes.iter().filter(|node| mask.has(node.id)).map(amount).sum()
        };
        let would_do = |mask: Mask| sum(mask, &|node| self.allocatable_memory(node)) >= wanted;
        let does = |mask: Mask| {
            would_do(mask) && !self.breaks_groups(mask, true) && sum(mask, &|node| self.free_memory(node)) >= wanted
        };
        hints_of(&self.nodes, would_do, does)
    }

    /// Tells whether a set of NUMA nodes would mix with other sets that are in use.
    fn breaks_groups(&self, mask: Mask, also_single: bool) -> bool {
        let used = self.given().filter_map(|own| own.memory.as_ref());
        let mut used = used.map(|(_, numa)| Mask::of(numa.iter().copied()));
        let is_single = mask.count() == 1;
        used.any(|other| {
            let meets = mask.ids().iter().any(|id| other.has(*id));
            let is_mixed = if is_single { also_single && other.count() > 1 } else { other != mask };
            meets && is_mixed
        })
    }

    fn allocatable_memory(&self, node: &NumaNode) -> i64 {
        let reserved = self.settings.reserved_memory.iter().flatten().filter(|(id, _)| *id == node.id);
        node.memory - reserved.map(|(_, bytes)| *bytes).sum::<i64>()
    }

    /// Memory that comes from several NUMA nodes is taken from the first of them as far as it goes.
    fn free_memory(&self, node: &NumaNode) -> i64 {
        let mut free: Vec<(u32, i64)> = self.nodes.iter().map(|own| (own.id, self.allocatable_memory(own))).collect();
        for (bytes, numa) in self.given().filter_map(|own| own.memory.as_ref()) {
            let mut left = *bytes;
            for (_, amount) in free.iter_mut().filter(|(id, _)| numa.contains(id)) {
                let taken = left.min((*amount).max(0));
                *amount -= taken;
                left -= taken;
            }
        }
        free.into_iter().find(|(id, _)| *id == node.id).map_or(0, |(_, amount)| amount)
    }

    fn free_devices<'a>(&'a self, plugin: &'a DevicePlugin) -> Vec<&'a Device> {
        let is_taken = |device: &Device| {
            let mut taken = self.given().flat_map(|own| &own.devices);
            taken.any(|(resource, id)| *resource == plugin.resource && *id == device.id)
        };
        plugin.devices.iter().filter(|device| device.is_healthy && !is_taken(device)).collect()
    }

    /// Returns the hints for each kind of device.
    pub(super) fn device_hints(&self, request: &Demand) -> Vec<(Text, Hints)> {
        let mut all = Vec::new();
        for (resource, wanted) in &request.devices {
            let plugins = &self.host.spec.hardware.device_plugins;
            let Some(plugin) = plugins.iter().find(|plugin| plugin.resource == *resource) else { continue };
            let hints = if plugin.devices.iter().all(|device| device.numa.is_empty()) {
                Hints::Any
            } else {
                self.hints_of_devices(plugin, *wanted, request)
            };
            all.push((resource.clone(), hints));
        }
        all
    }

    fn hints_of_devices(&self, plugin: &DevicePlugin, wanted: usize, request: &Demand) -> Hints {
        let own: Vec<&Text> = self
            .own(request)
            .flat_map(|own| &own.devices)
            .filter(|(resource, _)| *resource == plugin.resource)
            .map(|(_, id)| id)
            .collect();
        let available: Vec<&Device> = if own.is_empty() || own.len() != wanted && request.container.is_empty() {
            self.free_devices(plugin)
        } else if own.len() == wanted {
            plugin.devices.iter().filter(|device| own.contains(&&device.id)).collect()
        } else {
            Vec::new()
        };
        if available.len() < wanted {
            return Hints::From(Vec::new());
        }
        let near = |mask: Mask, devices: &[&Device]| devices.iter().filter(|own| mask.has_any(&own.numa)).count();
        let all: Vec<&Device> = plugin.devices.iter().collect();
        let does = |mask: Mask| near(mask, &available) >= wanted;
        let would_do = |mask: Mask| near(mask, &all) >= wanted;
        Hints::From(hints_of(&self.nodes, would_do, does))
    }

    /// Gives a container what it asks for.
    ///
    /// # Errors
    /// What the manager says that cannot.
    pub(super) fn assign(&self, request: &Demand, hint: Hint, given: &mut Assignment) -> Result<(), String> {
        for (resource, wanted) in &request.devices {
            let plugins = &self.host.spec.hardware.device_plugins;
            let Some(plugin) = plugins.iter().find(|plugin| plugin.resource == *resource) else { continue };
            let picked = self.pick_devices(plugin, *wanted, hint)?;
            given.devices.extend(picked.into_iter().map(|id| (resource.clone(), id)));
        }
        if let Some(reserved) = self.settings.reserved_cpus.as_ref().filter(|_| request.cpus > 0) {
            given.cpus = self.pick_cpus(request.cpus, hint, &self.free_cpus(reserved))?;
        }
        if self.settings.reserved_memory.is_some() && request.memory > 0 {
            given.memory = Some((request.memory, self.pick_memory(request.memory, hint)?.ids()));
        }
        Ok(())
    }

    /// Source: policy_static.go (v1.34), `allocateCPUs`: those of the chosen NUMA nodes first.
    fn pick_cpus(&self, wanted: usize, hint: Hint, free: &CpuSet) -> Result<CpuSet, String> {
        let mut picked = CpuSet::new();
        if let Some(mask) = hint.affinity {
            let aligned: CpuSet = self.cpus_in(mask).intersection(free).copied().collect();
            picked = take::cpus(&aligned, wanted.min(aligned.len()), &self.nodes)?;
        }
        let rest: CpuSet = free.difference(&picked).copied().collect();
        picked.extend(take::cpus(&rest, wanted - picked.len(), &self.nodes)?);
        Ok(picked)
    }

    /// Source: manager.go (v1.34), `devicesToAllocate`, `filterByAffinity`.
    fn pick_devices(&self, plugin: &DevicePlugin, wanted: usize, hint: Hint) -> Result<Vec<Text>, String> {
        let resource = &plugin.resource;
        if !plugin.devices.iter().any(|device| device.is_healthy) {
            return Err(format!("no healthy devices present; cannot allocate unhealthy devices {resource}"));
        }
        let mut free = self.free_devices(plugin);
        if free.len() < wanted {
            return Err(format!(
                "requested number of devices unavailable for {resource}. Requested: {wanted}, Available: {}",
                free.len()
            ));
        }
        if let Some(mask) = hint.affinity {
            free.sort_by_key(|device| (!mask.has_any(&device.numa), device.numa.is_empty()));
        }
        Ok(free.into_iter().take(wanted).map(|device| device.id.clone()).collect())
    }

    /// Source: policy_static.go (v1.34), `Allocate`.
    fn pick_memory(&self, wanted: i64, hint: Hint) -> Result<Mask, String> {
        let masks = self.memory_masks(wanted);
        let best = |candidates: Vec<Hint>| {
            candidates.into_iter().min_by_key(|own| (!own.is_preferred, own.affinity.map(|mask| (mask.count(), mask))))
        };
        let mut chosen = hint;
        if chosen.affinity.is_none() {
            let why = "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is \
                available";
            let default = best(masks.clone()).ok_or(why)?;
            if !default.is_preferred && chosen.is_preferred {
                return Err("[memorymanager] failed to find the default preferred hint".into());
            }
            chosen = default;
        }
        let mask = chosen.affinity.unwrap_or_default();
        let free = self.nodes.iter().filter(|node| mask.has(node.id)).map(|node| self.free_memory(node)).sum::<i64>();
        if free < wanted {
            let wider = masks.into_iter().filter(|own| own.affinity.is_some_and(|other| other.contains(mask)));
            let why = "[memorymanager] failed to find NUMA nodes to extend the current topology hint";
            let extended = best(wider.collect()).ok_or(why)?;
            if !extended.is_preferred && chosen.is_preferred {
                return Err("[memorymanager] failed to find the extended preferred hint".into());
            }
            chosen = extended;
        }
        let mask = chosen.affinity.unwrap_or_default();
        if self.breaks_groups(mask, false) {
            return Err("[memorymanager] preferred hint violates NUMA node allocation".into());
        }
        Ok(mask)
    }
}
