//! Base64, as certificates and tokens are written (RFC 4648). Pure: bytes and texts.

use alloc::string::String;
use alloc::vec::Vec;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Writes bytes in the alphabet for URLs, without padding.
#[must_use]
pub fn encode_for_url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            text.push(char::from(LETTERS[(group >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}

/// Writes bytes in the usual alphabet, with padding.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = encode_for_url(bytes).replace('-', "+").replace('_', "/");
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Returns where a text departs from base64 in the usual alphabet with padding.
/// Source: Go's encoding/base64 (1.24), `decodeQuantum`.
#[must_use]
pub fn problem(text: &str) -> Option<usize> {
    let letters = text.bytes().enumerate().filter(|(_, letter)| !matches!(letter, b'\r' | b'\n'));
    let (mut begun, mut count, mut padding) = (0, 0, 0);
    for (at, letter) in letters {
        let place = count % 4;
        match letter {
            _ if padding > 0 && place == 0 => return Some(at),
            b'=' if place < 2 => return Some(at),
            b'=' => padding += 1,
            _ if padding > 0 => return Some(at),
            letter if letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/') => {}
            _ => return Some(at),
        }
        if place == 0 {
            begun = at;
        }
        count += 1;
    }
    match (count % 4, padding) {
        (0, _) => None,
        (_, 0) => Some(begun),
        _ => Some(text.len()),
    }
}

/// Reads either alphabet; line breaks and padding are skipped. `None` for any other letter.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut group, mut bits) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| !letter.is_ascii_whitespace() && *letter != b'=') {
        let letter = match letter {
            b'+' => b'-',
            b'/' => b'_',
            letter => letter,
        };
        let value = LETTERS.iter().position(|known| *known == letter)?;
        group = group << 6 | u32::try_from(value).ok()?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(group >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// Reads the alphabet for URLs, without padding.
///
/// # Errors
/// The place of the first wrong character.
pub fn decode_for_url(text: &str) -> Result<Vec<u8>, usize> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        bits = bits << 6 | LETTERS.iter().position(|own| *own == byte).ok_or(at)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 255).unwrap_or(0));
            bits &= (1 << count) - 1;
        }
    }
    if count == 6 { Err(text.len() - 1) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    use super::{decode, decode_for_url, encode, encode_for_url};

    #[test]
    fn bytes_are_encoded_with_padding() {
        for (text, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(encode(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn a_text_that_is_no_base64_is_told_by_its_first_wrong_byte() {
        let cases = [
            ("", None),
            ("YQ==", None),
            ("YWJj", None),
            ("!!", Some(0)),
            ("YQ", Some(0)),
            ("YWJjZ", Some(4)),
            ("Y===", Some(1)),
        ];
        for (text, at) in cases {
            assert_eq!(super::problem(text), at, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["", "a", "ab", "abc", "abcd", "\u{ff}\u{fe}?>"] {
            let written = encode_for_url(text.as_bytes());
            assert_eq!(decode(&written).as_deref(), Some(text.as_bytes()), "{text}");
            assert_eq!(decode_for_url(&written).as_deref(), Ok(text.as_bytes()), "{text}");
        }
        assert_eq!(encode_for_url(b"a?>"), "YT8-");
        assert_eq!(decode("YT8+").as_deref(), Some(&b"a?>"[..]));
        assert_eq!(decode("YWI=\n").as_deref(), Some(&b"ab"[..]));
        assert_eq!(decode("Y*"), None);
    }
}
