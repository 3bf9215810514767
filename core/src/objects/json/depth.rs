//! JSON that is nested deeply: a tree has fewer levels than Go's decoder reads.
//!
//! Inputs: a text. Outputs: the same text with `null` in place of what stands too deep, or that it is too deep for Go,
//! too. No type of the API is so deep; what is cut off stands in unknown fields. Pure.

use alloc::string::String;

/// The most levels of a tree that is read.
const KEPT: usize = 100;
/// The most levels that Go reads. Source: encoding/json scanner.go (Go 1.24), `maxNestingDepth`.
const DEEPEST: usize = 10_000;

/// Cuts off what stands too deep.
///
/// # Errors
///
/// Go's words for a text that is too deep for it, too.
pub fn without_depths(text: &str) -> Result<String, &'static str> {
    let mut cut = String::with_capacity(text.len());
    let (mut depth, mut in_string, mut escaped, mut from) = (0_usize, false, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                if depth == KEPT {
                    cut.push_str(&text[from..at]);
                    cut.push_str("null");
                }
                depth += 1;
                if depth > DEEPEST {
                    let is_list = byte == b'[';
                    let why = ["invalid character '{' exceeded max depth", "invalid character '[' exceeded max depth"];
                    return Err(why[usize::from(is_list)]);
                }
            }
            b'}' | b']' if !in_string => {
                if depth == KEPT + 1 {
                    from = at + 1;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    if depth <= KEPT {
        cut.push_str(&text[from..]);
    }
    Ok(cut)
}

#[cfg(test)]
mod tests {
    use super::without_depths;
    use crate::objects::Json;

    #[test]
    fn what_stands_too_deep_becomes_null() {
        let nested =
            |levels: usize| alloc::format!("{{\"a\":{}1{},\"b\":\"[{{\"}}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(without_depths(&nested(50)).unwrap(), nested(50));
        let cut = without_depths(&nested(500)).unwrap();
        assert_eq!(Json::parse(&cut).unwrap().get("b").as_str(), Some("[{"));
        assert_eq!(without_depths(&nested(20_000)), Err("invalid character '[' exceeded max depth"));
        assert!(Json::parse(&without_depths(&"[".repeat(500)).unwrap()).is_err());
    }
}
