//! The command `nodeproof`: calls the library's command line.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A simulation allocates and frees small JSON trees all the time; the system's allocator would take a fifth of the
/// time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    nodeproof::cli::main()
}
