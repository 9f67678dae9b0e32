//! Subjects averaged into domains: by hand, and the accuracies of MMLU over the sizes of Pythia
//! against NumPy and SciPy.

use std::fs;
use std::path::{Path, PathBuf};

use relscale_laws::manifest::Manifest;
use relscale_laws::relative::{
    Means, Measurements, RelativeOptions, RelativeTable, Weighting, fit_relative, read_table,
};
use relscale_laws::tables::{Kind, Select};

use relscale_laws::{FlagCode, LawsError};
use relscale_testkit::data::published;

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

fn map(weighting: Weighting) -> Means {
    let members =
        [("algebra", "stem", 100.0), ("anatomy", "stem", 300.0), ("law", "humanities", 1.0)];
    let members =
        members.map(|(member, group, weight)| (member.to_owned(), group.to_owned(), weight));
    Means::new("a map", "mmlu_", members, weighting).unwrap()
}

fn options(kind: Kind, means: Means) -> RelativeTable {
    RelativeTable {
        select: Select {
            kinds: vec![kind],
            distribution: Some("task".to_owned()),
            ..Select::new(&["params"], &["value"])
        },
        means: Some(means),
        ..RelativeTable::default()
    }
}

/// The errors of the models of a group, smallest first.
fn errors(found: &Measurements, group: &str) -> Vec<f64> {
    let series =
        found.families[0].series.iter().find(|series| series.distribution == group).unwrap();
    series.points.iter().map(|point| point.error).collect()
}

const HEAD: &str = "model,params,task,value\n";

#[test]
fn shares_are_weighted_by_questions_and_losses_are_not() {
    let place = Place::new();
    let rows = "a,1,mmlu_algebra,0.2\na,1,anatomy,0.6\na,1,mmlu_law,0.5\na,1,piqa,0.7\n";
    let table = place.file("t.csv", &format!("{HEAD}{rows}"));
    let of = |kind, weighting| read_table(&table, &options(kind, map(weighting))).unwrap();
    // 100 questions at 0.2 and 300 at 0.6: 0.5 of 400. Unweighted 0.4.
    for (kind, weighting, stem) in [
        (Kind::Accuracy, Weighting::Shares, -(0.5_f64.ln())),
        (Kind::Accuracy, Weighting::Even, -(0.4_f64.ln())),
        (Kind::Wrong, Weighting::Shares, 0.5),
        (Kind::Bpb, Weighting::Shares, 0.4),
        (Kind::Bpb, Weighting::Weighted, 0.5),
    ] {
        let found = of(kind, weighting);
        let error = errors(&found, "stem")[0];
        assert!((error - stem).abs() < 1e-15, "{kind} {weighting:?}: {error}");
        // What is in no group takes no part, and that is said.
        assert_eq!(found.families[0].series.len(), 2);
        let flag = &found.families[0].flags[0];
        assert_eq!(flag.code, FlagCode::PointsLeftOut);
        assert!(
            flag.message.contains("1 distributions are in no group of a map")
                && flag.message.contains("piqa")
        );
    }
    assert_eq!(of(Kind::Accuracy, Weighting::Shares).error, "-ln value, weighted means by a map");
    assert_eq!(of(Kind::Bpb, Weighting::Shares).error, "value, unweighted means by a map");
}

#[test]
fn a_mean_is_of_the_same_members_for_all_models() {
    let place = Place::new();
    let rows = "a,1,algebra,0.2\na,1,anatomy,0.6\na,1,law,0.5\nb,2,algebra,0.3\nb,2,law,0.4\n";
    let table = place.file("t.csv", &format!("{HEAD}{rows}"));
    let found = read_table(&table, &options(Kind::Accuracy, map(Weighting::Shares))).unwrap();
    let stem =
        found.families[0].series.iter().find(|series| series.distribution == "stem").unwrap();
    assert_eq!((stem.points.len(), stem.left_out.len()), (1, 1));
    assert_eq!(
        (stem.left_out[0].label.as_str(), stem.left_out[0].reason.as_str()),
        ("b", "no value of anatomy")
    );
    assert_eq!(errors(&found, "humanities").len(), 2);

    // A member that no model has is told of, and the mean is of the others.
    let table = place.file("t.csv", &format!("{HEAD}a,1,algebra,0.2\na,1,law,0.5\n"));
    let found = read_table(&table, &options(Kind::Accuracy, map(Weighting::Shares))).unwrap();
    let flag = &found.families[0].flags[0];
    assert_eq!(flag.code, FlagCode::MembersMissing);
    assert!(
        flag.message.contains("1 of the 3 members of a map have no row")
            && flag.message.contains("anatomy")
    );
}

#[test]
fn maps_from_files_and_what_is_refused() {
    let place = Place::new();
    let table = place.file("t.csv", &format!("{HEAD}a,1,x,0.2\na,1,y,0.6\na,1,z,0.5\n"));
    let file = place.file("map.tsv", "task\tgroup\titems\nx\tone\t1\ny\tone\t3\nz\ttwo\t9\n");
    let of =
        |means: Means| errors(&read_table(&table, &options(Kind::Bpb, means)).unwrap(), "one")[0];
    assert!((of(Means::read(&file, None).unwrap()) - 0.4).abs() < 1e-15);
    assert!((of(Means::read(&file, Some("items")).unwrap()) - 0.5).abs() < 1e-15);

    let refused = |result: Result<Means, LawsError>, words: &[&str]| {
        let said = result.unwrap_err().to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
    };
    refused(Means::read(&file, Some("weight")), &["no column `weight`", "task, group, items"]);
    let twice = place.file("twice.csv", "task,group\nx,one\nx,two\n");
    refused(Means::read(&twice, None), &["twice.csv, line 3", "`x`", "no earlier row"]);
    let zero = place.file("zero.csv", "task,group,w\nx,one,0\n");
    refused(Means::read(&zero, Some("w")), &["zero.csv, line 2", "above 0"]);
    refused(Means::read(&place.file("one.csv", "task\nx\n"), None), &["line 2", "one column"]);
    let none = [("m".to_owned(), "g".to_owned(), 0.0)];
    refused(Means::new("a map", "", none, Weighting::Even), &["`weight` is 0 for m"]);

    let refused = |rows: &str, options: &RelativeTable, words: &[&str]| {
        let table = place.file("bad.csv", &format!("{HEAD}{rows}"));
        let said = read_table(&table, options).unwrap_err().to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
    };
    let shares = || options(Kind::Accuracy, map(Weighting::Shares));
    // Two metrics in one table, and no condition that chooses one.
    refused(
        "a,1,law,0.2\na,1,law,0.3\n",
        &shares(),
        &["bad.csv", "2 times, in line 2 and line 3", "--where"],
    );
    refused(
        "a,1,law,0.2\na,1,mmlu_law,0.3\n",
        &shares(),
        &["bad.csv, line 3", "one row", "--where"],
    );
    refused("a,1,law,20\n", &shares(), &["line 2", "a share from 0 to 1"]);
    refused("a,1,piqa,0.2\n", &shares(), &["no distribution `of a map`", "there are: piqa"]);
    let wide =
        RelativeTable { select: Select { distribution: None, ..shares().select }, ..shares() };
    refused("a,1,law,0.2\n", &wide, &["`means` is without a column of distributions"]);
}

/// `tools/goldens/mmlu_domains.py`: means of the eight sizes, weighted by questions.
const MEANS: [(&str, [f64; 8]); 4] = [
    (
        "humanities",
        [
            0.249946851,
            0.240382594,
            0.256748138,
            0.252922187,
            0.258235851,
            0.255472895,
            0.266312324,
            0.262486623,
        ],
    ),
    (
        "other",
        [
            0.267138576,
            0.247183755,
            0.259414308,
            0.264885772,
            0.273253844,
            0.274219499,
            0.295783683,
            0.288059214,
        ],
    ),
    (
        "social_sciences",
        [
            0.264543360,
            0.257068655,
            0.260643511,
            0.267468360,
            0.272993132,
            0.263243461,
            0.284042987,
            0.276893070,
        ],
    ),
    (
        "stem",
        [
            0.233745722,
            0.231525591,
            0.234697125,
            0.239771721,
            0.245480454,
            0.249603468,
            0.264509969,
            0.245797696,
        ],
    ),
];

/// The same script: slope of ln G against stem, its standard error and the lower end of its
/// interval, of -ln accuracy and of 1 - accuracy.
const SLOPES: [(Kind, &str, [f64; 3]); 6] = [
    (Kind::Accuracy, "humanities", [0.0030970181, 0.0033086548, -0.0049989685]),
    (Kind::Accuracy, "other", [-0.0041012909, 0.0037537730, -0.0132864425]),
    (Kind::Accuracy, "social_sciences", [0.0029672092, 0.0029945709, -0.0043602419]),
    (Kind::Wrong, "humanities", [0.0013188107, 0.0015287344, -0.0024218677]),
    (Kind::Wrong, "other", [-0.0023597093, 0.0018145856, -0.0067998404]),
    (Kind::Wrong, "social_sciences", [0.0011082471, 0.0014071524, -0.0023349308]),
];

#[test]
fn the_domains_of_mmlu_over_the_sizes_of_pythia() {
    let table = published("pythia/evaluations.tsv");
    let categories = fs::read_to_string(published("mmlu/categories.tsv")).unwrap();
    let place = Place::new();
    // Subject, domain by lm-evaluation-harness, questions; the program has the same map built in.
    let rows: String = categories
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|row| format!("{}\t{}\t{}\n", row[0], row[3], row[2]))
        .map(|row| if row.starts_with("subject") { row } else { format!("mmlu_{row}") })
        .collect();
    let means = Means::read(&place.file("map.tsv", &rows), Some("test_items")).unwrap();
    let manifest =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/manifests/pythia.toml");
    assert_eq!(Manifest::read(&manifest).unwrap().models().len(), 8);
    let is = |column: &str, value: &str| (column.to_owned(), value.to_owned());
    for kind in [Kind::Accuracy, Kind::Wrong] {
        let options = RelativeTable {
            select: Select {
                only: vec![is("metric", "acc"), is("step", "143000")],
                models: Some(manifest.clone()),
                ..options(kind, means.clone()).select
            },
            ..options(kind, means.clone())
        };
        let found = read_table(&table, &options).unwrap();
        assert_eq!(found.x, "params (non-embedding)");
        for (domain, expected) in MEANS {
            let series = found.families[0]
                .series
                .iter()
                .find(|series| series.distribution == domain)
                .unwrap();
            let mut points: Vec<_> = series.points.iter().collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            assert_eq!(points.len(), 8, "{domain}");
            for (point, accuracy) in points.iter().zip(expected) {
                let error = if kind == Kind::Wrong { 1.0 - accuracy } else { -accuracy.ln() };
                assert!(
                    (point.error / error - 1.0).abs() < 1e-8,
                    "{domain} {}: {}",
                    point.model,
                    point.error
                );
            }
        }
        let fit = fit_relative(&found, &RelativeOptions::new("stem"), None).unwrap();
        for (_, domain, [slope, error, low]) in SLOPES.into_iter().filter(|(of, ..)| *of == kind) {
            let law = fit.families[0].gap(domain).unwrap().fit().unwrap();
            let found = &law.delta_beta;
            assert!((found.value - slope).abs() < 1e-9, "{kind} {domain}: {}", found.value);
            assert!((found.standard_error.unwrap() - error).abs() < 1e-9);
            assert!((found.bounds().unwrap().0 - low).abs() < 1e-8);
            // Zero-shot accuracies of these models are those of guessing: 0.23 to 0.30 among four
            // options.
            assert_eq!(law.trend.name(), "undecided");
        }
    }
}
