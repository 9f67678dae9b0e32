//! The sums of a run: what [`crate::count`] counts in its rows, kept so that laws need no row
//! again.
//!
//! One table with rows of three kinds, told apart by the column `of`: a `document` with its sums,
//! then a `run` of hits by k and length, then a `rank` with its positions. Columns of another kind
//! are null.
//!
//! Numbers come back bit for bit, and are checked: the metadata has a hash over all of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Float64Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array, new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::format;
use super::guard::Batches;
use super::lists::{List, list_array};
use super::tally_text::{self as text, TextColumns, TextLists, TextNumbers};
use crate::atomic::AtomicFile;
use crate::classes::{ClassBasis, DocumentClasses, TokenClass};
use crate::count::{DocumentSums, Gathered, RunSums};
use crate::error::{Error, Result};
use crate::provenance::{Provenance, canonical_json};
use crate::ranks::RankHistogram;
use crate::sequences::{DocumentSequences, HitCounts, PairCounts, RunCount, SequenceGrid};
use crate::tally::{DocumentTally, RunTally, k_grid};

/// `relscale.kind` of the table.
const KIND: &str = "tally";
/// Metadata key: what was counted, in which rows.
const TALLY: &str = "relscale.tally";
/// Metadata key: how many documents there are, and the hash over all numbers.
const SUMS: &str = "relscale.sums";

/// Rises when something is counted otherwise, kinds of tokens included; sums of another version are
/// counted again.
///
/// * 1: no counts by byte, word and span. Its sums are read where there are no rows to count.
/// * 2: with them.
const VERSION: u32 = 2;

/// Documents of a row group. Fixed, because it shapes the bytes.
const GROUP: usize = 1 << 11;

/// Counts of a document that are one number each.
const COUNTS: [&str; 4] = ["scored", "bytes", "nonfinite", "tied"];
/// Sums of a document.
const REALS: [&str; 2] = ["sum_nll", "sum_entropy"];
/// Counts of a document that are several numbers each; an entry a k, N, lag or class as the grid
/// has them.
const LISTS: [&str; 9] = [
    "windows",
    "pairs",
    "sequence_hits",
    "successes",
    "pairs_earlier",
    "pairs_later",
    "pairs_both",
    "class_tokens",
    "class_misses",
];

/// What a tally says about itself (metadata `relscale.tally`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallyMeta {
    version: u32,
    /// Which rows were counted: [`Done::rows_sha256`](crate::study::Done::rows_sha256).
    pub rows_sha256: String,
    /// The k of hits and of misses by class.
    pub k: Vec<u32>,
    /// Which sequences were counted.
    pub sequences: SequenceGrid,
    /// From what the classes were made.
    pub classes: ClassBasis,
}

impl TallyMeta {
    /// Of the sums that this program counts.
    pub fn new(
        provenance: &Provenance,
        rows_sha256: String,
        sequences: SequenceGrid,
        classes: ClassBasis,
    ) -> Self {
        let k = k_grid(provenance.scoring.vocabulary.scored);
        Self { version: VERSION, rows_sha256, k, sequences, classes }
    }
}

/// Metadata `relscale.sums`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SumsMeta {
    documents: u64,
    sha256: String,
}

/// The numbers of one document as they stand in the columns.
struct Numbers<'a> {
    text: Option<TextNumbers<'a>>,
    document: u32,
    counts: [Option<u64>; COUNTS.len()],
    reals: [Option<f64>; REALS.len()],
    hits: &'a [u64],
    lists: [&'a [u32]; LISTS.len()],
}

/// The lists of [`LISTS`].
fn lists(sequences: &DocumentSequences, classes: &DocumentClasses) -> [Vec<u32>; LISTS.len()] {
    let by_k = |get: fn(&HitCounts) -> Vec<u32>| sequences.by_k.iter().flat_map(get).collect();
    [
        sequences.windows.clone(),
        sequences.pairs.clone(),
        by_k(|at| vec![at.hits]),
        by_k(|at| at.successes.clone()),
        by_k(|at| at.pairs.iter().map(|pairs| pairs.earlier).collect()),
        by_k(|at| at.pairs.iter().map(|pairs| pairs.later).collect()),
        by_k(|at| at.pairs.iter().map(|pairs| pairs.both).collect()),
        classes.tokens.to_vec(),
        classes.misses.concat(),
    ]
}

/// The hash over all numbers, the same when writing and when reading.
#[derive(Default)]
struct Account {
    documents: u64,
    hash: Sha256,
    bytes: Vec<u8>,
}

impl Account {
    fn document(&mut self, numbers: &Numbers<'_>) {
        self.documents += 1;
        self.bytes.clear();
        let bytes = &mut self.bytes;
        bytes.extend(numbers.document.to_le_bytes());
        // What is not told has values that no count and no sum has.
        let counts = numbers.counts.iter().map(|count| count.unwrap_or(u64::MAX));
        let counts = counts.chain(numbers.hits.iter().copied());
        counts.for_each(|count| bytes.extend(count.to_le_bytes()));
        let reals = numbers.reals.iter().map(|real| real.unwrap_or(f64::NAN));
        reals.for_each(|real| bytes.extend(real.to_bits().to_le_bytes()));
        numbers.lists.iter().copied().flatten().for_each(|count| bytes.extend(count.to_le_bytes()));
        numbers.text.iter().for_each(|text| text.hash(bytes));
        self.hash.update(&self.bytes);
    }

    fn finish(mut self, sums: &RunSums, grid: &SequenceGrid) -> SumsMeta {
        for (k, run) in runs(sums, grid) {
            self.hash.update([k, run.length].map(u32::to_le_bytes).concat());
            self.hash.update([run.ended, run.cut].map(u64::to_le_bytes).concat());
        }
        for (rank, tokens, nll) in sums.ranks.units() {
            self.hash.update(rank.to_le_bytes());
            self.hash.update(tokens.to_le_bytes());
            self.hash.update(nll.to_le_bytes());
        }
        let sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        SumsMeta { documents: self.documents, sha256 }
    }
}

/// Runs of hits with their k.
fn runs<'a>(
    sums: &'a RunSums,
    grid: &'a SequenceGrid,
) -> impl Iterator<Item = (u32, RunCount)> + 'a {
    grid.k.iter().zip(&sums.runs).flat_map(|(&k, runs)| runs.iter().map(move |&run| (k, run)))
}

/// The columns of a version.
fn schema(version: u32) -> Arc<Schema> {
    let list = |item: DataType| DataType::List(Arc::new(Field::new("item", item, false)));
    let of = Field::new("of", DataType::Utf8, false);
    let nullable = [("document", DataType::UInt32)]
        .into_iter()
        .chain(COUNTS.map(|name| (name, DataType::UInt64)))
        .chain(REALS.map(|name| (name, DataType::Float64)))
        .chain([("hits", list(DataType::UInt64))])
        .chain(LISTS.map(|name| (name, list(DataType::UInt32))))
        .chain([
            ("k", DataType::UInt32),
            ("length", DataType::UInt32),
            ("ended", DataType::UInt64),
            ("cut", DataType::UInt64),
            ("rank", DataType::UInt32),
            ("tokens", DataType::UInt64),
            ("nll_units", DataType::Decimal128(38, 0)),
        ])
        .chain(text::columns(list).into_iter().filter(|_| version > 1))
        .map(|(name, kind)| Field::new(name, kind, true));
    Arc::new(Schema::new([of].into_iter().chain(nullable).collect::<Vec<_>>()))
}

/// Writes the sums of a run: aside, and under their name only once they are whole.
pub struct TallyWriter {
    writer: ArrowWriter<AtomicFile>,
    path: PathBuf,
    grid: SequenceGrid,
    documents: Vec<DocumentSums>,
    account: Account,
}

impl TallyWriter {
    /// Starts the table `path` (as `path.tmp`).
    ///
    /// # Errors
    /// [`Error::Write`] when the file cannot be made.
    pub fn create(path: &Path, provenance: &Provenance, meta: &TallyMeta) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let properties = format::properties(KIND, provenance)?;
        let writer = ArrowWriter::try_new(file, schema(VERSION), Some(properties))
            .map_err(|source| format::unwritable(path, source))?;
        let (path, grid) = (path.to_path_buf(), meta.sequences.clone());
        let mut new =
            Self { writer, path, grid, documents: Vec::new(), account: Account::default() };
        new.say(TALLY, meta)?;
        Ok(new)
    }

    /// Adds a document; ordinals ascend.
    ///
    /// # Errors
    /// [`Error::Write`]; the `.tmp` is removed when the writer is dropped.
    pub fn write(&mut self, document: DocumentSums) -> Result<()> {
        self.documents.push(document);
        if self.documents.len() == GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and the sums of the run as a whole, syncs, and gives the table its name.
    ///
    /// # Errors
    /// [`Error::Write`]; the table does not appear then.
    pub fn finish(mut self, sums: &RunSums) -> Result<()> {
        self.flush()?;
        let (k, lengths): (Vec<u32>, Vec<RunCount>) = runs(sums, &self.grid).unzip();
        let count =
            |get: fn(&RunCount) -> u64| UInt64Array::from_iter_values(lengths.iter().map(get));
        self.rows(
            "run",
            k.len(),
            vec![
                ("k", Arc::new(UInt32Array::from(k))),
                (
                    "length",
                    Arc::new(UInt32Array::from_iter_values(lengths.iter().map(|run| run.length))),
                ),
                ("ended", Arc::new(count(|run| run.ended))),
                ("cut", Arc::new(count(|run| run.cut))),
            ],
        )?;
        let ranks: Vec<(u32, u64, i128)> = sums.ranks.units().collect();
        let nll = Decimal128Array::from_iter_values(ranks.iter().map(|rank| rank.2));
        let nll = nll.with_precision_and_scale(38, 0).map_err(|source| self.unwritable(&source))?;
        self.rows(
            "rank",
            ranks.len(),
            vec![
                ("rank", Arc::new(UInt32Array::from_iter_values(ranks.iter().map(|rank| rank.0)))),
                (
                    "tokens",
                    Arc::new(UInt64Array::from_iter_values(ranks.iter().map(|rank| rank.1))),
                ),
                ("nll_units", Arc::new(nll)),
            ],
        )?;
        let meta = std::mem::take(&mut self.account).finish(sums, &self.grid);
        self.say(SUMS, &meta)?;
        let path = self.path;
        self.writer.into_inner().map_err(|source| format::unwritable(&path, source))?.commit()
    }

    fn say(&mut self, key: &str, meta: &impl Serialize) -> Result<()> {
        let value = serde_json::to_value(meta)
            .map_err(|source| Error::Serialise { what: "metadata of a tally", source })?;
        let pair = KeyValue { key: key.into(), value: Some(canonical_json(&value)) };
        self.writer.append_key_value_metadata(pair);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let documents = std::mem::take(&mut self.documents);
        let several: Vec<_> =
            documents.iter().map(|sums| lists(&sums.sequences, &sums.classes)).collect();
        let text: Vec<TextLists> =
            documents.iter().map(|sums| TextLists::new(sums.tally.text.as_ref())).collect();
        let numbers: Vec<Numbers<'_>> = documents
            .iter()
            .zip(&several)
            .zip(&text)
            .map(|((sums, lists), text)| Numbers::new(&sums.tally, lists, text))
            .collect();
        numbers.iter().for_each(|numbers| self.account.document(numbers));
        let ordinals =
            UInt32Array::from_iter_values(numbers.iter().map(|numbers| numbers.document));
        let mut columns: Vec<(&str, ArrayRef)> = vec![("document", Arc::new(ordinals))];
        for (at, name) in COUNTS.into_iter().enumerate() {
            let values = numbers.iter().map(|numbers| numbers.counts[at]);
            columns.push((name, Arc::new(UInt64Array::from_iter(values))));
        }
        for (at, name) in REALS.into_iter().enumerate() {
            let values = numbers.iter().map(|numbers| numbers.reals[at]);
            columns.push((name, Arc::new(Float64Array::from_iter(values))));
        }
        columns
            .push(("hits", list_array::<UInt64Type>(numbers.iter().map(|numbers| numbers.hits))));
        for (at, name) in LISTS.into_iter().enumerate() {
            let values = numbers.iter().map(|numbers| numbers.lists[at]);
            columns.push((name, list_array::<UInt32Type>(values)));
        }
        columns.extend(text::arrays(&text));
        self.rows("document", documents.len(), columns)
    }

    /// Writes rows of one kind as a row group: the columns that they have, and nulls in the others.
    fn rows(&mut self, of: &str, rows: usize, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let schema = schema(VERSION);
        let arrays = schema.fields().iter().map(|field| -> ArrayRef {
            match columns.iter().find(|(name, _)| *name == field.name()) {
                Some((_, array)) => Arc::clone(array),
                None if field.name() == "of" => {
                    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(of, rows)))
                }
                None => new_null_array(field.data_type(), rows),
            }
        });
        let batch = RecordBatch::try_new(schema.clone(), arrays.collect())
            .map_err(|source| self.unwritable(&source))?;
        let written = self.writer.write(&batch).and_then(|()| self.writer.flush());
        written.map_err(|source| format::unwritable(&self.path, source))
    }

    fn unwritable(&self, source: &ArrowError) -> Error {
        Error::WriteParquet { path: self.path.clone(), reason: source.to_string() }
    }
}

impl<'a> Numbers<'a> {
    fn new(
        tally: &'a DocumentTally,
        lists: &'a [Vec<u32>; LISTS.len()],
        text: &'a TextLists,
    ) -> Self {
        Self {
            text: Some(text.numbers()),
            document: tally.document,
            counts: [Some(tally.scored), Some(tally.bytes), Some(tally.nonfinite), tally.tied],
            reals: [Some(tally.sum_nll), tally.sum_entropy],
            hits: &tally.hits,
            lists: lists.each_ref().map(Vec::as_slice),
        }
    }

    /// The sums that these are; `None` when they do not fit the grid.
    fn sums(&self, k: usize, grid: &SequenceGrid) -> Option<DocumentSums> {
        let [Some(scored), Some(bytes), Some(nonfinite), tied] = self.counts else { return None };
        let [Some(sum_nll), sum_entropy] = self.reals else { return None };
        let [windows, pairs, hits, successes, earlier, later, both, class_tokens, misses] =
            self.lists;
        let (lengths, lags) = (grid.lengths.len(), grid.lags.len());
        let long =
            [windows, pairs, hits, successes, earlier, later, both, misses].map(<[u32]>::len);
        let ks = grid.k.len();
        let classes = TokenClass::ALL.len();
        let by_lag = ks * lags;
        if self.hits.len() != k
            || long != [lengths, lags, ks, ks * lengths, by_lag, by_lag, by_lag, k * classes]
        {
            return None;
        }
        let at_k = |at: usize| HitCounts {
            hits: hits[at],
            successes: successes[at * lengths..][..lengths].to_vec(),
            pairs: (at * lags..(at + 1) * lags)
                .map(|at| PairCounts { earlier: earlier[at], later: later[at], both: both[at] })
                .collect(),
        };
        let document = self.document;
        Some(DocumentSums {
            tally: DocumentTally {
                document,
                scored,
                bytes,
                nonfinite,
                tied,
                hits: self.hits.to_vec(),
                sum_nll,
                sum_entropy,
                text: match &self.text {
                    Some(text) => Some(text.tally(k)?),
                    None => None,
                },
            },
            sequences: DocumentSequences {
                document,
                scored: scored.try_into().ok()?,
                windows: windows.to_vec(),
                pairs: pairs.to_vec(),
                by_k: (0..ks).map(at_k).collect(),
            },
            classes: DocumentClasses {
                document,
                tokens: class_tokens.try_into().ok()?,
                misses: misses.as_chunks().0.to_vec(),
            },
        })
    }
}

/// Reads the sums of a run.
pub struct TallyReader {
    batches: Batches,
    path: PathBuf,
    provenance: Provenance,
    meta: TallyMeta,
    sums: SumsMeta,
}

impl TallyReader {
    /// Opens a tally and checks that it is one.
    ///
    /// # Errors
    /// [`Error::Read`]; [`Error::Damaged`] for a cut file, and one of other counts than this
    /// program makes; [`Error::NotOurs`] for another file; [`Error::NewerFormat`].
    pub fn open(path: &Path) -> Result<Self> {
        let (builder, provenance) = format::open_ours(path, KIND)?;
        let damaged = |reason: String| Error::Damaged { path: path.to_path_buf(), reason };
        let json = |key: &str| -> Result<serde_json::Value> {
            let text = format::metadata(&builder, key);
            let text = text.ok_or_else(|| damaged(format!("no metadata `{key}`")))?;
            serde_json::from_str(text).map_err(|error| damaged(format!("`{key}`: {error}")))
        };
        let meta = json(TALLY)?;
        let version = meta.get("version").and_then(serde_json::Value::as_u64);
        if !version.is_some_and(|version| (1..=VERSION.into()).contains(&version)) {
            return Err(damaged(
                "its sums were counted by another version of the program".to_owned(),
            ));
        }
        let unreadable = |error: serde_json::Error| damaged(error.to_string());
        let meta: TallyMeta = serde_json::from_value(meta).map_err(unreadable)?;
        let sums = serde_json::from_value(json(SUMS)?).map_err(unreadable)?;
        meta.sequences.validate().map_err(|error| damaged(error.to_string()))?;
        if meta.k != k_grid(provenance.scoring.vocabulary.scored) {
            return Err(damaged(format!("its k are {:?}", meta.k)));
        }
        if **builder.schema().fields() != **schema(meta.version).fields() {
            return Err(damaged("its columns are not those of a tally".to_owned()));
        }
        let batches = Batches::from_builder(builder.with_batch_size(GROUP))
            .map_err(|source| format::unreadable(path, source))?;
        Ok(Self { batches, path: path.to_path_buf(), provenance, meta, sums })
    }

    /// The run that the sums belong to.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// What the tally says about itself.
    pub fn meta(&self) -> &TallyMeta {
        &self.meta
    }

    /// Whether bytes, words and spans are among what was counted.
    pub fn counts_text(&self) -> bool {
        self.meta.version > 1
    }

    /// Reads everything into memory.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn read(self) -> Result<RunTally> {
        let meta = &self.meta;
        let mut gathered = Gathered::new(&self.provenance, meta.sequences.clone(), meta.classes);
        let sums = self.each(|document| gathered.push(document))?;
        Ok(gathered.finish(sums))
    }

    /// Hands over one document after the other. None of them is to be believed before this returns:
    /// only then all numbers were compared with their hash.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn each(mut self, mut take: impl FnMut(DocumentSums)) -> Result<RunSums> {
        let damaged = |reason: String| Error::Damaged { path: self.path.clone(), reason };
        let grid = &self.meta.sequences;
        let mut account = Account::default();
        let mut sums =
            RunSums { runs: vec![Vec::new(); grid.k.len()], ranks: RankHistogram::default() };
        let mut last = None;
        for batch in self.batches.by_ref() {
            let batch = batch.map_err(|source| damaged(source.to_string()))?;
            let columns = Columns::from_batch(&batch, self.meta.version > 1)
                .ok_or_else(|| damaged("a batch lacks a column".to_owned()))?;
            for row in 0..batch.num_rows() {
                let strange = || damaged(format!("row {row} of a batch is none of a tally"));
                match columns.of.value(row) {
                    "document" => {
                        let numbers = columns.document(row).ok_or_else(strange)?;
                        let document = numbers.sums(self.meta.k.len(), grid).ok_or_else(strange)?;
                        if last
                            .replace(numbers.document)
                            .is_some_and(|last| last >= numbers.document)
                        {
                            return Err(strange());
                        }
                        account.document(&numbers);
                        take(document);
                    }
                    "run" => {
                        let (k, run) = columns.run(row);
                        let at = grid.k.binary_search(&k).map_err(|_| strange())?;
                        sums.runs[at].push(run);
                    }
                    "rank" => {
                        let (rank, tokens, nll) = columns.rank(row);
                        if sums.ranks.largest() >= Some(rank) {
                            return Err(strange());
                        }
                        sums.ranks.add_units(rank, tokens, nll);
                    }
                    _ => return Err(strange()),
                }
            }
        }
        if account.finish(&sums, grid) != self.sums {
            return Err(damaged("its sums are not those that were written".to_owned()));
        }
        Ok(sums)
    }
}

/// The columns of a batch.
struct Columns<'a> {
    of: &'a StringArray,
    document: &'a UInt32Array,
    counts: Vec<&'a UInt64Array>,
    reals: Vec<&'a Float64Array>,
    hits: List<'a, UInt64Type>,
    lists: Vec<List<'a, UInt32Type>>,
    text: Option<TextColumns<'a>>,
    run: (&'a UInt32Array, &'a UInt32Array, &'a UInt64Array, &'a UInt64Array),
    rank: (&'a UInt32Array, &'a UInt64Array, &'a Decimal128Array),
}

impl<'a> Columns<'a> {
    fn from_batch(batch: &'a RecordBatch, text: bool) -> Option<Self> {
        let column = |name: &str| batch.column_by_name(name).map(AsRef::as_ref);
        let small = |name: &str| column(name)?.as_primitive_opt::<UInt32Type>();
        let large = |name: &str| column(name)?.as_primitive_opt::<UInt64Type>();
        let real = |name: &str| column(name)?.as_primitive_opt::<Float64Type>();
        Some(Self {
            of: column("of")?.as_string_opt::<i32>()?,
            document: small("document")?,
            counts: COUNTS.into_iter().map(large).collect::<Option<_>>()?,
            reals: REALS.into_iter().map(real).collect::<Option<_>>()?,
            hits: List::from_column(column("hits")?)?,
            lists: LISTS
                .into_iter()
                .map(|name| List::from_column(column(name)?))
                .collect::<Option<_>>()?,
            text: match text {
                true => Some(TextColumns::from_batch(batch)?),
                false => None,
            },
            run: (small("k")?, small("length")?, large("ended")?, large("cut")?),
            rank: (
                small("rank")?,
                large("tokens")?,
                column("nll_units")?.as_primitive_opt::<Decimal128Type>()?,
            ),
        })
    }

    fn document(&self, row: usize) -> Option<Numbers<'_>> {
        let mut counts = [None; COUNTS.len()];
        for (count, column) in counts.iter_mut().zip(&self.counts) {
            *count = column.is_valid(row).then(|| column.value(row));
        }
        let mut reals = [None; REALS.len()];
        for (real, column) in reals.iter_mut().zip(&self.reals) {
            *real = column.is_valid(row).then(|| column.value(row));
        }
        let mut lists = [&[][..]; LISTS.len()];
        for (list, column) in lists.iter_mut().zip(&self.lists) {
            *list = column.row(row)?;
        }
        let (document, hits) = (self.document.value(row), self.hits.row(row)?);
        let text = match &self.text {
            Some(columns) => Some(columns.row(row)?),
            None => None,
        };
        Some(Numbers { text, document, counts, reals, hits, lists })
    }

    fn run(&self, row: usize) -> (u32, RunCount) {
        let (k, length, ended, cut) = self.run;
        let run =
            RunCount { length: length.value(row), ended: ended.value(row), cut: cut.value(row) };
        (k.value(row), run)
    }

    fn rank(&self, row: usize) -> (u32, u64, i128) {
        let (rank, tokens, nll) = self.rank;
        (rank.value(row), tokens.value(row), nll.value(row))
    }
}
