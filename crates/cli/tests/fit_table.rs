//! `relscale fit --table` and `--harness`: laws of numbers that others measured, and what is refused.

mod common;

use common::Place;
use serde_json::Value;

/// GPT-2 on Wikipedia as the paper shows it, and a second family.
const POINTS: &str = "model,family,S,rbp1,ppl\n\
    gpt2,gpt2,85056000,0.416029,30.0\n\
    gpt2-medium,gpt2,302311424,0.447983,22.8\n\
    gpt2-large,gpt2,708390400,0.463245,19.6\n\
    gpt2-xl,gpt2,1475561600,0.473312,17.8\n\
    small,mine,1e6,0,90\n\
    middle,mine,1e7,0.2,60\n\
    large,mine,1e8,0.3,40\n";

#[test]
fn several_columns_by_family() {
    let place = Place::new();
    place.text("points.csv", POINTS);
    let outcome = place.run(&[
        "fit",
        "--table",
        "points.csv",
        "--y",
        "rbp1,ppl",
        "--group",
        "family",
        "--json",
        "laws.json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("fit-table");
    let laws: Value = serde_json::from_slice(&std::fs::read(place.path("laws.json")).unwrap()).unwrap();
    let law = &laws["groups"][0]["laws"][0];
    assert_eq!((laws["format"].as_u64(), law["quantity"]["symbol"].as_str()), (Some(4), Some("-ln rbp1")));
    let alpha = law["outcome"]["exponent"]["value"].as_f64().unwrap();
    assert!((alpha - 0.056).abs() < 5e-4, "{alpha}");

    // For machines: JSON alone, the same as in the file.
    let piped = place.run(&[
        "fit",
        "--table",
        "points.csv",
        "--y",
        "rbp1",
        "--y",
        "ppl",
        "--group",
        "family",
        "--json",
        "-",
    ]);
    let written = std::fs::read(place.path("laws.json")).unwrap();
    assert!(piped.out == place.redact(&written), "{}", piped.screen());
}

#[test]
fn what_cannot_be_fitted_is_refused_with_file_and_line() {
    let place = Place::new();
    place.text("points.csv", "S,rbp1\n1e6,0.2\n1e7,zero\n");
    let fit = |more: &[&str]| place.run(&[&["fit", "--table"], more].concat());
    fit(&["points.csv", "--y", "rbp1"]).refuses(3, &["points.csv, line 3", "`zero`", "hint: mend"]);
    fit(&["points.csv", "--y", "rbp2"]).refuses(3, &["no column `rbp2`", "S, rbp1"]);
    fit(&["points.csv", "--y", "S"]).refuses(3, &["does not say what its values are", "--as rbp|accuracy"]);
    fit(&["nowhere.csv", "--y", "rbp1"]).refuses(3, &["nowhere.csv", "cannot read"]);
    place.text("one.csv", "S,rbp1\n1e6,0.2\n");
    let outcome = fit(&["one.csv", "--y", "rbp1"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.screen());
    assert!(
        outcome.err.contains("no law could be fitted") && outcome.err.contains("hint: "),
        "{}",
        outcome.screen()
    );
}

#[test]
fn what_makes_no_sense_together_is_wrong_usage() {
    let place = Place::new();
    place.run(&["fit"]).refuses(2, &["<STUDY>"]);
    place.run(&["fit", "study", "--table", "t.csv", "--y", "rbp1"]).refuses(2, &["cannot be used with"]);
    place.run(&["fit", "--table", "t.csv"]).refuses(2, &["--y"]);
    place
        .run(&["fit", "--table", "t.csv", "--y", "a", "--as", "rank"])
        .refuses(2, &["rbp, accuracy, wrong, ce"]);
    place.run(&["fit", "--table", "t.csv", "--y", "a", "--where", "b"]).refuses(2, &["COLUMN=VALUE"]);
    place.run(&["fit", "study", "--metric", "acc"]).refuses(2, &["[STUDY]", "--metric"]);
}

#[test]
fn results_of_the_harness() {
    let place = Place::new();
    for (model, acc, total) in [("a", 0.2, 1e6), ("b", 0.3, 1e7), ("c", 0.4, 1e8)] {
        let text = format!(
            r#"{{"results": {{"lambada_openai": {{"acc,none": {acc}, "acc_stderr,none": 0.01}}}},
                "model_name": "{model}", "config": {{"model_num_parameters": {total}}}}}"#
        );
        place.text(&format!("results_{model}.json"), &text);
    }
    let outcome = place.run(&["fit", "--harness", ".", "--task", "lambada_openai"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("fit-harness");
    place
        .run(&["fit", "--harness", ".", "--metric", "f1"])
        .refuses(3, &["no result has f1", "lambada_openai acc"]);
}
