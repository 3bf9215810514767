//! `nodeproof lint`: checks feature files without running them.

use std::process::ExitCode;

use super::misuse;

/// Options of `nodeproof lint`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Checks feature files without running them.
#[must_use]
pub fn run(_args: Args) -> ExitCode {
    misuse("`nodeproof lint` is not available in this build")
}
