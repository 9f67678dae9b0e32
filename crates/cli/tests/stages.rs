//! `relscale stages`: both stages on a table, and what is refused.

mod common;

use std::fmt::Write as _;

use common::Place;
use serde_json::Value;

/// Two prompt formats over eight models: the first follows the laws, the loss of the second
/// wanders.
fn points() -> String {
    let mut text = "model,format,flops,bpb,acc\n".to_owned();
    for (at, wander) in [0.02, -0.03, 0.01, 0.03, -0.02, -0.01, 0.02, -0.02].into_iter().enumerate()
    {
        let x = 1e18 * 3.0_f64.powi(at as i32);
        for (format, by) in [("modified", 0.02), ("letter", 1.0)] {
            let loss = 40.0 * x.powf(-0.1) + 0.4 + by * wander;
            let accuracy = 0.25 + 0.6 / (1.0 + (7.0 * (loss - 0.75)).exp());
            writeln!(text, "m{at},{format},{x:e},{loss:.5},{accuracy:.5}").unwrap();
        }
    }
    text
}

#[test]
fn formats_side_by_side() {
    let place = Place::new();
    place.text("points.csv", &points());
    let stages = |more: &[&str]| {
        let common = [
            "stages",
            "--table",
            "points.csv",
            "--x",
            "flops",
            "--loss",
            "bpb",
            "--accuracy",
            "acc",
        ];
        place.run(&[&common, more].concat())
    };
    let outcome = stages(&[
        "--group",
        "format",
        "--held-out",
        "2",
        "--chance",
        "0.25",
        "--at",
        "1e23",
        "--json",
        "out.json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("stages");
    let found: Value =
        serde_json::from_slice(&std::fs::read(place.path("out.json")).unwrap()).unwrap();
    let [letter, modified] = [&found["groups"][0], &found["groups"][1]];
    assert_eq!(
        (letter["name"].as_str(), modified["name"].as_str()),
        (Some("letter"), Some("modified"))
    );
    let left_out = |group: &Value| group["predictability"]["quadratic_left_out"].as_f64().unwrap();
    assert!(left_out(modified) > 0.999 && left_out(letter) < 0.99);
    let chain = &modified["held_out"]["routes"][1];
    assert_eq!(chain["route"].as_str(), Some("chain"));
    assert!(chain["mean_absolute"].as_f64().unwrap() < 0.005);

    let one = stages(&["--hold-out", "model=m7", "--where", "format=letter", "--json", "-"]);
    let found: Value = serde_json::from_str(&one.out).unwrap();
    let held_out = &found["groups"][0]["held_out"];
    assert_eq!(
        (held_out["which"].as_str(), held_out["points"][0]["label"].as_str()),
        (Some("model = m7"), Some("m7"))
    );
}

#[test]
fn what_cannot_be_used_is_refused() {
    let place = Place::new();
    place.text("points.csv", "flops,bpb,acc\n1e18,1.1,0.3\n1e19,1,30\n");
    let run = |loss: &str, more: &[&str]| {
        let common = [
            "stages",
            "--table",
            "points.csv",
            "--x",
            "flops",
            "--loss",
            loss,
            "--accuracy",
            "acc",
        ];
        place.run(&[&common, more].concat())
    };
    run("bpb", &[]).refuses(3, &["points.csv, line 3", "`30`", "share", "hint: mend"]);
    run("ce", &[]).refuses(3, &["no column `ce`", "flops, bpb, acc"]);
    run("bpb", &["--hold-out", "size"]).refuses(2, &["COLUMN=VALUE"]);
    run("bpb", &["--hold-out", "a=b", "--held-out", "2"]).refuses(2, &["cannot be used with"]);
    place.text("points.csv", "flops,bpb,acc\n1e18,1.1,0.3\n1e19,1,0.4\n");
    let outcome = run("bpb", &[]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.screen());
    assert!(
        outcome.err.contains("no stage could be fitted") && outcome.err.contains("hint: "),
        "{}",
        outcome.err
    );
}
