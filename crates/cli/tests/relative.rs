//! `relscale relative`: gaps of a study and of tables, and what is refused.

mod common;

use common::{Place, checkpoints};
use relscale_testkit::{MadeUpFamily, made_up_study};
use serde_json::Value;

/// Three distributions over four models; `even` falls as `web` does, `code` faster, `chat` more
/// slowly.
fn points(place: &Place) {
    let mut text = "model,flops,corpus,loss\n".to_owned();
    for (at, flops) in [1e18, 1e19, 1e20, 1e21, 1e22].into_iter().enumerate() {
        let wobble = [1.0002, 0.9997, 1.0001, 1.0003, 0.9998][at];
        for (corpus, prefactor, beta) in
            [("web", 12.0, 0.04), ("code", 20.0, 0.06), ("chat", 10.0, 0.03), ("even", 14.0, 0.04)]
        {
            let wobble: f64 = if corpus == "web" { 1.0 } else { wobble };
            text += &format!(
                "m{at},{flops:e},{corpus},{:.6}\n",
                prefactor * f64::powf(flops, -beta) * wobble
            );
        }
    }
    place.text("points.csv", &text);
}

const LONG: [&str; 9] = [
    "relative",
    "--table",
    "points.csv",
    "--x",
    "flops",
    "--error",
    "loss",
    "--distribution",
    "corpus",
];

fn long(more: &[&'static str]) -> Vec<&'static str> {
    [&LONG[..], more].concat()
}

#[test]
fn a_table_of_four_distributions() {
    let place = Place::new();
    points(&place);
    let arguments =
        long(&["--baseline", "web", "--reaches", "1,0.5", "--at", "1e23", "--json", "gaps.json"]);
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("relative");
    let found: Value =
        serde_json::from_slice(&std::fs::read(place.path("gaps.json")).unwrap()).unwrap();
    assert_eq!(
        (found["format"].as_u64(), found["options"]["margin"].as_f64()),
        (Some(5), Some(0.002))
    );
    for (at, trend, slope) in [(0, "widens", 0.01), (1, "closes", -0.02), (2, "parallel", 0.0)] {
        let law = &found["families"][0]["gaps"][at]["outcome"];
        assert_eq!((law["status"].as_str(), law["trend"].as_str()), (Some("fitted"), Some(trend)));
        assert!((law["delta_beta"]["value"].as_f64().unwrap() - slope).abs() < 1e-3);
    }
    // For machines: JSON alone, the same as in the file.
    let arguments =
        long(&["--baseline", "web", "--reaches", "1,0.5", "--at", "1e23", "--json", "-"]);
    let piped = place.run(&arguments);
    let piped: Value = serde_json::from_str(&piped.out).unwrap();
    assert!(piped["families"] == found["families"]);
}

#[test]
fn covariates_of_the_distributions() {
    let place = Place::new();
    points(&place);
    place.text("speakers.csv", "corpus,speakers\ncode,9\nchat,1\neven,5\n");
    let arguments = long(&[
        "--baseline",
        "web",
        "--covariates",
        "speakers.csv",
        "--key",
        "corpus",
        "--value",
        "speakers",
    ]);
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(
        outcome.out.contains("Over 3 distributions delta_beta and speakers have Pearson's r -"),
        "{}",
        outcome.out
    );
}

#[test]
fn a_study_of_two_corpora_by_bytes_and_by_ranks() {
    let place = Place::new();
    let web = MadeUpFamily::default();
    made_up_study(&place.path("study"), &web);
    let code = MadeUpFamily {
        corpus: "code".into(),
        alpha: web.alpha + 0.05,
        beta: web.beta + 0.03,
        ..web.clone()
    };
    made_up_study(&place.path("study"), &code);
    for (error, slope) in [("bpb", -0.03), ("rbp1", -0.05)] {
        let arguments =
            ["relative", "study", "--baseline", &web.corpus, "--error", error, "--resamples", "50"];
        let outcome = place.run(&arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
        let file = std::fs::read(place.path("study/relative.json")).unwrap();
        let found: Value = serde_json::from_slice(&file).unwrap();
        let law = &found["families"][0]["gaps"][0]["outcome"];
        let value = law["delta_beta"]["value"].as_f64().unwrap();
        assert!((value - slope).abs() < 2e-3, "{error}: {value}");
        assert!(law["delta_beta_sampling"]["standard_error"].as_f64().is_some());
        // Beside the error that was asked for, the slope at every k.
        let ranks = &found["families"][0]["ranks"]["gaps"][0]["at"];
        assert_eq!((ranks[0]["k"].as_u64(), ranks[1]["k"].as_u64()), (Some(1), Some(2)));
        let value = ranks[0]["delta_beta"]["value"].as_f64().unwrap();
        assert!((value + 0.05).abs() < 2e-3, "{error}: {value}");
        assert!(outcome.out.contains("delta_beta of -ln RBP_k against"), "{}", outcome.out);
    }
    // Another x, from a manifest.
    let sizes =
        code.sizes.iter().map(|size| format!("made-up-{size},{}\n", *size as f64 * *size as f64));
    place.text("models.csv", &format!("model,flops\n{}", sizes.collect::<String>()));
    let arguments = [
        "relative",
        "study",
        "--baseline",
        &web.corpus,
        "--models",
        "models.csv",
        "--x",
        "flops",
        "--json",
        "-",
    ];
    let found: Value = serde_json::from_str(&place.run(&arguments).out).unwrap();
    let law = &found["families"][0]["gaps"][0]["outcome"];
    assert!((law["delta_beta"]["value"].as_f64().unwrap() + 0.015).abs() < 1e-3);
}

#[test]
fn compute_of_a_study_by_a_manifest() {
    let place = Place::new();
    checkpoints(&place);
    let arguments =
        ["relative", "study", "--models", "models.toml", "--x", "flops", "--baseline", "prose"];
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(outcome.out.contains("x = flops (train)"), "{}", outcome.out);
    let words = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("flops of 9 models are not given; they are computed as 6 N D (train)"),
        "{words}"
    );
    assert!(
        words.contains("9 models are checkpoints of 3 training runs (w16, w24, w8)"),
        "{words}"
    );
}

#[test]
fn subjects_averaged_into_domains_by_the_built_in_map() {
    let place = Place::new();
    let mut text = "model,params,task,acc\n".to_owned();
    for (at, size) in [1e7, 1e8, 1e9, 1e10].into_iter().enumerate() {
        let gained = 0.1 * at as f64;
        for (task, acc) in [
            // 100 questions and 135, both of the sciences in lm-evaluation-harness.
            ("mmlu_abstract_algebra", 0.2 + gained),
            ("mmlu_anatomy", 0.3 + gained),
            ("mmlu_philosophy", 0.3 + 1.5 * gained),
            ("piqa", 0.5),
        ] {
            text += &format!("m{at},{size},{task},{acc}\n");
        }
    }
    place.text("evals.csv", &text);
    let by = |map: &'static str| {
        let arguments = [
            "relative",
            "--table",
            "evals.csv",
            "--x",
            "params",
            "--error",
            "acc",
            "--distribution",
            "task",
        ];
        place.run(
            &[&arguments[..], &["--means-by", map, "--baseline", "stem", "--json", "-"]].concat(),
        )
    };
    let first = |out: &str, distribution: usize| {
        let found: Value = serde_json::from_str(out).unwrap();
        found["families"][0]["absolute"][distribution]["points"][0]["value"].as_f64().unwrap()
    };
    let stem = first(&by("lm-eval").out, 0);
    assert!((stem + ((100.0_f64 * 0.2 + 135.0 * 0.3) / 235.0).ln()).abs() < 1e-12, "{stem}");
    // By the authors' map anatomy is none of the sciences.
    assert!((first(&by("hendrycks").out, 0) + 0.2_f64.ln()).abs() < 1e-12);
    place.text(
        "map.csv",
        "task,group,w\nmmlu_anatomy,stem,1\nmmlu_abstract_algebra,stem,3\npiqa,other,1\n",
    );
    assert!((first(&by("map.csv").out, 0) + 0.25_f64.ln()).abs() < 1e-12);
    assert!((first(&by("map.csv:w").out, 0) + 0.225_f64.ln()).abs() < 1e-12);
    by("nowhere.csv").refuses(2, &["nowhere.csv", "cannot read"]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let place = Place::new();
    points(&place);
    place
        .run(&long(&["--baseline", "wev"]))
        .refuses(3, &["no distribution `wev`", "chat, code, even, web"]);
    place.run(&long(&["--baseline", "web", "--margin", "0"])).refuses(3, &["margin", "above 0"]);
    place.text("bad.csv", "model,flops,corpus,loss\na,1e18,web,2\na,1e18,code,-2\n");
    let mut bad = long(&["--baseline", "web"]);
    bad[2] = "bad.csv";
    place.run(&bad).refuses(3, &["bad.csv, line 3", "`loss`"]);
    place.text("one.csv", "model,flops,corpus,loss\na,1e18,web,2\na,1e18,code,3\n");
    let mut one = long(&["--baseline", "web", "--json", "-"]);
    one[2] = "one.csv";
    let outcome = place.run(&one);
    assert_eq!(outcome.code, Some(3), "{}", outcome.screen());
    assert!(
        outcome.err.contains("error: no gap could be fitted: code: no relative law, one model (a)"),
        "{}",
        outcome.err
    );
    assert!(outcome.err.contains("hint: measure at least three models"));

    place
        .run(&["relative", "nowhere", "--baseline", "a"])
        .refuses(3, &["nowhere", "no study here"]);
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    let study = |more: &[&'static str]| {
        [&["relative", "study", "--baseline", "made-up"][..], more].concat()
    };
    place.run(&study(&["--x", "flops"])).refuses(3, &["knows no flops", "--models"]);
    place.run(&study(&["--error", "rank"])).refuses(3, &["`error` is rank", "rbp10"]);
    place.run(&study(&["--by", "tag:domain"])).refuses(3, &["tags asked for (domain)"]);
    place.run(&study(&["--distribution", "corpus"])).refuses(2, &["--table"]);
}
