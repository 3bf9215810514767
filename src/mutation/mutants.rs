//! The mutants of a scenario. Pure: a scenario in, changed scenarios out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::SignedDuration;
use nodeproof_core::components::RecordedDecision;
use nodeproof_core::components::controller::ControllerAction;
use nodeproof_core::components::machine::MachineAction;
use nodeproof_core::objects::Text;
use nodeproof_core::scenario::{
    Action, Bound, Expectation, Outcome, Position, Predicate, Scenario, ScenarioAction, Setup, When,
};

/// How much later than its end a moved bound begins.
const BEYOND: SignedDuration = SignedDuration::from_secs(1);

/// A component that took part in a scenario: what a line saw goes back to a decision of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A controller or the scheduler, by name.
    Controller(Text),
    /// The kubelet of a machine.
    Kubelet(Text),
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// The line must become true, and not be true before the act already.
    NotBefore(Position),
    /// Nothing of the act's `When` lines is done, except that time passes. The number counts from 1.
    WithoutAct(usize),
    /// One of several `When` lines of an act is not done.
    WithoutStep(Position),
    /// A component is stopped before the first `When`.
    Stopped(Part),
    /// The line says the opposite, or its bound begins after its end.
    Negated(Position),
}

/// A scenario that must fail, or for [`Mutation::NotBefore`] must pass.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What is changed.
    pub mutation: Mutation,
    /// The changed scenario.
    pub scenario: Scenario,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Controller(name) => write!(f, "{name}"),
            Self::Kubelet(machine) => write!(f, "kubelet/{machine}"),
        }
    }
}

impl Mutation {
    /// Returns the kind, as the list of known survivors names it.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::NotBefore(_) => "true before".to_owned(),
            Self::WithoutAct(act) => format!("without act {act}"),
            Self::WithoutStep(_) => "without step".to_owned(),
            Self::Stopped(part) => format!("without {part}"),
            Self::Negated(_) => "negated".to_owned(),
        }
    }

    /// Returns what is left out: an act, the text of a step, or a component; `None` if nothing is.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        match self {
            Self::WithoutAct(act) => Some(format!("act {act}")),
            Self::WithoutStep(line) => Some(format!("`{}`", line.text)),
            Self::Stopped(part) => Some(part.to_string()),
            Self::NotBefore(_) | Self::Negated(_) => None,
        }
    }

    /// Returns the line that it is about; `None` if it is about several or none.
    #[must_use]
    pub const fn line(&self) -> Option<&Position> {
        match self {
            Self::NotBefore(line) | Self::WithoutStep(line) | Self::Negated(line) => Some(line),
            Self::WithoutAct(_) | Self::Stopped(_) => None,
        }
    }
}

/// Returns the lines whose bound lets them be true before the act.
pub(super) fn may_hold_before(scenario: &Scenario) -> Vec<Position> {
    scenario.expectations().filter(|line| is_open_at_start(line)).map(|line| line.position.clone()).collect()
}

const fn is_open_at_start(line: &Expectation) -> bool {
    matches!(line.bound, Bound::Within(_) | Bound::Soon(_))
}

/// Makes the mutant in which these lines must become true.
pub(super) fn not_before(scenario: &Scenario, lines: &[Position]) -> Scenario {
    let mut changed = scenario.clone();
    for line in changed.acts.iter_mut().flat_map(|act| &mut act.expectations) {
        if let Bound::Within(limit) | Bound::Soon(limit) = line.bound
            && lines.contains(&line.position)
        {
            line.bound = Bound::Between(SignedDuration::ZERO, limit);
        }
    }
    changed
}

/// Makes the mutants in which something is not done: each act, and each line of an act with several.
pub(super) fn without_actions(scenario: &Scenario) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (number, act) in scenario.acts.iter().enumerate() {
        let doing: Vec<usize> = (0..act.when.len()).filter(|at| does_something(&act.when[*at])).collect();
        if doing.is_empty() {
            continue;
        }
        let without = |lines: &[usize]| {
            let mut changed = scenario.clone();
            for line in lines {
                changed.acts[number].when[*line].actions.retain(|action| !action.touches_the_cluster());
            }
            changed
        };
        mutants.push(Mutant { mutation: Mutation::WithoutAct(number + 1), scenario: without(&doing) });
        if doing.len() > 1 {
            mutants.extend(doing.iter().map(|line| Mutant {
                mutation: Mutation::WithoutStep(act.when[*line].position.clone()),
                scenario: without(&[*line]),
            }));
        }
    }
    mutants
}

fn does_something(when: &When) -> bool {
    when.actions.iter().any(ScenarioAction::touches_the_cluster)
}

/// Returns the components whose decisions since the first `When` are behind what the lines of a run saw.
pub(super) fn parts(scenario: &Scenario, outcome: &Outcome) -> BTreeSet<Part> {
    let Some(zero) = outcome.zeros.first() else { return BTreeSet::new() };
    let passed = scenario.acts.first().into_iter().flat_map(|act| &act.when).flat_map(|when| &when.actions);
    let passed = passed.filter_map(|action| match action {
        ScenarioAction::Pass(duration) => Some(*duration),
        _ => None,
    });
    let begin = *zero - passed.sum::<SignedDuration>();
    let decisions: BTreeMap<u32, &RecordedDecision> = outcome
        .decisions
        .iter()
        .filter(|decision| decision.at >= begin)
        .map(|decision| (decision.number, decision))
        .collect();
    let mut parts = BTreeSet::new();
    let mut open: Vec<u32> = outcome.steps.iter().filter_map(|step| step.because).collect();
    let mut seen = BTreeSet::new();
    while let Some(number) = open.pop() {
        let Some(decision) = decisions.get(&number).filter(|_| seen.insert(number)) else { continue };
        open.extend(&decision.because);
        parts.insert(match decision.component.strip_prefix("kubelet/") {
            Some(machine) => Part::Kubelet(Text::from(machine)),
            // A command of a user is left out with its act.
            None if decision.component.starts_with("user/") => continue,
            None => Part::Controller(decision.component.clone()),
        });
    }
    parts
}
/// Makes the mutant in which a component is stopped before the first `When`, or a kubelet as soon as it starts; `None`
/// if the scenario itself ends or starts it.
pub(super) fn stopped(scenario: &Scenario, part: &Part) -> Option<Mutant> {
    if scenario.actions().any(|action| starts_or_ends(action, part)) {
        return None;
    }
    let mut changed = scenario.clone();
    let action = match part {
        Part::Controller(name) => Action::Controller { name: name.clone(), action: ControllerAction::Stop },
        Part::Kubelet(machine) => Action::Machine { name: machine.clone(), action: MachineAction::KubeletKill },
    };
    let first = changed.acts.first_mut()?;
    let stop = ScenarioAction::from(action);
    let added = match part {
        Part::Kubelet(machine) if !is_given(scenario, machine) => first.when.iter_mut().find_map(|when| {
            let at = when.actions.iter().position(|action| adds(action, machine))?;
            Some((when, at + 1))
        }),
        _ => None,
    };
    match added {
        Some((when, at)) => when.actions.insert(at, stop),
        None => first.when.insert(0, When { actions: vec![stop], position: stop_line(scenario, part) }),
    }
    Some(Mutant { mutation: Mutation::Stopped(part.clone()), scenario: changed })
}

fn starts_or_ends(action: &ScenarioAction, part: &Part) -> bool {
    let ScenarioAction::Action(action) = action else { return false };
    match (&**action, part) {
        (Action::Controller { name, .. }, Part::Controller(own)) => name == own,
        (Action::Machine { name, action }, Part::Kubelet(own)) => {
            name == own
                && matches!(
                    action,
                    MachineAction::KubeletStop
                        | MachineAction::KubeletKill
                        | MachineAction::KubeletStart
                        | MachineAction::KubeletRestart(_)
                        | MachineAction::Shutdown { .. }
                        | MachineAction::PowerOff
                        | MachineAction::PowerOn { .. }
                        | MachineAction::Reboot { .. }
                )
        }
        _ => false,
    }
}

/// Returns the position of the line that stops a component: the scenario's, since no line of it does.
pub(super) fn stop_line(scenario: &Scenario, part: &Part) -> Position {
    Position { text: Text::from(format!("When {part} stops")), ..scenario.position.clone() }
}

fn is_given(scenario: &Scenario, machine: &Text) -> bool {
    machine.as_str() == "bystander"
        || scenario.given.iter().any(|given| match &given.setup {
            Setup::ReadyNodes(specs) => specs.iter().any(|spec| spec.name == *machine),
            Setup::Do(action) => adds(action, machine),
            _ => false,
        })
}

fn adds(action: &ScenarioAction, machine: &Text) -> bool {
    matches!(action, ScenarioAction::Action(action)
        if matches!(&**action, Action::AddMachine(spec) if spec.name == *machine))
}

/// Makes the mutant of an act in which each line says the opposite, and returns it with those lines.
pub(super) fn negated(scenario: &Scenario, act: usize) -> (Scenario, Vec<Position>) {
    let mut changed = scenario.clone();
    let lines = changed.acts[act].expectations.iter_mut();
    let negated = lines.filter_map(|line| {
        *line = opposite(line)?;
        Some(line.position.clone())
    });
    let negated = negated.collect();
    changed.acts.truncate(act + 1);
    (changed, negated)
}

/// Returns the opposite of a line; `None` for what has none: snapshots, and that nothing else changes.
fn opposite(line: &Expectation) -> Option<Expectation> {
    let mut other = line.clone();
    match &mut other.fact.predicate {
        Predicate::RenewedEvery { every, tolerance } => {
            *every /= 3;
            *tolerance /= 3;
            return Some(other);
        }
        Predicate::Costs { bytes, .. } => {
            *bytes = (bytes.1 + 1, bytes.1 * 2 + 2);
            return Some(other);
        }
        Predicate::RenewedOnTime | Predicate::NothingElseChanges | Predicate::MatchesSnapshot(_) => return None,
        _ => {}
    }
    // The first limit that it gets is told by the last one that it had.
    other.in_grace.from = other.in_grace.to;
    match &mut other.bound {
        Bound::Between(_, to) => other.bound = Bound::Between(*to + BEYOND, *to + BEYOND * 2),
        Bound::At { offset, .. } => *offset += BEYOND,
        Bound::Apart { from, to, .. } => {
            *from = *to + BEYOND;
            *to = *from + BEYOND;
        }
        Bound::After { fact, .. } => std::mem::swap(&mut **fact, &mut other.fact),
        Bound::Within(limit) | Bound::Soon(limit) => {
            other.bound = Bound::For(*limit);
            other.fact.predicate = contrary(other.fact.predicate);
        }
        Bound::For(limit) => {
            other.bound = Bound::Within(*limit);
            other.fact.predicate = contrary(other.fact.predicate);
        }
        Bound::AtOnce => other.fact.predicate = contrary(other.fact.predicate),
        Bound::Act => return None,
    }
    Some(other)
}

fn contrary(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::Not(inner) => *inner,
        other => other.negated(),
    }
}
