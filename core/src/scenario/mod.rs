//! What a scenario is once its words are understood, and the machine that judges it.

mod action;
mod capability;
mod customs;
mod definition;
mod expectation;
mod feeder;
mod outcome;
mod run;
mod sentence;

pub use action::Action;
pub use capability::{Capabilities, Capability};
pub use customs::{company, route, taints_patch};
pub use definition::{Act, Cluster, Company, Deed, Feed, Given, HandFedNode, Position, Scenario, Setup, When};
pub use expectation::{
    Aspect, Bound, Cost, Every, Expectation, Fact, FieldTest, ObjectRef, OwnLook, Predicate, SnapshotKind, Subject,
    Taint,
};
pub use feeder::Feeder;
pub use outcome::{Histories, History, HistoryEntry, Mismatch, Outcome, Snapshot, StepVerdict, Verdict};
pub use run::{
    AnswerSeen, Change, DeedId, FaultEffect, Observation, OwnSeen, Run, RunOptions, RunOutput, Task, Writer,
};
