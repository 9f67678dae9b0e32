//! The page under axe-core, the checker of accessibility that browsers' own tools use: at the
//! widths of a phone and of a desktop, light and dark.
//!
//! `RELSCALE_AXE` names its `axe.min.js` (`npm pack axe-core`); without it, or without a Chromium,
//! this is skipped with a message. What needs no checker of others is in `browser.rs`.

mod support;

use relscale_laws::Saved as _;
use relscale_testkit::data;
use support::chromium::{self, Chromium};
use support::{SIZES, Text};

/// Violations that a person would suffer from: which rule, how bad, the first places.
const SERIOUS: &str = "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations \
    .filter((it) => it.impact === 'serious' || it.impact === 'critical') \
    .map((it) => `${it.id} (${it.impact}, ${it.nodes.length}): ${it.nodes.slice(0, 3).map((node) => node.target.join(' ')).join('; ')}`))";

#[test]
fn axe_finds_nothing_serious() {
    let Some(script) = std::env::var_os("RELSCALE_AXE") else {
        return data::skipped("axe", "RELSCALE_AXE names no axe.min.js (npm pack axe-core)");
    };
    let script = std::fs::read_to_string(&script).unwrap();
    let Some(path) = chromium::find() else {
        return data::skipped(data::BROWSER, "no chromium on the PATH");
    };
    let folder = tempfile::tempdir().unwrap();
    let mut runs = support::realistic(40);
    let texts = [("code", 2.6), ("markdown", 2.4)];
    let texts = texts.map(|(name, level)| Text { name, level, exponent: 0.1 });
    runs.extend(support::family("ants", &SIZES[1..6], &texts, 40));
    support::keep(folder.path(), &runs);
    let study = support::laws(&runs);
    study.save(&folder.path().join("laws.json")).unwrap();
    support::render(&study, folder.path()).unwrap();

    let mut browser = Chromium::start(&path);
    let mut tab = browser.tab();
    for width in [390, 1400] {
        for scheme in ["light", "dark"] {
            tab.looks(width, scheme);
            tab.open(&folder.path().join("report.html"));
            tab.evaluate(&script);
            // What is folded is read as well.
            tab.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))");
            assert_eq!(tab.evaluate(SERIOUS), serde_json::json!([]), "{width} {scheme}");
        }
    }
    // The checker itself: what it should find is found.
    let bad = folder.path().join("bad.html");
    std::fs::write(&bad, "<html><body><img src=x.png><p style='color: #ddd'>pale</p>").unwrap();
    tab.open(&bad);
    tab.evaluate(&script);
    let found = tab.evaluate(SERIOUS).to_string();
    assert!(found.contains("image-alt") && found.contains("color-contrast"), "{found}");
}
