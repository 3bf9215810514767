//! Measures how similar two words are, for "did you mean". Pure functions.

pub use nodeproof_core::objects::distance;

/// Returns the most similar of some words, if it is similar enough to be meant.
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
}
