//! What no compiler checks about the source: layers, module headers, purity of the core, stray white space.
//!
//! Each rule is a function of a path and a text, tested on planted mistakes; one test runs them all over the tree.
//! Tags and snapshots are checked where they are read: by the loader and by the harness.

use std::fs;
use std::path::{Path, PathBuf};

/// Which modules of the core each module of the core may use beside itself.
const CORE: [(&str, &[&str]); 7] = [
    ("objects", &[]),
    ("chance", &["objects"]),
    ("profile", &["objects"]),
    ("network", &["objects", "chance", "profile"]),
    ("components", &["objects", "chance", "profile", "network"]),
    ("scenario", &["objects", "chance", "profile", "network", "components"]),
    ("sim", &["objects", "chance", "profile", "network", "components", "scenario"]),
];

/// Which modules of the shell each module of the shell may use beside itself; all may use the core.
const SHELL: [(&str, &[&str]); 16] = [
    ("load", &[]),
    ("steps", &["load"]),
    ("live", &["load", "steps"]),
    ("harness", &["load", "steps", "live"]),
    ("control", &["load", "steps", "live"]),
    ("replay", &["load", "steps", "live"]),
    ("compare", &["load", "steps", "live", "harness", "replay"]),
    ("cli", &["load", "steps", "live", "harness", "control", "replay", "compare"]),
    ("untrusted", &["load", "steps", "harness", "control", "replay"]),
    ("main", &["cli"]),
    ("conformance", &["replay"]),
    ("tests", &["harness"]),
    ("examples", &[]),
    ("fuzz", &["untrusted"]),
    ("tidy", &[]),
    ("build", &[]),
];

/// Names of macros and re-exports that stand at a crate's root and belong to no layer.
const ROOT: [&str; 4] = ["json", "serde_json", "Tests", "own"];

fn problems(path: &str, text: &str) -> Vec<String> {
    let mut problems = white_space(path, text);
    if path.ends_with(".rs") {
        problems.extend(header(path, text));
        problems.extend(layers(path, text));
        problems.extend(purity(path, text));
    }
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

/// Finds uses of a layer above.
fn layers(path: &str, text: &str) -> Vec<String> {
    let (table, inside): (&[_], _) = match path.strip_prefix("core/src/") {
        Some(inside) => (&CORE, inside),
        None => (&SHELL, path.strip_prefix("src/").unwrap_or(path)),
    };
    let own = inside.split(['/', '.']).next().unwrap_or_default();
    if own == "lib" {
        return Vec::new();
    }
    let Some((_, allowed)) = table.iter().find(|(name, _)| *name == own) else {
        return vec![format!("{path}: module {own} has no place among the layers: give it one in src/tidy.rs")];
    };
    let mut problems = Vec::new();
    for (at, line) in code(text).enumerate() {
        for root in ["crate::", "nodeproof::"] {
            for used in names_behind(&line, root) {
                let known = table.iter().any(|(name, _)| *name == used) || !ROOT.contains(&used.as_str());
                if known && used != own && !allowed.contains(&used.as_str()) {
                    problems.push(format!("{path}:{}: {own} must not use {used}", at + 1));
                }
            }
        }
        if own == "live" && names_behind(&line, "nodeproof_core::").contains(&String::from("sim")) {
            problems.push(format!("{path}:{}: live must not see the simulator", at + 1));
        }
    }
    problems
}

/// Finds what makes the core impure and the compiler lets pass.
fn purity(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("core/src/") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (at, line) in code(text).enumerate() {
        for word in ["async", "await", "HashMap", "HashSet", "SystemTime", "Instant"] {
            if words(&line).any(|own| own == word) {
                problems.push(format!("{path}:{}: {word} has no place in the core", at + 1));
            }
        }
        for name in ["Timestamp::now", "Zoned::now", "std::fs", "std::env", "std::net", "std::thread"] {
            if line.contains(name) {
                problems.push(format!("{path}:{}: {name} has no place in the core", at + 1));
            }
        }
    }
    problems
}

/// Returns the lines without comments and strings.
fn code(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| {
        let mut bare = String::new();
        let (mut quoted, mut escaped) = (false, false);
        for (at, letter) in line.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '/' if !quoted && line[at..].starts_with("//") => break,
                _ if !quoted => bare.push(letter),
                _ => {}
            }
        }
        bare
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// Returns the names that follow `root` in a line, those in braces as well.
fn names_behind(line: &str, root: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in line.match_indices(root) {
        if line[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$') {
            continue;
        }
        let rest = &line[at + root.len()..];
        match rest.strip_prefix('{') {
            // Inside the braces every first name counts: `{objects::Json, sim}`.
            Some(list) => {
                let list = list.split('}').next().unwrap_or_default();
                names.extend(list.split(',').filter_map(|item| words(item.trim()).next().map(String::from)));
            }
            None => names.extend(words(rest).next().map(String::from)),
        }
    }
    names
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let wanted = ["rs", "feature", "md", "toml", "yaml", "yml"];
        if path.is_dir() {
            if !path.ends_with("target") && !path.ends_with("recorded") && !path.ends_with(".git") {
                files(&path, found);
            }
        } else if path.extension().is_some_and(|own| wanted.iter().any(|wanted| own == *wanted)) {
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
    let mut all = Vec::new();
    for path in found {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        match fs::read_to_string(&path) {
            Ok(text) => all.extend(problems(&name, &text)),
            Err(error) => all.push(format!("{name}: {error}")),
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn each_planted_mistake_is_found() {
    let head = "//! Purpose.\n";
    for (path, text, problem) in [
        ("core/src/objects/json.rs", "use crate::sim::Simulation;\n", "objects must not use sim"),
        (
            "core/src/network/rule.rs",
            "use crate::{components::Outbox, objects::Json};\n",
            "network must not use components",
        ),
        ("core/src/components/client.rs", "fn f() { crate::scenario::run(); }\n", "components must not use scenario"),
        ("src/load/mod.rs", "use crate::harness::run;\n", "load must not use harness"),
        ("src/live/mod.rs", "use nodeproof_core::sim::Simulation;\n", "live must not see the simulator"),
        ("src/control/mod.rs", "use crate::replay::Report;\n", "control must not use replay"),
        ("src/odd/mod.rs", "\n", "module odd has no place among the layers"),
        ("core/src/objects/text.rs", "async fn f() {}\n", "async has no place in the core"),
        ("core/src/sim/mod.rs", "use std::collections::HashMap;\n", "HashMap has no place in the core"),
        ("core/src/sim/mod.rs", "let now = jiff::Timestamp::now();\n", "Timestamp::now has no place in the core"),
        ("core/src/sim/mod.rs", "let text = std::fs::read(path);\n", "std::fs has no place in the core"),
        ("src/load/mod.rs", "let a = 1; \n", "a blank at the end of the line"),
        ("src/load/mod.rs", "\tlet a = 1;\n", "a tab"),
        ("src/load/mod.rs", "let a = 1;", "the last line does not end"),
    ] {
        let found = problems(path, &format!("{head}{text}"));
        assert!(found.len() == 1 && found[0].contains(problem), "{path}: {text}: {found:?}");
    }
    assert!(problems("src/load/mod.rs", "use std::fs;\n")[0].contains("begins with //!"));
}

#[test]
fn what_stands_in_comments_and_strings_is_no_mistake() {
    for text in [
        "//! Purpose.\n// async HashMap crate::sim\n",
        "//! Purpose.\nlet text = \"crate::sim and \\\" HashMap\"; // Instant\n",
        "//! Purpose.\nuse crate::json;\nuse crate::network::Call;\nlet $crate::objects::Json = x;\n",
    ] {
        assert_eq!(problems("core/src/network/rule.rs", text), Vec::<String>::new(), "{text}");
    }
}
