//! `relscale sweep fit`: what it shows of a sweep, of points without budgets, and what it refuses.

mod common;

use common::Place;
use serde_json::Value;

/// Four budgets of six sizes on a known surface, one run diverged.
fn runs() -> String {
    let mut table =
        "run,group,budget,params,tokens,loss,flops_convention,params_convention,status,note\n"
            .to_owned();
    for budget in [1e15, 4e15, 1.6e16, 6.4e16_f64] {
        // The best size of this surface for 6 N D is near 0.05 sqrt(budget).
        let best = 0.05 * budget.sqrt();
        for (at, factor) in [0.25, 0.45, 0.8, 1.4, 2.5, 4.5].into_iter().enumerate() {
            let n: f64 = (best * factor).round();
            let d = budget / 6.0 / n;
            let wobble = 1.0 + 4e-4 * [1.0, -1.0, 0.5, 0.0, -0.5, 1.0][at];
            let loss = (1.2 + 60.0 * n.powf(-0.3) + 190.0 * d.powf(-0.3)) * wobble;
            table += &format!(
                "{budget:e}-{at},tiny,{budget:e},{n},{d:.0},{loss:.6},train,non-embedding,finished,\n"
            );
        }
    }
    table + "bad,tiny,1e15,99999,16666,9.9,train,non-embedding,diverged,loss 9.9 at step 70\n"
}

#[test]
fn a_sweep_of_four_budgets() {
    let place = Place::new();
    std::fs::create_dir(place.path("sweep")).unwrap();
    place.text("sweep/runs.csv", &runs());
    let outcome = place.run(&["sweep", "fit", "sweep", "--at", "1e18"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("sweep-fit");
    let fit: Value =
        serde_json::from_slice(&std::fs::read(place.path("sweep/isoflop.json")).unwrap()).unwrap();
    let group = &fit["groups"][0];
    assert_eq!(
        (group["budgets"].as_array().unwrap().len(), group["left_out"][0]["label"].as_str()),
        (4, Some("bad"))
    );
    let exponent = group["paths"][0]["params"]["exponent"]["value"].as_f64().unwrap();
    assert!((exponent - 0.5).abs() < 0.02, "{exponent}");
    let piped =
        place.run(&["sweep", "fit", "--table", "sweep/runs.csv", "--at", "1e18", "--json", "-"]);
    let piped: Value = serde_json::from_str(&piped.out).unwrap();
    assert!(piped["groups"] == fit["groups"]);
}

#[test]
fn points_without_budgets_give_the_surface() {
    let place = Place::new();
    let mut table = "N,D,final\n".to_owned();
    for n in [1e6, 4e6, 2e7_f64] {
        for d in [1e8, 6e8, 5e9_f64] {
            table +=
                &format!("{n},{d},{:.6}\n", 1.5 + 50.0 * n.powf(-0.25) + 120.0 * d.powf(-0.28));
        }
    }
    place.text("points.csv", &table);
    let outcome = place.run(&[
        "sweep",
        "fit",
        "--table",
        "points.csv",
        "--params",
        "N",
        "--tokens",
        "D",
        "--loss",
        "final",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("sweep-fit-surface");
}

/// The same sweep without its column of budgets, held to the square root.
#[test]
fn budgets_by_six_n_d_and_a_held_exponent() {
    let place = Place::new();
    let without: String = runs()
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.remove(2);
            cells.join(",") + "\n"
        })
        .collect();
    place.text("runs.csv", &without);
    let outcome = place.run(&[
        "sweep",
        "fit",
        "--table",
        "runs.csv",
        "--budget-from",
        "6nd",
        "--size-exponent",
        "0.5",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("sweep-fit-computed");
}

/// The loss of two further runs: one by N and D, over-trained, one by C and M.
#[test]
fn the_loss_of_further_runs() {
    let place = Place::new();
    place.text("runs.csv", &runs());
    let outcome = place.run(&[
        "sweep",
        "fit",
        "runs.csv",
        "--at",
        "N=20M,D=1e10",
        "--at",
        "C=1e16,M=40",
        "--json",
        "fit.json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("sweep-fit-losses");
    let fit: Value =
        serde_json::from_slice(&std::fs::read(place.path("fit.json")).unwrap()).unwrap();
    let points = &fit["groups"][0]["losses"]["points"];
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!((number(&points[0]["params"]), number(&points[0]["tokens"])), (2e7, 1e10));
    assert!((number(&points[1]["multiplier"]) / 40.0 - 1.0).abs() < 1e-12);
    // The truth, within its interval of one new run.
    let loss = &points[0]["losses"][0]["outcome"]["loss"];
    let truth = 1.2 + 60.0 * 2e7_f64.powf(-0.3) + 190.0 * 1e10_f64.powf(-0.3);
    let (low, high) = (number(&loss["interval"]["low"]), number(&loss["interval"]["high"]));
    assert!((low..high).contains(&truth), "{low} {truth} {high}");
}

#[test]
fn what_is_no_point_is_refused() {
    let place = Place::new();
    place.text("runs.csv", &runs());
    for (at, words) in [
        ("N=7e9", "N alone is no point"),
        ("N=7e9,D=1e12,M=3", "two of them tell the others"),
        ("N=7e9,N=8e9", "N is given twice"),
        ("N=7e9,Q=8e9", "`Q` is no quantity of a point"),
        ("N=0,D=1e12", "N is 0; it must be above 0"),
        ("N=7e9,D=-1", "D is -1; it must be above 0"),
        ("N=7e9,D=inf", "D is inf; it must be above 0"),
        ("N=many,D=1", "N is `many`, which is no number"),
        ("1e18,N=7e9", "`1e18` has no name"),
        ("many", "expected FLOPs"),
    ] {
        place.run(&["sweep", "fit", "runs.csv", "--at", at]).refuses(2, &[words]);
    }
    place.text("bare.csv", "params,tokens,loss\n1e6,1e8,3\n2e6,5e7,2.9\n");
    place
        .run(&["sweep", "fit", "bare.csv", "--at", "C=1e18,M=20"])
        .refuses(3, &["C=1.00e18,M=20", "--flops train (C = 6 N D)", "by N and D"]);
}

#[test]
fn what_has_no_optimum_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    place.run(&["sweep", "fit", "empty"]).refuses(3, &["no table runs.csv", "sweep collect"]);
    place.run(&["sweep", "fit"]).refuses(2, &["<SWEEP>"]);
    place.text("few.csv", "budget,params,tokens,loss\n1e15,1e6,1e8,3\n1e15,2e6,5e7,2.9\n");
    let few = place.run(&["sweep", "fit", "--table", "few.csv"]);
    assert_eq!(few.code, Some(3), "{}", few.screen());
    assert!(few.err.contains("neither a minimum nor a surface"), "{}", few.screen());
    place.text("bad.csv", "budget,params,tokens,loss\n1e15,1e6,1e8,3\n1e15,many,5e7,2.9\n");
    place
        .run(&["sweep", "fit", "--table", "bad.csv"])
        .refuses(3, &["bad.csv, line 3", "`params` is `many`"]);
    place
        .run(&["sweep", "fit", "--table", "bad.csv", "--flops", "both"])
        .refuses(2, &["fwd or train"]);
    // What a column is called in others' tables.
    let other = place.run(&["sweep", "fit", "--table", "bad.csv", "--loss", "final_loss"]);
    other.refuses(
        3,
        &[
            "no column `final_loss`",
            "its columns are: budget, params, tokens, loss",
            "name yours with --budget",
        ],
    );
    // Runs that were not trained to budgets.
    let mut scattered = "params,tokens,loss\n".to_owned();
    for at in 0..12_i32 {
        let (n, d) = (1e6 * 1.3_f64.powi(at), 2e8 * 1.1_f64.powi(at * at % 7));
        scattered +=
            &format!("{n:.0},{d:.0},{:.6}\n", 1.5 + 50.0 * n.powf(-0.25) + 120.0 * d.powf(-0.28));
    }
    place.text("scattered.csv", &scattered);
    let scattered =
        place.run(&["sweep", "fit", "--table", "scattered.csv", "--budget-from", "6nd"]);
    scattered
        .refuses(3, &["do not gather into budgets by 6 N D", "a column of budgets with --budget"]);
    let twice =
        ["sweep", "fit", "--table", "scattered.csv", "--budget-from", "6nd", "--budget", "C"];
    place.run(&twice).refuses(2, &["cannot be used with"]);
    place
        .run(&["sweep", "fit", "--table", "few.csv", "--size-exponent", "1.5"])
        .refuses(3, &["size-exponent", "0.5 is alpha = beta"]);
}
