//! Sufficient statistics: what the laws need of a run, per document, in sums that merge exactly.
//!
//! For each document: how many positions were scored, how many of them had rank <= k for each k of
//! a grid, the sums of nll and entropy, the bytes. Documents are the sampling unit of every
//! interval, so nothing coarser would do, and nothing finer is needed.
//!
//! Exactness: counts are integers. The f64 sums run over one document in the order of its
//! positions, and a document is never split between parts, so neither the partition into parts nor
//! the order of merging changes a bit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::classes::ClassTally;
use crate::error::{Error, Result};
use crate::provenance::{
    DrawProvenance, ProtocolProvenance, Provenance, TieRule, VocabularyRule, VocabularySizes,
    documents_key,
};
use crate::ranks::RankHistogram;
use crate::sequences::{SequenceGrid, SequenceTally};
use crate::token::ScoredToken;
use crate::units::{Nats, bits_per_byte};
use crate::words::TextTally;

/// The grid of k on which hits are counted by default (arXiv 2510.20387); cut at |V| by [`k_grid`].
pub const K_GRID: [u32; 15] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000];

/// [`K_GRID`] below |V|, then |V| itself.
///
/// ```
/// assert_eq!(relscale_records::tally::k_grid(60), [1, 2, 5, 10, 20, 50, 60]);
/// assert_eq!(relscale_records::tally::k_grid(1), [1]);
/// ```
pub fn k_grid(vocabulary: u32) -> Vec<u32> {
    let mut grid: Vec<u32> = K_GRID.into_iter().filter(|&k| k < vocabulary).collect();
    grid.push(vocabulary.max(1));
    grid
}

/// What is counted when the rows of a run are streamed, besides the sums of [`DocumentTally`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TallyOptions {
    /// Which sequences of tokens are counted.
    pub sequences: SequenceGrid,
}

/// The sums of one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentTally {
    /// Ordinal of the document in its corpus.
    pub document: u32,
    /// Positions with a finite score: the denominator of every average.
    pub scored: u64,
    /// Source bytes of those positions.
    pub bytes: u64,
    /// Positions with a non-finite logit; they are in no other member.
    pub nonfinite: u64,
    /// Positions where another entry had exactly the right token's logit; `None` where the engine
    /// does not tell ties.
    pub tied: Option<u64>,
    /// `hits[i]` = positions with rank <= `k_grid[i]`.
    pub hits: Vec<u64>,
    /// Sum of nll in nats.
    pub sum_nll: f64,
    /// Sum of entropy in nats; `None` where the engine does not tell it.
    pub sum_entropy: Option<f64>,
    /// Hits by byte, word and span; absent where rows were not streamed, and in sums of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextTally>,
}

impl DocumentTally {
    /// An empty tally of a document on a grid of `grid` values of k.
    pub fn new(document: u32, grid: usize) -> Self {
        Self {
            document,
            scored: 0,
            bytes: 0,
            nonfinite: 0,
            tied: Some(0),
            hits: vec![0; grid],
            sum_nll: 0.0,
            sum_entropy: Some(0.0),
            text: None,
        }
    }

    /// Adds one position. Positions of a document must come in order for bit-equal sums.
    pub fn add(&mut self, token: &ScoredToken, k_grid: &[u32], tie_rule: TieRule) {
        let Some(score) = token.score else {
            self.nonfinite += 1;
            return;
        };
        self.scored += 1;
        self.bytes += u64::from(token.bytes);
        self.tied = self.tied.zip(score.ties).map(|(sum, ties)| sum + u64::from(ties > 0));
        self.sum_nll += f64::from(score.nll);
        self.sum_entropy =
            self.sum_entropy.zip(score.entropy).map(|(sum, one)| sum + f64::from(one));
        let rank = score.rank_by(tie_rule);
        for (hits, &k) in self.hits.iter_mut().zip(k_grid) {
            *hits += u64::from(rank <= k);
        }
    }

    /// Adds the sums of another document on the same grid; of what only one of them counted there
    /// is no sum. Documents must be added in order for bit-equal sums.
    pub fn absorb(&mut self, other: &Self) {
        self.scored += other.scored;
        self.bytes += other.bytes;
        self.nonfinite += other.nonfinite;
        self.tied = self.tied.zip(other.tied).map(|(a, b)| a + b);
        self.sum_nll += other.sum_nll;
        self.sum_entropy = self.sum_entropy.zip(other.sum_entropy).map(|(a, b)| a + b);
        for (sum, hits) in self.hits.iter_mut().zip(&other.hits) {
            *sum += hits;
        }
        self.text = self.text.take().zip(other.text.as_ref()).map(|(mut text, other)| {
            text.absorb(other);
            text
        });
    }

    /// Adds the sums of a document to those of others, or begins with it, as document 0.
    pub(crate) fn absorb_into(total: &mut Option<Self>, document: &Self) {
        match total {
            Some(total) => total.absorb(document),
            None => *total = Some(Self { document: 0, ..document.clone() }),
        }
    }

    /// `RBP_k` for each k of the grid: share of scored positions with rank <= k. `None` when
    /// nothing was scored.
    pub fn rbp(&self) -> Option<Vec<f64>> {
        (self.scored > 0)
            .then(|| self.hits.iter().map(|&hits| hits as f64 / self.scored as f64).collect())
    }

    /// Mean nll in nats a token. `None` when nothing was scored.
    pub fn cross_entropy(&self) -> Option<f64> {
        (self.scored > 0).then(|| self.sum_nll / self.scored as f64)
    }

    /// Bits per byte of the scored tokens' source bytes. `None` when there are none.
    pub fn bits_per_byte(&self) -> Option<f64> {
        bits_per_byte(Nats(self.sum_nll), self.bytes)
    }
}

/// The sums of one run, with what the laws need of its provenance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunTally {
    /// Name of the model.
    pub model: String,
    /// Family of the model.
    pub family: String,
    /// `S`: exact non-embedding parameters.
    pub non_embedding: u64,
    /// Width of the model: that of its token embedding. None where that need not be the width of
    /// its blocks (OPT's 350M), or rows of the head do not divide the count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Name of the corpus.
    pub corpus: String,
    /// Vocabulary sizes; `vocabulary.scored` is |V|.
    pub vocabulary: VocabularySizes,
    /// How equal logits count in `hits`.
    pub tie_rule: TieRule,
    /// Key of the run: tallies merge only within one run.
    pub key: String,
    /// sha256 of the weights: equal hashes under different names are one model.
    pub weights_sha256: String,
    /// sha256 of the text: runs with equal text, draw and tokenizer saw the same documents.
    pub text_sha256: String,
    /// How documents were drawn from the text, where they were: what their ordinals mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<DrawProvenance>,
    /// sha256 of the tokenizer: per-token figures compare only within one.
    pub tokenizer_sha256: String,
    /// The window protocol, with its parameters and prefix.
    pub protocol: ProtocolProvenance,
    /// Which rows of the head took part.
    pub vocabulary_rule: VocabularyRule,
    /// Numbers in which logits were computed: `f32`, `bf16`; tallies from before there was a choice
    /// are f32.
    #[serde(default = "f32_name")]
    pub compute_dtype: String,
    /// What a reader of any number of this run must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
    /// The k that `hits` count, ascending; the last is |V|.
    pub k_grid: Vec<u32>,
    /// One entry a document with at least one scored or non-finite position, ascending by ordinal.
    pub documents: Vec<DocumentTally>,
    /// Sequences of tokens, of the same documents; absent where rows were not streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequences: Option<SequenceTally>,
    /// Positions by exact rank, of the same documents; absent where rows were not streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RankHistogram>,
    /// Positions and misses by class of token, of the same documents; absent where rows were not
    /// streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassTally>,
}

fn f32_name() -> String {
    "f32".to_owned()
}

fn width(provenance: &Provenance) -> Option<u64> {
    let embedding = provenance.model.parameters.token_embedding;
    let rows = u64::from(provenance.scoring.vocabulary.rows);
    let divides = rows > 0 && embedding > 0 && embedding.is_multiple_of(rows);
    (divides && provenance.model.architecture != "opt").then(|| embedding / rows)
}

impl RunTally {
    /// An empty tally for a run, on the default grid.
    pub fn new(provenance: &Provenance) -> Self {
        Self::with_grid(provenance, k_grid(provenance.scoring.vocabulary.scored))
    }

    /// An empty tally for a run, on a grid of one's own (ascending).
    pub fn with_grid(provenance: &Provenance, k_grid: Vec<u32>) -> Self {
        Self {
            model: provenance.model.name.clone(),
            family: provenance.model.family.clone(),
            non_embedding: provenance.model.parameters.non_embedding,
            width: width(provenance),
            corpus: provenance.corpus.name.clone(),
            vocabulary: provenance.scoring.vocabulary,
            tie_rule: provenance.scoring.tie_rule,
            key: provenance.key(),
            weights_sha256: provenance.model.weights_sha256.clone(),
            text_sha256: provenance.corpus.text_sha256.clone(),
            drawn: provenance.limit.and_then(|limit| limit.drawn),
            tokenizer_sha256: provenance.tokenizer.sha256.clone(),
            protocol: provenance.protocol.clone(),
            vocabulary_rule: provenance.scoring.vocabulary_rule,
            compute_dtype: provenance.scoring.compute_dtype.clone(),
            cautions: provenance.scoring.cautions.clone(),
            k_grid,
            documents: Vec::new(),
            sequences: None,
            ranks: None,
            classes: None,
        }
    }

    /// What its ordinals number ([`Provenance::documents_key`]).
    pub fn documents_key(&self) -> String {
        documents_key(&self.text_sha256, self.drawn)
    }

    /// Adds one position. Rows must come by document, then position, as they stand in a part.
    pub fn add(&mut self, token: &ScoredToken) {
        if self.documents.last().is_none_or(|last| last.document != token.document) {
            self.documents.push(DocumentTally::new(token.document, self.k_grid.len()));
        }
        if let Some(last) = self.documents.last_mut() {
            last.add(token, &self.k_grid, self.tie_rule);
        }
    }

    /// Joins the tallies of two disjoint sets of documents of one run. Associative and commutative,
    /// bit for bit.
    ///
    /// # Errors
    /// [`Error::Merge`] when run, names or grid differ, a document is in both, or only one of them
    /// counted sequences, ranks or classes.
    pub fn merge(self, other: Self) -> Result<Self> {
        let refuse = |what: &str, a: &dyn std::fmt::Debug, b: &dyn std::fmt::Debug| {
            Err(Error::Merge { reason: format!("{what} differs: {a:?} and {b:?}") })
        };
        if self.key != other.key {
            return refuse("run key", &self.key, &other.key);
        }
        if (&self.model, &self.corpus) != (&other.model, &other.corpus) {
            return refuse("name", &(self.model, self.corpus), &(other.model, other.corpus));
        }
        if self.k_grid != other.k_grid {
            return refuse("k grid", &self.k_grid, &other.k_grid);
        }
        let mut merged = BTreeMap::new();
        let mut result = self;
        for tally in result.documents.drain(..).chain(other.documents) {
            let ordinal = tally.document;
            if merged.insert(ordinal, tally).is_some() {
                return Err(Error::Merge {
                    reason: format!("document {ordinal} of corpus `{}` is in both", result.corpus),
                });
            }
        }
        result.documents = merged.into_values().collect();
        result.sequences = match (result.sequences, other.sequences) {
            (Some(a), Some(b)) => Some(a.merge(b)?),
            (None, None) => None,
            _ => {
                return Err(Error::Merge {
                    reason: "only one of them counted sequences".to_owned(),
                });
            }
        };
        result.ranks = match (result.ranks, other.ranks) {
            (Some(mut a), Some(b)) => {
                a.merge(&b);
                Some(a)
            }
            (None, None) => None,
            _ => return Err(Error::Merge { reason: "only one of them counted ranks".to_owned() }),
        };
        result.classes = match (result.classes, other.classes) {
            (Some(a), Some(b)) => Some(a.merge(b)?),
            (None, None) => None,
            _ => {
                return Err(Error::Merge { reason: "only one of them counted classes".to_owned() });
            }
        };
        Ok(result)
    }

    /// Sums over all documents, in ascending order.
    pub fn totals(&self) -> DocumentTally {
        let mut total = None;
        self.documents.iter().for_each(|tally| DocumentTally::absorb_into(&mut total, tally));
        total.unwrap_or_else(|| DocumentTally::new(0, self.k_grid.len()))
    }

    /// [`DocumentTally::rbp`] of the totals.
    pub fn rbp(&self) -> Option<Vec<f64>> {
        self.totals().rbp()
    }

    /// [`DocumentTally::cross_entropy`] of the totals.
    pub fn cross_entropy(&self) -> Option<f64> {
        self.totals().cross_entropy()
    }

    /// [`DocumentTally::bits_per_byte`] of the totals.
    pub fn bits_per_byte(&self) -> Option<f64> {
        self.totals().bits_per_byte()
    }
}
