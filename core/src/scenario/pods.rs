//! Pods that a line finds without their names. Data.

use alloc::vec::Vec;
use core::fmt;

use crate::objects::Text;
use crate::objects::selector::Selector;

/// By what Pods are found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodsBy {
    /// The name of their owner: a Deployment's Pods are found through its ReplicaSets.
    Owner(Text),
    /// A selector of labels, as text and read.
    Labels(Text, Selector),
    /// All of the namespace.
    Namespace,
}

/// The Nodes on which Pods are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodPlace {
    /// Its name in texts: `Node "a"`.
    pub called: Text,
    /// The names of the Nodes.
    pub nodes: Vec<Text>,
}

impl fmt::Display for PodsBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(owner) => write!(f, " of {owner}"),
            Self::Labels(selector, _) => write!(f, " with label {selector}"),
            Self::Namespace => Ok(()),
        }
    }
}
