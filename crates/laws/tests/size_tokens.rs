//! Size against tokens: the Gemstones against NumPy, known truths with scatter that runs share,
//! refusals.

mod support;

use relscale_laws::Saved as _;
use relscale_laws::tables::Select;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens};
use relscale_laws::{Estimate, Plane, SizeTokensFit};
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

fn long(baseline: &str) -> SizeTokensTable {
    SizeTokensTable {
        select: Select {
            distribution: Some("distribution".to_owned()),
            ..Select::new(&["params", "tokens"], &["loss"])
        },
        baseline: baseline.to_owned(),
        level: 0.95,
    }
}

/// The mean losses of the MMLU subjects of each domain, 22 models after 10 to 350 billion tokens,
/// as a long table.
fn gemstones(place: &Place) -> PathBuf {
    let text = fs::read_to_string(published("gemstones/mmlu_domain_losses.tsv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    assert_eq!(header[..3], ["run", "params", "tokens"]);
    let mut table = "run,params,tokens,distribution,loss\n".to_owned();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        for (domain, loss) in header[3..].iter().zip(&cells[3..]) {
            writeln!(table, "{},{},{},{domain},{loss}", cells[0], cells[1], cells[2]).unwrap();
        }
    }
    place.file("gemstones.csv", &table)
}

/// Slopes of ln G against STEM along size and along tokens, each with its jackknife error:
/// `tools/goldens/size_tokens.py`, NumPy 2.4.6.
const BY_NUMPY: [(&str, [f64; 2], [f64; 2]); 3] = [
    ("humanities", [0.007_606_61, 0.002_011_81], [0.001_910_33, 0.001_837_47]),
    ("other", [-0.004_401_65, 0.001_792_36], [-0.002_838_14, 0.001_890_11]),
    ("social sciences", [-0.009_626_87, 0.001_874_72], [-0.002_839_30, 0.001_745_50]),
];

/// The same of ln loss of STEM along size.
const STEM_BY_SIZE: [f64; 2] = [-0.090_664_19, 0.003_270_26];

#[test]
fn in_the_gemstones_size_moves_the_gaps_of_mmlu_domains_and_tokens_are_not_shown_to() {
    let place = Place::new();
    let path = gemstones(&place);
    let fit = fit_size_tokens(&path, &long("STEM")).unwrap();
    assert_eq!((fit.sizes, fit.distributions.len()), (22, 4));
    let close = |found: &Estimate, [slope, error]: [f64; 2]| {
        assert!((found.value - slope).abs() < 1e-8, "{found:?}");
        assert!((found.standard_error.unwrap() - error).abs() < 1e-8, "{found:?}");
    };
    for (domain, by_size, by_tokens) in BY_NUMPY {
        let found = fit.distribution(domain).unwrap();
        assert_eq!(found.points, 770);
        let gap = found.gap.as_ref().unwrap();
        assert_eq!((gap.along_size.slices.len(), gap.along_tokens.slices.len()), (35, 22));
        let (size, tokens) =
            (gap.along_size.slope.as_ref().unwrap(), gap.along_tokens.slope.as_ref().unwrap());
        close(size, by_size);
        close(tokens, by_tokens);
        // Every size was seen after (nearly) the same tokens, so the plane has the same slopes.
        let Plane { size: plane_size, tokens: plane_tokens, .. } = gap.plane.fit().unwrap();
        assert!((plane_size.value - size.value).abs() < 1e-5);
        assert!((plane_tokens.value - tokens.value).abs() < 1e-5);
        assert!(
            found.verdict.contains("size moves the gap, and no effect of tokens is shown"),
            "{}",
            found.verdict
        );
    }
    let baseline = &fit.distributions[0];
    assert_eq!((baseline.name.as_str(), baseline.gap.is_none()), ("STEM", true));
    close(baseline.absolute.along_size.slope.as_ref().unwrap(), STEM_BY_SIZE);
    let json: SizeTokensFit = serde_json::from_str(&fit.to_json().unwrap()).unwrap();
    assert_eq!(json, fit);
}

#[test]
fn in_the_olmo_ladder_tokens_do_move_the_gap_of_code() {
    let text = fs::read_to_string(published("olmo-ladder/final.tsv")).unwrap();
    let kept = |line: &&str| {
        let run = line.split('\t').next().unwrap_or_default();
        !run.contains("rerun") && !run.ends_with("-0.5xC")
    };
    let lines: Vec<&str> = text.lines().filter(kept).collect();
    let place = Place::new();
    let options = SizeTokensTable {
        select: Select {
            y: vec!["loss_c4_en".to_owned(), "loss_dolma_stack".to_owned()],
            distribution: None,
            ..long("").select
        },
        baseline: "loss_c4_en".to_owned(),
        ..long("")
    };
    let fit = fit_size_tokens(&place.file("ladder.tsv", &lines.join("\n")), &options).unwrap();
    let gap = fit.distribution("loss_dolma_stack").unwrap().gap.as_ref().unwrap();
    // By NumPy: five slopes, their mean and its error; the plane by `lstsq`.
    let slope = gap.along_tokens.slope.as_ref().unwrap();
    assert!((slope.value + 0.033_602_537_334_822).abs() < 1e-12);
    assert!((slope.standard_error.unwrap() - 0.002_006_707_190_578).abs() < 1e-12);
    let Plane { size, tokens, .. } = gap.plane.fit().unwrap();
    assert!((size.value + 0.048_968_06).abs() < 1e-8 && (tokens.value + 0.033_601_28).abs() < 1e-8);
}

/// Eight sizes after 1 to 16 billion tokens, two distributions: `ln G` has slopes -0.02 along size
/// and 0.005 along tokens, and each size its own shift and its own slope along tokens, of all its
/// checkpoints.
fn world(seed: u64, scatter: f64, factor: f64) -> String {
    let mut random = Random(seed);
    let mut text = "params,tokens,distribution,loss\n".to_owned();
    for step in 0..8 {
        let size = 1e7 * 2.0_f64.powi(step);
        let (shift, bend) = (scatter * random.normal(), scatter * random.normal());
        for halving in 0..5 {
            let tokens = 1e9 * 2.0_f64.powi(halving);
            let base = 30.0 * size.powf(-0.1) * tokens.powf(-0.05);
            let log_gap = -0.02 * size.ln() + (0.005 + bend) * (tokens / 4e9).ln() + shift;
            let [size, tokens] = [size * factor, tokens * factor];
            writeln!(
                text,
                "{size},{tokens},base,{base}\n{size},{tokens},other,{}",
                base * log_gap.exp()
            )
            .unwrap();
        }
    }
    text
}

fn slopes(fit: &SizeTokensFit) -> [Estimate; 2] {
    let gap = fit.distribution("other").unwrap().gap.as_ref().unwrap();
    [gap.along_size.slope.clone().unwrap(), gap.along_tokens.slope.clone().unwrap()]
}

#[test]
fn known_slopes_come_back_in_any_unit() {
    let place = Place::new();
    for factor in [1.0, 1e-9] {
        let fit =
            fit_size_tokens(&place.file("t.csv", &world(1, 0.0, factor)), &long("base")).unwrap();
        let [size, tokens] = slopes(&fit);
        assert!((size.value + 0.02).abs() < 1e-12 && (tokens.value - 0.005).abs() < 1e-12);
        let gap = fit.distribution("other").unwrap().gap.as_ref().unwrap();
        assert_eq!((gap.along_size.slices.len(), gap.along_tokens.slices.len()), (5, 8));
        // 128 times the size, 16 times the tokens.
        assert!((gap.along_size.factor.unwrap() - 128.0_f64.powf(-0.02)).abs() < 1e-12);
        assert!((gap.along_tokens.factor.unwrap() - 16.0_f64.powf(0.005)).abs() < 1e-12);
    }
}

#[test]
fn intervals_allow_for_what_the_checkpoints_of_a_run_share() {
    let place = Place::new();
    let worlds = 300;
    let mut covered = [0; 2];
    for seed in 0..worlds {
        let fit =
            fit_size_tokens(&place.file("t.csv", &world(seed, 0.01, 1.0)), &long("base")).unwrap();
        for ((count, slope), truth) in covered.iter_mut().zip(slopes(&fit)).zip([-0.02, 0.005]) {
            let (low, high) = slope.bounds().unwrap();
            *count += u32::from(low <= truth && truth <= high);
        }
    }
    // 95 % of 300 are 285 ± 4. Taking checkpoints as independent would cover far less along size.
    for count in covered {
        assert!((270..=298).contains(&count), "{covered:?}");
    }
}

#[test]
fn runs_of_different_lengths_have_a_plane() {
    // Compute-optimal runs: no two sizes have as many tokens, none has three numbers of tokens.
    let place = Place::new();
    let mut text = "run,params,tokens,c4_loss,ice_loss\n".to_owned();
    for at in 0..5 {
        for ratio in [20.0, 100.0] {
            let size = 1e8 * 3.0_f64.powi(at);
            let tokens = size * ratio;
            let base = 30.0 * size.powf(-0.1) * tokens.powf(-0.05);
            let other = base * 2.0 * size.powf(-0.01) * tokens.powf(0.002);
            writeln!(text, "{at}-{ratio},{size},{tokens},{base},{other}").unwrap();
        }
    }
    let options = SizeTokensTable {
        select: Select {
            y: vec!["c4_loss".to_owned(), "ice_loss".to_owned()],
            distribution: None,
            ..long("").select
        },
        baseline: "c4_loss".to_owned(),
        ..long("")
    };
    let fit = fit_size_tokens(&place.file("t.csv", &text), &options).unwrap();
    let found = fit.distribution("ice_loss").unwrap();
    let gap = found.gap.as_ref().unwrap();
    assert!(gap.along_size.slope.is_none() && gap.along_tokens.slope.is_none());
    assert_eq!(found.flags.len(), 2);
    let Plane { size, tokens, .. } = gap.plane.fit().unwrap();
    assert!((size.value + 0.01).abs() < 1e-10 && (tokens.value - 0.002).abs() < 1e-10);
    assert!(found.verdict.contains("a plane over all checkpoints"), "{}", found.verdict);
}

#[test]
fn bad_tables_are_refused_with_file_and_line() {
    let place = Place::new();
    let refuses = |text: &str, options: &SizeTokensTable, words: &[&str]| {
        let said = fit_size_tokens(&place.file("bad.csv", text), options).unwrap_err().to_string();
        for word in words {
            assert!(said.contains(word), "no `{word}` in: {said}");
        }
    };
    let head = "params,tokens,distribution,loss\n";
    refuses(
        &format!("{head}1e6,1e9,a,3\n0,1e9,a,3\n"),
        &long("a"),
        &["bad.csv, line 3", "above 0"],
    );
    refuses(&format!("{head}1e6,1e9,a,-3\n"), &long("a"), &["line 2", "`-3`"]);
    refuses(
        &format!("{head}1e6,1e9,a,3\n1e6,1e9,b,3\n1e6,1e9,a,3\n"),
        &long("a"),
        &[
            "`1000000 parameters, 1000000000 tokens` of a is there 2 times, in line 2 and line 4; a row is a model",
        ],
    );
    let named = "run,params,tokens,distribution,loss\nr,1e6,1e9,a,3\nr,2e6,1e9,a,3\n";
    refuses(
        named,
        &long("a"),
        &["model `r` has more than one x: 1000000 (line 2) and 2000000 (line 3)"],
    );
    refuses(&format!("{head}1e6,1e9,a,3\n"), &long("b"), &["no distribution `b`", "there are: a"]);
    refuses(head, &long("a"), &["no row"]);
    refuses("params,distribution,loss\n", &long("a"), &["no column `tokens`"]);
    refuses(head, &SizeTokensTable { level: 1.0, ..long("a") }, &["`level` is 1"]);
}
