//! What a kubelet was told of topology, CPUs and memory for containers alone, and its messages about what cannot be.
//!
//! Mirrors `NewManager` of pkg/kubelet/cm/topologymanager, cpumanager and memorymanager (v1.34), in the order in which
//! the container manager makes them. Inputs: the configuration, the hardware, what is reserved. Outputs: settings, or
//! the kubelet's message.
//! Left out on purpose: what most options of the CPU manager do; that it is not modelled is told elsewhere.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::decoder::{Decoder, parse_bool};
use super::super::thresholds::text;
use super::merge::Policy;
use super::take;
use crate::components::host::{BETWEEN_USES, Hardware, NumaNode};
use crate::json;
use crate::objects::cpu_set::{CpuSet, parse_cpu_set, print_cpu_set};
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// More NUMA nodes than this are too many by default.
/// Source: pkg/kubelet/cm/topologymanager/topology_manager.go (v1.34), `defaultMaxAllowableNUMANodes`.
const NUMA_NODES_MAX: i64 = 8;
/// The fields; without any of them everything is as by default.
const FIELDS: [&str; 6] = [
    "cpuManagerPolicy",
    "cpuManagerPolicyOptions",
    "memoryManagerPolicy",
    "topologyManagerPolicy",
    "topologyManagerPolicyOptions",
    "topologyManagerScope",
];
/// Options that cannot be on together.
/// Source: pkg/kubelet/cm/cpumanager/policy_options.go (v1.34), `NewStaticPolicyOptions`.
const CPU_OPTIONS_APART: [[&str; 2]; 4] = [
    ["full-pcpus-only", "distribute-cpus-across-cores"],
    ["distribute-cpus-across-numa", "distribute-cpus-across-cores"],
    ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"],
    ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"],
];

/// What a kubelet was told of topology.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopologySettings {
    pub(super) policy: Policy,
    /// Whether pods are placed as a whole.
    pub(super) is_by_pod: bool,
    pub(super) prefers_closest: bool,
    /// The CPUs that no container gets for itself; `None` if none gets any.
    pub(super) reserved_cpus: Option<CpuSet>,
    /// The memory of each NUMA node that no container gets for itself; `None` if none gets any.
    pub(super) reserved_memory: Option<Vec<(u32, i64)>>,
}

impl TopologySettings {
    /// Returns the names of the policies of the CPU manager and the memory manager, which their files keep.
    #[must_use]
    pub fn state_policies(&self) -> [&'static str; 2] {
        [
            if self.reserved_cpus.is_some() { "static" } else { "none" },
            if self.reserved_memory.is_some() { "Static" } else { "None" },
        ]
    }

    /// Returns what a kubelet says whose CPU manager or memory manager finds the file of another policy.
    ///
    /// Source: state/state_checkpoint.go of pkg/kubelet/cm/cpumanager and pkg/kubelet/cm/memorymanager (v1.34),
    /// `NewCheckpointState`; pkg/kubelet/cm/container_manager_linux.go, `Start`.
    #[must_use]
    pub fn changed_policy(&self, before: [&str; 2]) -> Option<String> {
        let now = self.state_policies();
        let names =
            [("cpu", "CPU", "", "cpu_manager_state"), ("memory", "memory", "[memorymanager] ", "memory_manager_state")];
        let mut all = names.into_iter().zip(before.into_iter().zip(now));
        let ((manager, name, mark, file), (before, now)) = all.find(|(_, (before, now))| before != now)?;
        Some(format!(
            "Failed to start ContainerManager: start {manager} manager error: could not restore state from checkpoint: \
             {mark}configured policy {now:?} differs from state checkpoint policy {before:?}, please drain this node \
             and delete the {name} manager checkpoint file \"/var/lib/kubelet/{file}\" before restarting Kubelet"
        ))
    }

    /// Reads the settings; of CPU and memory so much is reserved.
    ///
    /// # Errors
    /// The kubelet's message.
    pub(in crate::components::kubelet) fn read(
        merged: &Json,
        hardware: &Hardware,
        [kept_cpu, kept_memory]: [Quantity; 2],
        settings: &Settings,
    ) -> Result<Self, String> {
        if FIELDS.iter().all(|field| merged.get(field).is_null()) {
            return Ok(Self::default());
        }
        let nodes = hardware.numa_nodes();
        let fatal = |why: String| format!("failed to run Kubelet: {why}");
        let read = Decoder(merged);
        let policy = match read.text("topologyManagerPolicy").as_deref() {
            Some("best-effort") => Policy::BestEffort,
            Some("restricted") => Policy::Restricted,
            Some("single-numa-node") => Policy::SingleNumaNode,
            _ => Policy::None,
        };
        let mut own =
            Self { policy, is_by_pod: read.text("topologyManagerScope").as_deref() == Some("pod"), ..Self::default() };
        if policy != Policy::None {
            own.read_options(merged.get("topologyManagerPolicyOptions"), &nodes).map_err(fatal)?;
        }
        let cpu = read.text("cpuManagerPolicy").unwrap_or_default();
        let cpu_options = merged.get("cpuManagerPolicyOptions");
        own.reserved_cpus =
            reserved_cpus(&cpu, cpu_options, merged, kept_cpu, &nodes, (policy, settings)).map_err(fatal)?;
        let memory = read.text("memoryManagerPolicy").unwrap_or_default();
        own.reserved_memory = reserved_memory(&memory, merged, kept_memory, &nodes).map_err(fatal)?;
        Ok(own)
    }

    /// Source: pkg/kubelet/cm/topologymanager/policy_options.go (v1.34), `NewPolicyOptions`.
    fn read_options(&mut self, options: &Json, nodes: &[NumaNode]) -> Result<(), String> {
        let mut most = NUMA_NODES_MAX;
        for (name, value) in options.fields() {
            let value = text(value);
            match name.as_str() {
                "prefer-closest-numa-nodes" => {
                    self.prefers_closest = parse_bool(&value).ok_or_else(|| {
                        format!("bad value for option {name:?}: strconv.ParseBool: parsing {value:?}: invalid syntax")
                    })?;
                }
                "max-allowable-numa-nodes" => {
                    most = value.parse().map_err(|_| {
                        format!(
                            "unable to convert policy option to integer {name:?}: strconv.Atoi: parsing {value:?}: \
                             invalid syntax"
                        )
                    })?;
                    if most < NUMA_NODES_MAX {
                        return Err(format!("the minimum value of {name:?} should not be less than {NUMA_NODES_MAX}"));
                    }
                }
                unknown => return Err(format!("unknown Topology Manager Policy option: {unknown:?}")),
            }
        }
        if i64::try_from(nodes.len()).unwrap_or(i64::MAX) > most {
            return Err(format!("unsupported on machines with more than {most} NUMA Nodes"));
        }
        Ok(())
    }
}

/// Source: pkg/kubelet/cm/cpumanager/cpu_manager.go, `NewManager`, and policy_static.go, `NewStaticPolicy` (v1.34).
fn reserved_cpus(
    policy: &Text,
    options: &Json,
    merged: &Json,
    kept: Quantity,
    nodes: &[NumaNode],
    (topology, settings): (Policy, &Settings),
) -> Result<Option<CpuSet>, String> {
    match policy.as_str() {
        "" | "none" if options.is_empty() => return Ok(None),
        "" | "none" => {
            let list: Vec<String> = options.fields().map(|(name, value)| format!("{name}:{}", text(value))).collect();
            return Err(format!(
                "new none policy error: None policy: received unsupported options=map[{}]",
                list.join(" ")
            ));
        }
        "static" => {}
        unknown => return Err(format!("unknown policy: {unknown:?}")),
    }
    if kept.is_zero() {
        return Err(
            "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than \
            zero"
                .into(),
        );
    }
    cpu_options(options, topology, settings).map_err(|why| format!("new static policy error: {why}"))?;
    let count = usize::try_from((kept.milli_value() + 999) / 1000).unwrap_or(usize::MAX);
    let listed = parse_cpu_set(merged.get("reservedSystemCPUs").as_str().unwrap_or_default()).unwrap_or_default();
    let all: CpuSet = nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect();
    let reserved = if listed.is_empty() { take::cpus(&all, count, nodes).unwrap_or_default() } else { listed };
    if reserved.len() != count {
        return Err(format!(
            "new static policy error: [cpumanager] unable to reserve the required amount of CPUs (size of {} did not \
             equal {count})",
            print_cpu_set(&reserved)
        ));
    }
    Ok(Some(reserved))
}

/// Source: pkg/kubelet/cm/cpumanager/policy_options.go (v1.34), `NewStaticPolicyOptions` and
/// `ValidateStaticPolicyOptions`.
fn cpu_options(options: &Json, topology: Policy, settings: &Settings) -> Result<(), String> {
    // Each option with how settled it is: the others need a gate.
    let known = || settings.profile().text("cpu-manager-options").split(',').filter_map(|one| one.split_once('='));
    let mut on: Vec<&str> = Vec::new();
    for (name, value) in options.fields() {
        let Some((known, level)) = known().find(|(known, _)| **name == **known) else {
            return Err(format!("unknown CPU Manager Policy option: \"{name}\""));
        };
        if level != "Stable" && !settings.is_gate_on(&format!("CPUManagerPolicy{level}Options")) {
            return Err(format!(
                "CPU Manager Policy {level}-level Options not enabled, but option \"{name}\" provided"
            ));
        }
        let value = text(value);
        let is_on = parse_bool(&value).ok_or_else(|| {
            format!("bad value for option \"{name}\": strconv.ParseBool: parsing {value:?}: invalid syntax")
        })?;
        on.extend(is_on.then_some(known));
    }
    if let Some([one, other]) = CPU_OPTIONS_APART.iter().find(|pair| pair.iter().all(|own| on.contains(own))) {
        return Err(format!("static policy options {one} and {other} can not be used at the same time"));
    }
    if on.contains(&"align-by-socket") && topology == Policy::SingleNumaNode {
        return Err("Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy \
                    option"
            .into());
    }
    Ok(())
}

/// Source: pkg/kubelet/cm/memorymanager/memory_manager.go, `NewManager`, `validateReservedMemory`, and policy_static.go
/// (v1.34).
fn reserved_memory(
    policy: &Text,
    merged: &Json,
    kept: Quantity,
    nodes: &[NumaNode],
) -> Result<Option<Vec<(u32, i64)>>, String> {
    match policy.as_str() {
        "" | "None" => return Ok(None),
        "Static" => {}
        unknown => return Err(format!("unknown policy: {unknown:?}")),
    }
    let mut reserved: Vec<(u32, i64)> = Vec::new();
    let mut totals: Vec<(Text, Quantity)> = Vec::from([(Text::of("memory"), Quantity::whole(0, Format::DecimalSi))]);
    for own in merged.get("reservedMemory").items() {
        let id = own.get("numaNode").as_i64().unwrap_or_default();
        let node = nodes.iter().find(|node| i64::from(node.id) == id).ok_or_else(|| {
            format!("the reserved memory configuration references a NUMA node {id} that does not exist on this machine")
        })?;
        for (kind, value) in own.get("limits").fields() {
            let amount = Quantity::from_json(value).unwrap_or_else(|| Quantity::whole(0, Format::BinarySi));
            match totals.iter_mut().find(|(other, _)| other == kind) {
                Some((_, sum)) => *sum = *sum + amount,
                None => totals.push((kind.clone(), amount)),
            }
            if **kind == *"memory" {
                reserved.push((node.id, amount.value()));
            }
        }
    }
    for (kind, sum) in &totals {
        // Nothing else can be reserved but memory.
        let zero = Quantity::whole(0, Format::DecimalSi);
        let wanted = if **kind == *"memory" { zero + kept } else { zero };
        if *sum != wanted {
            let (sum, wanted, kind) = (sum.to_string(), wanted.to_string(), kind.as_str());
            return Err(format!(
                "the total amount {sum:?} of type {kind:?} is not equal to the value {wanted:?} determined by Node \
                 Allocatable feature"
            ));
        }
    }
    if reserved.iter().map(|(_, bytes)| *bytes).sum::<i64>() <= 0 {
        return Err("[memorymanager] you should specify the system reserved memory".into());
    }
    Ok(Some(reserved))
}

/// Reads `--reserved-memory`: each use of the flag is for one NUMA node.
///
/// Source: pkg/util/flag/flags.go (v1.34), `ReservedMemoryVar.Set`.
pub(in crate::components::kubelet) fn parse_reserved_memory(text: &str) -> Result<Json, String> {
    let of_node = |text: &str| {
        let parts: Vec<&str> = text.split(':').collect();
        let [node, limits] = parts.as_slice() else {
            return Err(format!(
                "the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got \
                 {text}"
            ));
        };
        let bad_node = || format!("failed to convert the NUMA node ID, exptected integer, got {node}");
        let mut own = json!({"numaNode": node.parse::<i32>().map_err(|_| bad_node())?, "limits": {}});
        for limit in limits.split(',') {
            let pair: Vec<&str> = limit.split('=').collect();
            let [kind, amount] = pair.as_slice() else {
                return Err(format!("the reserved limit has incorrect value, expected type=quantatity, got {limit}"));
            };
            if *kind != "memory" && !kind.starts_with("hugepages-") {
                return Err(format!("memory type conversion error, unknown type: {kind:?}"));
            }
            if Quantity::from_json(&Json::from(*amount)).is_none() {
                return Err(format!("failed to parse the quantatity, expected quantatity, got {amount}"));
            }
            own.set(&["limits", kind], *amount);
        }
        Ok(own)
    };
    text.split(BETWEEN_USES).filter(|own| !own.is_empty()).map(of_node).collect()
}

/// Returns what is wrong with the field `reservedMemory`.
///
/// Source: pkg/kubelet/apis/config/validation/validation_reserved_memory.go (v1.34).
pub(in crate::components::kubelet) fn reserved_memory_errors(merged: &Json) -> Vec<String> {
    let mut seen: Vec<(i64, Text)> = Vec::new();
    let mut wrong = Vec::new();
    for own in merged.get("reservedMemory").items() {
        let id = own.get("numaNode").as_i64().unwrap_or_default();
        for (kind, value) in own.get("limits").fields() {
            let place = (id, kind.clone());
            if seen.contains(&place) {
                wrong.push(format!(
                    "invalid configuration: the reserved memory has a duplicate value for NUMA node {id} and resource \
                     \"{kind}\""
                ));
            }
            seen.push(place);
            if **kind != *"memory" && !kind.starts_with("hugepages-") {
                wrong.push(format!(
                    "invalid configuration: the limit type \"{kind}\" for NUMA node {id} is not supported, only \
                     [memory hugepages-<HugePageSize>] is accepted"
                ));
            }
            if Quantity::from_json(value).is_none_or(|amount| amount.is_zero()) {
                wrong.push(format!(
                    "invalid configuration: reserved memory may not be zero for NUMA node {id} and resource \"{kind}\""
                ));
            }
        }
    }
    wrong
}
