//! What a node reserves for its own daemons: the difference between capacity and allocatable.
//!
//! Mirrors pkg/kubelet/cm/node_container_manager_linux.go (v1.34): reserved for the system and for Kubernetes, and the
//! hard eviction thresholds of memory and of the root file system. Inputs: the
//! configuration, the hardware. Outputs: amounts, or the kubelet's message.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::thresholds;
use crate::components::host::Hardware;
use crate::objects::Json;
use crate::objects::cpu_set::parse_cpu_set;
use crate::objects::quantity::{Format, Quantity};
use crate::profile::Profile;

/// Source: pkg/kubelet/cm/node_container_manager_linux.go (v1.34): what may be reserved.
const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];

/// The reserved amount of each resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reservations {
    /// CPU.
    pub cpu: Quantity,
    /// Memory.
    pub memory: Quantity,
    /// The root file system.
    pub ephemeral_storage: Quantity,
    /// The part of the memory that is kept for the system and for Kubernetes, without the eviction threshold: pods may
    /// use all the rest.
    pub memory_of_daemons: Quantity,
}

impl Default for Reservations {
    fn default() -> Self {
        Self {
            cpu: Quantity::milli(0),
            memory: Quantity::whole(0, Format::BinarySi),
            ephemeral_storage: Quantity::whole(0, Format::BinarySi),
            memory_of_daemons: Quantity::whole(0, Format::BinarySi),
        }
    }
}

impl Reservations {
    /// Adds up what the configuration reserves. Whether there is so much is checked later, by [`Self::check`].
    ///
    /// # Errors
    /// The kubelet's message.
    pub(super) fn read(merged: &Json, hardware: &Hardware, profile: &Profile) -> Result<Self, String> {
        let mut kept = Self::default();
        let mut reserved = [("kubeReserved", "--kube-reserved"), ("systemReserved", "--system-reserved")]
            .map(|(field, flag)| (merged.get(field).clone(), flag));
        if let Some(count) = reserved_cpus(merged, hardware)? {
            // The listed CPUs take the place of both amounts.
            reserved[0].0.remove(&["cpu"]);
            reserved[1].0.set(&["cpu"], count.to_string());
        }
        for (amounts, flag) in &reserved {
            kept.add(amounts, flag, profile)?;
        }
        kept.memory_of_daemons = kept.memory;
        let hard = thresholds::hard(&thresholds::hard_in_force(merged, profile));
        let hard = hard.map_err(|why| format!("failed to run Kubelet: {why}"))?;
        let amount = |signal: &str, capacity: Quantity| {
            let own = hard.iter().find(|(own, _)| own == signal);
            own.map_or(Quantity::whole(0, Format::BinarySi), |(_, threshold)| threshold.quantity(capacity.value()))
        };
        kept.memory = kept.memory + amount("memory.available", hardware.memory);
        kept.ephemeral_storage = kept.ephemeral_storage + amount("nodefs.available", hardware.ephemeral_storage);
        Ok(kept)
    }

    fn add(&mut self, reserved: &Json, flag: &str, profile: &Profile) -> Result<(), String> {
        let failed = |why: String| format!("failed to run Kubelet: {flag} value failed to parse: {why}");
        for (name, value) in reserved.fields() {
            if !RESERVABLE.contains(&name.as_str()) {
                return Err(failed(format!("cannot reserve \"{name}\" resource")));
            }
            let text = thresholds::text(value);
            let amount = Quantity::read(&text)
                .map_err(|why| failed(format!("failed to parse quantity \"{text}\" for \"{name}\" resource: {why}")))?;
            if amount.is_negative() {
                return Err(failed(format!("resource quantity for \"{name}\" cannot be negative: {text}")));
            }
            match name.as_str() {
                "cpu" if profile.is("reserved-cpu-in-thousandths") => {
                    self.cpu = self.cpu + amount.in_nearest_thousandths();
                }
                "cpu" => self.cpu = self.cpu + amount,
                "memory" => self.memory = self.memory + amount,
                "ephemeral-storage" => self.ephemeral_storage = self.ephemeral_storage + amount,
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks that no more is reserved than there is, as the container manager does at its start.
    ///
    /// # Errors
    /// The kubelet's message.
    pub(super) fn check(&self, hardware: &Hardware) -> Result<(), String> {
        let wrong: Vec<String> = [
            ("cpu", self.cpu, hardware.cpu),
            ("memory", self.memory, hardware.memory),
            ("ephemeral-storage", self.ephemeral_storage, hardware.ephemeral_storage),
        ]
        .into_iter()
        .filter(|(_, kept, capacity)| kept > capacity)
        .map(|(name, kept, capacity)| {
            format!(
                "Resource \"{name}\" has a reservation of {} but capacity of {}. Expected capacity >= reservation.",
                go_struct(kept),
                go_struct(capacity)
            )
        })
        .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let all = wrong.join(" ");
        Err(format!("Failed to start ContainerManager: invalid Node Allocatable configuration. {all}"))
    }
}

/// Returns the number of CPUs that `reservedSystemCPUs` lists.
///
/// Source: cmd/kubelet/app/server.go (v1.34), `getReservedCPUs`.
fn reserved_cpus(merged: &Json, hardware: &Hardware) -> Result<Option<usize>, String> {
    let Some(text) = merged.get("reservedSystemCPUs").as_str().filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    // What cannot be read is refused by the checks of the configuration.
    let listed = parse_cpu_set(text).unwrap_or_default();
    let online = u32::try_from(hardware.cpu.milli_value() / 1000).unwrap_or(u32::MAX);
    if listed.iter().any(|cpu| *cpu >= online) {
        return Err(format!(
            "failed to run Kubelet: reserved-cpus: {text} is not a subset of online-cpus: 0-{}",
            online.saturating_sub(1)
        ));
    }
    Ok(Some(listed.len()))
}

/// Prints a quantity as Go prints the struct, as in the kubelet's message.
fn go_struct(quantity: Quantity) -> String {
    let milli = quantity.milli_value();
    let (value, scale) = if milli % 1000 == 0 { (milli / 1000, 0) } else { (milli, -3) };
    let format = if quantity.format() == Format::BinarySi { "BinarySI" } else { "DecimalSI" };
    if format == "DecimalSI" && scale == 0 {
        return format!("{{{{{milli} -3}} {{<nil>}}  {format}}}");
    }
    format!("{{{{{value} {scale}}} {{<nil>}}  {format}}}")
}
