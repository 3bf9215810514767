//! Everything that can be done to a cluster: one enum for steps, the control interface, recordings and backends. Data.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::components::cloud::CloudAction;
use crate::components::controller::ControllerAction;
use crate::components::drain::DrainCommand;
use crate::components::machine::{MachineAction, MachineSpec};
use crate::network::{Call, Fault, HttpCall, Identity, RuleId};
use crate::objects::{Json, ObjectKey, Text};

/// Something done to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A request to the API server.
    Api {
        /// The sender.
        identity: Arc<Identity>,
        /// The request.
        call: Call,
    },
    /// A request of a container of a Pod to the API server, with the Pod's token.
    FromPod {
        /// The Pod.
        pod: ObjectKey,
        /// The request.
        call: Call,
    },
    /// A request from outside to the server of a kubelet or of a Pod.
    Http(HttpCall),
    /// A machine appears, powered on unless its specification says otherwise.
    AddMachine(MachineSpec),
    /// Something happens to a machine or its kubelet.
    Machine {
        /// The machine's name.
        name: Text,
        /// What happens.
        action: MachineAction,
    },
    /// A rule is added to the network.
    AddRule(Fault),
    /// A rule is removed.
    RemoveRule(RuleId),
    /// A controller stops, starts or makes one round.
    Controller {
        /// Its name, as in `--controllers`.
        name: Text,
        /// What happens.
        action: ControllerAction,
    },
    /// `kubectl drain` is started; what it prints follows.
    Drain(DrainCommand),
    /// `kubectl describe node` of these Nodes.
    Describe(Vec<Text>),
    /// Something happens to the cloud.
    Cloud(CloudAction),
    /// An action that a user's own steps define.
    Custom {
        /// Its name.
        name: Text,
        /// Its parameters.
        body: Json,
    },
}

impl Action {
    /// Tells whether the action starts a command of kubectl.
    #[must_use]
    pub const fn is_command(&self) -> bool {
        matches!(self, Self::Drain(_) | Self::Describe(_))
    }

    /// Returns the arguments of kubectl, if the action is one of its commands.
    #[must_use]
    pub fn kubectl_arguments(&self) -> Option<Vec<String>> {
        match self {
            Self::Drain(command) => Some(command.arguments()),
            Self::Describe(nodes) => {
                let names = nodes.iter().map(ToString::to_string);
                Some(["describe", "node"].map(String::from).into_iter().chain(names).collect())
            }
            _ => None,
        }
    }
}
