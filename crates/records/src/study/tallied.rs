//! The sums of runs: those that are kept beside the parts, or counted in their rows.
//!
//! `tally.parquet` is believed only if it belongs to this run and was counted in the very rows that
//! `done.json` lists, and if all its numbers are those that were written. Else the rows are counted
//! (they are there, or it is said what they are needed for) and the file is written anew.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::{Done, PartFile, RunFolder, Study};
use crate::classes::TokenCounts;
use crate::count::{DocumentSums, Gathered, RunCounter, RunSums};
use crate::error::{Error, Result};
use crate::parquet::{TallyMeta, TallyReader, TallyWriter, read_token_ids};
use crate::sequences::SequenceGrid;
use crate::tally::{DocumentTally, RunTally, TallyOptions, k_grid};
use crate::vocabulary::Vocabulary;
use crate::words::DocumentEnds;

const TALLY_FILE: &str = "tally.parquet";

impl RunFolder {
    /// Where the sums of the run are, or will be.
    pub fn tally_path(&self) -> PathBuf {
        self.path().join(TALLY_FILE)
    }

    /// Whether the sums of a finished run are kept and can be believed.
    pub fn has_tally(&self, done: &Done) -> bool {
        let kept = self.kept(done);
        // Sums of an earlier version do where nothing else can be had.
        let enough = |kept: &TallyReader| kept.counts_text() || self.without_rows(done);
        kept.is_ok_and(|kept| enough(&kept) && kept.each(drop).is_ok())
    }

    /// Whether there is no part of the run at all: it came without its rows.
    pub fn without_rows(&self, done: &Done) -> bool {
        let there = |file: &PartFile| self.part_path(file.part.range.index).exists();
        !done.parts.is_empty() && !done.parts.iter().any(there)
    }

    /// Opens the kept sums of a finished run.
    ///
    /// # Errors
    /// As [`TallyReader::open`]; [`Error::ForeignPart`].
    fn kept(&self, done: &Done) -> Result<TallyReader> {
        let path = self.tally_path();
        let kept = TallyReader::open(&path)?;
        let foreign = |reason: &str| {
            Err(Error::ForeignPart { path: path.clone(), reason: reason.to_owned() })
        };
        if *kept.provenance() != self.record().provenance {
            return foreign("its provenance is not that of run.json");
        }
        if kept.meta().rows_sha256 != done.rows_sha256() {
            return foreign("it was counted in other rows than done.json lists");
        }
        Ok(kept)
    }

    /// The sums that an earlier version kept, if they have what `options` say.
    fn earlier_sums(&self, done: &Done, options: &TallyOptions) -> Option<RunTally> {
        let kept = self.kept(done).ok()?;
        let there = kept.meta().sequences.covers(&options.sequences);
        (there && !kept.counts_text()).then(|| kept.read().ok())?
    }

    fn finished(&self) -> Result<Done> {
        self.done()?.ok_or_else(|| Error::Unfinished { path: self.path().to_path_buf() })
    }

    /// Counts the rows of a finished run, with what is counted by default.
    ///
    /// # Errors
    /// As [`RunFolder::rows`].
    pub fn tally(&self) -> Result<RunTally> {
        self.tally_with(&TallyOptions::default(), None)
    }

    /// Counts the rows of a finished run: its token ids alone, to know how frequent each token is,
    /// then all of them in one pass. Without the tokenizer's vocabulary classes are by frequency
    /// alone.
    ///
    /// # Errors
    /// As [`RunFolder::rows`]; [`Error::SequenceGrid`].
    pub fn tally_with(
        &self,
        options: &TallyOptions,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<RunTally> {
        let counter = self.counter(options, vocabulary)?;
        let grid = options.sequences.clone();
        let mut gathered = Gathered::new(&self.record().provenance, grid, counter.class_basis());
        let sums = self.count(counter, |document| {
            gathered.push(document);
            Ok(())
        })?;
        Ok(gathered.finish(sums))
    }

    /// How often each token is the right one in a finished run, rows without a score included.
    ///
    /// # Errors
    /// [`Error::Unfinished`], [`Error::MissingPart`], [`Error::Damaged`], [`Error::Read`].
    pub fn token_counts(&self) -> Result<TokenCounts> {
        let mut counts = TokenCounts::default();
        for file in &self.finished()?.parts {
            let path = self.part_path(file.part.range.index);
            if !path.exists() {
                return Err(Error::MissingPart { path });
            }
            for tokens in read_token_ids(&path)? {
                counts.extend(tokens?);
            }
        }
        Ok(counts)
    }

    fn counter(
        &self,
        options: &TallyOptions,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<RunCounter> {
        options.sequences.validate()?;
        let (provenance, counts) = (&self.record().provenance, self.token_counts()?);
        RunCounter::new(provenance, options, &counts, vocabulary, self.ends()?)
    }

    /// Where the documents end; nowhere that is known in a run without its table of documents.
    fn ends(&self) -> Result<DocumentEnds> {
        let mut ends = DocumentEnds::default();
        let Some(rows) = self.stream_documents()? else { return Ok(ends) };
        for rows in rows {
            rows?.iter().for_each(|row| ends.push(row.ordinal, row.tokens));
        }
        Ok(ends)
    }

    /// Streams the rows through a counter, and hands over each document when it has ended.
    fn count(
        &self,
        mut counter: RunCounter,
        mut take: impl FnMut(DocumentSums) -> Result<()>,
    ) -> Result<RunSums> {
        for rows in self.rows()? {
            rows?.iter().for_each(|row| counter.add(row));
            counter.ended().try_for_each(&mut take)?;
        }
        let (mut rest, sums) = counter.finish();
        rest.try_for_each(&mut take)?;
        Ok(sums)
    }

    /// Counts the rows of a finished run and keeps the sums, holding a few documents at a time.
    fn keep_tally(&self, done: &Done, vocabulary: Option<&Vocabulary>) -> Result<()> {
        let counter = self.counter(&TallyOptions::default(), vocabulary)?;
        let (provenance, sequences) = (&self.record().provenance, SequenceGrid::default());
        let meta = TallyMeta::new(provenance, done.rows_sha256(), sequences, counter.class_basis());
        let mut writer = TallyWriter::create(&self.tally_path(), provenance, &meta)?;
        let sums = self.count(counter, |document| writer.write(document))?;
        writer.finish(&sums)
    }
}

impl Study {
    /// Makes sure that the sums of a finished run are kept; says whether they were written now.
    ///
    /// # Errors
    /// As [`RunFolder::tally_with`]; [`Error::Write`].
    pub fn keep_tally(&self, run: &RunFolder) -> Result<bool> {
        let done = run.finished()?;
        if run.has_tally(&done) {
            return Ok(false);
        }
        let vocabulary = self.vocabulary(&run.record().provenance.tokenizer.sha256)?;
        run.keep_tally(&done, vocabulary.as_ref())?;
        Ok(true)
    }

    /// The totals of a finished run, from its sums if they are kept, else from its rows; one
    /// document's sums are held at a time.
    ///
    /// # Errors
    /// As [`RunFolder::rows`]; [`Error::NeedsRows`].
    pub fn totals(&self, run: &RunFolder) -> Result<DocumentTally> {
        let done = run.finished()?;
        let mut total = None;
        let kept = run.kept(&done).and_then(|kept| {
            kept.each(|document| DocumentTally::absorb_into(&mut total, &document.tally))
        });
        if let Err(unusable) = kept {
            rows_needed(run, &done, unusable)?;
            total = None;
            run.count(run.counter(&TallyOptions::default(), None)?, |document| {
                DocumentTally::absorb_into(&mut total, &document.tally);
                Ok(())
            })?;
        }
        let grid = || k_grid(run.record().provenance.scoring.vocabulary.scored).len();
        Ok(total.unwrap_or_else(|| DocumentTally::new(0, grid())))
    }

    /// The sums of a finished run; the family set in this study wins.
    ///
    /// # Errors
    /// As [`Study::tally_with`].
    pub fn tally(&self, run: &RunFolder) -> Result<RunTally> {
        self.tally_with(run, &TallyOptions::default())
    }

    /// As [`Study::tally`], with at least what `options` say counted.
    ///
    /// # Errors
    /// [`Error::Unfinished`]; as [`RunFolder::tally_with`] where the sums are not kept, or too few
    /// things in them; [`Error::NeedsRows`] when that needs rows which are not there.
    pub fn tally_with(&self, run: &RunFolder, options: &TallyOptions) -> Result<RunTally> {
        self.tally_of(run, options, &mut BTreeMap::new())
    }

    fn tally_of(
        &self,
        run: &RunFolder,
        options: &TallyOptions,
        vocabularies: &mut BTreeMap<String, Option<Vocabulary>>,
    ) -> Result<RunTally> {
        options.sequences.validate()?;
        let done = run.finished()?;
        let mut tally = match self.kept_sums(run, &done, options) {
            Ok(tally) => tally,
            Err(unusable) => {
                rows_needed(run, &done, unusable)?;
                let sha256 = &run.record().provenance.tokenizer.sha256;
                let vocabulary = match vocabularies.entry(sha256.clone()) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => entry.insert(self.vocabulary(sha256)?),
                };
                let counted = counted(run, &done, options, vocabulary.as_ref());
                // Sums of an earlier version do where the rows are damaged, or some are gone.
                counted.or_else(|error| run.earlier_sums(&done, options).ok_or(error))?
            }
        };
        tally.family = self.family_of(&run.record().provenance).to_owned();
        Ok(tally)
    }

    /// The kept sums of a finished run, if they have what `options` say.
    fn kept_sums(&self, run: &RunFolder, done: &Done, options: &TallyOptions) -> Result<RunTally> {
        let kept = run.kept(done)?;
        let (there, asked) = (&kept.meta().sequences, &options.sequences);
        if !there.covers(asked) {
            return Err(Error::NeedsRows {
                path: run.path().to_path_buf(),
                reason: format!(
                    "tokens in a row were counted at k of {:?} for N of {:?}, not at k of {:?} for N of {:?}",
                    there.k, there.lengths, asked.k, asked.lengths
                ),
            });
        }
        // Kinds of tokens that became known later need another count, where that is possible.
        let vocabulary = self.vocabulary_path(&run.record().provenance.tokenizer.sha256);
        if !kept.meta().classes.vocabulary && vocabulary.exists() && !run.without_rows(done) {
            let reason = "classes of tokens were counted without the vocabulary".to_owned();
            return Err(Error::NeedsRows { path: run.path().to_path_buf(), reason });
        }
        if !kept.counts_text() && !run.without_rows(done) {
            let reason = "bytes and words were not counted".to_owned();
            return Err(Error::NeedsRows { path: run.path().to_path_buf(), reason });
        }
        kept.read()
    }

    /// The tallies of all current runs, ordered by corpus, family, `S` and name.
    ///
    /// # Errors
    /// As [`Study::tally`].
    pub fn tallies(&self) -> Result<Vec<RunTally>> {
        self.tallies_with(&TallyOptions::default())
    }

    /// As [`Study::tallies`], with at least what `options` say counted.
    ///
    /// # Errors
    /// As [`Study::tally_with`].
    pub fn tallies_with(&self, options: &TallyOptions) -> Result<Vec<RunTally>> {
        // A vocabulary is read once for all runs of its tokenizer.
        let mut vocabularies = BTreeMap::new();
        let runs = self.current()?;
        let tallies = runs.iter().map(|run| self.tally_of(run, options, &mut vocabularies));
        let mut tallies: Vec<RunTally> = tallies.collect::<Result<_>>()?;
        let order =
            |t: &RunTally| (t.corpus.clone(), t.family.clone(), t.non_embedding, t.model.clone());
        tallies.sort_by_cached_key(order);
        Ok(tallies)
    }
}

/// Counts the rows of a run, and keeps the sums where that is possible: a study that cannot be
/// written can still be read.
fn counted(
    run: &RunFolder,
    done: &Done,
    options: &TallyOptions,
    vocabulary: Option<&Vocabulary>,
) -> Result<RunTally> {
    if *options == TallyOptions::default() && run.keep_tally(done, vocabulary).is_ok() {
        return run.kept(done)?.read();
    }
    run.tally_with(options, vocabulary)
}

/// Refuses to count rows that are not there, with what they are needed for: the reason why kept
/// sums cannot be used.
fn rows_needed(run: &RunFolder, done: &Done, unusable: Error) -> Result<()> {
    if !run.without_rows(done) {
        return Ok(());
    }
    let reason = match unusable {
        Error::NeedsRows { reason, .. } => reason,
        Error::Read { source, .. } if source.kind() == ErrorKind::NotFound => {
            format!("it has no sums ({TALLY_FILE})")
        }
        Error::Damaged { reason, .. } => format!("its {TALLY_FILE} is cut or damaged ({reason})"),
        Error::ForeignPart { reason, .. } => {
            format!("its {TALLY_FILE} belongs to another run ({reason})")
        }
        other => format!("its sums cannot be read ({other})"),
    };
    Err(Error::NeedsRows { path: run.path().to_path_buf(), reason })
}
