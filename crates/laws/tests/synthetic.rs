//! Families made to a known law.

mod support;

use proptest::prelude::*;
use relscale_laws::{FitOptions, FlagCode, GroupFit, Interval, Law, Outcome, PowerLaw, fit_study};
use relscale_records::RunTally;
use support::{SIZES, document, exact, family, run, sampled};

fn fit(runs: &[RunTally]) -> GroupFit {
    fit_study(runs, &FitOptions::default()).unwrap().groups.remove(0)
}

fn has(law: &Law, code: FlagCode) -> bool {
    law.flags.iter().any(|flag| flag.code == code)
}

/// `-ln RBP_1 = 3 S^-0.12`, `-ln RBP_10 = 1.5 S^-0.12`, `CE = 9 S^-0.08`.
fn exact_family(sizes: &[u64]) -> Vec<RunTally> {
    let law = |c: f64, alpha: f64, size: u64| c * (size as f64).powf(-alpha);
    sizes
        .iter()
        .map(|&size| {
            let values = [law(3.0, 0.12, size), law(1.5, 0.12, size)];
            exact(&format!("m{size}"), size, &[1, 10], &values, law(9.0, 0.08, size))
        })
        .collect()
}

#[test]
fn an_exact_law_comes_back() {
    let group = fit(&exact_family(&SIZES));
    for (law, exponent, prefactor) in [
        (group.rank_law(1).unwrap(), 0.12, 3.0),
        (group.rank_law(10).unwrap(), 0.12, 1.5),
        (&group.cross_entropy_law, 0.08, 9.0),
    ] {
        let fit = law.fit().unwrap();
        assert!((fit.exponent.value - exponent).abs() < 1e-11);
        assert!((fit.prefactor.as_ref().unwrap().value / prefactor - 1.0).abs() < 1e-10);
        assert!(1.0 - fit.r_squared.unwrap() < 1e-12);
        assert!((fit.at(1e9) / (prefactor * 1e9_f64.powf(-exponent)) - 1.0).abs() < 1e-10);
        assert!(fit.leave_one_out.iter().all(|held| held.relative_error.abs() < 1e-10));
        assert_eq!(fit.audit.len(), SIZES.len() - 3);
        assert!(fit.claimed);
    }
    let difference = group.greedy_minus_cross_entropy.unwrap();
    assert!((difference.value - 0.04).abs() < 1e-11);
}

#[test]
fn documents_give_each_point_its_error_and_the_exponent_a_sampling_error() {
    let group = fit(&family(120));
    assert_eq!(group.documents, 120);
    let law = group.rank_law(1).unwrap();
    let fit = law.fit().unwrap();
    assert!((fit.exponent.value - 0.12).abs() < 0.002, "{}", fit.exponent.value);
    for point in &law.points {
        let (error, log_error) = (point.standard_error.unwrap(), point.log_standard_error.unwrap());
        // The documents' ease is uniform in [0.7, 1.3], of standard deviation 0.173: 120 of them,
        // so ln(-ln RBP) has an error of about 0.173 / sqrt(120) = 0.016.
        assert!((0.012..0.021).contains(&log_error), "{log_error}");
        assert!((error / point.value / log_error - 1.0).abs() < 0.05);
        assert_eq!(point.hits.unwrap() + point.misses.unwrap(), point.tokens.unwrap());
    }
    // What is common to all models does not move the slope: leaving documents out of all of them at
    // once sees that.
    let sampling = fit.exponent_sampling.as_ref().unwrap();
    assert!(sampling.standard_error.unwrap() < 0.001, "{sampling:?}");
    assert!(matches!(sampling.interval, Interval::DocumentSpread { .. }));
    assert!(matches!(fit.exponent.interval, Interval::ModelsAndText { .. }));
    assert!(matches!(
        fit.exponent_of_this_text.as_ref().unwrap().interval,
        Interval::StudentT { .. }
    ));
    let model = &group.models[0];
    let bits = model.bits_per_byte.as_ref().unwrap();
    let nats = model.cross_entropy.as_ref().unwrap();
    // Four bytes a token.
    assert!((bits.value - nats.value / std::f64::consts::LN_2 / 4.0).abs() < 1e-12);
    assert!(nats.bounds().unwrap().0 < nats.value && nats.value < nats.bounds().unwrap().1);
}

#[test]
fn order_of_runs_does_not_matter_and_the_seed_is_recorded() {
    let mut runs = family(40);
    let options = FitOptions { seed: 7, ..FitOptions::default() };
    let first = fit_study(&runs, &options).unwrap();
    runs.reverse();
    runs.swap(1, 4);
    assert_eq!(fit_study(&runs, &options).unwrap(), first);
    assert_eq!(first.options.seed, 7);
    let other = fit_study(&runs, &FitOptions::default()).unwrap();
    let error = |fit: &relscale_laws::StudyFit| fit.groups[0].rank_laws[0].points[0].standard_error;
    assert_ne!(error(&other), error(&first));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Counting S in thousands (or any other unit) moves C, not alpha, R² or any prediction.
    #[test]
    fn the_unit_of_size_moves_the_prefactor_alone(unit in 2_u64..5000, noise in prop::collection::vec(-0.05..0.05_f64, 7)) {
        let runs = |unit: u64| -> Vec<RunTally> {
            SIZES.iter().zip(&noise).map(|(&size, noise)| {
                let value = 3.0 * (size as f64).powf(-0.12) * noise.exp();
                exact(&format!("m{size}"), size * unit, &[1], &[value], 4.0 * value)
            }).collect()
        };
        let (a, b) = (fit(&runs(1)), fit(&runs(unit)));
        let (a, b) = (a.rank_laws[0].fit().unwrap(), b.rank_laws[0].fit().unwrap());
        prop_assert!((a.exponent.value - b.exponent.value).abs() < 1e-10);
        prop_assert!((a.r_squared.unwrap() - b.r_squared.unwrap()).abs() < 1e-10);
        let prefactor = |law: &PowerLaw| law.prefactor.as_ref().unwrap().value;
        let scale = (unit as f64).powf(a.exponent.value);
        prop_assert!((prefactor(b) / (prefactor(a) * scale) - 1.0).abs() < 1e-9);
        for (x, y) in a.leave_one_out.iter().zip(&b.leave_one_out) {
            // The form with a floor is searched for, and found to so many digits.
            prop_assert!((x.relative_error - y.relative_error).abs() < 1e-6);
        }
    }
}

#[test]
fn one_model_is_refused_and_two_give_a_slope_without_interval() {
    let one = fit(&exact_family(&SIZES[..1]));
    let Outcome::Refused { reason } = &one.rank_laws[0].outcome else { panic!() };
    assert!(reason.starts_with("one model (m3100) cannot show"), "{reason}");
    assert!(one.greedy_minus_cross_entropy.is_none());
    assert!(one.verdict.contains("no law, one model"), "{}", one.verdict);

    let two = fit(&exact_family(&SIZES[..2]));
    let law = &two.rank_laws[0];
    let fit = law.fit().unwrap();
    assert!((fit.exponent.value - 0.12).abs() < 1e-10);
    assert_eq!((fit.exponent.standard_error, fit.exponent.bounds()), (None, None));
    assert!(fit.exponent.interval.reason().unwrap().contains("two points"));
    assert!(has(law, FlagCode::NoInterval));
    assert!(two.verdict.contains("no interval"), "{}", two.verdict);
}

#[test]
fn models_of_one_size_are_flagged_and_only_one_size_is_refused() {
    let mut runs = exact_family(&SIZES[..3]);
    runs.push(exact("twin", SIZES[2], &[1, 10], &[0.9, 0.4], 3.0));
    let group = fit(&runs);
    assert!(
        group
            .flags
            .iter()
            .any(|flag| flag.code == FlagCode::SameSize && flag.message.contains("twin"))
    );
    assert_eq!(group.rank_laws[0].fit().unwrap().points, 4);

    let group = fit(&runs[2..]);
    let Outcome::Refused { reason } = &group.rank_laws[0].outcome else { panic!() };
    assert!(reason.contains("same x"), "{reason}");
}

#[test]
fn windows_of_another_length_are_flagged() {
    let mut runs = exact_family(&SIZES[..3]);
    assert!(fit(&runs).flags.iter().all(|flag| flag.code != FlagCode::WindowsDiffer));
    runs[1].protocol.parameters.insert("length".to_owned(), 1024.into());
    let group = fit(&runs);
    let flag = group.flags.iter().find(|flag| flag.code == FlagCode::WindowsDiffer).unwrap();
    assert!(
        flag.message.contains("length 512, stride 256") && flag.message.contains("length 1024"),
        "{flag:?}"
    );
}

#[test]
fn points_without_logarithm_are_left_out_and_listed() {
    let mut runs: Vec<RunTally> =
        SIZES[..5].iter().map(|&size| sampled(&format!("m{size}"), size, 40)).collect();
    // The smallest never hits at k = 1, the largest always does at k = 10.
    runs[0].documents.iter_mut().for_each(|document| document.hits[0] = 0);
    runs[4].documents.iter_mut().for_each(|document| document.hits[1] = document.scored);
    let group = fit(&runs);
    let (greedy, ten) = (group.rank_law(1).unwrap(), group.rank_law(10).unwrap());
    assert_eq!((greedy.points.len(), ten.points.len()), (4, 4));
    assert_eq!(greedy.left_out[0].label, "m3100");
    assert!(greedy.left_out[0].reason.contains("RBP_1 = 0"), "{}", greedy.left_out[0].reason);
    assert!(ten.left_out[0].reason.contains("RBP_10 = 1"), "{}", ten.left_out[0].reason);
    assert!(has(greedy, FlagCode::PointsLeftOut) && has(ten, FlagCode::PointsLeftOut));
    assert!((ten.fit().unwrap().exponent.value - 0.12).abs() < 0.01);
    assert_eq!(group.cross_entropy_law.points.len(), 5);
}

#[test]
fn every_rank_within_k_leaves_no_point_and_the_law_says_so() {
    let mut runs = family(10);
    for run in &mut runs {
        run.documents.iter_mut().for_each(|document| document.hits[1] = document.scored);
    }
    let law = fit(&runs).rank_laws.remove(1);
    assert_eq!((law.points.len(), law.left_out.len()), (0, 7));
    assert!(
        matches!(&law.outcome, Outcome::Refused { reason } if reason == "no model has a point")
    );
}

#[test]
fn few_misses_forbid_a_slope() {
    let mut runs = family(40);
    for (model, run) in runs.iter_mut().enumerate() {
        for document in &mut run.documents {
            let misses = u64::from(document.document < 60 - 5 * model as u32);
            document.hits[1] = document.scored - misses;
        }
    }
    let group = fit(&runs);
    let law = group.rank_law(10).unwrap();
    let fit = law.fit().unwrap();
    assert!(!fit.claimed && has(law, FlagCode::FewMisses));
    assert!(law.verdict.contains("no slope is claimed"), "{}", law.verdict);
    let rivals = &law.rivals.as_ref().unwrap().verdict;
    assert!(rivals.starts_with("Too few misses or hits to claim a law"), "{rivals}");
    assert!(group.rank_law(1).unwrap().fit().unwrap().claimed);
    assert!(group.verdict.ends_with("No slope is claimed for k = 10."), "{}", group.verdict);
}

#[test]
fn a_slope_that_may_be_zero_is_not_said_to_fall() {
    let values = [0.50, 0.53, 0.46, 0.52, 0.47, 0.505, 0.49];
    let runs: Vec<RunTally> = SIZES
        .iter()
        .zip(values)
        .map(|(&size, value)| exact(&format!("m{size}"), size, &[1], &[value], 3.0))
        .collect();
    let group = fit(&runs);
    let law = group.rank_law(1).unwrap();
    let (low, high) = law.fit().unwrap().exponent.bounds().unwrap();
    assert!(low < 0.0 && high > 0.0 && has(law, FlagCode::NotFalling));
    assert!(law.verdict.contains("may or may not fall"), "{}", law.verdict);
}

#[test]
fn misses_that_sit_in_one_document_are_told() {
    let mut runs = family(20);
    for run in &mut runs {
        for document in &mut run.documents {
            document.hits[1] = document.scored - if document.document == 3 { 200 } else { 0 };
        }
    }
    let group = fit(&runs);
    let law = group.rank_law(10).unwrap();
    // 200 misses are enough, but the document that holds them is in 64 % of the resamples only.
    assert!(law.fit().unwrap().claimed && has(law, FlagCode::LostResamples));
    let lost = law.flags.iter().find(|flag| flag.code == FlagCode::LostResamples).unwrap();
    assert!(lost.message.contains("m3100 7"), "{}", lost.message);
}

#[test]
fn a_quantity_that_grows_is_not_called_a_law() {
    let runs: Vec<RunTally> = SIZES
        .iter()
        .map(|&size| exact(&format!("m{size}"), size, &[1], &[0.1 * (size as f64).powf(0.05)], 3.0))
        .collect();
    let group = fit(&runs);
    let law = group.rank_law(1).unwrap();
    assert!((law.fit().unwrap().exponent.value + 0.05).abs() < 1e-10);
    assert!(has(law, FlagCode::NotFalling));
    assert!(law.verdict.contains("does not fall"), "{}", law.verdict);
    // Equal cross entropies: exponent zero, R² undefined rather than 0/0.
    let entropy = group.cross_entropy_law.fit().unwrap();
    assert_eq!((entropy.exponent.value, entropy.r_squared), (0.0, None));
    assert!(has(&group.cross_entropy_law, FlagCode::NotFalling));
}

#[test]
fn a_model_off_the_line_is_named() {
    let mut runs = exact_family(&SIZES);
    let wiggle = |size: u64| 1.0 + 0.002 * f64::from((size % 7) as u32);
    for run in &mut runs {
        let value = 3.0 * (run.non_embedding as f64).powf(-0.12) * wiggle(run.non_embedding);
        *run = exact(&run.model, run.non_embedding, &[1], &[value], 3.0);
    }
    assert!(!has(fit(&runs).rank_law(1).unwrap(), FlagCode::Outlier));
    let broken = 1.15 * 3.0 * (SIZES[3] as f64).powf(-0.12);
    runs[3] = exact("broken", SIZES[3], &[1], &[broken], 3.0);
    let group = fit(&runs);
    let law = group.rank_law(1).unwrap();
    let flag = law.flags.iter().find(|flag| flag.code == FlagCode::Outlier).unwrap();
    assert!(flag.message.starts_with("broken lies +1"), "{}", flag.message);
}

#[test]
fn nonfinite_positions_are_told_and_in_no_average() {
    let mut runs = family(40);
    let clean = fit(&runs);
    runs[2].documents[5].nonfinite = 3;
    runs[2].documents[5].scored -= 3;
    runs[2].documents[5].hits.iter_mut().for_each(|hits| *hits -= 3);
    let group = fit(&runs);
    assert_eq!(group.models[2].nonfinite, 3);
    assert_eq!(group.models[2].tokens, clean.models[2].tokens - 3);
    let flag = group.flags.iter().find(|flag| flag.code == FlagCode::NonFinite).unwrap();
    assert!(flag.message.contains("m31000 3 of"), "{}", flag.message);
}

#[test]
fn a_model_with_nothing_scored_has_no_average_and_no_point() {
    let mut runs = family(40);
    for document in &mut runs[6].documents {
        document.nonfinite = document.scored;
        (document.scored, document.bytes) = (0, 0);
        document.hits.fill(0);
        (document.sum_nll, document.sum_entropy) = (0.0, Some(0.0));
    }
    let group = fit(&runs);
    assert_eq!(group.models[6].cross_entropy, None);
    assert_eq!(group.models[6].bits_per_byte, None);
    assert_eq!(group.rank_laws[0].left_out[0].reason, "no token was scored");
    assert_eq!(group.cross_entropy_law.left_out[0].reason, "no token was scored");
    assert_eq!(group.rank_laws[0].fit().unwrap().points, 6);
}

#[test]
fn k_of_the_whole_vocabulary_is_fitted_only_on_request() {
    let grid = [1, 4096];
    let runs: Vec<RunTally> = SIZES
        .iter()
        .map(|&size| {
            let mut run = run(&format!("m{size}"), size, &grid);
            run.documents =
                (0..40).map(|i| document(i, 100, &[60 - i as u64 % 7, 100], 3.0)).collect();
            run
        })
        .collect();
    assert_eq!(fit(&runs).rank_laws.len(), 1);
    let asked = FitOptions { k: vec![4096], ..FitOptions::default() };
    let group = fit_study(&runs, &asked).unwrap().groups.remove(0);
    assert_eq!(group.rank_laws[0].left_out.len(), 7);
}

#[test]
fn two_models_of_nearly_one_size_have_a_slope_and_no_prefactor() {
    let runs = [exact("a", 1_000_000, &[1], &[0.9], 3.0), exact("b", 1_000_001, &[1], &[0.8], 2.9)];
    let group = fit(&runs);
    let law = group.rank_laws[0].fit().unwrap();
    assert!(law.exponent.value > 1e5);
    assert_eq!(law.prefactor, None);
    assert!((law.at_centre.value / (0.9_f64 * 0.8).sqrt() - 1.0).abs() < 1e-12);
}

#[test]
fn runs_without_documents_have_laws_that_say_so() {
    let runs = [run("a", 1000, &[1]), run("b", 2000, &[1])];
    let group = fit(&runs);
    assert_eq!((group.documents, group.models[0].tokens), (0, 0));
    assert!(matches!(group.rank_laws[0].outcome, Outcome::Refused { .. }));
    assert!(matches!(group.cross_entropy_law.outcome, Outcome::Refused { .. }));
}

/// What an engine says of its numbers is said of every group that they are in.
#[test]
fn cautions_of_engines_are_flags_of_the_group() {
    let mut runs = exact_family(&SIZES);
    let plain = fit(&runs);
    assert!(plain.flags.iter().all(|flag| flag.code != FlagCode::EngineCaution));
    for run in &mut runs {
        run.cautions = vec!["its logits are on a coarse grid".into()];
        run.documents.iter_mut().for_each(|document| {
            (document.tied, document.sum_entropy) = (None, None);
        });
    }
    let group = fit(&runs);
    let flags = group.flags.iter().filter(|flag| flag.code == FlagCode::EngineCaution);
    let messages: Vec<&str> = flags.map(|flag| flag.message.as_str()).collect();
    assert_eq!(messages.len(), 1);
    assert!(messages[0].starts_with("its logits are on a coarse grid ("), "{messages:?}");
    assert!(messages[0].contains(&runs[0].model), "{messages:?}");
    assert!(group.models.iter().all(|model| model.tied.is_none() && model.entropy.is_none()));
    assert_eq!(group.rank_laws, plain.rank_laws);
}
