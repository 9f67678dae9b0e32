//! The numbers behind each figure, against tables that were looked at once; and what a figure does
//! without them.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use relscale_report::ReportFiles;
use support::{Runs, SIZES, TEXTS, golden, render, rounded};

fn report(folder: &Path, runs: &Runs) -> ReportFiles {
    support::keep(folder, runs);
    render(&support::laws(runs), folder).unwrap()
}

fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_numbers_of_every_figure_stand() {
    let home = tempfile::tempdir().unwrap();
    let mut runs = support::family("ants", &[3_136, 33_408, 311_040, 2_958_336], &TEXTS[..2], 40);
    // The largest model misses nothing at k = 2000 on its last text: a point that is left out.
    let (_, largest) = runs.last_mut().unwrap();
    let at = largest.k_grid.iter().position(|&k| k == 2_000).unwrap();
    for document in &mut largest.documents {
        document.hits[at] = document.scored;
    }
    let files = report(home.path(), &runs);
    assert_eq!(
        names(&files.numbers),
        [
            "greedy--ants.csv",
            "head--ants.csv",
            "tail--ants.csv",
            "fit-by-k--ants.csv",
            "exponent-by-k--ants.csv",
            "together--ants.csv",
            "residuals--ants.csv",
            "held-out--ants.csv",
            "audit--ants.csv",
            "noise-floor--ants.csv",
        ]
    );
    let page = fs::read_to_string(&files.page).unwrap();
    // Sequences, ranks and the order of hits were not counted: two questions, three figures each.
    assert_eq!(page.matches("<summary>3 figures left out").count(), 2);
    assert!(page.contains("no sequence of tokens was counted"));
    for file in &files.numbers {
        let text = fs::read_to_string(file).unwrap();
        golden(file.file_name().unwrap().to_str().unwrap(), &rounded(&text));
    }
}

#[test]
fn the_numbers_of_the_figures_of_rows_stand() {
    let home = tempfile::tempdir().unwrap();
    let runs = support::streamed("bees", &SIZES[..4], &TEXTS[..1], 30, 150);
    support::keep(home.path(), &runs);
    let laws = support::laws(&runs);
    let examples = support::examples(&laws, "pub fn ", "main");
    let files = support::render_with(&laws, examples, home.path()).unwrap();
    let shown = names(&files.numbers);
    for name in ["rank", "sequences", "sigmoids", "simulation", "ranks", "mu-sigma", "independence"]
    {
        let file = format!("{name}--bees.csv");
        assert!(shown.contains(&file), "{file} is not among {shown:?}");
        golden(
            &file,
            &rounded(&fs::read_to_string(home.path().join("figures").join(&file)).unwrap()),
        );
    }
    let page = fs::read_to_string(&files.page).unwrap();
    // What is left out are the figures of results that the folder does not hold, in a section of
    // their own.
    assert_eq!(
        page.matches("left out</summary>").count(),
        1,
        "every figure of the family has its data"
    );
    for file in &files.figures {
        let svg = fs::read_to_string(file).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", file.display());
    }
}

#[test]
fn families_stand_side_by_side_per_word_and_per_byte() {
    let home = tempfile::tempdir().unwrap();
    let runs = support::two_families(&SIZES[..4], &TEXTS[..1], 40);
    let files = report(home.path(), &runs);
    let (file, stem) = ("across-tokenizers--code.csv", "figures/across-tokenizers--code");
    assert!(names(&files.numbers).contains(&file.to_owned()), "{:?}", names(&files.numbers));
    let numbers = fs::read_to_string(home.path().join(format!("{stem}.csv"))).unwrap();
    golden(file, &rounded(&numbers));
    let svg = fs::read_to_string(home.path().join(format!("{stem}.svg"))).unwrap();
    // Three panels, in each a mark a model of either family.
    assert_eq!(svg.matches("<title>").count(), 3 * 8);
    for text in [
        ">ants<",
        ">bees<",
        "−ln RBP₁ of words",
        "−ln RBP₁₀ of words",
        "bits per byte",
        " words missed",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    let page = fs::read_to_string(&files.page).unwrap();
    for text in
        ["How do families compare?", "The laws per byte and per word", "Families side by side"]
    {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn drawings_hold_every_point_and_nothing_infinite() {
    let home = tempfile::tempdir().unwrap();
    let files = report(home.path(), &support::family("ants", &SIZES, &TEXTS, 40));
    for file in &files.figures {
        let svg = fs::read_to_string(file).unwrap();
        assert!(svg.starts_with("<svg role=\"img\" aria-label=\""), "{}", file.display());
        assert!(svg.contains("viewBox=\"0 0 900 "), "{}", file.display());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", file.display());
    }
    let greedy = fs::read_to_string(&files.figures[0]).unwrap();
    // A tooltip a mark: seven models on three texts.
    assert_eq!(greedy.matches("<title>").count(), 21);
    for text in [
        "code",
        "markdown",
        "prose",
        ">3k<",
        ">1M<",
        "−ln RBP₁ (nats)",
        "S, non-embedding parameters",
    ] {
        assert!(greedy.contains(text), "{text}");
    }
}

#[test]
fn corpora_keep_their_colours_over_families() {
    let home = tempfile::tempdir().unwrap();
    let mut runs = support::family("ants", &SIZES[..4], &TEXTS, 40);
    runs.extend(support::family("bees", &SIZES[..4], &TEXTS[1..], 40));
    let files = report(home.path(), &runs);
    let bees =
        files.figures.iter().find(|file| file.ends_with("figures/greedy--bees.svg")).unwrap();
    let svg = fs::read_to_string(bees).unwrap();
    // Markdown is the second corpus of the study, prose the third; code, the first, is not in this
    // family.
    assert!(svg.contains("#d55e00") && svg.contains("#009e73") && !svg.contains("#0072b2"));
}

#[test]
fn the_same_study_gives_the_same_bytes() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let runs = support::family("ants", &SIZES[..4], &TEXTS[..2], 40);
    let (a, b) = (report(one.path(), &runs), report(two.path(), &runs));
    let all = |files: &ReportFiles| {
        let paths = [&files.page].into_iter().chain(&files.figures).chain(&files.numbers);
        paths.map(|path| fs::read(path).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(all(&a), all(&b));
}

#[test]
fn figures_of_a_family_that_is_gone_go_too() {
    let home = tempfile::tempdir().unwrap();
    let ants = support::laws(&support::family("ants", &SIZES[..4], &TEXTS[..1], 40));
    let bees = support::laws(&support::family("bees", &SIZES[..4], &TEXTS[..1], 40));
    render(&ants, home.path()).unwrap();
    fs::write(home.path().join("figures/mine.svg"), "kept").unwrap();
    let files = render(&bees, home.path()).unwrap();
    let mut left: Vec<String> = fs::read_dir(home.path().join("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let mut wanted = names(&files.figures);
    wanted.extend(names(&files.images));
    wanted.extend(names(&files.numbers));
    wanted.push("mine.svg".into());
    wanted.sort();
    assert_eq!(left, wanted);
}

/// 23 models on four corpora with every figure: the largest study of the paper. Alone it takes as
/// long as all others:
///
///     cargo test -p relscale-report --test figures -- --ignored large
#[test]
#[ignore = "ten seconds: fits 92 runs"]
fn a_large_study_has_a_page_below_five_megabytes() {
    let home = tempfile::tempdir().unwrap();
    let sizes: Vec<u64> = (0..23).map(|at| (3_000.0 * 1.5f64.powi(at)) as u64).collect();
    let more = support::Text { name: "dialogue", level: 4.4, exponent: 0.1 };
    let texts: Vec<_> = TEXTS.into_iter().chain([more]).collect();
    let files = report(home.path(), &support::streamed("many", &sizes, &texts, 20, 120));
    let size = fs::metadata(&files.page).unwrap().len();
    assert!(size < 5_000_000, "{size} bytes");
}
