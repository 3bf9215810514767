//! The command `nodeproof`: hands over to the library at once.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A simulation makes and drops small trees of JSON all the time; the allocator of the system takes a fifth of it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    nodeproof::cli::main()
}
