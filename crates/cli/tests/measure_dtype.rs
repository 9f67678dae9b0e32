//! `relscale measure --dtype`: what is picked, what is told, and that nothing is measured twice.

mod common;

use std::collections::BTreeSet;

use common::{Outcome, Place, files};
use relscale_testkit::TinyModel;
use serde_json::Value;

/// Two models and a text.
fn place() -> Place {
    let place = Place::new();
    place.model("tiny-a", &TinyModel::default());
    place.model("tiny-b", &TinyModel { width: 32, hidden: 48, seed: 2, ..TinyModel::default() });
    place.prose();
    place
}

fn measure(place: &Place, models: &str, dtype: &str) -> Outcome {
    let arguments = ["measure", "--corpus", "prose.txt", "--out", "study"];
    let outcome = place.run(&[&arguments[..], &["--model", models, "--dtype", dtype]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome
}

/// In which numbers the runs of the study are.
fn dtypes(place: &Place) -> BTreeSet<String> {
    let records = files(&place.path("study/runs"));
    let records = records.iter().filter(|(path, _)| path.ends_with("run.json"));
    let dtype = |(_, bytes): &(_, Vec<u8>)| {
        let run: Value = serde_json::from_slice(bytes).unwrap();
        let scoring = &run["provenance"]["scoring"];
        let dtype = scoring["compute_dtype"].as_str().unwrap();
        assert_eq!(scoring["engine"], format!("local-{dtype}"));
        dtype.to_owned()
    };
    records.map(dtype).collect()
}

#[test]
fn what_is_picked_is_told_once_and_recorded() {
    let place = place();
    let outcome = measure(&place, "models", "auto");
    let told: Vec<&str> =
        outcome.err.lines().filter(|line| line.contains("--dtype auto is")).collect();
    assert!(told.len() == 1 && told[0].contains("by a short timing"), "{}", outcome.screen());
    let dtypes = dtypes(&place);
    assert!(dtypes.len() == 1, "{dtypes:?}");
    let picked = dtypes.first().unwrap();
    assert!(told[0].contains(&format!("--dtype auto is {picked}: ")), "{told:?}");
}

/// Whatever is faster here: a study goes on in the numbers that it has, and what is finished is
/// neither timed nor measured.
#[test]
fn a_study_goes_on_in_its_own_numbers() {
    for dtype in ["f32", "bf16"] {
        let place = place();
        measure(&place, "models/tiny-a", dtype);
        let before = files(&place.path("study/runs"));
        let again = measure(&place, "models/tiny-a", "auto");
        let words = format!("--dtype auto is {dtype}: the numbers in which the study has runs");
        assert!(again.err.contains(&words), "{}", again.screen());
        assert!(again.err.contains("measured before"), "{}", again.screen());
        assert!(!again.err.contains("timing"), "{}", again.screen());
        assert!(files(&place.path("study/runs")) == before);
        // One that is only begun, and another model.
        let runs = std::fs::read_dir(place.path("study/runs")).unwrap();
        for run in runs {
            std::fs::remove_file(run.unwrap().path().join("done.json")).unwrap();
        }
        let record = place.path("study/study.json");
        let mut study: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
        study["current"] = serde_json::json!({});
        std::fs::write(&record, study.to_string()).unwrap();
        let more = measure(&place, "models", "auto");
        assert!(more.err.contains(&words), "{}", more.screen());
        assert_eq!(dtypes(&place), BTreeSet::from([dtype.to_owned()]));
        assert_eq!(std::fs::read_dir(place.path("study/runs")).unwrap().count(), 2);
    }
}

/// Which it is depends on the machine; that it is said once, and not of what is finished, does not.
#[test]
fn bf16_without_gain_is_said_once_and_not_of_finished_runs() {
    let place = place();
    let words = "f32 on this processor: by a short timing";
    let first = measure(&place, "models", "bf16");
    assert!(first.err.matches(words).count() <= 1, "{}", first.screen());
    let again = measure(&place, "models", "bf16");
    assert_eq!(again.err.matches(words).count(), 0, "{}", again.screen());
    assert_eq!(again.err.matches("measured before").count(), 2, "{}", again.screen());
}

#[test]
fn who_cannot_pick_refuses_to() {
    let place = place();
    let arguments =
        ["measure", "--model", "models", "--corpus", "prose.txt", "--out", "study", "--dtype"];
    let with = |more: &[&str]| place.run(&[&arguments[..], &["auto"], more].concat());
    with(&["--part", "1/2"]).refuses(3, &["--part with --dtype auto", "--dtype f32"]);
    with(&["--engine", "vllm", "--url", "http://x"]).refuses(3, &["does not take --dtype auto"]);
    with(&["--engine", "exec:true"]).refuses(3, &["does not take --dtype auto"]);
}
