//! Eviction thresholds: what a kubelet reads of them at its start, and its messages about wrong ones.
//!
//! Mirrors pkg/kubelet/eviction/helpers.go (v1.34), `ParseThresholdConfig`. Hard thresholds are read with what is
//! reserved, and all of them once more when the kubelet is made; of several wrong ones the first by name is told.
//! Inputs: the configuration. Outputs: hard thresholds, or the kubelet's message.
//! Left out on purpose: evictions.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::decoder::go_duration_error;
use crate::objects::quantity::Quantity;
use crate::objects::time::parse_duration;
use crate::objects::{Json, Text};

/// The signals of eviction. Source: pkg/kubelet/eviction/helpers.go (v1.34), `signalToResource`.
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
/// Source: k8s.io/apimachinery/pkg/api/resource/quantity.go (v1.34), `ErrFormatWrong`.
const NO_QUANTITY: &str = "quantities must match the regular expression \
    '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// How much of a resource has to be left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Threshold {
    /// This much.
    Amount(Quantity),
    /// This share of the capacity, as a 32-bit number.
    Share(f32),
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
    let amount = Quantity::parse(text).ok_or(NO_QUANTITY)?;
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
    } else if Quantity::parse(text).ok_or(NO_QUANTITY)?.is_negative() {
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
