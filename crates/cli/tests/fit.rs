//! `relscale fit`: the law that was put in comes out, and what cannot be fitted is refused.

mod common;

use common::Place;
use relscale_testkit::{MadeUpFamily, made_up_study};
use serde_json::Value;

#[test]
fn the_law_that_was_put_in_comes_out() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    let other =
        MadeUpFamily { corpus: "code".into(), alpha: 0.2, beta: 0.15, ..MadeUpFamily::default() };
    made_up_study(&place.path("study"), &other);
    let outcome = place.run(&["fit", "study", "--resamples", "200"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("fit");
    place.run(&["fit", "study", "--resamples", "200", "--verbose"]).shows("fit-verbose");
    let quiet = place.run(&["fit", "study", "--resamples", "200", "--quiet"]);
    assert_eq!(
        (quiet.code, quiet.screen().as_str()),
        (Some(0), "-- out\n-- err\n-- exit code 0\n")
    );

    let laws: Value =
        serde_json::from_slice(&std::fs::read(place.path("study/laws.json")).unwrap()).unwrap();
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
    made_up_study(
        &place.path("study"),
        &MadeUpFamily { sizes: vec![10_000], ..MadeUpFamily::default() },
    );
    let outcome = place.run(&["fit", "study", "--resamples", "100"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.screen());
    assert!(outcome.err.contains("error: no law could be fitted"), "{}", outcome.screen());
    assert!(outcome.err.contains("hint: measure at least three models"), "{}", outcome.screen());
    // The reason is in the file as well.
    assert!(place.path("study/laws.json").exists());
}

#[test]
fn tokens_in_a_row_are_counted_for_the_k_and_n_that_are_given() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    let asked =
        ["fit", "study", "--resamples", "100", "--emergence-k", "20,1", "--emergence-n", "1,4"];
    let outcome = place.run(&asked);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let table = outcome.out.split("decades beyond").nth(1).expect("the table of tokens in a row");
    let rows: Vec<Vec<&str>> =
        table.lines().skip(2).take(4).map(|line| line.split_whitespace().collect()).collect();
    let names: Vec<[&str; 2]> =
        rows.iter().map(|row| [row[row.len() - 9], row[row.len() - 8]]).collect();
    assert_eq!(names, [["1", "1"], ["1", "4"], ["20", "1"], ["20", "4"]], "{}", outcome.screen());

    let laws: Value =
        serde_json::from_slice(&std::fs::read(place.path("study/laws.json")).unwrap()).unwrap();
    let emergence = &laws["groups"][0]["emergence"];
    // Every token in a row of one: the rank law of the same k, which was in no grid before.
    for (at, k) in [(0, 1), (1, 20)] {
        let found = &emergence["by_k"][at];
        assert_eq!(found["k"], k);
        let alpha = found["lengths"][0]["law"]["outcome"]["exponent"]["value"].as_f64().unwrap();
        assert!((alpha - 0.12).abs() < 0.002, "{alpha}");
        assert_eq!(found["lengths"][1]["points"][0]["windows"], 40 * 97);
    }
    // Without the flags there is no table, and a sentence tells.
    let plain = place.run(&["fit", "study", "--resamples", "100", "--verbose"]);
    assert!(
        !plain.out.contains("decades beyond\n") && plain.out.contains("in a row: k = 1"),
        "{}",
        plain.screen()
    );
    place
        .run(&["fit", "study", "--emergence-n", "0"])
        .refuses(3, &["emergence_n", "at least one token"]);
    place.run(&["fit", "study", "--emergence-k", "ten"]).refuses(2, &["ten"]);
}

#[test]
fn neither_rows_nor_threads_change_a_byte() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    let fit = |more: &[&str]| {
        let outcome = place.run(&[&["fit", "study", "--resamples", "100"], more].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
        std::fs::read(place.path("study/laws.json")).unwrap()
    };
    let with_rows = fit(&["--threads", "2"]);
    assert!(fit(&["--threads", "1"]) == with_rows);
    let relative = || place.run(&["relative", "study", "--baseline", "prose", "--json", "-"]).out;
    let related = relative();
    for run in std::fs::read_dir(place.path("study/runs")).unwrap() {
        std::fs::remove_file(run.unwrap().path().join("part-00000.parquet")).unwrap();
    }
    assert!(fit(&["--threads", "2"]) == with_rows);
    assert_eq!(relative(), related);
    // Fewer k and N than were counted are there; others need rows, which is said with what to do.
    fit(&["--emergence-k", "1", "--emergence-n", "2,5"]);
    let more = ["fit", "study", "--emergence-k", "7"];
    place.run(&more).refuses(3, &["counted at k of [1, 10, 100]", "part-*.parquet", "--rows"]);
    place.run(&["fit", "study", "--threads", "0"]).refuses(2, &["--threads"]);
}

#[test]
fn what_is_no_study_is_refused() {
    let place = Place::new();
    place.run(&["fit", "nowhere"]).refuses(3, &["nowhere", "no study here", "relscale measure"]);
    made_up_study(
        &place.path("empty"),
        &MadeUpFamily { sizes: Vec::new(), ..MadeUpFamily::default() },
    );
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
