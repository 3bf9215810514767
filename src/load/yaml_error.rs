//! What the YAML parser says of a text, without the positions in it: these count within the text, where the message is
//! shown at the line of the file.

/// Returns what is wrong, as `did not find expected ',' or ']', while parsing a flow sequence`.
pub(crate) fn without_places(error: &serde_yaml::Error) -> String {
    let text = error.to_string();
    let mut parts = text.split(" at line ");
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let numbers = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let line = numbers(part);
        let column = part[line..].strip_prefix(" column ").filter(|_| line > 0);
        match column.map(|rest| (rest, numbers(rest))) {
            Some((rest, digits @ 1..)) => bare += &rest[digits..],
            // These words are the text's own.
            _ => bare.extend([" at line ", part]),
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positions_are_left_out_and_the_words_stay() {
        for (text, said) in [
            ("a: [1\nb: 2\n", "did not find expected ',' or ']', while parsing a flow sequence"),
            ("a: b: c\n", "mapping values are not allowed in this context"),
            ("a: 1\na: 2\n", "duplicate entry with key \"a\""),
        ] {
            let error = serde_yaml::from_str::<serde_yaml::Value>(text).unwrap_err();
            assert_eq!(without_places(&error), said);
        }
    }
}
