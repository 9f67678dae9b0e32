//! Why a law breaks: made-up families whose reason is known.

#![allow(clippy::print_stdout)] // The benches print what they find.

mod support;

use relscale_laws::Saved as _;
use relscale_laws::{
    Breakdown, Finding, FitOptions, GroupFit, Interval, PerfectLaw, ScatterTest, StudyFit,
    fit_study,
};
use relscale_records::classes::{ClassBasis, DocumentClasses};
use relscale_records::{ClassTally, RunTally, TokenClass};
use support::{SIZES, document, exact, random::Random, run};

/// k = 1 and a large k, as the made-up runs tally them.
const K: [u32; 2] = [1, 2000];

fn fit(runs: &[RunTally]) -> GroupFit {
    fit_study(runs, &FitOptions::default()).unwrap().groups.remove(0)
}

fn breakdown(group: &GroupFit, k: u32) -> &Breakdown {
    group.rank_law(k).unwrap().breakdown.as_ref().unwrap()
}

fn tested(breakdown: &Breakdown) -> &PerfectLaw {
    match &breakdown.test {
        ScatterTest::Tested(perfect) => perfect,
        ScatterTest::Untested { reason } => panic!("{reason}"),
    }
}

/// Eight sizes over one decade.
fn decade() -> Vec<u64> {
    (0..8).map(|i| (1e6 * 10_f64.powf(f64::from(i) / 7.0)) as u64).collect()
}

/// Runs of `documents` documents of `length` independent tokens that miss by `-ln p = value(S, k)`,
/// all sampled.
fn independent(
    sizes: &[u64],
    documents: u32,
    length: u64,
    seed: u64,
    value: impl Fn(f64, usize) -> f64,
) -> Vec<RunTally> {
    let mut random = Random(seed);
    let family = sizes.iter().map(|&size| {
        let mut run = run(&format!("m{size}"), size, &K);
        for ordinal in 0..documents {
            let hits = [0, 1].map(|at| {
                let p = (-value(size as f64, at)).exp();
                (0..length).filter(|_| random.uniform() < p).count() as u64
            });
            run.documents.push(document(ordinal, length, &hits, 4.0 * value(size as f64, 0)));
        }
        run
    });
    family.collect()
}

#[test]
fn few_misses_on_a_perfect_law_are_called_sampling_noise() {
    // S^-0.05 at both k; about 80 misses a model at the large one, so an error of 0.11 in the
    // logarithm, as large as what the law changes over the decade.
    let law = |c: f64, s: f64| c * (s / 1e6).powf(-0.05);
    let runs = independent(&decade(), 60, 1500, 5, |s, at| law([0.9, 0.0009][at], s));
    let group = fit(&runs);
    assert_eq!(breakdown(&group, 1).finding, Finding::Holds, "{}", breakdown(&group, 1).verdict);
    let tail = breakdown(&group, 2000);
    assert_eq!(tail.finding, Finding::SamplingNoise, "{}", tail.verdict);
    let perfect = tested(tail);
    assert!(perfect.r_squared.unwrap() < 0.9 && perfect.r_squared_low < 0.6, "{perfect:?}");
    assert!(perfect.p_value > 0.05);
    let reference = perfect.reference.as_ref().unwrap();
    assert_eq!(reference.k, 1);
    assert!((reference.exponent - 0.05).abs() < 0.01 && reference.power < 0.5, "{reference:?}");
    // Tokens are independent here: both errors are 1/sqrt(misses), the design effect 1.
    for (noise, point) in tail.noise.iter().zip(&group.rank_law(2000).unwrap().points) {
        let misses = point.misses.unwrap() as f64;
        assert!((noise.independent_log_standard_error * misses.sqrt() - 1.0).abs() < 0.01);
        assert!((0.5..1.6).contains(&noise.design_effect.unwrap()), "{noise:?}");
    }
    assert_eq!(group.breakdown.as_ref().unwrap().holds_up_to, Some(1));
    let verdict = &group.breakdown.as_ref().unwrap().verdict;
    assert!(
        verdict.contains("holds up to k = 1 ") && verdict.contains("At k = 2000 sampling noise"),
        "{verdict}"
    );
}

#[test]
fn a_floor_under_the_law_is_called_a_departure() {
    // 250 times the tokens: sampling noise is small, and -ln RBP_2000 runs into a floor.
    let value = |s: f64, at: usize| match at {
        0 => 0.9 * (s / 3e3).powf(-0.08),
        _ => 0.2 * (s / 3e3).powf(-0.9) + 0.01,
    };
    let group = fit(&independent(&SIZES, 60, 1500, 6, value));
    assert_eq!(breakdown(&group, 1).finding, Finding::Holds);
    let tail = breakdown(&group, 2000);
    assert_eq!(tail.finding, Finding::Departure, "{}", tail.verdict);
    let perfect = tested(tail);
    assert!(perfect.p_value < 0.001 && perfect.r_squared_low > 0.98, "{perfect:?}");
    assert!(perfect.r_squared.unwrap() < 0.9);
    assert!(tail.verdict.contains("by more than sampling noise (p < 0.001)"), "{}", tail.verdict);
    let verdict = &group.breakdown.as_ref().unwrap().verdict;
    assert!(verdict.contains("At k = 2000 the models depart from a line"), "{verdict}");
}

#[test]
fn a_flat_line_that_noise_would_not_hide_is_a_lost_slope() {
    let value = |s: f64, at: usize| match at {
        0 => 0.9 * (s / 3e3).powf(-0.12),
        _ => 0.05,
    };
    let group = fit(&independent(&SIZES, 60, 1500, 9, value));
    let tail = breakdown(&group, 2000);
    assert_eq!(tail.finding, Finding::SlopeLost, "{}", tail.verdict);
    assert!(tested(tail).reference.as_ref().unwrap().power > 0.95);
}

/// Documents that hit or miss as a whole, the same for all models but for a few.
fn alike(sizes: &[u64], documents: u32, length: u64) -> Vec<RunTally> {
    let mut random = Random(8);
    let difficulty: Vec<f64> = (0..documents).map(|_| random.uniform()).collect();
    let family = sizes.iter().map(|&size| {
        let mut run = run(&format!("m{size}"), size, &[1]);
        let p = (-0.9 * (size as f64 / 3e3).powf(-0.1)).exp();
        for (ordinal, &hard) in (0..).zip(&difficulty) {
            run.documents.push(document(
                ordinal,
                length,
                &[if hard < p { length } else { 0 }],
                4.0,
            ));
        }
        run
    });
    family.collect()
}

#[test]
fn tokens_alike_within_documents_count_as_one() {
    let group = fit(&alike(&SIZES, 400, 30));
    let tail = breakdown(&group, 1);
    for noise in &tail.noise {
        // 30 tokens of one document are one: 400 effective tokens of 12 000.
        assert!((noise.design_effect.unwrap() / 30.0 - 1.0).abs() < 0.15, "{noise:?}");
        assert!((noise.effective_tokens.unwrap() / 400.0 - 1.0).abs() < 0.15, "{noise:?}");
        let ratio = noise.log_standard_error.unwrap() / noise.independent_log_standard_error;
        assert!((ratio / 30_f64.sqrt() - 1.0).abs() < 0.1, "{ratio}");
    }
}

#[test]
fn noise_that_models_share_is_not_held_against_their_line() {
    // Each point has an error of some 8 %, but a hard document is hard for all models: points move
    // together.
    let group = fit(&alike(&SIZES, 400, 30));
    let joint = tested(breakdown(&group, 1)).r_squared_median;
    let law = group.rank_law(1).unwrap();
    let slope = law.fit().unwrap().exponent.value;
    let spread: f64 = law.points.iter().map(|p| p.x.ln()).sum::<f64>() / 7.0;
    let explained: f64 = law.points.iter().map(|p| (slope * (p.x.ln() - spread)).powi(2)).sum();
    let noise: f64 = law.points.iter().map(|p| p.log_standard_error.unwrap().powi(2)).sum();
    // What independent errors of that size would leave.
    let apart = explained / (explained + noise);
    assert!(1.0 - joint < 0.5 * (1.0 - apart), "{joint} and {apart}");
}

#[test]
fn too_few_misses_decide_nothing() {
    let law = |c: f64, s: f64| c * (s / 1e6).powf(-0.05);
    let runs = independent(&decade(), 60, 1500, 5, |s, at| law([0.9, 0.0002][at], s));
    let group = fit(&runs);
    let tail = breakdown(&group, 2000);
    assert_eq!(tail.finding, Finding::TooFew, "{}", tail.verdict);
    assert!(tail.verdict.contains("fewer than 50 misses"), "{}", tail.verdict);
    let verdict = &group.breakdown.as_ref().unwrap().verdict;
    assert!(verdict.contains("At k = 2000 some model has too few misses"), "{verdict}");
}

#[test]
fn without_a_known_noise_or_enough_models_it_says_so() {
    let family = |sizes: &[u64], values: fn(f64) -> f64| -> Vec<RunTally> {
        let one = |&size: &u64| exact(&format!("m{size}"), size, &[1], &[values(size as f64)], 4.0);
        sizes.iter().map(one).collect()
    };
    // One document cannot be resampled.
    let group = fit(&family(&SIZES, |s| s.powf(-0.1)));
    let found = breakdown(&group, 1);
    assert_eq!(found.finding, Finding::Holds);
    assert!(
        matches!(&found.test, ScatterTest::Untested { reason } if reason.contains("1 unit")),
        "{found:?}"
    );
    assert!(found.verdict.contains("not known"), "{}", found.verdict);
    assert!(found.noise.iter().all(|noise| noise.design_effect.is_none()));
    let rising = fit(&family(&SIZES, |s| 0.1 * s.powf(0.1)));
    assert_eq!(breakdown(&rising, 1).finding, Finding::Undecided);
    // Three models, two, one.
    for models in 1..=3 {
        let group =
            fit(&independent(&SIZES[..models], 40, 200, 3, |s, at| [1.0, 0.1][at] * s.powf(-0.1)));
        let found = breakdown(&group, 1);
        assert_eq!(found.finding, Finding::Undecided, "{}", found.verdict);
        assert_eq!(matches!(found.test, ScatterTest::Tested(_)), models == 3, "{found:?}");
    }
    // However well a line describes three or four: five are needed, and nothing is said not to
    // hold.
    for models in 3..=4 {
        let group = fit(&family(&SIZES[..models], |s| s.powf(-0.1)));
        let found = breakdown(&group, 1);
        assert_eq!(found.finding, Finding::Undecided);
        assert!(
            found.verdict.contains(&format!("{models} models, 5 are needed")),
            "{}",
            found.verdict
        );
        assert_eq!(found.would_change, "models: 5 are needed");
        assert_eq!(
            group.breakdown.as_ref().unwrap().verdict,
            format!("Undecided whether the rank law holds: {models} models, 5 are needed.")
        );
    }
    // Five documents say little of their variety.
    let group = fit(&independent(&SIZES, 5, 400, 3, |s, at| [1.0, 0.1][at] * s.powf(-0.1)));
    let found = breakdown(&group, 1);
    assert!(
        matches!(&found.test, ScatterTest::Untested { reason } if reason.contains("5 documents are too few")),
        "{found:?}"
    );
}

#[test]
fn it_comes_back_from_the_file_and_does_not_depend_on_the_unit_of_size() {
    let runs = independent(&decade(), 40, 300, 2, |s, at| [0.9, 0.05][at] * (s / 1e6).powf(-0.1));
    let fit = fit_study(&runs, &FitOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("laws.json");
    fit.save(&path).unwrap();
    assert_eq!(StudyFit::load(&path).unwrap(), fit);

    let mut thousandfold = runs.clone();
    thousandfold.iter_mut().for_each(|run| run.non_embedding *= 1000);
    let other = fit_study(&thousandfold, &FitOptions::default()).unwrap();
    for (a, b) in fit.groups[0].rank_laws.iter().zip(&other.groups[0].rank_laws) {
        let (a, b) = (a.breakdown.as_ref().unwrap(), b.breakdown.as_ref().unwrap());
        assert_eq!((a.finding, tested(a).p_value), (b.finding, tested(b).p_value));
        assert!((tested(a).r_squared_median - tested(b).r_squared_median).abs() < 1e-9);
    }
}

/// Findings at each of K of `repetitions` families: six models over three decades, some 20 000
/// independent tokens each.
fn findings(
    repetitions: u64,
    scatter: f64,
    value: impl Fn(f64, usize) -> f64,
) -> [std::collections::BTreeMap<String, u32>; 2] {
    let sizes: Vec<u64> =
        (0..6).map(|i| (1e4 * 1e3_f64.powf(f64::from(i) / 5.0)).round() as u64).collect();
    let mut found = [const { std::collections::BTreeMap::new() }; 2];
    for repetition in 0..repetitions {
        let mut random = Random(31 + 7_919 * repetition);
        let luck: Vec<f64> = sizes.iter().map(|_| (scatter * random.normal()).exp()).collect();
        let of = |s: f64, at: usize| {
            let model = sizes.iter().position(|size| *size as f64 == s).unwrap();
            value(s / 1e4, at) * luck[model]
        };
        let options = FitOptions { resamples: 200, ..FitOptions::default() };
        let runs = independent(&sizes, 100, 200, 1 + repetition, of);
        let group = fit_study(&runs, &options).unwrap().groups.remove(0);
        for (law, found) in group.rank_laws.iter().zip(&mut found) {
            let finding = law.breakdown.as_ref().unwrap().finding;
            *found.entry(format!("{finding:?}")).or_insert(0) += 1;
        }
    }
    found
}

/// The values at both k of a law of shape f: some 55 % and 1 % of tokens missed.
fn shape(f: impl Fn(f64) -> f64) -> impl Fn(f64, usize) -> f64 {
    move |s, at| [0.8, 0.08][at] * f(s)
}

#[test]
fn a_law_holds_where_it_is_true_and_not_where_a_floor_is() {
    let count = |found: &std::collections::BTreeMap<String, u32>, name: &str| {
        found.get(name).copied().unwrap_or(0)
    };
    let floor = findings(20, 0.0, shape(|s| 0.6 * s.powf(-0.3) + 0.4));
    assert!(count(&floor[0], "Holds") <= 1 && count(&floor[0], "Bends") >= 19, "{floor:?}");
    assert!(count(&floor[1], "Holds") <= 2, "{floor:?}");
    for scatter in [0.0, 0.02] {
        let law = findings(40, scatter, shape(|s| s.powf(-0.12)));
        // 38 and 36 are expected: at the second k a bend at the first may also be in the way.
        assert!(
            count(&law[0], "Holds") >= 34 && count(&law[1], "Holds") >= 31,
            "{scatter} {law:?}"
        );
    }
}

/// Figures in `record/2026-11-28-verdicts.md`:
/// `cargo test --release -p relscale-laws --test breakdown -- --ignored --nocapture holds_in_full`.
#[test]
#[ignore = "two minutes of simulation"]
fn holds_in_full() {
    let floor = shape(|s: f64| 0.6 * s.powf(-0.3) + 0.4);
    println!("floor: {:?}", findings(150, 0.0, floor));
    let bend =
        |s: f64| if s < 30.0 { s.powf(-0.02) } else { 30_f64.powf(-0.02) * (s / 30.0).powf(-0.22) };
    println!("bend: {:?}", findings(150, 0.0, shape(bend)));
    println!("true: {:?}", findings(300, 0.0, shape(|s: f64| s.powf(-0.12))));
    println!(
        "true, models scatter by 2 %: {:?}",
        findings(300, 0.02, shape(|s: f64| s.powf(-0.12)))
    );
}

/// How often a true law is told to depart, and how often noise is blamed for a departure (figures
/// in `record/2026-11-28-breakdown.md`):
/// `cargo test -p relscale-laws --test breakdown -- --ignored --nocapture`.
#[test]
#[ignore = "two minutes of simulation"]
fn p_values_are_right_under_a_true_law() {
    const REPETITIONS: u64 = 500;
    let options = FitOptions { resamples: 400, ..FitOptions::default() };
    for (models, documents) in
        [(4_usize, 60_u32), (6, 60), (8, 60), (12, 60), (8, 30), (8, 15), (8, 10)]
    {
        let sizes: Vec<u64> = (0..models)
            .map(|i| (3e3 * 1e3_f64.powf(i as f64 / (models - 1) as f64)) as u64)
            .collect();
        let mut below = [0; 3];
        for repetition in 0..REPETITIONS {
            let mut random =
                Random(1_000 * models as u64 + u64::from(documents) + 7_919 * repetition);
            let ease: Vec<f64> = (0..documents).map(|_| (0.6 * random.normal()).exp()).collect();
            let runs: Vec<RunTally> = sizes
                .iter()
                .map(|&size| {
                    let mut run = run(&format!("m{size}"), size, &[1]);
                    let value = 0.02 * (size as f64 / 3e3).powf(-0.1);
                    for (ordinal, ease) in (0..).zip(&ease) {
                        let p = (-value * ease).exp();
                        let hits = (0..600).filter(|_| random.uniform() < p).count() as u64;
                        run.documents.push(document(ordinal, 600, &[hits], 4.0));
                    }
                    run
                })
                .collect();
            let group = fit_study(&runs, &options).unwrap().groups.remove(0);
            let p = tested(group.rank_laws[0].breakdown.as_ref().unwrap()).p_value;
            for (count, level) in below.iter_mut().zip([0.01, 0.05, 0.25]) {
                *count += u32::from(p <= level);
            }
        }
        let share = below.map(|count| f64::from(count) / REPETITIONS as f64);
        println!("{models} models, {documents} documents: p <= 0.01, 0.05, 0.25 in {share:.3?}");
        assert!(share[1] < 0.09 && share[2] < 0.34, "{share:?}");
    }
}

/// Runs whose misses at k = 2000 are by class as given, in documents of 100 tokens: 10 special, 80
/// common, 10 rare.
fn with_classes(vocabulary: bool, misses: impl Fn(u32) -> [u32; 8]) -> Vec<RunTally> {
    let basis = ClassBasis { tokens: 4_000, distinct: 50, vocabulary };
    let one = |&size: &u64| {
        let mut run = run(&format!("m{size}"), size, &K);
        let mut documents = Vec::new();
        for ordinal in 0..40 {
            let missed = misses(ordinal);
            let tail = missed.iter().map(|&count| u64::from(count)).sum::<u64>();
            run.documents.push(document(ordinal, 100, &[40, 100 - tail], 4.0));
            let tokens = [0, 10, 0, 0, 80, 0, 10, 0];
            let head = [0, 10, 0, 0, 45, 0, 5, 0];
            documents.push(DocumentClasses {
                document: ordinal,
                tokens,
                misses: vec![head, missed],
            });
        }
        run.classes = Some(ClassTally { k: K.to_vec(), basis, documents });
        run
    };
    SIZES[..4].iter().map(one).collect()
}

#[test]
fn the_classes_that_hold_the_tail_are_named_with_their_lift() {
    // Of 40 documents each misses 3 special and 1 common token, every second one 2 rare ones as
    // well.
    let group = fit(&with_classes(true, |document| [0, 3, 0, 0, 1, 0, 2 * (document % 2), 0]));
    let report = group.classes.unwrap();
    assert!(report.note.is_none());
    let classes: Vec<(TokenClass, f64)> =
        report.classes.iter().map(|class| (class.class, class.share)).collect();
    assert_eq!(
        classes,
        [(TokenClass::Special, 0.1), (TokenClass::Common, 0.8), (TokenClass::Rare, 0.1)]
    );
    let tail = report.by_k.last().unwrap();
    assert_eq!((tail.k, tail.misses), (2000, 4 * (40 * 4 + 20 * 2)));
    for (found, share, lift, each) in [
        (&tail.classes[0], 0.6, 6.0, 120),
        (&tail.classes[1], 0.2, 0.25, 40),
        (&tail.classes[2], 0.2, 2.0, 40),
    ] {
        assert!(
            (found.share.value - share).abs() < 1e-12 && (found.lift.value - lift).abs() < 1e-12
        );
        assert_eq!(found.by_model, [each; 4]);
        let (low, high) = found.lift.bounds().unwrap();
        assert!(low < lift && lift < high, "{found:?}");
        assert!(matches!(found.share.interval, Interval::DocumentBootstrap { .. }));
    }
    // The number of rare misses of 40 documents is binomial: 2 x (20 ± 3.16), of 160 more: d share
    // = d m / 200 x 0.8.
    let error = tail.classes[2].share.standard_error.unwrap();
    assert!((error / (2.0 * 3.16 / 200.0 * 0.8) - 1.0).abs() < 0.1, "{error}");
    assert_eq!(
        report.verdict,
        "Of 800 misses at k = 2000, all models together, special tokens have 60 % of them but 10 % of the text (6.0 times \
         as often); rare tokens (1 in 100 000 or more) have 20 % of them but 10 % of the text (2.0 times as often)."
    );
}

#[test]
fn classes_without_a_vocabulary_carry_a_note_and_are_absent_where_none_were_counted() {
    let group = fit(&with_classes(false, |_| [0, 1, 0, 0, 0, 0, 0, 0]));
    let report = group.classes.unwrap();
    assert!(report.note.unwrap().contains("by frequency alone"));
    assert!(report.verdict.contains("100 % of them"), "{}", report.verdict);
    // Five misses a model are too few to name a class at, so the smaller k speaks.
    let few = fit(&with_classes(true, |document| [0, u32::from(document < 5), 0, 0, 0, 0, 0, 0]));
    assert!(few.classes.unwrap().verdict.contains("at k = 1,"));

    let mut mixed = with_classes(true, |_| [0; 8]);
    mixed[0].classes = None;
    assert!(fit(&mixed).classes.is_none());
    let mut other = with_classes(true, |_| [0; 8]);
    other[0].classes.as_mut().unwrap().basis.tokens += 1;
    assert!(fit(&other).classes.is_none());
}
