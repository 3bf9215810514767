//! How near two words or sentences are: what "did you mean" rests on.

/// Returns the number of letters to change, insert, drop or swap to turn one text into the other.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (rows[i][j] + usize::from(x != y)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

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

/// Returns how alike two sentences are, from 0 to 1: the share of words that both have in the same order.
#[must_use]
pub fn likeness(a: &[&str], b: &[&str]) -> f64 {
    let mut rows = vec![vec![0.0_f64; b.len() + 1]];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![0.0_f64];
        for (j, y) in b.iter().enumerate() {
            let same = rows[i][j] + word_likeness(x, y);
            row.push(same.max(rows[i][j + 1]).max(row[j]));
        }
        rows.push(row);
    }
    let longest = a.len().max(b.len()).max(1);
    #[expect(clippy::cast_precision_loss, reason = "sentences have few words")]
    let longest = longest as f64;
    rows[a.len()][b.len()] / longest
}

/// Placeholders (`{…}`) are like everything, but less than a word is like itself.
fn word_likeness(a: &str, b: &str) -> f64 {
    const PLACEHOLDER: f64 = 0.9;
    const TYPO: f64 = 0.7;
    if a == b || b.split('|').any(|choice| choice == a) {
        1.0
    } else if a.contains('{') || b.contains('{') {
        PLACEHOLDER
    } else if a.len() > 3 && a.len() < 40 && distance(a, b) <= 1 + a.len() / 5 {
        TYPO
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_counts_once() {
        for (a, b, expected) in
            [("", "", 0), ("given", "", 5), ("given", "givn", 1), ("when", "wehn", 1), ("a", "b", 1)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

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
