//! The texts of facts, bounds, failures and histories. Pure: data in, text out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use jiff::SignedDuration;

use super::{
    Aspect, Bound, Cost, Every, Expectation, Fact, FieldTest, Mismatch, Missed, PodsBy, Predicate, SnapshotKind,
    Subject, Taint,
};
use crate::objects::subset::leaves;
use crate::objects::time::{parse_duration, seconds};
use crate::objects::{Path, Text};

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(of) => write!(f, "{} {:?}", of.kind, of.key.to_string()),
            Self::PodsOf { by: PodsBy::Owner(owner), place: Some(place), .. } => {
                write!(f, "the Pod of {owner} on {}", place.called)
            }
            Self::PodsOf { by, place: Some(place), .. } => write!(f, "the Pods{by} on {}", place.called),
            Self::PodsOf { by, place: None, .. } => write!(f, "the Pods{by}"),
            Self::Several { called, .. } => f.write_str(called),
            Self::Every(Every::Node) => f.write_str("each Node of the cluster"),
            Self::Every(Every::Lease) => f.write_str("the Lease of each Node of the cluster"),
            Self::Answer => f.write_str("the request"),
            Self::Watch => f.write_str("the watch"),
            Self::Command => f.write_str("kubectl"),
            Self::Machine(name) => write!(f, "machine {:?}", name.as_str()),
            Self::Own(look) => f.write_str(&look.name),
            Self::Table(resource) => write!(f, "the table of {}", resource.plural),
        }
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if let Some(value) = &self.value {
            write!(f, "={value}")?;
        }
        write!(f, ":{}", self.effect)
    }
}

/// Prints what follows an optional part: `, reason "X"`.
fn part(name: &str, value: Option<&Text>) -> String {
    value.map_or_else(String::new, |value| format!(", {name} {:?}", value.as_str()))
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sent => "sent",
            Self::Stored => "stored",
        })
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lease => "its Lease is its own",
            Self::Conditions => "the conditions of a kubelet",
            Self::Taints => "the taints of its conditions",
            Self::Allocatable => "allocatable within its capacity",
            Self::Labels => "the labels of its machine",
            Self::Addresses => "its addresses",
            Self::Skew => "a kubelet within the version skew",
            Self::HeardFrom => "heard from, or Unknown",
            Self::UnknownAtMost(limit) => {
                return write!(f, "no condition Unknown for longer than {}", seconds(*limit));
            }
        })
    }
}

impl Predicate {
    /// Prints what is said of answers and watches.
    fn of_answers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { code, text } => {
                f.write_str("answered")?;
                if let Some(code) = code {
                    write!(f, " {code}")?;
                }
                text.as_ref().map_or(Ok(()), |text| write!(f, " {:?}", text.as_str()))
            }
            Self::Lists(names) if names.is_empty() => f.write_str("lists nothing"),
            Self::Lists(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("{:?}", name.as_str())).collect();
                write!(f, "lists {}", names.join(", "))
            }
            Self::Shows { event, name, field } => {
                f.write_str(event.as_ref().map_or("anything", Text::as_str))?;
                if let Some(name) = name {
                    write!(f, " {:?}", name.as_str())?;
                }
                match field {
                    Some((path, test)) => {
                        write!(f, " with {}", Self::Field { path: path.clone(), test: test.clone() })
                    }
                    None => Ok(()),
                }
            }
            Self::Prints(line) => write!(f, "prints {:?}", line.as_str()),
            Self::Ended { success: Some(true) } => f.write_str("success"),
            Self::Ended { success: Some(false) } => f.write_str("failure"),
            Self::Ended { success: None } => f.write_str("end"),
            Self::Refused { text } => {
                f.write_str("refused")?;
                text.as_ref().map_or(Ok(()), |text| write!(f, " with {:?}", text.as_str()))
            }
            _ => Ok(()),
        }
    }
}

fn of_field(f: &mut fmt::Formatter<'_>, path: &Path, test: &FieldTest) -> fmt::Result {
    match test {
        FieldTest::Is(value) => write!(f, "{path} {value}"),
        FieldTest::OneOf(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            write!(f, "{path} {}", values.join(" or "))
        }
        FieldTest::IsNot(value) => write!(f, "{path} not {value}"),
        FieldTest::Present => write!(f, "{path} present"),
        FieldTest::Absent => write!(f, "{path} absent"),
        FieldTest::Unchanged => write!(f, "{path} unchanged"),
        FieldTest::Has(part) => {
            let said = leaves(part).into_iter().map(|(below, value)| {
                let value = if value.is_null() { String::from("absent") } else { value.to_string() };
                format!("{} {value}", path.followed_by(&below))
            });
            f.write_str(&said.collect::<Vec<String>>().join(" and "))
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Condition { kind, status, reason, message } => {
                write!(f, "{kind}={status}{}{}", part("reason", reason.as_ref()), part("message", message.as_ref()))
            }
            Self::Taint(taint) => write!(f, "taint {taint}"),
            Self::Label { key, value: Some(value) } => write!(f, "label {key}={value}"),
            Self::Label { key, value: None } => write!(f, "label {key}"),
            Self::Field { path, test } => of_field(f, path, test),
            Self::Phase(phase) => write!(f, "phase {phase}"),
            Self::RenewedEvery { every, tolerance } => {
                write!(f, "renewed every {} (more or less {})", seconds(*every), seconds(*tolerance))
            }
            Self::RenewedOnTime => f.write_str("renewed on time"),
            Self::Sound(aspect) => aspect.fmt(f),
            Self::Costs { what, bytes: (least, most) } => write!(f, "{what} {least} to {most} bytes a minute"),
            Self::Exists => f.write_str("there"),
            Self::Holds => f.write_str("it holds"),
            Self::Terminating => f.write_str("Terminating"),
            Self::Deleted => f.write_str("deleted"),
            Self::Gone => f.write_str("gone"),
            Self::Event { reason, message, times } => {
                let times = times.map_or_else(String::new, |times| format!(" {times} times"));
                write!(f, "Event {reason}{}{times}", part("message", message.as_ref()))
            }
            Self::Count { count, of } => write!(f, "{count} with {of}"),
            Self::ContainerRuns { namespace, pod, container } => {
                write!(f, "container {container} of Pod {namespace}/{pod} running")
            }
            Self::Answered { .. }
            | Self::Lists(_)
            | Self::Shows { .. }
            | Self::Prints(_)
            | Self::Ended { .. }
            | Self::Refused { .. } => self.of_answers(f),
            Self::NothingElseChanges => f.write_str("nothing changes that no other line names"),
            Self::MatchesSnapshot(SnapshotKind::History) => f.write_str("its history matches its snapshot"),
            Self::MatchesSnapshot(_) => f.write_str("it matches its snapshot"),
            Self::Not(inner) => match &**inner {
                Self::Field { path, test: FieldTest::Unchanged } => write!(f, "{path} changed"),
                Self::Deleted | Self::Gone | Self::Terminating | Self::Exists => write!(f, "not {inner}"),
                inner => write!(f, "no {inner}"),
            },
            Self::All(parts) => {
                let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
                f.write_str(&parts.join(" and "))
            }
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.predicate)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(seconds))
    }
}

impl Bound {
    /// Prints the bound with its durations as they are to be shown.
    fn with(&self, show: impl Fn(SignedDuration) -> String) -> String {
        match self {
            Self::AtOnce => String::from("at once"),
            Self::Soon(limit) | Self::Within(limit) => format!("within {}", show(*limit)),
            Self::Between(first, last) => format!("between {} and {}", show(*first), show(*last)),
            Self::For(limit) => format!("for {}", show(*limit)),
            Self::At { offset, after: None } => format!("at {}", show(*offset)),
            Self::At { offset, after: Some(fact) } => format!("at {} after {fact}", show(*offset)),
            Self::Apart { from, to, after } => format!("between {} and {} after {after}", show(*from), show(*to)),
            Self::After { fact, within: None } => format!("after {fact}"),
            Self::After { fact, within: Some(limit) } => format!("after {fact}, within {}", show(*limit)),
            Self::Act => String::from("as long as the act lasts"),
        }
    }
}

impl Expectation {
    /// Prints a duration as the step says it, `2m`; in seconds where the step says it in other words.
    pub(super) fn as_written(&self, duration: SignedDuration) -> String {
        let mut words = self.position.text.split([' ', ',']);
        let said = words.find(|word| parse_duration(word) == Some(duration));
        said.map_or_else(|| seconds(duration), String::from)
    }
}

impl fmt::Display for Expectation {
    /// Prints what is expected: `Ready=Unknown within 40s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.fact.predicate, self.bound.with(|duration| self.as_written(duration)))
    }
}

impl fmt::Display for Mismatch {
    /// Prints the failure for people: the step with its position, then a line for each part, and a line for each other
    /// line of the act that did not hold.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}: {}", self.step.file, self.step.line, self.step.text)?;
        writeln!(f, "  expected  {}", self.expected)?;
        write!(f, "  observed  {}", self.observed)?;
        // Of a step that was refused there is nothing to tell.
        let is_told = !self.why.is_empty() || !self.last.is_empty();
        let no_decision = is_told.then(|| String::from("no decision about it was made"));
        let why = if self.why.is_empty() { no_decision.as_slice() } else { self.why.as_slice() };
        for (at, why) in why.iter().enumerate() {
            write!(f, "\n  {}{why}", if at == 0 { "why       " } else { "          " })?;
        }
        if !self.last.is_empty() {
            write!(f, "\n  last      {}", self.last.join(" · "))?;
        }
        for (at, other) in self.also.iter().enumerate() {
            let Missed { step, observed, .. } = other;
            let word = if at == 0 { "also      " } else { "          " };
            write!(f, "\n  {word}{}:{}: {}: {observed}", step.file, step.line, step.text)?;
        }
        if self.replay.is_empty() { Ok(()) } else { write!(f, "\n  replay    {}", self.replay) }
    }
}
