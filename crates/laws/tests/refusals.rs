//! Runs that may not share a line, and what is said about it.

mod support;

use relscale_laws::{FitOptions, LawsError, fit_study};
use relscale_records::RunTally;
use relscale_records::provenance::{PrefixProvenance, TieRule, VocabularyRule};
use support::family;

/// A fault put into one run.
type Change = fn(&mut RunTally);

fn refusal(change: impl FnOnce(&mut Vec<RunTally>)) -> String {
    let mut runs = family(5);
    change(&mut runs);
    fit_study(&runs, &FitOptions::default()).unwrap_err().to_string()
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn a_copy_under_another_name_is_refused() {
    let message = refusal(|runs| runs[4].weights_sha256 = runs[1].weights_sha256.clone());
    says(&message, &["`m9800` and `m310000`", "same weights", "leave one"]);
}

#[test]
fn the_same_name_twice_is_refused() {
    let message = refusal(|runs| runs[4].model = runs[1].model.clone());
    says(&message, &["two runs of model `m9800`", "`prose`"]);
}

#[test]
fn each_way_of_measuring_differently_is_named() {
    let cases: [(Change, &str); 9] = [
        (|run| run.tokenizer_sha256 = "other".into(), "the tokenizer differs"),
        (|run| run.text_sha256 = "other".into(), "the text differs"),
        (
            |run| run.protocol.name = "paper".into(),
            "the window protocol differs, `m3100` has document",
        ),
        (
            |run| {
                run.protocol.prefix = Some(PrefixProvenance { id: 2, reason: "asked for".into() })
            },
            "the token put before windows differs, `m3100` has none, `m31000` has token 2",
        ),
        (
            |run| run.vocabulary_rule = VocabularyRule::Rows,
            "the choice of rows that compete for a rank differs, `m3100` has rows that some token maps to",
        ),
        (|run| run.tie_rule = TieRule::Greater, "the tie rule differs"),
        (
            |run| run.compute_dtype = "bf16".into(),
            "the type of number that logits were computed in differs",
        ),
        (|run| run.documents.truncate(4), "`m3100` has 5 documents, `m31000` has 4 documents"),
        (|run| run.documents[3].scored += 1, "scored positions in document 3"),
    ];
    for (change, expected) in cases {
        let message = refusal(|runs| change(&mut runs[2]));
        says(
            &message,
            &[expected, "`m31000`", "family `made-up` on corpus `prose`", "measure both alike"],
        );
    }
}

#[test]
fn families_and_corpora_do_not_mix() {
    let mut runs = family(5);
    for (at, run) in runs.iter_mut().enumerate() {
        run.family = if at % 2 == 0 { "b".into() } else { "a".into() };
        run.protocol.name = run.family.clone();
    }
    let study = fit_study(&runs, &FitOptions::default()).unwrap();
    let names: Vec<(&str, usize)> =
        study.groups.iter().map(|group| (group.family.as_str(), group.models.len())).collect();
    assert_eq!(names, [("a", 3), ("b", 4)]);
    assert!(study.group("b", "prose").is_some() && study.group("b", "code").is_none());
}

#[test]
fn sums_that_contradict_themselves_are_refused() {
    let cases: [(Change, &str); 5] = [
        (|run| run.documents[1].hits[0] = 1 + run.documents[1].hits[1], "must rise with k"),
        (|run| run.documents[1].hits[1] = 1 + run.documents[1].scored, "must rise with k"),
        (|run| run.documents[1].sum_nll = f64::NAN, "must be finite"),
        (|run| run.documents[1].document = 0, "ascending order"),
        (|run| run.documents[1].hits.truncate(1), "1 counts of hits for 2 values of k"),
    ];
    for (change, expected) in cases {
        let message = refusal(|runs| change(&mut runs[2]));
        says(&message, &[expected, "`m31000`", "measure this run again"]);
    }
}

#[test]
fn nothing_and_no_size_are_refused() {
    assert!(matches!(fit_study(&[], &FitOptions::default()), Err(LawsError::NoRuns)));
    says(&refusal(|runs| runs[0].non_embedding = 0), &["`m3100`", "0 non-embedding parameters"]);
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    let runs = family(5);
    let refused = |options: FitOptions| fit_study(&runs, &options).unwrap_err().to_string();
    let default = FitOptions::default;
    says(&refused(FitOptions { level: 95.0, ..default() }), &["`level` is 95", "below 1"]);
    says(&refused(FitOptions { level: f64::NAN, ..default() }), &["`level` is NaN"]);
    says(&refused(FitOptions { resamples: 1, ..default() }), &["`resamples` is 1"]);
    says(&refused(FitOptions { k: vec![0], ..default() }), &["ranks count from 1"]);
    says(&refused(FitOptions { k: vec![10, 1], ..default() }), &["ascending"]);
    says(
        &refused(FitOptions { k: vec![1, 7], ..default() }),
        &["k = 7 was not tallied", "[1, 10]"],
    );
}
