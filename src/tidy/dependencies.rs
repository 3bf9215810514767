//! Each dependency that a manifest names is used by the sources of its package, and each unused one is a problem.
//!
//! Input: the manifests and sources of the tree. A dependency is used where code says `name::`; comments and strings
//! are no use. Left out on purpose: features of dependencies, which leave no name in the code.

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

/// Tells whether a text uses a crate: a path begins with its name.
fn uses(text: &str, name: &str) -> bool {
    let root = format!("{}::", name.replace('-', "_"));
    let is_inside = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    code(text).any(|line| line.match_indices(&root).any(|(at, _)| !line[..at].ends_with(is_inside)))
}

/// Names the dependencies of a manifest that neither its sources nor, for its development, its tests use.
fn unused<'a>(manifest: &'a str, sources: &[String], tests: &[String]) -> Vec<&'a str> {
    let is_unused = |(section, name): &(&str, &str)| {
        let tests = if section.ends_with("dev-dependencies") { tests } else { &[] };
        !sources.iter().chain(tests).any(|text| uses(text, name))
    };
    dependencies(manifest).into_iter().filter(is_unused).map(|(_, name)| name).collect()
}

#[test]
fn every_dependency_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    files(root, &mut all);
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let below = |directories: &[&str]| -> Vec<String> {
        let is_below = |path: &Path| directories.iter().any(|directory| path.starts_with(root.join(directory)));
        let is_source = |path: &Path| path.extension().is_some_and(|own| own == "rs");
        all.iter().filter(|path| is_below(path) && is_source(path)).map(|path| read(path)).collect()
    };
    let mut problems = Vec::new();
    for (manifest, sources, tests) in PACKAGES {
        for name in unused(&read(&root.join(manifest)), &below(sources), &below(tests)) {
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
    let (sources, tests) = ([source.to_owned()], ["use h2::server;".to_owned()]);
    assert_eq!(unused(manifest, &sources, &tests), ["libm", "http", "kube"]);
    assert_eq!(unused(manifest, &sources, &[]), ["libm", "http", "h2", "kube"]);
}
