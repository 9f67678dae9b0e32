//! Questions of a corpus: counted as their options pass, and refused where nobody could judge them,
//! before anything is measured.

use std::collections::HashMap;

use relscale_corpus::Document;
use relscale_records::options::{self, ITEM};
use relscale_records::provenance::sha256_bytes;

/// Questions that were seen. Their options may stand anywhere in a corpus, so each question is
/// remembered, by 128 bits of a hash of its name: all that grows with a corpus in memory, some 40
/// to 80 bytes a question, and nothing where there are none.
#[derive(Default)]
pub(super) struct Items {
    last: Option<(String, u128)>,
    seen: HashMap<u128, Counts>,
    documents: u64,
    /// Whether any option says that it is gold or not; without, these are no questions to be
    /// judged.
    judged: bool,
}

#[derive(Default)]
struct Counts {
    /// Number of its first document, from 1.
    first: u64,
    options: u32,
    golds: u32,
    without: u32,
}

/// A question that nobody could judge.
pub(super) struct BadItem {
    /// Its name, or where it begins.
    pub(super) item: String,
    pub(super) reason: String,
}

impl Items {
    /// Takes note of a document.
    pub(super) fn see(&mut self, document: &Document) -> Result<(), BadItem> {
        self.documents += 1;
        let Some(item) = document.tags.get(ITEM) else { return Ok(()) };
        let wrong = |reason| BadItem { item: item.clone(), reason };
        let gold = options::gold(&document.tags).map_err(wrong)?;
        options::span_bytes(&document.tags).map_err(wrong)?;
        let key = match &self.last {
            Some((last, key)) if last == item => *key,
            _ => {
                let digits = sha256_bytes(item.as_bytes());
                let digits = digits.chars().take(32).filter_map(|digit| digit.to_digit(16));
                digits.fold(0, |hash, digit| hash << 4 | u128::from(digit))
            }
        };
        self.last = Some((item.clone(), key));
        let counts = self.seen.entry(key).or_default();
        if counts.options == 0 {
            counts.first = self.documents;
        }
        counts.options = counts.options.saturating_add(1);
        counts.golds += u32::from(gold == Some(true));
        counts.without += u32::from(gold.is_none());
        self.judged |= gold.is_some();
        Ok(())
    }

    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The first question that could not be judged, where any option says whether it is gold.
    pub(super) fn check(&self) -> Result<(), BadItem> {
        if !self.judged {
            return Ok(());
        }
        let wrong = self.seen.values().filter_map(|counts| Some((counts.first, counts.reason()?)));
        match wrong.min_by_key(|(first, _)| *first) {
            Some((first, reason)) => {
                Err(BadItem { item: format!("that begins with document {first}"), reason })
            }
            None => Ok(()),
        }
    }
}

impl Counts {
    fn reason(&self) -> Option<String> {
        if self.without > 0 {
            return Some(format!(
                "{} of its {} options have no tag gold (true or false)",
                self.without, self.options
            ));
        }
        options::check(self.options as usize, self.golds as usize).err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(options: &[(&str, Option<&str>)]) -> Result<u64, String> {
        let mut items = Items::default();
        let said = |bad: BadItem| format!("{}: {}", bad.item, bad.reason);
        for (item, gold) in options {
            let mut document =
                Document::new("d", "text").with_tag("item", *item).with_tag("option", "A");
            if let Some(gold) = gold {
                document = document.with_tag("gold", *gold);
            }
            items.see(&document).map_err(said)?;
        }
        items.check().map_err(said)?;
        Ok(items.count())
    }

    #[test]
    fn what_could_not_be_judged_is_refused_and_the_rest_counted() {
        let (yes, no) = (Some("true"), Some("False"));
        assert_eq!(items(&[("a", yes), ("b", no), ("a", no), ("b", Some("True"))]), Ok(2));
        // Without a single gold these are groups of documents, not questions.
        assert_eq!(items(&[("a", None), ("b", None)]), Ok(2));
        for (options, said) in [
            (
                vec![("a", Some("yes")), ("a", no)],
                "a: gold = `yes` of option `A` is not true or false",
            ),
            (
                vec![("a", yes), ("a", no), ("b", no), ("b", no)],
                "document 3: none of its 2 options is gold",
            ),
            (vec![("a", yes), ("a", yes)], "all of its 2 options are gold"),
            (vec![("a", yes)], "one option"),
            (vec![("a", yes), ("a", None)], "1 of its 2 options have no tag gold"),
        ] {
            let refusal = items(&options).unwrap_err();
            assert!(refusal.contains(said), "{refusal}");
        }
    }
}
