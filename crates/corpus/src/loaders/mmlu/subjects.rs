//! Which domain each of the 57 subjects belongs to.
//!
//! Two maps are published. They differ in one subject: `anatomy` is `other` in `categories.py` of
//! the authors (hendrycks/test) and `stem` in lm-evaluation-harness, with which the relative law
//! was measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::loaders::table::two_columns;

/// `subject`, its domain in lm-evaluation-harness, its domain in hendrycks/test, questions of its
/// `test` file.
const SUBJECTS: &str = include_str!("subjects.tsv");

/// A map from subjects to domains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Domains {
    /// That of lm-evaluation-harness.
    #[default]
    Harness,
    /// That of the authors.
    Hendrycks,
    /// A user's: a CSV or TSV file with a header and two columns, subject and domain.
    File(PathBuf),
}

impl Domains {
    /// The map of a `domains=` value: `lm-eval`, `hendrycks`, or a file.
    pub fn named(value: &str) -> Self {
        match value {
            "lm-eval" => Self::Harness,
            "hendrycks" => Self::Hendrycks,
            file => Self::File(PathBuf::from(file)),
        }
    }

    /// The user's file.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Harness | Self::Hendrycks => None,
        }
    }

    /// Subject -> domain.
    ///
    /// # Errors
    /// A user's table that cannot be read, with its file and row.
    pub fn table(&self) -> Result<BTreeMap<String, String>> {
        let column = match self {
            Self::Harness => 1,
            Self::Hendrycks => 2,
            Self::File(path) => return two_columns(path),
        };
        let rows = SUBJECTS.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
        Ok(rows
            .filter_map(|row| Some(((*row.first()?).to_owned(), (*row.get(column)?).to_owned())))
            .collect())
    }
}

/// Subject -> questions of its published `test` file: how much it weighs in the accuracy of a
/// domain.
pub fn test_questions() -> BTreeMap<&'static str, u32> {
    let rows =
        SUBJECTS.lines().skip(1).map(|line| (line.split('\t').next(), line.rsplit('\t').next()));
    rows.filter_map(|(subject, questions)| Some((subject?, questions?.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_published_maps_have_their_published_counts() {
        let counts = |domains: Domains| {
            let table = domains.table().unwrap();
            ["stem", "humanities", "social_sciences", "other"]
                .map(|domain| table.values().filter(|value| *value == domain).count())
        };
        assert_eq!(counts(Domains::Harness), [19, 13, 12, 13]);
        assert_eq!(counts(Domains::Hendrycks), [18, 13, 12, 14]);
    }

    #[test]
    fn questions_of_the_domains_are_the_published_ones() {
        let questions = test_questions();
        assert_eq!((questions.len(), questions.values().sum::<u32>()), (57, 14_042));
        let table = Domains::Harness.table().unwrap();
        let counts = ["stem", "humanities", "social_sciences", "other"].map(|domain| {
            let of = table.iter().filter(|(_, group)| *group == domain);
            of.map(|(subject, _)| questions[subject.as_str()]).sum::<u32>()
        });
        assert_eq!(counts, [3_153, 4_705, 3_077, 3_107]);
    }
}
