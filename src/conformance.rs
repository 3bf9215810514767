//! Root of the test target `conformance`: every scenario and every recording is a trial.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    nodeproof::harness::conformance::main(Path::new(env!("CARGO_MANIFEST_DIR")), nodeproof::replay::trials::trials)
}
