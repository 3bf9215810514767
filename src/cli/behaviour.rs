//! `nodeproof behaviour`: writes the pages that tell what happens when a node dies, is drained and so on.

use std::path::PathBuf;
use std::process::ExitCode;

use super::misuse;
use super::suite_args::SuiteArgs;
use super::terminal::{note, text};
use crate::behaviour::{BehaviourPage, RUNS, index, page, pages};
use crate::harness::{Suite, keep_panics_quiet};
use crate::steps::Own;

/// Options of `nodeproof behaviour`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof behaviour                             which pages there are
  nodeproof behaviour a-node-dies                 one of them, measured anew on each release
  nodeproof behaviour --write docs/behaviour      all of them, as files

Each instant on a page is measured: the scenarios that it names run on each release at many moments of the loops \
of kubelets and controllers.")]
pub(super) struct BehaviourArgs {
    /// The page; default: their names
    page: Option<String>,
    /// Write all pages into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    write: Option<PathBuf>,
    /// How often each scenario runs: fewer are quicker, and more find what is rare
    #[arg(long, value_name = "N", default_value_t = RUNS, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: u64,
    #[command(flatten)]
    suite_args: SuiteArgs,
}

/// Writes the pages.
#[must_use]
pub(super) fn run(args: &BehaviourArgs, own: &Own) -> ExitCode {
    match run_or_refuse(args, own) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => misuse(message),
    }
}

fn run_or_refuse(args: &BehaviourArgs, own: &Own) -> Result<(), String> {
    let all = pages();
    let suite = || {
        keep_panics_quiet();
        Suite::load(&args.suite_args.suite_paths(&[], own))
    };
    if let Some(name) = &args.page {
        let found = all.iter().find(|own| own.name == *name);
        let found = found.ok_or_else(|| format!("there is no page {name:?}: the pages are {}", names(&all)))?;
        text(&page(&suite(), found, args.runs)?);
        return Ok(());
    }
    let Some(directory) = &args.write else {
        all.iter().for_each(|own| text(&format!("{:<32} {}\n", own.name, own.title)));
        return Ok(());
    };
    let unwritable = |error: std::io::Error| format!("{}: it cannot be written: {error}", directory.display());
    std::fs::create_dir_all(directory).map_err(unwritable)?;
    let suite = suite();
    for own in &all {
        std::fs::write(directory.join(format!("{}.md", own.name)), page(&suite, own, args.runs)?)
            .map_err(unwritable)?;
    }
    std::fs::write(directory.join("README.md"), index(&all, args.runs)).map_err(unwritable)?;
    note(format_args!("{} pages written", all.len() + 1));
    Ok(())
}

fn names(pages: &[BehaviourPage]) -> String {
    pages.iter().map(|page| page.name.as_str()).collect::<Vec<_>>().join(", ")
}
