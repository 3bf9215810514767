//! `nodeproof replay`: holds the simulator against recordings.

use std::process::ExitCode;

use super::misuse;

/// Options of `nodeproof replay`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Holds the simulator against recordings.
#[must_use]
pub fn run(_args: Args) -> ExitCode {
    misuse("`nodeproof replay` is not available in this build")
}
