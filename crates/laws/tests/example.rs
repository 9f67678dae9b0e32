//! Positions that show what a rank is: clear ones, the same each time, and none where there is
//! nothing to show.

use std::fs;
use std::path::Path;

use relscale_laws::{FitOptions, RankExample, RankExamples, Saved as _, examples, fit_study};
use relscale_records::vocabulary::{TokenKind, VocabularyEntry};
use relscale_records::{Provenance, Study, Vocabulary};
use relscale_testkit::{MadeUpFamily, made_up_study};

fn vocabulary(folder: &Path, text: &str, kind: TokenKind) {
    // All tokens of the study have this id.
    let entries = vec![VocabularyEntry { id: 1, text: text.to_owned(), kind }];
    let vocabulary = Vocabulary::new(Provenance::example().tokenizer.sha256, entries).unwrap();
    Study::create_or_open(folder).unwrap().write_vocabulary(&vocabulary).unwrap();
}

fn found(folder: &Path) -> Vec<RankExample> {
    let study = Study::open(folder).unwrap();
    let options = FitOptions { resamples: 50, ..FitOptions::default() };
    let laws = fit_study(&study.tallies().unwrap(), &options).unwrap();
    let found = examples(&study, &laws);
    assert_eq!(examples(&study, &laws), found, "the same each time");
    let file = folder.join("kept.json");
    found.save(&file).unwrap();
    assert_eq!(RankExamples::load(&file).unwrap(), found);
    found.examples
}

#[test]
fn the_position_is_clear() {
    let home = tempfile::tempdir().unwrap();
    for corpus in ["code", "prose"] {
        let family = MadeUpFamily { corpus: corpus.to_owned(), ..MadeUpFamily::default() };
        made_up_study(home.path(), &family);
    }
    vocabulary(home.path(), " word", TokenKind::Normal);
    let examples = found(home.path());
    let [example] = examples.as_slice() else { panic!("one family, one example: {examples:?}") };
    // Both texts are the same, so the first of them is taken.
    assert_eq!((example.family.as_str(), example.corpus.as_str()), ("made-up", "code"));
    assert_eq!((example.token.as_str(), example.vocabulary), (" word", 1_000));
    assert!(example.before.ends_with(" word word") && example.position > 8, "{example:?}");
    let ranks: Vec<u32> = example.models.iter().map(|score| score.rank).collect();
    assert_eq!(ranks.len(), 5);
    assert!(ranks.windows(2).all(|pair| pair[0] > pair[1]) && ranks[0] > 10, "{ranks:?}");
    assert!(example.models.windows(2).all(|pair| pair[0].parameters < pair[1].parameters));
    for score in &example.models {
        assert!((score.probability - (-score.nll).exp()).abs() < 1e-12);
        assert_eq!(score.likeliest, None, "no entry has the id 0");
    }
}

#[test]
fn without_texts_or_rows_there_is_none() {
    let home = tempfile::tempdir().unwrap();
    made_up_study(home.path(), &MadeUpFamily::default());
    assert!(found(home.path()).is_empty(), "no vocabulary");
    vocabulary(home.path(), "<0xE4>", TokenKind::Byte);
    assert!(found(home.path()).is_empty(), "half a character is no token to show");
    let texts = home.path().join("vocabularies");
    fs::remove_dir_all(&texts).unwrap();
    vocabulary(home.path(), " word", TokenKind::Normal);
    assert_eq!(found(home.path()).len(), 1);
    for run in fs::read_dir(home.path().join("runs")).unwrap() {
        fs::remove_file(run.unwrap().path().join("part-00000.parquet")).unwrap();
    }
    assert!(found(home.path()).is_empty(), "no rows");
}

#[test]
fn a_single_model_has_nothing_to_compare() {
    let home = tempfile::tempdir().unwrap();
    let family = MadeUpFamily { sizes: vec![10_000], ..MadeUpFamily::default() };
    made_up_study(home.path(), &family);
    vocabulary(home.path(), " word", TokenKind::Normal);
    assert!(found(home.path()).is_empty());
}
