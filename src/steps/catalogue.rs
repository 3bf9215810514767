//! The reference of the vocabulary, made from the functions themselves: their patterns and the comments above them.

use std::sync::LazyLock;

use cucumber::codegen::{StepConstructor, WorldInventory};
use cucumber::{codegen::inventory, step::Location};
use gherkin::StepType;
use serde::Serialize;

use super::draft::Draft;
use super::parameters::{Parameter, parameters};
use super::patterns::pattern_at;
use crate::load::FeatureFile;

/// The files of the vocabulary in the order of the reference, with their headings.
const FILES: [(&str, &str, &str); 9] = [
    ("cluster.rs", "The cluster", include_str!("cluster.rs")),
    ("nodes.rs", "Nodes", include_str!("nodes.rs")),
    ("machines.rs", "Machines and their kubelets", include_str!("machines.rs")),
    ("pods.rs", "Pods", include_str!("pods.rs")),
    ("workloads.rs", "Workloads", include_str!("workloads.rs")),
    ("network.rs", "The network", include_str!("network.rs")),
    ("users.rs", "What users do", include_str!("users.rs")),
    ("expect.rs", "What follows", include_str!("expect.rs")),
    ("observe.rs", "What holds of any Node", include_str!("observe.rs")),
];

/// A sentence of the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sentence {
    /// The keywords under which it stands: `given`, `when`, `then`.
    pub keywords: Vec<&'static str>,
    /// The sentence, with its parameters in braces.
    pub pattern: String,
    /// The regular expression that finds it.
    pub regex: String,
    /// Its parameters in their order.
    pub parameters: Vec<Parameter>,
    /// What it means.
    pub says: String,
    /// The part of the vocabulary to which it belongs.
    pub part: &'static str,
    /// Steps of features that say it; filled in by [`with_examples`].
    pub examples: Vec<String>,
    /// Where its function stands: `file:line`.
    pub source: String,
    /// Where the attributes of its function stand.
    #[serde(skip)]
    places: Vec<(&'static str, u32)>,
}

/// Adds the first steps of some features that say each sentence.
#[must_use]
pub fn with_examples(mut sentences: Vec<Sentence>, files: &[FeatureFile]) -> Vec<Sentence> {
    const SHOWN: usize = 3;
    let steps = files.iter().flat_map(|file| &file.cases).flat_map(|case| &case.steps);
    for line in steps {
        let Some(place) = super::registry::place(&line.step) else { continue };
        let Some(sentence) = sentences.iter_mut().find(|sentence| sentence.places.contains(&place)) else { continue };
        let has_room = sentence.examples.len() < SHOWN;
        if has_room && !sentence.examples.contains(&line.step.value) {
            sentence.examples.push(line.step.value.clone());
        }
    }
    sentences
}

/// Returns the keyword as the registry names it.
pub(super) const fn keyword_name(keyword: StepType) -> &'static str {
    match keyword {
        StepType::Given => "given",
        StepType::When => "when",
        StepType::Then => "then",
    }
}

/// Returns all sentences in the order in which they stand in their files.
#[must_use]
pub fn catalogue() -> Vec<Sentence> {
    static CATALOGUE: LazyLock<Vec<Sentence>> = LazyLock::new(collect);
    CATALOGUE.clone()
}

fn collect() -> Vec<Sentence> {
    let mut found: Vec<(usize, &'static str, String, Location)> = Vec::new();
    let mut note = |keyword: &'static str, inner: (Location, cucumber::codegen::LazyRegex)| {
        let (place, regex) = inner;
        let order = place_of(place);
        let pattern = pattern_at(place).map_or_else(|| regex().as_str().to_owned(), str::to_owned);
        found.push((order.unwrap_or(FILES.len()), keyword, pattern, place));
    };
    for step in inventory::iter::<<Draft as WorldInventory>::Given> {
        let (place, regex, _) = step.inner();
        note("given", (place, regex));
    }
    for step in inventory::iter::<<Draft as WorldInventory>::When> {
        let (place, regex, _) = step.inner();
        note("when", (place, regex));
    }
    for step in inventory::iter::<<Draft as WorldInventory>::Then> {
        let (place, regex, _) = step.inner();
        note("then", (place, regex));
    }
    found.sort_by_key(|(order, _, _, place)| (*order, place.path, place.line));
    let mut sentences: Vec<Sentence> = Vec::new();
    for (order, keyword, regex, place) in found {
        let (part, source) = FILES.get(order).map_or((OWN_PART, None), |(_, part, source)| (*part, Some(*source)));
        if let Some(same) = sentences.iter_mut().find(|s| s.regex == regex && s.part == part) {
            same.keywords.push(keyword);
            same.places.push((place.path, place.line));
            continue;
        }
        let says = match source {
            Some(source) => comment_above(source, &LINES[order], place.line),
            None => {
                let source = source_of(place.path);
                comment_above(&source, &lines(&source), place.line)
            }
        };
        sentences.push(Sentence {
            keywords: vec![keyword],
            pattern: render(&regex),
            parameters: parameters(&regex),
            says,
            part,
            regex,
            examples: Vec::new(),
            source: format!("{}:{}", place.path, place.line),
            places: vec![(place.path, place.line)],
        });
    }
    sentences
}

/// Returns the number of the file of ours in which an attribute stands.
fn place_of(place: Location) -> Option<usize> {
    let ours = file!().trim_end_matches("catalogue.rs");
    FILES.iter().position(|(name, ..)| place.path.strip_prefix(ours) == Some(name))
}

/// Returns the source of an attribute of ours, and what follows.
pub(super) fn source_at(place: Location) -> Option<&'static str> {
    let file = place_of(place)?;
    let line = usize::try_from(place.line).ok()?.checked_sub(1)?;
    LINES[file].get(line).map(|at| &FILES[file].2[*at..])
}

/// Where the lines of our files begin.
static LINES: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| FILES.iter().map(|(.., source)| lines(source)).collect());

fn lines(source: &str) -> Vec<usize> {
    std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// Where sentences of other crates stand in the reference.
const OWN_PART: &str = "Sentences of your own";

/// Reads the source of another crate's sentences, for their comments: the compiler names it from the root of the
/// workspace, which is here or above. Empty where it is not at hand.
fn source_of(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors().find_map(|up| std::fs::read_to_string(up.join(path)).ok()).unwrap_or_default()
}

/// Returns the comment above the attribute on a line.
fn comment_above(source: &str, lines: &[usize], line: u32) -> String {
    let line = usize::try_from(line).unwrap_or_default().saturating_sub(1);
    let end = lines.get(line).copied().unwrap_or(0);
    let mut comment: Vec<&str> = source[..end]
        .lines()
        .rev()
        .map(str::trim)
        .skip_while(|line| line.starts_with("#["))
        .take_while(|line| line.starts_with("///"))
        .map(|line| line.trim_start_matches("///").trim())
        .collect();
    comment.reverse();
    comment.join(" ")
}

/// Turns a pattern into the sentence that people write: `(?P<node>[^"]*)` becomes `{node}`.
pub(super) fn render(pattern: &str) -> String {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let mut shown = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '(' {
            let (group, tail) = group(rest);
            let (optional, tail) = match tail.strip_prefix('?') {
                Some(tail) => (true, tail),
                None => (false, tail.strip_prefix('*').unwrap_or(tail)),
            };
            let inner = render_group(group);
            shown += &match group {
                group if is_bound(group) => format!(" {}", inner.trim()),
                _ if optional => format!("[{inner}]"),
                _ => inner,
            };
            rest = tail;
        } else if c == '\\' {
            shown.extend(rest.chars().nth(1));
            rest = &rest[1 + rest[1..].chars().next().map_or(0, char::len_utf8)..];
        } else {
            let tail = &rest[c.len_utf8()..];
            match tail.strip_prefix('?') {
                Some(tail) if c == '"' => rest = tail,
                Some(tail) => {
                    shown += &format!("[{c}]");
                    rest = tail;
                }
                None => {
                    shown.push(c);
                    rest = tail;
                }
            }
        }
    }
    shown
}

/// Splits a pattern that begins with a parenthesis into what is inside and what follows.
pub(super) fn group(pattern: &str) -> (&str, &str) {
    let mut depth = 0;
    let mut in_class = false;
    let mut escaped = false;
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => {}
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => {
                depth -= 1;
                if depth == 0 {
                    return (&pattern[1..at], &pattern[at + 1..]);
                }
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    (&pattern[1..], "")
}

fn render_group(group: &str) -> String {
    if let Some(inner) = group.strip_prefix("?:") {
        return render(inner);
    }
    let Some((name, inner)) = group.strip_prefix("?P<").and_then(|rest| rest.split_once('>')) else {
        return format!("{{{group}}}");
    };
    if is_of_words(inner) { inner.to_owned() } else { format!("{{{name}}}") }
}

/// Tells whether a group is one of some words: `stops|is killed`.
pub(super) fn is_of_words(group: &str) -> bool {
    group.chars().all(|c| c.is_alphanumeric() || " -|'".contains(c))
}

/// Tells whether a group holds the bound: it may be left out in a `Given` alone.
fn is_bound(group: &str) -> bool {
    group.starts_with("?P<bound>") || group.starts_with("?P<for>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Requirements, Source, check_one};

    #[test]
    fn patterns_are_shown_as_people_write_them() {
        for (pattern, words) in [
            (r#"^a ready Node "(?P<node>[^"]*)"$"#, r#"a ready Node "{node}""#),
            (r#"^the kubelet on "(?P<n>[^"]*)" (?P<what>stops|is killed)$"#, r#"the kubelet on "{n}" stops|is killed"#),
            (r"^(?P<time>\S+) pass(?:es)?$", "{time} pass[es]"),
            (r"^(?P<list>(?:a|b) [^)]*) \(x\)$", "{list} (x)"),
            (r#"^it has "?(?P<word>[^"]*)"?(?P<also> too)?(?P<bound>,? .*)?$"#, "it has {word}[ too] {bound}"),
        ] {
            assert_eq!(render(pattern), words);
        }
    }

    #[test]
    fn every_sentence_says_what_it_means_and_is_in_the_reference() {
        for sentence in catalogue() {
            assert!(!sentence.says.is_empty(), "no comment above {}", sentence.source);
            assert!(sentence.part != OWN_PART || is_of_a_test(&sentence), "{} is in no part", sentence.source);
        }
    }

    fn is_of_a_test(sentence: &Sentence) -> bool {
        sentence.pattern.starts_with("(test)")
    }

    #[test]
    fn the_vocabulary_stays_small() {
        let count = catalogue().iter().filter(|sentence| !is_of_a_test(sentence)).count();
        assert!(count <= 110, "{count} sentences");
    }

    #[test]
    fn examples_are_steps_of_features() {
        let text = "Feature: x\n  Scenario: y\n    Given no other Node\n    And a ready Node \"a\"\n    And a ready Node \"b\"\n";
        let file = check_one(&Source::new("features/a/b.feature", text.as_bytes()), &Requirements::default());
        let sentences = with_examples(catalogue(), &[file]);
        let with = |pattern: &str| sentences.iter().find(|s| s.pattern.starts_with(pattern)).unwrap().examples.clone();
        assert_eq!(with("a ready Node"), ["a ready Node \"a\"", "a ready Node \"b\""]);
        assert_eq!(with("no other Node"), ["no other Node"]);
        assert!(with("ready Nodes").is_empty());
    }
}
