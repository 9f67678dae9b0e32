//! `relscale sweep`: recipes, and a training of a few steps.

mod common;

use common::Place;

#[test]
fn recipes_are_listed_with_their_sizes() {
    let place = Place::new();
    let outcome = place.run(&["sweep", "list"]);
    assert_eq!(outcome.code, Some(0));
    outcome.shows("sweep-list");
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let place = Place::new();
    place.run(&["sweep", "train", "large", "--out", "family"]).refuses(3, &["large", "small"]);
    place
        .run(&["sweep", "train", "small", "--size", "1b", "--out", "family"])
        .refuses(3, &["1b", "3k, 9k, 28k"]);
    place.run(&["sweep", "train", "small"]).refuses(2, &["--out"]);
    place
        .run(&["sweep", "train", "small", "--out", "family", "--steps", "0"])
        .refuses(2, &["0 is not in 1.."]);
    assert!(!place.path("family").exists());
}
