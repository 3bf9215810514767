//! The command line: one file for each subcommand, and what they share.
//!
//! Exit codes: 0 passed, 1 a scenario or comparison failed, 2 misuse (a wrong option or file), 130 a run in real time
//! was interrupted. Output for scripts goes to standard output; where a subcommand has both, output for people goes to
//! standard error.

mod behaviour;
pub mod bench;
#[cfg(feature = "live")]
pub mod clean;
pub mod compare;
pub mod control;
mod count;
#[cfg(feature = "live")]
pub mod ctl;
pub mod diff;
mod diff_words;
pub mod explain;
#[cfg(feature = "live")]
pub mod hollow;
mod last_run;
pub mod lint;
mod live;
pub mod mutate;
pub mod new;
mod outputs;
pub mod plan;
pub mod profiles;
mod profiles_diff;
mod progress;
#[cfg(feature = "live")]
mod read_only;
#[cfg(feature = "live")]
pub mod record;
pub mod replay;
pub mod run;
mod selection_args;
#[cfg(feature = "live")]
pub mod serve;
mod shell;
pub mod steps;
pub mod suite_args;
mod tally;
mod terminal;
pub mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Parser, Subcommand};
use jiff::SignedDuration;
use nodeproof_core::objects::time::parse_duration;

use crate::steps::Own;

/// The exit code of misuse: a wrong option, an unreadable file.
pub const MISUSE: u8 = 2;

/// Write down what a Kubernetes node must do, and prove it.
///
/// Scenarios are Gherkin text (features/); each runs on a simulated cluster with a virtual clock: hours take
/// milliseconds, and the same seed gives the same result to the microsecond.
#[derive(Debug, Parser)]
#[command(
    name = "nodeproof",
    version,
    max_term_width = 110,
    arg_required_else_help = true,
    after_help = "\
First steps:
  nodeproof run                        run all scenarios; it needs nothing beside itself
  nodeproof explain NC-03              what a requirement says, and which scenarios show it
  nodeproof steps taint                the sentences about taints, to write a scenario of your own
  nodeproof new DIR                    begin a suite of your own
  nodeproof lint my.feature            check what you wrote; `nodeproof run my.feature` judges it
  nodeproof <COMMAND> --help           options and examples of a command

Environment: NODEPROOF_SEED, NODEPROOF_K8S and NODEPROOF_TAGS stand in for --seed, --k8s and --tags of run and \
explain where those are not given, and are the way to set them under `cargo test`, where NODEPROOF_HTML stands for \
--html. NO_COLOR and CARGO_TERM_COLOR mean what they mean to cargo.

Exit code: 0 passed, 1 a scenario or comparison failed, 2 misuse: a wrong option, variable or file, a mistake in a \
scenario, a stored snapshot that nothing uses, or nothing was run; 130 interrupted."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scenarios and judge them
    Run(run::RunArgs),
    /// Check feature files without running them
    Lint(lint::LintArgs),
    /// Begin a suite of your own: a first feature, its snapshot, a test target
    New(new::NewArgs),
    /// Print the sentences that scenarios are made of
    Steps(steps::StepsArgs),
    /// Tell which scenarios show a requirement
    Explain(explain::ExplainArgs),
    /// Change scenarios so that they must fail, and tell which still pass
    Mutate(mutate::MutateArgs),
    /// Hold the simulator against a recording of a real cluster
    Replay(replay::ReplayArgs),
    /// Record what a real cluster does, without writing to it
    #[cfg(feature = "live")]
    Record(record::RecordArgs),
    /// Run scenarios on the simulator and on a real cluster, and tell where the two differ
    Compare(compare::CompareArgs),
    /// Tell what changed snapshots say of Nodes and Pods, in words
    Diff(diff::DiffArgs),
    /// Run again what a conformance report tells of, and compare
    Verify(verify::VerifyArgs),
    /// Tell what happens when a node dies, is drained, loses its network, release by release
    Behaviour(behaviour::BehaviourArgs),
    /// Ask when Pods leave lost or drained nodes, and when they come back
    Plan(plan::PlanArgs),
    /// Measure the simulator
    Bench(bench::BenchArgs),
    /// Print the behaviours that differ between Kubernetes releases, and the defaults
    Profiles(profiles::ProfilesArgs),
    /// Put right what runs on real clusters have left
    #[cfg(feature = "live")]
    Clean(clean::CleanArgs),
    /// Drive a simulated cluster by JSON lines on standard input and output
    Control(control::ControlArgs),
    /// Serve a simulated cluster over HTTPS, for kubectl and client-go
    #[cfg(feature = "live")]
    Serve(serve::ServeArgs),
    /// Make a control call to a cluster that `nodeproof serve` serves
    #[cfg(feature = "live")]
    Ctl(ctl::CtlArgs),
    /// Print the completions for a shell
    Completions(shell::CompletionsArgs),
    /// Print the manual page
    Man(shell::ManArgs),
    /// Keep hollow nodes alive on a real control plane: thousands of kubelets in one process
    #[cfg(feature = "live")]
    Hollow(hollow::HollowArgs),
}

/// Reads the command line and does what it says.
#[must_use]
pub fn main() -> ExitCode {
    main_with(&Own::new())
}

/// Does what [`main`] does, for another program: its own sentences, actions and looks are passed in.
#[must_use]
pub fn main_with(own: &Own) -> ExitCode {
    #[cfg(feature = "live")]
    if let Some(code) = crate::live::guard::stand_in() {
        return code;
    }
    match Cli::parse().command {
        Command::Run(args) => run::run(&args, own),
        Command::Lint(args) => lint::run(&args, own),
        Command::New(args) => new::run(&args),
        Command::Steps(args) => steps::run(&args),
        Command::Explain(args) => explain::run(&args, own),
        Command::Mutate(args) => mutate::run(&args, own),
        Command::Replay(args) => replay::run(args),
        #[cfg(feature = "live")]
        Command::Record(args) => record::run(&args),
        Command::Compare(args) => compare::run_with(&args, own),
        Command::Diff(args) => diff::run(&args),
        Command::Verify(args) => verify::run(&args, own),
        Command::Behaviour(args) => behaviour::run(&args, own),
        Command::Plan(args) => plan::run(&args),
        Command::Bench(args) => bench::run(args),
        Command::Profiles(args) => profiles::run(&args, own),
        #[cfg(feature = "live")]
        Command::Clean(args) => clean::run(&args),
        Command::Control(args) => control::run(args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        #[cfg(feature = "live")]
        Command::Serve(args) => serve::run(args),
        #[cfg(feature = "live")]
        Command::Ctl(args) => ctl::run(&args),
        #[cfg(feature = "live")]
        Command::Hollow(args) => hollow::run(&args),
    }
}

/// Reads a duration of an option.
fn duration(text: &str) -> Result<SignedDuration, String> {
    let read = parse_duration(text).filter(|span| !span.is_negative());
    read.ok_or_else(|| format!("a duration with a unit is needed, as 20m or 90s, not {text:?}"))
}

/// Reads the name of a file that is written: `-` would become a file of that name.
fn output_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("no file is named so: name one, or /dev/stdout"),
        false => Ok(path),
    })
}

/// Prints what is wrong with an option or a file, and returns the exit code of misuse.
pub fn misuse(message: impl std::fmt::Display) -> ExitCode {
    terminal::note(format_args!("error: {message}"));
    ExitCode::from(MISUSE)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// A paragraph is one line of text, which is wrapped to the width of the terminal: a line that ends before would be
    /// wrapped once more.
    #[test]
    fn help_texts_wrap_evenly() {
        let cli = Cli::command();
        for command in std::iter::once(&cli).chain(cli.get_subcommands()) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
                let is_broken = is_prose(pair[0]) && is_prose(pair[1]) && !pair[0].ends_with(':');
                assert!(!is_broken, "{}: a line breaks off in {pair:?}", command.get_name());
            }
        }
    }
}
