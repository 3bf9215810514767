//! The reference of the vocabulary, made from the functions of sentences: their patterns and the comments above them.
//!
//! Output: [`Sentence`]s in the order of their files, with parameters, source and examples from features.

use std::sync::LazyLock;

use cucumber::codegen::{StepConstructor, WorldInventory};
use cucumber::{codegen::inventory, step::Location};
use gherkin::StepType;
use serde::Serialize;

use super::draft::Draft;
use super::parameters::{Parameter, parameters};
use super::patterns::{pattern_at, place_of};
use super::sources::{comment_above, file_of};
use super::syntax::render;
use crate::load::FeatureFile;

/// A sentence of the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sentence {
    /// The keywords under which it stands: `given`, `when`, `then`.
    pub keywords: Vec<&'static str>,
    /// The sentence, with its parameters in braces.
    pub pattern: String,
    /// The regular expression that finds it.
    pub regex: String,
    /// Its parameters in their order.
    pub parameters: Vec<Parameter>,
    /// What it means.
    pub says: String,
    /// The part of the vocabulary to which it belongs.
    pub part: &'static str,
    /// Steps of features that use it; filled in by [`with_examples`].
    pub examples: Vec<String>,
    /// Where its function stands: `file:line`.
    pub source: String,
    /// Where the attributes of its function stand.
    #[serde(skip)]
    places: Vec<(&'static str, u32)>,
}

/// Adds to each sentence the first steps of some features that use it.
#[must_use]
pub fn with_examples(mut sentences: Vec<Sentence>, files: &[FeatureFile]) -> Vec<Sentence> {
    const SHOWN: usize = 3;
    let steps = files.iter().flat_map(|file| &file.cases).flat_map(|case| &case.steps);
    for line in steps {
        let Some(place) = place_of(&line.step) else { continue };
        let Some(sentence) = sentences.iter_mut().find(|sentence| sentence.places.contains(&place)) else { continue };
        let has_room = sentence.examples.len() < SHOWN;
        if has_room && !sentence.examples.contains(&line.step.value) {
            sentence.examples.push(line.step.value.clone());
        }
    }
    sentences
}

/// Returns the number of the sentence, in the order of [`catalogue`], that a step is.
#[must_use]
pub fn sentence_of(sentences: &[Sentence], step: &gherkin::Step) -> Option<usize> {
    let place = place_of(step)?;
    sentences.iter().position(|sentence| sentence.places.contains(&place))
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
    let mut found: Vec<(usize, &'static str, String, Location)> = Vec::new();
    let mut note = |keyword: &'static str, inner: (Location, cucumber::codegen::LazyRegex)| {
        let (place, regex) = inner;
        let file = file_of(place);
        let pattern = pattern_at(place).map_or_else(|| regex().as_str().to_owned(), str::to_owned);
        found.push((file.map_or(usize::MAX, |(number, _)| number), keyword, pattern, place));
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
    found.sort_by_key(|(order, _, _, place)| (*order, place.path, place.line));
    let mut sentences: Vec<Sentence> = Vec::new();
    for (_, keyword, regex, place) in found {
        let part = file_of(place).map_or(OWN_PART, |(_, part)| part);
        if let Some(same) = sentences.iter_mut().find(|s| s.regex == regex && s.part == part) {
            same.keywords.push(keyword);
            same.places.push((place.path, place.line));
            continue;
        }
        sentences.push(Sentence {
            keywords: vec![keyword],
            pattern: render(&regex),
            parameters: parameters(&regex),
            says: comment_above(place),
            part,
            regex,
            examples: Vec::new(),
            source: format!("{}:{}", place.path, place.line),
            places: vec![(place.path, place.line)],
        });
    }
    sentences
}

/// Where sentences of other crates stand in the reference.
const OWN_PART: &str = "Sentences of your own";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use regex::Regex;

    use super::*;
    use crate::load::{Requirements, Source, check, check_one, find_sources};

    #[test]
    fn every_sentence_says_what_it_means_and_is_in_the_reference() {
        for sentence in catalogue() {
            assert!(!sentence.says.is_empty(), "no comment above {}", sentence.source);
            assert!(sentence.part != OWN_PART || is_of_a_test(&sentence), "{} is in no part", sentence.source);
        }
    }

    fn is_of_a_test(sentence: &Sentence) -> bool {
        sentence.pattern.starts_with("(test)")
    }

    #[test]
    fn the_vocabulary_stays_small() {
        let count = catalogue().iter().filter(|sentence| !is_of_a_test(sentence)).count();
        assert!(count <= 88, "{count} sentences, at most 88: fold one into another that says nearly the same");
    }

    /// A sentence that nobody uses is one that everybody has to read past.
    #[test]
    fn every_sentence_is_used_by_a_feature() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (sources, _) = find_sources(&[root.join("features"), root.join("examples/own-steps/features")]);
        let features = check(&sources, &Requirements::default());
        let steps = features.iter().flat_map(|file| &file.cases).flat_map(|case| &case.steps);
        let mut texts: Vec<String> = steps.map(|line| line.step.value.clone()).collect();
        // What is said of each Node is a sentence about one.
        let inner = texts.iter().filter_map(|text| text.split_once("each Node of the cluster"));
        let inner: Vec<String> = inner.map(|(of, rest)| format!("{of}Node \"*\"{rest}")).collect();
        texts.extend(inner);
        let sentences = catalogue();
        let is_used = |sentence: &Sentence| {
            let regex = Regex::new(&sentence.regex).expect("cucumber has taken it");
            texts.iter().any(|text| regex.is_match(text))
        };
        let unused = sentences.iter().filter(|sentence| !is_of_a_test(sentence) && !is_used(sentence));
        let unused: Vec<&str> = unused.map(|sentence| sentence.pattern.as_str()).collect();
        assert!(unused.is_empty(), "no feature uses: {}", unused.join("\n"));
    }

    #[test]
    fn examples_are_steps_of_features() {
        let text = "Feature: x\n  Scenario: y\n    Given no other Node\n    And a ready Node \"a\"\n    And a ready \
            Node \"b\"\n";
        let file = check_one(&Source::new("features/a/b.feature", text.as_bytes()), &Requirements::default());
        let sentences = with_examples(catalogue(), &[file]);
        let with = |pattern: &str| sentences.iter().find(|s| s.pattern.starts_with(pattern)).unwrap().examples.clone();
        assert_eq!(with("a ready Node"), ["a ready Node \"a\"", "a ready Node \"b\""]);
        assert_eq!(with("no other Node"), ["no other Node"]);
        assert!(with("ready Nodes").is_empty());
    }
}
