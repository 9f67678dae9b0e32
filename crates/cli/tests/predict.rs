//! `relscale predict`: values and sizes from the laws of a study, with their warnings, and what is
//! refused.

mod common;

use common::Place;
use relscale_testkit::{MadeUpFamily, made_up_study};
use serde_json::Value;

/// A study whose law is known, and its laws.
fn fitted() -> Place {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    let code =
        MadeUpFamily { corpus: "code".into(), alpha: 0.2, beta: 0.15, ..MadeUpFamily::default() };
    made_up_study(&place.path("study"), &code);
    let outcome = place.run(&["fit", "study", "--resamples", "100"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    place
}

#[test]
fn values_and_sizes_of_a_known_law() {
    let place = fitted();
    let arguments = [
        "predict",
        "study",
        "--corpus",
        "prose",
        "--at",
        "100M",
        "--k",
        "1",
        "--target",
        "RBP_1 = 0.6",
    ];
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("predict");

    let outcome = place.run(&[&arguments[..], &["--json", "-"]].concat());
    let found: Value = serde_json::from_str(&outcome.out).unwrap();
    let group = &found["groups"][0];
    assert_eq!((found["format"].as_u64(), group["corpus"].as_str()), (Some(5), Some("prose")));
    // -ln RBP_1 = 4 S^-0.12, at 1e8; and where it is -ln 0.6. The study's counts hold it to about
    // one token in 4000.
    let near = |value: &Value, truth: f64, share: f64| {
        let value = value.as_f64().unwrap();
        assert!((value / truth - 1.0).abs() < share, "{value} for {truth}");
    };
    let value = &group["values"][0]["outcome"]["value"];
    near(&value["value"], (-4.0 * 1e8_f64.powf(-0.12)).exp(), 0.005);
    let size = &group["sizes"][0]["outcome"]["parameters"];
    let truth = (4.0 / -(0.6_f64.ln())).powf(1.0 / 0.12);
    near(&size["value"], truth, 0.1);
    assert!(
        size["interval"]["low"].as_f64().unwrap() < truth
            && truth < size["interval"]["high"].as_f64().unwrap()
    );
}

/// What to measure next: the same laws, another question.
#[test]
fn what_to_measure_next() {
    let place = fitted();
    let arguments = ["next", "study", "--corpus", "prose", "--draws", "40", "--times", "2,10"];
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("next");
    let outcome = place.run(&[&arguments[..], &["--model", "1B", "--json", "-"]].concat());
    let found: Value = serde_json::from_str(&outcome.out).unwrap();
    let candidates = found["laws"][0]["outcome"]["candidates"].as_array().unwrap();
    let whats: Vec<&str> =
        candidates.iter().map(|one| one["what"]["measure"].as_str().unwrap()).collect();
    assert_eq!(whats.iter().filter(|what| **what == "model").count(), 1, "{whats:?}");
    assert_eq!(whats.iter().filter(|what| **what == "text").count(), 2, "{whats:?}");

    place.run(&["next", "study", "--times", "1"]).refuses(3, &["times", "above 1"]);
    place.run(&["next", "study", "--corpus", "wiki"]).refuses(3, &["corpus `wiki`", "prose"]);
    place.run(&["next", "nowhere"]).refuses(3, &["nowhere", "relscale fit"]);
}

#[test]
fn unasked_the_next_two_decades_are_told() {
    let place = fitted();
    let outcome = place.run(&["predict", "study/laws.json", "--json", "next.json"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(
        outcome.out.contains("1.00e7") && outcome.out.contains("1.00e8"),
        "{}",
        outcome.screen()
    );
    assert!(outcome.out.contains("beyond the largest model measured"), "{}", outcome.screen());
    assert!(outcome.err.contains("wrote next.json"), "{}", outcome.screen());
    assert!(place.path("next.json").exists());
}

#[test]
fn what_cannot_be_predicted_is_refused() {
    let place = fitted();
    let predict = |more: &[&str]| place.run(&[&["predict", "study"], more].concat());
    predict(&["--family", "gpt2"])
        .refuses(3, &["family `gpt2`", "made-up on code, made-up on prose"]);
    predict(&["--target", "RBP_1 = 60"])
        .refuses(2, &["RBP_1 = 60", "`RBP_1 = 0.6`", "above 0 and below 1"]);
    predict(&["--at", "large"]).refuses(2, &["large", "10x"]);
    predict(&["--k", "0"]).refuses(2, &["0"]);
    predict(&["--level", "95"]).refuses(3, &["level", "95"]);
    place.run(&["predict", "nowhere"]).refuses(3, &["nowhere", "relscale fit"]);
    let outcome = predict(&["--target", "RBP_3 = 0.5"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.screen());
    assert!(outcome.err.contains("k = 3 was not fitted"), "{}", outcome.screen());
}

/// Published accuracies from published features: what is told, and what is refused.
#[test]
fn what_large_models_will_do() {
    let place = Place::new();
    for file in ["lambada.tsv", "tasks.tsv"] {
        let published = relscale_testkit::data::published(&format!("pythia/{file}"));
        place.text(file, &std::fs::read_to_string(published).unwrap());
    }
    let features =
        ["--features", "lambada.tsv", "--x", "S", "--feature", "lambada_ppl,lambada_acc"];
    let accuracies = ["--table", "tasks.tsv", "--y", "accuracy", "--distribution", "task"];
    let run =
        |more: &[&str]| place.run(&[&["forecast"], &features[..], &accuracies, more].concat());
    let outcome = run(&["--held-out", "2"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    for words in ["-ln lambada_acc", "the 2 largest models", "a difference is not shown"] {
        assert!(outcome.out.contains(words), "{words}: {}", outcome.screen());
    }
    run(&["--chance", "nothing=0.5"]).refuses(3, &["chance", "nothing"]);
    run(&["--chance", "much"]).refuses(2, &["chance", "TASK=SHARE"]);
    place.run(&[&["forecast"], &accuracies[..]].concat()).refuses(2, &["--features"]);
}
