//! Garbage collection of images: those that nothing uses go when their file system is nearly full.
//!
//! Mirrors pkg/kubelet/images/image_gc_manager.go (v1.34). The list that the Node's status shows is read again each
//! half minute. Inputs: the images and the disk of the machine, time. Outputs: images removed, Events.
//! Invariant: as long as the disk is not nearly full and no image gets too old, no timer runs: what the looks each five
//! minutes would have seen is told once it is asked for.

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
    /// Images that were last used longer ago go, however much of the disk is free; zero for never.
    most_age: SignedDuration,
}

impl ImageGcPolicy {
    /// Reads the policy. Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34).
    pub(super) fn read(read: &Decoder<'_>) -> Self {
        Self {
            high: read.int("imageGCHighThresholdPercent").unwrap_or(HIGH),
            low: read.int("imageGCLowThresholdPercent").unwrap_or(LOW),
            least_age: read.duration("imageMinimumGCAge").unwrap_or(LEAST_AGE),
            most_age: read.duration("imageMaximumGCAge").unwrap_or_default(),
        }
    }

    /// Tells whether images are ever collected. Source: pkg/kubelet/kubelet.go (v1.34), `StartGarbageCollection`.
    pub(super) const fn is_on(self) -> bool {
        self.high != 100 || self.looks_at_age()
    }

    /// Tells whether images go that were not used for long.
    pub(super) const fn looks_at_age(self) -> bool {
        self.most_age.is_positive()
    }
}

/// What a kubelet knows of an image.
#[derive(Clone, Debug)]
struct ImageRecord {
    names: Json,
    /// Since when it is there.
    since: Timestamp,
    /// The look that saw it first.
    first: Option<Timestamp>,
    /// The last look that saw it in use.
    last_used: Option<Timestamp>,
    is_in_use: bool,
}

/// What a kubelet knows of the images.
#[derive(Clone, Debug, Default)]
pub(super) struct Images {
    /// The list as the status shows it.
    shown: Vec<Json>,
    records: Vec<ImageRecord>,
    has_failed: bool,
}

impl Images {
    pub(super) fn new(host: &Host) -> Self {
        Self { shown: host.images.clone(), ..Self::default() }
    }

    /// Returns the images that the status shows.
    pub(super) fn shown(&self) -> &[Json] {
        &self.shown
    }

    /// Takes down what the looks before this instant have seen, and what is there from now on.
    fn note(&mut self, host: &Host, started: Timestamp, now: Timestamp) {
        let seconds = now.duration_since(started).as_secs();
        let look = started + SignedDuration::from_secs(seconds - seconds % PERIOD.as_secs());
        for own in &mut self.records {
            own.see(started, look);
        }
        self.records.retain(|own| host.images.iter().any(|image| *image.get("names") == own.names));
        let used: Vec<Text> = host.runtime.images().cloned().collect();
        for image in &host.images {
            let names = image.get("names");
            let at = self.records.iter().position(|own| own.names == *names).unwrap_or_else(|| {
                let (first, last_used) = (None, None);
                self.records.push(ImageRecord { names: names.clone(), since: now, first, last_used, is_in_use: false });
                self.records.len() - 1
            });
            self.records[at].is_in_use = is_in_use(image, &used);
        }
    }

    /// Looks at the images now.
    fn detect(&mut self, host: &Host, started: Timestamp, now: Timestamp) {
        self.note(host, started, now);
        for own in &mut self.records {
            own.first.get_or_insert(now);
            if own.is_in_use {
                own.last_used = Some(now);
            }
        }
    }

    fn record(&self, image: &Json) -> Option<&ImageRecord> {
        self.records.iter().find(|own| own.names == *image.get("names"))
    }
}

impl ImageRecord {
    /// Takes down what the looks up to one of them have seen: each five minutes since the start.
    fn see(&mut self, started: Timestamp, look: Timestamp) {
        if look < self.since {
            return;
        }
        if self.first.is_none() {
            let past = self.since.duration_since(started).as_secs();
            let periods = past / PERIOD.as_secs() + i64::from(past % PERIOD.as_secs() != 0);
            self.first = Some(started + SignedDuration::from_secs(periods * PERIOD.as_secs()));
        }
        if self.is_in_use {
            self.last_used = self.last_used.max(Some(look));
        }
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
            self.part_event(EventType::Warning, "InvalidDiskCapacity", message, None, context);
        }
    }

    /// Notes that containers have started or ended, which use images.
    pub(super) fn note_used_images(&mut self, context: &KubeletContext<'_>) {
        if !context.host.images.is_empty() || !self.images.records.is_empty() {
            self.images.note(context.host, self.started, context.now);
        }
    }

    /// Removes unused images until so many bytes are free, those first that were used longest ago; returns how many it
    /// has freed.
    ///
    /// Source: pkg/kubelet/images/image_gc_manager.go (v1.34), `freeSpace`, `byLastUsedAndDetected`.
    pub(super) fn remove_unused_images(&mut self, wanted: i64, context: &mut KubeletContext<'_>) -> i64 {
        let now = context.now;
        let least = self.config.image_gc.least_age;
        let mut freed = 0;
        self.remove_images(context, |image, own| {
            let is_young = own.first.is_none_or(|at| now.duration_since(at) < least);
            let goes = freed < wanted && !is_young;
            freed += if goes { image.get("sizeBytes").as_i64().unwrap_or_default() } else { 0 };
            goes
        });
        freed
    }

    /// Removes images that nothing has used for too long, once the kubelet runs for as long.
    ///
    /// Source: as above, `freeOldImages`.
    fn remove_old_images(&mut self, context: &mut KubeletContext<'_>) {
        let (now, most) = (context.now, self.config.image_gc.most_age);
        if self.config.image_gc.looks_at_age() && now.duration_since(self.started) > most {
            self.remove_images(context, |_, own| own.last_used.is_none_or(|at| now.duration_since(at) > most));
        }
    }

    /// Removes those unused images of which it is told, asked in the order in which they were used.
    fn remove_images(&mut self, context: &mut KubeletContext<'_>, mut goes: impl FnMut(&Json, &ImageRecord) -> bool) {
        self.images.detect(context.host, self.started, context.now);
        let used: Vec<Text> = context.host.runtime.images().cloned().collect();
        let mut unused: Vec<(&Json, &ImageRecord)> = context
            .host
            .images
            .iter()
            .filter(|image| !is_in_use(image, &used))
            .filter_map(|image| Some((image, self.images.record(image)?)))
            .collect();
        unused.sort_by_key(|(_, own)| (own.last_used, own.first));
        unused.retain(|(image, own)| goes(image, own));
        let removed: Vec<Json> = unused.into_iter().map(|(image, _)| image.clone()).collect();
        if removed.is_empty() {
            return;
        }
        context.host.images.retain(|image| !removed.contains(image));
        let names = removed.iter().map(|image| {
            let name = image.get("names").items().first().and_then(Json::as_str);
            Because::Fact(format!("image {} is in no container", name.unwrap_or("without a name")))
        });
        context.outbox.decide(self.about_node(), format!("{} unused images removed", removed.len()), names.collect());
        self.await_image_list(context);
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
        let policy = self.config.image_gc;
        let is_full = policy.high < 100 && self.percent_used(context.host) >= policy.high;
        let may_be_old = policy.looks_at_age() && !context.host.images.is_empty();
        if (is_full || may_be_old) && self.upkeep.at(Upkeep::ImageGc).is_none() {
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
        self.remove_old_images(context);
        let used = self.percent_used(context.host);
        let policy = self.config.image_gc;
        if used < policy.high {
            self.images.detect(context.host, self.started, context.now);
            self.images.has_failed = false;
            self.note_images(context);
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
            self.part_event(EventType::Warning, "FreeDiskSpaceFailed", why.clone(), None, context);
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
