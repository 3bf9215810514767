//! `nodeproof verify`: runs again what a conformance report tells of, and compares.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser as _;
use serde_json::Value;

use super::outputs::SCHEMA;
use super::run::{self, RunArgs};
use super::terminal::{line, note};
use super::{MISUSE, misuse};
use crate::steps::Own;

/// Options of `nodeproof verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof run --conformance report.json
  nodeproof verify report.json            runs the same again; from the directory in which the report was made

Exit code: 0 the same holds, 1 something else holds, 2 the report cannot be read, or is of another version of the \
program or of other feature files.")]
pub struct VerifyArgs {
    /// The report
    file: PathBuf,
}

/// What `run` would be told.
#[derive(clap::Parser)]
struct Again {
    #[command(flatten)]
    run: RunArgs,
}

/// Runs again and compares.
#[must_use]
pub fn run(args: &VerifyArgs, own: &Own) -> ExitCode {
    match verify(args, own) {
        Ok(differences) if differences.is_empty() => {
            line(format_args!("{}: the same holds", args.file.display()));
            ExitCode::SUCCESS
        }
        Ok(differences) => {
            differences.iter().for_each(line);
            ExitCode::FAILURE
        }
        Err(message) => misuse(message),
    }
}

fn verify(args: &VerifyArgs, own: &Own) -> Result<Vec<String>, String> {
    let stored = read(&args.file)?;
    let version = stored["program"]["version"].as_str().unwrap_or_default();
    if version != env!("CARGO_PKG_VERSION") {
        return Err(format!(
            "the report is of nodeproof {version}, and this is {}: run that version",
            env!("CARGO_PKG_VERSION")
        ));
    }
    let directory = std::env::temp_dir().join(format!("nodeproof-verify-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let again = directory.join("report.json");
    let outcome = run_again(&stored, &again, own).and_then(|()| read(&again));
    drop(std::fs::remove_dir_all(&directory));
    let now = outcome?;
    if now["features"] != stored["features"] {
        return Err(format!(
            "the report is of other feature files: {} there, {} here",
            stored["features"].as_str().unwrap_or("none"),
            now["features"].as_str().unwrap_or("none"),
        ));
    }
    Ok(differences(&stored, &now))
}

fn read(path: &std::path::Path) -> Result<Value, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let report: Value = serde_json::from_str(&text).map_err(|error| format!("{shown}: this is no JSON: {error}"))?;
    match report["schema"].as_str() {
        Some(SCHEMA) => Ok(report),
        Some(other) => Err(format!("{shown}: it has the form {other:?}, and this program knows {SCHEMA:?}")),
        None => Err(format!("{shown}: it is no conformance report: it has no field \"schema\"")),
    }
}

fn run_again(stored: &Value, again: &std::path::Path, own: &Own) -> Result<(), String> {
    let run = &stored["run"];
    let text = |name: &str| run[name].as_str().map(str::to_owned);
    let backend = text("backend").unwrap_or_default();
    if backend != "sim" {
        return Err(format!("the report is of the backend {backend}; only runs on the simulator can be repeated"));
    }
    let mut words = vec!["run".to_owned(), "--conformance".to_owned(), again.display().to_string()];
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_owned(), value]);
        }
    };
    option("--k8s", text("k8s"));
    option("--seed", run["seed"].as_u64().map(|seed| seed.to_string()));
    option("--tags", text("tags"));
    for value in run["set"].as_array().into_iter().flatten() {
        option("--set", value.as_str().map(str::to_owned));
    }
    words.extend(run["paths"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    let again = Again::try_parse_from(words).map_err(|error| format!("the report cannot be repeated: {error}"))?;
    note("running again:");
    // Whatever fails fails in both reports, or is a difference.
    let code = run::run(&again.run, own);
    if code == ExitCode::from(MISUSE) { Err("the run could not be repeated".to_owned()) } else { Ok(()) }
}

/// Says which requirements have another result, and what else differs.
fn differences(stored: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let requirements = |report: &Value| -> std::collections::BTreeMap<String, Value> {
        let all = report["requirements"].as_array().into_iter().flatten();
        all.map(|own| (own["id"].as_str().unwrap_or_default().to_owned(), own.clone())).collect()
    };
    let (before, after) = (requirements(stored), requirements(now));
    for id in before.keys().chain(after.keys().filter(|id| !before.contains_key(*id))) {
        let told = |report: Option<&Value>| {
            report.map_or_else(
                || "not there".to_owned(),
                |own| format!("{} {}", own["result"].as_str().unwrap_or("?"), own["scenarios"]),
            )
        };
        let (one, other) = (before.get(id), after.get(id));
        if one != other {
            found.push(format!("{id}: {} in the report, {} now", told(one), told(other)));
        }
    }
    for field in ["scenarios", "profiles", "run", "program", "reproduce"] {
        if stored[field] != now[field] {
            found.push(format!("{field}: {} in the report, {} now", stored[field], now[field]));
        }
    }
    found
}
