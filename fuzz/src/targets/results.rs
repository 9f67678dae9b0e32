//! Results of fits, saved by one version of the program and read back by another.

use std::fs;

use relscale_laws::advice::{AdviceOptions, advise};
use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::predict::{Question, predict};
use relscale_laws::relative::{RelativeOptions, RelativeTable, fit_relative, read_table};
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens};
use relscale_laws::tables::{Kind, Select};
use relscale_laws::two_stage::{StagesOptions, fit_stages};
use relscale_laws::user_table::{TableOptions, fit_table};
use relscale_laws::{
    Advice, ChoicesFit, FitOptions, Forecast, IsoflopFit, Predictions, RankExamples, RelativeFit, Saved,
    SizeTokensFit, StagesFit, StudyFit, TableFit, TrainingFit, fit_study,
};
use relscale_records::Study;
use relscale_testkit::{MadeUpFamily, made_up_study};

use crate::input::{choice, files};
use crate::place::{Place, check_refusal};
use crate::seeds::Seeds;
use crate::targets::tables;

/// A result of one of the twelve kinds: what reads, saved again, reads the same.
///
/// # Panics
/// It does not, or a refusal does not name the file.
pub fn saved(data: &[u8]) {
    let Some((kind, data)) = choice(data, 12) else { return };
    let place = Place::of("saved");
    place.put("result.json", data);
    match kind {
        0 => round::<StudyFit>(&place),
        1 => round::<TableFit>(&place),
        2 => round::<Predictions>(&place),
        3 => round::<RelativeFit>(&place),
        4 => round::<StagesFit>(&place),
        5 => round::<SizeTokensFit>(&place),
        6 => round::<ChoicesFit>(&place),
        7 => round::<IsoflopFit>(&place),
        8 => round::<TrainingFit>(&place),
        9 => round::<Advice>(&place),
        10 => round::<Forecast>(&place),
        _ => round::<RankExamples>(&place),
    }
}

fn round<T: Saved + PartialEq + std::fmt::Debug>(place: &Place) {
    let (path, again) = (place.path().join("result.json"), place.path().join("again.json"));
    match T::load(&path) {
        Ok(result) => {
            result.save(&again).unwrap_or_else(|error| panic!("{error}"));
            let read = T::load(&again).unwrap_or_else(|error| panic!("what was just written: {error}"));
            assert_eq!(read, result);
        }
        Err(error) => check_refusal(&error, &path),
    }
}

/// A question to laws that were read: whatever stands in them, an answer is a number with its
/// bounds or a reason.
///
/// # Panics
/// An answer does not read back.
pub fn laws(data: &[u8]) {
    let place = Place::of("laws");
    let path = place.put("laws.json", data);
    let laws = match StudyFit::load(&path) {
        Ok(laws) => laws,
        Err(error) => return check_refusal(&error, &path),
    };
    let target = "RBP_1 = 0.5".parse().expect("a target");
    let asked =
        [Question::default(), Question { targets: vec![target], lengths: vec![3], ..Question::default() }];
    for question in asked {
        if let Ok(answers) = predict(&laws, &question) {
            let saved = place.path().join("result.json");
            answers.save(&saved).unwrap_or_else(|error| panic!("{error}"));
            round::<Predictions>(&place);
        }
    }
    let few = AdviceOptions { draws: 20, ..AdviceOptions::default() };
    if let Ok(advice) = advise(&laws, &few) {
        let saved = place.path().join("result.json");
        advice.save(&saved).unwrap_or_else(|error| panic!("{error}"));
        round::<Advice>(&place);
    }
}

/// The laws of a made-up study with few resamples.
fn fitted() -> StudyFit {
    let place = Place::of("fitted");
    let family = MadeUpFamily { documents: 4, ..MadeUpFamily::default() };
    made_up_study(place.path(), &family);
    let tallies = Study::open(place.path()).and_then(|study| study.tallies()).expect("a study in memory");
    let options = FitOptions { k: vec![1, 10], resamples: 2, ..FitOptions::default() };
    fit_study(&tallies, &options).expect("a study that was made to be fitted")
}

/// The laws.
pub fn laws_seeds() -> Vec<Vec<u8>> {
    Seeds::new().bytes(text(&fitted())).all()
}

fn text<T: Saved>(result: &T) -> String {
    result.to_json().unwrap_or_else(|error| panic!("{error}"))
}

/// A result of each kind, from the tables of [`tables`].
pub fn saved_seeds() -> Vec<Vec<u8>> {
    let place = Place::of("results");
    let put = |seed: Vec<u8>| place.put("points.csv", &seed[1..]);
    let first = |seeds: Vec<Vec<u8>>| seeds.into_iter().find(|seed| seed[0] == b'0').expect("a CSV table");
    let laws = fitted();
    let predictions = predict(&laws, &Question::default()).expect("laws");
    let options = TableOptions {
        select: Select { kinds: vec![Kind::Loss], ..Select::new(&["params"], &["loss"]) },
        ..TableOptions::default()
    };
    let table = fit_table(&put(first(tables::user_table_seeds())), &options).expect("a table");
    let runs = fit_isoflop(
        &put(first(tables::isoflop_seeds())),
        &IsoflopOptions { resamples: 2, ..IsoflopOptions::default() },
    );
    let stages = fit_stages(&put(first(tables::stages_seeds())), &StagesOptions::new("flops", "bpb", "acc"));
    let checkpoints = SizeTokensTable {
        select: Select {
            kinds: vec![Kind::Loss],
            distribution: Some("distribution".to_owned()),
            ..Select::new(&["params", "tokens"], &["loss"])
        },
        baseline: "web".to_owned(),
        level: 0.95,
    };
    let size_tokens = fit_size_tokens(&put(first(tables::size_tokens_seeds())), &checkpoints);
    let points = tables::relative_seeds();
    let path = place.put("relative.csv", files::<3>(&points[0])[0]);
    let of = RelativeTable {
        select: Select {
            kinds: vec![Kind::Loss],
            distribution: Some("distribution".to_owned()),
            ..Select::new(&["params"], &["loss"])
        },
        optimum: None,
        means: None,
    };
    let relative =
        read_table(&path, &of).and_then(|found| fit_relative(&found, &RelativeOptions::new("web"), None));
    let choices = r#"{"format": 1, "tool": "x", "level": 0.95, "resamples": 10, "seed": 1, "groups": [{"family": "a", "corpus": "mmlu", "items": 2, "options": [4, 4],
        "left_out": [], "models": [{"model": "m", "non_embedding": 5, "ties": 0, "means": [{"format": "text", "distribution": "d", "group": null, "items": 2, "chance": 0.25,
        "values": [{"measure": "accuracy", "mean": {"value": 0.5, "unit": "1", "standard_error": 0.01, "interval": {"method": "item_bootstrap", "low": 0.4, "high": 0.6, "level": 0.95,
        "resamples": 10, "items": 2}}, "shuffled": {"mean": 0.25, "standard_deviation": 0.01}}]}]}], "flags": [], "verdict": "v"}]}"#;
    drop(fs::remove_file(path));
    Seeds::new()
        .chosen(0, text(&laws))
        .chosen(1, text(&table))
        .chosen(2, text(&predictions))
        .chosen(3, text(&relative.expect("a table")))
        .chosen(4, text(&stages.expect("a table")))
        .chosen(5, text(&size_tokens.expect("a table")))
        .chosen(6, choices)
        .chosen(7, text(&runs.expect("a table")))
        .chosen(9, text(&advise(&laws, &AdviceOptions::default()).expect("laws")))
        .all()
}
