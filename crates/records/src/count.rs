//! One pass over the rows of a run: everything that is counted in them, document by document.
//!
//! The sums of documents that have ended can be taken while rows still come, so that a run of any
//! length is counted, and its sums written, in the memory of a few documents.

use crate::classes::{ClassBasis, ClassCounter, ClassTally, DocumentClasses, TokenCounts};
use crate::error::Result;
use crate::provenance::Provenance;
use crate::ranks::RankHistogram;
use crate::sequences::{DocumentSequences, RunCount, SequenceCounter, SequenceGrid, SequenceTally};
use crate::tally::{DocumentTally, RunTally, TallyOptions};
use crate::token::ScoredToken;
use crate::vocabulary::Vocabulary;
use crate::words::{DocumentEnds, Spelling, TextCounter, TextTally};

/// All that is counted of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentSums {
    /// Hits and sums, those by byte and word among them.
    pub tally: DocumentTally,
    /// Tokens in a row.
    pub sequences: DocumentSequences,
    /// Misses by class of token.
    pub classes: DocumentClasses,
}

/// What is counted of a run as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSums {
    /// For each k of the sequences, the runs of hits, ascending by length.
    pub runs: Vec<Vec<RunCount>>,
    /// Positions by exact rank.
    pub ranks: RankHistogram,
}

/// Counts the rows of a run.
#[derive(Debug, Clone)]
pub struct RunCounter {
    tally: RunTally,
    sequences: SequenceCounter,
    ranks: RankHistogram,
    classes: ClassCounter,
    text: TextCounter,
}

impl RunCounter {
    /// A counter that has seen no row. `counts` are those of the whole run ([`ClassCounter::new`]),
    /// `ends` say where its documents end.
    ///
    /// # Errors
    /// As [`SequenceCounter::new`].
    pub fn new(
        provenance: &Provenance,
        options: &TallyOptions,
        counts: &TokenCounts,
        vocabulary: Option<&Vocabulary>,
        ends: DocumentEnds,
    ) -> Result<Self> {
        let tally = RunTally::new(provenance);
        let spelling = vocabulary.map(|vocabulary| Spelling::new(vocabulary, counts));
        Ok(Self {
            text: TextCounter::new(tally.k_grid.clone(), tally.tie_rule, spelling, ends),
            sequences: SequenceCounter::new(options.sequences.clone(), tally.tie_rule)?,
            ranks: RankHistogram::default(),
            classes: ClassCounter::new(counts, vocabulary, tally.k_grid.clone(), tally.tie_rule),
            tally,
        })
    }

    /// From what the classes are made.
    pub fn class_basis(&self) -> ClassBasis {
        self.classes.basis()
    }

    /// Adds one position. Rows must come by document, then position, as they stand in a part.
    pub fn add(&mut self, row: &ScoredToken) {
        self.tally.add(row);
        self.sequences.add(row);
        self.ranks.add_token(row, self.tally.tie_rule);
        self.classes.add(row);
        self.text.add(row);
    }

    /// Takes the documents that have ended since this was last called: all but the one whose rows
    /// come now.
    pub fn ended(&mut self) -> impl Iterator<Item = DocumentSums> + use<> {
        let ended = self.tally.documents.len().saturating_sub(1);
        let tallies: Vec<DocumentTally> = self.tally.documents.drain(..ended).collect();
        let sequences = self.sequences.take(ended);
        together(tallies, sequences, self.classes.take(ended), self.text.take(ended))
    }

    /// The documents that were not taken yet, and what belongs to the run as a whole.
    pub fn finish(self) -> (impl Iterator<Item = DocumentSums>, RunSums) {
        let SequenceTally { documents, runs, .. } = self.sequences.finish();
        let classes = self.classes.finish().documents;
        let sums = RunSums { runs, ranks: self.ranks };
        (together(self.tally.documents, documents, classes, self.text.finish()), sums)
    }
}

fn together(
    tallies: Vec<DocumentTally>,
    sequences: Vec<DocumentSequences>,
    classes: Vec<DocumentClasses>,
    text: Vec<TextTally>,
) -> impl Iterator<Item = DocumentSums> {
    // Every counter begins a document with its first row: they have the same ones.
    let all = tallies.into_iter().zip(sequences).zip(classes).zip(text);
    all.map(|(((tally, sequences), classes), text)| {
        let tally = DocumentTally { text: Some(text), ..tally };
        DocumentSums { tally, sequences, classes }
    })
}

/// The tally of a run, put together from what was counted.
#[derive(Debug)]
pub(crate) struct Gathered {
    tally: RunTally,
    sequences: SequenceTally,
    classes: ClassTally,
}

impl Gathered {
    pub(crate) fn new(provenance: &Provenance, grid: SequenceGrid, basis: ClassBasis) -> Self {
        let tally = RunTally::new(provenance);
        let classes = ClassTally { k: tally.k_grid.clone(), basis, documents: Vec::new() };
        Self { tally, sequences: SequenceTally::empty(grid), classes }
    }

    pub(crate) fn push(&mut self, document: DocumentSums) {
        self.tally.documents.push(document.tally);
        self.sequences.documents.push(document.sequences);
        self.classes.documents.push(document.classes);
    }

    pub(crate) fn finish(mut self, sums: RunSums) -> RunTally {
        self.sequences.runs = sums.runs;
        self.tally.sequences = Some(self.sequences);
        self.tally.ranks = Some(sums.ranks);
        self.tally.classes = Some(self.classes);
        self.tally
    }
}
