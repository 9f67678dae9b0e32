//! Documents to items.

use std::collections::BTreeMap;

use relscale_records::options::{self, ITEM};
use relscale_records::parquet::DocumentRow;

use crate::error::LawsError;

/// The distribution of an item when neither `domain` nor `cluster` nor another tag names it.
pub(super) const DISTRIBUTION_TAGS: [&str; 2] = ["domain", "cluster"];

/// Which items are taken, and which tag names their distribution.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Grouping<'a> {
    /// The tag; without one `domain` or `cluster`, whichever an item has, else the corpus.
    pub(crate) by: Option<&'a str>,
    /// Whether an item without such a tag counts to the corpus as a whole.
    pub(crate) whole_corpus: bool,
    /// Tag and value: only documents that have it take part.
    pub(crate) only: &'a [(String, String)],
}

impl Grouping<'_> {
    /// The tags asked for, in words.
    pub(super) fn tags(&self) -> String {
        let only = self.only.iter().map(|(tag, value)| format!("{tag} = {value}"));
        self.by.map(str::to_owned).into_iter().chain(only).collect::<Vec<_>>().join(", ")
    }
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) name: String,
    /// What laws compare: a domain, a cluster, the corpus.
    pub(super) distribution: String,
    /// Subject or behaviour; without a tag `group`, the distribution.
    pub(super) group: String,
    /// How it was asked; empty without the tag.
    pub(super) format: String,
    pub(super) options: Vec<ItemOption>,
    /// Which options are right, ascending.
    pub(super) gold: Vec<usize>,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemOption {
    /// Its name: a letter, a word.
    pub(super) name: String,
    /// Ordinal of its document.
    pub(super) document: u32,
    /// Its bytes without the joining space; `None`: those of the scored tokens.
    pub(super) bytes: Option<u64>,
}

/// The items of one text, in the order of their first documents.
///
/// # Errors
/// [`LawsError::Item`], naming the item: no gold option, nothing but gold options, one option only,
/// the same option twice, options that do not agree on group or distribution, a tag that is not
/// what it must be. An empty list where no document has the tag `item`.
pub(super) fn from_documents(
    corpus: &str,
    rows: &[DocumentRow],
    grouping: Grouping<'_>,
) -> Result<Vec<Item>, LawsError> {
    let mut items: Vec<Item> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let tag = |name: &str| row.tags.get(name).map(String::as_str);
        let Some(name) = tag(ITEM) else { continue };
        if grouping.only.iter().any(|(key, value)| tag(key) != Some(value)) {
            continue;
        }
        let distribution = match grouping.by {
            Some(by) => tag(by),
            None if grouping.whole_corpus => Some(corpus),
            None => DISTRIBUTION_TAGS.iter().find_map(|key| tag(key)).or(Some(corpus)),
        };
        let Some(distribution) = distribution else { continue };
        let wrong = |reason: String| LawsError::Item {
            corpus: corpus.to_owned(),
            item: name.to_owned(),
            reason,
        };
        let group = tag("group").unwrap_or(distribution);
        let format = tag("format").unwrap_or_default();
        let at = *places.entry(name).or_insert_with(|| {
            items.push(Item {
                name: name.to_owned(),
                distribution: distribution.to_owned(),
                group: group.to_owned(),
                format: format.to_owned(),
                options: Vec::new(),
                gold: Vec::new(),
            });
            items.len() - 1
        });
        let item = &mut items[at];
        if (item.distribution.as_str(), item.group.as_str(), item.format.as_str())
            != (distribution, group, format)
        {
            return Err(wrong(
                "its options do not agree on their distribution, group and format".to_owned(),
            ));
        }
        let option = tag("option").unwrap_or(&row.id);
        if item.options.iter().any(|other| other.name == option) {
            return Err(wrong(format!("option `{option}` is there twice")));
        }
        let bytes = options::span_bytes(&row.tags).map_err(wrong)?;
        match options::gold(&row.tags).map_err(wrong)? {
            Some(true) => item.gold.push(item.options.len()),
            Some(false) => {}
            None => {
                return Err(wrong(format!("option `{option}` has no tag gold (true or false)")));
            }
        }
        item.options.push(ItemOption { name: option.to_owned(), document: row.ordinal, bytes });
    }
    for item in &items {
        options::check(item.options.len(), item.gold.len()).map_err(|reason| LawsError::Item {
            corpus: corpus.to_owned(),
            item: item.name.clone(),
            reason,
        })?;
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ordinal: u32, tags: &[(&str, &str)]) -> DocumentRow {
        DocumentRow {
            ordinal,
            id: format!("d{ordinal}"),
            tags: tags
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            tokens: 9,
            bytes: 30,
            words: None,
            scored: 2,
        }
    }

    fn read(rows: &[DocumentRow]) -> Result<Vec<Item>, LawsError> {
        from_documents("quiz", rows, Grouping::default())
    }

    #[test]
    fn options_meet_in_their_item_wherever_they_stand() {
        let rows = [
            row(
                0,
                &[
                    ("item", "q1"),
                    ("option", "A"),
                    ("gold", "false"),
                    ("span_bytes", "3"),
                    ("domain", "stem"),
                    ("group", "law"),
                ],
            ),
            row(1, &[]),
            row(2, &[("item", "q2"), ("gold", "true")]),
            row(
                3,
                &[
                    ("item", "q1"),
                    ("option", "B"),
                    ("gold", "true"),
                    ("domain", "stem"),
                    ("group", "law"),
                ],
            ),
            row(4, &[("item", "q2"), ("gold", "true")]),
            row(5, &[("item", "q2"), ("gold", "false")]),
        ];
        let items = read(&rows).unwrap();
        let seen: Vec<_> = items
            .iter()
            .map(|i| {
                (
                    i.name.as_str(),
                    i.distribution.as_str(),
                    i.group.as_str(),
                    i.gold.clone(),
                    i.options.len(),
                )
            })
            .collect();
        // q2 has two golds, and neither domain nor group: the corpus stands for both.
        assert_eq!(
            seen,
            [("q1", "stem", "law", vec![1], 2), ("q2", "quiz", "quiz", vec![0, 1], 3)]
        );
        assert_eq!((items[0].options[0].bytes, items[0].options[1].bytes), (Some(3), None));
        assert_eq!(items[1].options[2].name, "d5");
        let by = Grouping { by: Some("group"), ..Grouping::default() };
        assert_eq!(from_documents("quiz", &rows, by).unwrap().len(), 1);
    }

    #[test]
    fn tags_that_make_no_item_are_refused() {
        let gold = |option, gold| row(0, &[("item", "q1"), ("option", option), ("gold", gold)]);
        let cases = [
            (vec![gold("A", "false"), gold("B", "false")], "none of its 2 options"),
            (vec![gold("A", "true"), gold("B", "true")], "all of its 2 options"),
            (vec![gold("A", "true")], "one option"),
            (vec![gold("A", "true"), gold("A", "false")], "option `A` is there twice"),
            (vec![gold("A", "yes")], "gold = `yes`"),
            (vec![row(0, &[("item", "q1"), ("option", "A")])], "no tag gold"),
            (vec![row(0, &[("item", "q1"), ("gold", "true"), ("span_bytes", "-1")])], "span_bytes"),
            (
                vec![
                    gold("A", "true"),
                    row(1, &[("item", "q1"), ("option", "B"), ("gold", "false"), ("domain", "x")]),
                ],
                "do not agree",
            ),
        ];
        for (rows, reason) in cases {
            let message = read(&rows).unwrap_err().to_string();
            assert!(message.contains("`q1`") && message.contains(reason), "{message}");
        }
        assert_eq!(read(&[row(0, &[])]).unwrap(), []);
    }
}
