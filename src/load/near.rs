//! How near two words or sentences are: what "did you mean" rests on.

pub use nodeproof_core::objects::distance;

/// Returns the nearest of some words, if it is near enough to be meant.
#[must_use]
pub fn nearest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LETTERS_MAX: usize = 100;
    if word.chars().count() > LETTERS_MAX {
        return None;
    }
    let lower = word.to_lowercase();
    among
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns how alike a sentence and a pattern are, from 0 to 1: the share of their words that both have, most of all in
/// the same order. Names and placeholders (`"worker-1"`, `{node}`) count for less than words, articles for least.
#[must_use]
pub fn likeness<W: AsRef<str>>(sentence: &[&str], pattern: &[W]) -> f64 {
    const ORDER: f64 = 0.7;
    let mut above = vec![0.0_f64; pattern.len() + 1];
    let mut in_any_order = 0.0;
    for word in sentence {
        let mut row = Vec::with_capacity(above.len());
        row.push(0.0_f64);
        let mut best = 0.0_f64;
        for (j, other) in pattern.iter().enumerate() {
            let common = in_common(word, other.as_ref());
            best = best.max(common);
            row.push((above[j] + common).max(above[j + 1]).max(row[j]));
        }
        in_any_order += best;
        above = row;
    }
    let in_order = above[pattern.len()];
    let own: f64 = sentence.iter().map(|word| weight(word)).sum();
    let both = (own + pattern.iter().map(|word| weight(word.as_ref())).sum::<f64>()).max(f64::MIN_POSITIVE);
    (2.0 * (ORDER * in_order + (1.0 - ORDER) * in_any_order) / both).min(1.0)
}

fn is_value(word: &str) -> bool {
    word.contains(['{', '"']) || word.starts_with(|c: char| c.is_ascii_digit())
}

fn weight(word: &str) -> f64 {
    const SMALL: [&str; 12] = ["a", "an", "the", "of", "on", "in", "to", "with", "is", "are", "its", "that"];
    match word {
        word if is_value(word) => 0.4,
        word if SMALL.contains(&word) => 0.3,
        _ => 1.0,
    }
}

/// Returns what two words have in common: at most the weight of the lighter one.
fn in_common(word: &str, other: &str) -> f64 {
    const TYPO: f64 = 0.7;
    let weight = weight(word).min(weight(other));
    let is_same = |other: &str| other.eq_ignore_ascii_case(word);
    if other == "{condition}" && word.contains('=') {
        return 1.0;
    }
    if is_same(other) || other.split('|').any(is_same) || (is_value(word) && is_value(other)) {
        weight
    } else if word.len() > 3 && word.len() < 40 && !is_value(word) {
        let most = 1 + word.len() / 5;
        // Words of quite another length are not measured letter by letter.
        let is_typo = |choice: &str| choice.len().abs_diff(word.len()) <= most && distance(word, choice) <= most;
        if other.split('|').any(is_typo) { TYPO * weight } else { 0.0 }
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_meant() {
        let words = ["core", "extended", "provisional"];
        assert_eq!(nearest("cor", words), Some("core"));
        assert_eq!(nearest("Extendet", words), Some("extended"));
        assert_eq!(nearest("kernel", words), None);
    }

    #[test]
    fn sentences_are_alike_by_their_words_in_order() {
        let pattern = ["a", "ready", "Node", "{node}"];
        let near = likeness(&["a", "redy", "Node", "\"w\""], &pattern);
        let far = likeness(&["the", "user", "deletes", "Node", "\"w\""], &pattern);
        assert!(near > 0.7 && far < 0.5, "{near} {far}");
    }
}
