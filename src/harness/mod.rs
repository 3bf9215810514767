//! From feature files to verdicts for people and for programs: trials, snapshots, failure texts, reports.
//!
//! Inputs: feature files, requirements, stored snapshots, options. Outputs: a verdict for each scenario, and report
//! files. There are two entry points, `cargo test` (`crate::Tests`) and `nodeproof run`. Both check all files, select
//! scenarios, run each on the simulator or on a live backend ([`Runner`]) and compare its snapshots with the stored
//! ones. Invariant: the files of a suite are not written, except snapshots where insta or `--accept` asks for it.

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

pub use embedded::built_in_features;
#[cfg(feature = "cli")]
pub(crate) use histories::is_history;
pub use options::{EntryPoint, RunSettings, Seeds, Selection, SuiteOptions, parse_release, parse_seed, release_name};
pub use parallel::{PlannedRun, each_in_order, run_all};
pub use planned::Planned;
pub use report::{decisions_text, histories_text, trace_text};
pub use runner::{Backend, KindOptions, LiveOptions, Runner, Threads};
pub use scenario::{Judged, Verdict, keep_panics_quiet, run};
pub use snapshots::Store;
pub use suite::{Broken, Suite, SuitePaths};
#[cfg(feature = "cli")]
pub(crate) use yaml::print as print_yaml;
