//! Studies of every format so far are read, with the numbers that they were written with; rows of
//! an engine that tells less come back as they were.

use std::path::Path;

use relscale_records::parquet::{PartRange, TokenReader, TokenWriter};
use relscale_records::provenance::{ScoreColumn, TieRule};
use relscale_records::study::{RunPlan, RunRecord};
use relscale_records::{Provenance, Score, ScoredToken, Study};

/// `tests/format1` was written by the program when it knew one format: the smallest model of the
/// built-in family's largest sibling on three lines. The sums are those that it printed.
#[test]
fn a_study_of_format_1_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format1");
    let study = Study::open(&folder).unwrap();
    let run = study.current().unwrap().remove(0);
    assert_eq!(run.record().format, 1);
    assert!(run.record().provenance.scoring.lacks.is_empty());
    assert_eq!(run.record().provenance.scoring.rank_rule, TieRule::AtLeast);
    // The key is made of the same members as then.
    assert_eq!(run.record().provenance.key(), run.record().key);
    let rows: Vec<ScoredToken> =
        run.rows().unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat();
    assert_eq!(rows.len(), 26);
    let told = |row: &ScoredToken| {
        row.score.is_some_and(|s| s.ties.is_some() && s.entropy.is_some() && s.argmax.is_some())
    };
    assert!(rows.iter().all(told));
    for totals in [study.totals(&run).unwrap(), run.tally().unwrap().totals()] {
        assert_eq!((totals.scored, totals.hits[0], totals.tied), (26, 2, Some(0)));
        assert!((totals.cross_entropy().unwrap() - 5.7524).abs() < 5e-5);
        assert!((totals.bits_per_byte().unwrap() - 3.1271).abs() < 5e-5);
        assert!(totals.sum_entropy.unwrap() > 0.0);
    }
}

#[test]
fn what_an_engine_does_not_tell_is_null_and_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let whole = Score { rank: 3, ties: Some(0), nll: 2.5, entropy: Some(0.0), argmax: Some(0) };
    let scores = [
        Some(whole),
        Some(Score { ties: None, ..whole }),
        Some(Score { entropy: None, ..whole }),
        Some(Score { argmax: None, ..whole }),
        Some(Score { ties: None, entropy: None, argmax: None, ..whole }),
        None,
    ];
    let mut hashes = Vec::new();
    for (at, score) in scores.into_iter().enumerate() {
        let row = ScoredToken { document: 0, position: 1, token: 9, bytes: 4, context: 1, score };
        let path = folder.path().join(format!("{at}.parquet"));
        let mut writer = TokenWriter::create(&path, &Provenance::example()).unwrap();
        writer.write(&[row]).unwrap();
        let range = PartRange { index: 0, first_document: 0, end_document: 1 };
        hashes.push(writer.finish(range).unwrap().rows_sha256);
        let read: Vec<_> = TokenReader::open(&path).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(read.concat(), [row]);
    }
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 6, "a zero and a null are told apart by the hash");
}

#[test]
fn sums_of_what_is_not_told_are_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let mut provenance = Provenance::example();
    let whole_key = provenance.key();
    provenance.scoring.lacks = vec![ScoreColumn::Ties, ScoreColumn::Entropy, ScoreColumn::Argmax];
    assert_ne!(provenance.key(), whole_key);
    let plan = RunPlan { documents: 1, scored: 2, part_tokens: 2, parts: 1 };
    let run = study.start(&RunRecord::new(provenance, plan)).unwrap();
    let score = Score { rank: 3, ties: None, nll: 2.5, entropy: None, argmax: None };
    let row = |position, score| ScoredToken {
        document: 0,
        position,
        token: 9,
        bytes: 4,
        context: position,
        score,
    };
    let mut writer = run.part_writer(0).unwrap();
    writer.write(&[row(1, Some(score)), row(2, None)]).unwrap();
    let part = writer.finish(PartRange { index: 0, first_document: 0, end_document: 1 }).unwrap();
    run.write_documents(&[]).unwrap();
    run.finish(vec![part], 0).unwrap();
    study.set_current(&run).unwrap();
    assert!(study.keep_tally(&run).unwrap());
    let [counted, kept] = [run.tally().unwrap(), study.tally(&run).unwrap()];
    assert_eq!(counted, kept);
    let totals = kept.totals();
    assert_eq!((totals.scored, totals.nonfinite), (1, 1));
    assert_eq!((totals.tied, totals.sum_entropy, totals.sum_nll), (None, None, 2.5));
}
