//! `nodeproof clean`: repairs and removes what earlier runs have left on kind clusters, and on other clusters that were
//! allowed by name.
//!
//! Inputs: the journals of runs, and the containers and marks that Docker shows. Outputs: the repairs, or with
//! `--dry-run` only their list, on standard output. Invariant: what belongs to a run that goes on is not touched.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use super::misuse;
use super::terminal::{counted, line, note};
use crate::live::cleanup::clean::{Remnant, find, marks};
use crate::live::cleanup::docker::{Docker, DockerError};
use crate::live::cleanup::journal::{Left, read_all};
use crate::state_dir::state_dir;

/// Options of `nodeproof clean`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A run that ends, or is killed, puts right what it changed; this command is for what is left when its machine or \
Docker went down as well. What belongs to a run that goes on is left alone, and so is everything that neither a \
journal, nor the label nodeproof.dev/run, nor a mark on a node shows to be ours.

Examples:
  nodeproof clean --dry-run            show what would be done, and by which commands
  nodeproof clean

Exit code: 0 nothing is left, 1 something could not be removed, 2 misuse.")]
pub struct CleanArgs {
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Where the journals of runs are; default: NODEPROOF_STATE_DIR, or else nodeproof/ in the user's state directory
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

/// Repairs and removes what earlier runs have left.
#[must_use]
pub fn run(args: &CleanArgs) -> ExitCode {
    let directory = match state_dir(args.state_dir.as_deref()) {
        Ok(directory) => directory,
        Err(message) => return misuse(message),
    };
    let lefts = match read_all(&directory) {
        Ok(lefts) => lefts,
        Err(error) => return misuse(format!("{}: the journals cannot be read: {error}", directory.display())),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return misuse(error),
    };
    runtime.block_on(clean(args, &lefts))
}

async fn clean(args: &CleanArgs, lefts: &[Left]) -> ExitCode {
    for left in lefts.iter().filter(|left| left.is_running()) {
        let header = &left.header;
        note(format_args!("run {} on {} goes on (process {}): left alone", header.run, header.context, header.pid));
    }
    let found = async {
        let docker = Docker::connect().await?;
        let containers = docker.containers(None).await?;
        let marks = marks(&docker, &containers).await?;
        Ok::<_, DockerError>((docker, find(lefts, &containers, &marks)))
    };
    let (docker, remnants) = match found.await {
        Ok((docker, remnants)) => (Ok(docker), remnants),
        // Without Docker the journals alone are worked off: some of their changes do not need it.
        Err(error) => (Err(error.to_string()), find(lefts, &[], &[])),
    };
    let docker = docker.as_ref().map_err(String::as_str);
    if let (Err(why), true) = (docker, remnants.is_empty()) {
        line(format_args!("nothing to clean by the journals; containers were not looked at: {why}"));
        return ExitCode::SUCCESS;
    }
    if args.dry_run {
        remnants.iter().for_each(say);
        line(format_args!("{} would be removed", counted(remnants.len(), "remnant")));
        return ExitCode::SUCCESS;
    }
    for left in lefts.iter().filter(|left| !left.is_running() && !left.changes.is_empty()) {
        let (header, changes) = (&left.header, counted(left.changes.len(), "change"));
        note(format_args!("run {} on {} has left {changes}", header.run, header.context));
    }
    if let Err(why) = docker {
        note(format_args!("containers are not looked at: {why}"));
    }
    let mut failures = 0;
    for remnant in &remnants {
        match remnant.remove(docker, lefts).await {
            Ok(()) => line(format_args!("     Removed {} ({})", remnant.what, remnant.known_by)),
            Err(why) => {
                failures += 1;
                note(format_args!("error: {} ({}): {why}", remnant.what, remnant.known_by));
            }
        }
    }
    if failures > 0 {
        note(format_args!("{} could not be removed", counted(failures, "remnant")));
        return ExitCode::FAILURE;
    }
    for left in lefts.iter().filter(|left| !left.is_running()) {
        drop(fs::remove_file(&left.path));
    }
    line(if remnants.is_empty() {
        "nothing to clean".to_owned()
    } else {
        counted(remnants.len(), "remnant") + " removed"
    });
    ExitCode::SUCCESS
}

fn say(remnant: &Remnant) {
    line(format_args!("{} ({})", remnant.what, remnant.known_by));
    remnant.change.undo.iter().for_each(|op| line(format_args!("  {op}")));
}
