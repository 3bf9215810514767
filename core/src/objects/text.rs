//! Strings that are cheap to clone, and free where Kubernetes' own vocabulary is meant.
//!
//! A cluster of 100,000 nodes repeats the same few hundred words; a word of the table below costs no allocation.
//! Left out on purpose: an interner for other strings, since that would be a global.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

/// An immutable string: a word that everybody knows, or a shared allocation.
#[derive(Clone)]
pub enum Text {
    /// A word of the program's own.
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
    pub fn as_str(&self) -> &str {
        match self {
            Self::Static(word) => word,
            Self::Shared(text) => text,
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::Static("")
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
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
        if word == text {
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
    fn eq(&self, other: &Self) -> bool {
        let (own, other) = (self.as_str(), other.as_str());
        core::ptr::eq(own, other) || own == other
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
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

/// The words that cost nothing, sorted by bytes.
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
    use super::{Text, WORDS};

    #[test]
    fn each_word_of_the_sorted_list_is_found_and_no_other() {
        assert!(WORDS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(WORDS.iter().all(|word| matches!(Text::from(*word), Text::Static(_))));
        assert!(matches!(Text::from("a word of nobody"), Text::Shared(_)));
        assert!(WORDS.len() * 4 <= super::PLACES);
    }

    #[test]
    fn a_known_word_is_static_and_equal_to_the_same_word_shared() {
        let known = Text::from("status");
        assert!(matches!(known, Text::Static(_)));
        assert_eq!(known, Text::Shared("status".into()));
    }
}
