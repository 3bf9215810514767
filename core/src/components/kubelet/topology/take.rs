//! Which CPUs are taken when some are needed.
//!
//! Mirrors `takeByTopologyNUMAPacked` of pkg/kubelet/cm/cpumanager/cpu_assignment.go (v1.34) on a machine with one
//! thread for each core and one NUMA node for each socket. Pure. Inputs: free CPUs, a count, the NUMA nodes. Output:
//! the CPUs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::components::host::NumaNode;
use crate::objects::cpu_set::CpuSet;

/// Takes CPUs: whole free NUMA nodes first, and then from those that have the fewest left.
///
/// # Errors
/// There are not so many.
pub(super) fn cpus(free: &CpuSet, count: usize, nodes: &[NumaNode]) -> Result<CpuSet, String> {
    if free.len() < count {
        return Err(format!(
            "not enough cpus available to satisfy request: requested={count}, available={}",
            free.len()
        ));
    }
    let mut left = free.clone();
    let mut taken = CpuSet::new();
    let mut ordered: Vec<&NumaNode> = nodes.iter().collect();
    let free_of = |node: &NumaNode, left: &CpuSet| node.cpus.intersection(left).count();
    ordered.sort_by_key(|node| (free_of(node, &left), node.id));
    for node in &ordered {
        let is_whole = free_of(node, &left) == node.cpus.len();
        if is_whole && count - taken.len() >= node.cpus.len() {
            taken.extend(&node.cpus);
            left = left.difference(&node.cpus).copied().collect();
        }
    }
    ordered.sort_by_key(|node| (free_of(node, &left), node.id));
    for node in ordered {
        let wanted = count - taken.len();
        let own: Vec<u32> = node.cpus.intersection(&left).take(wanted).copied().collect();
        taken.extend(own);
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::cpus;
    use crate::components::host::NumaNode;
    use crate::objects::cpu_set::{parse_cpu_set, print_cpu_set};

    #[test]
    fn whole_nodes_are_taken_first_and_then_what_others_have_left_over() {
        let node = |id, cpus: &str| NumaNode {
            id,
            cpus: parse_cpu_set(cpus).unwrap(),
            memory: 0,
            distances: alloc::vec::Vec::new(),
        };
        let nodes = [node(0, "0-3"), node(1, "4-7")];
        for (free, count, taken) in [
            ("0-7", 1, "0"),
            ("0-7", 4, "0-3"),
            ("0-7", 5, "0-4"),
            ("1-7", 4, "4-7"),
            ("1-7", 3, "1-3"),
            ("1-7", 2, "1-2"),
            ("1-5", 2, "4-5"),
        ] {
            let found = cpus(&parse_cpu_set(free).unwrap(), count, &nodes).unwrap();
            assert_eq!(print_cpu_set(&found), taken, "{count} of {free}");
        }
        let why = cpus(&parse_cpu_set("0-1").unwrap(), 3, &nodes).unwrap_err();
        assert_eq!(why, "not enough cpus available to satisfy request: requested=3, available=2");
    }
}
