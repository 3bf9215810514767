//! Root of the test target `conformance`: every scenario and every recording is a trial.

use std::process::ExitCode;

fn main() -> ExitCode {
    nodeproof::Tests::of(env!("CARGO_MANIFEST_DIR")).and(nodeproof::replay::trials::trials).main()
}
