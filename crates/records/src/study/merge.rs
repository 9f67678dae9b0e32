//! Studies become one: whole runs are taken over byte for byte, slices of a run are joined into the
//! parts that one process would have written.
//!
//! **Invariants.** The result does not depend on the order of the studies. A run or slice that
//! comes twice is taken once, if both hold the same rows, and refused else. Nothing of the studies
//! that are merged is changed; the result appears run by run, each only when it is whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::computed;
use super::partition::parts;
use super::{Done, RunFolder, RunRecord, Study, pair};
use crate::atomic::{self, write_whole};
use crate::error::{Error, Result};
use crate::parquet::{PartMeta, TokenWriter};
use crate::provenance::{canonical_json, sha256_file};
use crate::token::ScoredToken;

/// What became of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MergedRun {
    /// Name of the model.
    pub model: String,
    /// Name of the corpus.
    pub corpus: String,
    /// Slices that it was joined from; 0 where it was whole.
    pub slices: u32,
    /// Folders that held the same again and were passed over.
    pub again: Vec<String>,
    /// Positions with a score.
    pub scored: u64,
}

/// A finished run or slice of a study to merge.
struct Found {
    run: RunFolder,
    done: Done,
    /// For messages: the folder.
    place: String,
    /// Whether it is of the study that is merged into.
    own: bool,
}

impl Found {
    fn record(&self) -> &RunRecord {
        self.run.record()
    }

    /// What decides among equals, so that the order of studies does not: rows, then what is there
    /// already.
    fn rank(&self) -> (bool, bool, String) {
        let record = serde_json::to_value(self.record()).unwrap_or_default();
        (self.run.without_rows(&self.done), !self.own, canonical_json(&record))
    }
}

/// Merges studies into `into`, which may hold runs already.
///
/// # Errors
/// [`Error::MergeStudies`] where a slice is missing (each is named), where two runs of one key or
/// one model x corpus differ, or a model belongs to two families; those of reading and writing.
pub fn merge(into: &mut Study, studies: &[Study]) -> Result<Vec<MergedRun>> {
    let (found, unfinished) = gather(into, studies)?;
    one_a_pair(&found)?;
    let families = families(into, studies)?;
    // All that stands against it is said at once, before anything is written.
    let (mut planned, mut refusals) = (Vec::new(), Vec::new());
    for (id, group) in found {
        match Source::from_group(group, unfinished.get(&id)) {
            Ok(source) => planned.push(source),
            Err(Error::MergeStudies { reason }) => refusals.push(reason),
            Err(error) => return Err(error),
        }
    }
    if !refusals.is_empty() {
        return Err(refused(refusals.join("; ")));
    }
    vocabularies(into, studies)?;
    let mut merged = Vec::new();
    for source in planned {
        merged.push(match source {
            Source::Whole(found, again) => taken(into, &found, again)?,
            Source::Slices(slices, again) => joined(into, &slices, again)?,
        });
    }
    for (model, family) in families {
        into.set_family(&model, &family)?;
    }
    merged.sort_by(|a, b| (&a.model, &a.corpus).cmp(&(&b.model, &b.corpus)));
    Ok(merged)
}

/// A run: its model x corpus, and its key.
type Id = (String, String);

/// Finished runs and slices, and the places of those that are not finished.
type Gathered = (BTreeMap<Id, Vec<Found>>, BTreeMap<Id, Vec<String>>);

/// What a run is made from, with the places of what is the same again.
enum Source {
    Whole(Box<Found>, Vec<String>),
    Slices(Vec<Found>, Vec<String>),
}

impl Source {
    fn from_group(group: Vec<Found>, unfinished: Option<&Vec<String>>) -> Result<Self> {
        let (slices, mut whole): (Vec<Found>, Vec<Found>) =
            group.into_iter().partition(|found| found.record().slice.is_some());
        whole.sort_by_cached_key(Found::rank);
        if whole.is_empty() {
            let (slices, again) = complete(slices, unfinished)?;
            return Ok(Self::Slices(slices, again));
        }
        let first = whole.remove(0);
        same_rows(&first, &whole)?;
        let again = whole.iter().chain(&slices).map(|found| found.place.clone()).collect();
        Ok(Self::Whole(Box::new(first), again))
    }
}

fn gather(into: &Study, studies: &[Study]) -> Result<Gathered> {
    let (mut found, mut unfinished): Gathered = Default::default();
    for study in studies.iter().chain([into]) {
        for entry in study.runs()? {
            let run = study.run(&entry.folder)?;
            let id = (pair(&entry.record.provenance), entry.record.key.clone());
            let place = run.path().display().to_string();
            let own = study.path() == into.path();
            match entry.done {
                // What another run has taken the place of is left behind.
                Some(done) if entry.current || entry.record.slice.is_some() => {
                    found.entry(id).or_default().push(Found { run, done, place, own });
                }
                Some(_) => {}
                None => unfinished.entry(id).or_default().push(place),
            }
        }
    }
    Ok((found, unfinished))
}

/// Each model x corpus must be one run.
fn one_a_pair(found: &BTreeMap<Id, Vec<Found>>) -> Result<()> {
    let mut pairs: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for ((pair, key), group) in found {
        for one in group {
            let (there, place) = *pairs.entry(pair).or_insert((key, &one.place));
            if there != key {
                return Err(refused(format!(
                    "{pair} was measured in two ways ({place} and {}): weights, text, protocol or engine differ; merge those that belong \
                     together, or rename one",
                    one.place
                )));
            }
        }
    }
    Ok(())
}

fn refused(reason: String) -> Error {
    Error::MergeStudies { reason }
}

fn same_rows(first: &Found, others: &[Found]) -> Result<()> {
    match others.iter().find(|other| !alike(first, other)) {
        None => Ok(()),
        Some(other) => Err(refused(format!(
            "{} and {} are the same run with other rows: the engine does not give the same twice; keep one",
            first.place, other.place
        ))),
    }
}

/// Whether two runs or slices have the same rows: by the hashes of their parts, and by their counts
/// where parts are of other sizes, since hashes are then over other stretches.
fn alike(a: &Found, b: &Found) -> bool {
    let rows = |found: &Found| -> Vec<String> {
        found.done.parts.iter().map(|file| file.part.rows_sha256.clone()).collect()
    };
    let sizes = [a, b].map(|found| found.record().plan.part_tokens);
    match sizes[0] == sizes[1] {
        true => rows(a) == rows(b),
        false => a.done.totals == b.done.totals,
    }
}

/// Takes a whole run over.
fn taken(into: &mut Study, found: &Found, again: Vec<String>) -> Result<MergedRun> {
    let record = found.record().clone();
    let run = into.restart(&record)?;
    if run.path() != found.run.path() {
        // The parts first and `done.json` last: what is cut off is no finished run.
        let mut files: Vec<_> = Vec::new();
        for entry in fs::read_dir(found.run.path()).map_err(Error::read(found.run.path()))? {
            files.push(entry.map_err(Error::read(found.run.path()))?.path());
        }
        files.retain(|file| file.extension().is_some_and(|ending| ending == "parquet"));
        files.sort();
        for file in &files {
            copy(file, run.path(), &found.done)?;
        }
        copy(&found.run.path().join(super::run::DONE_FILE), run.path(), &found.done)?;
    }
    into.set_current(&run)?;
    Ok(merged_run(&record, 0, again, found.done.totals.scored))
}

fn merged_run(record: &RunRecord, slices: u32, again: Vec<String>, scored: u64) -> MergedRun {
    let (model, corpus) = (&record.provenance.model.name, &record.provenance.corpus.name);
    MergedRun { model: model.clone(), corpus: corpus.clone(), slices, again, scored }
}

/// Copies a file of a run, and checks a part against what `done.json` says of it.
fn copy(file: &Path, folder: &Path, done: &Done) -> Result<()> {
    let Some(name) = file.file_name() else { return Ok(()) };
    let part = done.parts.iter().find(|part| part.file.as_str() == name);
    if let Some(part) = part
        && sha256_file(file)? != part.sha256
    {
        let reason = "it is not the file that done.json lists".to_owned();
        return Err(Error::Damaged { path: file.to_path_buf(), reason });
    }
    let mut from = fs::File::open(file).map_err(Error::read(file))?;
    let to = folder.join(name);
    let mut written = atomic::AtomicFile::create(&to)?;
    std::io::copy(&mut from, &mut written).map_err(Error::write(&to))?;
    written.commit()
}

/// The slices that make a run, in order, and the places of those that came twice.
fn complete(
    slices: Vec<Found>,
    unfinished: Option<&Vec<String>>,
) -> Result<(Vec<Found>, Vec<String>)> {
    let mut by_count: BTreeMap<u32, BTreeMap<u32, Vec<Found>>> = BTreeMap::new();
    let mut name = String::new();
    for found in slices {
        let Some(slice) = found.record().slice else { continue };
        name = pair(&found.record().provenance);
        let cut = by_count.entry(slice.which.of).or_default();
        cut.entry(slice.which.index).or_default().push(found);
    }
    let whole = |(of, cut): (&u32, &BTreeMap<u32, Vec<Found>>)| cut.len() == *of as usize;
    let Some(of) = by_count.iter().find(|entry| whole(*entry)).map(|(&of, _)| of) else {
        let missing: Vec<String> = by_count
            .iter()
            .map(|(of, cut)| {
                let missing: Vec<String> = (1..=*of)
                    .filter(|index| !cut.contains_key(index))
                    .map(|index| format!("{index}/{of}"))
                    .collect();
                missing.join(", ")
            })
            .collect();
        let begun = unfinished.map(|places| {
            format!("; not finished: {} (the same command goes on there)", places.join(", "))
        });
        return Err(refused(format!(
            "{name} lacks {}{}",
            missing.join("; or "),
            begun.unwrap_or_default()
        )));
    };
    let (mut taken, mut again) = (Vec::new(), Vec::new());
    for (count, cut) in by_count {
        for (_, mut same) in cut {
            if count != of {
                again.extend(same.into_iter().map(|found| found.place));
                continue;
            }
            same.sort_by_cached_key(Found::rank);
            let others = same.split_off(1);
            same_rows(&same[0], &others)?;
            again.extend(others.into_iter().map(|found| found.place));
            taken.append(&mut same);
        }
    }
    again.sort();
    Ok((taken, again))
}

/// Writes the run that the slices are cut from: the very bytes that one process would have written.
fn joined(into: &mut Study, slices: &[Found], again: Vec<String>) -> Result<MergedRun> {
    let first = &slices[0];
    for other in slices {
        if let Some(reason) = unlike(first.record(), other.record()) {
            return Err(refused(format!(
                "{} and {} are not slices of one run: {reason}",
                first.place, other.place
            )));
        }
    }
    let mut record = RunRecord { slice: None, ..first.record().clone() };
    for one in slices.iter().flat_map(|slice| &slice.record().computed_on) {
        computed::add(&mut record.computed_on, one);
    }
    let run = into.restart(&record)?;
    let documents = first.run.documents()?;
    let ranges = parts(
        0,
        documents.iter().map(|document| Ok::<_, Error>(document.scored)),
        record.plan.part_tokens,
    )?;
    let mut writer = run.document_writer()?;
    let unscored = documents.iter().filter(|document| document.scored == 0).count() as u64;
    documents.into_iter().try_for_each(|document| writer.write(document))?;
    writer.finish()?;
    let mut rows = Rows::new(slices);
    let mut metas: Vec<PartMeta> = Vec::new();
    for range in ranges {
        let mut part: TokenWriter = run.part_writer(range.index)?;
        rows.until(range.end_document, |rows| part.write(rows))?;
        metas.push(part.finish(range)?);
    }
    let scored = metas.iter().map(|meta| meta.scored).sum();
    run.finish(metas, unscored)?;
    into.keep_tally(&run)?;
    into.set_current(&run)?;
    Ok(merged_run(&record, slices.len() as u32, again, scored))
}

/// In what two slices of a key differ that must not.
fn unlike(a: &RunRecord, b: &RunRecord) -> Option<String> {
    if a.plan != b.plan {
        return Some(format!("{:?} and {:?}", a.plan, b.plan));
    }
    let (a, b) = (&a.provenance, &b.provenance);
    if a.model.family != b.model.family {
        return Some(format!("families {} and {}", a.model.family, b.model.family));
    }
    None
}

/// The rows of slices, one slice after the other.
struct Rows<'a> {
    batches: Box<dyn Iterator<Item = Result<Vec<ScoredToken>>> + 'a>,
    left: Vec<ScoredToken>,
}

impl<'a> Rows<'a> {
    fn new(slices: &'a [Found]) -> Self {
        let batches = slices.iter().flat_map(|slice| {
            let (rows, error) = match slice.run.rows() {
                Ok(rows) => (Some(rows), None),
                Err(error) => (None, Some(Err(error))),
            };
            error.into_iter().chain(rows.into_iter().flatten())
        });
        Self { batches: Box::new(batches), left: Vec::new() }
    }

    /// Hands over the rows of all documents before `end`.
    fn until(
        &mut self,
        end: u32,
        mut take: impl FnMut(&[ScoredToken]) -> Result<()>,
    ) -> Result<()> {
        loop {
            let inside = self.left.partition_point(|row| row.document < end);
            take(&self.left[..inside])?;
            if inside < self.left.len() {
                self.left.drain(..inside);
                return Ok(());
            }
            match self.batches.next() {
                Some(batch) => self.left = batch?,
                None => {
                    self.left.clear();
                    return Ok(());
                }
            }
        }
    }
}

/// The families that were set in the studies.
fn families(into: &Study, studies: &[Study]) -> Result<BTreeMap<String, String>> {
    let mut families: BTreeMap<String, String> = into.record.families.clone();
    for (model, family) in studies.iter().flat_map(|study| &study.record.families) {
        let there = families.entry(model.clone()).or_insert_with(|| family.clone());
        if there != family {
            return Err(refused(format!(
                "model {model} is of family {there} in one study and {family} in another"
            )));
        }
    }
    Ok(families)
}

/// Copies the tokenizers' vocabularies.
fn vocabularies(into: &Study, studies: &[Study]) -> Result<()> {
    let to = into.path().join(super::VOCABULARIES);
    for study in studies.iter().filter(|study| study.path() != into.path()) {
        let from = study.path().join(super::VOCABULARIES);
        let Ok(entries) = fs::read_dir(&from) else { continue };
        atomic::inner_folder(&to)?;
        for entry in entries {
            let file = entry.map_err(Error::read(&from))?.path();
            let Some(name) = file.file_name() else { continue };
            let there = to.join(name);
            if file.extension().is_some_and(|ending| ending == "parquet") && !there.exists() {
                write_whole(&there, &fs::read(&file).map_err(Error::read(&file))?)?;
            }
        }
    }
    Ok(())
}
