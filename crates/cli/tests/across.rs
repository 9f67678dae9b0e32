//! Families with different tokenizers in one study: the same words, laws per word and per byte side
//! by side, one figure.

mod common;

use std::fs;

use common::Place;
use relscale_testkit::{MadeUpFamily, TinyModel, made_up_study, tokenizer};
use serde_json::Value;

fn json(place: &Place, path: &str) -> Value {
    serde_json::from_slice(&fs::read(place.path(path)).unwrap()).unwrap()
}

/// Two families of one law by word, one token a word and two; `b` has fewer misses.
fn two_families(place: &Place) {
    let a = MadeUpFamily { family: "a".into(), pieces: Some(1), ..MadeUpFamily::default() };
    let b = MadeUpFamily { family: "b".into(), pieces: Some(2), beta: 0.12, ..a.clone() };
    made_up_study(&place.path("study"), &a);
    made_up_study(&place.path("study"), &b);
}

#[test]
fn families_of_two_tokenizers_stand_in_one_figure() {
    let place = Place::new();
    two_families(&place);
    let outcome = place.run(&["fit", "study", "--resamples", "200"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("fit-across");

    let laws = json(&place, "study/laws.json");
    let across = &laws["across_tokenizers"][0];
    let [a, b] = [0, 1].map(|family| &across["families"][family]);
    assert_eq!((a["words"].as_u64(), b["words"].as_u64()), (Some(4_000), Some(4_000)));
    assert_eq!((a["tokens"].as_u64(), b["tokens"].as_u64()), (Some(4_000), Some(8_040)));
    // `b` saw the second half of each document's first word.
    assert_eq!((a["words_left_out"].as_u64(), b["words_left_out"].as_u64()), (Some(0), Some(40)));
    // Ranks a token differ, as every second token of `b` is sure; words have one law.
    let exponent = |law: &Value| law["outcome"]["exponent"]["value"].as_f64().unwrap();
    let value = |law: &Value| law["points"][2]["value"].as_f64().unwrap();
    let group = |at: usize| &laws["groups"][at];
    let [of_a, of_b] = [0, 1].map(|at| &group(at)["text_units"]["words"][0]);
    assert_eq!(value(of_a), value(of_b));
    assert!((exponent(of_a) - 0.12).abs() < 0.002, "{}", exponent(of_a));
    let [of_a, of_b] = [0, 1].map(|at| &group(at)["rank_laws"][0]);
    assert!(value(of_a) > 1.8 * value(of_b));

    let outcome = place.run(&["report", "study"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let figure =
        fs::read_to_string(place.path("study/figures/across-tokenizers--prose.csv")).unwrap();
    for (family, quantity) in [
        ("a", "'-ln RBP_1 of words"),
        ("b", "'-ln RBP_1 of words"),
        ("b", "'-ln RBP_10 of words"),
        ("a", "bits per byte"),
        ("b", "bits per byte"),
    ] {
        let row = format!("{family},prose,{quantity},");
        assert_eq!(figure.matches(&row).count(), 6, "{row} five models and an end in\n{figure}");
    }
    assert!(place.path("study/figures/across-tokenizers--prose.svg").exists());
    let page = fs::read_to_string(place.path("study/report.html")).unwrap();
    for words in ["How do families compare?", "Families side by side", "RBP_10 of words"] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_gap_can_be_one_of_words() {
    let place = Place::new();
    let prose = MadeUpFamily { pieces: Some(2), ..MadeUpFamily::default() };
    made_up_study(&place.path("study"), &prose);
    let code = MadeUpFamily { corpus: "code".into(), alpha: 0.2, ..prose };
    made_up_study(&place.path("study"), &code);
    let run = |error: &str| {
        let arguments = ["relative", "study", "--baseline", "prose", "--resamples", "100"];
        place.run(&[&arguments[..], &["--error", error]].concat())
    };
    let outcome = run("word1");
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let fit = json(&place, "study/relative.json");
    assert_eq!(fit["error"], "-ln RBP_1 of words");
    let slope = fit["families"][0]["gaps"][0]["outcome"]["delta_beta"]["value"].as_f64().unwrap();
    assert!((slope + 0.08).abs() < 0.005, "{slope}");
    assert_eq!(run("byte10").code, Some(0));
    assert_eq!(run("span2:10").code, Some(0));
    run("span3:10").refuses(3, &["spans of 3 words were not counted", "no spans of this length"]);
    run("words").refuses(3, &["word10"]);
}

/// The program itself measures two models that cut one text into other tokens.
#[test]
fn two_tokenizers_read_the_same_words() {
    let place = Place::new();
    for (family, merges) in [("long", 24), ("short", 3)] {
        let model = place.model(family, &TinyModel::default());
        fs::write(model.join("tokenizer.json"), tokenizer::json_with(merges)).unwrap();
        place.prose();
        let arguments = ["measure", "--model", "models", "--corpus", "prose.txt", "--out", "study"];
        let outcome = place.run(&[&arguments[..], &["--family", family]].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
        fs::rename(place.path("models"), place.path(&format!("models-{family}"))).unwrap();
    }
    // One model is no law, and its words are counted all the same.
    place.run(&["fit", "study", "--resamples", "50"]);
    let across = &json(&place, "study/laws.json")["across_tokenizers"][0];
    let [long, short] = [0, 1].map(|family| &across["families"][family]);
    assert_eq!((&long["family"], &short["family"]), (&"long".into(), &"short".into()));
    assert!(long["tokens"].as_u64() < short["tokens"].as_u64());
    assert_eq!(long["words"], short["words"]);
    let text = fs::read_to_string(place.path("prose.txt")).unwrap();
    let [words, left_out] =
        ["words", "words_left_out"].map(|member| short[member].as_u64().unwrap());
    assert_eq!(words + left_out, text.split_whitespace().count() as u64);
}
