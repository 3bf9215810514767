//! FNV-1a with 64 and 128 bits: a hash that needs no table and is the same on every machine. Pure.
//!
//! Source: draft-eastlake-fnv, sections 2 and 5.

/// The hash of nothing.
pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Returns the hash of what was hashed before and of some bytes after it.
pub(crate) fn add(hash: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// Returns the hash of some bytes with 128 bits.
pub(crate) fn wide(bytes: impl IntoIterator<Item = u8>) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
    bytes.into_iter().fold(START, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::{START, add, wide};

    #[test]
    fn hashes_are_those_of_the_draft() {
        assert_eq!(add(START, *b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(add(START, *b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(add(START, *b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(wide(*b"foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }
}
