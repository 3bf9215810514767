//! `nodeproof run`: runs scenarios and judges them.

use std::process::ExitCode;

use super::misuse;

/// Options of `nodeproof run`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs scenarios and judges them.
#[must_use]
pub fn run(_args: Args) -> ExitCode {
    misuse("`nodeproof run` is not available in this build")
}
