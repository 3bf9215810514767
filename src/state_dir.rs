//! The directory in which runs leave what later runs need: journals of changes, and which scenarios failed.

use std::path::{Path, PathBuf};

/// The environment variable that names the state directory.
pub const STATE_DIR: &str = "NODEPROOF_STATE_DIR";

/// Returns the directory of the state: as given, or `NODEPROOF_STATE_DIR`, or below `XDG_STATE_HOME` or the home
/// directory.
///
/// # Errors
/// None of them is set.
pub fn state_dir(given: Option<&Path>) -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given
        .map(Path::to_owned)
        .or_else(|| variable(STATE_DIR))
        .or_else(|| variable("XDG_STATE_HOME").map(|home| home.join("nodeproof")))
        .or_else(|| variable("HOME").map(|home| home.join(".local/state/nodeproof")))
        .ok_or_else(|| {
            format!("there is no place for the state of runs: HOME is not set; say --state-dir or {STATE_DIR}")
        })
}
