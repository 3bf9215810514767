//! Finds unused dependencies: each dependency in a manifest must be used by the sources of its package.
//!
//! Inputs: the manifests and sources of the tree. Output: the unused dependencies. A dependency is used where code says
//! `name::`; comments and strings do not count. Left out on purpose: features of dependencies, which leave no name in
//! the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{code, files};

/// Each package: its manifest, where its sources are, and where else its development dependencies may be used.
const PACKAGES: [(&str, &[&str], &[&str]); 4] = [
    // The tests of the core are a target of this package too.
    ("Cargo.toml", &["src"], &["tests", "core/src"]),
    ("core/Cargo.toml", &["core/src"], &[]),
    ("examples/own-steps/Cargo.toml", &["examples/own-steps/tests"], &[]),
    ("fuzz/Cargo.toml", &["fuzz/fuzz_targets"], &[]),
];

/// Declared for its features alone, which others then find as they want them.
const FOR_FEATURES: [&str; 1] = ["idna"];

/// Returns the dependencies of a manifest, with the section that names each.
fn dependencies(manifest: &str) -> Vec<(&str, &str)> {
    let (mut section, mut found) = ("", Vec::new());
    for line in manifest.lines().filter(|line| !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            // A dependency may have a section of its own: `[dependencies.name]`.
            if let Some((kind, name)) = section.rsplit_once('.').filter(|(kind, _)| kind.ends_with("dependencies")) {
                found.push((kind, name));
            }
        } else if let Some((key, _)) = line.split_once('=').filter(|_| section.ends_with("dependencies")) {
            found.push((section, key.split('.').next().unwrap_or_default().trim()));
        }
    }
    found
}

/// Returns the names with which paths begin in a text: those of crates are among them.
fn roots(text: &str) -> BTreeSet<String> {
    let is_inside = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let root_before = |before: &str| {
        let path = before.rsplit(|letter| !is_inside(letter)).next().unwrap_or_default();
        (!path.contains(':')).then(|| path.to_owned())
    };
    code(text)
        .flat_map(|line| line.match_indices("::").filter_map(|(at, _)| root_before(&line[..at])).collect::<Vec<_>>())
        .collect()
}

/// Names the dependencies of a manifest that neither its sources nor, for its development, its tests use.
fn unused<'a>(manifest: &'a str, sources: &BTreeSet<String>, tests: &BTreeSet<String>) -> Vec<&'a str> {
    let is_used = |(section, name): &(&str, &str)| {
        let root = name.replace('-', "_");
        sources.contains(&root) || section.ends_with("dev-dependencies") && tests.contains(&root)
    };
    dependencies(manifest).into_iter().filter(|dependency| !is_used(dependency)).map(|(_, name)| name).collect()
}

#[test]
fn every_dependency_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    files(root, &mut all);
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let below = |directories: &[&str]| -> BTreeSet<String> {
        let is_below = |path: &Path| directories.iter().any(|directory| path.starts_with(root.join(directory)));
        let is_source = |path: &Path| path.extension().is_some_and(|own| own == "rs");
        all.iter().filter(|path| is_below(path) && is_source(path)).flat_map(|path| roots(&read(path))).collect()
    };
    let mut problems = Vec::new();
    for (manifest, sources, tests) in PACKAGES {
        let manifest_text = read(&root.join(manifest));
        let names = unused(&manifest_text, &below(sources), &below(tests));
        for name in names.into_iter().filter(|name| !FOR_FEATURES.contains(name)) {
            problems.push(format!("{manifest}: {name} is declared and not used"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let known = |path: &Path| PACKAGES.iter().any(|(manifest, ..)| path == root.join(manifest));
    let unknown: Vec<_> = all.iter().filter(|path| path.ends_with("Cargo.toml") && !known(path)).collect();
    assert!(unknown.is_empty(), "packages whose dependencies nobody checks: {unknown:?}");
}

#[test]
fn an_unused_dependency_is_found() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\nserde-json = \"1\"\nlibm = { version = \"1\" \
        }\nhttp.workspace = true\n\
        # a = \"1\"\n[dev-dependencies]\nh2 = \"0.4\"\n[target.'cfg(unix)'.dependencies.kube]\nversion \
        = \"5\"\n[features]\na = []\n";
    let source = "use serde_json::{Value};\nlet a = hyper::http::Uri; // http::Uri, libm::sin, kube::Client\n\"h2::\"";
    let (sources, tests) = (roots(source), roots("use h2::server;"));
    assert_eq!(unused(manifest, &sources, &tests), ["libm", "http", "kube"]);
    assert_eq!(unused(manifest, &sources, &BTreeSet::new()), ["libm", "http", "h2", "kube"]);
}
