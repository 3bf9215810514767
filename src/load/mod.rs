//! From feature files to checked cases. Every problem has file, line and column; nothing is run.
//!
//! Inputs: bytes, from a directory or embedded in the program. Outputs: [`FeatureFile`]s, each with its cases
//! (scenarios, outlines expanded row by row) and with its [`Problem`]s. What sentences mean is decided in `steps`.
//! Invariant: no input causes a panic, and nothing in a file is dropped silently; where the crate gherkin does that
//! (see [`pitfalls`]), it is a problem here.

mod document;
pub mod gherkin_document;
pub mod near;
mod outline;
pub mod pitfalls;
mod problem;
mod source;
mod syntax;
mod tags;
pub(crate) mod yaml_error;

use std::collections::BTreeMap;

pub use document::{Case, Row, StepLine};
pub(crate) use document::{cell_place, step_problem};
pub use problem::Problem;
pub use source::{Source, Sources, find_sources, identify};
pub use tags::{Requirement, Requirements, Tags, check_tag};

/// One feature file after the check.
#[derive(Debug, Clone, Default)]
pub struct FeatureFile {
    /// Its path as printed in problems.
    pub path: String,
    /// `area::topic`, which begins the names of its trials.
    pub id: String,
    /// The scenarios, in their order; outlines row by row. Empty if the file does not parse.
    pub cases: Vec<Case>,
    /// All problems; for a file that does not parse only the first one.
    pub problems: Vec<Problem>,
    /// The first problem that is of the file and of no single rule or scenario: none of its cases is run.
    pub flaw: Option<Problem>,
    /// Lines of descriptions, in which `steps` looks for steps that lost their keyword.
    pub prose: Vec<Prose>,
}

/// A line of a description.
#[derive(Debug, Clone)]
pub struct Prose {
    /// The line of the heading that it describes.
    pub heading: usize,
    /// The line, from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
    /// The line as it stands in the file.
    pub excerpt: String,
}

/// Checks all files; nothing is run.
///
/// The files come back in the order of their names.
#[must_use]
pub fn check(sources: &[Source], requirements: &Requirements) -> Vec<FeatureFile> {
    let mut files: Vec<_> = sources.iter().map(|source| check_one(source, requirements)).collect();
    files.sort_by(|a, b| a.id.cmp(&b.id).then_with(|| a.path.cmp(&b.path)));
    refuse_shared_names(&mut files);
    files
}

/// Checks one file.
#[must_use]
pub fn check_one(source: &Source, requirements: &Requirements) -> FeatureFile {
    let mut file = FeatureFile { path: source.path.clone(), id: source.id.clone(), ..FeatureFile::default() };
    let text = match source.text() {
        Ok(text) => text,
        Err(problem) => {
            file.problems.push(*problem);
            return file;
        }
    };
    match syntax::parse(&text) {
        Ok(feature) => document::read(&text, &feature, requirements, &mut file),
        Err(problem) => file.problems.push(*problem),
    }
    file.problems.sort();
    file.problems.dedup();
    file
}

/// Refuses two files whose names differ only in case or punctuation: they would share their trials and snapshots.
fn refuse_shared_names(files: &mut [FeatureFile]) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for file in files {
        if let Some(other) = seen.insert(file.id.clone(), file.path.clone()) {
            let message = format!("its trials would have the same names ({}::…) as those of {other}", file.id);
            let problem = Problem::of_file(&file.path, message).help("rename one of the files");
            file.flaw = Some(problem.clone());
            file.problems.push(problem);
        }
    }
}

/// Turns words into a part of a trial's name: lower case, letters and digits, words joined by `_`.
#[must_use]
pub fn slug(words: &str) -> String {
    const BYTES_MAX: usize = 100;
    let mut slug = String::new();
    for c in words.chars() {
        if c.is_alphanumeric() {
            if slug.len() + c.len_utf8() > BYTES_MAX {
                break;
            }
            slug.extend(c.to_lowercase());
        } else if c != '\'' && c != '’' && !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    slug.truncate(slug.trim_end_matches('_').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case_words_joined_by_underscores() {
        let cases = [
            ("The kubelet is killed", "the_kubelet_is_killed"),
            ("A node's lease, 40 s", "a_nodes_lease_40_s"),
            ("Ready=Unknown | 50.5 %", "ready_unknown_50_5"),
            ("  (x)  ", "x"),
            ("노드가 꺼진다", "노드가_꺼진다"),
            ("!?", ""),
        ];
        for (words, expected) in cases {
            assert_eq!(slug(words), expected, "{words}");
        }
        assert!(slug(&"é".repeat(500)).len() <= 100);
    }

    #[test]
    fn files_whose_trials_would_share_names_are_refused() {
        let text = "Feature: x\n  Scenario: y\n    Given z\n";
        let sources = [
            Source::new("features/a/b_c.feature", text.as_bytes().to_vec()),
            Source::new("features/a/b-c.feature", text.as_bytes().to_vec()),
        ];
        let files = check(&sources, &Requirements::default());
        assert_eq!(files.iter().map(|file| file.problems.len()).sum::<usize>(), 1);
    }
}
