//! `nodeproof steps`: prints the sentences that scenarios are made of.

use std::process::ExitCode;

use super::misuse;

/// Options of `nodeproof steps`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints the sentences that scenarios are made of.
#[must_use]
pub fn run(_args: Args) -> ExitCode {
    misuse("`nodeproof steps` is not available in this build")
}
