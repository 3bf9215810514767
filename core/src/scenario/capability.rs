//! The capabilities that scenarios need and backends have. Data.

use alloc::collections::BTreeSet;
use core::fmt;

/// Something that not every backend can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// To let hours pass without waiting for them.
    VirtualTime,
    /// To set flags of the control plane.
    ControlPlaneFlags,
    /// To set flags and configuration of a kubelet.
    KubeletFlags,
    /// To stop and start single controllers.
    Controllers,
    /// To make machines and do things to them: power, freeze, reboot.
    Machines,
    /// To make machines whose kubelets join with a bootstrap token.
    Bootstrap,
    /// To keep a Node alive without a kubelet.
    HandFedNodes,
    /// To stall the connection of a machine.
    Connections,
    /// To lose, delay or answer single requests.
    Requests,
    /// To have kubelets with servers, which the API server passes requests on to.
    KubeletServers,
    /// To call those servers from outside, and to open streams.
    Calls,
    /// To run commands of kubectl.
    Kubectl,
    /// To have a cloud and change it.
    Cloud,
    /// Steps of a user's own.
    Custom,
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VirtualTime => "virtual time",
            Self::ControlPlaneFlags => "flags of the control plane",
            Self::KubeletFlags => "flags of kubelets",
            Self::Controllers => "stopping controllers",
            Self::Machines => "machines",
            Self::Bootstrap => "kubelets that join with a bootstrap token",
            Self::HandFedNodes => "hand-fed Nodes",
            Self::Connections => "stalled connections",
            Self::Requests => "faults on single requests",
            Self::KubeletServers => "servers of kubelets",
            Self::Calls => "calls to servers of kubelets",
            Self::Kubectl => "commands of kubectl",
            Self::Cloud => "a cloud",
            Self::Custom => "steps of the user's own",
        })
    }
}

/// The capabilities that a scenario needs or a backend has.
pub type Capabilities = BTreeSet<Capability>;
