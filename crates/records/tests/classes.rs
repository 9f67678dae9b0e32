//! Classes of tokens: against a naive count, exact under splitting and joining, and on disk.

use proptest::prelude::*;
use relscale_records::classes::{ClassCounter, ClassTally, TokenClass, TokenCounts};
use relscale_records::parquet::{PartRange, read_vocabulary, write_vocabulary};
use relscale_records::provenance::TieRule;
use relscale_records::study::{RunPlan, RunRecord};
use relscale_records::vocabulary::{TokenKind, Vocabulary, VocabularyEntry};
use relscale_records::{Error, Provenance, RunTally, Score, ScoredToken, Study};

const K: [u32; 3] = [1, 5, 20];

fn row(document: u32, token: u32, rank: Option<u32>) -> ScoredToken {
    let score = rank.map(|rank| Score {
        rank,
        ties: Some(0),
        nll: 1.0,
        entropy: Some(1.0),
        argmax: Some(0),
    });
    ScoredToken { document, position: 1, token, bytes: 1, context: 1, score }
}

/// Ids 0 to 9 but for 7: 0 is special, 1 and 2 are bytes.
fn vocabulary() -> Vocabulary {
    let kind = |id| match id {
        0 => TokenKind::Special,
        1 | 2 => TokenKind::Byte,
        _ => TokenKind::Normal,
    };
    let entries = (0..10).filter(|&id| id != 7);
    let entries =
        entries.map(|id| VocabularyEntry { id, text: format!("t{id} é\n"), kind: kind(id) });
    Vocabulary::new("0123456789abcdef", entries.collect()).unwrap()
}

fn counts(rows: &[ScoredToken]) -> TokenCounts {
    let mut counts = TokenCounts::default();
    counts.extend(rows.iter().map(|row| row.token));
    counts
}

fn tally(
    rows: &[ScoredToken],
    counts: &TokenCounts,
    vocabulary: Option<&Vocabulary>,
) -> ClassTally {
    let mut counter = ClassCounter::new(counts, vocabulary, K.to_vec(), TieRule::AtLeast);
    rows.iter().for_each(|row| counter.add(row));
    counter.finish()
}

fn rows() -> impl Strategy<Value = Vec<ScoredToken>> {
    let one = (0u32..6, 0u32..12, prop::option::weighted(0.9, 1u32..40));
    prop::collection::vec(one, 0..120).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.0);
        rows.into_iter().map(|(document, token, rank)| row(document, token, rank)).collect()
    })
}

proptest! {
    #[test]
    fn counts_equal_naive_ones(rows in rows()) {
        let (counts, vocabulary) = (counts(&rows), vocabulary());
        let found = tally(&rows, &counts, Some(&vocabulary));
        let class = |token: u32| match token {
            0 => TokenClass::Special,
            1 | 2 => TokenClass::Byte,
            7 | 10.. => TokenClass::PaddingRow,
            _ => {
                let count = rows.iter().filter(|row| row.token == token).count() as u64;
                TokenClass::by_frequency(count, rows.len() as u64)
            }
        };
        for document in &found.documents {
            let mine = rows.iter().filter(|row| row.document == document.document && row.score.is_some());
            for &wanted in &TokenClass::ALL {
                let of_class = mine.clone().filter(|row| class(row.token) == wanted);
                prop_assert_eq!(document.tokens[wanted as usize] as usize, of_class.clone().count());
                for (k, misses) in K.iter().zip(&document.misses) {
                    let missing = of_class.clone().filter(|row| row.score.unwrap().rank > *k).count();
                    prop_assert_eq!(misses[wanted as usize] as usize, missing);
                }
            }
        }
        let documents: std::collections::BTreeSet<u32> = rows.iter().map(|row| row.document).collect();
        prop_assert!(found.documents.iter().map(|document| document.document).eq(documents));
    }

    #[test]
    fn any_split_of_the_documents_merges_to_the_same(rows in rows(), owner in prop::collection::vec(0u8..3, 6)) {
        let counts = counts(&rows);
        let share = |who| {
            let mine: Vec<ScoredToken> =
                rows.iter().filter(|row| owner[row.document as usize] == who).copied().collect();
            tally(&mine, &counts, None)
        };
        let merged = share(2).merge(share(0)).unwrap().merge(share(1)).unwrap();
        prop_assert_eq!(merged, tally(&rows, &counts, None));
    }
}

#[test]
fn bands_of_frequency_have_sharp_ends() {
    for (count, total, class) in [
        (1, 100, TokenClass::Frequent),
        (1, 101, TokenClass::Common),
        (10, 10_000, TokenClass::Common),
        (1, 10_000, TokenClass::Uncommon),
        (1, 10_001, TokenClass::Rare),
        (1, 100_000, TokenClass::Rare),
        (1, 100_001, TokenClass::Rarest),
        (u64::MAX / 2, u64::MAX, TokenClass::Frequent),
    ] {
        assert_eq!(TokenClass::by_frequency(count, total), class, "{count} of {total}");
    }
}

#[test]
fn tallies_of_other_classes_do_not_merge() {
    let rows = [row(0, 3, Some(2)), row(1, 3, Some(9))];
    let all = counts(&rows);
    let known = vocabulary();
    let first = |vocabulary| tally(&rows[..1], &all, vocabulary);
    let second = tally(&rows[1..], &all, None);
    let refused = first(Some(&known)).merge(second.clone()).unwrap_err().to_string();
    assert!(refused.contains("other text"), "{refused}");
    let refused =
        first(None).merge(tally(&rows[1..], &counts(&rows[1..]), None)).unwrap_err().to_string();
    assert!(refused.contains("other text"), "{refused}");
    assert!(second.clone().merge(second).unwrap_err().to_string().contains("document 1"));

    let mut counted = RunTally::new(&Provenance::example());
    counted.classes = Some(first(None));
    let refused = counted.merge(RunTally::new(&Provenance::example())).unwrap_err().to_string();
    assert!(refused.contains("only one of them counted classes"), "{refused}");
}

#[test]
fn a_vocabulary_comes_back_and_a_damaged_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.parquet");
    write_vocabulary(&path, &vocabulary()).unwrap();
    assert_eq!(read_vocabulary(&path).unwrap(), vocabulary());
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(read_vocabulary(&path), Err(Error::Damaged { .. })));

    let twice = vec![vocabulary().entries()[0].clone(); 2];
    assert!(matches!(Vocabulary::new("x", twice), Err(Error::Vocabulary { .. })));
}

/// A study with one finished run of these rows.
fn study(folder: &std::path::Path, rows: &[ScoredToken]) -> Study {
    let mut study = Study::create_or_open(folder).unwrap();
    let plan = RunPlan { documents: 2, scored: rows.len() as u64, part_tokens: 100, parts: 1 };
    let run = study.start(&RunRecord::new(Provenance::example(), plan)).unwrap();
    let mut writer = run.part_writer(0).unwrap();
    writer.write(rows).unwrap();
    let meta = writer.finish(PartRange { index: 0, first_document: 0, end_document: 2 }).unwrap();
    run.finish(vec![meta], 0).unwrap();
    study.set_current(&run).unwrap();
    study
}

#[test]
fn a_study_classes_tokens_by_its_vocabulary_and_an_old_one_by_frequency() {
    let rows = [row(0, 0, Some(4)), row(0, 3, Some(1)), row(0, 7, None), row(1, 7, Some(30))];
    let folder = tempfile::tempdir().unwrap();
    let mut study = study(folder.path(), &rows);
    let old = study.tallies().unwrap().remove(0).classes.unwrap();
    assert_eq!(old, tally_on_grid(&rows, None));
    assert!(!old.basis.vocabulary);

    let sha256 = Provenance::example().tokenizer.sha256;
    let mine = Vocabulary::new(sha256.clone(), vocabulary().entries().to_vec()).unwrap();
    study.write_vocabulary(&mine).unwrap();
    let path = folder.path().join("vocabularies").join(format!("{}.parquet", &sha256[..12]));
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    study.write_vocabulary(&mine).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written);

    let new = study.tallies().unwrap().remove(0).classes.unwrap();
    assert_eq!(new, tally_on_grid(&rows, Some(&mine)));
    assert_eq!(new.documents[0].tokens[TokenClass::Special as usize], 1);
    assert_eq!(new.documents[1].tokens[TokenClass::PaddingRow as usize], 1);

    // Once counted, they need no vocabulary any more.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(study.tallies().unwrap().remove(0).classes.unwrap(), new);

    // The file of another tokenizer under this name is not believed, and a cut one is written
    // again.
    std::fs::remove_file(study.current().unwrap()[0].tally_path()).unwrap();
    write_vocabulary(&path, &vocabulary()).unwrap();
    assert!(matches!(study.tallies(), Err(Error::NotOurs { .. })));
    std::fs::write(&path, b"cut").unwrap();
    assert!(matches!(study.tallies(), Err(Error::Damaged { .. })));
    study.write_vocabulary(&mine).unwrap();
    assert_eq!(study.vocabulary(&sha256).unwrap(), Some(mine));
    assert_eq!(study.vocabulary("none").unwrap(), None);
}

fn tally_on_grid(rows: &[ScoredToken], vocabulary: Option<&Vocabulary>) -> ClassTally {
    let grid = RunTally::new(&Provenance::example()).k_grid;
    let mut counter = ClassCounter::new(&counts(rows), vocabulary, grid, TieRule::AtLeast);
    rows.iter().for_each(|row| counter.add(row));
    counter.finish()
}
