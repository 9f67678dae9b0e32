//! Which tokens miss: positions and misses by class of token, per document.
//!
//! A token has one class: what the [vocabulary](crate::vocabulary) says of it if it is no normal
//! text, else how frequent it is in the text that was measured. Classes therefore belong to a run
//! as a whole: its token ids are counted first ([`TokenCounts`]), then its rows are tallied. All
//! models that read the same text get the same classes.
//!
//! Without a vocabulary (studies of earlier versions, corpora of token ids) every class is by
//! frequency.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::provenance::TieRule;
use crate::token::ScoredToken;
use crate::vocabulary::{TokenKind, Vocabulary};

/// The classes; a token has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TokenClass {
    /// A row of the output head that no token of the vocabulary maps to.
    PaddingRow,
    /// Marked as special by the tokenizer.
    Special,
    /// Bytes that are no whole characters.
    Byte,
    /// At least one position in 100.
    Frequent,
    /// Fewer, but at least one in 1000.
    Common,
    /// Fewer, but at least one in 10 000.
    Uncommon,
    /// Fewer, but at least one in 100 000.
    Rare,
    /// Fewer than one position in 100 000.
    Rarest,
}

impl TokenClass {
    /// All classes, in the order of the columns of a [`DocumentClasses`].
    pub const ALL: [Self; 8] = [
        Self::PaddingRow,
        Self::Special,
        Self::Byte,
        Self::Frequent,
        Self::Common,
        Self::Uncommon,
        Self::Rare,
        Self::Rarest,
    ];

    /// The class of a token that is `count` of `total` positions.
    pub fn by_frequency(count: u64, total: u64) -> Self {
        let (count, total) = (u128::from(count), u128::from(total));
        [
            (100, Self::Frequent),
            (1_000, Self::Common),
            (10_000, Self::Uncommon),
            (100_000, Self::Rare),
        ]
        .into_iter()
        .find(|&(one_in, _)| count * one_in >= total)
        .map_or(Self::Rarest, |(_, class)| class)
    }

    fn of_kind(kind: TokenKind) -> Option<Self> {
        match kind {
            TokenKind::Normal => None,
            TokenKind::Special => Some(Self::Special),
            TokenKind::Byte => Some(Self::Byte),
        }
    }
}

/// How often each token is the right one in the text of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenCounts {
    by_id: BTreeMap<u32, u64>,
    total: u64,
}

impl TokenCounts {
    /// Counts more positions.
    pub fn extend(&mut self, tokens: impl IntoIterator<Item = u32>) {
        for token in tokens {
            *self.by_id.entry(token).or_default() += 1;
            self.total += 1;
        }
    }

    /// Positions counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Count of each token that occurs, ascending by id.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.by_id.iter().map(|(&id, &count)| (id, count))
    }
}

/// From what the classes of a tally were made: only tallies with equal classes can be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassBasis {
    /// Positions of the text in which tokens were counted.
    pub tokens: u64,
    /// Tokens that occur in it.
    pub distinct: u64,
    /// Whether kinds of tokens were known; else all classes are by frequency.
    pub vocabulary: bool,
}

/// Positions and misses of one document by class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentClasses {
    /// Ordinal of the document.
    pub document: u32,
    /// Positions with a finite score, an entry a class of [`TokenClass::ALL`].
    pub tokens: [u32; TokenClass::ALL.len()],
    /// Of those, positions with rank above `k`: an array as `tokens` for each k.
    pub misses: Vec<[u32; TokenClass::ALL.len()]>,
}

/// Positions and misses by class, of the documents of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassTally {
    /// The k of `misses`, ascending.
    pub k: Vec<u32>,
    /// From what the classes were made.
    pub basis: ClassBasis,
    /// One entry a document with a position, ascending.
    pub documents: Vec<DocumentClasses>,
}

impl ClassTally {
    /// Joins the tallies of disjoint sets of documents; exact in any order.
    ///
    /// # Errors
    /// [`Error::Merge`] when grid or basis differ, or a document is in both.
    pub fn merge(self, other: Self) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Merge { reason });
        if self.k != other.k {
            return refuse(format!(
                "k grid of the classes differs: {:?} and {:?}",
                self.k, other.k
            ));
        }
        if self.basis != other.basis {
            return refuse(format!(
                "classes were made from other text: {:?} and {:?}",
                self.basis, other.basis
            ));
        }
        let mut merged = BTreeMap::new();
        for document in self.documents.into_iter().chain(other.documents) {
            let ordinal = document.document;
            if merged.insert(ordinal, document).is_some() {
                return refuse(format!("classes of document {ordinal} are in both"));
            }
        }
        Ok(Self { k: self.k, basis: self.basis, documents: merged.into_values().collect() })
    }
}

/// Tallies rows by class.
///
/// ```
/// use relscale_records::classes::{ClassCounter, TokenClass, TokenCounts};
/// use relscale_records::provenance::TieRule;
/// use relscale_records::{Score, ScoredToken};
///
/// let mut counts = TokenCounts::default();
/// counts.extend([7; 999].into_iter().chain([8]));
/// let mut counter = ClassCounter::new(&counts, None, vec![1, 10], TieRule::AtLeast);
/// let score = Some(Score { rank: 4, ties: Some(0), nll: 1.0, entropy: Some(1.0), argmax: Some(0) });
/// for (position, token) in [(1, 7), (2, 8)] {
///     counter.add(&ScoredToken { document: 0, position, token, bytes: 1, context: position, score });
/// }
/// let document = counter.finish().documents.remove(0);
/// let common = TokenClass::ALL.iter().position(|&class| class == TokenClass::Common).unwrap();
/// assert_eq!((document.tokens[common], document.misses[0][common], document.misses[1][common]), (1, 1, 0));
/// ```
#[derive(Debug, Clone)]
pub struct ClassCounter {
    /// Token -> column, ascending by token.
    columns: Vec<(u32, usize)>,
    tie_rule: TieRule,
    tally: ClassTally,
}

impl ClassCounter {
    /// A counter that has seen no row. `counts` are those of the whole run, `k` ascends.
    pub fn new(
        counts: &TokenCounts,
        vocabulary: Option<&Vocabulary>,
        k: Vec<u32>,
        tie_rule: TieRule,
    ) -> Self {
        let column = |(id, count)| {
            let class = match vocabulary.map(|vocabulary| vocabulary.get(id)) {
                Some(None) => Some(TokenClass::PaddingRow),
                Some(Some(entry)) => TokenClass::of_kind(entry.kind),
                None => None,
            };
            let class = class.unwrap_or_else(|| TokenClass::by_frequency(count, counts.total()));
            (id, class as usize)
        };
        let columns: Vec<(u32, usize)> = counts.iter().map(column).collect();
        let basis = ClassBasis {
            tokens: counts.total(),
            distinct: columns.len() as u64,
            vocabulary: vocabulary.is_some(),
        };
        Self { columns, tie_rule, tally: ClassTally { k, basis, documents: Vec::new() } }
    }

    /// Adds one position. Rows must come by document; a token that was not counted is taken for the
    /// rarest.
    pub fn add(&mut self, token: &ScoredToken) {
        let ClassTally { k, documents, .. } = &mut self.tally;
        if documents.last().is_none_or(|last| last.document != token.document) {
            documents.push(DocumentClasses {
                document: token.document,
                tokens: Default::default(),
                misses: vec![Default::default(); k.len()],
            });
        }
        let (Some(score), Some(document)) = (token.score, documents.last_mut()) else { return };
        let column = match self.columns.binary_search_by_key(&token.token, |&(id, _)| id) {
            Ok(at) => self.columns[at].1,
            Err(_) => TokenClass::Rarest as usize,
        };
        document.tokens[column] += 1;
        let rank = score.rank_by(self.tie_rule);
        for (misses, _) in document.misses.iter_mut().zip(k.iter()).take_while(|&(_, &k)| rank > k)
        {
            misses[column] += 1;
        }
    }

    /// From what the classes are made.
    pub(crate) fn basis(&self) -> ClassBasis {
        self.tally.basis
    }

    /// Takes the first documents, which must have ended.
    pub(crate) fn take(&mut self, documents: usize) -> Vec<DocumentClasses> {
        self.tally.documents.drain(..documents).collect()
    }

    /// The tally of all rows so far, but for documents that were taken before.
    pub fn finish(self) -> ClassTally {
        self.tally
    }
}
