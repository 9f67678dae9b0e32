//! Two stages: the OLMo ladder against scipy, known truths, coverage of the intervals, refusals
//! with file and line.

#![allow(clippy::print_stderr)] // says what was covered

mod support;

use relscale_laws::Saved as _;
use relscale_laws::tables::Select;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use relscale_laws::two_stage::{HeldOut, StagesOptions, fit_stages};
use relscale_laws::{FlagCode, Route, StagesGroup};
use relscale_testkit::data::published;
use support::random::Random;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

/// What scipy 1.17.1 finds for a task, by `tools/goldens/two_stage.py`.
struct ByScipy {
    task: &'static str,
    /// alpha and floor.
    first: [f64; 2],
    /// Rate, midpoint and upper limit.
    second: [f64; 3],
    /// Mean relative error of the held-out losses.
    loss_error: f64,
    /// Mean errors of accuracy by second stage, both stages, power law, sigmoid.
    errors: [f64; 4],
    /// R² of the parabola over all points.
    quadratic: f64,
}

const BY_SCIPY: [ByScipy; 4] = [
    ByScipy {
        task: "stem",
        first: [0.114_289_2, 0.905_790_71],
        second: [4.039_678_66, 1.038_240_85, 1.0],
        loss_error: 0.013_187_323_666,
        errors: [0.004_396_602_472, 0.005_539_573_559, 0.017_686_393_831, 0.013_601_168_942],
        quadratic: 0.993_635_301_848,
    },
    ByScipy {
        task: "humanities",
        first: [0.128_046_48, 0.338_570_79],
        second: [11.005_835_21, 0.681_019_14, 0.390_325_22],
        loss_error: 0.008_605_131_167,
        errors: [0.003_807_630_579, 0.003_395_369_548, 0.012_372_595_156, 0.007_686_366_355],
        quadratic: 0.995_781_957_778,
    },
    ByScipy {
        task: "social_sciences",
        first: [0.107_986_99, 0.357_413_96],
        second: [3.687_210_5, 0.415_981_26, 1.0],
        loss_error: 0.007_731_485_624,
        errors: [0.012_910_472_187, 0.014_962_932_593, 0.023_182_580_811, 0.005_117_296_809],
        quadratic: 0.992_275_434_944,
    },
    ByScipy {
        task: "other",
        first: [0.099_262_54, 0.291_203_53],
        second: [3.369_705_98, 0.658_114_6, 1.0],
        loss_error: 0.012_821_985_952,
        errors: [0.009_008_507_032, 0.003_567_420_730, 0.019_005_307_116, 0.004_438_840_185],
        quadratic: 0.993_373_056_395,
    },
];

/// The 20 runs of the ladder, 1 to 10 times Chinchilla, as a long table.
fn ladder(place: &Place) -> PathBuf {
    let text = fs::read_to_string(published("olmo-ladder/final.tsv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let mut table = "run,size,params,tokens,task,loss,acc\n".to_owned();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let run = cells[at("run")];
        if run.contains("rerun") || run.ends_with("-0.5xC") {
            continue;
        }
        for ByScipy { task, .. } in BY_SCIPY {
            let [size, params, tokens] = ["size", "params", "tokens"].map(|name| cells[at(name)]);
            let loss = cells[at(&format!("mmlu_{task}_test_bpb"))];
            let accuracy = cells[at(&format!("mmlu_{task}_test_acc"))];
            writeln!(table, "{run},{size},{params},{tokens},{task},{loss},{accuracy}").unwrap();
        }
    }
    place.file("ladder.csv", &table)
}

#[test]
fn the_olmo_ladder_with_its_largest_size_held_out() {
    let place = Place::new();
    let path = ladder(&place);
    let fit = fit_stages(
        &path,
        &StagesOptions {
            select: Select {
                group: vec!["task".to_owned()],
                ..StagesOptions::new("6*params*tokens", "loss", "acc").select
            },
            held_out: HeldOut::Where("size".to_owned(), "3B".to_owned()),
            chance: Some(0.25),
            ..StagesOptions::new("6*params*tokens", "loss", "acc")
        },
    )
    .unwrap();
    assert_eq!(fit.groups.len(), 4);
    let close = |found: f64, expected: f64, tolerance: f64| {
        assert!((found / expected - 1.0).abs() < tolerance, "{found} for {expected}");
    };
    for ByScipy { task, first: [alpha, floor], second, loss_error, errors, quadratic } in BY_SCIPY {
        let group = fit.groups.iter().find(|group| group.name == task).unwrap();
        assert_eq!(group.points.len(), 20);
        close(group.predictability.quadratic.unwrap(), quadratic, 1e-9);
        assert!(group.predictability.quadratic_left_out.unwrap() < quadratic);
        let held_out = group.held_out.as_ref().unwrap();
        assert_eq!((held_out.points.len(), held_out.which.as_str()), (4, "size = 3B"));
        let first = held_out.curves.loss.fit().unwrap();
        close(first.parameter("alpha").unwrap().value, alpha, 1e-5);
        close(first.parameter("c").unwrap().value, floor, 1e-5);
        assert_eq!(first.points, 16);
        let curve = held_out.curves.accuracy.fit().unwrap();
        for (name, expected) in ["rate", "midpoint", "upper"].into_iter().zip(second) {
            close(curve.parameter(name).unwrap().value, expected, 1e-5);
        }
        // Where scipy's fit runs to a limit of 1, that is said.
        assert_eq!(
            second[2] == 1.0,
            curve.flags.iter().any(|flag| flag.code == FlagCode::AtBound),
            "{task}"
        );
        close(held_out.loss_error.unwrap(), loss_error, 1e-5);
        for (route, expected) in Route::ALL.into_iter().zip(errors) {
            close(held_out.route(route).unwrap().mean_absolute, expected, 1e-4);
        }
        assert!(group.verdict.contains("both together miss it"), "{}", group.verdict);
    }
    let json: relscale_laws::StagesFit = serde_json::from_str(&fit.to_json().unwrap()).unwrap();
    assert_eq!(json, fit);
}

/// Loss and accuracy at x of a world whose laws are known.
fn truth(x: f64) -> (f64, f64) {
    let loss = 40.0 * x.powf(-0.1) + 0.4;
    (loss, 0.25 + 0.6 / (1.0 + (7.0 * (loss - 0.75)).exp()))
}

const X: [f64; 12] = [1e18, 2e18, 5e18, 1e19, 2e19, 5e19, 1e20, 2e20, 5e20, 1e21, 2e21, 1e22];

fn table(points: impl Iterator<Item = (f64, f64, f64)>) -> String {
    points.fold("flops,bpb,acc\n".to_owned(), |mut text, (x, loss, accuracy)| {
        writeln!(text, "{x},{loss},{accuracy}").unwrap();
        text
    })
}

fn only(path: &Path, options: &StagesOptions) -> StagesGroup {
    fit_stages(path, options).unwrap().groups.remove(0)
}

#[test]
fn a_known_truth_comes_back_in_any_unit_of_x() {
    let place = Place::new();
    for unit in [1.0, 1e18] {
        let points = X.iter().map(|&x| (x / unit, truth(x).0, truth(x).1));
        let options = StagesOptions {
            chance: Some(0.25),
            at: vec![1e23 / unit],
            ..StagesOptions::new("flops", "bpb", "acc")
        };
        let group = only(&place.file("points.csv", &table(points)), &options);
        let value = |outcome: &relscale_laws::Outcome<relscale_laws::StageCurve>, name: &str| {
            outcome.fit().unwrap().parameter(name).unwrap().value
        };
        let curves = &group.curves;
        assert!((value(&curves.loss, "alpha") - 0.1).abs() < 1e-6);
        assert!((value(&curves.loss, "c") - 0.4).abs() < 1e-5);
        assert!((value(&curves.accuracy, "rate") - 7.0).abs() < 1e-4);
        assert!((value(&curves.accuracy, "upper") - 0.85).abs() < 1e-5);
        assert_eq!(value(&curves.accuracy, "lower"), 0.25);
        // The curves as they are drawn: from the smallest x to the one asked for, and through the
        // prediction there.
        let drawn = curves.traces.route(Route::Chain).unwrap();
        let (first, last) = (drawn.first().unwrap(), drawn.last().unwrap());
        assert_eq!((first.x, last.x), (X[0] / unit, 1e23 / unit));
        assert_eq!(last.value, group.ahead[0].accuracy[0].accuracy.value);
        for (point, loss) in drawn.iter().zip(&curves.traces.loss) {
            assert!((point.value - truth(point.x * unit).1).abs() < 1e-4, "{}", point.x);
            assert!((loss.value - truth(loss.x * unit).0).abs() < 1e-4, "{}", loss.x);
        }
        let held_out = group.held_out.unwrap();
        assert_eq!((held_out.points.len(), held_out.points[0].label.as_str()), (1, "line 13"));
        assert!(held_out.route(Route::Chain).unwrap().mean_absolute < 1e-5);
        // The direct forms are wrong here.
        assert!(held_out.route(Route::DirectPower).unwrap().mean_absolute > 1e-3);
        let ahead = &group.ahead[0];
        assert!((ahead.decades_beyond - 1.0).abs() < 1e-9);
        assert!((ahead.accuracy[0].accuracy.value - truth(1e23).1).abs() < 1e-4);
    }
}

/// Share of held-out accuracies inside the 95 % intervals of second stage and chain.
fn coverage(worlds: u64) -> [f64; 2] {
    let place = Place::new();
    let options = StagesOptions { chance: Some(0.25), ..StagesOptions::new("flops", "bpb", "acc") };
    let mut covered = [0; 2];
    for world in 0..worlds {
        let mut random = Random(world);
        let points: Vec<(f64, f64, f64)> = X
            .iter()
            .map(|&x| {
                let loss = truth(x).0 * (0.01 * random.normal()).exp();
                let share = 0.25 + 0.6 / (1.0 + (7.0 * (loss - 0.75)).exp());
                (x, loss, (share + 0.008 * random.normal()).clamp(0.0, 1.0))
            })
            .collect();
        let group = only(&place.file("world.csv", &table(points.into_iter())), &options);
        let held_out = group.held_out.unwrap();
        for (count, route) in covered.iter_mut().zip([Route::SecondStage, Route::Chain]) {
            let errors = held_out.route(route).unwrap();
            assert_eq!(errors.with_interval, 1);
            *count += errors.covered;
        }
    }
    covered.map(|count| f64::from(count) / worlds as f64)
}

#[test]
fn intervals_of_held_out_accuracies_hold_them() {
    // 95 % of 60 worlds are 57 ± 1.7; three such are allowed.
    for share in coverage(60) {
        assert!(share >= 0.86, "{share}");
    }
}

/// `cargo test -p relscale-laws --test two_stage -- --ignored --nocapture`
#[test]
#[ignore = "a minute: the figure is in record/"]
fn coverage_over_many_worlds() {
    let [second, chain] = coverage(1000);
    eprintln!("second stage {second:.3}, chain {chain:.3}");
    assert!((0.92..=0.98).contains(&second) && (0.92..=0.98).contains(&chain));
}

#[test]
fn bad_numbers_are_refused_with_file_and_line() {
    let place = Place::new();
    let options = StagesOptions::new("flops", "bpb", "acc");
    let refuses = |text: &str, options: &StagesOptions, words: &[&str]| {
        let path = place.file("bad.csv", text);
        let said = fit_stages(&path, options).unwrap_err().to_string();
        for word in words {
            assert!(said.contains(word), "no `{word}` in: {said}");
        }
    };
    refuses(
        "flops,bpb,acc\n1e18,1,0.3\n1e19,0.9,45\n",
        &options,
        &["bad.csv, line 3", "`45`", "share"],
    );
    refuses("flops,bpb,acc\n1e18,0,0.3\n", &options, &["line 2: bpb is 0: it has no logarithm"]);
    refuses("flops,bpb,acc\n0,1,0.3\n", &options, &["line 2", "above 0"]);
    refuses("flops,bpb\n1e18,1\n", &options, &["no column `acc`", "flops, bpb"]);
    refuses("flops,bpb,acc\n", &options, &["no row"]);
    let good = "flops,bpb,acc\n1e18,1,0.3\n";
    refuses(good, &StagesOptions { chance: Some(25.0), ..options.clone() }, &["`chance` is 25"]);
    refuses(good, &StagesOptions { at: vec![0.0], ..options.clone() }, &["`at` is 0"]);
    refuses(good, &StagesOptions { level: 95.0, ..options.clone() }, &["`level` is 95"]);

    // Too few points are an answer, not a fault of the table.
    let group = only(&place.file("few.csv", good), &options);
    assert!(group.curves.loss.fit().is_none() && group.held_out.is_none());
    assert!(
        group.flags.iter().any(|flag| flag.message.contains("power law with floor")),
        "{:?}",
        group.flags
    );
    assert!(group.verdict.contains("too few"), "{}", group.verdict);
}

#[test]
fn an_accuracy_of_zero_has_no_place_in_the_power_law_and_is_named() {
    let place = Place::new();
    let mut points: Vec<(f64, f64, f64)> = X.iter().map(|&x| (x, truth(x).0, truth(x).1)).collect();
    points[0].2 = 0.0;
    let options = StagesOptions {
        held_out: HeldOut::Largest(3),
        ..StagesOptions::new("flops", "bpb", "acc")
    };
    let group = only(&place.file("zero.csv", &table(points.into_iter())), &options);
    assert_eq!(group.curves.direct_power.fit().unwrap().points, 11);
    assert_eq!(group.held_out.unwrap().points.len(), 3);
    let flag = group.flags.iter().find(|flag| flag.code == FlagCode::PointsLeftOut).unwrap();
    assert!(flag.message.contains("line 2"), "{}", flag.message);
}
