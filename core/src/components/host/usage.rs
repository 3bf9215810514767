//! What the processes of a machine use of its memory, its disk and its process ids, and how much of each is left.
//!
//! Inputs: what containers and other processes were told to use, the images, the hardware. Outputs: levels, as a
//! kubelet measures them. A container uses nothing that it was not told to use, so that what is left is a plain sum.
//! Images, the writable layers of containers, their logs and their volumes share one file system.
//! Left out on purpose: the kernel's OOM killer; a container may use more than its limit.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::Host;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{FieldError, FieldReader, Json, Text};

/// The amounts that a container can be told to use; `volumes` stands beside them, with an amount for each volume.
pub const USES: [&str; 6] = ["cpu", "memory", "ephemeral-storage", "inodes", "pids", "swap"];

/// What a container uses.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Uses {
    /// The working set, in bytes; its volumes in memory are part of it.
    pub memory: i64,
    /// The writable layer and the logs, in bytes.
    pub disk: i64,
    /// The inodes of the same.
    pub inodes: i64,
    /// The processes.
    pub pids: i64,
    /// The bytes in each volume that it fills, by the volume's name.
    pub volumes: Vec<(Text, i64)>,
}

impl Uses {
    /// Reads what a container was told; amounts that cannot be read are zero.
    #[must_use]
    pub fn of(told: &Json) -> Self {
        let amount = |value: &Json| Quantity::from_json(value).map_or(0, |amount| amount.value().max(0));
        Self {
            memory: amount(told.get("memory")),
            disk: amount(told.get("ephemeral-storage")),
            inodes: amount(told.get("inodes")),
            pids: amount(told.get("pids")),
            volumes: told.get("volumes").fields().map(|(name, value)| (name.clone(), amount(value))).collect(),
        }
    }
}

/// Adds what a weaker source says of amounts that are not told yet.
pub(super) fn fill_uses(told: &mut Json, weaker: &Json) {
    for (name, value) in weaker.fields() {
        if **name == *"volumes" {
            for (volume, amount) in value.fields() {
                if told.at(&["volumes", volume]).is_null() {
                    told.set(&["volumes", volume], amount.clone());
                }
            }
        } else if told.get(name).is_null() {
            told.set(&[name], value.clone());
        }
    }
}

/// Checks the `uses` of a container.
///
/// # Errors
/// A field is unknown, or is no quantity of zero or more.
pub(super) fn check_uses(mut used: FieldReader<'_>) -> Result<(), FieldError> {
    let wrong = |amount: Quantity| amount.is_negative();
    for resource in USES {
        let Some(amount) = used.quantity(resource)? else { continue };
        if wrong(amount) {
            return Err(used.error(resource, "an amount of zero or more is needed"));
        }
        if matches!(resource, "inodes" | "pids") && amount != amount.in_whole_units() {
            return Err(used.error(resource, "a whole number is needed"));
        }
    }
    let path = used.path("volumes");
    if let Some(volumes) = used.any("volumes") {
        if !volumes.is_object() {
            return Err(FieldError::new(path, "an object is needed"));
        }
        for (name, value) in volumes.fields() {
            if Quantity::from_json(value).is_none_or(wrong) {
                return Err(FieldError::new(format!("{path}.{name}"), "an amount of zero or more is needed"));
            }
        }
    }
    used.finish()
}

/// What of a machine can run short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// Memory, in bytes.
    Memory,
    /// The root file system, in bytes.
    Disk,
    /// The inodes of the root file system.
    Inodes,
    /// Process ids.
    Pids,
}

/// How much of a resource is left to others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Free {
    /// This much.
    Amount(i64),
    /// This share of all of it.
    Share(f64),
}

impl Free {
    /// Reads an amount, or a share as `5%`; without one, nothing is left.
    ///
    /// # Errors
    /// It is neither.
    pub(crate) fn read(reader: &mut FieldReader<'_>, name: &'static str) -> Result<Option<Self>, FieldError> {
        let Some(value) = reader.any(name) else { return Ok(None) };
        let share = value.as_str().and_then(|text| text.strip_suffix('%')).and_then(|text| text.parse::<f64>().ok());
        if let Some(percent) = share.filter(|percent| (0.0..=100.0).contains(percent)) {
            return Ok(Some(Self::Share(percent / 100.0)));
        }
        let amount = Quantity::from_json(value).filter(|amount| !amount.is_negative());
        let found = amount.map(|amount| Some(Self::Amount(amount.value())));
        found.ok_or_else(|| reader.error(name, "a quantity, as \"100Mi\", or a share, as \"5%\", is needed"))
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a share of an amount")]
    fn of(self, capacity: i64) -> i64 {
        match self {
            Self::Amount(amount) => amount,
            Self::Share(share) => (capacity as f64 * share) as i64,
        }
    }
}

/// A resource: how much there is, and how much of it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// All of it.
    pub capacity: i64,
    /// What is used.
    pub used: i64,
}

impl Level {
    /// Returns what is left.
    #[must_use]
    pub fn available(self) -> i64 {
        (self.capacity - self.used).max(0)
    }
}

/// What something uses of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UsedAmounts {
    pub(super) memory: i64,
    pub(super) disk: i64,
    pub(super) inodes: i64,
    pub(super) pids: i64,
}

impl UsedAmounts {
    /// Returns what is left of it after the power was gone: what is on the disk.
    pub(super) const fn after_boot(self) -> Self {
        Self { memory: 0, pids: 0, ..self }
    }

    /// Returns the amount of a resource.
    #[must_use]
    pub const fn of(&self, resource: Resource) -> i64 {
        match resource {
            Resource::Memory => self.memory,
            Resource::Disk => self.disk,
            Resource::Inodes => self.inodes,
            Resource::Pids => self.pids,
        }
    }
}

impl Host {
    /// Tells whether anything on the machine uses anything: else all of it is left, and nobody has to add up.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.others != UsedAmounts::default() || self.runtime.is_told_uses() || !self.images.is_empty()
    }

    /// Measures a resource.
    #[must_use]
    pub fn level(&self, resource: Resource) -> Level {
        let used = self.others.of(resource).saturating_add(self.used_by_pods(resource));
        Level { capacity: self.capacity_of(resource), used: used.saturating_add(self.used_by_images(resource)) }
    }

    /// Returns what the containers and their volumes use of a resource.
    #[must_use]
    pub fn used_by_pods(&self, resource: Resource) -> i64 {
        if !self.runtime.is_told_uses() {
            return 0;
        }
        self.runtime.sandboxes().map(|(uid, _)| self.runtime.used_by(uid).of(resource)).sum()
    }

    fn used_by_images(&self, resource: Resource) -> i64 {
        if resource != Resource::Disk {
            return 0;
        }
        self.images.iter().map(|image| image.get("sizeBytes").as_i64().unwrap_or_default()).sum()
    }

    fn capacity_of(&self, resource: Resource) -> i64 {
        let hardware = &self.spec.hardware;
        match resource {
            Resource::Memory => hardware.memory.value(),
            Resource::Disk => hardware.ephemeral_storage.value(),
            Resource::Inodes => hardware.inodes(),
            Resource::Pids => hardware.pids,
        }
    }

    /// Fills a resource until only so much is left, or empties it until so much is left, as far as containers and
    /// images leave it. What containers use from then on is used in addition.
    ///
    /// # Errors
    /// The machine has less than what shall be left.
    pub(crate) fn fill(&mut self, resource: Resource, free: Free) -> Result<(), alloc::string::String> {
        let capacity = self.capacity_of(resource);
        let free = free.of(capacity);
        if free > capacity {
            let format = if matches!(resource, Resource::Memory | Resource::Disk) {
                Format::BinarySi
            } else {
                Format::DecimalSi
            };
            let print = |amount| Quantity::whole(amount, format).to_string();
            return Err(format!("{} cannot be free: the machine has {}", print(free), print(capacity)));
        }
        let own = self.used_by_pods(resource).saturating_add(self.used_by_images(resource));
        let used = capacity.saturating_sub(own).saturating_sub(free).max(0);
        match resource {
            Resource::Memory => self.others.memory = used,
            Resource::Disk => self.others.disk = used,
            Resource::Inodes => self.others.inodes = used,
            Resource::Pids => self.others.pids = used,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Free, Resource, Uses, fill_uses};
    use crate::components::host::{Host, MachineSpec};
    use crate::json;

    #[test]
    fn what_is_left_is_what_was_asked_for_and_no_more_than_there_is() {
        let body = json!({"name": "w", "capacity": {"memory": "1Gi"}, "images": [{"names": ["a"], "sizeBytes": 1000}],
            "pids": 300});
        let mut host = Host::new(MachineSpec::from_json(&body).unwrap());
        assert_eq!(host.level(Resource::Memory).available(), 1 << 30);
        host.fill(Resource::Memory, Free::Amount(50 << 20)).unwrap();
        assert_eq!(host.level(Resource::Memory).available(), 50 << 20);
        host.fill(Resource::Disk, Free::Share(0.05)).unwrap();
        assert_eq!(host.level(Resource::Disk).available(), 5_144_404_787);
        host.images.clear();
        assert_eq!(host.level(Resource::Disk).available(), 5_144_405_787);
        let why = host.fill(Resource::Pids, Free::Amount(301)).unwrap_err();
        assert_eq!(why, "301 cannot be free: the machine has 300");
        host.boot(None);
        assert_eq!(host.level(Resource::Memory).used, 0);
        assert_ne!(host.level(Resource::Disk).used, 0);
    }

    #[test]
    fn a_stronger_source_leaves_what_it_does_not_tell_to_a_weaker_one() {
        let mut told = json!({"memory": "1Mi", "volumes": {"a": "1"}});
        fill_uses(&mut told, &json!({"memory": "2Mi", "pids": 3, "volumes": {"a": "2", "b": "1Ki"}}));
        let uses = Uses::of(&told);
        assert_eq!((uses.memory, uses.pids, uses.disk), (1 << 20, 3, 0));
        assert_eq!(uses.volumes, [("a".into(), 1), ("b".into(), 1024)]);
    }
}
