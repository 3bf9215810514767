//! The features, requirements, snapshots and fixtures that the program carries.
//!
//! A release build holds them; a development build reads them from the source tree that it was built from.

use std::path::{Path, PathBuf};

use crate::load::{FeatureFile, Requirements, Source, check, find_sources};

/// Where requirements stand in a source tree.
pub(super) const REQUIREMENTS: &str = "features/requirements.yaml";

static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Returns the source tree that a development build was made from.
fn tree() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the feature files.
pub(super) fn features() -> Vec<Source> {
    if !FILES.is_empty() {
        let features = FILES.iter().filter(|(name, _)| name.ends_with(".feature"));
        return features.map(|(name, bytes)| Source::new(name, *bytes)).collect();
    }
    let root = tree();
    let (mut sources, _) = find_sources(&[root.join("features")]);
    sources.iter_mut().for_each(|source| show_below(&root, source));
    sources
}

/// Returns the feature files that have one of these paths, or are below one; all of them without paths.
pub(super) fn features_at(paths: &[PathBuf]) -> Vec<Source> {
    let mut sources = features();
    let is_at =
        |path: &PathBuf, source: &Source| Path::new(&source.path).starts_with(path.strip_prefix("./").unwrap_or(path));
    sources.retain(|source| paths.is_empty() || paths.iter().any(|path| is_at(path, source)));
    sources
}

/// Returns the feature files that the program carries, checked.
#[must_use]
pub fn built_in_features() -> Vec<FeatureFile> {
    check(&features(), &requirements())
}

/// Shows the path of a source relative to a directory.
pub(super) fn show_below(root: &Path, source: &mut Source) {
    if let Ok(path) = Path::new(&source.path).strip_prefix(root) {
        source.path = path.to_string_lossy().into_owned();
    }
}

/// Returns the requirements.
pub(super) fn requirements() -> Requirements {
    file(REQUIREMENTS).and_then(|text| Requirements::parse(&text).ok()).unwrap_or_default()
}

/// Returns a file that features refer to, by its path below `fixtures/`.
pub(super) fn fixture(name: &str) -> Option<String> {
    file(&format!("fixtures/{name}"))
}

/// Returns a file by its path from the root.
pub(super) fn file(name: &str) -> Option<String> {
    if !FILES.is_empty() {
        let (_, bytes) = FILES.iter().find(|(own, _)| *own == name)?;
        return Some(String::from_utf8_lossy(bytes).into_owned());
    }
    std::fs::read_to_string(tree().join(name)).ok()
}
