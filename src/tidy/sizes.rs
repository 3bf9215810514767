//! Limits the length of functions, files, lines and ARCHITECTURE.md.
//!
//! Inputs: the files and the exceptions. Output: problems. Functions and files of tests are not limited. A function or
//! file that is too long must be listed as an exception with its length, which may shrink but not grow.

use std::collections::BTreeMap;

use super::exceptions::Exceptions;
use super::source::{SourceFile, SourceToken};

const FUNCTION: usize = 70;
const FILE: usize = 500;
const MAP: usize = 150;
const COLUMNS: usize = 120;

pub(super) fn sizes(sources: &[SourceFile], exceptions: &Exceptions) -> Vec<String> {
    let mut functions = BTreeMap::<String, usize>::new();
    let mut files = BTreeMap::new();
    let mut problems = Vec::new();
    for source in sources {
        let path = String::from(source.path);
        problems.extend(long_lines(source));
        let lines = source.text.lines().count();
        if source.path == "ARCHITECTURE.md" && lines > MAP {
            problems.push(format!("{path}: {lines} lines, at most {MAP}"));
        }
        if !source.test && path.ends_with(".rs") {
            for (name, length) in function_lengths(source) {
                let longest = functions.entry(format!("{path}: {name}")).or_default();
                *longest = length.max(*longest);
            }
            files.insert(path, product_length(source));
        }
    }
    let named = exceptions.functions.iter().map(|(path, name, most)| (format!("{path}: {name}"), *most)).collect();
    let whole = exceptions.files.iter().map(|(path, most)| (String::from(*path), *most)).collect();
    problems.extend(ratchet(FUNCTION, &functions, &named));
    problems.extend(ratchet(FILE, &files, &whole));
    problems
}

/// Compares lengths with the limit and with a list of exceptions.
fn ratchet(most: usize, found: &BTreeMap<String, usize>, listed: &BTreeMap<String, usize>) -> Vec<String> {
    let mut problems = Vec::new();
    for (what, measure) in found {
        let most = listed.get(what).unwrap_or(&most);
        if measure > most {
            problems.push(format!("{what}: {measure} lines, at most {most}"));
        }
    }
    for (what, listed) in listed {
        match found.get(what).copied().unwrap_or_default() {
            measure if measure <= most => problems.push(format!("{what}: its exception has to go")),
            measure if measure < *listed => problems.push(format!("{what}: {measure} lines, write that for {listed}")),
            _ => {}
        }
    }
    problems
}

fn long_lines(source: &SourceFile) -> Vec<String> {
    let path = source.path;
    let measured = path.ends_with(".rs") || path.starts_with("ci/") || !path.contains('/');
    // Lines that cannot be divided: a row of a Markdown table, an address, the pattern of a sentence.
    let whole = |line: &str| {
        path.ends_with(".md") && (line.starts_with('|') || line.contains("https://"))
            || line.trim_start().starts_with("regex = r")
    };
    let long = |(_, line): &(usize, &str)| measured && line.chars().count() > COLUMNS && !whole(line);
    let lines = source.text.lines().enumerate().filter(long).map(|(at, _)| at + 1);
    lines.map(|at| format!("{path}:{at}: more than {COLUMNS} columns")).collect()
}

/// Returns each function with its lines from `fn` to the closing brace.
fn function_lengths<'a>(source: &SourceFile<'a>) -> Vec<(&'a str, usize)> {
    let tokens: Vec<&SourceToken> = source.product().collect();
    let mut lengths = Vec::new();
    for at in (1..tokens.len()).filter(|at| tokens[at - 1].text == "fn" && tokens[*at].is_word()) {
        let mut depth = 0;
        let end = tokens[at..].iter().find(|token| {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            depth == 0 && matches!(token.text, ";" | "}")
        });
        lengths.extend(end.map(|end| (tokens[at].text, end.line - tokens[at].line + 1)));
    }
    lengths
}

/// Returns how many lines belong to no test.
fn product_length(source: &SourceFile) -> usize {
    let mut test_lines = 0;
    let mut open: Option<(usize, usize)> = None;
    for token in &source.tokens {
        match (token.test, open) {
            (true, Some((first, _))) => open = Some((first, token.line)),
            (true, None) => open = Some((token.line, token.line)),
            (false, Some((first, last))) => {
                test_lines += last - first + 1;
                open = None;
            }
            (false, None) => {}
        }
    }
    test_lines += open.map_or(0, |(first, last)| last - first + 1);
    source.text.lines().count() - test_lines
}
