//! The order in which documents are drawn from a corpus, where not all of them are wanted.
//!
//! A document's place is a hash of the seed with its number in the corpus; the options of a
//! question share that of the question's name, so that it stays whole. Documents in the order of
//! their places are a sample without replacement, of any size: who wants more takes further ones.
//!
//! So the order depends on no tokenizer, no machine and no file's name. Documents that are appended
//! to a corpus leave the order of the others as it is.

use sha2::{Digest, Sha256};

use crate::document::Document;

/// Place of the document that is `number` in its corpus, from 0: the first 8 bytes, big-endian, of
/// `SHA-256("relscale draw 1\n", seed, 0, number)`, or with `1, name` in place of `0, number` where
/// it belongs to a question (tag `item`); numbers are 8 bytes, little-endian. Equal places are
/// taken in the corpus's order.
///
/// ```
/// use relscale_corpus::{Document, draw::place};
/// let option = |name| Document::new(name, "text").with_tag("item", "q1");
/// assert_eq!(place(1, 0, &option("A")), place(1, 7, &option("B")));
/// let text = Document::new("a", "text");
/// assert_ne!(place(1, 0, &text), place(1, 1, &text));
/// assert_ne!(place(1, 0, &text), place(2, 0, &text));
/// ```
pub fn place(seed: u64, number: u64, document: &Document) -> u64 {
    let mut hash = Sha256::new_with_prefix(b"relscale draw 1\n");
    hash.update(seed.to_le_bytes());
    match document.tags.get("item") {
        Some(item) => {
            hash.update([1]);
            hash.update(item.as_bytes());
        }
        None => {
            hash.update([0]);
            hash.update(number.to_le_bytes());
        }
    }
    hash.finalize().iter().take(8).fold(0, |place, &byte| place << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By another program: `hashlib.sha256(b"relscale draw 1\n" + (7).to_bytes(8, "little") +
    /// b"\0" + (3).to_bytes(8, "little")).hexdigest()[:16]`, and with `b"\1" + b"q/1"`.
    #[test]
    fn places_are_those_of_the_definition() {
        let text = Document::new("any", "thing");
        assert_eq!(place(7, 3, &text), 0x18af_e145_267d_0aa5);
        assert_eq!(place(7, 3, &text.with_tag("item", "q/1")), 0x7877_36b5_ede3_7d4a);
    }

    /// Of a hundred thousand documents those of each tenth of the corpus are a tenth of the first
    /// thousand, but for chance: the standard deviation is 9.5.
    #[test]
    fn every_part_of_a_corpus_has_its_share() {
        let text = Document::default();
        let mut order: Vec<(u64, u64)> = (0..100_000).map(|i| (place(0, i, &text), i)).collect();
        order.sort_unstable();
        let mut tenths = [0; 10];
        order[..1_000].iter().for_each(|&(_, i)| tenths[i as usize / 10_000] += 1);
        assert!(tenths.iter().all(|&count: &i32| (count - 100).abs() < 45), "{tenths:?}");
    }
}
