//! A run seen in another unit than tokens: bytes, words, spans of words.
//!
//! What is counted of each has the shape of what is counted of tokens (how many, how many of them
//! are hits at each k, document by document), so all that is known of rank laws holds for it.

use relscale_records::words::{SPAN_K, SPAN_WORDS};
use relscale_records::{DocumentTally, RunTally};

use crate::error::LawsError;
use crate::result::Quantity;

/// What is a hit or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A scored token.
    Token,
    /// A byte of the text.
    Byte,
    /// A word.
    Word,
    /// So many words in a row.
    Span {
        /// How many.
        words: u32,
    },
}

impl Unit {
    /// `-ln RBP_k` of it.
    pub(crate) fn quantity(self, k: u32) -> Quantity {
        match self {
            Self::Token => Quantity::Rank { k },
            Self::Byte => Quantity::Bytes { k },
            Self::Word => Quantity::Words { k },
            Self::Span { words } => Quantity::Spans { k, words },
        }
    }

    /// Several of them.
    pub(crate) fn plural(self) -> String {
        match self {
            Self::Token => "tokens".to_owned(),
            Self::Byte => "bytes".to_owned(),
            Self::Word => "words".to_owned(),
            Self::Span { words } => format!("spans of {words} words"),
        }
    }

    /// The run in this unit: `scored`, `nonfinite` and `hits` of each document are of it, at the k
    /// of `k_grid`.
    ///
    /// # Errors
    /// [`LawsError::NotCounted`].
    pub(crate) fn view(self, run: &RunTally) -> Result<RunTally, LawsError> {
        let (k_grid, kept) = match self {
            Self::Span { .. } => SPAN_K.into_iter().enumerate().map(|(at, k)| (k, at)).unzip(),
            _ => (run.k_grid.clone(), Vec::new()),
        };
        let document = |tally: &DocumentTally| self.view_document(tally, &kept);
        let documents: Result<Vec<DocumentTally>, &str> =
            run.documents.iter().map(document).collect();
        let not_counted = |reason: &str| LawsError::NotCounted {
            what: self.plural(),
            model: run.model.clone(),
            corpus: run.corpus.clone(),
            reason: reason.to_owned(),
        };
        Ok(RunTally {
            k_grid,
            documents: documents.map_err(not_counted)?,
            sequences: None,
            ranks: None,
            classes: None,
            ..bare(run)
        })
    }

    fn view_document(
        self,
        tally: &DocumentTally,
        kept: &[usize],
    ) -> Result<DocumentTally, &'static str> {
        if self == Self::Token {
            return Ok(tally.clone());
        }
        let text = tally.text.as_ref().ok_or(
            "its sums are of an earlier version, which did not count them; with its rows beside them they are counted anew",
        )?;
        let words = || {
            text.words.as_ref().ok_or(
                "the study has no vocabulary of its tokenizer, which says where words begin; measure it again",
            )
        };
        let (scored, nonfinite, hits) = match self {
            Self::Token | Self::Byte => (tally.bytes, text.nonfinite_bytes, text.byte_hits.clone()),
            Self::Word => {
                let words = words()?;
                (words.words, words.left_out, words.hits.clone())
            }
            Self::Span { words: wanted } => {
                let words = words()?;
                let at = SPAN_WORDS.iter().position(|words| *words == wanted);
                let at = at.ok_or("no spans of this length were counted; there are spans of 2, 4, 8, 16 and 32 words")?;
                let hits = kept.iter().map(|&k| u64::from(words.span_hits[k][at]));
                (u64::from(words.spans[at]), 0, hits.collect())
            }
        };
        Ok(DocumentTally { scored, nonfinite, hits, tied: None, text: None, ..tally.clone() })
    }
}

/// A run without its documents and what was counted of them besides.
pub(crate) fn bare(run: &RunTally) -> RunTally {
    RunTally {
        model: run.model.clone(),
        family: run.family.clone(),
        corpus: run.corpus.clone(),
        key: run.key.clone(),
        weights_sha256: run.weights_sha256.clone(),
        text_sha256: run.text_sha256.clone(),
        tokenizer_sha256: run.tokenizer_sha256.clone(),
        protocol: run.protocol.clone(),
        compute_dtype: run.compute_dtype.clone(),
        cautions: run.cautions.clone(),
        k_grid: run.k_grid.clone(),
        documents: Vec::new(),
        sequences: None,
        ranks: None,
        classes: None,
        ..*run
    }
}
