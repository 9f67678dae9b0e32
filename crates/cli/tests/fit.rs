//! `relscale fit`: the law that was put in comes out, and what cannot be fitted is refused.

mod common;

use common::Place;
use relscale_testkit::{MadeUpFamily, made_up_study};
use serde_json::Value;

#[test]
fn the_law_that_was_put_in_comes_out() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    let other = MadeUpFamily { corpus: "code".into(), alpha: 0.2, beta: 0.15, ..MadeUpFamily::default() };
    made_up_study(&place.path("study"), &other);
    let outcome = place.run(&["fit", "study", "--resamples", "200"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("fit");

    let laws: Value = serde_json::from_slice(&std::fs::read(place.path("study/laws.json")).unwrap()).unwrap();
    assert_eq!(laws["options"]["resamples"], 200);
    for (at, alpha) in [(0, 0.2), (1, 0.12)] {
        let law = &laws["groups"][at]["rank_laws"][0]["outcome"];
        let found = law["exponent"]["value"].as_f64().unwrap();
        assert!((found - alpha).abs() < 0.002, "{found} for {alpha}");
    }

    // The same seed gives the same bytes; another one does not.
    let bytes = || std::fs::read(place.path("study/laws.json")).unwrap();
    let first = bytes();
    place.run(&["fit", "study", "--resamples", "200"]);
    assert!(first == bytes());
    place.run(&["fit", "study", "--resamples", "200", "--seed", "1"]);
    assert!(first != bytes());
}

#[test]
fn two_models_give_a_slope_without_interval() {
    let place = Place::new();
    made_up_study(
        &place.path("study"),
        &MadeUpFamily { sizes: vec![10_000, 90_000], ..MadeUpFamily::default() },
    );
    let outcome = place.run(&["fit", "study", "--resamples", "100"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(outcome.out.contains(" none "), "{}", outcome.screen());
    assert!(outcome.out.contains("no interval"), "{}", outcome.screen());
}

#[test]
fn one_model_is_refused_with_the_reason() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily { sizes: vec![10_000], ..MadeUpFamily::default() });
    let outcome = place.run(&["fit", "study", "--resamples", "100"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.screen());
    assert!(outcome.err.contains("error: no law could be fitted"), "{}", outcome.screen());
    assert!(outcome.err.contains("hint: measure at least three models"), "{}", outcome.screen());
    // The reason is in the file as well.
    assert!(place.path("study/laws.json").exists());
}

#[test]
fn what_is_no_study_is_refused() {
    let place = Place::new();
    place.run(&["fit", "nowhere"]).refuses(3, &["nowhere", "no study here", "relscale measure"]);
    made_up_study(&place.path("empty"), &MadeUpFamily { sizes: Vec::new(), ..MadeUpFamily::default() });
    place.run(&["fit", "empty"]).refuses(3, &["no finished run", "relscale measure"]);
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    place.run(&["fit", "study", "--resamples", "1"]).refuses(3, &["resamples", "at least 2"]);
    std::fs::write(place.path("study/study.json"), "{").unwrap();
    place.run(&["fit", "study"]).refuses(3, &["study.json", "hint: "]);
}

/// `relscale fit study | head -1`: the reader has seen enough, which is no error.
#[test]
#[cfg(unix)]
fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_relscale"))
        .args(["fit", "--resamples", "100"])
        .arg(place.path("study"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let err = place.redact(&output.stderr);
    assert!(output.status.success() && !err.contains("error"), "{err}");
}
