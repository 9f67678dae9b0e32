//! The sums of a run that are kept: the same as counted anew, bit for bit, and never those of other
//! rows.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use relscale_records::error::Error;
use relscale_records::parquet::PartRange;
use relscale_records::study::{RunFolder, RunPlan, RunRecord};
use relscale_records::vocabulary::{TokenKind, VocabularyEntry};
use relscale_records::{
    Provenance, RunTally, Score, ScoredToken, SequenceGrid, Study, TallyOptions, Vocabulary,
};

/// Rows of documents by their number: ranks, nll and gaps from a generator.
fn rows(documents: u32, seed: u32) -> Vec<ScoredToken> {
    let mut state = seed;
    let mut next = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let mut rows = Vec::new();
    for document in 0..documents {
        let mut position = 0;
        for _ in 0..next(30) {
            position += 1 + next(12) / 11;
            let score = Score {
                rank: 1 + next(4) * next(16),
                ties: Some(next(3) / 2),
                nll: next(1 << 20) as f32 / 7e4,
                entropy: Some(next(1 << 20) as f32 / 9e4),
                argmax: Some(3),
            };
            let score = (next(20) > 0)
                .then_some(Score { ties: score.ties.map(|t| t.min(score.rank - 1)), ..score });
            rows.push(ScoredToken {
                document,
                position,
                token: next(9),
                bytes: next(7),
                context: position,
                score,
            });
        }
    }
    rows
}

/// A finished, current run of these rows; three documents a part.
fn finished(
    study: &mut Study,
    provenance: Provenance,
    documents: u32,
    rows: &[ScoredToken],
) -> RunFolder {
    let parts = documents.div_ceil(3);
    let plan = RunPlan { documents, scored: rows.len() as u64, part_tokens: 1, parts };
    let run = study.start(&RunRecord::new(provenance, plan)).unwrap();
    let meta = (0..parts).map(|index| {
        let range = PartRange {
            index,
            first_document: 3 * index,
            end_document: documents.min(3 * index + 3),
        };
        let mine =
            |row: &&ScoredToken| (range.first_document..range.end_document).contains(&row.document);
        let mine: Vec<ScoredToken> = rows.iter().filter(mine).copied().collect();
        let mut writer = run.part_writer(index).unwrap();
        writer.write(&mine).unwrap();
        writer.finish(range).unwrap()
    });
    run.finish(meta.collect(), 0).unwrap();
    study.set_current(&run).unwrap();
    run
}

/// A study of one run, its sums kept.
fn study(folder: &Path, seed: u32) -> (Study, RunFolder) {
    let mut study = Study::create_or_open(folder).unwrap();
    let run = finished(&mut study, Provenance::example(), 7, &rows(7, seed));
    assert!(study.keep_tally(&run).unwrap() && !study.keep_tally(&run).unwrap());
    (study, run)
}

fn remove_rows(run: &RunFolder) {
    for index in 0..run.record().plan.parts {
        fs::remove_file(run.part_path(index)).unwrap();
    }
}

/// Every bit, and what a comparison of numbers would let pass.
fn bits(tally: &RunTally) -> String {
    let sums = |document: &relscale_records::DocumentTally| {
        (document.sum_nll.to_bits(), document.sum_entropy.unwrap().to_bits())
    };
    format!("{tally:?} {:?}", tally.documents.iter().map(sums).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn kept_sums_are_those_of_the_rows(documents in 1u32..12, seed in any::<u32>()) {
        let folder = tempfile::tempdir().unwrap();
        let mut study = Study::create_or_open(folder.path()).unwrap();
        let run = finished(&mut study, Provenance::example(), documents, &rows(documents, seed));
        let counted = run.tally().unwrap();
        prop_assert_eq!(study.totals(&run).unwrap(), counted.totals());
        study.keep_tally(&run).unwrap();
        let bytes = fs::read(run.tally_path()).unwrap();
        remove_rows(&run);
        let kept = study.tally(&run).unwrap();
        prop_assert_eq!(bits(&kept), bits(&counted));
        let (totals, sums) = (study.totals(&run).unwrap(), counted.totals());
        prop_assert_eq!(totals.sum_nll.to_bits(), sums.sum_nll.to_bits());
        prop_assert_eq!(totals, sums);
        // The same rows give the same bytes.
        let again = finished(&mut study, Provenance::example(), documents, &rows(documents, seed));
        fs::remove_file(again.tally_path()).unwrap();
        study.keep_tally(&again).unwrap();
        prop_assert!(fs::read(again.tally_path()).unwrap() == bytes);
    }
}

#[test]
fn a_run_of_an_earlier_version_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let (study, run) = study(folder.path(), 1);
    let before = fs::read(run.tally_path()).unwrap();
    fs::remove_file(run.tally_path()).unwrap();
    let counted = study.tallies().unwrap();
    assert!(fs::read(run.tally_path()).unwrap() == before);
    remove_rows(&run);
    assert_eq!(study.tallies().unwrap(), counted);
    assert_eq!(Study::open(folder.path()).unwrap().tally(&run).unwrap(), counted[0]);
}

/// A folder that cannot be written: a link stands where the sums would be kept.
#[cfg(unix)]
#[test]
fn what_cannot_be_kept_is_counted_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (study, run) = study(folder.path(), 2);
    let kept = study.tallies().unwrap();
    fs::remove_file(run.tally_path()).unwrap();
    std::os::unix::fs::symlink(folder.path().join("nowhere"), run.tally_path()).unwrap();
    assert_eq!(study.tallies().unwrap(), kept);
    assert!(fs::symlink_metadata(run.tally_path()).unwrap().is_symlink());
    assert!(!folder.path().join("nowhere").exists());
}

/// In each way that a file can be wrong: counted anew where there are rows, refused with the reason
/// where there are none.
#[test]
fn sums_of_other_rows_are_never_read() {
    let folder = tempfile::tempdir().unwrap();
    let (mut study, run) = study(folder.path(), 3);
    let right = study.tallies().unwrap();
    let good = fs::read(run.tally_path()).unwrap();

    // Of another run.
    let mut other = Provenance::example();
    other.model.name = "other".into();
    let other = finished(&mut study, other, 7, &rows(7, 3));
    study.keep_tally(&other).unwrap();
    let foreign = fs::read(other.tally_path()).unwrap();
    // Of the same run, measured anew with other rows (another machine's rounding).
    let elsewhere = tempfile::tempdir().unwrap();
    let stale = fs::read(self::study(elsewhere.path(), 4).1.tally_path()).unwrap();
    // With a number changed: the last byte of the first page of numbers that is found by its value.
    let mut flipped = good.clone();
    let middle = flipped.len() / 3;
    flipped[middle] ^= 0x10;

    let cases: [(&str, &[u8]); 6] = [
        ("belongs to another run (its provenance", &foreign),
        ("counted in other rows than done.json lists", &stale),
        ("is cut or damaged", &good[..good.len() / 2]),
        ("is cut or damaged", &good[..good.len() - 1]),
        ("is cut or damaged", b""),
        ("is cut or damaged", &flipped),
    ];
    for (reason, bytes) in cases {
        fs::write(run.tally_path(), bytes).unwrap();
        let done = run.done().unwrap().unwrap();
        assert!(!run.has_tally(&done), "{reason}");
        assert_eq!(study.tally(&run).unwrap(), right[0], "{reason}");
        assert!(fs::read(run.tally_path()).unwrap() == good, "{reason}: not written anew");
    }

    remove_rows(&run);
    assert_eq!(study.tally(&run).unwrap(), right[0]);
    for (reason, bytes) in cases {
        fs::write(run.tally_path(), bytes).unwrap();
        for message in
            [study.tally(&run).unwrap_err(), study.totals(&run).unwrap_err()].map(|e| e.to_string())
        {
            assert!(message.contains(reason), "{message}");
            assert!(message.contains("--rows") && message.contains(&run.name()), "{message}");
        }
        assert!(fs::read(run.tally_path()).unwrap() == bytes, "nothing is written without rows");
    }
    fs::remove_file(run.tally_path()).unwrap();
    let message = study.tally(&run).unwrap_err().to_string();
    assert!(message.contains("it has no sums (tally.parquet), and the rows"), "{message}");
}

/// Every byte of the file in turn: the same sums, or a refusal.
#[test]
fn no_changed_byte_is_another_sum() {
    let folder = tempfile::tempdir().unwrap();
    let (study, run) = study(folder.path(), 5);
    let right = study.tally(&run).unwrap();
    let good = fs::read(run.tally_path()).unwrap();
    remove_rows(&run);
    let mut refused = 0;
    for at in (0..good.len()).step_by(7) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(run.tally_path(), bytes).unwrap();
        match study.tally(&run) {
            Ok(sums) => assert_eq!(sums, right, "byte {at}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > good.len() / 50, "{refused} of {} bytes", good.len());
}

#[test]
fn what_was_not_counted_needs_rows_and_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (study, run) = study(folder.path(), 6);
    let of = |k: &[u32], lengths: &[u32]| TallyOptions {
        sequences: SequenceGrid {
            k: k.to_vec(),
            lengths: lengths.to_vec(),
            ..SequenceGrid::default()
        },
    };
    let with_rows = study.tally_with(&run, &of(&[1, 7], &[3])).unwrap();
    assert_eq!(with_rows.sequences.unwrap().grid.k, [1, 7]);
    let kept = fs::read(run.tally_path()).unwrap();
    remove_rows(&run);
    // Fewer than were counted are there.
    let fewer = study.tally_with(&run, &of(&[10], &[2, 50])).unwrap();
    assert_eq!(fewer, study.tally(&run).unwrap());
    for more in [of(&[1, 7], &[2]), of(&[1], &[3])] {
        let message = study.tally_with(&run, &more).unwrap_err().to_string();
        assert!(
            message.contains("counted at k of [1, 10, 100]") && message.contains("--rows"),
            "{message}"
        );
    }
    assert!(fs::read(run.tally_path()).unwrap() == kept);
}

#[test]
fn kinds_of_tokens_that_become_known_are_counted_where_there_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (mut study, run) = study(folder.path(), 7);
    let by_frequency = study.tally(&run).unwrap();
    let kept = fs::read(run.tally_path()).unwrap();
    let entry = |id| VocabularyEntry { id, text: format!("w{id}"), kind: TokenKind::Special };
    let sha256 = Provenance::example().tokenizer.sha256;
    let vocabulary = Vocabulary::new(sha256, (0..9).map(entry).collect()).unwrap();
    study.write_vocabulary(&vocabulary).unwrap();
    let by_kind = study.tally(&run).unwrap();
    assert!(by_kind.classes.as_ref().unwrap().basis.vocabulary);
    assert_ne!(by_kind.classes, by_frequency.classes);
    remove_rows(&run);
    assert_eq!(study.tally(&run).unwrap(), by_kind);
    fs::write(run.tally_path(), kept).unwrap();
    assert_eq!(study.tally(&run).unwrap(), by_frequency);
}

#[test]
fn one_part_of_several_that_is_gone_is_no_study_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (study, run) = study(folder.path(), 8);
    let done = run.done().unwrap().unwrap();
    fs::remove_file(run.part_path(1)).unwrap();
    assert!(!run.without_rows(&done));
    study.tally(&run).unwrap();
    fs::remove_file(run.tally_path()).unwrap();
    assert!(matches!(study.tally(&run), Err(Error::MissingPart { .. })));
}
