//! The providers of hints: CPUs and memory for a container alone, and devices.
//!
//! Mirrors `GetTopologyHints` and `Allocate` of pkg/kubelet/cm/cpumanager/policy_static.go,
//! pkg/kubelet/cm/memorymanager/policy_static.go and topology_hints.go, manager.go of pkg/kubelet/cm/devicemanager
//! (v1.34).
//! A hint is preferred if it needs no more NUMA nodes than it would on an empty machine. Inputs: what a container asks
//! for, what others have. Outputs: hints, and what the container gets.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::merge::{Hint, Hints, Mask, all_masks};
use super::{Place, has_pod_level_resources, is_guaranteed, take};
use crate::components::host::{Assignment, Device, DevicePlugin, NumaNode};
use crate::components::pod_resources::{Tally, in_order, most_at_once};
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
    /// Whether it ends before the containers after it start, which may have what it had.
    pub(super) is_left: bool,
}

impl Demand {
    /// Returns what a pod needs at one time at most: what runs on adds up, and an init container counts with the
    /// sidecars before it.
    ///
    /// Source: policy_static.go of cpumanager, `podGuaranteedCPUs`, and of memorymanager, `getPodRequestedResources`
    /// (v1.34).
    pub(super) fn whole(requests: &[Self]) -> Self {
        let Self { cpus, memory, devices, .. } =
            most_at_once(requests.iter().map(|request| (request.clone(), request.is_left)));
        let first = requests.first().cloned().unwrap_or_default();
        Self { cpus, memory, devices, container: Text::default(), ..first }
    }

    fn devices_of(&mut self, resource: &Text) -> &mut usize {
        let at = self.devices.iter().position(|(other, _)| other == resource).unwrap_or_else(|| {
            self.devices.push((resource.clone(), 0));
            self.devices.len() - 1
        });
        &mut self.devices[at].1
    }
}

impl Tally for Demand {
    fn add_all(&mut self, other: &Self) {
        self.cpus += other.cpus;
        self.memory = self.memory.saturating_add(other.memory);
        for (resource, count) in &other.devices {
            *self.devices_of(resource) += count;
        }
    }

    fn raise(&mut self, other: &Self) {
        self.cpus = self.cpus.max(other.cpus);
        self.memory = self.memory.max(other.memory);
        for (resource, count) in &other.devices {
            let own = self.devices_of(resource);
            *own = (*own).max(*count);
        }
    }
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

/// The free memory of each NUMA node, by id.
type FreeMemory = Vec<(u32, i64)>;
/// What the init containers of a pod have left in a set of NUMA nodes.
type LeftMemory<'a> = BTreeMap<(&'a Text, Mask), i64>;

fn free_in(free: &[(u32, i64)], mask: Mask) -> i64 {
    free.iter().filter(|(id, _)| mask.has(*id)).map(|(_, bytes)| *bytes).sum()
}

impl Place<'_> {
    /// Returns what each container of a pod asks for, in the order in which they start.
    pub(super) fn requests_of(&self, pod: &Object) -> Vec<Demand> {
        let is_alone = is_guaranteed(pod) && !has_pod_level_resources(pod.stable());
        let key = pod.key();
        let read = in_order(pod.stable().get("spec")).map(|(container, is_left)| {
            let amount = |kind: &str, resource: &str| Quantity::from_json(container.at(&["resources", kind, resource]));
            let cpu = amount("requests", "cpu").filter(|_| is_alone);
            let cpu = cpu.filter(|cpu| cpu.value().saturating_mul(1000) == cpu.milli_value());
            let count = |amount: Quantity| usize::try_from(amount.value()).unwrap_or_default();
            let device = |resource: &Text| {
                let wanted = count(amount("limits", resource)?);
                (wanted > 0).then(|| (resource.clone(), wanted))
            };
            Demand {
                uid: Text::from(pod.uid()),
                pod: (key.namespace.clone(), key.name.clone()),
                container: container.get("name").as_text().cloned().unwrap_or_default(),
                cpus: cpu.map(count).unwrap_or_default(),
                memory: amount("requests", "memory").filter(|_| is_alone).map_or(0, |memory| memory.value()),
                devices: self.plugin_resources().into_iter().filter_map(device).collect(),
                is_left,
            }
        });
        read.collect()
    }

    /// Returns the resources of device plugins: of those that are there, of lost ones, and what somebody has of others.
    ///
    /// Source: devicemanager/manager.go (v1.34), `isDevicePluginResource`.
    fn plugin_resources(&self) -> Vec<&Text> {
        let mut all: Vec<&Text> = self.host.spec.hardware.device_plugins.iter().map(|own| &own.resource).collect();
        let given = self.given().flat_map(|own| &own.devices).map(|(resource, _)| resource);
        for resource in self.lost.iter().chain(given) {
            if !all.contains(&resource) {
                all.push(resource);
            }
        }
        all
    }

    /// Returns the plugin that has healthy devices of a resource.
    ///
    /// # Errors
    /// There is none. Source: devicemanager/manager.go (v1.34), `devicesToAllocate`.
    fn plugin(&self, resource: &Text) -> Result<&DevicePlugin, String> {
        let plugin = self.host.spec.hardware.device_plugins.iter().find(|plugin| plugin.resource == *resource);
        if plugin.is_none() && !self.lost.contains(resource) {
            return Err(format!("cannot allocate unregistered device {resource}"));
        }
        plugin
            .filter(|plugin| plugin.devices.iter().any(|device| device.is_healthy))
            .ok_or_else(|| format!("no healthy devices present; cannot allocate unhealthy devices {resource}"))
    }

    /// Checks the devices of a container that has had them since before the machine booted.
    ///
    /// # Errors
    /// What the device manager says of one that is lost. Source: as above.
    pub(super) fn check_devices(&self, request: &Demand, given: &Assignment) -> Result<(), String> {
        for (resource, _) in &request.devices {
            let plugin = self.plugin(resource)?;
            let is_healthy = |id: &Text| plugin.devices.iter().any(|device| device.id == *id && device.is_healthy);
            if !given.devices.iter().all(|(own, id)| own != resource || is_healthy(id)) {
                return Err(format!(
                    "previously allocated devices are no longer healthy; cannot allocate unhealthy devices {resource}"
                ));
            }
        }
        Ok(())
    }

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

    /// Goes through what a pod has got so far: what an init container leaves is free for those after it.
    fn left<T: Ord + Clone>(&self, uid: &Text, of: impl Fn(&Assignment) -> Vec<T>) -> BTreeSet<T> {
        let mut left = BTreeSet::new();
        for given in self.given().filter(|given| given.uid == *uid) {
            for own in of(given) {
                if given.is_left {
                    left.insert(own);
                } else {
                    left.remove(&own);
                }
            }
        }
        left
    }

    /// Source: cpumanager/policy_static.go (v1.34), `updateCPUsToReuse`.
    fn left_cpus(&self, uid: &Text) -> CpuSet {
        self.left(uid, |given| given.cpus.iter().copied().collect())
    }

    /// Source: devicemanager/manager.go (v1.34), `Allocate`: devices to reuse.
    fn left_devices(&self, uid: &Text, resource: &Text) -> BTreeSet<Text> {
        self.left(uid, |given| {
            let own = given.devices.iter().filter(|(other, _)| other == resource);
            own.map(|(_, id)| id.clone()).collect()
        })
    }

    /// Returns the hints for CPUs; `None` if none is for the container alone.
    pub(super) fn cpu_hints(&self, request: &Demand) -> Option<Hints> {
        let reserved = self.settings.reserved_cpus.as_ref().filter(|_| request.cpus > 0)?;
        let own: CpuSet = self.own(request).flat_map(|own| own.cpus.iter().copied()).collect();
        let (free, kept) = if own.len() == request.cpus {
            (own, CpuSet::new())
        } else {
            let mut kept = self.left_cpus(&request.uid);
            kept.extend(own.iter().filter(|_| request.container.is_empty()));
            (self.free_cpus(reserved), kept)
        };
        let does = |mask: Mask| {
            let near = self.cpus_in(mask);
            kept.is_subset(&near) && near.intersection(&free).count() + kept.len() >= request.cpus
        };
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
        if self.own(request).any(|own| own.memory.is_some()) {
            return None;
        }
        let hints = self.memory_masks(request);
        (!hints.is_empty()).then_some(Hints::From(hints))
    }

    /// Source: policy_static.go (v1.34), `calculateHints`: a NUMA node serves single containers or groups, not both.
    fn memory_masks(&self, request: &Demand) -> Vec<Hint> {
        let wanted = request.memory;
        let (free, left) = self.memory();
        let sum = |mask: Mask, amount: &dyn Fn(&NumaNode) -> i64| -> i64 {
            self.nodes.iter().filter(|node| mask.has(node.id)).map(amount).sum()
        };
        let would_do = |mask: Mask| sum(mask, &|node| self.allocatable_memory(node)) >= wanted;
        let does = |mask: Mask| {
            let left = left.get(&(&request.uid, mask)).copied().unwrap_or_default();
            would_do(mask) && !self.breaks_groups(mask, true) && free_in(&free, mask).saturating_add(left) >= wanted
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

    /// Returns the free memory of each NUMA node, and what the init containers of each pod have left in sets of them.
    ///
    /// Memory that comes from several NUMA nodes is taken from the first of them as far as it goes. Source:
    /// memorymanager/policy_static.go (v1.34), `updateMachineState`, `updatePodReusableMemory`.
    fn memory(&self) -> (FreeMemory, LeftMemory<'_>) {
        let mut free: FreeMemory = self.nodes.iter().map(|own| (own.id, self.allocatable_memory(own))).collect();
        let mut left = BTreeMap::new();
        for given in self.given() {
            let Some((bytes, numa)) = &given.memory else { continue };
            let reusable: &mut i64 = left.entry((&given.uid, Mask::of(numa.iter().copied()))).or_default();
            let mut wanted = (*bytes - *reusable).max(0);
            *reusable = if given.is_left { *bytes.max(reusable) } else { (*reusable - *bytes).max(0) };
            for (_, amount) in free.iter_mut().filter(|(id, _)| numa.contains(id)) {
                let taken = wanted.min((*amount).max(0));
                *amount -= taken;
                wanted -= taken;
            }
        }
        (free, left)
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
        if !own.is_empty() && own.len() != wanted {
            return Hints::From(Vec::new());
        }
        let is_own = |device: &&Device| own.contains(&&device.id);
        let all: Vec<&Device> = plugin.devices.iter().collect();
        let mut available = self.free_devices(plugin);
        let mut kept: Vec<&Device> = Vec::new();
        if !own.is_empty() {
            available = all.iter().copied().filter(is_own).collect();
        } else if !request.container.is_empty() {
            let left = self.left_devices(&request.uid, &plugin.resource);
            kept = all.iter().copied().filter(|device| left.contains(&device.id)).collect();
        }
        if available.len() + kept.len() < wanted {
            return Hints::From(Vec::new());
        }
        kept.retain(|device| !device.numa.is_empty());
        let near = |mask: Mask, devices: &[&Device]| devices.iter().filter(|own| mask.has_any(&own.numa)).count();
        let does = |mask: Mask| {
            let of_kept = near(mask, &kept);
            of_kept == kept.len() && of_kept + near(mask, &available) >= wanted
        };
        let would_do = |mask: Mask| near(mask, &all) >= wanted;
        Hints::From(hints_of(&self.nodes, would_do, does))
    }

    /// Gives a container what it asks for.
    ///
    /// # Errors
    /// What the manager says that cannot.
    pub(super) fn assign(&self, request: &Demand, hint: Hint, given: &mut Assignment) -> Result<(), String> {
        for (resource, wanted) in &request.devices {
            let picked = self.pick_devices(self.plugin(resource)?, *wanted, hint, &request.uid)?;
            given.devices.extend(picked.into_iter().map(|id| (resource.clone(), id)));
        }
        if let Some(reserved) = self.settings.reserved_cpus.as_ref().filter(|_| request.cpus > 0) {
            let mut free = self.free_cpus(reserved);
            free.append(&mut self.left_cpus(&request.uid));
            given.cpus = self.pick_cpus(request.cpus, hint, &free)?;
        }
        if self.settings.reserved_memory.is_some() && request.memory > 0 {
            given.memory = Some((request.memory, self.pick_memory(request, hint)?.ids()));
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
    fn pick_devices(&self, plugin: &DevicePlugin, wanted: usize, hint: Hint, uid: &Text) -> Result<Vec<Text>, String> {
        let resource = &plugin.resource;
        let mut picked: Vec<Text> = self.left_devices(uid, resource).into_iter().take(wanted).collect();
        let wanted = wanted - picked.len();
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
        picked.extend(free.into_iter().take(wanted).map(|device| device.id.clone()));
        Ok(picked)
    }

    /// Source: policy_static.go (v1.34), `Allocate`.
    fn pick_memory(&self, request: &Demand, hint: Hint) -> Result<Mask, String> {
        let masks = self.memory_masks(request);
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
        // What an init container has left does not count here.
        if free_in(&self.memory().0, mask) < request.memory {
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
