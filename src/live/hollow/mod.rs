//! The hollow backend: hollow nodes on a real control plane.
//!
//! The control plane consists of the real programs. Scenarios that affect only their own Nodes share one, others get
//! one of their own; if a context was named, all share its cluster instead. Machines have the core's kubelets; hand-fed
//! Nodes need only the API server.

mod attached;
mod backend;
mod control_plane;
mod environment;
mod processes;

pub use attached::Attached;
pub use backend::Hollow;
pub use control_plane::{ControlPlane, Logging};
pub use processes::{DIRECTORY_PREFIX, PROCESSES_FILE};
