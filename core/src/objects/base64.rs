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

#[cfg(test)]
mod tests {
    use super::{decode, encode_for_url};

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["", "a", "ab", "abc", "abcd", "\u{ff}\u{fe}?>"] {
            assert_eq!(decode(&encode_for_url(text.as_bytes())).as_deref(), Some(text.as_bytes()), "{text}");
        }
        assert_eq!(encode_for_url(b"a?>"), "YT8-");
        assert_eq!(decode("YT8+").as_deref(), Some(&b"a?>"[..]));
        assert_eq!(decode("YWI=\n").as_deref(), Some(&b"ab"[..]));
        assert_eq!(decode("Y*"), None);
    }
}
