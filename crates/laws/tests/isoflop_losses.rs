//! The loss of runs that were not trained: by SciPy's fits of the same form, on runs left out, and
//! what is refused.

mod support;

use std::fs;
use std::path::PathBuf;

use relscale_laws::isoflop::{IsoflopOptions, Point, fit_isoflop};
use relscale_laws::tables::Select;
use relscale_laws::{
    FlagCode, HeldOutBy, IsoflopFit, IsoflopGroup, LawsError, LossPredictions, OverTrainingLaw,
    Saved, SurfaceForm, SurfaceMethod,
};
use relscale_records::units::FlopsConvention;
use relscale_stats::surface::Surface;
use relscale_testkit::data::published;
use support::isoflop::{BUDGETS, Design, chinchilla, close, fitted, options, seeded, sweep};
use support::random::Random;

fn asked(points: &[&str]) -> IsoflopOptions {
    let points = points.iter().map(|point| point.parse::<Point>().unwrap()).collect();
    IsoflopOptions { points, flops: Some(FlopsConvention::Train), ..options() }
}

fn losses(group: &IsoflopGroup) -> &LossPredictions {
    group.losses.as_ref().unwrap()
}

fn law(group: &IsoflopGroup, method: SurfaceMethod) -> &OverTrainingLaw {
    let found = losses(group).over_training.iter().find(|one| one.method == method).unwrap();
    found.outcome.fit().unwrap()
}

/// The loss at a point by the form with one exponent.
fn told(group: &IsoflopGroup, point: usize, form: SurfaceForm, method: SurfaceMethod) -> f64 {
    let of = &losses(group).points[point].losses;
    let loss = of.iter().find(|loss| (loss.form, loss.method) == (form, method)).unwrap();
    loss.outcome.fit().unwrap().loss.value
}

fn gemstones(points: &[&str]) -> IsoflopFit {
    let select = Select::new(&["params_active_precise", "tokens"], &["final_loss"]);
    let wanted = IsoflopOptions { select, ..asked(points) };
    fit_isoflop(&published("gemstones/hot.jsonl"), &wanted).unwrap()
}

/// Fits in the paper's own parameters: `tools/goldens/over_training.py`.
#[test]
fn one_exponent_as_scipy_fits_it() {
    let goldens = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let goldens = goldens.join("../../testdata/fits/over_training.toml");
    let goldens: toml::Table = fs::read_to_string(goldens).unwrap().parse().unwrap();
    let further = ["N=7e9,D=1e12", "N=300M,D=3T"];
    let epoch = IsoflopOptions { leave_out_highest: 5, ..asked(&further) };
    let epoch = fit_isoflop(&published("chinchilla/points.csv"), &epoch).unwrap();
    let select = Select { group: vec!["dataset".into()], ..options().select };
    let marin = IsoflopOptions { select, ..asked(&further) };
    let marin = fit_isoflop(&published("marin/isoflops.csv"), &marin).unwrap();
    let gems = gemstones(&further);
    let of = |name: &str| marin.groups.iter().find(|group| group.name == name).unwrap();
    for (name, group) in [
        ("chinchilla", &epoch.groups[0]),
        ("comma", of("comma")),
        ("dclm", of("dclm")),
        ("gemstones", &gems.groups[0]),
    ] {
        for (key, method) in [
            ("variable_projection", SurfaceMethod::VariableProjection),
            ("huber", SurfaceMethod::Huber),
        ] {
            let golden = &goldens[name][key];
            let number = |name: &str| golden[name].as_float().unwrap();
            let law = law(group, method);
            assert!(law.confirmed);
            // Ours is no worse; valleys are flat, so parameters agree less well than objectives.
            assert!(law.objective <= number("objective") * (1.0 + 1e-6), "{name} {key}");
            close(law.objective, number("objective"), 1e-5);
            close(law.eta.value, number("eta"), 2e-3);
            close(law.e.value, number("e"), 1e-3);
            // SciPy's C is 6 N D.
            let scale = (6.0 / law.flops_per_parameter_and_token).powf(law.eta.value);
            close(law.a.value * scale, number("a"), 0.03);
            close(law.b.value * scale, number("b"), 0.03);
            for (at, loss) in golden["losses"].as_array().unwrap().iter().enumerate() {
                let ours = told(group, at, SurfaceForm::OverTraining, method);
                close(ours, loss.as_float().unwrap(), 3e-4);
            }
        }
    }
    for (by, key) in [(HeldOutBy::Compute, "compute"), (HeldOutBy::Multiplier, "multiplier")] {
        let golden = goldens["gemstones"]["variable_projection"][key].as_array().unwrap();
        let check = losses(&gems.groups[0]).held_out.iter().find(|check| check.by == by).unwrap();
        let check = check.outcome.fit().unwrap();
        assert_eq!(check.runs.len() as i64, golden[0].as_integer().unwrap());
        let (form, method) = (SurfaceForm::OverTraining, SurfaceMethod::VariableProjection);
        let of = check.surfaces.iter().find(|one| (one.form, one.method) == (form, method));
        let errors = of.unwrap().outcome.fit().unwrap();
        assert!((errors.mean_error - golden[1].as_float().unwrap()).abs() < 1e-5);
        close(errors.root_mean_square_error, golden[2].as_float().unwrap(), 1e-3);
    }
}

/// The parts of a loss are its sum, the forms agree where the truth has one exponent, and what was
/// asked by C and M is what N and D say.
#[test]
fn a_known_surface_tells_the_loss_of_further_runs() {
    let truth = Surface::from_formula([1.69, 400.0, 500.0, 0.31, 0.31], 1.0, 1.0);
    let table = sweep(&truth, &BUDGETS, 7, 1.6, 0.0, || 0.0);
    let (n, d) = (7e9, 1e12_f64);
    let by_flops = format!("C={:e},M={:e}", 6.0 * n * d, d / n);
    let found = fitted(&table, &asked(&["N=7B,D=1T", &by_flops])).unwrap();
    let group = &found.groups[0];
    for point in &losses(group).points {
        close(point.params, n, 1e-9);
        close(point.flops.unwrap(), 6.0 * n * d, 1e-9);
        for loss in &point.losses {
            let there = loss.outcome.fit().unwrap();
            close(there.loss.value, truth.at(n, d), 2e-4);
            let sum = there.floor.value + there.size.value + there.data.value;
            close(sum, there.loss.value, 1e-12);
        }
        let of = |quantity: &str| {
            point.distances.iter().find(|distance| distance.quantity == quantity).unwrap()
        };
        close(of("C").ratio, 6.0 * n * d / 1e21, 1e-6);
        assert!(of("D").ratio > 1.0 && of("N").ratio == 1.0);
    }
    let told = law(group, SurfaceMethod::VariableProjection);
    close(told.eta.value, 0.155, 1e-4);
    close(told.a.value, 400.0 * 6_f64.powf(0.155), 1e-2);
    let (best, tokens) = truth.optimum(1e20);
    close(told.best_multiplier.value, tokens / best, 1e-3);
    let flag = group.flags.iter().find(|flag| flag.message.contains("outside the runs")).unwrap();
    assert_eq!(flag.code, FlagCode::Extrapolation);
    // Budgets go together: the largest two of five, as one alone is exactly a fifth.
    let check = losses(group).held_out[0].outcome.fit().unwrap();
    assert_eq!((check.runs.len(), check.fitted), (7, 28));
    close(check.reach, 10.0, 1e-6);
    for surface in &check.surfaces {
        assert!(surface.outcome.fit().unwrap().root_mean_square_error < 1e-3);
    }
    // Nothing of it without a point, and such a file reads as before.
    let without = fitted(&table, &options()).unwrap();
    assert!(without.groups[0].losses.is_none());
    assert!(!serde_json::to_string(&without).unwrap().contains("\"losses\""));
    for fit in [&found, &without] {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("isoflop.json");
        fit.save(&path).unwrap();
        assert_eq!(IsoflopFit::load(&path).unwrap(), *fit);
    }
}

/// Rows of one name at several numbers of tokens are no independent runs.
#[test]
fn checkpoints_of_one_run_are_flagged() {
    let truth = chinchilla();
    let table = |name: fn(usize, usize) -> String| {
        let mut table = "run,params,tokens,loss\n".to_owned();
        for (at, n) in [1e7, 3e7, 1e8, 3e8_f64].into_iter().enumerate() {
            for (to, d) in [1e9, 3e9, 1e10, 3e10].into_iter().enumerate() {
                table += &format!("{},{n},{d},{:.6}\n", name(at, to), truth.at(n, d));
            }
        }
        table
    };
    let shared = |table: &str| {
        let found = fitted(table, &asked(&["N=1e9,D=1e11"])).unwrap();
        let flags = &found.groups[0].flags;
        flags.iter().find(|flag| flag.code == FlagCode::SharedRun).map(|flag| flag.message.clone())
    };
    let message = shared(&table(|at, _| format!("run{at}"))).unwrap();
    assert!(message.starts_with("16 rows are 4 runs"), "{message}");
    assert_eq!(shared(&table(|at, to| format!("run{at}-{to}"))), None);
}

/// One exponent is told from two only where the runs do, and never where it is held.
#[test]
fn two_exponents_are_told_from_one_where_they_differ() {
    let judged = |truth: &Surface, held: Option<f64>| {
        let mut random = Random(3);
        let design = Design { sizes: 7, ..Design::PLAIN };
        let table = seeded(truth, design, || 0.002 * random.normal());
        let wanted =
            IsoflopOptions { resamples: 100, size_exponent: held, ..asked(&["N=1e9,D=1e11"]) };
        let found = fitted(&table, &wanted).unwrap();
        let forms = losses(&found.groups[0]).forms.clone();
        (forms.told_apart, forms.verdict)
    };
    let equal = Surface::from_formula([1.69, 400.0, 500.0, 0.31, 0.31], 1.0, 1.0);
    let apart = Surface::from_formula([1.69, 406.4, 410.7, 0.5, 0.25], 1.0, 1.0);
    let (told, verdict) = judged(&equal, None);
    assert_eq!(told, Some(false), "{verdict}");
    let (told, verdict) = judged(&apart, None);
    assert_eq!(told, Some(true), "{verdict}");
    let (told, verdict) = judged(&apart, Some(0.5));
    assert_eq!(told, None);
    assert!(verdict.contains("held"), "{verdict}");
}

#[test]
fn points_that_cannot_be_are_refused_or_said() {
    let truth = chinchilla();
    let table = sweep(&truth, &BUDGETS, 7, 1.6, 0.0, || 0.0);
    // No budgets, and nothing says what C counts.
    let bare: String = table.lines().fold(String::new(), |all, line| {
        let cells: Vec<&str> = line.split(',').collect();
        all + &[cells[2], cells[3], cells[4]].join(",") + "\n"
    });
    let by_flops = IsoflopOptions { flops: None, ..asked(&["C=1e21,M=40"]) };
    let refused = fitted(&bare, &by_flops).unwrap_err();
    assert!(matches!(refused, LawsError::PointFlops { .. }), "{refused}");
    assert!(refused.to_string().contains("--flops train"), "{refused}");
    let stated = fitted(&bare, &asked(&["C=1e21,M=40"])).unwrap();
    close(losses(&stated.groups[0]).points[0].multiplier, 40.0, 1e-9);
    // By N and D none is needed; C is then told by N D.
    let without = IsoflopOptions { flops: None, ..asked(&["N=1e9,D=1e11"]) };
    let without = fitted(&bare, &without).unwrap();
    let point = &losses(&without.groups[0]).points[0];
    assert!(point.flops.is_none() && point.distances.iter().any(|at| at.quantity == "N D"));
    assert_eq!(law(&without.groups[0], SurfaceMethod::Huber).flops_per_parameter_and_token, 6.0);
    // As far off as numbers go: every number is one all the same.
    let far = ["N=1e-60,D=1e60", "N=1e60,D=1e60", "N=1e-60,D=1e-60", "C=1e60,M=1e-60"];
    let far = fitted(&table, &asked(&far)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("isoflop.json");
    far.save(&path).unwrap();
    assert_eq!(IsoflopFit::load(&path).unwrap(), far);
    // Too few runs for any surface: said, not hidden.
    let few: String = table.lines().take(6).fold(String::new(), |all, line| all + line + "\n");
    let few = fitted(&few, &asked(&["N=1e9,D=1e11"])).unwrap();
    let few = losses(&few.groups[0]);
    assert!(few.points[0].losses.iter().all(|loss| loss.outcome.refused().is_some()));
    assert_eq!(few.forms.told_apart, None);
}
