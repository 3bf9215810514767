//! Texts that hold offsets, as `-12s -> +51s`, and uids: equal if all else is equal, and the offsets are near.

use std::sync::LazyLock;

use jiff::SignedDuration;
use nodeproof_core::objects::time::parse_duration;
use regex::Regex;

/// An offset, or how long ago something was active.
static OFFSET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:[+-]|\bactive )(?:\d+h)?(?:\d+m)?(?:\d+(?:\.\d+)?m?s)\b").expect("a constant pattern")
});

/// The uid of an object, as the message about a Pod has it.
static UID: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b").expect("a constant pattern"));

/// A certificate, which each cluster makes for itself.
static CERTIFICATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----").expect("a constant pattern")
});

/// Tells whether a change of an instant lies within the tolerance: a value that one run writes again in the same
/// second, another run writes in the next second.
pub(super) fn is_same_instant(text: &str, base: SignedDuration) -> bool {
    let instant = |text: &str| {
        let whole = OFFSET.find(text).filter(|found| found.len() == text.len());
        whole.and_then(|found| read_offset(found.as_str()))
    };
    let Some((before, after)) = text.split_once(" -> ") else { return false };
    instant(before).zip(instant(after)).is_some_and(|(before, after)| (after - before).abs() <= base)
}

/// Reads an offset, or the time since a kubelet says that its runtime was last active.
fn read_offset(text: &str) -> Option<SignedDuration> {
    parse_duration(text.trim_start_matches("active "))
}

/// Puts a mark in the place of each offset, of each uid and of each certificate.
pub(super) fn masked(text: &str) -> String {
    OFFSET.replace_all(&without_own_values(text), "…").into_owned()
}

/// Puts a mark in the place of what each cluster chooses for itself: uids and certificates.
fn without_own_values(text: &str) -> String {
    CERTIFICATE.replace_all(&UID.replace_all(text, "[uid]"), "[certificate]").into_owned()
}

/// Tells whether two texts are equal apart from offsets, and each pair of offsets is near. The offsets of the first
/// text count from a zero that is later by `shift`.
pub(super) fn same_text(
    one: &str,
    other: &str,
    shift: SignedDuration,
    near: impl Fn(SignedDuration, SignedDuration) -> bool,
) -> bool {
    let offsets = |text: &str| -> Vec<SignedDuration> {
        let text = without_own_values(text);
        OFFSET.find_iter(&text).filter_map(|found| read_offset(found.as_str())).collect()
    };
    if one == other {
        return true;
    }
    let (own, others) = (offsets(one), offsets(other));
    masked(one) == masked(other)
        && own.len() == others.len()
        && own.iter().zip(&others).all(|(one, other)| near(*one - shift, *other))
}
