//! `nodeproof completions` and `nodeproof man`: what a shell and `man` want to know of the command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::terminal::{note, text};
use super::{Cli, misuse};

/// Options of `nodeproof completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof completions bash > ~/.local/share/bash-completion/completions/nodeproof
  nodeproof completions zsh > ~/.zfunc/_nodeproof
  nodeproof completions fish > ~/.config/fish/completions/nodeproof.fish")]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Options of `nodeproof man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof man | man -l -
  nodeproof man --write /usr/local/share/man/man1     a page for each command as well")]
pub(super) struct ManArgs {
    /// Write a page for the program and one for each command into this directory
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// Prints the completions for a shell.
pub(super) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut written = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "nodeproof", &mut written);
    text(&String::from_utf8_lossy(&written));
    ExitCode::SUCCESS
}

/// Prints the manual page, or writes all of them.
pub(super) fn man(args: &ManArgs) -> ExitCode {
    let command = Cli::command();
    let Some(directory) = &args.write else {
        let mut written = Vec::new();
        return match clap_mangen::Man::new(command).render(&mut written) {
            Ok(()) => {
                text(&String::from_utf8_lossy(&written));
                ExitCode::SUCCESS
            }
            Err(error) => misuse(error),
        };
    };
    let written = std::fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(command, directory));
    match written {
        Ok(()) => {
            note(format_args!("manual pages written below {}", directory.display()));
            ExitCode::SUCCESS
        }
        Err(error) => misuse(format!("{}: it cannot be written: {error}", directory.display())),
    }
}
