//! `relscale measure` on questions with options: the shipped family on published behaviours,
//! questions longer than the window.

mod common;

use std::path::Path;

use common::Place;
use relscale_testkit::TinyModel;
use relscale_testkit::data::of_others;

/// All 16 behaviours, both answers of each of 8116 questions, by the two smallest sizes (the larger
/// take the same way).
#[test]
fn the_shipped_family_takes_all_published_behaviours() {
    let Some(data) = of_others("anthropic-evals") else { return };
    let family = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/family");
    let place = Place::new();
    let corpus = format!("behaviours={}?kind=anthropic", data.display());
    let mut arguments = vec!["measure", "--corpus", &corpus, "--out", "study", "--model"];
    let models =
        ["small-3k", "small-9k"].map(|name| family.join(name).to_string_lossy().into_owned());
    arguments.extend(models.iter().map(String::as_str));
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(outcome.err.contains("behaviours: 16,232 documents"), "{}", outcome.screen());
    let rows: Vec<&str> = outcome.out.lines().filter(|line| line.contains("behaviours")).collect();
    assert_eq!(rows.len(), 2, "{}", outcome.screen());
}

#[test]
fn a_question_longer_than_the_window_keeps_its_whole_option() {
    let place = Place::new();
    // A window of 64 tokens and a question of some thousand.
    let model = place.model("tiny", &TinyModel::default()).to_string_lossy().into_owned();
    let long = "the rank of a token is a number ".repeat(100);
    let row = |options: &str| format!("\"{long}\",{options},A\n");
    std::fs::create_dir_all(place.path("mmlu/test")).unwrap();
    place.text("mmlu/test/astronomy_test.csv", &row("one hit,one hit more,a miss,none"));
    let measure = |protocol: &'static str, out: &'static str| {
        place.run(&[
            "measure",
            "--model",
            &model,
            "--corpus",
            "mmlu?kind=mmlu&shots=0",
            "--out",
            out,
            "--protocol",
            protocol,
        ])
    };
    let outcome = measure("document", "study");
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("measure-long-question");
    measure("paper", "refused").refuses(
        3,
        &[
            "corpus `mmlu`",
            "`astronomy/test/1/A`",
            "reaches 0 of its 11 bytes",
            "--protocol document",
        ],
    );
    assert!(
        common::files(&place.path("refused")).iter().all(|(path, _)| !path.ends_with("run.json"))
    );
}

/// Options that begin alike, two that are right, and one without text, from a file of one's own to
/// the choices.
#[test]
fn questions_of_ones_own_are_judged_or_left_out_with_a_reason() {
    let place = Place::new();
    let model = place.model("tiny", &TinyModel::default()).to_string_lossy().into_owned();
    let option = |item: &str, option: &str, answer: &str, gold: bool| {
        format!(
            "{{\"q\": \"Which of them?\", \"a\": \"{answer}\", \"item\": \"{item}\", \"option\": \"{option}\", \"gold\": {gold}}}\n"
        )
    };
    let lines = [
        option("colours", "a", " red", true),
        option("colours", "b", " red and blue", true),
        option("colours", "c", " red and tall", false),
        option("empty", "a", " one", true),
        option("empty", "b", "", false),
    ];
    place.text("own.jsonl", &lines.concat());
    let corpus = "own.jsonl?field=q&field=a&score=a&tag=item&tag=option&tag=gold";
    let measured = place.run(&["measure", "--model", &model, "--corpus", corpus, "--out", "study"]);
    assert_eq!(measured.code, Some(0), "{}", measured.screen());
    measured.shows("measure-own-questions");
    let chosen = place.run(&["choices", "study", "--options", "options.csv"]);
    assert_eq!(chosen.code, Some(0), "{}", chosen.screen());
    chosen.shows("choices-own-questions");
    let options = std::fs::read_to_string(place.path("options.csv")).unwrap();
    assert_eq!(options.lines().filter(|line| line.contains(",colours,")).count(), 3, "{options}");
    assert!(!options.contains(",empty,"), "{options}");
}
