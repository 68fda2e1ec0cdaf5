//! A hash that is the same on every machine and in every version: FNV-1a, 64 bits.

/// The hash of some bytes.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    fnv1a_after(0xcbf2_9ce4_8422_2325, bytes)
}

/// The hash of some bytes that follow others, of which this is the hash.
pub(crate) fn fnv1a_after(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
