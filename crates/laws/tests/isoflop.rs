//! IsoFLOP sweeps: published figures, exact surfaces, the bias of each method, what is refused.

mod support;

use std::fs;
use std::path::Path;

use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::tables::Select;
use relscale_laws::{Along, Curve, FlagCode, SurfaceMethod};
use relscale_stats::surface::Surface;
use relscale_testkit::data::published;
use support::isoflop::{BUDGETS, chinchilla, close, fitted, options, surface, sweep};

/// Epoch's published refit of Chinchilla's points, and the optimum by variable projection.
#[test]
fn chinchilla_as_refitted_by_epoch() {
    let path = published("chinchilla/points.csv");
    let found = fit_isoflop(&path, &IsoflopOptions { leave_out_highest: 5, ..options() }).unwrap();
    let group = &found.groups[0];
    assert_eq!((group.runs, group.left_out.len(), group.budgets.len()), (240, 5, 0));
    let huber = surface(group, SurfaceMethod::Huber);
    assert!(huber.objective <= 0.001_018_275 && huber.confirmed, "{}", huber.objective);
    for (ours, theirs) in
        [(&huber.a, 482.01), (&huber.e, 1.8172), (&huber.alpha, 0.3478), (&huber.beta, 0.3658)]
    {
        close(ours.value, theirs, 0.01);
    }
    // The valley is flat: at the published digits the objective is 0.00102284, and SciPy's simplex,
    // restarted, arrives at B = 2143.40 and 0.00101827 as we do; the published 2085.43 is 2.7 %
    // off.
    close(huber.b.value, 2143.40, 1e-3);
    close(huber.b.value, 2085.43, 0.03);
    let projected = surface(group, SurfaceMethod::VariableProjection);
    close(projected.alpha.value, 0.3576, 2e-4);
    close(projected.beta.value, 0.4276, 2e-4);
    close(projected.e.value, 1.8828, 1e-4);
    assert!(projected.confirmed);
}

/// Quadratics in ln tokens and ln params, and surfaces, of the sweep behind the relative law.
#[test]
fn the_sweep_of_the_relative_laws_paper() {
    let path = published("marin/isoflops.csv");
    let select = Select { group: vec!["dataset".into()], ..options().select };
    let found = fit_isoflop(&path, &IsoflopOptions { select, ..options() }).unwrap();
    for (name, prefactor, tokens, params, alpha, beta, e) in [
        ("comma", 0.0495, 0.5724, 0.4049, 0.7245, 0.4111, 2.809),
        ("dclm", 0.1107, 0.5521, 0.4236, 0.7413, 0.4972, 2.715),
    ] {
        let group = found.groups.iter().find(|group| group.name == name).unwrap();
        let path = group.paths.iter().find(|path| path.curve == Curve::Parabola).unwrap();
        let (of_tokens, of_params) = (path.tokens.fit().unwrap(), path.params.fit().unwrap());
        close(of_tokens.exponent.value, tokens, 1e-4);
        close(of_tokens.prefactor.value, prefactor, 2e-3);
        close(of_params.exponent.value, params, 2e-4);
        let projected = surface(group, SurfaceMethod::VariableProjection);
        close(projected.alpha.value, alpha, 2e-4);
        close(projected.beta.value, beta, 2e-4);
        close(projected.e.value, e, 2e-4);
        // Neither says what is counted.
        assert!(group.flags.iter().any(|flag| flag.code == FlagCode::ConventionUnstated));
    }
}

/// The published fits of the Gemstones are no better than ours, one of them worse.
#[test]
fn gemstones_from_many_starts() {
    for (file, objective) in [
        ("hot", 2.0760e-4),
        ("hot_sampled_like_chinchilla", 2.2573e-5),
        ("slim_chinchilla", 1.3398e-5),
        ("cool_end", 2.0594e-4),
    ] {
        let path = published(&format!("gemstones/{file}.jsonl"));
        let select = Select::new(&["params_active_precise", "tokens"], &["final_loss"]);
        let found =
            fit_isoflop(&path, &IsoflopOptions { select, huber_delta: 1e-4, ..options() }).unwrap();
        let huber = surface(&found.groups[0], SurfaceMethod::Huber);
        assert!(
            huber.objective <= objective * (1.0 + 1e-4),
            "{file}: {} {objective}",
            huber.objective
        );
        if file == "slim_chinchilla" {
            assert!(huber.objective < 1.3037e-5, "{}", huber.objective);
        }
    }
}

/// With equal exponents the curve of a budget is symmetric, so that a parabola is right too.
#[test]
fn a_symmetric_surface_is_recovered_by_all_methods() {
    let truth = Surface::from_formula([1.69, 400.0, 400.0, 0.31, 0.31], 1.0, 1.0);
    let found = fitted(&sweep(&truth, &BUDGETS, 15, 2.0, 0.0, || 0.0), &options()).unwrap();
    let group = &found.groups[0];
    assert_eq!((found.flops.as_str(), found.params.as_str()), ("train", "non-embedding"));
    for path in &group.paths {
        for law in [&path.params, &path.tokens] {
            assert!((law.fit().unwrap().exponent.value - 0.5).abs() < 1e-11);
        }
    }
    for method in [SurfaceMethod::VariableProjection, SurfaceMethod::Huber] {
        close(surface(group, method).size_exponent.value, 0.5, 1e-4);
        close(surface(group, method).e.value, 1.69, 1e-3);
    }
    // A curve as it is drawn goes from run to run, and nowhere below its minimum.
    for budget in &group.budgets {
        for minimum in &budget.minima {
            let (_, least) = minimum.found().unwrap();
            let lowest =
                minimum.trace.iter().map(|point| point.value).fold(f64::INFINITY, f64::min);
            assert!((least - 1e-12..least + 0.01).contains(&lowest), "{lowest} {least}");
            let sizes = (budget.runs[0].params, budget.runs[budget.runs.len() - 1].params);
            if minimum.along == Along::Params {
                close(minimum.trace[0].x, sizes.0, 1e-12);
                close(minimum.trace[minimum.trace.len() - 1].x, sizes.1, 1e-12);
            }
        }
    }
    let (n, d) = truth.optimum(1e21 / 6.0);
    for method in &group.ahead[0].methods {
        close(method.params.value, n, 2e-3);
        close(method.tokens.value, d, 2e-3);
    }
}

/// N* by cubic and parabola relative to the truth at 1e19 FLOPs, in per cent, for Chinchilla's
/// published surface.
fn bias(width: f64, centre: f64) -> [Option<f64>; 2] {
    let truth = chinchilla();
    let found = fitted(&sweep(&truth, &BUDGETS, 9, width, centre, || 0.0), &options()).unwrap();
    let budget = &found.groups[0].budgets[2];
    let (best, _) = truth.optimum(1e19 / 6.0);
    // The surface knows the truth wherever it was sampled.
    for method in [SurfaceMethod::VariableProjection, SurfaceMethod::Huber] {
        close(surface(&found.groups[0], method).alpha.value, 0.34, 1e-3);
    }
    Curve::ALL.map(|curve| {
        let (at, _) = budget.minimum(curve, Along::Params).unwrap().found()?;
        Some(100.0 * (at / best - 1.0))
    })
}

/// The table in `docs/laws/isoflop.md`, recomputed.
#[test]
fn the_bias_of_each_curve_is_as_documented() {
    let document = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/laws/isoflop.md"),
    )
    .unwrap();
    let (_, table) = document.split_once("| sizes sampled | centre | cubic | parabola |").unwrap();
    let mut rows = 0;
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let number = |text: &str| text.split_whitespace().next().unwrap().parse::<f64>().unwrap();
        let found = bias(number(cells[1]), number(cells[2]));
        for (found, told) in found.iter().zip(&cells[3..5]) {
            let found = match found {
                None => "refused".to_owned(),
                Some(bias) if bias.abs() < 0.005 => "0.00 %".to_owned(),
                Some(bias) => format!("{bias:+.2} %"),
            };
            assert_eq!(&found, told, "{row}");
        }
        rows += 1;
    }
    assert!(rows >= 6);
    // What is promised of the default: a decade of sizes, centred within 0.3 decades.
    for centre in [-0.3, -0.15, 0.0, 0.15, 0.3] {
        let [cubic, _] = bias(1.0, centre);
        assert!(cubic.unwrap().abs() < 0.5, "{centre}: {cubic:?}");
    }
}

#[test]
fn minima_that_no_run_brackets_are_refused_and_listed() {
    let truth = chinchilla();
    // All sizes below the optimum; and a budget of three.
    let mut table = sweep(&truth, &[1e19], 6, 1.0, -0.8, || 0.0);
    table += sweep(&truth, &[1e20], 3, 1.0, 0.0, || 0.0).split_once('\n').unwrap().1;
    let found = fitted(&table, &options()).unwrap();
    let group = &found.groups[0];
    let reason = |budget: usize| {
        let minimum = group.budgets[budget].minimum(Curve::Cubic, Along::Params).unwrap();
        minimum.outcome.refused().unwrap().to_owned()
    };
    assert!(
        reason(0).contains("not bracketed: the best run has the largest params"),
        "{}",
        reason(0)
    );
    assert!(reason(1).contains("3 sizes"), "{}", reason(1));
    assert!(group.paths[0].params.fit().is_none());
    assert!(group.verdict.contains("0 of them"), "{}", group.verdict);
}

#[test]
fn runs_that_take_no_part_are_listed() {
    let table = "run,budget,params,tokens,loss,status,note\n\
                 a,1e18,1e7,2e10,3.1,finished,\n\
                 b,1e18,2e7,1e10,3.0,diverged,loss 11 at step 40\n\
                 c,1e18,2e7,1e10,2.9,finished,\n\
                 d,1e18,2e7,1e10,2.8,finished,\n\
                 e,1e18,4e7,5e9,,finished,\n\
                 f,1e18,4e7,5e9,2.95,unfinished,\n";
    let found = fitted(table, &options()).unwrap();
    let left_out: Vec<(&str, &str)> = found.groups[0]
        .left_out
        .iter()
        .map(|left| (left.label.as_str(), left.reason.as_str()))
        .collect();
    let wanted = [
        ("b", "diverged: loss 11 at step 40"),
        ("e", "its loss is not given"),
        ("f", "unfinished"),
    ];
    assert_eq!(left_out, wanted);
    // Two runs of one size are two seeds, whichever is better.
    assert_eq!(found.groups[0].runs, 3);
}

/// A label that many runs share takes nothing but a row that is there twice out.
#[test]
fn runs_of_one_name_are_told_apart() {
    let truth = chinchilla();
    let table = sweep(&truth, &BUDGETS, 6, 1.0, 0.0, || 0.0).replacen("run,", "model,", 1);
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    for line in &mut lines[1..] {
        *line = format!("llama{}", &line[line.find(',').unwrap()..]);
    }
    lines.push(lines[4].clone());
    let found = fitted(&lines.join("\n"), &options()).unwrap();
    let group = &found.groups[0];
    assert_eq!((group.runs, group.left_out.len()), (30, 1));
    assert!(group.left_out[0].reason.contains("the same run again"), "{:?}", group.left_out);
    close(surface(group, SurfaceMethod::VariableProjection).alpha.value, 0.34, 1e-3);
}

#[test]
fn bad_tables_are_refused_with_file_and_line() {
    let refusal =
        |table: &str, options: &IsoflopOptions| fitted(table, options).unwrap_err().to_string();
    let cases = [
        ("params,tokens\n1,2\n", "no column `loss`"),
        ("params,tokens,loss\n1e7,1e9,3\n1e7,x,3\n", "line 3: column `tokens` is `x`"),
        (
            "params,tokens,loss\n1e7,1e9,-3\n",
            "line 2: column `loss` is `-3`, expected a value of at least 0",
        ),
        (
            "params,tokens,loss,flops_convention\n1e7,1e9,3,fwd\n1e7,1e9,3,train\n",
            "line 3: column `flops_convention` is `train`, expected the convention of the other rows",
        ),
        (
            "params,tokens,loss,status\n1e7,1e9,3,diverged\n",
            "no row is left of 1, e.g. line 2: diverged",
        ),
    ];
    for (table, reason) in cases {
        let message = refusal(table, &options());
        assert!(message.contains("runs.csv") && message.contains(reason), "{message}");
    }
    let named = IsoflopOptions { budget: Some("C".into()), ..options() };
    let message = refusal("params,tokens,loss\n1,2,3\n", &named);
    assert!(message.contains("no column `C`"), "{message}");
    let message =
        refusal("params,tokens,loss\n1,2,3\n", &IsoflopOptions { at: vec![-1.0], ..options() });
    assert!(message.contains("`at` is -1"), "{message}");
}
