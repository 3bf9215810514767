//! Measures how similar two sentences are, for "did you mean". Pure functions.
//!
//! A check of each line of each description: in the crate that a development build optimises it takes a tenth of the
//! time.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::near::distance;

/// A word of a sentence or pattern, prepared for comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    text: String,
    /// Names and placeholders (`"worker-1"`, `{node}`) have a lower weight than words, articles the lowest.
    weight: f64,
    is_value: bool,
}

impl Word {
    /// Makes a word of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        const SMALL: [&str; 12] = ["a", "an", "the", "of", "on", "in", "to", "with", "is", "are", "its", "that"];
        let is_value = text.contains(['{', '"']) || text.starts_with(|c: char| c.is_ascii_digit());
        let weight = match text {
            _ if is_value => 0.4,
            text if SMALL.contains(&text) => 0.3,
            _ => 1.0,
        };
        Self { text: text.to_owned(), weight, is_value }
    }
}

/// The share of the score for words in the same order; the rest is for words in any order.
const ORDER: f64 = 0.7;

/// Returns how similar a sentence and a pattern are, from 0 to 1: the share of words that both have. Words in the same
/// order count more.
#[must_use]
pub fn likeness(sentence: &[Word], pattern: &[Word]) -> f64 {
    let mut above = vec![0.0_f64; pattern.len() + 1];
    let mut in_any_order = 0.0;
    for word in sentence {
        let mut row = Vec::with_capacity(above.len());
        row.push(0.0_f64);
        let mut best = 0.0_f64;
        for (j, other) in pattern.iter().enumerate() {
            let common = in_common(word, other);
            best = best.max(common);
            row.push((above[j] + common).max(above[j + 1]).max(row[j]));
        }
        in_any_order += best;
        above = row;
    }
    let in_order = above[pattern.len()];
    let whole = weight(sentence) + weight(pattern);
    (2.0 * (ORDER * in_order + (1.0 - ORDER) * in_any_order) / whole.max(f64::MIN_POSITIVE)).min(1.0)
}

/// Returns an upper bound of [`likeness`] by the weight of the words alone, which is cheaper.
#[must_use]
pub fn likeness_by_length(sentence: &[Word], pattern: &[Word]) -> f64 {
    let (own, other) = (weight(sentence), weight(pattern));
    2.0 * (ORDER * own.min(other) + (1.0 - ORDER) * own) / (own + other).max(f64::MIN_POSITIVE)
}

fn weight(words: &[Word]) -> f64 {
    words.iter().map(|word| word.weight).sum()
}

/// Returns an upper bound of [`likeness`] to any pattern of a vocabulary: all words that are similar to a word of the
/// vocabulary count as if one pattern had them in the same order and no others.
#[must_use]
pub fn likeness_at_most(sentence: &[Word], vocabulary: &[Word]) -> f64 {
    let is_known = |word: &&Word| is_among(word, vocabulary);
    let known: f64 = sentence.iter().filter(is_known).map(|word| word.weight).sum();
    let whole = weight(sentence);
    (2.0 * known / (whole + known).max(f64::MIN_POSITIVE)).min(1.0)
}

/// Tells whether a word is similar to a word of a vocabulary.
pub fn is_among(word: &Word, vocabulary: &[Word]) -> bool {
    vocabulary.iter().any(|other| in_common(word, other) > 0.0)
}

/// Returns the common weight of two words: at most the weight of the lighter one.
fn in_common(word: &Word, other: &Word) -> f64 {
    const TYPO: f64 = 0.7;
    let weight = word.weight.min(other.weight);
    if word.is_value && other.is_value {
        return weight;
    }
    let has_value = word.is_value || other.is_value;
    let (word, other) = (word.text.as_str(), other.text.as_str());
    if other == "{condition}" && word.contains('=') {
        return 1.0;
    }
    let most = 1 + word.len() / 5;
    let may_be_typo = !has_value && word.len() > 3 && word.len() < 40;
    // Each letter that only one of the words has is a difference. Counting them is much faster than the edit distance.
    let strange = |one: &str, other: &str| (letters(one) & !letters(other)).count_ones() as usize;
    let is_near = |choice: &str| {
        choice.len().abs_diff(word.len()) <= most && strange(choice, word) <= most && strange(word, choice) <= most
    };
    if other.eq_ignore_ascii_case(word) || other.split('|').any(|choice| choice.eq_ignore_ascii_case(word)) {
        weight
    } else if may_be_typo && other.split('|').any(|choice| is_near(choice) && distance(word, choice) <= most) {
        TYPO * weight
    } else {
        0.0
    }
}

/// Returns the set of letters of a word as bits; letters far apart may share a bit.
fn letters(word: &str) -> u64 {
    word.chars().fold(0, |seen, letter| seen | 1 << (u32::from(letter) % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_alike_by_their_words_in_order() {
        let words = |text: &str| text.split(' ').map(Word::new).collect::<Vec<_>>();
        let pattern = words("a ready Node {node}");
        let near = likeness(&words("a redy Node \"w\""), &pattern);
        let far = likeness(&words("the user deletes Node \"w\""), &pattern);
        assert!(near > 0.7 && far < 0.5, "{near} {far}");
    }

    #[test]
    fn no_sentence_is_more_alike_than_the_words_of_the_vocabulary_allow() {
        let words = |text: &str| text.split(' ').map(Word::new).collect::<Vec<_>>();
        let patterns = ["a ready Node {node}", "the kubelet on {node} stops|is killed", "{time} pass[es]"].map(words);
        let vocabulary = patterns.concat();
        for sentence in ["a redy Node \"w\"", "ready Node ready Node", "the operator says so", "5s pass the kubelet on"]
        {
            let (sentence, most) = (words(sentence), likeness_at_most(&words(sentence), &vocabulary));
            for pattern in &patterns {
                let most = most.min(likeness_by_length(&sentence, pattern));
                assert!(likeness(&sentence, pattern) <= most + 1e-9, "{sentence:?} {pattern:?}");
            }
        }
        assert!(likeness_at_most(&words("which upstream calls a partition"), &vocabulary) < 0.5);
    }
}
