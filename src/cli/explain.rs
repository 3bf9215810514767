//! `nodeproof explain`: tells which scenarios show a requirement.

use std::process::ExitCode;

use super::misuse;

/// Options of `nodeproof explain`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Tells which scenarios show a requirement.
#[must_use]
pub fn run(_args: Args) -> ExitCode {
    misuse("`nodeproof explain` is not available in this build")
}
