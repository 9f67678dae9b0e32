//! What a report makes of a folder: any subset of results, their figures by number, and files that
//! are not what they seem.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use relscale_laws::Saved as _;
use relscale_report::{Options, ReportError, ReportFiles, Results, render};
use support::sources::{Sources, stated};
use support::{SIZES, TEXTS, others};

fn report(folder: &Path) -> ReportFiles {
    render(&Results::read(folder).unwrap(), folder, &Options::default()).unwrap()
}

fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_figure_of_the_other_results_has_its_numbers() {
    let home = tempfile::tempdir().unwrap();
    others::save_all(home.path());
    let files = report(home.path());
    assert_eq!(
        names(&files.numbers),
        [
            "absolute--relative.csv",
            "gap--relative.csv",
            "slopes--relative.csv",
            "covariate--relative.csv",
            "gap-by-k--relative.csv",
            "absolute--relative-steep.csv",
            "gap--relative-steep.csv",
            "slopes--relative-steep.csv",
            "cases--relative.csv",
            "choices--choices--ants--mmlu.csv",
            "formats--stages.csv",
            "stages--stages--modified.csv",
            "stages--stages--standard.csv",
            "size-tokens--size-tokens.csv",
            "isoflop--isoflop--all.csv",
            "optima--isoflop--all.csv",
            "left-out--isoflop--all.csv",
        ]
    );
    // Of figures that two results have one is enough.
    let twice = [
        "absolute--relative-steep.csv",
        "gap--relative-steep.csv",
        "slopes--relative-steep.csv",
        "cases--relative.csv",
    ];
    for file in &files.numbers {
        let name = file.file_name().unwrap().to_str().unwrap();
        if !twice.contains(&name) {
            support::golden(name, &support::rounded(&fs::read_to_string(file).unwrap()));
        }
    }
    // A table of several results is the tables of each, with the file before every row.
    let read = |name: &str| fs::read_to_string(home.path().join("figures").join(name)).unwrap();
    let (cases, gap) = (read("cases--relative.csv"), read("gap--relative.csv"));
    for row in gap.lines().skip(1) {
        assert!(cases.contains(&format!("relative,{row}\n")), "{row}");
    }
}

#[test]
fn drawings_of_the_other_results_hold_every_point_and_nothing_infinite() {
    let home = tempfile::tempdir().unwrap();
    others::save_all(home.path());
    for file in &report(home.path()).figures {
        let svg = fs::read_to_string(file).unwrap();
        assert!(svg.starts_with("<svg role=\"img\" aria-label=\""), "{}", file.display());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", file.display());
    }
    let read = |name: &str| fs::read_to_string(home.path().join("figures").join(name)).unwrap();
    // Seven models on five varieties; on four of them seven gaps and a prediction.
    assert_eq!(read("absolute--relative.svg").matches("<title>").count(), 35);
    let gap = read("gap--relative.svg");
    assert_eq!(gap.matches("<title>").count(), 4 * (7 + 1));
    for verdict in
        ["closes", "widens", "parallel", "undecided", "extrapolation", "G, E over that of usa"]
    {
        assert!(gap.contains(verdict), "{verdict}");
    }
    // Four treatments, and the baseline is none.
    assert_eq!(read("slopes--relative.svg").matches("<title>").count(), 4);
    assert_eq!(read("covariate--relative.svg").matches("<title>").count(), 4);
    assert_eq!(read("gap-by-k--relative.svg").matches("<title>").count(), 12);
    // Three budgets of seven runs and a minimum, along both axes.
    assert_eq!(read("isoflop--isoflop--all.svg").matches("<title>").count(), 2 * 3 * 8);
}

#[test]
fn forty_treatments_are_told_apart_by_their_rows() {
    let home = tempfile::tempdir().unwrap();
    let fit = others::many_treatments();
    fit.save(&home.path().join("relative.json")).unwrap();
    report(home.path());
    let read = |name: &str| fs::read_to_string(home.path().join("figures").join(name)).unwrap();
    let (slopes, gap) = (read("slopes--relative.svg"), read("gap--relative.svg"));
    for number in 0..40 {
        let subject = format!("subject {number:02}");
        assert!(slopes.contains(&format!(">{subject}<")), "{subject}");
        // In the other figure a pointer tells it; beside the axes there is no room.
        assert!(!gap.contains(&format!(">{subject}<")) && gap.contains(&subject), "{subject}");
    }
}

#[test]
fn what_a_folder_lacks_is_named_with_the_command_that_makes_it() {
    let home = tempfile::tempdir().unwrap();
    others::relative(home.path()).save(&home.path().join("relative.json")).unwrap();
    let files = report(home.path());
    let page = fs::read_to_string(&files.page).unwrap();
    for reason in [
        "relscale fit STUDY",
        "relscale choices STUDY",
        "relscale stages --table",
        "relscale size-tokens STUDY",
        "relscale sweep fit SWEEP",
        "relative-NAME.json",
    ] {
        assert!(page.contains(reason), "{reason}");
    }
    assert!(!page.contains("relscale relative STUDY --baseline NAME makes it"));
    // The figures that are there stand on a page without laws.
    assert!(page.contains("Bits per byte by variety, against S"), "no figure on the page");
}

/// Each result that is no relative law has a table of its laws, and every number in it is in the
/// file it names.
#[test]
fn laws_of_the_other_results_stand_in_tables() {
    let home = tempfile::tempdir().unwrap();
    others::save_all(home.path());
    let page = fs::read_to_string(report(home.path()).page).unwrap();
    let text = support::read(&page);
    for title in [
        "Questions of mmlu under ants",
        "bpb to acc, in two stages, against flops",
        "loss along size and along tokens, gaps to web",
        "Optima of all as A · C^a",
        "The surface of all, E + A · N^-alpha + B · D^-beta",
        "Whether the methods agree on all",
    ] {
        assert!(text.contains(title), "{title}");
    }
    // Of every file, and none of another kind: as many as the rows have.
    let mut sources = Sources::read(home.path());
    // There are no rank laws here, of which the page says so.
    let mut all = stated(&page);
    all.retain(|one| !one.source.starts_with("laws.json#"));
    all.iter().for_each(|one| sources.check(one));
    let in_file = |start: &str| all.iter().filter(|one| one.source.starts_with(start)).count();
    // Three models, two formats of two domains: items, chance, two means with their intervals.
    assert_eq!(in_file("choices.json#/groups/0/models"), 12 * (2 + 2 * 3));
    // R² and points of four curves of two groups, besides the parameters.
    assert!(in_file("stages.json#/groups/1/curves/accuracy/parameters/0/estimate") >= 3);
    assert!(in_file("size-tokens.json#/distributions/1/gap/along_size/slope") >= 3);
    assert!(in_file("isoflop.json#/groups/0/paths/0/params/exponent") >= 5);
    assert!(in_file("isoflop.json#/groups/0/surfaces/0/outcome/alpha") >= 3);
    assert!(in_file("isoflop.json#/groups/0/agreement") >= 4);
}

#[test]
fn any_subset_makes_a_page() {
    let full = tempfile::tempdir().unwrap();
    others::save_all(full.path());
    let all = ["relative", "relative-steep", "choices", "stages", "size-tokens", "isoflop"];
    for one in all {
        let home = tempfile::tempdir().unwrap();
        let name = format!("{one}.json");
        fs::copy(full.path().join(&name), home.path().join(&name)).unwrap();
        assert!(!report(home.path()).figures.is_empty(), "{one}");
    }
    let home = tempfile::tempdir().unwrap();
    let error = Results::read(home.path()).unwrap_err();
    assert!(matches!(error, ReportError::Nothing { .. }));
    assert!(
        error.to_string().contains("relscale fit") && error.to_string().contains("isoflop.json"),
        "{error}"
    );
}

#[test]
fn results_of_another_study_are_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    // A study of other models than those of the relative law.
    support::keep(home.path(), &support::family("bees", &SIZES[..3], &TEXTS[..1], 20));
    let path = home.path().join("relative.json");
    let mut fit = others::relative(home.path());
    fit.save(&path).unwrap();
    let error = Results::read(home.path()).unwrap_err();
    assert!(matches!(error, ReportError::Foreign { .. }), "{error}");
    let message = error.to_string();
    for word in ["relative.json", "m3136", "relscale relative", "another study"] {
        assert!(message.contains(word), "{message}");
    }
    // A table may hold any models.
    fit.files = vec!["points.csv".to_owned()];
    fit.save(&path).unwrap();
    assert_eq!(Results::read(home.path()).unwrap().relative.len(), 1);

    // Of another layout, and no result at all.
    fit.format = 9;
    fit.save(&path).unwrap();
    let message = Results::read(home.path()).unwrap_err().to_string();
    assert!(message.contains("relative.json") && message.contains("layout 9"), "{message}");
    fs::write(&path, "[]").unwrap();
    let message = Results::read(home.path()).unwrap_err().to_string();
    assert!(
        message.contains("relative.json") && message.contains("run `relscale relative` again"),
        "{message}"
    );
}

#[test]
fn figures_of_a_result_that_is_gone_go_too() {
    let home = tempfile::tempdir().unwrap();
    others::save_all(home.path());
    let before: BTreeSet<String> = names(&report(home.path()).figures).into_iter().collect();
    fs::remove_file(home.path().join("relative-steep.json")).unwrap();
    fs::remove_file(home.path().join("isoflop.json")).unwrap();
    let after: BTreeSet<String> = names(&report(home.path()).figures).into_iter().collect();
    let on_disk: BTreeSet<String> = fs::read_dir(home.path().join("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".svg"))
        .collect();
    assert_eq!(on_disk, after);
    assert!(before.len() > after.len() && !after.iter().any(|name| name.starts_with("isoflop")));
}
