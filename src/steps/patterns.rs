//! Finds the function of a step without compiling the patterns of all sentences.
//!
//! Mirrors cucumber 0.23, `step::Collection::find`. Input: a step. Output: its function and captures. The pattern is
//! read from the source of the sentence's attribute. The fixed texts outside of its groups must occur in the step in
//! the same order; only patterns for which they do are compiled, so that a run of one scenario compiles a few of two
//! hundred. Invariants (tested): the text that is read equals the pattern, and the function that is found is the one
//! that cucumber's own collection finds. Left out on purpose: sentences of other crates are always compiled, since
//! their source may not be available.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use cucumber::World as _;
use cucumber::codegen::{LazyRegex, StepConstructor, WorldInventory, inventory};
use cucumber::step::{AmbiguousMatchError, Collection, Location, Step as Function, WithContext};
use gherkin::{Step, StepType};

use super::draft::Draft;
use super::own_names::Captures;
use super::parameters::parameters;
use super::sources::source_at;
use super::syntax::group;

/// One attribute of a sentence's function: a keyword and a pattern.
struct StepDefinition {
    keyword: StepType,
    place: Location,
    regex: LazyRegex,
    function: Function<Draft>,
    /// The pattern, if its source is available.
    pattern: Option<&'static str>,
    /// Texts that must occur in a step, in this order.
    parts: Vec<String>,
    /// A collection with this pattern alone, compiled when it is first needed.
    alone: OnceLock<Collection<Draft>>,
}

static ALL: LazyLock<Collection<Draft>> = LazyLock::new(Draft::collection);

static DEFINITIONS: LazyLock<Vec<StepDefinition>> = LazyLock::new(|| {
    let mut known = Vec::new();
    let mut note = |keyword, (place, regex, function): (Location, LazyRegex, Function<Draft>)| {
        let pattern = pattern_at(place);
        let parts = pattern.map(fixed_parts).unwrap_or_default();
        known.push(StepDefinition { keyword, place, regex, function, pattern, parts, alone: OnceLock::new() });
    };
    for step in inventory::iter::<<Draft as WorldInventory>::Given> {
        note(StepType::Given, step.inner());
    }
    for step in inventory::iter::<<Draft as WorldInventory>::When> {
        note(StepType::When, step.inner());
    }
    for step in inventory::iter::<<Draft as WorldInventory>::Then> {
        note(StepType::Then, step.inner());
    }
    known
});

impl StepDefinition {
    /// Returns the pattern; the registry keeps those of other crates.
    fn text(&self) -> Cow<'static, str> {
        self.pattern.map_or_else(|| Cow::Owned((self.regex)().as_str().to_owned()), Cow::Borrowed)
    }

    fn may_fit(&self, step: &Step) -> bool {
        let mut rest = step.value.as_str();
        let has = |part: &String| match rest.split_once(part.as_str()) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        };
        self.keyword == step.ty && self.parts.iter().all(has)
    }

    fn compiled(&self) -> &Collection<Draft> {
        self.alone.get_or_init(|| {
            let (place, regex, function) = (Some(self.place), (self.regex)(), self.function);
            match self.keyword {
                StepType::Given => Collection::new().given(place, regex, function),
                StepType::When => Collection::new().when(place, regex, function),
                StepType::Then => Collection::new().then(place, regex, function),
            }
        })
    }
}

/// Finds the function of a step, with the captures of its pattern.
///
/// # Errors
/// Several sentences fit.
pub(super) fn find(step: &Step) -> Result<Option<WithContext<'static, Draft>>, AmbiguousMatchError> {
    let mut found = None;
    for known in DEFINITIONS.iter().filter(|known| known.may_fit(step)) {
        let Some(fitting) = known.compiled().find(step)? else { continue };
        if found.replace(fitting).is_some() {
            return ALL.find(step);
        }
    }
    Ok(found)
}

/// Returns what the parameters of a step hold, if one sentence fits it.
pub(super) fn captures(step: &Step) -> Option<Captures> {
    /// Parameters that say when something holds, or are sentences.
    const NO_VALUES: [&str; 3] = ["bound", "for", "rest"];
    let (_, _, place, context) = find(step).ok()??;
    let own = DEFINITIONS.iter().find(|known| Some(known.place) == place)?;
    let known = parameters(&own.text());
    let is_value = |name: &str| !known.iter().any(|it| it.name == name && !it.values.is_empty());
    let values = context.matches.iter().skip(1).filter_map(|(name, value)| match name.as_deref() {
        Some(name) if NO_VALUES.contains(&name) || !is_value(name) => None,
        _ => Some(value.clone()),
    });
    let is_same = |other: &StepDefinition| other.keyword == StepType::Then && other.text() == own.text();
    Some(Captures { values: values.collect(), is_expectation: DEFINITIONS.iter().any(is_same) })
}

/// Returns the patterns of all sentences, each once.
pub(super) fn all() -> BTreeSet<Cow<'static, str>> {
    DEFINITIONS.iter().map(StepDefinition::text).collect()
}

/// Returns where the sentence of a step is defined: the file and the line of its attribute.
pub(super) fn place_of(step: &Step) -> Option<(&'static str, u32)> {
    let (_, _, place, _) = find(step).ok()??;
    place.map(|place| (place.path, place.line))
}

/// Reads the pattern of an attribute of this crate's own sources.
pub(super) fn pattern_at(place: Location) -> Option<&'static str> {
    let attribute = source_at(place)?.trim_start().strip_prefix("#[")?;
    let (_, arguments) = attribute.split_once('(')?;
    let literal = arguments.trim_start().strip_prefix("regex = r")?;
    let marks = literal.len() - literal.trim_start_matches('#').len();
    let (text, end) = (literal[marks..].strip_prefix('"')?, format!("\"{}", "#".repeat(marks)));
    text.split_once(&end).map(|(pattern, _)| pattern)
}

/// Returns the texts that any match of a pattern contains: those outside of its groups and classes.
fn fixed_parts(pattern: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let mut tail = &rest[c.len_utf8()..];
        let part = parts.last_mut().expect("there is one from the start");
        let mut is_fixed = false;
        match c {
            '|' => return Vec::new(),
            '(' => {
                let (inside, behind) = group(rest);
                if inside.starts_with('?') && !inside.starts_with("?:") && !inside.starts_with("?P<") {
                    return Vec::new();
                }
                tail = behind;
            }
            '[' => {
                let skipped = tail.strip_prefix('^').unwrap_or(tail);
                let end = skipped.char_indices().skip(1).find(|(_, c)| *c == ']');
                tail = end.map_or("", |(at, _)| &skipped[at + 1..]);
            }
            '{' => {
                part.pop();
                tail = tail.split_once('}').map_or("", |(_, behind)| behind);
            }
            '?' | '*' => drop(part.pop()),
            '+' | '.' | '^' | '$' => {}
            '\\' => {
                let escaped = tail.chars().next().unwrap_or_default();
                tail = &tail[escaped.len_utf8().min(tail.len())..];
                is_fixed = !escaped.is_alphanumeric();
                if is_fixed {
                    part.push(escaped);
                }
            }
            c => {
                part.push(c);
                is_fixed = true;
            }
        }
        if !is_fixed {
            // The quantifier of a group applies to the group, not to the character before it.
            tail = if matches!(c, '(' | '[' | '\\' | '.') { tail.trim_start_matches(['?', '*', '+']) } else { tail };
            parts.push(String::new());
        }
        rest = tail;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::load::{Requirements, check, find_sources};

    #[test]
    fn fixed_parts_are_what_no_group_holds() {
        for (pattern, parts) in [
            (r#"^a ready Node "(?P<node>[^"]*)"$"#, &["a ready Node \"", "\""][..]),
            (r"^(?P<time>\S+) pass(?:es)?$", &[" pass"]),
            (r#"^it has "?(?P<word>[^"]*)"?(?P<also> too)?(?P<bound>,? .*)?$"#, &["it has "]),
            (r"^(?P<list>(?:a|b) [^)]*) \(x\)$", &[" (x)"]),
            (r"^seeds? \d+ is [a-z-]+ x{2}y.$", &["seed", " ", " is ", " ", "y"]),
            (r"^a|b$", &[]),
            (r"^(?i)Abc$", &[]),
        ] {
            assert_eq!(fixed_parts(pattern), parts, "{pattern}");
        }
    }

    #[test]
    fn the_source_of_a_sentence_is_its_pattern() {
        let ours = DEFINITIONS.iter().filter(|known| source_at(known.place).is_some());
        for known in ours {
            assert_eq!(pattern_at(known.place), Some((known.regex)().as_str()), "{}", known.place);
        }
    }

    #[test]
    fn what_is_found_is_what_cucumber_finds() {
        let (sources, _) = find_sources(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("features")]);
        let features = check(&sources, &Requirements::default());
        let steps = features.iter().flat_map(|file| &file.cases).flat_map(|case| &case.steps);
        for line in steps {
            let place = |found: Result<Option<WithContext<'_, Draft>>, AmbiguousMatchError>| {
                found.ok().flatten().map(|(.., place, context)| (place, context.matches))
            };
            assert_eq!(place(find(&line.step)), place(ALL.find(&line.step)), "{}", line.step.value);
        }
    }
}
