//! Why something cannot be done to the simulated cluster. Data.

use alloc::vec::Vec;

use crate::components::machine::MachineError;
use crate::components::registry::processes;
use crate::objects::Text;

/// Why something cannot be done to the simulated cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// There is no machine of that name.
    #[error("there is no machine {0:?}")]
    NoMachine(Text),
    /// There is one already.
    #[error("there is a machine {0:?} already")]
    MachineExists(Text),
    /// There is no controller of that name.
    #[error("there is no controller {0:?}: there are {list}", list = processes().collect::<Vec<_>>().join(", "))]
    NoController(Text),
    /// The controller has no such loop, or does not run.
    #[error("controller {0:?} has no loop {1:?} that could run now")]
    NoLoop(Text, Text),
    /// There is no rule of that number.
    #[error("there is no rule {0}")]
    NoRule(u32),
    /// A Pod cannot be copied.
    #[error("Pod {0} cannot be copied: it does not run, or has a name of its own")]
    NoPattern(Text),
    /// The machine refuses.
    #[error(transparent)]
    Machine(#[from] MachineError),
}
