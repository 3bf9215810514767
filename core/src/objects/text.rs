//! Immutable strings that are cheap to clone; frequent words of Kubernetes cost no allocation.
//!
//! A cluster of 100,000 nodes repeats the same few hundred words, which are in the table below. Left out on purpose: an
//! interner for other strings, since that would be global state.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

/// An immutable string: a static word, or a shared allocation.
#[derive(Clone)]
pub enum Text {
    /// A word of the program itself.
    Static(&'static str),
    /// Any other string.
    Shared(Arc<str>),
}

impl Text {
    /// Makes a text of a word that the program itself spells.
    #[must_use]
    pub const fn of(word: &'static str) -> Self {
        Self::Static(word)
    }

    /// Returns the characters.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Static(word) => word,
            Self::Shared(text) => text,
        }
    }
}

/// Tells whether two strings are the same. Nearly all that are compared are short words, for which a call of `memcmp`
/// takes longer than the comparison.
#[must_use]
#[inline]
pub(crate) fn is_same(own: &str, other: &str) -> bool {
    let (own, other) = (own.as_bytes(), other.as_bytes());
    if own.len() != other.len() {
        return false;
    }
    if core::ptr::eq(own, other) {
        return true;
    }
    // The chunks overlap if the length is no multiple of eight.
    match (own.last_chunk::<8>(), other.last_chunk::<8>()) {
        (Some(own_end), Some(other_end)) => {
            let (own, other) = (own.as_chunks::<8>().0, other.as_chunks::<8>().0);
            own_end == other_end && own.iter().zip(other).all(|(own, other)| own == other)
        }
        _ => match (own.split_first_chunk::<4>(), other.split_first_chunk::<4>()) {
            (Some((own_start, _)), Some((other_start, _))) => {
                own_start == other_start && own.last_chunk::<4>() == other.last_chunk::<4>()
            }
            _ => own.iter().eq(other),
        },
    }
}

/// Orders two strings by their bytes, as [`str`]'s own order does; see [`is_same`].
#[must_use]
#[inline]
pub(crate) fn order(own: &str, other: &str) -> Ordering {
    let heads = head(own.as_bytes()).cmp(&head(other.as_bytes()));
    heads.then_with(|| if own.len().max(other.len()) < HEAD { own.len().cmp(&other.len()) } else { own.cmp(other) })
}

/// How many bytes are compared at once.
const HEAD: usize = 8;

/// Returns the first bytes as a number of the same order, zeros after the last.
#[inline]
fn head(bytes: &[u8]) -> u64 {
    if let Some(head) = bytes.first_chunk::<HEAD>() {
        return u64::from_be_bytes(*head);
    }
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(start), Some(end)) => {
            let (start, end) = (u64::from(u32::from_be_bytes(*start)), u64::from(u32::from_be_bytes(*end)));
            (start << 32) | ((end << ((HEAD - bytes.len()) * 8)) & u64::from(u32::MAX))
        }
        _ => bytes.iter().zip([56, 48, 40]).fold(0, |head, (byte, place)| head | (u64::from(*byte) << place)),
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::Static("")
    }
}

impl Deref for Text {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    #[inline]
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    #[inline]
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        word(text).map_or_else(|| Self::Shared(Arc::from(text)), Self::Static)
    }
}

/// Places of the table of words; a power of two, four times as many as there are words.
const PLACES: usize = 1024;

/// The words by [`place`], each number one more than its word's; zero is empty.
static TABLE: [u16; PLACES] = {
    let mut table = [0; PLACES];
    let mut at = 0;
    while at < WORDS.len() {
        let mut free = place(WORDS[at]);
        while table[free] != 0 {
            free = (free + 1) % PLACES;
        }
        at += 1;
        table[free] = at as u16;
    }
    table
};

/// Returns where the search for a word begins: four of its bytes and its length, spread.
const fn place(text: &str) -> usize {
    let bytes = text.as_bytes();
    let count = bytes.len();
    if count == 0 {
        return 0;
    }
    let ends = (bytes[0] as u32) | (bytes[count / 2] as u32) << 8 | (bytes[count - 1] as u32) << 16;
    let all = (ends ^ (bytes[count / 3] as u32) << 12).wrapping_add((count as u32) << 24);
    (all.wrapping_mul(0x9e37_79b1) >> 22) as usize % PLACES
}

/// Finds a word of the table.
fn word(text: &str) -> Option<&'static str> {
    let mut at = place(text);
    while TABLE[at] != 0 {
        let word = WORDS[usize::from(TABLE[at]) - 1];
        if is_same(word, text) {
            return Some(word);
        }
        at = (at + 1) % PLACES;
    }
    None
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        Self::from(text.as_ref())
    }
}

impl From<&Text> for Text {
    fn from(text: &Text) -> Self {
        text.clone()
    }
}

impl PartialEq for Text {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        is_same(self, other)
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        is_same(self, other)
    }
}

impl PartialEq<&str> for Text {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        is_same(self, other)
    }
}

impl PartialEq<String> for Text {
    #[inline]
    fn eq(&self, other: &String) -> bool {
        is_same(self, other)
    }
}

impl PartialOrd for Text {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        order(self, other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl serde::Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(deserializer)?))
    }
}

/// The words without allocation, sorted by bytes.
static WORDS: &[&str] = &[
    "",
    "0",
    "110",
    "DiskPressure",
    "Equal",
    "Exists",
    "False",
    "Hostname",
    "InternalIP",
    "KubeletHasNoDiskPressure",
    "KubeletHasSufficientMemory",
    "KubeletHasSufficientPID",
    "KubeletReady",
    "Lease",
    "MemoryPressure",
    "NetworkUnavailable",
    "NoExecute",
    "NoSchedule",
    "Node",
    "NodeStatusUnknown",
    "PIDPressure",
    "Pod",
    "Port",
    "Ready",
    "Running",
    "True",
    "Unknown",
    "address",
    "addresses",
    "allocatable",
    "amd64",
    "annotations",
    "apiVersion",
    "architecture",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "bootID",
    "capacity",
    "conditions",
    "containerRuntimeVersion",
    "containers",
    "coordination.k8s.io/v1",
    "cpu",
    "creationTimestamp",
    "daemonEndpoints",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "effect",
    "ephemeral-storage",
    "features",
    "holderIdentity",
    "images",
    "kernelVersion",
    "key",
    "kind",
    "kube-node-lease",
    "kubeProxyVersion",
    "kubelet",
    "kubelet has no disk pressure",
    "kubelet has sufficient PID available",
    "kubelet has sufficient memory available",
    "kubelet is posting ready status",
    "kubeletEndpoint",
    "kubeletVersion",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "labels",
    "lastHeartbeatTime",
    "lastTransitionTime",
    "leaseDurationSeconds",
    "leases",
    "linux",
    "machineID",
    "managedFields",
    "manager",
    "memory",
    "message",
    "metadata",
    "name",
    "namespace",
    "node.alpha.kubernetes.io/ttl",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "nodeInfo",
    "nodeName",
    "nodes",
    "operatingSystem",
    "operation",
    "operator",
    "osImage",
    "ownerReferences",
    "phase",
    "pods",
    "reason",
    "renewTime",
    "resourceVersion",
    "runtimeHandlers",
    "spec",
    "status",
    "systemUUID",
    "taints",
    "timeAdded",
    "tolerationSeconds",
    "tolerations",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "true",
    "type",
    "uid",
    "unschedulable",
    "v1",
    "value",
    "volumes.kubernetes.io/controller-managed-attach-detach",
];

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::{Text, WORDS, is_same, order};

    #[test]
    fn each_word_of_the_sorted_list_is_found_and_no_other() {
        assert!(WORDS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(WORDS.iter().all(|word| matches!(Text::from(*word), Text::Static(_))));
        assert!(matches!(Text::from("a word of nobody"), Text::Shared(_)));
        assert!(WORDS.len() * 4 <= super::PLACES);
    }

    #[test]
    fn words_are_compared_as_their_bytes_are() {
        let letters = ["", "a", "b", "\0", "\u{e9}"];
        let ends: Vec<String> =
            letters.iter().flat_map(|one| letters.iter().map(move |other| format!("{one}{other}"))).collect();
        let words: Vec<String> =
            (0..18).flat_map(|count| ends.iter().map(move |end| format!("{}{end}", "a".repeat(count)))).collect();
        for own in &words {
            for other in &words {
                assert_eq!(is_same(own, other), own == other, "{own:?} {other:?}");
                assert_eq!(order(own, other), own.as_bytes().cmp(other.as_bytes()), "{own:?} {other:?}");
            }
        }
    }

    #[test]
    fn a_known_word_is_static_and_equal_to_the_same_word_shared() {
        let known = Text::from("status");
        assert!(matches!(known, Text::Static(_)));
        assert_eq!(known, Text::Shared("status".into()));
    }
}
