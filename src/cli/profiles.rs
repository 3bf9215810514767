//! `nodeproof profiles`: prints what differs between releases, with sources, and the defaults of a simulation.

use std::fmt::Write as _;
use std::process::ExitCode;

use nodeproof_core::components::registry::processes;
use nodeproof_core::json;
use nodeproof_core::objects::Json;
use nodeproof_core::objects::time::to_micro_time;
use nodeproof_core::profile::{RELEASES, Release, Row, rows};
use nodeproof_core::sim::SimulationOptions;

use super::misuse;
use super::profiles_diff::Differences;
use crate::control::setup::shown;
use crate::harness::{Suite, SuitePaths};
use crate::steps::Own;

/// Options of `nodeproof profiles`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof profiles                   each behaviour, its value by release, its flag and its source
  nodeproof profiles --diff 1.31 1.34  what changes for somebody who upgrades
  nodeproof profiles --defaults        start, seed, release, controllers
  nodeproof profiles --json | jq '.[] | select(.name == \"node-monitor-grace-period\").byRelease'")]
pub struct ProfilesArgs {
    /// Print the defaults of a simulation: start, seed, release and the like
    #[arg(long)]
    defaults: bool,
    /// Print what differs between two releases, and the scenarios that hold only on one side
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], value_parser = release, conflicts_with = "defaults")]
    diff: Vec<Release>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the rows by release, or the defaults.
#[must_use]
pub fn run(args: &ProfilesArgs, own: &Own) -> ExitCode {
    if let [from, to] = args.diff.as_slice() {
        return match Differences::of(
            *from,
            *to,
            &Suite::load(&SuitePaths { own: own.clone(), ..SuitePaths::default() }),
        ) {
            Ok(found) if args.json => print(&format!("{}\n", found.json())),
            Ok(found) => print(&found.text()),
            Err(message) => misuse(message),
        };
    }
    let text = match (args.defaults, args.json) {
        (true, true) => {
            format!("{}\n", defaults().into_iter().map(|(name, value, _)| (name.into(), value)).collect::<Json>())
        }
        (true, false) => defaults_text(),
        (false, true) => format!("{}\n", rows().map(row_json).collect::<Json>()),
        (false, false) => rows_text(),
    };
    print(&text)
}

fn print(text: &str) -> ExitCode {
    super::terminal::text(text);
    ExitCode::SUCCESS
}

/// Reads a release that is offered, or an older one of which single behaviours are known.
fn release(text: &str) -> Result<Release, String> {
    Release::of_cluster(text).map_err(|error| error.to_string())
}

/// The defaults of a simulation: name, value, and what it means.
fn defaults() -> Vec<(&'static str, Json, &'static str)> {
    let options = SimulationOptions::default();
    vec![
        ("k8s", Json::from(options.settings.profile().release().to_string()), "release of Kubernetes (--k8s)"),
        ("start", Json::from(to_micro_time(options.start)), "instant at which the control plane starts (--start)"),
        ("seed", json!(options.seed), "seed of all free choices (--seed, NODEPROOF_SEED)"),
        (
            "controllers",
            processes().map(Json::from).collect(),
            "controllers, in the order in which they start with the control plane",
        ),
        (
            "bystander",
            json!("bystander"),
            "healthy Node in a zone of its own in every scenario that does not say \"no other Node\"; control and \
                replay start empty",
        ),
        ("latency", json!("0s"), "time that a message takes on a healthy connection"),
        ("kubeletPhase", json!("by name and seed"), "where in its periods a kubelet starts"),
        (
            "releases",
            RELEASES.iter().map(|release| Json::from(release.to_string())).collect(),
            "releases that are modelled; a minor release alone means this patch",
        ),
    ]
}

fn defaults_text() -> String {
    let mut text = String::new();
    for (name, value, says) in defaults() {
        let value = value.as_str().map_or_else(|| value.to_string(), ToString::to_string);
        let _ = writeln!(text, "{name}: {value}\n    {says}");
    }
    text
}

fn row_json(row: &Row) -> Json {
    let values: Json =
        row.values().iter().map(|(since, value)| json!({"since": since.to_string(), "value": shown(*value)})).collect();
    let mut json = json!({"name": row.name, "says": row.says, "source": row.sources()});
    json.set(&["values"], values);
    let by_release =
        RELEASES.iter().filter_map(|release| Some((release.to_string().into(), shown(row.value_at(*release)?))));
    json.set(&["byRelease"], by_release.collect::<Json>());
    if !row.flag.is_empty() {
        json.set(&["flag"], row.flag);
    }
    json
}

fn rows_text() -> String {
    let mut text = String::new();
    for row in rows() {
        let values: Vec<String> = row
            .values()
            .iter()
            .enumerate()
            .map(|(at, (since, value))| {
                let value = match shown(*value) {
                    Json::Null => "gone".to_owned(),
                    value => value.as_str().map_or_else(|| value.to_string(), ToString::to_string),
                };
                if at == 0 { value } else { format!("{value} since {since}") }
            })
            .collect();
        let _ = writeln!(text, "{}: {}\n    {}", row.name, values.join(", "), row.says);
        if !row.flag.is_empty() {
            let _ = writeln!(text, "    flag {}", row.flag);
        }
        let _ = writeln!(text, "    source {}", row.sources());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{defaults_text, row_json, rows_text};
    use nodeproof_core::profile::{DEFAULT_RELEASE, list_releases, releases, row};

    #[test]
    fn readme_and_workflow_name_the_releases_that_are_modelled() {
        let listed =
            list_releases(|it| it.minor_name() + if it == DEFAULT_RELEASE { " (the default)" } else { "" }, "and");
        let readme = format!("- Releases: {listed}, as `nodeproof profiles` lists them.\n");
        assert!(include_str!("../../README.md").contains(&readme), "README.md lacks this line:\n{readme}");
        let offered = || releases::all().iter().filter_map(|data| Some((data.offered()?, data.node_image)));
        let hollow: Vec<String> = offered().map(|(release, _)| format!("{:?}", release.minor_name())).collect();
        let mut workflow = vec![format!("        k8s: [{}]\n", hollow.join(", "))];
        workflow.extend(
            offered().filter(|(_, image)| !image.is_empty()).map(|(release, image)| {
                format!("          - {{ k8s: {:?}, image: {image:?} }}\n", release.minor_name())
            }),
        );
        let live = include_str!("../../.github/workflows/live.yml");
        for line in &workflow {
            assert!(live.contains(line), ".github/workflows/live.yml lacks this line:\n{line}");
        }
        assert_eq!(live.matches("k8s: ").count(), workflow.len(), "live.yml names another release");
    }

    #[test]
    fn a_row_shows_its_value_in_each_release() {
        let json = row_json(row("node-monitor-grace-period").unwrap());
        assert_eq!(json.at(&["byRelease", "1.31.0"]).as_str(), Some("40s"));
        assert_eq!(json.at(&["byRelease", "1.36.3"]).as_str(), Some("50s"));
        assert!(rows_text().contains("node-monitor-grace-period: 40s, 50s since 1.32.0\n"));
        assert!(defaults_text().starts_with("k8s: 1.34.4\n"));
    }
}
