//! `paper`: what the released code of the rank law's authors does (arXiv 2510.20387).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::protocol::{Protocol, Window, check_length};
use crate::error::Result;

/// The authors' length.
pub const LENGTH: usize = 512;

/// The first `L` (512) tokens of each document and nothing else; positions whose input or label is
/// a special token are left out: one with a role, as `all_special_ids` of the released code has
/// them, not every one that is marked as special.
///
/// The prefix is what the family's tokenizer would have added (OPT `</s>`, the others nothing). It
/// counts towards `L` and, being special, is no input from which anything is scored: all families
/// start at the second real token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paper {
    length: usize,
    prefix: Option<u32>,
}

impl Paper {
    /// Length `L >= 2`, 512 in the paper.
    ///
    /// # Errors
    /// A shorter one.
    pub fn new(length: usize, prefix: Option<u32>) -> Result<Self> {
        check_length("paper", length, 2)?;
        Ok(Self { length, prefix })
    }
}

impl Protocol for Paper {
    fn name(&self) -> &'static str {
        "paper"
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        [("length".to_owned(), json!(self.length))].into()
    }

    fn prefix(&self) -> Option<u32> {
        self.prefix
    }

    fn knows_specials(&self) -> bool {
        true
    }

    fn longest_inputs(&self) -> usize {
        self.length
    }

    fn cut(&self, ids: &[u32], specials: &BTreeSet<u32>) -> Result<Vec<Window>> {
        let end = (self.length - usize::from(self.prefix.is_some())).min(ids.len());
        let plain = |p: usize| !specials.contains(&ids[p]);
        let scored: Vec<u32> =
            (1..end).filter(|&p| plain(p - 1) && plain(p)).map(|p| p as u32).collect();
        Ok(vec![Window { prefix: self.prefix, start: 0, end, scored }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::protocols::text::TokenText;
    use crate::tokenizer::Encoded;

    fn windows(paper: Paper, ids: &[u32], specials: &[u32]) -> Vec<Window> {
        let encoded = Encoded::from_ids(ids.to_vec());
        let specials = specials.iter().copied().collect();
        paper.windows(&TokenText::of_document(&Document::default(), &encoded, &specials)).unwrap()
    }

    #[test]
    fn the_first_tokens_only_and_no_special_on_either_side() {
        let found = windows(Paper::new(6, None).unwrap(), &[5, 6, 0, 7, 8, 9, 5, 6], &[0]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].start, found[0].end), (0, 6));
        // Position 2 has a special label, position 3 a special input.
        assert_eq!(found[0].scored, [1, 4, 5]);
    }

    #[test]
    fn a_prefix_takes_a_place_and_predicts_nothing() {
        let found = windows(Paper::new(4, Some(2)).unwrap(), &[5, 6, 7, 8], &[2]);
        assert_eq!((found[0].fed(), found[0].end, found[0].scored.as_slice()), (4, 3, &[1, 2][..]));
    }

    #[test]
    fn one_token_gives_nothing() {
        assert!(windows(Paper::new(512, None).unwrap(), &[5], &[]).is_empty());
    }
}
