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
fn what_other_commands_saved_is_shown_without_laws() {
    let place = Place::new();
    let web = MadeUpFamily::default();
    let code = MadeUpFamily { corpus: "code".into(), alpha: web.alpha + 0.05, ..web.clone() };
    made_up_study(&place.path("study"), &web);
    made_up_study(&place.path("study"), &code);
    let relative = ["relative", "study", "--baseline", &web.corpus, "--resamples", "50"];
    assert_eq!(place.run(&relative).code, Some(0));
    let other = ["--error", "rbp10", "--json", "study/relative-ranks.json"];
    assert_eq!(place.run(&[&relative[..], &other].concat()).code, Some(0));
    let outcome = place.run(&["report", "study"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    for figure in ["gap--relative", "gap-by-k--relative", "gap--relative-ranks", "cases--relative"] {
        assert!(place.path(&format!("study/figures/{figure}.csv")).exists(), "{figure}");
    }
    std::fs::write(place.path("study/relative.json"), "{\"format\": 9}").unwrap();
    place.run(&["report", "study"]).refuses(3, &["relative.json", "run `relscale relative` again"]);
}

#[test]
fn without_laws_it_says_how_to_get_them() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    place.run(&["report", "study"]).refuses(3, &["laws.json", "relscale fit"]);
    std::fs::write(place.path("study/laws.json"), "{}").unwrap();
    place.run(&["report", "study"]).refuses(3, &["laws.json", "run `relscale fit` again"]);
}
