//! The preset `marin` against the published sweep: its 85 runs derived by other means, and the logs
//! of the real ones.

use relscale_records::units::FlopsConvention;
use relscale_sweep::plan::{self, Plan, PlannedRun, SweepRecipe};
use relscale_testkit::data::published;
use std::collections::HashMap;

/// Rows of a CSV without quotes, by column.
fn rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        header
            .iter()
            .map(|name| (*name).to_owned())
            .zip(line.split(',').map(str::to_owned))
            .collect()
    };
    lines.map(row).collect()
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(
    row: &HashMap<String, String>,
    column: &str,
) -> T {
    row[column].parse().unwrap()
}

fn marin() -> SweepRecipe {
    plan::preset("marin").unwrap()
}

fn close(got: f64, want: f64) -> bool {
    (got - want).abs() <= 1e-12 * want.abs()
}

/// `testdata/sweep/marin.csv` by `tools/goldens/marin_grid.py`; its grid is the one published with
/// the sweep.
#[test]
fn the_85_runs_are_those_of_the_published_grid() {
    let plan = plan::build(&marin()).unwrap();
    let golden = rows(include_str!("../../../testdata/sweep/marin.csv"));
    assert_eq!((plan.runs.len(), golden.len()), (85, 85));
    for (run, row) in plan.runs.iter().zip(&golden) {
        let model = &run.architecture;
        assert_eq!(run.budget, number::<f64>(row, "budget"));
        let got = [model.width as u64, model.layers as u64, run.batch as u64, u64::from(run.steps)];
        assert_eq!(
            got,
            ["width", "layers", "batch", "steps"].map(|c| number::<u64>(row, c)),
            "{}",
            run.name
        );
        assert_eq!(run.parameters.total, number::<u64>(row, "parameters"), "{}", run.name);
        assert_eq!(run.tokens, number::<u64>(row, "tokens"), "{}", run.name);
        assert!(close(run.optimiser.learning_rate, number(row, "learning_rate")), "{}", run.name);
        assert!(close(run.optimiser.beta2, number(row, "beta2")), "{}", run.name);
        assert!(run.flops.off_budget.abs() < 0.01 && run.flops.train == 3.0 * run.flops.forward);
    }
    let first = &plan.runs[0];
    assert_eq!(first.name, "1e18-d512-L6-B32");
    let model = &first.architecture;
    assert_eq!((model.heads, model.kv_heads, model.head_width, model.hidden), (4, 4, 128, 2048));
    assert!(model.qk_norm && !model.tied);
}

/// What the real runs logged: parameters, tokens, steps, batch, learning rate, FLOPs.
#[test]
fn the_runs_are_those_that_were_logged() {
    let plan = plan::build(&marin()).unwrap();
    for (file, also) in [("runs-comma.csv", 7), ("runs-dclm.csv", 0)] {
        let text = std::fs::read_to_string(published(&format!("marin/{file}"))).unwrap();
        let logged = rows(&text);
        // Beside the sweep, comma has runs at predicted optima, which the grid does not hold.
        let (sweep, others): (Vec<_>, Vec<_>) =
            logged.iter().partition(|row| row["run"].starts_with("isoflop-"));
        assert_eq!((sweep.len(), others.len()), (85, also), "{file}");
        for row in sweep {
            let grid = row["run"].replace("e+", "e");
            let found = |run: &&PlannedRun| grid.starts_with(&format!("isoflop-{}-", run.name));
            let run =
                plan.runs.iter().find(found).unwrap_or_else(|| panic!("{grid} is not in the plan"));
            let got = [run.parameters.total, run.tokens, run.batch as u64, u64::from(run.steps)];
            assert_eq!(
                got,
                ["params", "tokens", "batch_size", "steps"].map(|c| number::<u64>(row, c)),
                "{grid}"
            );
            assert!(close(run.optimiser.learning_rate, number(row, "learning_rate")), "{grid}");
            // Logged with every gigaflop, over the tokens that were seen.
            let gflops = number::<f64>(row, "gflops");
            assert!(
                (run.flops.train / 1e9 / gflops - 1.0).abs() < 1e-9,
                "{grid}: {} {gflops}",
                run.flops.train
            );
        }
    }
}

/// The trap: these budgets are a third of what most others would call them.
#[test]
fn budgets_of_training_flops_plan_the_same_runs_three_times_as_dear() {
    let forward = plan::build(&marin()).unwrap();
    let budgets = marin().budgets.iter().map(|budget| 3.0 * budget).collect();
    let train =
        plan::build(&SweepRecipe { flops: FlopsConvention::Train, budgets, ..marin() }).unwrap();
    let shape = |plan: &Plan| -> Vec<_> {
        plan.runs.iter().map(|run| (run.architecture.width, run.batch, run.steps)).collect()
    };
    assert_eq!(shape(&forward), shape(&train));
    assert_eq!(train.runs[0].name, "3e18-d512-L6-B32");
}

#[test]
fn what_makes_no_run_is_dropped_with_its_reason() {
    let plan = plan::build(&SweepRecipe { budgets: vec![1e18], ..marin() }).unwrap();
    assert_eq!(plan.runs.len(), 5);
    // 29 widths from 512 to 4096; those above 1024 would need batches below 8.
    assert_eq!(plan.dropped.len(), 24);
    let first = &plan.dropped[0];
    assert_eq!(
        (first.width, first.reason.as_str()),
        (1152, "a batch of 4 sequences is below 8, the recipe's least")
    );

    let odd = SweepRecipe {
        budgets: vec![1e18],
        widths: plan::recipe::Widths::Listed { widths: vec![1000, 512, 0] },
        ..marin()
    };
    let plan = plan::build(&odd).unwrap();
    let reasons: Vec<&str> = plan.dropped.iter().map(|dropped| dropped.reason.as_str()).collect();
    assert_eq!(plan.runs.len(), 1);
    assert!(reasons[0].contains("1000 channels do not make 7 heads"), "{reasons:?}");

    let coarse = SweepRecipe {
        budgets: vec![1e13],
        batch: plan::recipe::BatchRule { steps: 8.0, least: 8 },
        ..marin()
    };
    let plan = plan::build(&coarse).unwrap();
    assert!(plan.runs.is_empty() && !plan.dropped.is_empty());
}

#[test]
fn nothing_is_planned_from_nonsense() {
    for (budgets, word) in [
        (vec![], "no budget"),
        (vec![f64::NAN], "NaN"),
        (vec![1e18, 1e18], "twice"),
        (vec![-1.0], "-1"),
    ] {
        let error = plan::build(&SweepRecipe { budgets, ..marin() }).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let error = plan::preset("large").unwrap_err().to_string();
    assert!(error.contains("marin, marin-small, small"), "{error}");
}

#[test]
fn a_plan_comes_back_from_its_file_and_a_changed_one_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let plan = plan::build(&marin()).unwrap();
    let text = plan.to_json().unwrap();
    std::fs::write(&path, &text).unwrap();
    let read = Plan::read(&path).unwrap();
    assert_eq!(read, plan);
    assert_eq!(read.to_json().unwrap(), text);
    for (from, to, word) in [
        ("\"format\": 1", "\"format\": 2", "newer"),
        ("\"steps\": 32844", "\"steps\": 32845", "batch * steps * sequence"),
        ("\"layers\": 6", "\"layers\": 7", "parameters"),
        ("1e18-d512-L6-B32", "../elsewhere", "folder"),
        ("1e18-d640-L7-B16", "1e18-d512-L6-B32", "this name"),
        ("\"runs\"", "\"ran\"", "runs"),
    ] {
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = Plan::read(&path).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("plan.json"), "{error}");
    }
    let error = Plan::read(&folder.path().join("none.json")).unwrap_err().to_string();
    assert!(error.contains("none.json"), "{error}");
}
