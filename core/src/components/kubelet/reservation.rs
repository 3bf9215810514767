//! What a node reserves for its own daemons: the difference between capacity and allocatable.
//!
//! Mirrors pkg/kubelet/cm/node_container_manager_linux.go and pkg/kubelet/eviction/helpers.go (v1.34): reserved for the
//! system and for Kubernetes, and the hard eviction thresholds of memory and of the root file system. Inputs: the
//! configuration, the hardware. Outputs: amounts, or the kubelet's message.

use alloc::format;
use alloc::string::{String, ToString};

use super::config::config_quantity;
use crate::components::host::Hardware;
use crate::objects::Json;
use crate::objects::quantity::{Format, Quantity};
use crate::profile::Settings;

/// The signals of eviction. Source: pkg/kubelet/eviction/api/types.go (v1.34).
const SIGNALS: [&str; 8] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "containerfs.available",
    "containerfs.inodesFree",
    "pid.available",
];
/// Source: pkg/kubelet/cm/node_container_manager_linux.go (v1.34): what may be reserved.
const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];
/// Source: pkg/kubelet/eviction/defaults_linux.go (v1.34), `DefaultEvictionHard`: `memory.available` in bytes.
const DEFAULT_MEMORY_THRESHOLD: i64 = 100 << 20;
/// Source: as above, `nodefs.available`, in percent.
const DEFAULT_NODEFS_THRESHOLD: f32 = 10.0;

/// The reserved amount of each resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reservations {
    /// CPU.
    pub cpu: Quantity,
    /// Memory.
    pub memory: Quantity,
    /// The root file system.
    pub ephemeral_storage: Quantity,
}

impl Default for Reservations {
    fn default() -> Self {
        Self {
            cpu: Quantity::milli(0),
            memory: Quantity::whole(0, Format::BinarySi),
            ephemeral_storage: Quantity::whole(0, Format::BinarySi),
        }
    }
}

impl Reservations {
    /// Adds up what the configuration reserves.
    ///
    /// # Errors
    /// The kubelet's message.
    pub(super) fn read(merged: &Json, hardware: &Hardware, _settings: &Settings) -> Result<Self, String> {
        let mut kept = Self::default();
        for (field, flag) in [("kubeReserved", "--kube-reserved"), ("systemReserved", "--system-reserved")] {
            kept.add(merged.get(field), flag)?;
        }
        let hard = merged.get("evictionHard");
        let is_default = |signal| {
            hard.is_null()
                || merged.get("mergeDefaultEvictionSettings").as_bool() == Some(true) && hard.get(signal).is_null()
        };
        for (signal, value) in hard.fields() {
            if !SIGNALS.contains(&signal.as_str()) {
                return Err(format!("failed to run Kubelet: unsupported eviction signal {signal}"));
            }
            threshold(signal, value.as_str().unwrap_or_default(), hardware)?;
        }
        let memory = if is_default("memory.available") {
            Some(Quantity::whole(DEFAULT_MEMORY_THRESHOLD, Format::BinarySi))
        } else {
            hard.get("memory.available").as_str().and_then(|text| threshold("memory.available", text, hardware).ok()?)
        };
        let disk = if is_default("nodefs.available") {
            Some(share(hardware.ephemeral_storage, DEFAULT_NODEFS_THRESHOLD / 100.0))
        } else {
            hard.get("nodefs.available").as_str().and_then(|text| threshold("nodefs.available", text, hardware).ok()?)
        };
        if let Some(memory) = memory {
            kept.memory = kept.memory + memory;
        }
        if let Some(disk) = disk {
            kept.ephemeral_storage = kept.ephemeral_storage + disk;
        }
        kept.check(hardware)?;
        Ok(kept)
    }

    fn add(&mut self, reserved: &Json, flag: &str) -> Result<(), String> {
        let failed = |why: String| format!("failed to run Kubelet: {flag} value failed to parse: {why}");
        for (name, value) in reserved.fields() {
            if !RESERVABLE.contains(&name.as_str()) {
                return Err(failed(format!("cannot reserve \"{name}\" resource")));
            }
            let text = value.as_str().map_or_else(|| value.to_string(), ToString::to_string);
            let amount = config_quantity(&Json::from(text.as_str())).ok_or_else(|| {
                failed(format!(
                    "failed to parse quantity \"{text}\" for \"{name}\" resource: quantities must match the regular \
                        expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                ))
            })?;
            if amount.is_negative() {
                return Err(failed(format!("resource quantity for \"{name}\" cannot be negative: {text}")));
            }
            match name.as_str() {
                "cpu" => self.cpu = self.cpu + amount,
                "memory" => self.memory = self.memory + amount,
                "ephemeral-storage" => self.ephemeral_storage = self.ephemeral_storage + amount,
                _ => {}
            }
        }
        Ok(())
    }

    fn check(&self, hardware: &Hardware) -> Result<(), String> {
        for (name, kept, capacity) in [
            ("cpu", self.cpu, hardware.cpu),
            ("memory", self.memory, hardware.memory),
            ("ephemeral-storage", self.ephemeral_storage, hardware.ephemeral_storage),
        ] {
            if kept > capacity {
                return Err(format!(
                    "Failed to start ContainerManager: invalid Node Allocatable configuration. Resource \"{name}\" \
                        has a reservation of {} but capacity of {}. Expected capacity >= reservation.",
                    go_struct(kept),
                    go_struct(capacity)
                ));
            }
        }
        Ok(())
    }
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

/// Takes a share of a capacity as the kubelet computes it: a 32-bit fraction, widened, and cut.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the rounding of the real code")]
fn share(capacity: Quantity, fraction: f32) -> Quantity {
    let bytes = capacity.value() as f64 * f64::from(fraction);
    Quantity::whole(bytes as i64, Format::BinarySi)
}

/// Reads a threshold; 0 % and 100 % turn a signal off.
fn threshold(signal: &str, text: &str, hardware: &Hardware) -> Result<Option<Quantity>, String> {
    let refuse = |why: String| Err(format!("failed to run Kubelet: {why}"));
    if let Some(number) = text.strip_suffix('%') {
        let Ok(percent) = number.parse::<f32>() else {
            return refuse(format!("strconv.ParseFloat: parsing \"{number}\": invalid syntax"));
        };
        if percent == 0.0 || (percent - 100.0).abs() < f32::EPSILON {
            return Ok(None);
        }
        if percent < 0.0 {
            return refuse(format!("eviction percentage threshold {signal} must be >= 0%: {text}"));
        }
        if percent > 100.0 {
            return refuse(format!("eviction percentage threshold {signal} must be <= 100%: {text}"));
        }
        let capacity = if signal == "memory.available" { hardware.memory } else { hardware.ephemeral_storage };
        return Ok(Some(share(capacity, percent / 100.0)));
    }
    match Quantity::parse(text) {
        None => refuse(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'".to_string(),
        ),
        Some(amount) if amount.is_negative() || amount.is_zero() => {
            refuse(format!("eviction threshold {signal} must be positive: {text}"))
        }
        Some(amount) => Ok(Some(amount)),
    }
}
