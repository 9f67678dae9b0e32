//! The page in a real Chromium: what moves, what is heard, how it looks, and whether it can be used
//! by everybody.
//!
//! Skipped with a message where no Chromium is found; `RELSCALE_CHROMIUM` names one that is not on
//! the PATH. axe-core, which has to be fetched, is in `axe.rs`.

mod support;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock};

use relscale_laws::{Saved as _, StudyFit};
use relscale_testkit::data;
use serde_json::{Value, json};
use support::chromium::{self, Chromium, Tab};
use support::sources::{Sources, Stated};
use support::{SIZES, Text};

/// One browser for all tests, one after the other.
fn browser() -> Option<MutexGuard<'static, Chromium>> {
    static BROWSER: OnceLock<Option<Mutex<Chromium>>> = OnceLock::new();
    let browser =
        BROWSER.get_or_init(|| chromium::find().map(|path| Mutex::new(Chromium::start(&path))));
    if browser.is_none() {
        data::skipped(data::BROWSER, "no chromium on the PATH (Debian: apt-get install chromium)");
    }
    Some(browser.as_ref()?.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// A study of two families on three texts, and its page.
struct Home {
    folder: tempfile::TempDir,
    study: StudyFit,
}

impl Home {
    /// Made once; no test changes it.
    fn get() -> &'static Self {
        static HOME: OnceLock<Home> = OnceLock::new();
        HOME.get_or_init(Self::new)
    }

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut runs = support::realistic(40);
        // Easier texts, so that no mark lies on another.
        let texts = [("code", 2.6), ("markdown", 2.4)];
        let texts = texts.map(|(name, level)| Text { name, level, exponent: 0.1 });
        runs.extend(support::family("ants", &SIZES[1..6], &texts, 40));
        support::keep(folder.path(), &runs);
        let study = support::laws(&runs);
        study.save(&folder.path().join("laws.json")).unwrap();
        support::render(&study, folder.path()).unwrap();
        Self { folder, study }
    }

    fn page(&self) -> PathBuf {
        self.folder.path().join("report.html")
    }
}

/// Everything with a source inside an element, as the browser has it now.
fn stated(tab: &mut Tab<'_>, selector: &str) -> Vec<Stated> {
    let found = tab.evaluate(&format!(
        "[...document.querySelectorAll('{selector} [data-source]')].map((it) => \
         [it.textContent, it.localName === 'data' ? it.getAttribute('value') : null, it.dataset.source])"
    ));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = found.as_array().unwrap().iter();
    found
        .map(|it| Stated {
            text: text(&it[0]),
            value: it[1].as_str().map(str::to_owned),
            source: text(&it[2]),
        })
        .collect()
}

#[test]
fn nothing_is_heard_at_any_width_and_scheme() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    for width in [400, 1400] {
        for scheme in ["light", "dark"] {
            tab.looks(width, scheme);
            tab.open(&home.page());
            assert_eq!(tab.heard.errors, Vec::<String>::new(), "{width} {scheme}");
            assert_eq!(tab.heard.requests, [format!("file://{}", home.page().display())]);
            // Nothing is wider than the window; wide tables and figures scroll by themselves.
            let wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth");
            assert!(wide.as_f64().unwrap() <= 0.0, "{width}: {wide} pixels too wide");
            let paper = tab.text("getComputedStyle(document.body).backgroundColor");
            assert_eq!(
                paper,
                if scheme == "dark" { "rgb(22, 25, 29)" } else { "rgb(255, 255, 255)" }
            );
        }
    }
}

/// The ear itself: what a page must not do is heard.
#[test]
fn a_page_that_calls_out_is_heard() {
    let Some(mut browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("bad.html");
    std::fs::write(&page, "<img src=http://example.invalid/x.png><script>nothing.there()</script>")
        .unwrap();
    let mut tab = browser.tab();
    tab.open(&page);
    assert!(
        tab.heard.requests.iter().any(|url| url.contains("example.invalid")),
        "{:?}",
        tab.heard.requests
    );
    assert!(
        tab.heard.errors.iter().any(|error| error.contains("nothing is not defined")),
        "{:?}",
        tab.heard.errors
    );
}

#[test]
fn the_slider_moves_the_figure_and_its_numbers() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut sources = Sources::read(home.folder.path());
    let mut tab = browser.tab();
    tab.looks(1400, "light");
    tab.open(&home.page());
    let grid: Vec<u32> = home.study.groups[0].rank_laws.iter().filter_map(|law| law.k()).collect();
    assert!(grid.len() > 10);
    tab.evaluate("document.getElementById('k').focus()");
    let mut seen = Vec::new();
    for (at, k) in grid.iter().enumerate() {
        if at > 0 {
            tab.key("ArrowRight");
        }
        let shown = tab.text("document.getElementById('k-value').textContent").replace(',', "");
        if !home
            .study
            .groups
            .iter()
            .any(|group| group.rank_law(*k).is_some_and(|law| !law.points.is_empty()))
        {
            continue;
        }
        assert_eq!(shown, k.to_string());
        let said = tab.text("document.getElementById('explore-said').textContent").replace(',', "");
        assert!(said.starts_with(&format!("k = {k}: ")), "{said}");
        // The numbers are those of the laws at this k, and of no other.
        let numbers = stated(&mut tab, "#explore-numbers");
        assert!(numbers.len() >= 5 * home.study.groups.len() / 2, "{}", numbers.len());
        for number in &numbers {
            sources.check(number);
            let law = number.source.split('/').take(5).collect::<Vec<_>>().join("/");
            assert_eq!(sources.find(&format!("{law}/quantity/k")), *k, "{number:?}");
        }
        // As many marks as there are points.
        let points: usize = home
            .study
            .groups
            .iter()
            .filter_map(|group| group.rank_law(*k))
            .map(|law| law.points.len())
            .sum();
        assert_eq!(
            tab.evaluate("document.querySelectorAll('#explore-figure .point').length"),
            points
        );
        seen.push(tab.text("document.getElementById('explore-figure').innerHTML"));
    }
    let drawn = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), drawn, "the figure differs at every k");
    tab.key("Home");
    assert_eq!(tab.text("document.getElementById('k-value').textContent"), "1");
    assert_eq!(tab.heard.errors, Vec::<String>::new());
}

#[test]
fn a_mark_names_its_model_under_the_pointer_and_by_keys() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut sources = Sources::read(home.folder.path());
    let mut tab = browser.tab();
    tab.looks(1400, "light");
    tab.open(&home.page());
    let tip = "document.getElementById('tip')";
    assert_eq!(tab.evaluate(&format!("{tip}.hidden")), true);
    // The last model of the first series: nothing lies over it.
    let group = &home.study.groups[0];
    let last = group.rank_laws[0].points.len() - 1;
    tab.point_at(&format!("#explore-figure [data-series='0'][data-point='{last}'] .mark"));
    assert_eq!(tab.evaluate(&format!("{tip}.hidden")), false);
    let point = &group.rank_laws[0].points[last];
    let text = tab.text(&format!("{tip}.textContent"));
    assert!(text.starts_with(&format!("{} on {}", point.label, group.corpus)), "{text}");
    assert!(text.contains("95 %: ") && text.contains("tokens missed"), "{text}");
    let numbers = stated(&mut tab, "#tip");
    assert_eq!(numbers.len(), 4);
    numbers.iter().for_each(|number| sources.check(number));
    assert!(numbers.iter().any(|number| number.source.ends_with(&format!("points/{last}/value"))));

    // One stop of the Tab key for all marks; arrows go from there.
    tab.evaluate("document.querySelector('#explore-figure [tabindex=\"0\"]').focus()");
    let named = |tab: &mut Tab<'_>| tab.text("document.activeElement.getAttribute('aria-label')");
    assert!(named(&mut tab).contains(&group.rank_laws[0].points[0].label));
    tab.key("ArrowRight");
    assert!(named(&mut tab).contains(&group.rank_laws[0].points[1].label));
    assert_eq!(tab.evaluate(&format!("{tip}.hidden")), false);
    tab.key("ArrowDown");
    assert!(
        named(&mut tab).contains(&format!("on {}", home.study.groups[1].corpus)),
        "{}",
        named(&mut tab)
    );
    assert_eq!(
        tab.evaluate("document.querySelectorAll('#explore-figure [tabindex=\"0\"]').length"),
        1
    );
}

#[test]
fn corpora_and_families_are_switched_everywhere() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    tab.looks(1400, "light");
    tab.open(&home.page());
    let seen = |tab: &mut Tab<'_>, selector: &str| {
        // `checkVisibility` says of a part of an SVG that is not displayed that it is visible.
        let all = format!(
            "[...document.querySelectorAll({selector:?})].filter((it) => it.getClientRects().length > 0).length"
        );
        tab.evaluate(&all).as_u64().unwrap()
    };
    let points = "#explore-figure .point";
    let findings = "#found tbody";
    let curves = "figure .wide .series[data-whose='code']";
    let rows = "#explore-numbers tbody tr";
    let before = [points, findings, curves, rows].map(|selector| seen(&mut tab, selector));
    assert!(before.iter().all(|number| *number > 0), "{before:?}");
    let groups = home.study.groups.len() as u64;
    assert_eq!((before[1], before[3]), (groups, groups));

    // `code` is the first corpus by name, and both families have it.
    tab.click("#switches [aria-label='corpora'] label:first-of-type input");
    assert_eq!(seen(&mut tab, findings), groups - 2);
    assert_eq!(seen(&mut tab, rows), groups - 2);
    assert_eq!(seen(&mut tab, curves), 0);
    assert!(seen(&mut tab, points) < before[0]);
    assert!(!tab.text("document.getElementById('explore-said').textContent").contains("code"));

    // By the keyboard, a family: its figures go too.
    let figures = seen(&mut tab, "figure[data-family]");
    let of_first = seen(&mut tab, "figure[data-family='0']");
    tab.evaluate(
        "document.querySelector(\"#switches [aria-label='families'] label:first-of-type input\").focus()",
    );
    tab.key(" ");
    assert!(of_first > 0);
    assert_eq!(seen(&mut tab, "figure[data-family]"), figures - of_first);
    // Everything off: said, not broken.
    for label in 2..=3 {
        tab.click(&format!("#switches [aria-label='corpora'] label:nth-of-type({label}) input"));
    }
    assert_eq!(seen(&mut tab, points), 0);
    assert!(tab.text("document.getElementById('explore-figure').textContent").contains("No model"));
    for label in 1..=3 {
        tab.click(&format!("#switches [aria-label='corpora'] label:nth-of-type({label}) input"));
    }
    tab.key(" ");
    tab.evaluate(
        "document.querySelector(\"#switches [aria-label='families'] label:first-of-type input\").click()",
    );
    tab.evaluate(
        "document.querySelectorAll('#switches input:not(:checked)').forEach((it) => it.click())",
    );
    let after = [points, findings, curves, rows].map(|selector| seen(&mut tab, selector));
    assert_eq!(after, before);
    assert_eq!(tab.heard.errors, Vec::<String>::new());
}

#[test]
fn tables_sort_by_click_and_key() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    tab.looks(1400, "light");
    tab.open(&home.page());
    tab.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))");
    // The table of all laws of the first group: k has words in it (CE), the exponent numbers behind
    // the text.
    let column = |tab: &mut Tab<'_>, at: usize| -> Vec<f64> {
        let values = tab.evaluate(&format!(
            "[...document.querySelectorAll('[data-laws=\"0\"] tbody tr')].map((row) => \
             Number(row.cells[{at}].querySelector('data')?.value ?? NaN))"
        ));
        values.as_array().unwrap().iter().filter_map(Value::as_f64).collect()
    };
    let sorted = |tab: &mut Tab<'_>, at: usize| {
        tab.text(&format!(
            "document.querySelector('[data-laws=\"0\"] thead th:nth-child({})').getAttribute('aria-sort')",
            at + 1
        ))
    };
    assert_eq!(sorted(&mut tab, 1), "none");
    tab.click("[data-laws='0'] thead th:nth-child(2) button");
    assert_eq!(sorted(&mut tab, 1), "ascending");
    let up = column(&mut tab, 1);
    assert!(up.len() > 8 && up.is_sorted(), "{up:?}");
    // The button has the focus; Enter presses it.
    tab.evaluate(
        "document.querySelector(\"[data-laws='0'] thead th:nth-child(2) button\").focus()",
    );
    tab.key("Enter");
    assert_eq!(sorted(&mut tab, 1), "descending");
    let mut down = column(&mut tab, 1);
    down.reverse();
    assert!(down.is_sorted());
    // Another column: one is sorted at a time, and words come last.
    tab.click("[data-laws='0'] thead th:nth-child(1) button");
    assert_eq!((sorted(&mut tab, 0).as_str(), sorted(&mut tab, 1).as_str()), ("ascending", "none"));
    let k = "[...document.querySelectorAll('[data-laws=\"0\"] tbody tr')].map((row) => row.cells[0].textContent)";
    let k = tab.evaluate(k);
    let k: Vec<&str> = k.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((k[0], k[k.len() - 1]), ("1", "CE"));
    // The slider finds its rows whatever their order.
    tab.click("[data-laws='0'] thead th:nth-child(1) button");
    tab.evaluate("document.getElementById('k').focus()");
    tab.key("ArrowRight");
    assert!(
        stated(&mut tab, "#explore-numbers")
            .iter()
            .all(|number| number.source.contains("/rank_laws/1/"))
    );
}

#[test]
fn without_scripts_the_page_reads() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    tab.looks(400, "light");
    tab.without_scripts();
    tab.open(&home.page());
    // What is folded unfolds without a script.
    tab.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))");
    let text = tab.text("document.body.innerText");
    for group in &home.study.groups {
        let words: Vec<&str> =
            group.verdict.split(' ').filter(|word| word.len() > 4 && word.is_ascii()).collect();
        assert!(
            words
                .iter()
                .all(|word| text.contains(word) || word.contains('^') || word.contains('_')),
            "{}",
            group.verdict
        );
    }
    // Nothing that only a script could move is there.
    let gone = "[...document.querySelectorAll('.scripted, th button, input')].filter((it) => it.checkVisibility()).length";
    assert_eq!(tab.evaluate(gone), 0);
    assert!(
        tab.evaluate("document.querySelectorAll('figure .wide svg').length").as_u64().unwrap() >= 6
    );
    assert!(tab.evaluate("document.documentElement.scrollWidth <= innerWidth").as_bool().unwrap());
}

/// Contrast by WCAG 2.2 (1.4.3) of every text that is seen, in figures too: 4.5, or 3 where it is
/// large.
const CONTRAST: &str = r#"(() => {
  const parts = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (it) => {
    for (; it; it = it.parentElement) {
      const colour = parts(getComputedStyle(it).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const bad = [];
  let seen = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const it = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !it.checkVisibility() || ["SCRIPT", "STYLE", "title"].includes(it.tagName)) continue;
    const style = getComputedStyle(it);
    const colour = parts(it.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [a, b] = [light(colour), light(ground(it))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    seen += 1;
    if (ratio < (large ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)}: ${walk.currentNode.textContent.trim().slice(0, 40)} (${it.tagName}, ${colour})`);
  }
  return { seen, bad: [...new Set(bad)] };
})()"#;

#[test]
fn every_text_can_be_read_in_light_and_dark() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    for scheme in ["light", "dark"] {
        tab.looks(1400, scheme);
        tab.open(&home.page());
        tab.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))");
        let contrast = tab.evaluate(CONTRAST);
        assert!(contrast["seen"].as_u64().unwrap() > 1_000);
        assert_eq!(contrast["bad"], json!([]), "{scheme}");
    }
}

/// What a screen reader is given: headings in order, a name for every figure, control and table
/// header.
#[test]
fn the_page_can_be_heard() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    tab.looks(1400, "light");
    tab.open(&home.page());
    let levels = tab.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((it) => Number(it.tagName[1]))",
    );
    let levels: Vec<u64> = levels.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    assert_eq!((levels[0], levels.iter().filter(|level| **level == 1).count()), (1, 1));
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a level is skipped: {levels:?}");
    assert_eq!(tab.text("document.documentElement.lang"), "en");
    let once = "(() => { const ids = [...document.querySelectorAll('[id]')].map((it) => it.id); return ids.length === new Set(ids).size; })()";
    assert_eq!(tab.evaluate(once), true);

    tab.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))");
    let tree = tab.ask("Accessibility.getFullAXTree", json!({}));
    let mut roles: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for node in tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] != true) {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let name = node["name"]["value"].as_str().unwrap_or_default();
        let needs_a_name = [
            "image",
            "graphics-symbol",
            "img",
            "button",
            "checkbox",
            "slider",
            "link",
            "columnheader",
            "group",
            "region",
            "navigation",
        ];
        if needs_a_name.contains(&role) {
            *roles.entry(role.to_owned()).or_default() += 1;
            assert!(!name.trim().is_empty() || role == "group", "a nameless {role}: {node}");
        }
    }
    for role in ["image", "button", "checkbox", "slider", "link", "columnheader", "navigation"] {
        assert!(roles.contains_key(role), "no {role}: {roles:?}");
    }
    // Figures: the picture has the figure's title for a name, the caption says the rest.
    let pictures = "[...document.querySelectorAll('figure')].every((it) => it.querySelector('svg[role=img]').getAttribute('aria-label') \
                    && it.querySelector('figcaption').textContent.length > 80)";
    assert_eq!(tab.evaluate(pictures), true);
    assert_eq!(tab.text("document.getElementById('k').getAttribute('aria-valuetext')"), "k = 1");
    // Links within the page arrive.
    let links = "[...document.querySelectorAll('a[href^=\"#\"]')].every((it) => document.querySelector(it.getAttribute('href')))";
    assert_eq!(tab.evaluate(links), true);
    // What only scrolls sideways can be reached by the keyboard.
    let scrolled = "[...document.querySelectorAll('.wide')].every((it) => it.tabIndex === 0)";
    assert_eq!(tab.evaluate(scrolled), true);
}

/// In ten seconds: the sentence, the numbers and the figure are in sight before anybody scrolls.
#[test]
fn the_result_is_on_the_first_screen() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    for (width, height) in [(1400, 900), (390, 844)] {
        tab.looks(width, "light");
        tab.open(&home.page());
        for seen in ["h1", ".tiles > div:last-child", "#k", "#explore-figure"] {
            let place = format!("document.querySelector({seen:?}).getBoundingClientRect()");
            let bottom = tab.evaluate(&format!("{place}.bottom")).as_f64().unwrap();
            let area = tab.evaluate(&format!("{place}.width * {place}.height")).as_f64().unwrap();
            assert!(area > 0.0 && bottom <= f64::from(height), "{width}: {seen} ends at {bottom}");
        }
        assert_eq!(tab.evaluate("document.querySelectorAll('.tiles > div').length"), 3);
        // What the figure that moves shows is not shown a second time.
        assert_eq!(tab.evaluate("document.querySelector('[data-still]').checkVisibility()"), false);
    }
}

/// Whatever marks and lines say can be seen: 3 to 1 against the page (WCAG 2.2, 1.4.11).
const MARKS: &str = r#"(() => {
  const parts = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const paper = light(parts(getComputedStyle(document.body).backgroundColor));
  const bad = [];
  let seen = 0;
  for (const it of document.querySelectorAll(".series *, #explore-figure .point *, #explore-figure .line")) {
    if (!it.getClientRects().length || ["g", "title", "text", "tspan"].includes(it.tagName)) continue;
    const style = getComputedStyle(it);
    const faint = Number(style.opacity) < 0.5 || Number(style.fillOpacity) < 0.5;
    const inks = [[style.stroke, Number(style.strokeOpacity)], [style.fill, faint ? 0 : 1]].filter(([ink, opacity]) => ink !== "none" && opacity > 0.5 && parts(ink)[3] !== 0);
    if (faint || inks.length === 0) continue;
    const ratios = inks.map(([ink]) => light(parts(ink))).map((ink) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));
    seen += 1;
    // A mark on the page's own colour is seen by its outline.
    if (Math.max(...ratios) < 3) bad.push(`${Math.max(...ratios).toFixed(2)}: ${it.tagName} ${inks.join(" ")}`);
  }
  return { seen, bad: [...new Set(bad)] };
})()"#;

#[test]
fn every_mark_and_line_can_be_seen_in_light_and_dark() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    for width in [390, 1400] {
        for scheme in ["light", "dark"] {
            tab.looks(width, scheme);
            tab.open(&home.page());
            let marks = tab.evaluate(MARKS);
            assert!(marks["seen"].as_u64().unwrap() > 500, "{marks}");
            assert_eq!(marks["bad"], json!([]), "{width} {scheme}");
        }
    }
}

/// On a phone nothing but tables of numbers goes sideways: figures are drawn anew, in one column.
#[test]
fn figures_reflow_on_a_phone() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    tab.looks(390, "light");
    tab.open(&home.page());
    let seen = |of: &str| {
        format!(
            "[...document.querySelectorAll('figure {of} svg')].filter((it) => it.checkVisibility()).length"
        )
    };
    assert_eq!(tab.evaluate(&seen(".wide")), 0);
    assert!(tab.evaluate(&seen(".narrow")).as_u64().unwrap() >= 6);
    // What still goes sideways can be seen to, and reached by the keyboard.
    tab.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))");
    let over = "(over) => [...document.querySelectorAll('.scroll')].filter((it) => it.scrollWidth > it.clientWidth + 1 && (!over || (it.tabIndex === 0 && it.ariaLabel && it.classList.contains('over')))).length";
    tab.evaluate("new Promise((done) => setTimeout(done, 100))");
    let wide = tab.evaluate(&format!("({over})(false)"));
    assert!(wide.as_u64().unwrap() > 0);
    assert_eq!(tab.evaluate(&format!("({over})(true)")), wide);
    let sideways = "[...document.querySelectorAll('figure, #found, h1, .tiles')].filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.id)";
    assert_eq!(tab.evaluate(sideways), json!([]));
}

/// Captions are short, numbered in order, and name a text; figures can be taken away; a page that
/// is sent alone has no dead link.
#[test]
fn figures_have_numbers_captions_and_buttons() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    tab.looks(1400, "light");
    tab.open(&home.page());
    let numbers = tab.evaluate(
        "[...document.querySelectorAll('.of-figure, figcaption > b')].map((it) => Number(it.textContent.match(/^Figure (\\d+)/)[1]))",
    );
    let numbers: Vec<u64> = numbers.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let captions = tab.evaluate(
        "[...document.querySelectorAll('figcaption')].map((it) => { const copy = it.cloneNode(true); \
         copy.querySelectorAll('b, details, .take').forEach((part) => part.remove()); return copy.textContent.trim(); })",
    );
    let names: Vec<&str> = home.study.groups.iter().map(|group| group.corpus.as_str()).collect();
    for caption in captions.as_array().unwrap().iter().filter_map(Value::as_str) {
        assert!(caption.split_whitespace().count() <= 40, "{caption}");
        assert!(names.iter().any(|name| caption.contains(name)), "no text is named: {caption}");
    }
    let away = "[...document.querySelectorAll('a[href]')].map((it) => it.getAttribute('href')).filter((to) => !to.startsWith('#'))";
    assert_eq!(tab.evaluate(away), json!([]));
    // What the buttons hand over, without a clipboard: drawing and numbers are those of the figure.
    let figures = tab.evaluate("document.querySelectorAll('figure').length");
    assert_eq!(
        tab.evaluate("document.querySelectorAll('figure .take button').length"),
        3 * figures.as_u64().unwrap()
    );
    let stem = tab.text("document.querySelector('figure').id");
    let csv =
        std::fs::read_to_string(home.folder.path().join(format!("figures/{stem}.csv"))).unwrap();
    assert_eq!(tab.text("document.querySelector('figure .csv').textContent"), csv);
    assert_eq!(tab.heard.errors, Vec::<String>::new());
}

/// On paper the figure that moves stands still, and what is folded is open.
#[test]
fn the_page_prints() {
    let Some(mut browser) = browser() else { return };
    let home = Home::get();
    let mut tab = browser.tab();
    tab.looks(1000, "dark");
    tab.open(&home.page());
    let closed = "document.querySelectorAll('details:not([open], .bulk)').length";
    let before = tab.evaluate(closed);
    let printed = tab.ask("Page.printToPDF", json!({"printBackground": true}));
    assert!(printed["data"].as_str().unwrap().len() > 100_000);
    assert!(before.as_u64().unwrap() > 0);
    assert_eq!(tab.evaluate(closed), before, "folded again");
    tab.ask("Emulation.setEmulatedMedia", json!({"media": "print"}));
    assert_eq!(tab.text("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    assert_eq!(tab.evaluate("document.querySelector('.slider').checkVisibility()"), false);
    assert_eq!(tab.evaluate("document.getElementById('explore-figure').checkVisibility()"), true);
    // The first figure is on the first sheet: 250 mm of it, at 96 pixels an inch.
    let bottom =
        "document.getElementById('explore-figure').getBoundingClientRect().bottom + scrollY";
    assert!(tab.evaluate(bottom).as_f64().unwrap() < 945.0);
}
