//! What `kubectl drain` is told: Nodes, and flags by name. Data.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::objects::time::parse_duration;
use crate::objects::{NOT_MODELLED, Text, nearest};

/// The flags that are on or off.
const SWITCHES: [&str; 4] = ["force", "ignore-daemonsets", "delete-emptydir-data", "disable-eviction"];
/// The flags with a value.
const VALUES: [&str; 6] =
    ["grace-period", "timeout", "pod-selector", "skip-wait-for-delete-timeout", "dry-run", "chunk-size"];
/// How many Pods a list holds. Source: pkg/cmd/util/helpers.go (v1.34), `DefaultChunkSize`.
const CHUNK: i64 = 500;

/// Whether anything is really done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// It is.
    #[default]
    None,
    /// Nothing is written.
    Client,
    /// The server is asked, and stores nothing.
    Server,
}

impl DryRun {
    /// Returns what stands behind each line of the output.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Client => " (dry run)",
            Self::Server => " (server dry run)",
        }
    }
}

/// `kubectl drain` with its Nodes and flags.
///
/// Source: kubectl pkg/cmd/drain/drain.go (v1.34), `NewCmdDrain`.
#[derive(Clone, Debug, PartialEq)]
pub struct DrainCommand {
    /// The Nodes, in their order.
    pub nodes: Vec<Text>,
    switches: BTreeSet<Text>,
    /// The grace period of each Pod in seconds; `None` for the Pod's own.
    pub(super) grace_period: Option<i64>,
    /// How long a Node may take; `None` for ever.
    pub(super) timeout: Option<SignedDuration>,
    /// The labels of the Pods that are meant; empty for all.
    pub(super) pod_selector: Text,
    /// A Pod that has been terminating for more seconds is not waited for; 0 for waiting.
    pub(super) skip_wait: i64,
    /// Whether anything is really done.
    pub(super) dry_run: DryRun,
    /// How many Pods a list holds; 0 for all.
    pub(super) chunk_size: i64,
}

impl DrainCommand {
    /// Drains Nodes without any flag.
    #[must_use]
    pub fn of(nodes: Vec<Text>) -> Self {
        Self {
            nodes,
            switches: BTreeSet::new(),
            grace_period: None,
            timeout: None,
            pod_selector: Text::of(""),
            skip_wait: 0,
            dry_run: DryRun::None,
            chunk_size: CHUNK,
        }
    }

    /// Sets a flag as the command line does.
    ///
    /// # Errors
    /// The flag is unknown or not modelled, or the value does not fit.
    pub fn set(&mut self, flag: &str, value: &str) -> Result<(), String> {
        let wrong = |wanted: &str| format!("--{flag} is {wanted}, not {value:?}");
        let number = || value.parse::<i64>().map_err(|_| wrong("a whole number"));
        match flag {
            switch if SWITCHES.contains(&switch) => match value {
                "true" | "" => drop(self.switches.insert(Text::from(switch))),
                "false" => drop(self.switches.remove(switch)),
                _ => return Err(wrong("true or false")),
            },
            "grace-period" => self.grace_period = Some(number()?).filter(|seconds| *seconds >= 0),
            "timeout" => {
                let read = parse_duration(value).ok_or_else(|| wrong("a duration, as 30s"))?;
                self.timeout = Some(read).filter(|time| !time.is_zero());
            }
            "pod-selector" => self.pod_selector = Text::from(value),
            "skip-wait-for-delete-timeout" => self.skip_wait = number()?,
            "chunk-size" => self.chunk_size = number()?,
            "dry-run" => {
                self.dry_run = match value {
                    "none" => DryRun::None,
                    "client" => DryRun::Client,
                    "server" => DryRun::Server,
                    _ => return Err(wrong("none, client or server")),
                }
            }
            "selector" => return Err(format!("--selector of kubectl drain{NOT_MODELLED}")),
            other => {
                let near = nearest(other, SWITCHES.into_iter().chain(VALUES));
                let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                return Err(format!("kubectl drain has no flag {other:?}{near}"));
            }
        }
        Ok(())
    }

    /// Returns the arguments with which kubectl does this: a flag that has its default is left out.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let flag = |name: &str, value: &dyn core::fmt::Display| format!("--{name}={value}");
        let mut arguments = Vec::from([String::from("drain")]);
        arguments.extend(self.nodes.iter().map(ToString::to_string));
        arguments.extend(self.switches.iter().map(|switch| format!("--{switch}")));
        arguments.extend(self.grace_period.map(|seconds| flag("grace-period", &seconds)));
        // Go reads seconds with fractions.
        arguments.extend(self.timeout.map(|time| format!("--timeout={}s", time.as_secs_f64())));
        if !self.pod_selector.is_empty() {
            arguments.push(flag("pod-selector", &self.pod_selector));
        }
        if self.skip_wait != 0 {
            arguments.push(flag("skip-wait-for-delete-timeout", &self.skip_wait));
        }
        match self.dry_run {
            DryRun::None => {}
            DryRun::Client => arguments.push(flag("dry-run", &"client")),
            DryRun::Server => arguments.push(flag("dry-run", &"server")),
        }
        if self.chunk_size != CHUNK {
            arguments.push(flag("chunk-size", &self.chunk_size));
        }
        arguments
    }

    /// Tells whether a switch is on.
    pub(super) fn is(&self, switch: &str) -> bool {
        self.switches.contains(switch)
    }

    /// Returns the parameter `limit` of a list.
    pub(super) fn limit(&self) -> Option<String> {
        (self.chunk_size > 0).then(|| self.chunk_size.to_string())
    }
}
