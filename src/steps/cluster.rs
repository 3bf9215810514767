//! Sentences about the cluster as a whole: its release, the flags of its components, its controllers, time.

use cucumber::{given, when};
use gherkin::Step;
use nodeproof_core::components::api_server::Egress;
use nodeproof_core::components::api_server::plugins::Plugins;
use nodeproof_core::components::controller::ControllerAction;
use nodeproof_core::components::node_ipam;
use nodeproof_core::components::registry::{parts_of, processes};
use nodeproof_core::objects::Text;
use nodeproof_core::profile::{Release, Settings, SettingsError};
use nodeproof_core::scenario::{Action, Bystanders, ScenarioAction};

use super::draft::Draft;
use crate::load::near::nearest;

/// The whole scenario runs on this release, as `1.34`, whatever the run asks for. Of 1.4 to 1.30, what the oldest
/// offered release has is known, and what changed since in how Pods leave dead nodes.
#[given(regex = r#"^a cluster of Kubernetes "?(?P<release>[^"]*?)"?$"#)]
fn cluster_of_release(draft: &mut Draft, release: String) {
    if !draft.only_looks(false) {
        return;
    }
    match Release::of_cluster(&release) {
        Ok(known) => draft.scenario.cluster.release = Some(known),
        Err(error) => draft.problem(&release, error.to_string()),
    }
}

/// The programs of a cluster that have flags.
///
/// Source: the directories of cmd/ in kubernetes v1.34; kube-proxy is not modelled.
const PROGRAMS: [&str; 5] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "cloud-controller-manager", "kubelet"];

/// Flags of a component of the control plane, a row each: the flag and its value.
#[given(regex = r"^(?P<component>[a-z][a-z-]*) runs with:$")]
fn component_flags(draft: &mut Draft, component: String, step: &Step) {
    if !draft.only_looks(false) {
        return;
    }
    if !PROGRAMS.contains(&component.as_str()) {
        let help = match nearest(&component, PROGRAMS) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("the components are {}", PROGRAMS.join(", ")),
        };
        draft.problem_with(&component, format!("there is no component {component:?}"), vec![help]);
        return;
    }
    let release = draft.scenario.cluster.release.unwrap_or_else(|| draft.tags.fitting_release());
    let mut settings = Settings::of(release);
    let mut rows = Vec::new();
    for (row, flag, value) in draft.flag_rows(step) {
        let full = format!("{component}.{flag}");
        match settings.set(&full, &value) {
            Ok(()) => draft.scenario.cluster.flags.push((Text::from(full), Text::from(value))),
            Err(error) => {
                let message = error.to_string();
                let cell = usize::from(matches!(error, SettingsError::BadValue { .. }));
                let problem = |draft: &mut Draft| draft.problem_in_row(row, Some(cell), message.clone(), Vec::new());
                draft.problem_unless_not_modelled(&message, problem);
            }
        }
        rows.push((row, flag));
    }
    let fits = node_ipam::sets(&settings).map(drop).and_then(|()| Plugins::of(&settings).map(drop));
    let fits = fits.and_then(|()| Egress::of(&settings).map(drop));
    if let Err((flag, why)) = fits {
        let row = rows.iter().find(|(_, own)| own == flag).or(rows.first()).map_or(0, |(row, _)| *row);
        let problem = |draft: &mut Draft| draft.problem_in_row(row, Some(1), why.clone(), Vec::new());
        draft.problem_unless_not_modelled(&why, problem);
    }
}

/// The Node `bystander`, which every scenario has beside those that it names, is not there.
#[given(regex = r"^no other Node$")]
fn no_other_node(draft: &mut Draft) {
    draft.scenario.cluster.bystanders = Bystanders::Nobody;
}

/// Whatever Nodes there are, as on a cluster that is only looked at. Where the cluster is made for the scenario, as on
/// the simulator, it gets three ready Nodes, in two zones, and no `bystander`.
#[given(regex = r"^the cluster as it is$")]
fn cluster_as_it_is(draft: &mut Draft) {
    draft.scenario.cluster.bystanders = Bystanders::AsItIs;
}

/// Nobody does anything: the act is for looking.
#[when(regex = r"^nothing is done$")]
fn nothing_is_done(draft: &mut Draft) {
    draft.actions(Vec::new());
}

/// A controller, named as in `--controllers`, or all of those of a program by its name. What it knew is lost.
#[given(regex = r"^(?P<component>etcd|[a-z]+-[a-z-]+) (?P<what>stops|starts|restarts)$")]
#[when(regex = r"^(?P<component>etcd|[a-z]+-[a-z-]+) (?P<what>stops|starts|restarts)$")]
fn controller(draft: &mut Draft, component: String, what: String) {
    let action = match what.as_str() {
        "stops" => ControllerAction::Stop,
        "starts" => ControllerAction::Start,
        _ => ControllerAction::Restart,
    };
    let action =
        |name: &str| ScenarioAction::from(Action::Controller { name: Text::from(name), action: action.clone() });
    let of_program: Vec<_> = parts_of(&component).map(action).collect();
    if !of_program.is_empty() {
        draft.actions(of_program);
    } else if processes().any(|own| own == component) {
        draft.action(action(&component));
    } else {
        let (message, help) = match nearest(&component, processes()) {
            _ if ["kube-apiserver", "etcd"].contains(&component.as_str()) => (
                format!("{component} cannot be stopped: without it nothing can be observed"),
                "say who does not reach it: `kube-controller-manager loses its connection to the API server for 1m`, \
                 and so for each machine"
                    .to_owned(),
            ),
            near => {
                let known = || format!("the controllers are {}", processes().collect::<Vec<_>>().join(", "));
                let help = near.map_or_else(known, |near| format!("did you mean {near}?"));
                (format!("there is no controller {component:?}"), help)
            }
        };
        draft.problem_with(&component, message, vec![help]);
    }
}

/// Time passes before the next step.
#[given(regex = r"^(?P<duration>\S+) pass(?:es)?$")]
#[when(regex = r"^(?P<duration>\S+) pass(?:es)?$")]
fn time_passes(draft: &mut Draft, duration: String) {
    let Some(length) = draft.duration(&duration) else { return };
    if length.is_zero() {
        draft.problem(&duration, format!("{duration} is no time that could pass"));
        return;
    }
    draft.action(ScenarioAction::Pass(length));
}

impl Draft {
    /// Returns the rows of the step's table: number, name and value. A first row `flag | value` is its heading.
    pub(super) fn flag_rows(&mut self, step: &Step) -> Vec<(usize, String, String)> {
        let Some(table) = &step.table else {
            let row = match step.value.split(' ').next() {
                Some("a" | "machine") => "| memory | 16Gi |",
                Some("whose") | Some("the") => "| nodeStatusUpdateFrequency | 5s |",
                _ => "| node-monitor-grace-period | 20s |",
            };
            let help = format!("a row for each name and its value stands below: {row}");
            self.problem_with("", "the table is missing".to_owned(), vec![help]);
            return Vec::new();
        };
        if table.row_width() != 2 {
            self.problem_in_row(0, None, "the table has two columns: a name and its value".to_owned(), Vec::new());
            return Vec::new();
        }
        let is_heading = |row: &[String]| {
            matches!(row[0].as_str(), "flag" | "field" | "name" | "what") && row[1].eq_ignore_ascii_case("value")
        };
        let mut rows: Vec<(usize, String, String)> = Vec::new();
        for (number, row) in table.rows.iter().enumerate() {
            if number == 0 && is_heading(row) {
                continue;
            }
            let name = row[0].trim_start_matches("--").to_owned();
            if rows.iter().any(|(_, other, _)| *other == name) {
                self.problem_in_row(number, Some(0), format!("{name:?} is there twice"), Vec::new());
                continue;
            }
            rows.push((number, name, row[1].clone()));
        }
        rows
    }
}
