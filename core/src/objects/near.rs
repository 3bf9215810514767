//! Finds the known word nearest to a mistyped one. Pure.

use alloc::vec::Vec;

/// Returns the candidate nearest to a word: at most a third of its letters differ. Of equals the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().max(3) / 3;
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Counts the letters to insert, remove, replace or swap with their neighbour to turn one text into the other.
#[must_use]
pub fn distance(left: &str, right: &str) -> usize {
    let letters = |text: &str| text.chars().collect::<Vec<_>>();
    let (left, right) = (letters(left), letters(right));
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = Vec::from([row + 1]);
        for (column, other) in right.iter().enumerate() {
            let replaced = above[column] + usize::from(letter != other);
            let mut least = replaced.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && left[row - 1] == *other && right[column - 1] == *letter {
                least = least.min(before[column - 1] + 1);
            }
            current.push(least);
        }
        before = core::mem::replace(&mut above, current);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn a_swap_of_neighbours_counts_once_and_case_counts() {
        for (left, right, expected) in [
            ("", "", 0),
            ("given", "", 5),
            ("given", "givn", 1),
            ("when", "wehn", 1),
            ("a", "b", 1),
            ("Node", "node", 1),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["kubelet-stop", "kubelet-start", "power-off"];
        assert_eq!(nearest("kubelet-sotp", known), Some("kubelet-stop"));
        assert_eq!(nearest("Power-Off", known), Some("power-off"));
        assert_eq!(nearest("explode", known), None);
        assert_eq!(nearest("", known), None);
    }
}
