//! Digests, for names, marks and orders that Kubernetes builds from a hash.
//!
//! Pure: bytes in, the digest out. The library's: it differs in nothing but speed between machines.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use md5::Md5;
use sha2::{Digest as _, Sha256, Sha512};

/// Returns the MD5 of some bytes.
pub(crate) fn md5(bytes: &[u8]) -> Vec<u8> {
    Md5::digest(bytes).to_vec()
}

/// Returns the SHA-256 of some bytes as 64 lower-case hexadecimal digits.
#[must_use]
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of some bytes.
#[must_use]
pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

/// Returns the SHA-512 of some bytes in upper-case digits, as Go's `%X` prints it.
pub(crate) fn sha512_upper_hex(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|byte| format!("{byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{sha256_hex, sha512_upper_hex};

    #[test]
    fn the_digests_of_the_standards_examples() {
        for (text, digest) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(sha256_hex(text.as_bytes()), digest);
        }
        assert!(sha512_upper_hex(b"abc").starts_with("DDAF35A193617ABACC417349AE204131"));
        assert!(sha512_upper_hex(b"").starts_with("CF83E1357EEFB8BDF1542850D66D8007"));
        let long = [b'a'; 200];
        assert_eq!(sha512_upper_hex(&long).len(), 128);
        assert!(sha512_upper_hex(&long).starts_with("4B11459C33F52A22EE8236782714C150"));
    }
}
