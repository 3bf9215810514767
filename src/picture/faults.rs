//! From when to when something was broken on purpose, read from what a scenario does.
//!
//! What is broken before the first act is broken from the beginning, and what nobody mends to the end. The last step of
//! an act is done at its zero, and those before as much earlier as the steps in between wait.

use nodeproof_core::components::controller::ControllerAction;
use nodeproof_core::components::machine::MachineAction;
use nodeproof_core::network::{Effect, Endpoint, Fault};
use nodeproof_core::objects::time::seconds;
use nodeproof_core::scenario::{Act, Action, Scenario, ScenarioAction, Setup};

use super::timeline::FaultPeriod;

/// Something that is broken.
#[derive(Debug, Clone, PartialEq)]
struct Broken {
    /// Whose.
    whose: String,
    /// What.
    what: String,
    /// Whether it is a rule of the network.
    is_of_network: bool,
    /// For how long, if that was said.
    lasts: Option<f64>,
}

/// What an action does to what works.
enum Change {
    /// Something breaks.
    Breaks(Broken),
    /// What is said of somebody holds no longer.
    Mends(String, &'static str),
    /// All rules of a connection are gone.
    Heals(String),
}

impl Change {
    fn mends(&self, broken: &Broken) -> bool {
        match self {
            Self::Breaks(_) => false,
            // Power mends the rest of a machine as well.
            Self::Mends(whose, what) => {
                broken.whose == *whose && !broken.is_of_network && (broken.what == *what || *what == POWER)
            }
            Self::Heals(whose) => broken.whose == *whose && broken.is_of_network,
        }
    }
}

/// Returns the periods, in order of their beginning.
pub(super) fn of(scenario: &Scenario, zeros: &[f64], end: f64) -> Vec<FaultPeriod> {
    let given = scenario.given.iter().filter_map(|given| match &given.setup {
        Setup::Do(action) => Some((f64::NEG_INFINITY, action)),
        _ => None,
    });
    let done = scenario.acts.iter().zip(zeros).flat_map(|(act, zero)| timed(act, *zero));
    let mut open: Vec<(f64, Broken)> = Vec::new();
    let mut periods: Vec<(f64, f64, Broken)> = Vec::new();
    for (at, action) in given.chain(done) {
        let Some(change) = change(action) else { continue };
        let ended = open.extract_if(.., |(_, broken)| change.mends(broken));
        periods.extend(ended.map(|(from, broken)| (from, at, broken)));
        if let Change::Breaks(broken) = change
            && open.iter().all(|(from, other)| *other != broken || other.lasts.is_some_and(|lasts| from + lasts <= at))
        {
            open.push((at, broken));
        }
    }
    periods.extend(open.into_iter().map(|(from, broken)| (from, end, broken)));
    for (from, to, broken) in &mut periods {
        *to = broken.lasts.map_or(*to, |lasts| to.min(*from + lasts));
    }
    periods.retain(|(from, to, _)| to > from && *to > 0.0);
    periods.sort_by(|one, other| one.0.total_cmp(&other.0));
    together(periods)
}

/// Returns the actions of an act with their instants.
fn timed(act: &Act, zero: f64) -> Vec<(f64, &ScenarioAction)> {
    let mut at = zero;
    let mut timed: Vec<(f64, &ScenarioAction)> = Vec::new();
    for action in act.when.iter().flat_map(|when| &when.actions).rev() {
        match action {
            ScenarioAction::Pass(duration) => at -= duration.as_secs_f64(),
            other => timed.push((at, other)),
        }
    }
    timed.reverse();
    timed
}

/// Says what is the same of several, as the machines of a zone, once.
fn together(periods: Vec<(f64, f64, Broken)>) -> Vec<FaultPeriod> {
    const NAMES: usize = 3;
    let mut groups: Vec<(f64, f64, String, Vec<String>)> = Vec::new();
    for (from, to, Broken { whose, what, .. }) in periods {
        match groups.iter_mut().find(|own| own.0 == from && own.1 == to && own.2 == what) {
            Some(own) => own.3.push(whose),
            None => groups.push((from, to, what, vec![whose])),
        }
    }
    let period = |(from, to, what, names): (f64, f64, String, Vec<String>)| {
        let mut whose = names[..names.len().min(NAMES)].join(", ");
        if names.len() > NAMES {
            whose += &format!(" and {} more", names.len() - NAMES);
        }
        FaultPeriod { from, to, whose, what }
    };
    groups.into_iter().map(period).collect()
}

/// What is broken with a machine that has no power.
const POWER: &str = "no power";

/// Tells what an action breaks or mends.
fn change(action: &ScenarioAction) -> Option<Change> {
    let of = |whose: &str, what: &'static str, is_broken: bool| match is_broken {
        true => {
            let (whose, what) = (whose.to_owned(), what.to_owned());
            Change::Breaks(Broken { whose, what, is_of_network: false, lasts: None })
        }
        false => Change::Mends(whose.to_owned(), what),
    };
    let action = match action {
        ScenarioAction::Heal(endpoint) => return Some(Change::Heals(name_of(endpoint))),
        ScenarioAction::Feed { node, feed } => {
            use nodeproof_core::scenario::Feed::{Resume, Silence, SilenceLease, SilenceStatus};
            let is_silent = matches!(feed, Silence | SilenceLease | SilenceStatus);
            return (is_silent || matches!(feed, Resume)).then(|| of(node, "silent", is_silent));
        }
        ScenarioAction::Action(action) => action,
        _ => return None,
    };
    match &**action {
        Action::Machine { name, action } => {
            let (what, is_broken) = of_a_machine(action)?;
            Some(of(name, what, is_broken))
        }
        Action::Controller { name, action } => {
            let is_broken = matches!(action, ControllerAction::Stop);
            let changes = is_broken || matches!(action, ControllerAction::Start | ControllerAction::Restart);
            changes.then(|| of(name, "stopped", is_broken))
        }
        Action::AddRule(fault) => Some(Change::Breaks(Broken {
            whose: name_of(&fault.from),
            what: of_a_connection(fault),
            is_of_network: true,
            lasts: fault.lasts.map(|lasts| lasts.as_secs_f64()),
        })),
        _ => None,
    }
}

/// Names the end of a connection without what it is: `machine/w1` as `w1`.
fn name_of(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::Any => "all".to_owned(),
        Endpoint::Name(name) | Endpoint::Program { name, .. } => {
            name.split_once('/').map_or(name.as_str(), |(_, own)| own).to_owned()
        }
    }
}

fn of_a_connection(fault: &Fault) -> String {
    let what = match &fault.effect {
        Effect::Drop if fault.matching.is_some() => "requests are lost".to_owned(),
        Effect::Drop if fault.probability < 1.0 => format!("{:.0} % of messages are lost", fault.probability * 100.0),
        Effect::Drop => "no connection".to_owned(),
        Effect::Delay { delay, .. } => format!("{} late", seconds(*delay)),
        Effect::Refuse => "connections are refused".to_owned(),
        Effect::Answer(_) | Effect::Answers(_) => "answers are errors".to_owned(),
        Effect::HoldEvents => "watches are stale".to_owned(),
    };
    let to = match name_of(&fault.to) {
        api if api == "api" => String::new(),
        other => format!(" to {other}"),
    };
    let resource = fault.matching.as_ref().and_then(|of| of.resource.as_ref());
    let resource = resource.map_or_else(String::new, |name| format!(" ({name})"));
    let pause = if fault.on_and_off.is_some() { ", on and off" } else { "" };
    format!("network: {what}{to}{resource}{pause}")
}

const fn of_a_machine(action: &MachineAction) -> Option<(&'static str, bool)> {
    Some(match action {
        MachineAction::KubeletStop | MachineAction::KubeletKill => ("no kubelet", true),
        MachineAction::KubeletStart | MachineAction::KubeletRestart(_) => ("no kubelet", false),
        MachineAction::KubeletFreeze => ("kubelet frozen", true),
        MachineAction::KubeletThaw => ("kubelet frozen", false),
        MachineAction::Pause => ("frozen", true),
        MachineAction::Resume => ("frozen", false),
        MachineAction::PowerOff | MachineAction::Shutdown { .. } => (POWER, true),
        MachineAction::PowerOn { .. } | MachineAction::Reboot { .. } => (POWER, false),
        MachineAction::RuntimeStop | MachineAction::RuntimeFreeze => ("no container runtime", true),
        MachineAction::RuntimeStart | MachineAction::RuntimeThaw => ("no container runtime", false),
        MachineAction::NetworkDisconnect => ("no network", true),
        MachineAction::NetworkConnect(_) => ("no network", false),
        _ => return None,
    })
}
