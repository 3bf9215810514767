//! From feature files to verdicts that people and machines read: trials, snapshots, failure texts, reports.
//!
//! Two entry points lead here: `cargo test` ([`Tests`]) and `nodeproof run`. Both check all files,
//! choose among the scenarios, run each on its own simulated cluster and hold its snapshots against the stored ones.

mod conformance;
mod embedded;
mod histories;
mod options;
mod parallel;
mod planned;
mod play;
mod report;
mod runner;
mod scenario;
mod snapshots;
mod suite;
mod yaml;

pub use conformance::Tests;
pub use embedded::built_in_features;
pub use options::{EntryPoint, Seeds, Selection, SuiteOptions, parse_release, parse_seed};
pub use parallel::{PlannedRun, run_all};
pub use planned::Planned;
pub use report::{json_line, write_report};
pub use runner::{Backend, KindOptions, LiveOptions, Runner};
pub use scenario::{Judged, Verdict, keep_panics_quiet, run};
pub use snapshots::Store;
pub use suite::{Suite, SuitePaths};
