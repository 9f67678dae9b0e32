//! `relscale report`: the page, or what is missing for it.

mod common;

use common::Place;
use relscale_testkit::{MadeUpFamily, made_up_study};

#[test]
fn the_page_is_written_and_its_place_told() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    place.run(&["fit", "study", "--resamples", "100"]);
    let outcome = place.run(&["report", "study"]);
    outcome.shows("report");
    let page = std::fs::read_to_string(place.path("study/report.html")).unwrap();
    assert!(page.contains("made-up"));
}

#[test]
fn without_laws_it_says_how_to_get_them() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    place.run(&["report", "study"]).refuses(3, &["laws.json", "relscale fit"]);
    std::fs::write(place.path("study/laws.json"), "{}").unwrap();
    place.run(&["report", "study"]).refuses(3, &["laws.json", "run `relscale fit` again"]);
}
