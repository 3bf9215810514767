//! Compiled scenarios as data, and the state machine that runs and judges them.
//!
//! Nothing here knows a backend: a driver performs the actions of a run and hands it what it observes.

mod action;
mod capability;
mod definition;
mod expectation;
mod grace;
mod heartbeat_writer;
mod history;
mod observation;
mod outcome;
mod pods;
mod position;
mod run;
mod sentence;
mod shared_requests;
mod words;

pub use action::Action;
pub use capability::{Capabilities, Capability};
pub use definition::{Act, Bystanders, ClusterSpec, Feed, Given, HandFedNode, Scenario, ScenarioAction, Setup, When};
pub use expectation::{
    Aspect, Bound, Cost, Every, Expectation, Fact, FieldTest, ObjectRef, OwnLook, Predicate, SnapshotKind, Subject,
    Taint,
};
pub use grace::{DEFAULT_GRACE_PERIOD, GraceLimits};
pub use heartbeat_writer::HeartbeatWriter;
pub use history::{DRAWN_NODES, Histories, History, HistoryEntry, ObjectVersions};
pub use observation::{
    ActionId, AnswerSeen, FaultEffect, ObjectChange, Observation, OwnSeen, RunOutput, Task, Unmodelled, WatchedEvent,
    Writer,
};
pub use outcome::{Mismatch, Missed, Outcome, Snapshot, StepVerdict, Verdict};
pub use pods::{PodPlace, PodsBy};
pub use position::Position;
pub use run::{LOOP_PERIOD, Run, RunOptions};
pub use shared_requests::{bystanders, taints_patch};
