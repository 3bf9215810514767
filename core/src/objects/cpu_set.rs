//! Sets of CPUs, as `0-3,8`.
//!
//! Mirrors k8s.io/utils/cpuset/cpuset.go, `Parse` and `String`. Pure.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// No list goes beyond this CPU, lest a few letters fill the memory.
const NUMBER_MAX: u32 = 65_535;

/// Numbers of CPUs.
pub type CpuSet = BTreeSet<u32>;

/// Reads a list of CPUs.
///
/// # Errors
/// Go's message.
pub fn parse_cpu_set(text: &str) -> Result<CpuSet, String> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        text.parse::<u32>().map_err(|_| format!("strconv.Atoi: parsing \"{text}\": {why}"))
    };
    let mut cpus = CpuSet::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        match part.split_once('-') {
            None => drop(cpus.insert(number(part)?)),
            Some((first, last)) => {
                let (from, to) = (number(first)?, number(last)?);
                if from > to {
                    return Err(format!("invalid range \"{part}\" ({from} > {to})"));
                }
                if to > NUMBER_MAX {
                    return Err(format!("no machine has a CPU {to}"));
                }
                cpus.extend(from..=to);
            }
        }
    }
    Ok(cpus)
}

/// Prints a list of CPUs.
#[must_use]
pub fn print_cpu_set(cpus: &CpuSet) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => ranges.push((*cpu, *cpu)),
        }
    }
    let print = |(first, last): &(u32, u32)| {
        if first == last { format!("{first}") } else { format!("{first}-{last}") }
    };
    ranges.iter().map(print).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::{parse_cpu_set, print_cpu_set};

    #[test]
    fn a_list_is_printed_as_it_is_read_in_its_shortest_form() {
        for (text, printed) in [("", ""), ("0,1,2,5", "0-2,5"), ("3-4,1", "1,3-4"), ("7", "7")] {
            assert_eq!(print_cpu_set(&parse_cpu_set(text).unwrap()), printed);
        }
        assert_eq!(parse_cpu_set("0-x").unwrap_err(), "strconv.Atoi: parsing \"x\": invalid syntax");
        assert_eq!(parse_cpu_set("3-1").unwrap_err(), "invalid range \"3-1\" (3 > 1)");
    }
}
