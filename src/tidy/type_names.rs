//! A name means one thing: at most two modules define a type of the same name.

use std::collections::{BTreeMap, BTreeSet};

use super::source::SourceFile;

const MOST: usize = 2;

pub(super) fn type_names(sources: &[SourceFile]) -> Vec<String> {
    let mut defined = BTreeMap::<&str, BTreeSet<&str>>::new();
    for source in sources.iter().filter(|source| !source.module.is_empty()) {
        for name in types(source) {
            defined.entry(name).or_default().insert(source.path);
        }
    }
    let mut problems = Vec::new();
    for (name, paths) in defined.iter().filter(|(_, paths)| paths.len() > MOST) {
        let paths = paths.iter().copied().collect::<Vec<_>>().join(", ");
        problems.push(format!("type {name} is defined in more than {MOST} modules: {paths}"));
    }
    problems
}

/// Returns the types that a file defines, without those that belong to a trait or an `impl`.
fn types<'a>(source: &SourceFile<'a>) -> Vec<&'a str> {
    let tokens: Vec<_> = source.product().collect();
    let mut depth = 0;
    let mut types = Vec::new();
    for pair in tokens.windows(2) {
        match pair[0].text {
            "{" => depth += 1,
            "}" => depth -= 1,
            "struct" | "enum" | "trait" if pair[1].is_word() => types.push(pair[1].text),
            "type" if pair[1].is_word() && depth == 0 => types.push(pair[1].text),
            _ => {}
        }
    }
    types
}
