//! The command `nodeproof`: hands over to the library at once.

use std::process::ExitCode;

fn main() -> ExitCode {
    nodeproof::cli::main()
}
