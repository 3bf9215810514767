//! The reference of the vocabulary, made from the functions themselves: their patterns and the comments above them.

use std::sync::LazyLock;

use cucumber::codegen::{StepConstructor, WorldInventory};
use cucumber::{codegen::inventory, step::Location};
use gherkin::StepType;
use serde::Serialize;

use super::draft::Draft;

/// The files of the vocabulary in the order of the reference, with their headings.
const FILES: [(&str, &str, &str); 8] = [
    ("cluster.rs", "The cluster", include_str!("cluster.rs")),
    ("nodes.rs", "Nodes", include_str!("nodes.rs")),
    ("machines.rs", "Machines and their kubelets", include_str!("machines.rs")),
    ("pods.rs", "Pods", include_str!("pods.rs")),
    ("workloads.rs", "Workloads", include_str!("workloads.rs")),
    ("network.rs", "The network", include_str!("network.rs")),
    ("users.rs", "What users do", include_str!("users.rs")),
    ("expect.rs", "What follows", include_str!("expect.rs")),
];

/// A sentence of the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sentence {
    /// The keywords under which it stands: `given`, `when`, `then`.
    pub keywords: Vec<&'static str>,
    /// The sentence, with its parameters in braces.
    pub words: String,
    /// What it means.
    pub says: String,
    /// The part of the vocabulary to which it belongs.
    pub part: &'static str,
    /// The pattern that finds it.
    pub pattern: String,
    /// Where its function stands.
    pub place: String,
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
    let mut found: Vec<(usize, u32, &'static str, String, Location)> = Vec::new();
    let mut note = |keyword: &'static str, inner: (Location, cucumber::codegen::LazyRegex)| {
        let (place, regex) = inner;
        let file = place.path.rsplit(['/', '\\']).next().unwrap_or_default();
        let order = FILES.iter().position(|(name, ..)| *name == file).unwrap_or(FILES.len());
        found.push((order, place.line, keyword, regex().as_str().to_owned(), place));
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
    found.sort_by_key(|(order, line, ..)| (*order, *line));
    let mut sentences: Vec<Sentence> = Vec::new();
    for (order, line, keyword, pattern, place) in found {
        let (part, source) = FILES.get(order).map_or(("More", ""), |(_, part, source)| (*part, *source));
        if let Some(same) = sentences.iter_mut().find(|s| s.pattern == pattern && s.part == part) {
            same.keywords.push(keyword);
            continue;
        }
        sentences.push(Sentence {
            keywords: vec![keyword],
            words: render(&pattern),
            says: comment_at(source, line),
            part,
            pattern,
            place: format!("{}:{}", place.path, place.line),
        });
    }
    sentences
}

/// Returns the comment above the attribute on a line.
fn comment_at(source: &str, line: u32) -> String {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let above = lines.iter().take(usize::try_from(line).unwrap_or_default().saturating_sub(1)).rev();
    let mut comment: Vec<&str> = above
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
fn group(pattern: &str) -> (&str, &str) {
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
    let is_words = |c: char| c.is_alphanumeric() || " -|'".contains(c);
    if inner.chars().all(is_words) { inner.to_owned() } else { format!("{{{name}}}") }
}

/// Tells whether a group holds the bound: it may be left out in a `Given` alone.
fn is_bound(group: &str) -> bool {
    group.starts_with("?P<bound>") || group.starts_with("?P<for>")
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(!sentence.says.is_empty(), "no comment above {}", sentence.place);
            assert_ne!(sentence.part, "More", "{}", sentence.place);
        }
    }

    #[test]
    fn the_vocabulary_stays_small() {
        assert!(catalogue().len() <= 100, "{} sentences", catalogue().len());
    }
}
