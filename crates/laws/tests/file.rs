//! `laws.json`: to disk and back, whole or not at all.

mod support;

use relscale_laws::Saved as _;
use std::fs;

use proptest::prelude::*;
use relscale_laws::{
    FitOptions, IsoflopFit, LawsError, RESULT_FORMAT, RelativeFit, StagesFit, StudyFit, fit_study,
};
use relscale_records::RunTally;
use serde_json::Value;
use support::{document, family, run};

fn study() -> StudyFit {
    fit_study(&family(30), &FitOptions { resamples: 100, ..FitOptions::default() }).unwrap()
}

#[test]
fn what_is_saved_is_what_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("laws.json");
    let study = study();
    study.save(&path).unwrap();
    assert_eq!(StudyFit::load(&path).unwrap(), study);
    // The same records give the same bytes, and nothing is left beside the file.
    let bytes = fs::read(&path).unwrap();
    study.save(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A file is known to last only once its folder is synced: whoever saves hears when it is not.
#[cfg(unix)]
#[test]
fn the_folder_of_a_saved_file_is_synced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("laws.json");
    let _dying = relscale_records::atomic::faults::dying(folder.path());
    for saved in [study().save(&path), study().save_named(&path)] {
        assert!(saved.unwrap_err().to_string().contains("the disk died"));
    }
}

/// Others read this file: these paths are promised as long as [`RESULT_FORMAT`] stays.
#[test]
fn the_layout_is_stable() {
    assert_eq!(RESULT_FORMAT, 5);
    let json = serde_json::to_value(study()).unwrap();
    for (path, expected) in [
        ("/format", Value::from(5)),
        ("/options/level", Value::from(0.95)),
        ("/options/resamples", Value::from(100)),
        ("/groups/0/family", Value::from("made-up")),
        ("/groups/0/corpus", Value::from("prose")),
        ("/groups/0/documents", Value::from(30)),
        ("/groups/0/models/0/name", Value::from("m3100")),
        ("/groups/0/models/0/parameters", Value::from(3100)),
        ("/groups/0/models/0/vocabulary/scored", Value::from(4096)),
        ("/groups/0/models/0/cross_entropy/unit", Value::from("nats per token")),
        ("/groups/0/models/0/bits_per_byte/interval/method", Value::from("document_bootstrap")),
        ("/groups/0/rank_laws/1/quantity/name", Value::from("rank")),
        ("/groups/0/rank_laws/1/quantity/k", Value::from(10)),
        ("/groups/0/rank_laws/1/unit", Value::from("nats")),
        ("/groups/0/rank_laws/1/outcome/status", Value::from("fitted")),
        ("/groups/0/rank_laws/1/outcome/exponent/interval/method", Value::from("models_and_text")),
        (
            "/groups/0/rank_laws/1/outcome/exponent_of_this_text/interval/method",
            Value::from("student_t"),
        ),
        (
            "/groups/0/rank_laws/1/outcome/exponent_of_this_text/interval/degrees_of_freedom",
            Value::from(5),
        ),
        (
            "/groups/0/rank_laws/1/outcome/exponent_sampling/interval/method",
            Value::from("document_spread"),
        ),
        ("/groups/0/rank_laws/1/text/documents", Value::from(30)),
        ("/groups/0/rank_laws/1/outcome/claimed", Value::from(true)),
        ("/groups/0/rank_laws/1/name", Value::from("-ln RBP_10")),
        ("/groups/0/rank_laws/1/points/0/label", Value::from("m3100")),
        ("/groups/0/rank_laws/1/points/0/x", Value::from(3100.0)),
        ("/groups/0/cross_entropy_law/quantity/name", Value::from("cross_entropy")),
    ] {
        assert_eq!(json.pointer(path), Some(&expected), "{path}");
    }
    for path in [
        "/groups/0/rank_laws/0/outcome/r_squared",
        "/groups/0/rank_laws/0/outcome/exponent_sampling/standard_error",
        "/groups/0/rank_laws/0/points/0/log_standard_error",
        "/groups/0/rank_laws/0/points/0/misses",
        "/groups/0/greedy_minus_cross_entropy/value",
    ] {
        assert!(json.pointer(path).is_some_and(Value::is_number), "{path}");
    }
    assert!(!json.to_string().contains("NaN"));
}

#[test]
fn files_that_are_no_result_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("laws.json");
    let load = || StudyFit::load(&path).unwrap_err();
    assert!(matches!(load(), LawsError::Read { .. }));
    fs::write(&path, "{\"format\": 2, \"groups\": [").unwrap();
    assert!(matches!(load(), LawsError::Parse { .. }));
    fs::write(&path, "{\"format\": 99, \"laws\": []}").unwrap();
    assert!(load().to_string().contains("layout 99, this program reads layout 5"));
}

#[test]
fn a_file_that_cannot_be_read_names_itself_and_the_command_that_makes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.json");
    fs::write(&path, "{\"format\": 0, \"groups\": []}").unwrap();
    for (message, command) in [
        (RelativeFit::load(&path).unwrap_err().to_string(), "`relscale relative`"),
        (StagesFit::load(&path).unwrap_err().to_string(), "`relscale stages`"),
        (IsoflopFit::load(&path).unwrap_err().to_string(), "`relscale sweep fit`"),
    ] {
        assert!(message.contains("other.json") && message.contains(command), "{message}");
    }
    fs::write(&path, "{\"format\": 7}").unwrap();
    let message = RelativeFit::load(&path).unwrap_err().to_string();
    assert!(
        message.contains("layout 7, this program reads layout 5; run `relscale relative`"),
        "{message}"
    );
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nowhere").join("laws.json");
    let message = study().save(&path).unwrap_err().to_string();
    assert!(
        message.contains("nowhere") && message.contains("check that the folder exists"),
        "{message}"
    );
}

/// Up to five runs on the same few documents, of any size, with any counts that are possible.
fn any_runs() -> impl Strategy<Value = Vec<RunTally>> {
    let documents = prop::collection::vec(0_u64..50, 0..6);
    let models = prop::collection::vec((1_u64..u64::MAX, any::<u32>(), 0.0..1e3_f64), 1..6);
    (documents, models).prop_map(|(documents, models)| {
        let build = |(model, (parameters, seed, nll)): (usize, (u64, u32, f64))| {
            let mut run = run(&format!("m{model}"), parameters, &[1, 10]);
            for (ordinal, &scored) in documents.iter().enumerate() {
                let ten = u64::from(seed.rotate_left(5 * ordinal as u32)) % (scored + 1);
                let one = u64::from(seed.rotate_left(7 * ordinal as u32)) % (ten + 1);
                run.documents.push(document(ordinal as u32, scored, &[one, ten], nll));
            }
            run
        };
        models.into_iter().enumerate().map(build).collect()
    })
}

proptest! {
    /// JSON has no NaN and no infinity: a result that held one would not come back.
    #[test]
    fn any_result_survives_the_file(runs in any_runs()) {
        let study = fit_study(&runs, &FitOptions { resamples: 20, ..FitOptions::default() }).unwrap();
        let text = serde_json::to_string(&study).unwrap();
        prop_assert_eq!(serde_json::from_str::<StudyFit>(&text).unwrap(), study);
    }
}

/// The number of all results in docs/formats.md is that of the code.
#[test]
fn the_documented_version_is_that_of_the_code() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = fs::read_to_string(path).unwrap();
    let versions = text.split_once("\n## Versions\n").unwrap().1.split("\n## ").next().unwrap();
    // Lines of a document wrap where they happen to.
    let versions = versions.split_whitespace().collect::<Vec<_>>().join(" ");
    let told =
        format!("Every result that `relscale` writes has one layout version, now {RESULT_FORMAT}");
    assert!(versions.contains(&told), "{versions}");
    let study = relscale_records::version::FORMAT;
    assert!(
        versions.contains(&format!("one number for the whole study folder, now {study}.")),
        "{versions}"
    );
}
