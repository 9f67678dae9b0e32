//! Simple damage, the same for the same number: what the checks of every commit do to each seed
//! without an engine.
//!
//! No search for coverage, no memory of what was interesting: an engine has that. This finds what
//! any small damage breaks.

/// Numbers and words at which readers have their edges.
const WORDS: [&[u8]; 16] = [
    b"0",
    b"-1",
    b"18446744073709551615",
    b"18446744073709551616",
    b"4294967296",
    b"9223372036854775807",
    b"1e308",
    b"1e-320",
    b"NaN",
    b"-Infinity",
    b"null",
    b"\"\"",
    b"[[[[[[[[",
    b"\xef\xbb\xbf",
    b"\xff\xfe\x00",
    b"\r\n\n\t ",
];

/// SplitMix64.
pub struct Draws(u64);

impl Draws {
    /// A series of draws of its own for each number.
    pub fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// The seed, damaged in one to four places; `other` is another seed of the same target.
pub fn damaged(seed: &[u8], other: &[u8], draws: &mut Draws) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=draws.below(4) {
        damage(&mut bytes, other, draws);
    }
    bytes
}

fn damage(bytes: &mut Vec<u8>, other: &[u8], draws: &mut Draws) {
    let length = bytes.len();
    let at = draws.below(length);
    // Short stretches most of the time: a long one leaves little of a small file.
    let longest = [4, 16, length][draws.below(3)].min(length - at);
    let end = at + draws.below(longest + 1);
    match draws.below(8) {
        0 if length > 0 => bytes[at] ^= 1 << draws.below(8),
        1 if length > 0 => bytes[at] = [0, 0xff, 0x7f, b'"', b',', b'\n', b'{', b'9'][draws.below(8)],
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => bytes.extend_from_within(at..end),
        5 => {
            let from = draws.below(other.len());
            let to = from + draws.below(other.len() - from + 1);
            bytes.splice(at..end, other[from..to].iter().copied());
        }
        6 => {
            // A number of the file, or whatever stands there, becomes an edge.
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let end = if digits > 0 { at + digits } else { end };
            bytes.splice(at..end, WORDS[draws.below(WORDS.len())].iter().copied());
        }
        _ if length > 1 => {
            let to = draws.below(length);
            bytes.swap(at, to);
        }
        _ => bytes.extend_from_slice(WORDS[draws.below(WORDS.len())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_does_the_same_damage() {
        let once = |number| damaged(b"{\"a\": [1, 2, 3]}", b"xyz", &mut Draws::new(number));
        let all: std::collections::BTreeSet<Vec<u8>> = (0..200).map(once).collect();
        assert!(all.len() > 120, "{}", all.len());
        assert_eq!(once(17), once(17));
        for number in 0..500 {
            damaged(b"", b"", &mut Draws::new(number));
        }
    }
}
