//! `nodeproof profiles`: prints what differs between releases.

use std::process::ExitCode;

use super::misuse;

/// Options of `nodeproof profiles`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints what differs between releases.
#[must_use]
pub fn run(_args: Args) -> ExitCode {
    misuse("`nodeproof profiles` is not available in this build")
}
