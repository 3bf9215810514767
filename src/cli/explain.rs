//! `nodeproof explain`: prints which scenarios show a requirement, and with `--coverage` whether they hold.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use nodeproof_core::profile::Release;
use nodeproof_core::scenario::Position;
use serde_json::{Value, json};

use super::misuse;
use super::progress::Progress;
use super::suite_args::SuiteArgs;
use super::terminal::{line, note};
use crate::harness::{
    EntryPoint, Judged, PlannedRun, Selection, Suite, SuiteOptions, Threads, Verdict, each_in_order, keep_panics_quiet,
    parse_release, run_all,
};
use crate::load::Requirement;
use crate::mutation::{Audit, audit};
use crate::steps::Own;

/// Options of `nodeproof explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof explain NC-03              what it says, the scenarios that are tagged @req:NC-03, and which of their lines
                                       prove it: those that fail when an act or a component is left out
  nodeproof explain NC --coverage      runs the scenarios of all requirements NC-...
  nodeproof explain --coverage --json | jq '.covered, .total'

A requirement is covered if one of its scenarios passes. The requirements stand in features/requirements.yaml.

Exit code: 0 if it could be told, whether covered or not; 2 misuse.")]
pub struct ExplainArgs {
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
    /// The release of Kubernetes; default: NODEPROOF_K8S, or else for each scenario 1.34, or the newest that its
    /// tags allow
    #[arg(long, value_name = "RELEASE", value_parser = parse_release)]
    k8s: Option<Release>,
    #[command(flatten)]
    suite_args: SuiteArgs,
}

/// A scenario that shows a requirement, and what came of it.
struct Shown {
    name: String,
    k8s: String,
    judged: Option<(Verdict, String)>,
    proof: Vec<ProvingLine>,
}

/// A line that fails when something is left out.
#[derive(Clone)]
struct ProvingLine {
    position: Position,
    /// What is left out: `act 1`, `kube-scheduler`.
    without: Vec<String>,
}

/// Tells which scenarios show a requirement; exit code 0 if it could be told.
#[must_use]
pub fn run(args: &ExplainArgs, own: &Own) -> ExitCode {
    let mut from_environment = match SuiteOptions::from_environment() {
        Ok(options) => options,
        Err(message) => return misuse(message),
    };
    from_environment.selection = Selection::default();
    let suite = Suite::load(&args.suite_args.suite_paths(&args.features, own));
    for problem in suite.problems() {
        note(format_args!("error: {problem}\n"));
    }
    let wanted: Vec<&Requirement> = match wanted(&suite, args.requirement.as_deref()) {
        Ok(wanted) => wanted,
        Err(message) => return misuse(message),
    };
    let shown = shown(&suite, &wanted, args, &from_environment);
    let covered = wanted.iter().filter(|requirement| is_covered(&shown[&requirement.id])).count();
    if args.json {
        line(report(&wanted, &shown, covered, args));
        return ExitCode::SUCCESS;
    }
    for requirement in &wanted {
        print(requirement, &shown[&requirement.id]);
    }
    if args.coverage {
        line(format_args!("{covered} of {} requirements are shown by a scenario that passes", wanted.len()));
    } else {
        let named = wanted.iter().filter(|requirement| !shown[&requirement.id].is_empty()).count();
        line(format_args!("{named} of {} requirements have a scenario; --coverage runs them", wanted.len()));
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
        let help = suite.requirements.suggestion(name).map_or_else(String::new, |help| format!(": {help}"));
        return Err(format!("there is no requirement {name:?}{help}"));
    }
    Ok(found)
}

/// Finds the scenarios of each requirement and, where that is wanted, runs each of them once.
fn shown(
    suite: &Suite,
    wanted: &[&Requirement],
    args: &ExplainArgs,
    environment: &SuiteOptions,
) -> BTreeMap<String, Vec<Shown>> {
    let mut shown: BTreeMap<String, Vec<Shown>> =
        wanted.iter().map(|requirement| (requirement.id.clone(), Vec::new())).collect();
    let mut jobs = Vec::new();
    for planned in &suite.planned {
        if planned.tags().requirements.iter().any(|id| shown.contains_key(id)) {
            let own =
                if SuiteOptions::environment_names_release() { environment.release } else { planned.fitting_release() };
            let options = Arc::new(SuiteOptions { release: args.k8s.unwrap_or(own), ..environment.clone() });
            let skipped = planned.obstacle(&options);
            jobs.push(PlannedRun { planned, options, skipped });
        }
    }
    let mut note = |job: &PlannedRun<'_>, judged: Option<Judged>, proof: Vec<ProvingLine>| {
        let release = job.planned.release(&job.options);
        let k8s = release.minor_name();
        let judged = judged.map(|judged| (judged.verdict, judged.text));
        for id in &job.planned.tags().requirements {
            if let Some(lines) = shown.get_mut(id) {
                let (name, k8s) = (job.planned.name.clone(), k8s.clone());
                lines.push(Shown { name, k8s, judged: judged.clone(), proof: proof.clone() });
            }
        }
    };
    if !args.coverage && wanted.len() > 1 {
        jobs.iter().for_each(|job| note(job, None, Vec::new()));
        return shown;
    }
    keep_panics_quiet();
    let progress = Progress::new(jobs.len());
    let began = |job: &PlannedRun<'_>| progress.begin(&job.planned.name);
    if !args.coverage {
        let audited = |job: &PlannedRun<'_>| {
            began(job);
            let is_run = job.skipped.is_none();
            Some(if is_run { proof(&audit(job.planned, &job.options, suite)) } else { Vec::new() })
        };
        each_in_order(&jobs, None, audited, |job, proof| {
            progress.done(&job.planned.name, false);
            note(job, None, proof);
        });
        drop(progress);
        return shown;
    }
    run_all(&jobs, Threads::default(), suite, EntryPoint::Command, began, |job, judged| {
        progress.done(&job.planned.name, judged.verdict.is_failure());
        note(job, Some(judged), Vec::new());
        ControlFlow::Continue(())
    });
    drop(progress);
    shown
}

/// Returns the lines that fail in mutants without an act, a step or a component, in order, each with what was left out.
fn proof(audit: &Audit) -> Vec<ProvingLine> {
    let mut lines: BTreeMap<&Position, Vec<String>> = BTreeMap::new();
    for mutant in audit.mutants.iter().filter(|mutant| mutant.is_noticed) {
        if let Some(left_out) = mutant.mutation.left_out() {
            mutant.failed.iter().for_each(|line| lines.entry(line).or_default().push(left_out.clone()));
        }
    }
    let lines = lines.into_iter().map(|(position, without)| ProvingLine { position: position.clone(), without });
    lines.collect()
}

fn is_covered(lines: &[Shown]) -> bool {
    lines.iter().any(|line| matches!(line.judged, Some((Verdict::Passed, _))))
}

fn report(wanted: &[&Requirement], shown: &BTreeMap<String, Vec<Shown>>, covered: usize, args: &ExplainArgs) -> Value {
    let scenario = |line: &Shown| {
        let mut object = json!({"name": line.name, "backend": "sim", "k8s": line.k8s});
        if let Some((verdict, text)) = &line.judged {
            object["result"] = json!(verdict.word());
            if *verdict != Verdict::Passed {
                object["reason"] = json!(text);
            }
        }
        if !line.proof.is_empty() {
            let proving = |line: &ProvingLine| {
                let Position { file, line: number, text, .. } = &line.position;
                json!({"file": file.as_str(), "line": number, "text": text.as_str(), "failsWithout": line.without})
            };
            object["provenBy"] = line.proof.iter().map(proving).collect();
        }
        object
    };
    let requirement = |requirement: &&Requirement| {
        let scenarios: Vec<Value> = shown[&requirement.id].iter().map(scenario).collect();
        if args.coverage {
            json!({"id": requirement.id, "scenarios": scenarios})
        } else {
            let mut object = json!({"id": requirement.id, "says": requirement.says, "scenarios": scenarios});
            for (name, text) in [("versions", &requirement.versions), ("observe", &requirement.observe)] {
                if !text.is_empty() {
                    object[name] = json!(text);
                }
            }
            object
        }
    };
    let requirements: Vec<Value> = wanted.iter().map(requirement).collect();
    if args.coverage {
        json!({"covered": covered, "total": wanted.len(), "requirements": requirements})
    } else {
        json!({"total": wanted.len(), "requirements": requirements})
    }
}

fn print(requirement: &Requirement, scenarios: &[Shown]) {
    line(format_args!("{}  {}", requirement.id, requirement.says).to_string().trim_end());
    let fields = [("releases", &requirement.versions), ("seen by", &requirement.observe)];
    let fields: Vec<String> =
        fields.iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name}: {text}")).collect();
    if !fields.is_empty() {
        line(format_args!("    {}", fields.join("; ")));
    }
    for scenario in scenarios {
        match &scenario.judged {
            None => {
                line(format_args!("    {}", scenario.name));
                for proving in &scenario.proof {
                    let Position { line: number, text, .. } = &proving.position;
                    line(format_args!("    {number:>6}: {text}"));
                    line(format_args!("            fails without {}", proving.without.join(", ")));
                }
            }
            Some((verdict, _)) => {
                line(format_args!("    {:<12} {} (Kubernetes {})", verdict.word(), scenario.name, scenario.k8s));
            }
        }
    }
    if scenarios.is_empty() {
        line("    no scenario");
    }
    line("");
}
