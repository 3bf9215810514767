//! Which scenarios are told on which page, in which order, and what people say of them.

use serde::Deserialize;

/// A page.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BehaviourPage {
    /// The name of its file, without `.md`.
    pub name: String,
    /// The question that it answers.
    pub title: String,
    /// What is meant by it.
    pub about: String,
    /// Its parts.
    pub parts: Vec<Part>,
}

/// A part of a page: one scenario, told.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The heading.
    pub title: String,
    /// The names of its scenarios, without backend: of those that apply to a release, the first is told.
    pub scenarios: Vec<String>,
    /// What happens, in a sentence or two. `{{words}}` is when that came to pass which has these words in the table.
    pub says: String,
}

/// Returns all pages in order.
///
/// # Panics
/// `pages.yaml` is wrong: a mistake in this crate, which a test shows.
#[must_use]
pub fn pages() -> Vec<BehaviourPage> {
    serde_yaml::from_str(include_str!("pages.yaml")).expect("pages.yaml is well-formed")
}
