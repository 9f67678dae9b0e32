//! `relscale fit --table` and `--harness`: laws of numbers that others measured, and what is
//! refused.

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
    let laws: Value =
        serde_json::from_slice(&std::fs::read(place.path("laws.json")).unwrap()).unwrap();
    let law = &laws["groups"][0]["laws"][0];
    assert_eq!(
        (laws["format"].as_u64(), law["quantity"]["symbol"].as_str()),
        (Some(5), Some("-ln rbp1"))
    );
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
    fit(&["points.csv", "--y", "S"])
        .refuses(3, &["does not say what its values are", "--as rbp|accuracy"]);
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
    place
        .run(&["fit", "study", "--table", "t.csv", "--y", "rbp1"])
        .refuses(2, &["cannot be used with"]);
    place.run(&["fit", "--table", "t.csv"]).refuses(2, &["--y"]);
    place
        .run(&["fit", "--table", "t.csv", "--y", "a", "--as", "rank"])
        .refuses(2, &["rbp, accuracy, wrong, ce"]);
    place
        .run(&["fit", "--table", "t.csv", "--y", "a", "--where", "b"])
        .refuses(2, &["COLUMN=VALUE"]);
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

/// The same options mean the same, whichever law reads the table.
#[test]
fn one_set_of_options_for_every_command() {
    let place = Place::new();
    let mut table = "id,kind,set,state,params,tokens,final,ice,acc\n".to_owned();
    for (kind, level) in [("g1", 1.0), ("g2", 1.2)] {
        for (at, params) in [1e6, 4e6, 1.6e7_f64].into_iter().enumerate() {
            for (step, tokens) in [2e9, 8e9, 3.2e10_f64].into_iter().enumerate() {
                let wobble = [0.003, -0.002, 0.001][(at + 2 * step) % 3];
                let loss =
                    level * (1.5 + 60.0 * params.powf(-0.3) + 100.0 * tokens.powf(-0.25) + wobble);
                let (ice, acc) = (1.3 * loss * params.powf(-0.01), 1.2 - loss / 4.0);
                table += &format!(
                    "{kind}-{at}-{step},{kind},a,finished,{params},{tokens},{loss:.4},{ice:.4},{acc:.4}\n"
                );
            }
        }
    }
    table += "zz9,g1,a,crashed,2e6,2e9,9,9,0.1\nother,g1,b,finished,2e6,2e9,abc,abc,abc\n";
    place.text("t.csv", &table);
    let common =
        ["--table", "t.csv", "--where", "set=a", "--group", "kind", "--label", "id", "--json", "-"];
    let two = ["--x", "params", "--x", "tokens"];
    let compute = ["--x", "6*params*tokens"];
    let commands: [(&[&str], &[&str], &[&str]); 5] = [
        (&["fit"], &["--x", "params"], &["--y", "final", "--as", "loss"]),
        (&["relative", "--baseline", "final"], &compute, &["--y", "final,ice", "--as", "loss"]),
        (&["size-tokens", "--baseline", "final"], &two, &["--y", "final,ice", "--as", "loss"]),
        (&["stages"], &compute, &["--y", "final,acc", "--as", "loss,accuracy"]),
        (&["sweep", "fit", "--resamples", "5"], &two, &["--y", "final", "--as", "loss"]),
    ];
    for (command, x, y) in commands {
        let outcome = place.run(&[command, x, y, &common].concat());
        assert_eq!(outcome.code, Some(0), "{command:?}: {}", outcome.screen());
        for told in ["g1", "g2", "zz9", "crashed"] {
            assert!(outcome.out.contains(told), "{command:?}, {told}: {}", outcome.out);
        }
        let said = place.run(&[command, x, y, &["--table", "t.csv", "--label", "id"][..]].concat());
        said.refuses(3, &["t.csv, line 21: column `final` is `abc`", "hint: mend"]);
    }
    // Two x where a law has one, and the other way round.
    let one = place.run(&[
        "fit", "--table", "t.csv", "--x", "params", "--x", "tokens", "--y", "final", "--as", "loss",
    ]);
    one.refuses(3, &["`x` is params, tokens", "one column"]);
    place
        .run(&["sweep", "fit", "--table", "t.csv", "--x", "params"])
        .refuses(3, &["parameters and tokens"]);
}
