//! The preset `small`: a sweep for two cores, whose runs this trainer takes, and how long they
//! would take.

use relscale_sweep::error::Error;
use relscale_sweep::plan::time::TimeBasis;
use relscale_sweep::plan::{self, Plan, SweepRecipe};
use relscale_sweep::train::settings::Settings;
use relscale_sweep::train::timing::estimate;

fn small() -> Plan {
    plan::build(&plan::preset("small").unwrap()).unwrap()
}

#[test]
fn every_budget_has_enough_sizes_and_every_run_can_be_trained() {
    let plan = small();
    assert!(plan.dropped.is_empty(), "{:?}", plan.dropped);
    for budget in &plan.recipe.budgets {
        let sizes = plan.runs.iter().filter(|run| run.budget == *budget).count();
        assert!((5..=7).contains(&sizes), "{sizes} sizes at {budget:e}");
    }
    for run in &plan.runs {
        Settings::new(&run.architecture, &run.optimiser, run.steps).unwrap();
        assert!(run.flops.off_budget.abs() < 0.01, "{}", run.name);
        assert!((200..=4000).contains(&run.steps), "{}: {} steps", run.name, run.steps);
    }
    // About six minutes at the 2.3e11 training FLOPs a second of two idle cores.
    assert!((2e13..2e14).contains(&plan.train_flops()), "{:e}", plan.train_flops());
}

#[test]
fn a_stated_rate_gives_times_and_a_senseless_one_is_refused() {
    let mut plan = small();
    estimate(&mut plan, TimeBasis::TokensPerSecond { rate: 1e5 }, |_| true).unwrap();
    for run in &plan.runs {
        assert_eq!(run.seconds, Some(run.tokens as f64 / 1e5));
    }
    estimate(&mut plan, TimeBasis::TrainFlopsPerSecond { rate: 2e11 }, |_| true).unwrap();
    let total: f64 = plan.runs.iter().filter_map(|run| run.seconds).sum();
    assert!((total - plan.train_flops() / 2e11).abs() < 1e-6 * total);
    for rate in [0.0, -1.0, f64::NAN] {
        let error = estimate(&mut plan, TimeBasis::TokensPerSecond { rate }, |_| true).unwrap_err();
        assert!(matches!(error, Error::PlanRequest { .. }), "{error}");
    }
}

#[test]
fn times_are_measured_where_the_trainer_can_and_refused_where_it_cannot() {
    let recipe = SweepRecipe {
        budgets: vec![1e9],
        vocabulary: 64,
        sequence: 16,
        widths: plan::recipe::Widths::Listed { widths: vec![8, 16] },
        batch: plan::recipe::BatchRule { steps: 64.0, least: 1 },
        ..plan::preset("small").unwrap()
    };
    let mut tiny = plan::build(&recipe).unwrap();
    assert_eq!(tiny.runs.len(), 2, "{:?}", tiny.dropped);
    let mut seen = Vec::new();
    let watch = |done| {
        seen.push(done);
        true
    };
    estimate(&mut tiny, TimeBasis::Measured { threads: 1 }, watch).unwrap();
    assert_eq!(seen, [0, 1]);
    assert!(tiny.runs.iter().all(|run| run.seconds.is_some_and(|seconds| seconds > 0.0)));
    assert!(matches!(
        estimate(&mut tiny, TimeBasis::Measured { threads: 1 }, |_| false),
        Err(Error::Stopped)
    ));

    let mut marin = plan::build(&plan::preset("marin").unwrap()).unwrap();
    let error =
        estimate(&mut marin, TimeBasis::Measured { threads: 1 }, |_| true).unwrap_err().to_string();
    assert!(error.contains("1e18-d512-L6-B32") && error.contains("--flops-per-second"), "{error}");
}

#[test]
fn the_documented_versions_are_those_of_the_code() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    // Lines of a document wrap where they happen to.
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plan = plan::run::PLAN_FORMAT;
    assert!(text.contains(&format!(
        "version of this layout, its own number, now {plan}; a newer one is refused"
    )));
    assert!(text.contains(&format!("A plan has a number of its own, now {plan}.")));
    let run = relscale_sweep::train::sweep::record::RUN_FORMAT;
    assert!(text.contains(&format!("`run.json`: `format` ({run})")));
}
