//! `relscale report`: the page, its figures in three sizes and three forms, a PDF; or what is
//! missing for it.

mod common;

use std::fs;
use std::path::Path;

use common::Place;
use relscale_testkit::data::{BROWSER, skipped};
use relscale_testkit::{MadeUpFamily, TinyModel, made_up_study};

fn fitted() -> Place {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    assert_eq!(place.run(&["fit", "study", "--resamples", "100"]).code, Some(0));
    place
}

/// Width and height of a PNG, from its header.
fn pixels(path: &Path) -> (u32, u32) {
    let bytes = fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n", "{}", path.display());
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn the_page_is_written_and_its_place_told() {
    let place = fitted();
    let outcome = place.run(&["report", "study"]);
    outcome.shows("report");
    let page = fs::read_to_string(place.path("study/report.html")).unwrap();
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
    for figure in ["gap--relative", "gap-by-k--relative", "gap--relative-ranks", "cases--relative"]
    {
        assert!(place.path(&format!("study/figures/{figure}.csv")).exists(), "{figure}");
    }
    fs::write(place.path("study/relative.json"), "{\"format\": 9}").unwrap();
    place.run(&["report", "study"]).refuses(3, &["relative.json", "run `relscale relative` again"]);
}

#[test]
fn figures_are_as_large_as_their_style() {
    let place = fitted();
    let figure =
        |ending: &str| place.path("study/figures").join(format!("greedy--made-up.{ending}"));
    for (style, width, pixels_wide) in [
        ("column", "width=\"3.35in\"", 2010),
        ("two-column", "width=\"7in\"", 4200),
        ("page", "width=\"900\"", 1800),
        ("talk", "width=\"1280\"", 1920),
    ] {
        let outcome = place.run(&["report", "study", "--style", style]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
        let svg = fs::read_to_string(figure("svg")).unwrap();
        assert!(svg.contains(width), "{style}: {}", &svg[..300]);
        let (wide, high) = pixels(&figure("png"));
        assert!(wide.abs_diff(pixels_wide) <= 1 && high > wide / 4, "{style}: {wide} x {high}");
        assert!(fs::read_to_string(figure("csv")).unwrap().starts_with("family,"));
    }
    place.run(&["report", "study", "--style", "poster"]).refuses(2, &["poster", "column"]);
}

#[test]
fn without_results_it_says_how_to_get_them() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    place.run(&["report", "study"]).refuses(3, &["laws.json", "relscale fit"]);
    fs::write(place.path("study/laws.json"), "{}").unwrap();
    place.run(&["report", "study"]).refuses(3, &["laws.json", "run `relscale fit` again"]);
}

/// A converter that this test writes: what `--pdf` does with the programs that it finds.
#[test]
#[cfg(unix)]
fn a_pdf_by_what_is_on_the_path() {
    use std::os::unix::fs::PermissionsExt;
    let place = fitted();
    let program = |name: &str, script: &str| {
        let path = place.path("bin").join(name);
        fs::create_dir_all(place.path("bin")).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let report = |path: &str| {
        let output =
            place.command(&["report", "study", "--pdf"]).env("PATH", path).output().unwrap();
        (output.status.code(), place.redact(&output.stdout), place.redact(&output.stderr))
    };
    let bin = place.path("bin").display().to_string();
    let (code, _, err) = report(&bin);
    assert_eq!(code, Some(3), "{err}");
    assert!(
        err.contains("no program that makes a PDF") && err.contains("install chromium"),
        "{err}"
    );
    assert!(place.path("study/report.html").is_file(), "the page is there all the same");

    program("wkhtmltopdf", "echo 'no display' >&2; exit 1");
    let (code, _, err) = report(&bin);
    assert_eq!(code, Some(1), "{err}");
    assert!(
        err.contains("wkhtmltopdf") && err.contains("no display") && err.contains("print it"),
        "{err}"
    );

    // The better one is tried first; it is given the page's whole path.
    program("weasyprint", r#"case "$1" in /*report.html) printf '%%PDF-1.7' > "$2";; esac"#);
    let (code, out, err) = report(&bin);
    assert_eq!((code, out.as_str()), (Some(0), "study/report.html\nstudy/report.pdf\n"), "{err}");
    assert_eq!(fs::read(place.path("study/report.pdf")).unwrap(), b"%PDF-1.7");
    assert!(!place.path("study/report.pdf.tmp").exists());
}

#[test]
fn a_pdf_by_a_real_browser() {
    let there = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join("chromium").is_file())
    });
    if !there {
        return skipped(BROWSER, "there is no chromium on the PATH");
    }
    let place = fitted();
    let outcome = place.run(&["report", "study", "--pdf"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let pdf = fs::read(place.path("study/report.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 50_000, "{} bytes", pdf.len());
}

/// "To do it again" is what was given: pasted in another place with the same inputs, it gives the
/// same results, byte for byte.
#[cfg(unix)]
#[test]
fn what_the_page_says_to_do_again_gives_the_same() {
    let make = |place: &Place| {
        for (number, width) in [8, 16, 24].into_iter().enumerate() {
            let model = TinyModel { width, seed: number as u64, ..TinyModel::default() };
            place.model(&format!("tiny {width}"), &model);
        }
        place.prose();
        place.text(
            "code's.txt",
            "fn rank(row: &[f32]) -> usize {\n    row.len()\n}\n\nlet k = 10;\n",
        );
    };
    let (first, again) = (Place::new(), Place::new());
    [&first, &again].into_iter().for_each(make);
    for arguments in [
        &[
            "measure",
            "--model",
            "models",
            "--corpus",
            "prose.txt",
            "--tokens",
            "60",
            "--out",
            "a study",
        ][..],
        &[
            "measure",
            "--model",
            "models",
            "--corpus",
            "code's.txt",
            "--stride",
            "9",
            "--length",
            "20",
            "--out",
            "a study",
        ],
        &["fit", "a study", "--resamples", "100"],
        &["fit", "a study", "--resamples", "200", "--seed", "5"],
        &["relative", "a study", "--baseline", "prose"],
        &["report", "a study"],
    ] {
        let outcome = first.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.screen());
    }
    let page = fs::read_to_string(first.path("a study/report.html")).unwrap();
    let shown = page.split("<pre id=\"again\"><code>").nth(1).unwrap().split("</code>").next();
    let shown = shown.unwrap().replace("&#x27;", "'").replace("&quot;", "\"").replace("&lt;", "<");
    let script = shown.replace("&gt;", ">").replace("&amp;", "&");
    assert_eq!(script.lines().filter(|line| line.contains(" fit ")).count(), 1, "{script}");
    let program = Path::new(env!("CARGO_BIN_EXE_relscale"));
    let output = std::process::Command::new("bash")
        .args(["-euc", &script])
        .current_dir(again.path(""))
        .env("PATH", format!("{}:/usr/bin:/bin", program.parent().unwrap().display()))
        .env("HF_HUB_OFFLINE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    let results = |place: &Place| {
        ["laws.json", "relative.json", "study.json"]
            .map(|name| fs::read(place.path("a study").join(name)).unwrap())
    };
    assert!(results(&first) == results(&again));
}
