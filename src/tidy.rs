//! Rules of the source that no compiler checks: layers, cycles, sizes, type names, versions, unused dependencies,
//! module heads, purity, white space, breakages that no longer fit.
//!
//! Inputs: the files of the tree, as paths and texts, and the exceptions. Output: problems, each with its position.
//! Each rule is tested on planted mistakes; one test applies the rules to the tree, another one checks the
//! dependencies. A new rule is a function that [`problems`] calls. Tags and snapshots are checked where they are read:
//! by the loader and by the harness.

mod breakages;
mod cycles;
mod dependencies;
mod exceptions;
mod imports;
mod layers;
mod sizes;
mod source;
#[cfg(test)]
mod tests;
mod type_names;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};

use breakages::breakages;
use cycles::cycles;
use exceptions::{EXCEPTIONS, Exceptions};
use imports::imports;
use layers::layers;
use sizes::sizes;
use source::{SourceFile, code, tree};
use type_names::type_names;

/// Returns everything that is wrong with a tree.
fn problems(files: &[(&str, &str)], exceptions: &Exceptions) -> Vec<String> {
    let sources = tree(files.iter().copied());
    let imports = imports(&sources);
    let mut problems = Vec::new();
    for source in &sources {
        problems.extend(white_space(source.path, source.text));
        if source.path.ends_with(".rs") {
            problems.extend(header(source.path, source.text));
            problems.extend(purity(source));
            problems.extend(versions::versions(source.path, source.text));
        }
    }
    problems.extend(layers(&sources, &imports));
    problems.extend(cycles(&sources, &imports));
    problems.extend(type_names(&sources));
    problems.extend(sizes(&sources, exceptions));
    problems.extend(breakages(files));
    problems.sort();
    problems.dedup();
    problems
}

fn white_space(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.contains('\t') {
            problems.push(format!("{path}:{}: a tab", at + 1));
        }
        if line.ends_with(' ') {
            problems.push(format!("{path}:{}: a blank at the end of the line", at + 1));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        problems.push(format!("{path}: the last line does not end"));
    }
    problems
}

fn header(path: &str, text: &str) -> Vec<String> {
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with("//! ") {
        Vec::new()
    } else {
        vec![format!("{path}:1: a file begins with //! and its purpose")]
    }
}

/// Finds impure code of the core that compiles.
fn purity(source: &SourceFile) -> Vec<String> {
    if !source.path.starts_with("core/src/") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (at, token) in source.tokens.iter().enumerate() {
        let after = |by: usize| source.tokens.get(at + by).map_or("", |token| token.text);
        let name = match token.text {
            "async" | "await" | "HashMap" | "HashSet" | "SystemTime" | "Instant" => String::from(token.text),
            "Timestamp" | "Zoned" if (after(1), after(2)) == ("::", "now") => format!("{}::now", token.text),
            "std" if matches!(after(2), "fs" | "env" | "net" | "thread") => format!("std::{}", after(2)),
            _ => continue,
        };
        problems.push(format!("{}:{}: {name} has no place in the core", source.path, token.line));
    }
    problems
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let wanted = ["rs", "feature", "md", "toml", "yaml", "yml"];
        let is_script = directory.ends_with("ci") && path.extension().is_none();
        if path.is_dir() {
            if !path.ends_with("target") && !path.ends_with("recorded") && !path.ends_with(".git") {
                files(&path, found);
            }
        } else if is_script || path.extension().is_some_and(|own| wanted.iter().any(|wanted| own == *wanted)) {
            found.push(path);
        }
    }
}

#[test]
fn the_tree_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    files(root, &mut found);
    found.sort();
    assert!(found.len() > 50, "the tree was not found: {} files", found.len());
    let name = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let texts = found.iter().map(|path| match fs::read_to_string(path) {
        Ok(text) => (name(path), text),
        Err(error) => panic!("{}: {error}", path.display()),
    });
    let texts: Vec<(String, String)> = texts.collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let problems = problems(&texts, &EXCEPTIONS);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
