//! `nodeproof explain`: tells which scenarios show a requirement, and whether they hold.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use nodeproof_core::profile::{RELEASES, Release};
use serde_json::{Value, json};

use super::misuse;
use crate::harness::{self, Door, Judged, Options, Planned, Suite, Verdict, keep_panics_quiet, parse_release};
use crate::load::Requirement;
use crate::load::near::nearest;

/// Options of `nodeproof explain`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The requirement, as NC-03, or the first letters of several, as NC; default: all
    requirement: Option<String>,
    /// Run the scenarios and count the requirements that one of them shows
    #[arg(long)]
    coverage: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Feature files, or directories with all that is below them
    #[arg(long, value_name = "PATH")]
    features: Vec<PathBuf>,
    /// The release of Kubernetes; default: for each scenario 1.34, or else the newest that its tags allow
    #[arg(long, value_name = "RELEASE", value_parser = parse_release)]
    k8s: Option<Release>,
}

/// A scenario that shows a requirement, and what came of it.
struct Shown {
    name: String,
    k8s: String,
    judged: Option<Judged>,
}

/// Tells which scenarios show a requirement; exit code 0 if it could be told.
#[must_use]
pub fn run(args: Args) -> ExitCode {
    let suite = Suite::load(&args.features);
    for problem in suite.problems() {
        eprintln!("error: {problem}\n");
    }
    let wanted: Vec<&Requirement> = match wanted(&suite, args.requirement.as_deref()) {
        Ok(wanted) => wanted,
        Err(message) => return misuse(message),
    };
    let shown = shown(&suite, &wanted, &args);
    let covered = wanted.iter().filter(|requirement| is_covered(&shown[&requirement.id])).count();
    if args.json {
        println!("{}", report(&wanted, &shown, covered, &args));
        return ExitCode::SUCCESS;
    }
    for requirement in &wanted {
        print(requirement, &shown[&requirement.id]);
    }
    if args.coverage {
        println!("{covered} of {} requirements are shown by a scenario that passes", wanted.len());
    } else {
        let named = wanted.iter().filter(|requirement| !shown[&requirement.id].is_empty()).count();
        println!("{named} of {} requirements have a scenario; --coverage runs them", wanted.len());
    }
    ExitCode::SUCCESS
}

fn wanted<'a>(suite: &'a Suite, name: Option<&str>) -> Result<Vec<&'a Requirement>, String> {
    let all: Vec<&Requirement> = suite.requirements.iter().collect();
    let Some(name) = name else { return Ok(all) };
    let exact = all.iter().find(|requirement| requirement.id.eq_ignore_ascii_case(name));
    if let Some(requirement) = exact {
        return Ok(vec![requirement]);
    }
    let family = format!("{}-", name.to_uppercase().trim_end_matches('-'));
    let found: Vec<&Requirement> =
        all.iter().copied().filter(|requirement| requirement.id.starts_with(&family)).collect();
    if found.is_empty() {
        let near = nearest(name, all.iter().map(|requirement| requirement.id.as_str()));
        let help = near.map_or_else(String::new, |near| format!(": did you mean {near}?"));
        return Err(format!("there is no requirement {name:?}{help}"));
    }
    Ok(found)
}

/// Finds the scenarios of each requirement and runs each of them once, where that is wanted.
fn shown(suite: &Suite, wanted: &[&Requirement], args: &Args) -> BTreeMap<String, Vec<Shown>> {
    keep_panics_quiet();
    let mut shown: BTreeMap<String, Vec<Shown>> =
        wanted.iter().map(|requirement| (requirement.id.clone(), Vec::new())).collect();
    for planned in &suite.planned {
        let ids: Vec<&String> = planned.tags().requirements.iter().filter(|id| shown.contains_key(*id)).collect();
        if ids.is_empty() {
            continue;
        }
        let options = Options { release: args.k8s.unwrap_or_else(|| fitting(planned)), ..Options::default() };
        let release = planned.release(&options);
        let k8s = format!("{}.{}", release.major, release.minor);
        let judge = || match planned.obstacle(&options) {
            Some(why) => Judged::skipped(why),
            None => harness::run(planned, &options, &suite.store, Door::Command),
        };
        for id in ids {
            let judged = args.coverage.then(judge);
            let line = Shown { name: planned.name.clone(), k8s: k8s.clone(), judged };
            if let Some(lines) = shown.get_mut(id) {
                lines.push(line);
            }
        }
    }
    shown
}

/// Returns the default release if a scenario is right for it, or else the newest for which it is.
fn fitting(planned: &Planned) -> Release {
    let default = Options::default().release;
    let fits = |release: &Release| planned.tags().other_release(*release).is_none();
    if fits(&default) { default } else { RELEASES.into_iter().rev().find(fits).unwrap_or(default) }
}

fn is_covered(lines: &[Shown]) -> bool {
    lines.iter().any(|line| line.judged.as_ref().is_some_and(|judged| judged.verdict == Verdict::Passed))
}

fn report(wanted: &[&Requirement], shown: &BTreeMap<String, Vec<Shown>>, covered: usize, args: &Args) -> Value {
    let scenario = |line: &Shown| {
        let mut object = json!({"name": line.name, "backend": "sim", "k8s": line.k8s});
        if let Some(judged) = &line.judged {
            object["result"] = json!(judged.verdict.word());
            if judged.verdict != Verdict::Passed {
                object["reason"] = json!(judged.text);
            }
        }
        object
    };
    let requirement = |requirement: &&Requirement| {
        let scenarios: Vec<Value> = shown[&requirement.id].iter().map(scenario).collect();
        if args.coverage {
            json!({"id": requirement.id, "scenarios": scenarios})
        } else {
            json!({
                "id": requirement.id, "versions": requirement.versions, "says": requirement.says,
                "observe": requirement.observe, "scenarios": scenarios,
            })
        }
    };
    let requirements: Vec<Value> = wanted.iter().map(requirement).collect();
    if args.coverage {
        json!({"covered": covered, "total": wanted.len(), "requirements": requirements})
    } else {
        json!({"total": wanted.len(), "requirements": requirements})
    }
}

fn print(requirement: &Requirement, lines: &[Shown]) {
    println!("{}  {}", requirement.id, requirement.says);
    println!("    releases: {}; seen by: {}", requirement.versions, requirement.observe);
    for line in lines {
        match &line.judged {
            None => println!("    {}", line.name),
            Some(judged) => println!("    {:<12} {} (Kubernetes {})", judged.verdict.word(), line.name, line.k8s),
        }
    }
    if lines.is_empty() {
        println!("    no scenario");
    }
    println!();
}
