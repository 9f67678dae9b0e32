//! Parts and tables on disk: round trip, equal bytes, and every way a file can be wrong.

use std::fs;
use std::path::Path;

use relscale_records::error::Error;
use relscale_records::parquet::{
    DocumentRow, PartMeta, PartRange, TokenReader, TokenWriter, read_documents, write_documents,
};
use relscale_records::{Provenance, Score, ScoredToken};

const RANGE: PartRange = PartRange { index: 3, first_document: 7, end_document: 9 };

/// Rows of two documents with every awkward value: nulls, infinite-looking extremes, ids at the
/// top.
fn rows(count: u32) -> Vec<ScoredToken> {
    (0..count)
        .map(|i| ScoredToken {
            document: 7 + u32::from(i >= count / 2),
            position: i,
            token: i.wrapping_mul(2_654_435_761) % 50_257,
            bytes: i % 5,
            context: i % 64,
            score: (i % 11 != 3).then(|| Score {
                rank: 1 + i.wrapping_mul(40_503) % 50_257,
                ties: Some(u32::from(i % 17 == 0)),
                nll: (i as f32).sin().abs() * 12.0,
                entropy: Some(f32::MIN_POSITIVE * i as f32),
                argmax: Some(u32::MAX - i),
            }),
        })
        .collect()
}

fn write(path: &Path, rows: &[ScoredToken], chunk: usize) -> PartMeta {
    let mut writer = TokenWriter::create(path, &Provenance::example()).unwrap();
    for chunk in rows.chunks(chunk) {
        writer.write(chunk).unwrap();
    }
    writer.finish(RANGE).unwrap()
}

fn read(path: &Path) -> Result<Vec<ScoredToken>, Error> {
    let mut all = Vec::new();
    for batch in TokenReader::open(path)? {
        all.extend(batch?);
    }
    Ok(all)
}

#[test]
fn rows_come_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let rows = rows(10_000);
    let meta = write(&path, &rows, 777);
    let reader = TokenReader::open(&path).unwrap();
    assert_eq!(*reader.provenance(), Provenance::example());
    assert_eq!(*reader.meta(), meta);
    assert_eq!(read(&path).unwrap(), rows);
    assert_eq!(meta.range, RANGE);
    assert_eq!(meta.nonfinite, rows.iter().filter(|row| row.score.is_none()).count() as u64);
    assert_eq!(meta.scored + meta.nonfinite, 10_000);
    let finite = rows.iter().filter(|row| row.score.is_some());
    assert_eq!(meta.bytes, finite.map(|row| u64::from(row.bytes)).sum::<u64>());
}

#[test]
fn bytes_do_not_depend_on_how_rows_arrive_nor_on_when() {
    let folder = tempfile::tempdir().unwrap();
    // More than one row group.
    let rows = rows((1 << 17) + 5_000);
    let mut seen = Vec::new();
    for chunk in [1_000, 131_072, rows.len()] {
        let path = folder.path().join(format!("{chunk}.parquet"));
        write(&path, &rows, chunk);
        seen.push(fs::read(&path).unwrap());
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_part_may_have_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    assert_eq!(write(&path, &[], 1).scored, 0);
    assert_eq!(read(&path).unwrap(), []);
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let mut writer = TokenWriter::create(&path, &Provenance::example()).unwrap();
    writer.write(&rows(100)).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_cut_file_is_damaged_wherever_it_was_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    write(&path, &rows(300), 300);
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(37).chain([whole.len() - 1]) {
        fs::write(&path, &whole[..length]).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "cut at {length}: {error:?}");
        assert!(error.to_string().contains("part.parquet"), "{error}");
    }
}

#[test]
fn a_flipped_bit_in_the_rows_is_never_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let rows = rows(300);
    write(&path, &rows, 300);
    let whole = fs::read(&path).unwrap();
    // Column pages come first; the footer's length stands before the closing magic.
    let tail: [u8; 4] = whole[whole.len() - 8..whole.len() - 4].try_into().unwrap();
    let pages = whole.len() - 8 - u32::from_le_bytes(tail) as usize;
    let mut caught = 0;
    for at in (4..pages).step_by(13) {
        let mut bent = whole.clone();
        bent[at] ^= 0x10;
        fs::write(&path, &bent).unwrap();
        match std::panic::catch_unwind(|| read(&path)) {
            // Bits that carry nothing (statistics in page headers) may be flipped without harm.
            Ok(Ok(seen)) => assert_eq!(seen, rows, "silent change at byte {at}"),
            Ok(Err(_)) => caught += 1,
            Err(_) => panic!("the reader panicked on a flipped bit at byte {at}"),
        }
    }
    assert!(caught > 50, "only {caught} flips were noticed");
}

/// The Parquet library panics on some of these: a column that begins before the file, dictionaries
/// of no length.
#[test]
fn a_spoilt_byte_behind_the_rows_is_damage_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    write(&path, &rows(20), 20);
    let whole = fs::read(&path).unwrap();
    let footer = whole.len() - 8;
    let length = u32::from_le_bytes(whole[footer..footer + 4].try_into().unwrap()) as usize;
    for at in footer - length..whole.len() {
        for flip in [0x01, 0x40, 0xff] {
            let mut spoilt = whole.clone();
            spoilt[at] ^= flip;
            fs::write(&path, &spoilt).unwrap();
            match read(&path) {
                // A byte of what nobody reads, such as statistics.
                Ok(found) => assert_eq!(found, rows(20), "byte {at}"),
                Err(error) => {
                    assert!(error.to_string().contains("part.parquet"), "byte {at}: {error}")
                }
            }
        }
    }
}

#[test]
fn other_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let documents = folder.path().join("documents.parquet");
    write_documents(&documents, &Provenance::example(), &[]).unwrap();
    let error = TokenReader::open(&documents).err().unwrap();
    assert!(matches!(error, Error::NotOurs { .. }), "{error:?}");
    assert!(error.to_string().contains("it holds documents"), "{error}");

    let text = folder.path().join("notes.txt");
    fs::write(&text, "not parquet at all").unwrap();
    assert!(matches!(TokenReader::open(&text).err().unwrap(), Error::Damaged { .. }));

    let absent = folder.path().join("absent.parquet");
    assert!(matches!(TokenReader::open(&absent).err().unwrap(), Error::Read { .. }));
}

#[test]
fn a_newer_format_is_refused_with_words() {
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let batch =
        arrow_array::RecordBatch::new_empty(std::sync::Arc::new(arrow_schema::Schema::empty()));
    let pairs = [("relscale.kind", "tokens"), ("relscale.format", "99")];
    let pairs = pairs.map(|(key, value)| KeyValue { key: key.into(), value: Some(value.into()) });
    let properties =
        WriterProperties::builder().set_key_value_metadata(Some(pairs.to_vec())).build();
    let file = fs::File::create(&path).unwrap();
    ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap().close().unwrap();
    let error = TokenReader::open(&path).err().unwrap();
    assert!(matches!(error, Error::NewerFormat { found: 99, known: 2, .. }), "{error:?}");
}

#[test]
fn documents_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("documents.parquet");
    let row = |ordinal: u32, id: &str, tags: &[(&str, &str)]| DocumentRow {
        ordinal,
        id: id.into(),
        tags: tags.iter().map(|&(k, v)| (k.into(), v.into())).collect(),
        tokens: 12,
        bytes: 50,
        words: None,
        scored: 11,
    };
    let rows = vec![
        row(0, "a/b.rs:1", &[("crate", "serde"), ("kind", "code")]),
        row(1, "日本 \"x\"", &[]),
    ];
    write_documents(&path, &Provenance::example(), &rows).unwrap();
    assert_eq!(read_documents(&path).unwrap(), rows);
}

/// A disk that is full for real: the kernel's `/dev/full` in place of the part that is being
/// written.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_names_the_file_and_spares_finished_parts() {
    let folder = tempfile::tempdir().unwrap();
    let finished = folder.path().join("part-00000.parquet");
    write(&finished, &rows(100), 100);
    let before = fs::read(&finished).unwrap();

    let path = folder.path().join("part-00001.parquet");
    let _full = relscale_records::atomic::faults::full(&path);
    let mut writer = TokenWriter::create(&path, &Provenance::example()).unwrap();
    let failed = writer.write(&rows(200_000)).and_then(|()| writer.finish(RANGE));
    let error = failed.unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error:?}");
    let message = error.to_string();
    assert!(
        message.contains("part-00001.parquet") && message.contains("disk is full"),
        "{message}"
    );
    assert_eq!(fs::read(&finished).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the .tmp is gone");
}
