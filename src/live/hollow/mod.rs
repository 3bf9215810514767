//! Hollow nodes on a real control plane.
//!
//! The control plane is made of the real programs; scenarios that touch only their own Nodes share one, others get one
//! of their own. Nodes that scenarios feed by hand need nothing else; machines have the core's kubelets. Where a
//! context was named, all share its cluster instead.

mod attached;
mod backend;
mod control_plane;
mod environment;
mod processes;

pub use attached::Attached;
pub use backend::Hollow;
pub use control_plane::{ControlPlane, Logging};
pub use processes::{DIRECTORY_PREFIX, PROCESSES_FILE};
