//! Root of the test target `conformance`: every scenario and every recording is a trial.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A simulation makes and drops small trees of JSON all the time; the allocator of the system takes a fifth of it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    nodeproof::Tests::of(env!("CARGO_MANIFEST_DIR")).and(nodeproof::replay::trials::trials).main()
}
