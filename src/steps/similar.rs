//! The sentences that are most like a text that is none.
//!
//! Input: words as somebody wrote them. Output: the sentences of the vocabulary with the nearest readings.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use gherkin::StepType;
use nodeproof_core::objects::likeness::{Word, likeness, likeness_at_most, likeness_by_length};

use super::catalogue::{self, Sentence, catalogue};
use super::patterns;

/// Names the most similar sentences of a keyword, and what the first of them takes.
pub(super) fn help(words: &str, keyword: StepType) -> String {
    const SHOWN: usize = 3;
    let near: Vec<&Sentence> = nearest(words, keyword).into_iter().take(SHOWN).collect();
    let mut help: Vec<String> = near.iter().map(|sentence| sentence.pattern.clone()).collect();
    if let (Some(first), Some(sentence)) = (help.first_mut(), near.first()) {
        let takes = sentence.parameters.iter().filter(|own| !own.takes.is_empty() && own.values.is_empty());
        let takes: String = takes.map(|own| format!("\n    {{{}}}: {}", own.name, own.takes)).collect();
        *first = format!("did you mean\n  {first}{takes}");
    }
    help.join("\n  ")
}

/// Tells whether the words after the first, a keyword in prose, read as a sentence.
pub(super) fn is_sentence(prose: &str) -> bool {
    const NEAR: f64 = 0.8;
    let words = words_of(prose);
    let Some((_, rest)) = words.split_first().filter(|(_, rest)| rest.len() > 2) else { return false };
    if likeness_at_most(rest, &VOCABULARY) < NEAR {
        return false;
    }
    let mut readings = READINGS.iter().flat_map(|(_, readings)| readings);
    // Most descriptions are longer than any sentence; the length is checked first because it is cheaper.
    readings.any(|reading| likeness_by_length(rest, reading) >= NEAR && likeness(rest, reading) >= NEAR)
}

/// Returns the sentences of a keyword, the most similar first.
fn nearest(words: &str, keyword: StepType) -> Vec<&'static Sentence> {
    let own = words_of(words);
    let is_of = |sentence: &Sentence| sentence.keywords.contains(&catalogue::keyword_name(keyword));
    let mut near: Vec<(f64, &Sentence)> = READINGS
        .iter()
        .filter(|(sentence, _)| is_of(sentence))
        .map(|(sentence, readings)| (nearness(&own, readings), sentence))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().map(|(_, sentence)| sentence).collect()
}

/// The sentences of the vocabulary, each with all its readings: `{object}` as each kind of object, with and without
/// optional parts. Prepared once, since a broken file needs them for each of its lines.
static READINGS: LazyLock<Vec<(Sentence, Vec<Vec<Word>>)>> =
    LazyLock::new(|| catalogue().into_iter().map(|sentence| (sentence.clone(), readings(&sentence.pattern))).collect());

/// The words of all readings: the texts between the special characters of the patterns. Made without the readings,
/// which few files need.
static VOCABULARY: LazyLock<Vec<Word>> = LazyLock::new(|| {
    let patterns = patterns::all();
    let is_sign = |b: &u8| b" ^$()[]{}?*+|\\\"<>".contains(b);
    let between = |pattern| str::as_bytes(pattern).split(is_sign);
    let words: BTreeSet<&[u8]> = patterns.iter().map(AsRef::as_ref).chain(OBJECTS).flat_map(between).collect();
    let words = words.into_iter().filter_map(|word| str::from_utf8(word).ok());
    // Behind `(?:` a colon is left over; a colon may also be part of the text.
    let bare = words.map(|word| word.strip_prefix(':').filter(|bare| !bare.is_empty()).unwrap_or(word));
    bare.chain(["{condition}"]).map(Word::new).collect()
});

fn readings(sentence: &str) -> Vec<Vec<Word>> {
    forms(sentence).iter().map(|form| words_of(form)).collect()
}

/// What `{object}` stands for in a sentence.
const OBJECTS: [&str; 5] = [
    "Node {node}",
    "Pod {pod}",
    "the Lease of Node {node}",
    "Deployment {name}",
    "the EndpointSlice of Service {name}",
];

/// Returns the readings of a sentence with its required parts and with all parts, for each kind of object.
fn forms(sentence: &str) -> Vec<String> {
    let mut needed = String::new();
    let mut depth = 0_usize;
    for c in sentence.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => needed.push(c),
            _ => {}
        }
    }
    let needed = needed.replace(" {bound}", "").replace(" {for}", "");
    let fullest = sentence.replace(['[', ']'], " ");
    let mut forms: Vec<String> = Vec::new();
    for object in OBJECTS {
        for form in [&needed, &fullest] {
            let form = form.replacen("{object}", object, 1);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Returns the similarity of words to the nearest reading of a sentence.
fn nearness(words: &[Word], readings: &[Vec<Word>]) -> f64 {
    readings.iter().map(|reading| likeness(words, reading)).fold(0.0, f64::max)
}

fn words_of(text: &str) -> Vec<Word> {
    split(text).into_iter().map(Word::new).collect()
}

/// Splits into words; a text in quotes or braces is one word.
fn split(words: &str) -> Vec<&str> {
    const WORDS_MAX: usize = 60;
    let mut parts = Vec::new();
    let mut rest = words.trim();
    while !rest.is_empty() && parts.len() < WORDS_MAX {
        let close = match rest.chars().next() {
            Some('"') => rest[1..].find('"').map(|at| at + 2),
            Some('{') => rest.find('}').map(|at| at + 1),
            _ => None,
        };
        let end = close.unwrap_or(0);
        let end = rest[end..].find(' ').map_or(rest.len(), |at| at + end);
        parts.push(rest[..end].trim_end_matches(','));
        rest = rest[end..].trim_start();
    }
    parts
}

#[cfg(test)]
mod tests {
    use nodeproof_core::objects::likeness::is_among;

    use super::*;

    #[test]
    fn the_nearest_sentences_are_those_that_may_be_meant() {
        let cases: [(StepType, &str, &[&str]); 12] = [
            (StepType::Then, "Node \"n\" field status.x stays", &["field {path} is", "{object} stays"]),
            (StepType::Then, "Node \"n\" becomes Ready=Unknown within 50s", &["has condition"]),
            (StepType::Then, "the Pod \"p\" gets deleted within 5m", &["{object} exists|is deleted|is gone"]),
            (
                StepType::Then,
                "taint \"a:NoExecute\" is gone from Node \"n\" within 5s",
                &["taint \"{taint}\"", "is gone"],
            ),
            (StepType::Then, "the Lease of Node \"n\" gets renewed each 10s for 1m", &["is renewed every"]),
            (StepType::Then, "nothing about Node \"n\" changes", &["nothing else about"]),
            (StepType::When, "the node \"n\" is cordoned by the user", &["cordons|uncordons"]),
            (StepType::When, "machine \"n\" looses power", &["loses power"]),
            (StepType::When, "5 minutes passed", &["{duration} pass"]),
            (StepType::When, "user adds taint \"a:NoExecute\" to Node \"n\"", &["the user taints", "removes taint"]),
            (StepType::Given, "a Node \"n\" that is ready", &["a ready Node"]),
            (StepType::Given, "a Pod \"p\" running on Node \"n\"", &["a Pod \"{pod}\" on Node"]),
        ];
        let mut missing = Vec::new();
        for (keyword, words, expected) in cases {
            let shown: Vec<String> = nearest(words, keyword).into_iter().take(3).map(|s| s.pattern.clone()).collect();
            let absent = expected.iter().filter(|part| !shown.iter().any(|sentence| sentence.contains(**part)));
            missing.extend(absent.map(|part| format!("{words}: {part} is not in {shown:#?}")));
        }
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }

    #[test]
    fn the_vocabulary_has_the_words_of_all_readings() {
        for sentence in catalogue() {
            for word in forms(&sentence.pattern).iter().flat_map(|form| split(form)) {
                let choices = if word.contains(['{', '"']) { vec![word] } else { word.split('|').collect() };
                for choice in choices {
                    assert!(is_among(&Word::new(choice), &VOCABULARY), "{choice:?} of {word:?}");
                }
            }
        }
    }
}
