//! The options of `run`, `lint` and `explain` that say where requirements, snapshots and fixtures are.

use std::path::PathBuf;

use crate::harness::SuitePaths;
use crate::load::Problem;
use crate::steps::Own;

/// Options for a suite of one's own.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Files of your own")]
pub struct SuiteArgs {
    /// The requirements that @req: may name; default: requirements.yaml beside the features, or else those built in
    #[arg(long, value_name = "FILE")]
    requirements: Option<PathBuf>,
    /// The directory of the snapshots; default: snapshots/ beside the features
    #[arg(long, value_name = "DIR")]
    snapshots: Option<PathBuf>,
    /// The directory of the files in `the objects in "FILE"`; default: fixtures/ beside the features
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,
}

impl SuiteArgs {
    /// Returns the problem that the directory of the snapshots is not there: one that was never made holds nothing, and
    /// a typo in its name would say that of every snapshot.
    pub(super) fn no_snapshots(&self) -> Option<Problem> {
        let missing = self.snapshots.as_ref().filter(|path| !path.exists())?;
        let problem = Problem::of_file(&missing.to_string_lossy(), "there is no such directory");
        Some(problem.help("--snapshots names the directory of the stored snapshots; --accept makes it"))
    }

    /// Returns where all files of a suite are.
    pub(super) fn suite_paths(&self, features: &[PathBuf], own: &Own) -> SuitePaths {
        SuitePaths {
            features: features.to_vec(),
            requirements: self.requirements.clone(),
            snapshots: self.snapshots.clone(),
            fixtures: self.fixtures.clone(),
            own: own.clone(),
            backend: crate::harness::Backend::Sim,
        }
    }
}
