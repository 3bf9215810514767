//! Whether a fact is true of what the API server has answered, a refusal, a list, the events of a watch, or of what
//! kubectl has printed. Pure.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::truth::{Holds, Truth, field_truth, json_truth, negated};
use super::view::ClusterView;
use crate::objects::{Json, Path, Text};
use crate::scenario::words::plain;
use crate::scenario::{AnswerSeen, FieldTest, Predicate, WatchedEvent};

/// Judges the answer to the last request of the act.
pub(super) fn answer_truth(predicate: &Predicate, now: &ClusterView) -> Truth {
    match predicate {
        Predicate::Not(inner) => negated(answer_truth(inner, now)),
        Predicate::Refused { text } => match now.refusal() {
            Some(why) => Truth::new(text.as_ref().is_none_or(|text| why.contains(text.as_str())), why),
            None => Truth::new(false, "not refused"),
        },
        Predicate::Answered { code, text } => match now.answer() {
            Some(answer) => {
                let holds = code.is_none_or(|code| code == answer.code)
                    && text.as_ref().is_none_or(|text| answer.message.contains(text.as_str()));
                let message = if answer.message.is_empty() { String::new() } else { format!(" {:?}", answer.message) };
                Truth::new(holds, format!("answered {}{message}", answer.code))
            }
            None => Truth::new(Holds::Absent, "no request was answered"),
        },
        Predicate::Lists(names) => match now.answer() {
            Some(answer) => list_truth(names, answer),
            None => Truth::new(Holds::Absent, "no request was answered"),
        },
        other => match now.answer() {
            Some(answer) => json_truth(other, &answer.body, None),
            None => Truth::new(Holds::Absent, "no request was answered"),
        },
    }
}

/// Compares the names of a list, which may have their namespaces, in their order.
fn list_truth(names: &[Text], answer: &AnswerSeen) -> Truth {
    let Json::Array(items) = answer.body.get("items") else {
        return Truth::new(false, format!("no list: answered {} {:?}", answer.code, answer.message));
    };
    let holds = names.len() == items.len() && names.iter().zip(items.iter()).all(|(name, item)| is_called(item, name));
    let with_namespace = names.iter().any(|name| name.contains('/'));
    let shown: Vec<String> = items.iter().map(|item| called(item, with_namespace)).collect();
    Truth::new(
        holds,
        if shown.is_empty() { String::from("lists nothing") } else { format!("lists {}", shown.join(", ")) },
    )
}

/// Judges what the open watch has shown in this act.
pub(super) fn watch_truth(predicate: &Predicate, now: &ClusterView) -> Truth {
    match (predicate, now.watched()) {
        (Predicate::Not(inner), _) => negated(watch_truth(inner, now)),
        (_, None) => Truth::new(Holds::Absent, "no watch is open"),
        (Predicate::Shows { event, name, field }, Some(events)) => {
            let is_meant = |shown: &&WatchedEvent| {
                let is_field =
                    |(path, test): &(Path, FieldTest)| field_truth(&shown.object, None, path, test).holds == Holds::Yes;
                event.as_ref().is_none_or(|event| *event == shown.event)
                    && name.as_ref().is_none_or(|name| is_called(&shown.object, name))
                    && field.as_ref().is_none_or(is_field)
            };
            let with_namespace = name.as_ref().is_some_and(|name| name.contains('/'));
            let text = |shown: &WatchedEvent| {
                let of = field.as_ref().map(|(path, _)| format!(" with {path} {}", plain(path.look_up(&shown.object))));
                format!("{} {}{}", shown.event, called(&shown.object, with_namespace), of.unwrap_or_default())
            };
            let shown: Vec<String> = events.iter().map(text).collect();
            let shown = if shown.is_empty() { String::from("nothing") } else { shown.join(", ") };
            Truth::new(events.iter().any(|shown| is_meant(&shown)), format!("the watch shows {shown}"))
        }
        (_, Some(_)) => Truth::new(true, ""),
    }
}

/// Judges what the command of kubectl has printed in this act, and how it has ended.
pub(super) fn command_truth(predicate: &Predicate, now: &ClusterView) -> Truth {
    let Some(command) = now.command() else { return Truth::new(Holds::Absent, "no command of kubectl runs") };
    match predicate {
        Predicate::Not(inner) => negated(command_truth(inner, now)),
        Predicate::Prints(line) => {
            let holds = command.printed.iter().any(|printed| printed == line.as_str());
            let last = command.printed.last().map(|line| format!("kubectl prints {line:?}"));
            Truth::new(holds, last.unwrap_or_else(|| String::from("kubectl prints nothing")))
        }
        Predicate::Ended { success } => {
            let holds = command.exit.is_some_and(|code| success.is_none_or(|success| success == (code == 0)));
            let text = |code| format!("kubectl ends with {code}");
            Truth::new(holds, command.exit.map_or_else(|| String::from("kubectl runs"), text))
        }
        _ => Truth::new(true, ""),
    }
}

/// Tells whether an object has a name, which may be with its namespace.
fn is_called(object: &Json, name: &str) -> bool {
    let own = object.at(&["metadata", "name"]).as_str();
    match name.split_once('/') {
        Some((namespace, name)) => {
            own == Some(name) && object.at(&["metadata", "namespace"]).as_str() == Some(namespace)
        }
        None => own == Some(name),
    }
}

fn called(object: &Json, with_namespace: bool) -> String {
    let name = object.at(&["metadata", "name"]).as_str().unwrap_or_default();
    match object.at(&["metadata", "namespace"]).as_str().filter(|_| with_namespace) {
        Some(namespace) => format!("\"{namespace}/{name}\""),
        None => format!("{name:?}"),
    }
}
