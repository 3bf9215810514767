//! Root of the test target `conformance`: every scenario and every recording is a trial.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A simulation allocates and frees small JSON trees all the time; the system's allocator would take a fifth of the
/// time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    nodeproof::Tests::of(env!("CARGO_MANIFEST_DIR")).and(nodeproof::replay::trials::trials).main()
}
