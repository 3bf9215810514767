//! What is wrong with a step that would be a sentence about another object: its object has no such sentence, or is
//! none.
//!
//! Input: a step that no sentence fits. Output: a message that names the object, and the sentences that take it.

use gherkin::Step;

use super::catalogue::{catalogue, keyword_name};
use super::patterns;

/// What is wrong with the object of a step, and what to do about it.
pub(super) struct ObjectProblem {
    pub(super) message: String,
    pub(super) help: Vec<String>,
}

/// Objects that sentences take, of which some take no others.
const OBJECTS: [&str; 4] = ["Node \"x\"", "Pod \"x\"", "the Lease of Node \"x\"", "machine \"x\""];
/// Beginnings of sentences that are no names of objects.
const NO_NAMES: [&str; 8] = ["a", "an", "no", "nothing", "each", "all", "of", "when"];
/// The part of a pattern that takes any kind of object.
const ANY_KIND: &str = r#"[A-Z][A-Za-z]* "[^"]*""#;
/// How many sentences are shown.
const SHOWN: usize = 6;

/// Returns what is wrong with the object of a step, if the step would be a sentence with another one.
pub(super) fn other_object(step: &Step) -> Option<ObjectProblem> {
    let words = split(&step.value);
    for count in (1..=words.len().saturating_sub(1).min(5)).rev() {
        let (object, rest) = (words[..count].join(" "), words[count..].join(" "));
        if NO_NAMES.contains(&object.as_str()) {
            continue;
        }
        let with = |other: &&str| {
            let value = format!("{other} {rest}");
            value != step.value && matches!(patterns::find(&Step { value, ..step.clone() }), Ok(Some(_)))
        };
        let takers: Vec<&str> = OBJECTS.iter().copied().filter(with).collect();
        if !takers.is_empty() {
            return Some(problem(step, &object, &takers));
        }
    }
    None
}

fn problem(step: &Step, object: &str, takers: &[&str]) -> ObjectProblem {
    let Some(kind) = kind_of(object) else {
        let takers: Vec<String> = takers.iter().map(|taker| taker.replace("\"x\"", "\"NAME\"")).collect();
        let help = format!("an object is named by its kind and its name in quotes: {}", takers.join(", "));
        return ObjectProblem { message: format!("{object:?} is no object"), help: vec![help] };
    };
    let takers: Vec<&str> = takers.iter().map(|taker| taker.trim_end_matches(" \"x\"")).collect();
    let message = format!("{kind} has no such sentence; {} has it", takers.join(" or "));
    let keyword = keyword_name(step.ty);
    let of_any = catalogue().into_iter().filter(|sentence| {
        sentence.keywords.contains(&keyword) && sentence.regex.starts_with(&format!("^(?P<object>{ANY_KIND}"))
    });
    let sentences: Vec<String> = of_any.map(|sentence| sentence.pattern).take(SHOWN).collect();
    let help = if sentences.is_empty() {
        Vec::new()
    } else {
        vec![format!("these take it:\n  {}", sentences.join("\n  ").replace("{object}", object))]
    };
    ObjectProblem { message, help }
}

/// Returns the kind of an object in its form: `Deployment "web"`.
fn kind_of(object: &str) -> Option<&str> {
    let (kind, name) = object.split_once(" \"")?;
    let is_kind = kind.starts_with(|c: char| c.is_ascii_uppercase()) && kind.chars().all(|c| c.is_ascii_alphanumeric());
    let is_other = kind == "machine" || kind == "the Lease of Node" || kind == "the EndpointSlice of Service";
    ((is_kind || is_other) && name.ends_with('"') && name.matches('"').count() == 1).then_some(kind)
}

/// Splits into words; a text in quotes is a part of its word.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut is_open) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_open = !is_open,
            ' ' if !is_open => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[start..]);
    words
}
