//! Predictions: against numbers worked out by hand, against their own inverse, and what is said
//! when there is none.

mod support;

use relscale_laws::Saved as _;
use relscale_laws::predict::{Question, Size, predict};
use relscale_laws::{
    Basis, FitOptions, Flag, FlagCode, FoundSize, FoundValue, Interval, LawsError, Predictions,
    RivalValue, StudyFit, fit_study,
};
use relscale_records::RunTally;
use support::rows::{Uniform, chain, with_outcomes};
use support::{SIZES, exact, family};

/// Four models over three decades whose `ln(-ln RBP_1)` is -0.1 u + (d, -d, -d, d), u = ln S - ln
/// 1e6, and whose cross entropy is `8 S^-0.05`: the slope is 0.1, the residuals are ±d.
const D: f64 = 0.01;

fn made_up() -> StudyFit {
    let runs: Vec<RunTally> = [(1e6, D), (1e7, -D), (1e8, -D), (1e9, D)]
        .map(|(size, off): (f64, f64)| {
            let value = (-0.1 * (size / 1e6).ln() + off).exp();
            exact(
                &format!("m{size}"),
                size as u64,
                &[1, 10],
                &[value, 0.5 * value],
                8.0 * size.powf(-0.05),
            )
        })
        .to_vec();
    fit_study(&runs, &FitOptions { resamples: 50, ..FitOptions::default() }).unwrap()
}

fn ask(laws: &StudyFit, targets: &[&str], at: &[f64], k: &[u32], lengths: &[u32]) -> Predictions {
    let question = Question {
        targets: targets.iter().map(|text| text.parse().unwrap()).collect(),
        at: at.iter().map(|&size| Size::Parameters(size)).collect(),
        k: k.to_vec(),
        lengths: lengths.to_vec(),
        ..Question::default()
    };
    predict(laws, &question).unwrap()
}

fn value(predictions: &Predictions, at: usize) -> (&FoundValue, &[Flag]) {
    let value = &predictions.groups[0].values[at];
    (value.outcome.fit().unwrap(), &value.flags)
}

fn size(predictions: &Predictions, at: usize) -> (&FoundSize, &[Flag]) {
    let size = &predictions.groups[0].sizes[at];
    (size.outcome.fit().unwrap(), &size.flags)
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

/// Quantile of Student's t with two degrees of freedom: `t = sqrt(2) a / sqrt(1 - a²)`, a the
/// coverage.
fn t2(level: f64) -> f64 {
    2.0_f64.sqrt() * level / (1.0 - level * level).sqrt()
}

#[test]
fn the_interval_of_a_line_widens_away_from_its_centre() {
    let laws = made_up();
    let fit = laws.groups[0].rank_law(1).unwrap().fit().unwrap();
    // s² = 4 d² / 2; the sizes lie a decade apart, so Sxx = 5 ln² 10; t(0.975, 2) = 4.3027.
    let half = |decades: f64| {
        4.302_652_729_911_275 * D * 2f64.sqrt() * (0.25 + decades.powi(2) / 5.0).sqrt()
    };
    for decades in [-3.0, 0.0, 1.5, 2.5] {
        let parameters = 10f64.powf(7.5 + decades);
        let (low, high) = fit.line_interval(parameters).unwrap();
        near(low, fit.at(parameters) * (-half(decades)).exp());
        near(high, fit.at(parameters) * half(decades).exp());
    }
}

#[test]
fn a_value_with_both_intervals_by_hand() {
    let laws = made_up();
    let found = ask(&laws, &[], &[1e10], &[1], &[20]);
    let decade = std::f64::consts::LN_10;
    // u of the points: 0, 1, 2, 3 decades; mean 1.5, Sxx = 5 decades²; s² = 4 D² / 2; the line at 4
    // decades is -0.4 decades.
    let (s, distance) = (2.0_f64.sqrt() * D, 2.5_f64.powi(2) / 5.0);
    let line = -0.4 * decade;
    let rbp = |log: f64| (-log.exp()).exp();
    let (greedy, flags) = value(&found, 0);
    assert_eq!(greedy.basis, Basis::Law);
    assert_eq!(greedy.form, "power law with floor");
    let pure = greedy.power_law.as_ref().unwrap();
    near(pure.value.value, rbp(line));
    let half = |factor: f64| t2(0.95) * s * factor.sqrt();
    for (interval, factor) in
        [(&pure.value.interval, 1.25 + distance), (&pure.law_interval, 0.25 + distance)]
    {
        let (low, high) = interval.bounds().unwrap();
        near(low, rbp(line + half(factor)));
        near(high, rbp(line - half(factor)));
    }
    near(
        pure.value.standard_error.unwrap(),
        pure.value.value * line.exp() * s * (1.25 + distance).sqrt(),
    );
    // A floor can only lower the chance: the value with the form left open is at most the line's,
    // and reaches below it.
    let (low, _) = greedy.value.bounds().unwrap();
    assert!(greedy.value.value <= rbp(line) * (1.0 + 1e-9) && low < rbp(line));
    // The plain warning, with the distance.
    assert_eq!(flags[0].code, FlagCode::Extrapolation);
    assert!(
        flags[0].message.contains("1.0 decades beyond the largest model measured (1.00e9)"),
        "{flags:?}"
    );
    near(found.groups[0].values[0].decades_beyond, 1.0);
    // CE, exact; and independent tokens.
    near(value(&found, 1).0.value.value, 8.0 * 1e10_f64.powf(-0.05));
    let (sequence, flags) = value(&found, 2);
    assert_eq!(sequence.basis, Basis::Independence);
    let pure_sequence = sequence.power_law.as_ref().unwrap();
    near(pure_sequence.value.value, rbp(line).powi(20));
    near(
        sequence.law_interval.bounds().unwrap().0,
        greedy.law_interval.bounds().unwrap().0.powi(20),
    );
    let said = flags.iter().find(|flag| flag.code == FlagCode::Independence).unwrap();
    assert!(
        said.message.contains("RBP_1^20 is used") && said.message.contains("--emergence-n 20"),
        "{said:?}"
    );
}

#[test]
fn inside_the_data_there_is_no_warning() {
    let found = ask(&made_up(), &["RBP_1 = 0.5"], &[2e7, 1e6, 1e9, 1e5], &[1], &[]);
    for (at, beyond) in [(0, 0.0), (2, 0.0), (4, 0.0), (6, -1.0)] {
        let value = &found.groups[0].values[at];
        assert!((value.decades_beyond - beyond).abs() < 1e-12);
        assert_eq!(value.flags.is_empty(), beyond == 0.0, "{:?}", value.flags);
    }
    assert!(found.groups[0].values[6].flags[0].message.contains("1.0 decades below the smallest"));
    assert_eq!(size(&found, 0).0.decades_beyond, 0.0);
}

#[test]
fn a_size_is_the_inverse_of_a_value() {
    let laws = made_up();
    let targets = ["RBP_1 = 0.75", "RBP_10 = 0.9", "CE = 2.5", "p_20 = 0.5", "p_5 = 0.3 at k = 10"];
    let found = ask(&laws, &targets, &[], &[], &[]);
    assert!(found.groups[0].values.is_empty());
    let goals = [0.75, 0.9, 2.5, 0.5, 0.3];
    for (at, goal) in goals.into_iter().enumerate() {
        let (answer, _) = size(&found, at);
        // The same question the other way round, at the size and at both ends of both intervals.
        let back = |parameters: f64| {
            let values = ask(
                &laws,
                &[],
                &[parameters],
                &[if at == 1 || at == 4 { 10 } else { 1 }],
                &[20, 5],
            );
            let which = [0, 0, 1, 2, 3][at];
            value(&values, which).0.clone()
        };
        let pure = |parameters: f64| back(parameters).power_law.unwrap();
        near(pure(answer.parameters.value).value.value, goal);
        for (interval, of_law) in
            [(&answer.parameters.interval, true), (&answer.for_one_model, false)]
        {
            let (low, high) = interval.bounds().unwrap();
            assert!(low <= answer.parameters.value && answer.parameters.value <= high);
            for end in [low, high] {
                let there = pure(end);
                let band = if of_law { &there.law_interval } else { &there.value.interval };
                let (a, b) = band.bounds().unwrap();
                let off = |edge: f64| (edge / goal - 1.0).abs();
                assert!(off(a).min(off(b)) < 1e-6, "{goal}: [{a}, {b}] at {end}");
            }
        }
    }
}

#[test]
fn counted_windows_are_used_where_there_are_any() {
    // Hits cluster: independence understates the chance, so it asks for a larger model.
    let runs: Vec<RunTally> = [0.55, 0.65, 0.72, 0.78]
        .into_iter()
        .zip(SIZES)
        .map(|(p, size)| {
            let mut random = Uniform(size);
            let documents: Vec<Vec<bool>> =
                (0..60).map(|_| chain(p, p + 0.12, 250, &mut random)).collect();
            with_outcomes(&format!("m{size}"), size, &documents, &[1, 5], &[1])
        })
        .collect();
    let laws = fit_study(&runs, &FitOptions { resamples: 50, ..FitOptions::default() }).unwrap();
    let found = ask(&laws, &["p_5 = 0.5", "p_7 = 0.5"], &[1e6], &[1], &[5]);
    let (counted, flags) = size(&found, 0);
    assert_eq!(counted.basis, Basis::CountedWindows);
    assert!(flags.iter().all(|flag| flag.code != FlagCode::Independence));
    assert!(counted.independent.unwrap() > counted.parameters.value, "{counted:?}");
    let emergence = laws.groups[0].emergence.as_ref().unwrap().at(1).unwrap();
    let half =
        emergence.lengths.iter().find(|windows| windows.length == 5).unwrap().half.fit().unwrap();
    near(counted.parameters.value, half.parameters.value);
    assert_eq!(counted.parameters.interval, half.parameters.interval);
    assert_eq!(counted.for_one_model, half.for_one_model);
    let (value, _) = value(&found, 2);
    assert_eq!(value.basis, Basis::CountedWindows);
    assert!(value.value.value > value.independent.unwrap());
    assert!(found.groups[0].sizes[0].verdict.starts_with("p_5 = 0.5 at k = 1 takes"));
    // N = 7 was not counted.
    let (other, flags) = size(&found, 1);
    assert_eq!((other.basis, other.independent), (Basis::Independence, None));
    assert!(
        flags
            .iter()
            .any(|flag| flag.message.contains("windows of 7 tokens at k = 1 were not counted"))
    );
}

#[test]
fn a_slope_that_may_be_zero_leaves_the_size_without_an_end() {
    let noisy = |values: [f64; 4]| {
        let runs: Vec<RunTally> = values
            .iter()
            .zip([1_000_000, 10_000_000, 100_000_000, 1_000_000_000])
            .map(|(&value, size)| exact(&format!("m{size}"), size, &[1], &[value], 3.0))
            .collect();
        fit_study(&runs, &FitOptions { resamples: 50, ..FitOptions::default() }).unwrap()
    };
    let weak = ask(&noisy([1.0, 0.6, 1.1, 0.7]), &["RBP_1 = 0.6"], &[], &[], &[]);
    let (found, flags) = size(&weak, 0);
    assert!(found.parameters.value > 1e9);
    for interval in [&found.parameters.interval, &found.for_one_model] {
        assert!(interval.reason().unwrap().contains("holds zero"), "{interval:?}");
    }
    assert!(flags.iter().any(|flag| flag.code == FlagCode::NotFalling), "{flags:?}");
    let rising = ask(&noisy([0.6, 0.7, 0.8, 0.9]), &["RBP_1 = 0.6"], &[], &[], &[]);
    let reason = rising.groups[0].sizes[0].outcome.refused().unwrap();
    assert!(reason.contains("no size is large enough"), "{reason}");
    // The value at a size is what it is.
    let there = ask(&noisy([0.6, 0.7, 0.8, 0.9]), &[], &[1e10], &[1], &[]);
    assert!(there.groups[0].values[0].outcome.fit().is_some());
}

/// A truth with a floor: the form that has one knows, the power law does not, and both stand in the
/// answer.
#[test]
fn rival_forms_stand_beside() {
    let truth = |size: f64| 2.0 * (size / 1e6).powf(-0.3) + 0.4;
    let runs: Vec<RunTally> = [1e6, 3e6, 1e7, 3e7, 1e8, 3e8]
        .map(|size| exact(&format!("m{size}"), size as u64, &[1], &[truth(size)], 3.0))
        .to_vec();
    let laws = fit_study(&runs, &FitOptions { resamples: 50, ..FitOptions::default() }).unwrap();
    let found = ask(&laws, &["RBP_1 = 0.55", "RBP_1 = 0.75"], &[3e10], &[1], &[]);
    let (greedy, _) = value(&found, 0);
    assert!(greedy.rivals.iter().all(|rival| rival.form != "power law"));
    let floor = |rivals: &[RivalValue]| {
        rivals.iter().find(|rival| rival.form == "power law with floor").unwrap().clone()
    };
    assert!((floor(&greedy.rivals).value / (-truth(3e10)).exp() - 1.0).abs() < 1e-6);
    let pure = greedy.power_law.as_ref().unwrap().value.value;
    assert!(pure > floor(&greedy.rivals).value + 0.02, "the power law knows no floor");
    near(greedy.value.value, floor(&greedy.rivals).value);
    assert!(floor(&greedy.rivals).weight.unwrap() > 0.99);
    let reach = |at: usize| {
        size(&found, at)
            .0
            .rivals
            .iter()
            .find(|rival| rival.form == "power law with floor")
            .unwrap()
            .parameters
    };
    let wanted = 1e6 * ((-(0.55_f64.ln()) - 0.4) / 2.0).powf(-1.0 / 0.3);
    assert!((reach(0).unwrap() / wanted - 1.0).abs() < 1e-4, "{:?} for {wanted}", reach(0));
    // -ln 0.75 is below the floor: never.
    assert_eq!(reach(1), None);
    assert!(size(&found, 1).0.parameters.value.is_finite());
}

#[test]
fn what_has_no_answer_says_why() {
    let laws = made_up();
    let found = ask(&laws, &["RBP_7 = 0.5", "CE = 1e-30"], &[1e10], &[7], &[]);
    let reason = found.groups[0].values[0].outcome.refused().unwrap();
    assert_eq!(reason, "k = 7 was not fitted; fitted are 1, 10");
    assert!(found.groups[0].sizes[0].outcome.refused().unwrap().contains("k = 7"));
    let reason = found.groups[0].sizes[1].outcome.refused().unwrap();
    assert!(reason.contains("beyond the range of numbers"), "{reason}");

    let question = Question { family: Some("other".into()), ..Question::default() };
    let refusal = predict(&laws, &question).unwrap_err();
    assert!(
        matches!(&refusal, LawsError::NoGroup { there, .. } if there == &["made-up on prose"]),
        "{refusal}"
    );
    let question = Question { level: Some(95.0), ..Question::default() };
    assert!(matches!(predict(&laws, &question), Err(LawsError::Option { option: "level", .. })));

    // Two models: a number without an interval.
    let two = fit_study(
        &[exact("a", 1_000, &[1], &[1.0], 3.0), exact("b", 10_000, &[1], &[0.5], 2.5)],
        &FitOptions::default(),
    );
    let found = ask(&two.unwrap(), &["RBP_1 = 0.9"], &[1e5], &[], &[]);
    near(value(&found, 0).0.value.value, (-0.25_f64).exp());
    assert!(
        matches!(&value(&found, 0).0.value.interval, Interval::None { reason } if reason.contains("two points"))
    );
    assert!(found.groups[0].values[0].verdict.contains("without an interval"));
    assert!(size(&found, 0).1.iter().any(|flag| flag.code == FlagCode::NoInterval));
}

#[test]
fn unasked_the_next_two_decades_are_told_and_all_survives_json() {
    let laws =
        fit_study(&family(40), &FitOptions { resamples: 50, ..FitOptions::default() }).unwrap();
    let found = predict(&laws, &Question::default()).unwrap();
    let sizes: Vec<f64> = found.groups[0].values.iter().map(|value| value.parameters).collect();
    assert_eq!(sizes, [3.1e7, 3.1e7, 3.1e7, 3.1e8, 3.1e8, 3.1e8]); // RBP_1, RBP_10, CE
    let back: Predictions = serde_json::from_str(&found.to_json().unwrap()).unwrap();
    assert_eq!(back, found);
}

#[test]
fn the_next_size_is_the_prediction_at_ten_times_the_largest() {
    let laws = made_up();
    let next = laws.groups[0].next_size.as_ref().unwrap();
    near(next.parameters, 1e10);
    assert_eq!(next.largest, "m1000000000");
    let asked = ask(&laws, &[], &[1e10], &[1], &[]);
    let predictions: Vec<_> = next.values.iter().map(|next| next.prediction.clone()).collect();
    assert_eq!(predictions, asked.groups[0].values);
    // The largest model has exp(-(1e9 / 1e6)^-0.1 e^d).
    near(next.values[0].measured, (-(1e3_f64.powf(-0.1)) * D.exp()).exp());
    near(next.values[1].measured, 8.0 * 1e9_f64.powf(-0.05));
    let value = value(&asked, 0).0.value.value;
    assert!(next.verdict.contains(&format!("RBP_1 {value:.4} [")), "{}", next.verdict);
    assert!(laws.groups[0].findings().contains(&("next size", next.verdict.as_str())));
}

#[test]
fn a_study_without_a_law_has_no_next_size() {
    let runs = [exact("one", 1_000_000, &[1], &[0.5], 4.0)];
    let laws = fit_study(&runs, &FitOptions { resamples: 50, ..FitOptions::default() }).unwrap();
    assert!(laws.groups[0].next_size.is_none());
}
