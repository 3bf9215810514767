//! `nodeproof lint`: checks feature files without running them.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::MISUSE;
use crate::harness::Suite;

/// Options of `nodeproof lint`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Feature files, or directories with all that is below them; default: features/, or else those built in
    paths: Vec<PathBuf>,
    /// Print one JSON object with the problems
    #[arg(long)]
    json: bool,
}

/// Checks feature files without running them: exit code 2 if anything is wrong.
#[must_use]
pub fn run(args: Args) -> ExitCode {
    let suite = Suite::load(&args.paths);
    let problems: Vec<_> = suite.problems().collect();
    let scenarios = suite.planned.len();
    let is_empty = problems.is_empty() && scenarios == 0;
    if args.json {
        println!("{}", json!({"scenarios": scenarios, "problems": problems}));
    } else {
        problems.iter().for_each(|problem| println!("{problem}\n"));
        let files = if suite.broken.is_empty() { String::new() } else { format!(" in {} files", suite.broken.len()) };
        println!("{scenarios} scenarios are fine, {} problems{files}", problems.len());
    }
    if is_empty {
        return super::misuse("there is no scenario to check");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(MISUSE) }
}
