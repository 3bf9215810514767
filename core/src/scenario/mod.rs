//! What a scenario is once its words are understood, and the machine that judges it.

mod action;
mod capability;
mod customs;
mod definition;
mod expectation;
mod feeder;
mod history;
mod observation;
mod outcome;
mod position;
mod run;
mod sentence;
mod words;

pub use action::Action;
pub use capability::{Capabilities, Capability};
pub use customs::{company, route, taints_patch};
pub use definition::{Act, Cluster, Company, Deed, Feed, Given, HandFedNode, Scenario, Setup, When};
pub use expectation::{
    Aspect, Bound, Cost, Every, Expectation, Fact, FieldTest, ObjectRef, OwnLook, Predicate, SnapshotKind, Subject,
    Taint,
};
pub use feeder::Feeder;
pub use history::{Histories, History, HistoryEntry};
pub use observation::{AnswerSeen, Change, DeedId, FaultEffect, Observation, OwnSeen, RunOutput, Task, Writer};
pub use outcome::{Mismatch, Outcome, Snapshot, StepVerdict, Verdict};
pub use position::Position;
pub use run::{Run, RunOptions};
