//! The checks of the levels of Pod security, in the order in which they are told.
//!
//! Mirrors k8s.io/pod-security-admission policy/{checks,registry,helpers,visitor}.go (v1.37): those of the level
//! baseline first, each list sorted by its names. Inputs: a level, a version, and a Pod. Outputs: what is forbidden.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::policy::Level;
use super::{baseline, restricted};
use crate::objects::Json;

/// A Pod, or the template of Pods.
pub(super) struct PodParts<'a> {
    pub(super) annotations: &'a Json,
    pub(super) spec: &'a Json,
}

/// Why a Pod is forbidden, and what exactly it has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Violation {
    pub(super) reason: String,
    pub(super) detail: String,
}

impl Violation {
    pub(super) fn new(reason: &str, detail: String) -> Self {
        Self { reason: reason.to_string(), detail }
    }
}

type PodCheck = fn(&PodParts<'_>) -> Option<Violation>;

/// A check, whose form depends on the version.
pub(super) struct SecurityCheck {
    pub(super) id: &'static str,
    /// The forms, each with the minor release since which it holds, oldest first.
    pub(super) forms: &'static [(u64, PodCheck)],
    /// The check of the level baseline in whose place it stands.
    pub(super) replaces: &'static str,
}

impl SecurityCheck {
    fn form(&self, version: u64) -> Option<PodCheck> {
        self.forms.iter().rev().find(|(since, _)| *since <= version).map(|(_, form)| *form)
    }
}

/// Says what of a Pod a level forbids.
pub(super) fn violations(level: Level, version: u64, pod: &PodParts<'_>) -> Vec<Violation> {
    let own = |checks: &'static [SecurityCheck]| {
        checks.iter().filter_map(move |check| check.form(version).map(|form| (check, form))).collect::<Vec<_>>()
    };
    let strict = if level == Level::Restricted { own(restricted::CHECKS) } else { Vec::new() };
    let base = if level == Level::Privileged { Vec::new() } else { own(baseline::CHECKS) };
    let is_replaced = |check: &SecurityCheck| strict.iter().any(|(other, _)| other.replaces == check.id);
    let base = base.iter().filter(|(check, _)| !is_replaced(check));
    base.chain(&strict).filter_map(|(_, form)| form(pod)).collect()
}

/// Returns the containers in the order in which they are visited.
pub(super) fn containers<'a>(pod: &PodParts<'a>) -> impl Iterator<Item = &'a Json> + use<'a> {
    let spec = pod.spec;
    ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(move |list| spec.get(list).items())
}

/// Returns the names of the containers that something is true of.
pub(super) fn those<'a>(pod: &PodParts<'a>, mut is_meant: impl FnMut(&'a Json) -> bool) -> Vec<&'a str> {
    let own = containers(pod).filter(|container| is_meant(container));
    own.map(|container| container.get("name").as_str().unwrap_or("")).collect()
}

/// Names who sets something: the Pod itself, which has a security context too, and its containers.
pub(super) fn setters<'a>(pod: &PodParts<'a>, mut sets: impl FnMut(&'a Json) -> bool) -> Vec<String> {
    let mut all = Vec::new();
    if sets(pod.spec) {
        all.push("pod".to_string());
    }
    let names = those(pod, sets);
    if !names.is_empty() {
        all.push(named(&names));
    }
    all
}

/// Names containers, as `containers "a", "b"`.
pub(super) fn named(names: &[&str]) -> String {
    format!("{} {}", plural("container", names.len()), quoted(names))
}

pub(super) fn quoted<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("\"{}\"", item.as_ref())).collect();
    items.join(", ")
}

/// Quotes what a set holds, in its order.
pub(super) fn quoted_set(items: &BTreeSet<&str>) -> String {
    quoted(&items.iter().copied().collect::<Vec<&str>>())
}

pub(super) fn plural(word: &str, count: usize) -> String {
    if count == 1 { word.to_string() } else { format!("{word}s") }
}

/// Returns a field of the security context of a container or of a Pod.
pub(super) fn context<'a>(holder: &'a Json, field: &str) -> &'a Json {
    holder.at(&["securityContext", field])
}

/// Tells whether the Pod has users of its own, apart from those of the machine.
pub(super) fn has_own_users(pod: &PodParts<'_>) -> bool {
    pod.spec.get("hostUsers").as_bool() == Some(false)
}

/// Tells whether the type of a profile of seccomp is safe.
pub(super) fn is_safe_profile(profile: &Json) -> bool {
    matches!(profile.get("type").as_str(), Some("Localhost" | "RuntimeDefault"))
}
