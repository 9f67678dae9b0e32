//! Carries a run out, or goes on with it.
//!
//! For each part that is not on disk yet: the windows of its documents go to the engine in batches,
//! in order; the rows go into the part in order, written by a thread of its own (`writing`); the
//! part appears once it is whole. Nothing else is kept between two starts, so there is nothing that
//! could disagree: what is on disk is read and believed only if it is whole and of this run.

use std::sync::atomic::{AtomicBool, Ordering};

use relscale_corpus::protocols::Window;
use relscale_records::parquet::{DocumentRow, PartMeta, PartRange};
use relscale_records::provenance::ScoreColumn;
use relscale_records::study::{Done, PartState, RunFolder};
use relscale_records::{Score, ScoredToken, Study};

use crate::engine::{Engine, EngineWindow, Vocabulary};
use crate::error::{Error, Result};
use crate::event::{Event, Warning};
use crate::layout::Windows;
use crate::notify;
use crate::plan::PlannedRun;
use crate::text::{TokenisedCorpus, TokenisedDocument};
use crate::writing::Writing;

/// Tokens of a batch by default: enough rows for the products to run at full speed, little enough
/// memory.
pub const BATCH_TOKENS: usize = 4_096;

/// What a run is made of.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The plan.
    pub planned: &'a PlannedRun,
    /// The engine, with the model loaded.
    pub engine: &'a dyn Engine,
    /// The text.
    pub corpus: &'a TokenisedCorpus,
    /// The protocol.
    pub windows: &'a dyn Windows,
    /// The rows of the head that take part.
    pub vocabulary: &'a Vocabulary,
    /// Tokens of a batch, [`BATCH_TOKENS`] where nobody says; does not change the results.
    pub batch_tokens: Option<usize>,
    /// Whether a finished run must have its rows ([`Settings::rows`](crate::Settings)).
    pub rows: bool,
}

/// Carries out what is left of a run and makes it the current one of its model x corpus.
///
/// `cancel` is looked at before each batch; a part that is not whole then is dropped, so at most
/// one part's work is lost.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::AllNonFinite`] as soon as a part is on disk and no row so far is
/// finite; the engine's; those of [`relscale_records`]. In every case finished parts stay.
pub fn carry_out(
    study: &mut Study,
    job: &Job<'_>,
    events: &mut dyn FnMut(Event),
    cancel: &AtomicBool,
) -> Result<Done> {
    let mut run = study.start(&job.planned.record)?;
    check_plan(&run, job.planned)?;
    job.engine.check_earlier(&run.record().provenance.scoring)?;
    if let Some(done) = finished_before(&run, job.rows)? {
        keep(study, &run, &done)?;
        notify::run_finished(&run, &done, true, events);
        return Ok(done);
    }
    // The size of parts is that of the first start, whatever is asked for now.
    let slice = run.record().slice.as_ref();
    let parts = job.planned.layout.parts(run.record().plan.part_tokens, slice)?;
    let (total, unscored_documents) = job.planned.layout.positions(slice)?;
    let mut states = Vec::with_capacity(parts.len());
    for &range in &parts {
        states.push(match run.part_state(range)? {
            PartState::Finished(meta) => Some(meta),
            PartState::Missing => None,
            PartState::Damaged(reason) => {
                let (file, reason) = (run.part_path(range.index), reason.to_string());
                events(Event::Warning(Warning::DamagedPart { file, reason }));
                None
            }
        });
    }
    if states.iter().any(Option::is_none) {
        // Begun elsewhere, perhaps.
        for one in &job.planned.record.computed_on {
            run.add_computed_on(one)?;
        }
    }
    if !run.has_documents() {
        write_documents(&run, job)?;
    }
    let already = states.iter().flatten().map(|meta| meta.scored + meta.nonfinite).sum();
    let mut progress = Progress::new(&run, job, events, (already, total), parts.len());
    progress.started();
    std::thread::scope(|scope| {
        let mut writing = Writing::start(scope, &run);
        for (&range, state) in parts.iter().zip(states) {
            if let Some(meta) = state {
                progress.settle(&mut writing, true)?;
                progress.part(meta)?;
            } else {
                measure_part(job, range, &mut writing, &mut progress, cancel)?;
                // Not before the part before it is known to be on disk: an error then names the
                // first that is not.
                progress.settle(&mut writing, true)?;
                writing.end(range)?;
            }
        }
        progress.settle(&mut writing, true)
    })?;
    let finished = progress.finished;
    let done = run.finish(finished, unscored_documents)?;
    keep(study, &run, &done)?;
    notify::run_finished(&run, &done, false, events);
    Ok(done)
}

/// The same key must mean the same positions; if not, a protocol was changed without a new name or
/// parameter.
fn check_plan(run: &RunFolder, planned: &PlannedRun) -> Result<()> {
    let (there, now) = (run.record().plan, planned.record.plan);
    let same_slice = run.record().slice == planned.record.slice;
    if (there.documents, there.scored) == (now.documents, now.scored) && same_slice {
        return Ok(());
    }
    let folder = run.path().to_path_buf();
    Err(Error::OtherLayout { folder, found: there.scored, wanted: now.scored })
}

/// The run's end, if it was reached before and its parts are all still there in their full size.
/// Parts are not missed where a study came without any, but with the sums of their rows, unless
/// `rows` are asked for.
pub(crate) fn finished_before(run: &RunFolder, rows: bool) -> Result<Option<Done>> {
    let Some(done) = run.done()? else { return Ok(None) };
    let whole = done.parts.iter().all(|part| {
        let path = run.part_path(part.part.range.index);
        std::fs::metadata(path).is_ok_and(|there| there.len() == part.size)
    });
    let left_behind = || !rows && run.without_rows(&done) && run.has_tally(&done);
    Ok((whole || left_behind()).then_some(done))
}

/// Keeps the sums of a finished run and makes it the current one; a slice waits for the others.
fn keep(study: &mut Study, run: &RunFolder, done: &Done) -> Result<()> {
    if run.record().slice.is_none() {
        keep_sums(study, run, done)?;
        study.set_current(run)?;
    }
    Ok(())
}

/// Keeps the sums of a run that was finished now, or by a version that kept none.
pub(crate) fn keep_sums(study: &Study, run: &RunFolder, done: &Done) -> Result<()> {
    if !run.without_rows(done) {
        study.keep_tally(run)?;
    }
    Ok(())
}

fn write_documents(run: &RunFolder, job: &Job<'_>) -> Result<()> {
    let mut writer = run.document_writer()?;
    for ((ordinal, scored), document) in
        (0u32..).zip(job.planned.layout.scored()).zip(job.corpus.documents())
    {
        let document = document?;
        writer.write(DocumentRow {
            ordinal,
            tokens: document.encoded.ids.len() as u64,
            id: document.id,
            tags: document.tags,
            bytes: document.text_bytes,
            words: document.words,
            scored: scored?,
        })?;
    }
    Ok(writer.finish()?)
}

/// How far the run is, and telling the caller so.
struct Progress<'a> {
    run: &'a RunFolder,
    job: &'a Job<'a>,
    events: &'a mut dyn FnMut(Event),
    /// Positions scored.
    scored: u64,
    /// Positions there are.
    total: u64,
    /// Parts there will be.
    parts: usize,
    /// Parts on disk, in order.
    finished: Vec<PartMeta>,
    /// Rows in them with a score, and without.
    finite: u64,
    nonfinite: u64,
}

impl<'a> Progress<'a> {
    fn new(
        run: &'a RunFolder,
        job: &'a Job<'a>,
        events: &'a mut dyn FnMut(Event),
        (scored, total): (u64, u64),
        parts: usize,
    ) -> Self {
        Self {
            run,
            job,
            events,
            scored,
            total,
            parts,
            finished: Vec::with_capacity(parts),
            finite: 0,
            nonfinite: 0,
        }
    }

    fn started(&mut self) {
        (self.events)(Event::RunStarted {
            model: self.job.engine.model().name.clone(),
            corpus: self.job.corpus.name().to_owned(),
            folder: self.run.path().to_path_buf(),
            already: self.scored,
            of: self.total,
        });
    }

    fn batch(&mut self, scored: u64, fed: u64) {
        self.scored += scored;
        (self.events)(Event::Progress {
            model: self.job.engine.model().name.clone(),
            corpus: self.job.corpus.name().to_owned(),
            scored: self.scored,
            of: self.total,
            fed,
        });
    }

    /// Passes on what the engine has to tell.
    fn notices(&mut self) {
        for notice in self.job.engine.notices() {
            let model = self.job.engine.model().name.clone();
            (self.events)(Event::Warning(Warning::OfEngine { model, notice }));
        }
    }

    /// Takes note of the part that was ended last, if it is on disk, or when it is.
    fn settle(&mut self, writing: &mut Writing, wait: bool) -> Result<()> {
        let Some(meta) = writing.finished(wait)? else { return Ok(()) };
        let (file, parts) = (self.run.part_path(meta.range.index), meta.range.index + 1);
        (self.events)(Event::PartFinished { file, parts, of: self.parts as u32 });
        self.part(meta)
    }

    /// Takes note of the next part on disk.
    fn part(&mut self, meta: PartMeta) -> Result<()> {
        self.finite += meta.scored;
        self.nonfinite += meta.nonfinite;
        self.finished.push(meta);
        if self.finite == 0 && self.nonfinite > 0 {
            return Err(Error::AllNonFinite {
                model: self.job.engine.model().name.clone(),
                corpus: self.job.corpus.name().to_owned(),
                rows: self.nonfinite,
                folder: self.run.path().to_path_buf(),
            });
        }
        Ok(())
    }
}

/// A window that waits in the batch: what the engine sees, and where its scores belong.
struct Waiting {
    document: u32,
    /// Tokens fed, the prefix included, up to the last scored one.
    tokens: Vec<u32>,
    /// Indices into `tokens`.
    scored: Vec<u32>,
    /// Source bytes of each scored token.
    bytes: Vec<u32>,
    /// First token of the document in the window, and whether a prefix precedes it:
    /// `index into tokens = position - start + prefix`.
    start: u32,
    prefix: u32,
}

/// Scores the rows of a part, and hands them on.
fn measure_part(
    job: &Job<'_>,
    range: PartRange,
    writing: &mut Writing,
    progress: &mut Progress<'_>,
    cancel: &AtomicBool,
) -> Result<()> {
    writing.begin(range.index)?;
    let mut part = Part { job, writing, batch: Vec::new(), fed: 0, last: None };
    let ordinals = range.first_document..range.end_document;
    let batch_tokens = job.batch_tokens.unwrap_or(BATCH_TOKENS);
    for (ordinal, document) in ordinals.zip(job.corpus.documents_from(range.first_document)) {
        let document = document?;
        for window in job.planned.layout.windows(&document, ordinal, job.windows)? {
            let waiting = part.waiting(ordinal, &document, &window)?;
            let full = part.fed + waiting.tokens.len() > batch_tokens;
            if full && !part.batch.is_empty() {
                part.score(progress, cancel)?;
            }
            part.fed += waiting.tokens.len();
            part.batch.push(waiting);
        }
    }
    part.score(progress, cancel)
}

/// A part in the making.
struct Part<'a> {
    job: &'a Job<'a>,
    writing: &'a mut Writing,
    batch: Vec<Waiting>,
    /// Tokens in the batch.
    fed: usize,
    /// Document and position of the last row that was put into a batch.
    last: Option<(u32, u32)>,
}

impl Part<'_> {
    /// A window as the engine wants it.
    fn waiting(
        &mut self,
        ordinal: u32,
        document: &TokenisedDocument,
        window: &Window,
    ) -> Result<Waiting> {
        let bad = |reason: String| {
            let protocol = self.job.planned.record.provenance.protocol.name.clone();
            Error::BadWindows { protocol, document: document.id.clone(), reason }
        };
        let encoded = &document.encoded;
        let text = (encoded.ids.get(window.start..window.end))
            .ok_or_else(|| bad(format!("window {}..{} is not in it", window.start, window.end)))?;
        let prefix = u32::from(window.prefix.is_some());
        // Both fit: a document has at most u32::MAX tokens.
        let (start, end) = (window.start as u32, window.end as u32);
        let mut scored = Vec::with_capacity(window.scored.len());
        let mut bytes = Vec::with_capacity(window.scored.len());
        let mut last = self.last;
        for &position in &window.scored {
            // Strictly ascending over the whole part: no position is scored twice, and rows come in
            // order.
            if last.is_some_and(|last| last >= (ordinal, position)) {
                return Err(bad(format!("position {position} comes twice or too late")));
            }
            last = Some((ordinal, position));
            let inside = (start..end).contains(&position);
            let index = inside.then(|| position - start + prefix).filter(|&index| index > 0);
            scored.push(index.ok_or_else(|| {
                bad(format!("position {position} has no context in {start}..{end}"))
            })?);
            let counted = encoded.bytes.get(position as usize).copied();
            bytes.push(counted.ok_or_else(|| bad(format!("position {position} is not in it")))?);
        }
        let mut tokens: Vec<u32> = window.prefix.into_iter().chain(text.iter().copied()).collect();
        // What comes after the last scored token changes nothing and costs time.
        tokens.truncate(scored.last().map_or(0, |&last| last as usize + 1));
        self.last = last;
        Ok(Waiting { document: ordinal, tokens, scored, bytes, start, prefix })
    }

    /// Sends the batch to the engine and writes the rows.
    fn score(&mut self, progress: &mut Progress<'_>, cancel: &AtomicBool) -> Result<()> {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        let windows: Vec<EngineWindow<'_>> = batch
            .iter()
            .map(|waiting| EngineWindow { tokens: &waiting.tokens, scored: &waiting.scored })
            .collect();
        let scores = self.job.engine.score(&windows, self.job.vocabulary);
        progress.notices();
        let scores = scores?;
        if scores.len() != windows.len() {
            let document = batch.first().map_or(0, |waiting| waiting.document);
            let reason = format!("{} windows for {}", scores.len(), windows.len());
            return Err(self.bad_answer(document, reason));
        }
        let mut rows = Vec::with_capacity(scores.iter().map(Vec::len).sum());
        for (waiting, scores) in batch.iter().zip(&scores) {
            self.rows(waiting, scores, &mut rows)?;
        }
        let (count, fed) = (rows.len() as u64, std::mem::take(&mut self.fed));
        self.writing.rows(rows)?;
        progress.batch(count, fed as u64);
        progress.settle(self.writing, false)
    }

    /// The rows of one window, checked: an engine's mistake must not become a number.
    fn rows(
        &self,
        waiting: &Waiting,
        scores: &[Option<Score>],
        rows: &mut Vec<ScoredToken>,
    ) -> Result<()> {
        let document = waiting.document;
        if scores.len() != waiting.scored.len() {
            let reason = format!("{} scores for {} positions", scores.len(), waiting.scored.len());
            return Err(self.bad_answer(document, reason));
        }
        let size = self.job.vocabulary.scored();
        for ((&index, &bytes), &score) in waiting.scored.iter().zip(&waiting.bytes).zip(scores) {
            let position = index - waiting.prefix + waiting.start;
            let Some(&token) = waiting.tokens.get(index as usize) else {
                return Err(
                    self.bad_answer(document, format!("position {position} is beyond its window"))
                );
            };
            // Belt and braces: no engine can smuggle a NaN into an average.
            let finite =
                |score: &Score| score.nll.is_finite() && score.entropy.is_none_or(f32::is_finite);
            let score = score.filter(finite);
            if let Some(Score { rank, ties, .. }) = score
                && (rank == 0 || rank > size || ties.is_some_and(|ties| ties >= rank))
            {
                let ties = ties.map(|ties| format!(" with {ties} ties")).unwrap_or_default();
                let reason = format!("position {position}: rank {rank}{ties} out of {size}");
                return Err(self.bad_answer(document, reason));
            }
            if let Some(column) = score.and_then(|score| self.wrongly_given(&score)) {
                let name = column.name();
                let reason = format!("position {position}: {name} is told or not against its word");
                return Err(self.bad_answer(document, reason));
            }
            rows.push(ScoredToken { document, position, token, bytes, context: index, score });
        }
        Ok(())
    }

    /// A column that the engine told although it said that it would not, or the other way round.
    fn wrongly_given(&self, score: &Score) -> Option<ScoreColumn> {
        let lacks = &self.job.planned.record.provenance.scoring.lacks;
        ScoreColumn::ALL.into_iter().find(|column| {
            let told = match column {
                ScoreColumn::Ties => score.ties.is_some(),
                ScoreColumn::Entropy => score.entropy.is_some(),
                ScoreColumn::Argmax => score.argmax.is_some(),
            };
            told == lacks.contains(column)
        })
    }

    fn bad_answer(&self, document: u32, reason: String) -> Error {
        let engine = self.job.engine.identity().name;
        Error::BadAnswer { engine, document: self.document_id(document), reason }
    }

    /// Asked for in a message only, so that it may be looked up.
    fn document_id(&self, ordinal: u32) -> String {
        let document = self.job.corpus.documents_from(ordinal).next();
        document.and_then(Result::ok).map(|document| document.id).unwrap_or_default()
    }
}
