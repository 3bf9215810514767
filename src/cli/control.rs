//! `nodeproof control`: drives a simulated cluster by JSON lines.

use std::process::ExitCode;

use super::misuse;

/// Options of `nodeproof control`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Drives a simulated cluster by JSON lines.
#[must_use]
pub fn run(_args: Args) -> ExitCode {
    misuse("`nodeproof control` is not available in this build")
}
