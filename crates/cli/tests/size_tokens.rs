//! `relscale size-tokens`: what moves a gap, and what is refused.

mod common;

use std::fmt::Write as _;

use common::{Place, checkpoints};
use serde_json::Value;

/// Four sizes after 1, 2, 4 and 8 billion tokens; size closes the gap of `chat`, tokens do nothing
/// to it but wander.
fn points() -> String {
    let mut text = "params,tokens,domain,loss\n".to_owned();
    for (at, wander) in [0.001, -0.002, 0.002, -0.001].into_iter().enumerate() {
        let size = 1e7 * 4.0_f64.powi(at as i32);
        for step in 0..4 {
            let tokens = 1e9 * 2.0_f64.powi(step);
            let base = 30.0 * size.powf(-0.1) * tokens.powf(-0.05);
            let chat = base * 2.0 * size.powf(-0.02) * (wander * f64::from(step)).exp();
            writeln!(text, "{size},{tokens},web,{base}\n{size},{tokens},chat,{chat}").unwrap();
        }
    }
    text
}

const COMMON: [&str; 7] =
    ["size-tokens", "--table", "points.csv", "--error", "loss", "--distribution", "domain"];

/// The same checkpoints along size and tokens, at every k.
#[test]
fn laws_over_training() {
    let place = Place::new();
    checkpoints(&place);
    let arguments = ["training", "study", "--models", "models.toml", "--k", "1,10"];
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("training");
    assert!(place.path("study/training.json").is_file());
    place
        .run(&["training", "study", "--models", "models.toml", "--k", "7"])
        .refuses(3, &["k = 7 was not tallied"]);
    place.run(&["training", "study", "--models", "nowhere.toml"]).refuses(3, &["nowhere.toml"]);
}

#[test]
fn size_moves_a_gap_and_tokens_do_not() {
    let place = Place::new();
    place.text("points.csv", &points());
    let outcome = place.run(&[&COMMON[..], &["--baseline", "web", "--json", "out.json"]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("size-tokens");
    let found: Value =
        serde_json::from_slice(&std::fs::read(place.path("out.json")).unwrap()).unwrap();
    let gap = &found["distributions"][1]["gap"];
    let slope = gap["along_size"]["slope"]["value"].as_f64().unwrap();
    assert!((slope + 0.02).abs() < 0.002, "{slope}");
    assert_eq!(gap["along_tokens"]["slices"].as_array().unwrap().len(), 4);
}

#[test]
fn the_checkpoints_of_a_study_by_a_manifest() {
    let place = Place::new();
    checkpoints(&place);
    let arguments = ["size-tokens", "study", "--models", "models.toml", "--baseline", "prose"];
    let outcome = place.run(&[&arguments[..], &["--json", "out.json"]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("size-tokens-study");
    let found: Value =
        serde_json::from_slice(&std::fs::read(place.path("out.json")).unwrap()).unwrap();
    assert_eq!((found["sizes"].as_u64(), found["models"].as_str()), (Some(3), Some("models.toml")));
    let code = &found["distributions"][1];
    assert_eq!((code["name"].as_str(), code["points"].as_u64()), (Some("code"), Some(9)));
    for (direction, slices) in [("along_size", 3), ("along_tokens", 3)] {
        assert_eq!(
            code["gap"][direction]["slices"].as_array().unwrap().len(),
            slices,
            "{direction}"
        );
    }

    // Without the manifest a study knows no tokens; a model that it lacks is named.
    place.run(&["size-tokens", "study", "--baseline", "prose"]).refuses(2, &["--models"]);
    place.text("few.toml", "[[model]]\nmodel = \"w8-1\"\ntokens = 1e6\n");
    place.run(&["size-tokens", "study", "--models", "few.toml", "--baseline", "prose"]).refuses(
        3,
        &[
            "few.toml: no row has model `w16-1`",
            "hint: add it, or see that names are the same: it has w8-1",
        ],
    );
    place.text("typo.toml", "[[model]]\nmodel = \"w8-1\"\ntokens = 1.e6\n");
    place
        .run(&["size-tokens", "study", "--models", "typo.toml", "--baseline", "prose"])
        .refuses(3, &["typo.toml, line 3"]);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let place = Place::new();
    place.text("points.csv", "params,tokens,domain,loss\n1e7,1e9,web,3\n1e7,many,web,3\n");
    let run = |more: &[&str]| place.run(&[&COMMON[..], more].concat());
    run(&["--baseline", "web"]).refuses(3, &["points.csv, line 3", "`many`", "hint: mend"]);
    run(&["--baseline", "web", "--tokens", "D"]).refuses(3, &["no column `D`", "params, tokens"]);
    run(&[]).refuses(2, &["--baseline"]);
    place.text("points.csv", "params,tokens,domain,loss\n1e7,1e9,web,3\n1e7,2e9,web,2.9\n");
    run(&["--baseline", "books"]).refuses(3, &["no distribution `books`", "there are: web"]);
    let outcome = run(&["--baseline", "web"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.screen());
    assert!(outcome.err.contains("no slope") && outcome.err.contains("hint: "), "{}", outcome.err);
}
