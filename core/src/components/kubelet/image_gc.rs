//! Garbage collection of images: those that nothing uses go when their file system is nearly full.
//!
//! Mirrors pkg/kubelet/images/image_gc_manager.go (v1.34). The list that the Node's status shows is read again each
//! half minute. Inputs: the images and the disk of the machine, time. Outputs: images removed, Events.
//! Invariant: as long as the disk is not nearly full, no timer runs.
//! Left out on purpose: `imageMaximumGCAge`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::decoder::Decoder;
use super::events::EventType;
use super::image_names::full_name;
use super::upkeep::Upkeep;
use super::{Kubelet, KubeletContext};
use crate::components::Because;
use crate::components::host::{Host, Resource};
use crate::components::next_of;
use crate::objects::{Json, Text};

/// How often images are collected. Source: pkg/kubelet/kubelet.go (v1.34), `ImageGCPeriod`.
const PERIOD: SignedDuration = SignedDuration::from_secs(5 * 60);
/// How often the list of images is read for the status.
/// Source: pkg/kubelet/images/image_gc_manager.go (v1.34), `Start`.
const CACHE_PERIOD: SignedDuration = SignedDuration::from_secs(30);

/// From how many percent of the disk in use images are deleted, and down to how many; and how old they are at least.
/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34).
pub(super) const HIGH: i64 = 85;
/// See [`HIGH`].
pub(super) const LOW: i64 = 80;
/// See [`HIGH`].
pub(super) const LEAST_AGE: SignedDuration = SignedDuration::from_secs(120);

/// When unused images are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageGcPolicy {
    high: i64,
    low: i64,
    /// Images that were first seen less long ago stay.
    least_age: SignedDuration,
}

impl ImageGcPolicy {
    /// Reads the policy. Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34).
    pub(super) fn read(read: &Decoder<'_>) -> Self {
        Self {
            high: read.int("imageGCHighThresholdPercent").unwrap_or(HIGH),
            low: read.int("imageGCLowThresholdPercent").unwrap_or(LOW),
            least_age: read.duration("imageMinimumGCAge").unwrap_or(LEAST_AGE),
        }
    }

    /// Tells whether images are ever collected. Source: pkg/kubelet/kubelet.go (v1.34), `StartGarbageCollection`.
    pub(super) const fn is_on(self) -> bool {
        self.high != 100
    }
}

/// What a kubelet knows of the images.
#[derive(Clone, Debug, Default)]
pub(super) struct Images {
    /// The list as the status shows it.
    shown: Vec<Json>,
    /// The images that came after the start, with the instants at which they were first seen.
    late: Vec<(Json, Timestamp)>,
    /// The names of those that were there at the start, or were seen before.
    seen: Vec<Json>,
    has_failed: bool,
}

impl Images {
    pub(super) fn new(host: &Host) -> Self {
        let seen = host.images.iter().map(|image| image.get("names").clone()).collect();
        Self { shown: host.images.clone(), seen, ..Self::default() }
    }

    /// Returns the images that the status shows.
    pub(super) fn shown(&self) -> &[Json] {
        &self.shown
    }

    /// Looks at the images now: those that were not seen before are new.
    fn detect(&mut self, host: &Host, now: Timestamp) {
        let names: Vec<Json> = host.images.iter().map(|image| image.get("names").clone()).collect();
        self.late.retain(|(own, _)| names.contains(own));
        self.seen.retain(|own| names.contains(own));
        for own in names {
            if !self.seen.contains(&own) {
                self.late.push((own.clone(), now));
                self.seen.push(own);
            }
        }
    }

    fn age(&self, image: &Json, now: Timestamp) -> SignedDuration {
        let first = self.late.iter().find(|(own, _)| own == image.get("names"));
        first.map_or(SignedDuration::MAX, |(_, at)| now.duration_since(*at))
    }
}

/// Tells whether a container uses an image, or it is that of the sandboxes, which the runtime pins.
fn is_in_use(image: &Json, used: &[Text]) -> bool {
    image.get("names").items().iter().filter_map(Json::as_text).any(|name| {
        let is_pause = name.rsplit('/').next().is_some_and(|last| last.split([':', '@']).next() == Some("pause"));
        is_pause || used.iter().any(|own| own == name || full_name(own) == full_name(name))
    })
}

impl Kubelet {
    /// Reports the first collection of a process, which comes before the figures of the disk.
    ///
    /// Source: pkg/kubelet/images/image_gc_manager.go (v1.34), `GarbageCollect`; recordings of kubelet 1.34.4,
    /// `allocatable`.
    pub(super) fn tell_unknown_disk(&mut self, context: &mut KubeletContext<'_>) {
        if self.config.image_gc.is_on() {
            let message = String::from("invalid capacity 0 on image filesystem");
            self.node_event(EventType::Warning, "InvalidDiskCapacity", message, None, context);
        }
    }

    /// Removes unused images until so many bytes are free; returns how many it has freed.
    pub(super) fn remove_unused_images(&mut self, wanted: i64, context: &mut KubeletContext<'_>) -> i64 {
        let now = context.now;
        self.images.detect(context.host, now);
        let used: Vec<Text> = context.host.runtime.images().cloned().collect();
        let mut freed = 0;
        let mut kept = Vec::new();
        let mut removed = Vec::new();
        for image in core::mem::take(&mut context.host.images) {
            let is_young = self.images.age(&image, now) < self.config.image_gc.least_age;
            if freed >= wanted || is_young || is_in_use(&image, &used) {
                kept.push(image);
                continue;
            }
            freed += image.get("sizeBytes").as_i64().unwrap_or_default();
            removed.push(image);
        }
        context.host.images = kept;
        if removed.is_empty() {
            return 0;
        }
        let names = removed.iter().map(|image| {
            let name = image.get("names").items().first().and_then(Json::as_str);
            Because::Fact(format!("image {} is in no container", name.unwrap_or("without a name")))
        });
        context.outbox.decide(self.about_node(), format!("{} unused images removed", removed.len()), names.collect());
        self.await_image_list(context);
        freed
    }

    /// Reads the list of images again when that is due.
    fn await_image_list(&mut self, context: &KubeletContext<'_>) {
        if self.upkeep.at(Upkeep::ImageList).is_none() {
            self.set_upkeep(Upkeep::ImageList, next_of(self.started, CACHE_PERIOD, context.now));
        }
    }

    /// Reads the list of images that the status shows.
    pub(super) fn read_image_list(&mut self, context: &KubeletContext<'_>) {
        self.images.shown.clone_from(&context.host.images);
        self.generation += 1;
    }

    /// Notes that images or the disk have changed.
    pub(super) fn note_images(&mut self, context: &KubeletContext<'_>) {
        if self.images.shown != context.host.images {
            self.await_image_list(context);
        }
        // A policy of 100 % collects nothing. Source: pkg/kubelet/kubelet.go (v1.34), `StartGarbageCollection`.
        let is_due = self.config.image_gc.high < 100 && self.percent_used(context.host) >= self.config.image_gc.high;
        if is_due && self.upkeep.at(Upkeep::ImageGc).is_none() {
            self.set_upkeep(Upkeep::ImageGc, next_of(self.started, PERIOD, context.now));
        }
    }

    fn percent_used(&self, host: &Host) -> i64 {
        let disk = host.level(Resource::Disk);
        100 - i64::try_from(i128::from(disk.available()) * 100 / i128::from(disk.capacity.max(1))).unwrap_or_default()
    }

    /// Collects images, if the disk is nearly full: down to the lower threshold.
    pub(super) fn collect_images(&mut self, context: &mut KubeletContext<'_>) {
        if !context.host.is_runtime_answering() {
            self.set_upkeep(Upkeep::ImageGc, context.now + PERIOD);
            return;
        }
        let used = self.percent_used(context.host);
        let policy = self.config.image_gc;
        if used < policy.high {
            self.images.detect(context.host, context.now);
            self.images.has_failed = false;
            return;
        }
        let disk = context.host.level(Resource::Disk);
        let wanted = i128::from(disk.capacity) * i128::from(100 - policy.low) / 100 - i128::from(disk.available());
        let wanted = i64::try_from(wanted).unwrap_or(i64::MAX);
        let freed = self.remove_unused_images(wanted, context);
        if freed >= wanted {
            self.images.has_failed = false;
        } else {
            let why = self.collection_error(wanted, freed, used, disk.capacity);
            self.node_event(EventType::Warning, "FreeDiskSpaceFailed", why.clone(), None, context);
            // Only a failure after another one is told.
            if core::mem::replace(&mut self.images.has_failed, true) {
                self.node_event(EventType::Warning, "ImageGCFailed", why, None, context);
            }
        }
        self.set_upkeep(Upkeep::ImageGc, context.now + PERIOD);
        self.note_usage(context);
    }

    fn collection_error(&self, wanted: i64, freed: i64, used: i64, capacity: i64) -> String {
        let capacity = size(capacity);
        let text = self.settings.profile().text("image-collection-failed");
        let text = text.replace("{wanted}", &wanted.to_string()).replace("{freed}", &freed.to_string());
        text.replace("{used}", &used.to_string()).replace("{capacity}", &capacity)
    }
}

/// Prints a size. Source: pkg/kubelet/images/image_gc_manager.go (v1.35), `formatSize`.
#[expect(clippy::cast_precision_loss, reason = "one place behind the point is printed")]
fn size(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}
