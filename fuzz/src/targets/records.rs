//! Files of a study: parts, tables, and the JSON beside them. Another program may have written
//! them, a disk may have spoilt them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use relscale_measure::known::{self, Known};
use relscale_records::parquet::{
    CurvePoint, DocumentRow, PartRange, TokenReader, TokenWriter, column_names, read_cells, read_curve,
    read_documents, read_token_ids, read_vocabulary, write_curve, write_documents, write_vocabulary,
};
use relscale_records::vocabulary::VocabularyEntry;
use relscale_records::{Provenance, Score, ScoredToken, Study, Vocabulary};
use relscale_testkit::{MadeUpFamily, made_up_study};

use crate::input::choice;
use crate::place::{Place, check_refusal};
use crate::seeds::Seeds;

/// What a writer wrote, as bytes.
fn written(write: impl FnOnce(&Path)) -> Vec<u8> {
    let place = Place::of("written");
    let path = place.path().join("file.parquet");
    write(&path);
    fs::read(path).expect("a file that was just written")
}

/// A part: rows that were read to the end without an error, written again, are the part that the
/// file says it is.
///
/// # Panics
/// They are not, or a refusal does not name the file.
pub fn part(data: &[u8]) {
    let place = Place::of("part");
    let path = place.put("part-00000.parquet", data);
    let reader = match TokenReader::open(&path) {
        Ok(reader) => reader,
        Err(error) => return check_refusal(&error, &path),
    };
    let (provenance, meta) = (reader.provenance().clone(), reader.meta().clone());
    let mut rows = Vec::new();
    for batch in reader {
        match batch {
            Ok(batch) => rows.extend(batch),
            Err(error) => return check_refusal(&error, &path),
        }
    }
    let again = place.path().join("again.parquet");
    let mut writer = TokenWriter::create(&again, &provenance).expect("a folder in memory");
    writer.write(&rows).expect("a folder in memory");
    assert_eq!(writer.finish(meta.range).expect("a folder in memory"), meta);
    // The column of ids alone is the same as among the others.
    let ids = read_token_ids(&path).and_then(|batches| batches.collect::<Result<Vec<_>, _>>());
    let ids: Vec<u32> = ids.expect("a part that was read before").concat();
    assert_eq!(ids, rows.iter().map(|row| row.token).collect::<Vec<_>>());
}

/// A part with scores, with a row that has none, and one without rows.
pub fn part_seeds() -> Vec<Vec<u8>> {
    let range = PartRange { index: 0, first_document: 0, end_document: 2 };
    let row = |at: u32| ScoredToken {
        document: at / 3,
        position: 1 + at % 3,
        token: at,
        bytes: 4,
        context: 1 + at % 3,
        score: (at != 4).then_some(Score {
            rank: 1 + at,
            ties: (!at.is_multiple_of(3)).then_some(at % 2),
            nll: 0.5 + at as f32,
            entropy: (at % 3 != 1).then_some(2.0),
            argmax: Some(9),
        }),
    };
    let part = |rows: u32| {
        written(|path| {
            let mut writer = TokenWriter::create(path, &Provenance::example()).expect("a folder in memory");
            writer.write(&(0..rows).map(row).collect::<Vec<_>>()).expect("a folder in memory");
            writer.finish(range).expect("a folder in memory");
        })
    };
    Seeds::new().bytes(part(6)).bytes(part(0)).all()
}

/// The tables of documents, of a vocabulary, of a curve: what reads, written again, reads the same.
///
/// # Panics
/// It does not, or a refusal does not name the file.
pub fn table(data: &[u8]) {
    let Some((kind, data)) = choice(data, 3) else { return };
    let place = Place::of("table");
    let path = place.put("table.parquet", data);
    let again = place.path().join("again.parquet");
    let refuse = |error: relscale_records::Error| check_refusal(&error, &path);
    match kind {
        0 => match read_documents(&path) {
            Ok(rows) => {
                write_documents(&again, &Provenance::example(), &rows).expect("a folder in memory");
                assert_eq!(read_documents(&again).expect("what was just written"), rows);
            }
            Err(error) => refuse(error),
        },
        1 => match read_vocabulary(&path) {
            Ok(vocabulary) => {
                write_vocabulary(&again, &vocabulary).expect("a folder in memory");
                assert_eq!(read_vocabulary(&again).expect("what was just written"), vocabulary);
            }
            Err(error) => refuse(error),
        },
        _ => match read_curve(&path) {
            Ok((run, points)) => {
                write_curve(&again, &run, &points).expect("a folder in memory");
                let (name, read) = read_curve(&again).expect("what was just written");
                // By their digits: a loss may be NaN, which is what a diverged run has.
                assert_eq!((name, format!("{read:?}")), (run, format!("{points:?}")));
            }
            Err(error) => refuse(error),
        },
    }
}

/// A small table of each kind.
pub fn table_seeds() -> Vec<Vec<u8>> {
    let document = |ordinal: u32| DocumentRow {
        ordinal,
        id: format!("document-{ordinal}"),
        tags: BTreeMap::from([("crate".to_owned(), "regex".to_owned())]),
        tokens: 9,
        bytes: 30,
        words: Some(3),
        scored: 8,
    };
    let documents = [document(0), document(1)];
    let entry = |(id, text, kind): (u32, &str, &str)| VocabularyEntry {
        id,
        text: text.to_owned(),
        kind: kind.parse().expect("a kind of entry"),
    };
    let entries = [(0, "a", "normal"), (1, "</s>", "special"), (2, "c3", "byte")].map(entry).to_vec();
    let vocabulary = Vocabulary::new("0123456789abcdef".to_owned(), entries).expect("distinct ids");
    let point = |step: u32| CurvePoint {
        step,
        tokens: 100 * u64::from(step),
        loss: 4.0 / f64::from(step),
        learning_rate: 0.01,
        held_out_loss: step.is_multiple_of(2).then_some(5.0),
    };
    let points = [1, 2, 3].map(point);
    Seeds::new()
        .chosen(0, written(|path| write_documents(path, &Provenance::example(), &documents).expect("memory")))
        .chosen(1, written(|path| write_vocabulary(path, &vocabulary).expect("memory")))
        .chosen(2, written(|path| write_curve(path, "small", &points).expect("memory")))
        .all()
}

/// A Parquet file of anybody's, all its columns as cells.
///
/// # Panics
/// A row has other than a cell a column, or a refusal does not name the file.
pub fn cells(data: &[u8]) {
    let place = Place::of("cells");
    let path = place.put("points.parquet", data);
    let columns = match column_names(&path) {
        Ok(columns) => columns,
        Err(error) => return check_refusal(&error, &path),
    };
    // One by one, so that a column that cannot be read hides no other.
    for column in columns {
        match read_cells(&path, &[&column]) {
            Ok(rows) => {
                for row in rows {
                    match row {
                        Ok(row) => assert_eq!(row.len(), 1),
                        Err(error) => return check_refusal(&error, &path),
                    }
                }
            }
            Err(error) => check_refusal(&error, &path),
        }
    }
}

/// The file of the corpus's tests, and tables of ours.
pub fn cells_seeds() -> Vec<Vec<u8>> {
    let ours = part_seeds().into_iter().chain(table_seeds().into_iter().map(|seed| seed[1..].to_vec()));
    ours.fold(Seeds::new(), Seeds::bytes).files(b"", "crates/corpus/tests/data", &[".parquet"]).all()
}

/// The names of the JSON files of a made-up study with one run, whose content the input replaces.
const JSON: [&str; 4] = ["study.json", "run.json", "done.json", known::FILE];

/// Puts the study there and gives the place of one of its files.
fn study_in(place: &Place, file: usize) -> std::path::PathBuf {
    let family = MadeUpFamily { sizes: vec![1_000], documents: 2, ..MadeUpFamily::default() };
    made_up_study(place.path(), &family);
    let runs = fs::read_dir(place.path().join("runs")).expect("the study's runs");
    let run = runs.flatten().next().expect("one run").path();
    if matches!(file, 1 | 2) { run.join(JSON[file]) } else { place.path().join(JSON[file]) }
}

/// One of the JSON files of a study, the rest being whole: tallies that count what the part holds,
/// or a refusal.
///
/// # Panics
/// A refusal names none of the study's files.
pub fn study(data: &[u8]) {
    let Some((file, data)) = choice(data, JSON.len()) else { return };
    let place = Place::of("study");
    let path = study_in(&place, file);
    fs::write(&path, data).expect("a folder in memory");
    let read = || {
        let study = Study::open(place.path())?;
        let runs = study.runs()?;
        drop(Known::read(&study));
        Ok((runs.len(), study.tallies()?))
    };
    match read() {
        Ok((runs, tallies)) => {
            assert!(tallies.len() <= runs.max(1));
            for tally in tallies {
                let scored: u64 = tally.documents.iter().map(|document| document.scored).sum();
                assert_eq!(scored, 200, "of a part of 200 rows");
            }
        }
        Err(error) => {
            let error: relscale_records::Error = error;
            let said = error.to_string();
            assert!(said.contains(&*place.path().to_string_lossy()), "{said}");
        }
    }
}

/// The files as they are written.
pub fn study_seeds() -> Vec<Vec<u8>> {
    let place = Place::of("study");
    (0..3_u8)
        .map(|file| (file, fs::read(study_in(&place, usize::from(file))).expect("a file of the study")))
        .fold(Seeds::new(), |seeds, (file, bytes)| seeds.chosen(file, bytes))
        .chosen(3, r#"{"version": 1, "program": "relscale 0.1.0", "models": {}, "corpora": {}, "runs": {}}"#)
        .all()
}
