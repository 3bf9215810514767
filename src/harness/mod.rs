//! From feature files to verdicts that people and machines read: trials, snapshots, failure texts, reports.
//!
//! Two doors lead here: `cargo test` ([`Tests`]) and `nodeproof run`. Both check all files,
//! choose among the scenarios, run each on its own simulated cluster and hold its snapshots against the stored ones.

mod conformance;
mod embedded;
mod histories;
mod options;
mod parallel;
mod planned;
mod play;
mod report;
mod scenario;
mod snapshots;
mod stage;
mod suite;
mod yaml;

pub use conformance::Tests;
pub use embedded::built_in_features;
pub use options::{Door, Options, Seeds, Selection, parse_release, parse_seed};
pub use parallel::{Job, run_all};
pub use planned::Planned;
pub use report::{json_line, write_report};
pub use scenario::{Judged, Verdict, keep_panics_quiet, run};
pub use snapshots::Store;
pub use stage::{Backend, KindOptions, LiveOptions, Stage};
pub use suite::{Places, Suite};
