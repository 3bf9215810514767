//! `nodeproof bench`: measures the simulator.

use std::process::ExitCode;

use super::misuse;

/// Options of `nodeproof bench`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Measures the simulator.
#[must_use]
pub fn run(_args: Args) -> ExitCode {
    misuse("`nodeproof bench` is not available in this build")
}
