//! Eviction thresholds: what a kubelet reads of them at its start, and its messages about wrong ones.
//!
//! Mirrors pkg/kubelet/eviction/helpers.go (v1.34), `ParseThresholdConfig`. Hard thresholds are read with what is
//! reserved, and all of them once more when the kubelet is made; of several wrong ones the first by name is told.
//! Inputs: the configuration. Outputs: what evictions follow (`EvictionConfig`), or the kubelet's message.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::decoder::Decoder;
use crate::json;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::time::{go_duration_error, parse_duration};
use crate::objects::{Json, Text};
use crate::profile::Profile;

/// The signals of eviction, those of memory first, which is reclaimed before all else.
/// Source: pkg/kubelet/eviction/helpers.go (v1.34), `signalToResource`.
const SIGNALS: [&str; 9] = [
    "memory.available",
    "allocatableMemory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "containerfs.available",
    "containerfs.inodesFree",
    "pid.available",
];
/// The place of `allocatableMemory.available` among them.
const ALLOCATABLE_MEMORY: usize = 1;

/// How much of a resource has to be left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Threshold {
    /// This much.
    Amount(Quantity),
    /// This share of the capacity, as a 32-bit number.
    Share(f32),
}

impl Threshold {
    /// Returns the amount, of so much in all.
    ///
    /// Source: pkg/kubelet/eviction/api/types.go (v1.34), `GetThresholdQuantity`: a 32-bit fraction, widened, and cut.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the rounding of the real code")]
    pub(super) fn quantity(self, capacity: i64) -> Quantity {
        match self {
            Self::Amount(amount) => amount,
            Self::Share(fraction) => Quantity::whole((capacity as f64 * f64::from(fraction)) as i64, Format::BinarySi),
        }
    }
}

/// A threshold of eviction: it is met while less than this is available.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EvictionThreshold {
    /// The place of its signal in the order of signals.
    pub(super) signal: usize,
    pub(super) value: Threshold,
    /// How long it has to be met before pods are evicted; zero for a hard one.
    pub(super) grace: SignedDuration,
    /// How much more has to be available before it counts as met no more.
    pub(super) minimum_reclaim: Option<Threshold>,
}

impl EvictionThreshold {
    pub(super) fn signal(&self) -> &'static str {
        SIGNALS[self.signal]
    }

    pub(super) fn is_hard(&self) -> bool {
        self.grace.is_zero()
    }
}

/// What evictions of a kubelet follow.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EvictionConfig {
    /// The thresholds, hard ones first, in the order of their signals.
    pub(super) thresholds: Vec<EvictionThreshold>,
    /// How long a condition is reported after it was last observed. Default 5 min.
    pub(super) transition: SignedDuration,
    /// The longest grace period of a pod that a soft threshold evicts, in seconds. Default 0.
    pub(super) max_pod_grace: i64,
    /// How often pods with volumes are looked for, and the shortest pause between two measures of one pod. Default
    /// 1 min; a negative one for never.
    pub(super) volume_measures: SignedDuration,
}

/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34), also for a period of zero.
const DEFAULT_TRANSITION: SignedDuration = SignedDuration::from_secs(300);

/// Source: as above, `volumeStatsAggPeriod`, also for zero.
const DEFAULT_VOLUME_MEASURES: SignedDuration = SignedDuration::from_secs(60);

/// Returns the hard thresholds of a configuration without any.
///
/// Source: pkg/kubelet/eviction/defaults_linux.go (v1.34), `DefaultEvictionHard`.
fn default_hard() -> Json {
    json!({"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%",
        "imagefs.available": "15%", "imagefs.inodesFree": "5%"})
}

/// Returns the hard thresholds that are in force.
///
/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go and cmd/kubelet/app/server.go (v1.34).
pub(super) fn hard_in_force(merged: &Json, profile: &Profile) -> Json {
    let given = merged.get("evictionHard");
    if given.is_null() {
        return default_hard();
    }
    let mut all = given.clone();
    let merges = merged.get("mergeDefaultEvictionSettings").as_bool() == Some(true);
    if merges && profile.is("default-thresholds-merge") {
        for (signal, value) in default_hard().fields().filter(|(signal, _)| given.get(signal).is_null()) {
            all.set(&[signal], value.clone());
        }
    }
    all
}

impl EvictionConfig {
    /// Reads what evictions follow; what is wrong has been refused by [`check`].
    ///
    /// The file system of containers is that of the node: its thresholds are those of `nodefs`, whatever was given.
    /// Source: pkg/kubelet/eviction/helpers.go (v1.34), `UpdateContainerFsThresholds`, `addAllocatableThresholds`.
    ///
    /// # Errors
    /// The message about a field of another type.
    pub(super) fn read(merged: &Json, profile: &Profile) -> Result<Self, String> {
        let read = Decoder(merged);
        let minimum = merged.get("evictionMinimumReclaim");
        let minimum_of = |signal: &str| {
            let text = minimum.get(signal);
            if text.is_null() { None } else { amount(&self::text(text)) }
        };
        let signals = || SIGNALS.iter().enumerate().filter(|(_, signal)| !signal.starts_with("containerfs."));
        let value = |of: &[(Text, Threshold)], signal: &str| {
            of.iter().find(|(own, _)| **own == *signal).map(|(_, value)| *value)
        };
        let (hard_ones, soft_ones) = (hard(&hard_in_force(merged, profile))?, hard(merged.get("evictionSoft"))?);
        let of_hard = |(at, signal): (usize, &&str)| {
            let (value, minimum_reclaim) = (value(&hard_ones, signal)?, minimum_of(signal));
            Some(EvictionThreshold { signal: at, value, grace: SignedDuration::ZERO, minimum_reclaim })
        };
        let of_soft = |(at, signal): (usize, &&str)| {
            let (value, minimum_reclaim) = (value(&soft_ones, signal)?, minimum_of(signal));
            let grace = parse_duration(&self::text(merged.at(&["evictionSoftGracePeriod", signal])));
            Some(EvictionThreshold { signal: at, value, grace: grace.unwrap_or_default(), minimum_reclaim })
        };
        let mut thresholds: Vec<EvictionThreshold> =
            signals().filter_map(of_hard).chain(signals().filter_map(of_soft)).collect();
        let enforced = merged.get("enforceNodeAllocatable");
        if enforced.is_null() || enforced.items().iter().any(|own| own.as_str() == Some("pods")) {
            let is_memory = |own: &&EvictionThreshold| own.signal() == "memory.available" && own.is_hard();
            if let Some(memory) = thresholds.iter().find(is_memory).copied() {
                let own = EvictionThreshold { signal: ALLOCATABLE_MEMORY, ..memory };
                thresholds.insert(1, own);
            }
        }
        let transition = read.duration("evictionPressureTransitionPeriod");
        let volumes = read.duration("volumeStatsAggPeriod");
        Ok(Self {
            thresholds,
            transition: transition.unwrap_or(DEFAULT_TRANSITION),
            volume_measures: volumes.unwrap_or(DEFAULT_VOLUME_MEASURES),
            max_pod_grace: read.int("evictionMaxPodGracePeriod").unwrap_or_default(),
        })
    }
}

/// Reads a minimum reclaim.
fn amount(text: &str) -> Option<Threshold> {
    if text.ends_with('%') {
        return percentage(text).ok().map(Threshold::Share);
    }
    Quantity::parse(text).map(Threshold::Amount)
}

/// Reads the hard thresholds, by signal; one of 0 % or 100 % is none.
///
/// # Errors
/// What is wrong with the first wrong one.
pub(super) fn hard(given: &Json) -> Result<Vec<(Text, Threshold)>, String> {
    let mut read = Vec::new();
    for (signal, value) in given.fields() {
        if let Some(threshold) = threshold(signal, &text(value))? {
            read.push((signal.clone(), threshold));
        }
    }
    Ok(read)
}

/// Checks all thresholds, their grace periods and their least reclaims.
///
/// # Errors
/// What is wrong with the first wrong one.
pub(super) fn check(merged: &Json) -> Result<(), String> {
    hard(merged.get("evictionHard"))?;
    let soft = hard(merged.get("evictionSoft"))?;
    let periods = merged.get("evictionSoftGracePeriod");
    for (signal, value) in periods.fields() {
        grace_period(signal, &text(value))?;
    }
    for (signal, value) in merged.get("evictionMinimumReclaim").fields() {
        minimum_reclaim(signal, &text(value))?;
    }
    match soft.iter().find(|(signal, _)| periods.get(signal).is_null()) {
        Some((signal, _)) => Err(format!("grace period must be specified for the soft eviction threshold {signal}")),
        None => Ok(()),
    }
}

fn threshold(signal: &str, text: &str) -> Result<Option<Threshold>, String> {
    known(signal)?;
    if text.ends_with('%') {
        if matches!(text, "0%" | "100%") {
            return Ok(None);
        }
        let fraction = percentage(text)?;
        if fraction < 0.0 {
            return Err(format!("eviction percentage threshold {signal} must be >= 0%: {text}"));
        }
        if fraction > 1.0 {
            return Err(format!("eviction percentage threshold {signal} must be <= 100%: {text}"));
        }
        return Ok(Some(Threshold::Share(fraction)));
    }
    let amount = Quantity::read(text)?;
    if amount.is_negative() || amount.is_zero() {
        return Err(format!("eviction threshold {signal} must be positive: {amount}"));
    }
    Ok(Some(Threshold::Amount(amount)))
}

fn grace_period(signal: &str, text: &str) -> Result<(), String> {
    known(signal)?;
    let period = parse_duration(text).ok_or_else(|| go_duration_error(text))?;
    if period.is_negative() {
        return Err(format!("invalid eviction grace period specified: {text}, must be a positive value"));
    }
    Ok(())
}

fn minimum_reclaim(signal: &str, text: &str) -> Result<(), String> {
    known(signal)?;
    if text.ends_with('%') {
        if percentage(text)? <= 0.0 {
            return Err(format!("eviction percentage minimum reclaim {signal} must be positive: {text}"));
        }
    } else if Quantity::read(text)?.is_negative() {
        return Err(format!("negative eviction minimum reclaim specified for {signal}"));
    }
    Ok(())
}

fn known(signal: &str) -> Result<(), String> {
    if SIGNALS.contains(&signal) { Ok(()) } else { Err(format!("unsupported eviction signal {signal}")) }
}

fn percentage(text: &str) -> Result<f32, String> {
    let number = text.trim_end_matches('%');
    let read = number.parse::<f32>();
    read.map(|percent| percent / 100.0).map_err(|_| format!("strconv.ParseFloat: parsing \"{number}\": invalid syntax"))
}

/// Returns a value as it was written.
pub(super) fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToString::to_string)
}
