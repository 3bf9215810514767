//! From when to when something was broken on purpose, read from what a scenario does.
//!
//! What is broken before the first act is broken from the beginning, and what nobody mends to the end.

use nodeproof_core::components::controller::ControllerAction;
use nodeproof_core::components::machine::MachineAction;
use nodeproof_core::scenario::{Action, Scenario, ScenarioAction, Setup};

/// Whose what is broken: the same is mended.
type Broken = (String, &'static str);

/// Returns the periods, in order of their beginning.
pub(super) fn of(scenario: &Scenario, zeros: &[f64], end: f64) -> Vec<(f64, f64, String)> {
    let given = scenario.given.iter().filter_map(|given| match &given.setup {
        Setup::Do(action) => Some((f64::NEG_INFINITY, action)),
        _ => None,
    });
    let acts = scenario.acts.iter().zip(zeros);
    let done =
        acts.flat_map(|(act, zero)| act.when.iter().flat_map(|when| &when.actions).map(|action| (*zero, action)));
    let mut open: Vec<(f64, Broken)> = Vec::new();
    let mut periods = Vec::new();
    for (at, action) in given.chain(done) {
        match change(action) {
            Some((broken, true)) if open.iter().all(|(_, other)| *other != broken) => open.push((at, broken)),
            Some((mended, false)) => {
                let is_mended =
                    |(_, broken): &(f64, Broken)| broken.0 == mended.0 && (broken.1 == mended.1 || mended.1 == POWER);
                for (from, broken) in open.extract_if(.., |one| is_mended(one)) {
                    periods.push((from, at, words(&broken)));
                }
            }
            _ => {}
        }
    }
    periods.extend(open.into_iter().map(|(from, broken)| (from, end, words(&broken))));
    periods.retain(|(from, to, _)| to > from && *to > 0.0);
    periods.sort_by(|one, other| one.0.total_cmp(&other.0));
    periods
}

/// What is broken with a machine that has no power; power mends the rest of it as well.
const POWER: &str = "has no power";

fn words((whose, what): &Broken) -> String {
    format!("{whose} {what}")
}

/// Tells what an action breaks (true) or mends.
fn change(action: &ScenarioAction) -> Option<(Broken, bool)> {
    let action = match action {
        ScenarioAction::Heal(endpoint) => {
            return Some(((format!("the connection of {endpoint:?}"), "is broken"), false));
        }
        ScenarioAction::Feed { node, feed } => {
            use nodeproof_core::scenario::Feed::{Resume, Silence, SilenceLease, SilenceStatus};
            let is_silent = matches!(feed, Silence | SilenceLease | SilenceStatus);
            let changes = is_silent || matches!(feed, Resume);
            return changes.then(|| ((node.to_string(), "is silent"), is_silent));
        }
        ScenarioAction::Action(action) => action,
        _ => return None,
    };
    match &**action {
        Action::Machine { name, action } => {
            let (what, is_broken) = of_a_machine(action)?;
            Some(((name.to_string(), what), is_broken))
        }
        Action::Controller { name, action } => {
            let is_broken = matches!(action, ControllerAction::Stop);
            let changes = is_broken || matches!(action, ControllerAction::Start | ControllerAction::Restart);
            changes.then(|| ((name.to_string(), "does not run"), is_broken))
        }
        _ => None,
    }
}

const fn of_a_machine(action: &MachineAction) -> Option<(&'static str, bool)> {
    Some(match action {
        MachineAction::KubeletStop | MachineAction::KubeletKill => ("has no kubelet", true),
        MachineAction::KubeletStart | MachineAction::KubeletRestart(_) => ("has no kubelet", false),
        MachineAction::KubeletFreeze => ("has a frozen kubelet", true),
        MachineAction::KubeletThaw => ("has a frozen kubelet", false),
        MachineAction::Pause => ("is frozen", true),
        MachineAction::Resume => ("is frozen", false),
        MachineAction::PowerOff | MachineAction::Shutdown { .. } => (POWER, true),
        MachineAction::PowerOn { .. } | MachineAction::Reboot { .. } => (POWER, false),
        MachineAction::RuntimeStop | MachineAction::RuntimeFreeze => ("has no container runtime", true),
        MachineAction::RuntimeStart | MachineAction::RuntimeThaw => ("has no container runtime", false),
        MachineAction::NetworkDisconnect => ("has no network", true),
        MachineAction::NetworkConnect(_) => ("has no network", false),
        _ => return None,
    })
}
