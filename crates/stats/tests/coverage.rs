//! How often the intervals are right, by simulation: a claim of 95 % is a claim that can be tested.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use relscale_stats::bootstrap::{Sample, UnitTable, covariance, totals};
use relscale_stats::forms::power;
use relscale_stats::goodness::hotelling_tail;
use relscale_stats::interval::crossing;
use relscale_stats::optimise::{correlated, least_squares};

/// Standard normal numbers, Box and Muller's way.
struct Normal(ChaCha8Rng);

impl Normal {
    fn seeded(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn draw(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Sizes of a family: `models` over three decades.
fn sizes(models: usize) -> Vec<f64> {
    (0..models).map(|i| 3e3 * 1e3_f64.powf(i as f64 / (models - 1) as f64)).collect()
}

#[test]
fn student_t_covers_what_it_says_and_percentiles_over_models_do_not() {
    const REPETITIONS: usize = 4000;
    const ALPHA: f64 = 0.12;
    for models in [4, 5, 6, 8] {
        let x = sizes(models);
        let mut normal = Normal::seeded(models as u64);
        let mut student = 0;
        let mut prediction = 0;
        for _ in 0..REPETITIONS {
            let mut y: Vec<f64> =
                x.iter().map(|x| 3.0 * x.powf(-ALPHA) * (0.02 * normal.draw()).exp()).collect();
            let fit = power::fit(&x, &y).unwrap();
            let interval = fit.exponent_interval(0.95).unwrap();
            student += usize::from(interval.low <= ALPHA && ALPHA <= interval.high);
            // The largest model from the others.
            let truth = y.pop().unwrap();
            let smaller = power::fit(&x[..models - 1], &y).unwrap();
            let interval = smaller.prediction_interval(x[models - 1], 0.95).unwrap();
            prediction += usize::from(interval.low <= truth && truth <= interval.high);
        }
        // 4000 repetitions: three standard errors are 0.0103.
        for (name, covered) in [("slope", student), ("prediction", prediction)] {
            let share = covered as f64 / REPETITIONS as f64;
            assert!((0.938..=0.962).contains(&share), "{models} models, {name}: {share}");
        }
    }
}

/// The size at which a law takes a value, inside the data and two decades beyond.
#[test]
fn the_interval_of_a_crossing_covers_what_it_says() {
    const REPETITIONS: usize = 4000;
    let mut normal = Normal::seeded(11);
    for models in [4, 7] {
        let x: Vec<f64> = sizes(models).iter().map(|x| x.ln()).collect();
        for target in [1e5_f64.ln(), 3e8_f64.ln()] {
            let (mut law, mut endless) = (0, 0);
            for _ in 0..REPETITIONS {
                let y: Vec<f64> = x.iter().map(|x| 1.0 - 0.12 * x + 0.02 * normal.draw()).collect();
                let fit = least_squares::line(&x, &y).unwrap();
                match crossing::interval(&fit, 1.0 - 0.12 * target, crossing::Band::Line, 0.95) {
                    Ok(found) => law += usize::from(found.low <= target && target <= found.high),
                    // No end is no miss: the set is everything.
                    Err(_) => endless += 1,
                }
            }
            let share = (law + endless) as f64 / REPETITIONS as f64;
            assert!(
                (0.938..=0.962).contains(&share),
                "{models} models, {target}: {share} ({endless} without end)"
            );
            assert!(endless < REPETITIONS / 50, "{endless}");
        }
    }
}

/// Why laws use Student t over models: percentiles of refits to resampled residuals promise 95 %
/// and keep much less, the less the fewer the models.
#[test]
fn percentiles_over_few_models_promise_too_much() {
    const REPETITIONS: usize = 1000;
    let mut normal = Normal::seeded(3);
    for (models, expected) in [(4, 0.60..0.76), (6, 0.74..0.86), (8, 0.80..0.90)] {
        let x: Vec<f64> = sizes(models).iter().map(|x| x.ln()).collect();
        let mut covered = 0;
        for _ in 0..REPETITIONS {
            let y: Vec<f64> = x.iter().map(|x| -0.12 * x + 0.02 * normal.draw()).collect();
            let fit = least_squares::line(&x, &y).unwrap();
            let slopes = Sample::new((0..200).map(|_| {
                let again: Vec<f64> = x
                    .iter()
                    .map(|&x| {
                        fit.at(x) + fit.residuals[(normal.uniform() * models as f64) as usize]
                    })
                    .collect();
                least_squares::line(&x, &again).unwrap().slope
            }));
            let (low, high) = slopes.interval(0.95).unwrap();
            covered += usize::from(low <= -0.12 && -0.12 <= high);
        }
        let share = covered as f64 / REPETITIONS as f64;
        assert!(expected.contains(&share), "{models} models: {share}");
    }
}

#[test]
fn bootstrap_error_of_a_share_equals_the_binomial_one() {
    // Units of one token each: the bootstrap must find sqrt(p (1 - p) / n).
    const UNITS: usize = 3000;
    let rows: Vec<f64> = (0..UNITS).flat_map(|i| [f64::from(i % 10 < 3), 1.0]).collect();
    let drawn = totals(UnitTable::new(&rows, 2).unwrap(), 2000, 11).unwrap();
    let error = Sample::new(drawn.rows().map(|row| row[0] / row[1])).standard_error().unwrap();
    let binomial = (0.3_f64 * 0.7 / UNITS as f64).sqrt();
    // 2000 replicates know a standard deviation to 1.6 %.
    assert!((error / binomial - 1.0).abs() < 0.05, "{error} {binomial}");
}

#[test]
fn bootstrap_sees_that_tokens_of_a_document_are_alike() {
    // Documents of 100 tokens whose hit rates scatter by 0.1 about 0.5. The variance of the overall
    // share is (tau² + (p (1 - p) - tau²) / 100) / documents; tokens taken as independent give p (1
    // - p) / (100 documents).
    const DOCUMENTS: usize = 800;
    const TOKENS: f64 = 100.0;
    let tau = 0.1;
    let mut normal = Normal::seeded(8);
    let rows: Vec<f64> = (0..DOCUMENTS)
        .flat_map(|_| {
            let rate = (0.5 + tau * normal.draw()).clamp(0.0, 1.0);
            let hits = (0..TOKENS as usize).filter(|_| normal.uniform() < rate).count();
            [hits as f64, TOKENS]
        })
        .collect();
    let drawn = totals(UnitTable::new(&rows, 2).unwrap(), 2000, 5).unwrap();
    let error = Sample::new(drawn.rows().map(|row| row[0] / row[1])).standard_error().unwrap();
    let clustered = ((tau * tau + (0.25 - tau * tau) / TOKENS) / DOCUMENTS as f64).sqrt();
    let independent = (0.25 / (TOKENS * DOCUMENTS as f64)).sqrt();
    // 800 documents know the variance to 5 %, so the error to 2.5 %; the replicates add 1.6 %.
    assert!((error / clustered - 1.0).abs() < 0.10, "{error} {clustered}");
    assert!(error > 1.8 * independent, "{error} {independent}");
}

#[test]
fn document_intervals_of_a_ratio_cover() {
    // Documents of unequal length with a common rate: percentile interval of hits / tokens.
    const REPETITIONS: usize = 400;
    let mut normal = Normal::seeded(21);
    let mut covered = 0;
    for repetition in 0..REPETITIONS {
        let rows: Vec<f64> = (0..120)
            .flat_map(|_| {
                let tokens = 20.0 + (80.0 * normal.uniform()).floor();
                let rate = 0.4 + 0.08 * normal.draw();
                [tokens * rate + (tokens * 0.24).sqrt() * normal.draw(), tokens]
            })
            .collect();
        let table = UnitTable::new(&rows, 2).unwrap();
        let drawn = totals(table, 400, repetition as u64).unwrap();
        let (low, high) =
            Sample::new(drawn.rows().map(|row| row[0] / row[1])).interval(0.95).unwrap();
        covered += usize::from(low <= 0.4 && 0.4 <= high);
    }
    // Three standard errors of 400 repetitions are 0.033; percentiles of 120 documents fall a
    // little short.
    let share = covered as f64 / REPETITIONS as f64;
    assert!((0.905..=0.98).contains(&share), "{share}");
}

/// When models lie exactly on a law and only the documents differ, the test for scatter beyond the
/// sample's noise must seldom cry out, although all models read the same documents and err
/// together.
#[test]
fn residuals_that_are_sampling_noise_pass_for_it() {
    const REPETITIONS: usize = 500;
    const DOCUMENTS: usize = 80;
    const MODELS: usize = 6;
    let x: Vec<f64> = sizes(MODELS).iter().map(|x| x.ln()).collect();
    let mut normal = Normal::seeded(77);
    let mut cried = 0;
    for repetition in 0..REPETITIONS {
        // A model's loss on a document: the law, times the document's difficulty, and noise of its
        // own.
        let rows: Vec<f64> = (0..DOCUMENTS)
            .flat_map(|_| {
                let difficulty = 1.0 + 0.3 * normal.draw();
                let tokens = 50.0 + (100.0 * normal.uniform()).floor();
                let mut row: Vec<f64> = x
                    .iter()
                    .map(|x| tokens * (2.0 - 0.12 * x).exp() * (difficulty + 0.1 * normal.draw()))
                    .collect();
                row.push(tokens);
                row
            })
            .collect();
        let mean = |row: &[f64], model: usize| (row[model] / row[MODELS]).ln();
        let total: Vec<f64> =
            (0..=MODELS).map(|column| rows.iter().skip(column).step_by(MODELS + 1).sum()).collect();
        let y: Vec<f64> = (0..MODELS).map(|model| mean(&total, model)).collect();
        let table = UnitTable::new(&rows, MODELS + 1).unwrap();
        let drawn = totals(table, 300, repetition as u64).unwrap();
        let series: Vec<Vec<f64>> =
            (0..MODELS).map(|model| drawn.rows().map(|row| mean(row, model)).collect()).collect();
        let fit = correlated::line(&x, &y, &covariance(&series).unwrap()).unwrap();
        let chance = hotelling_tail(fit.chi_squared, fit.degrees_of_freedom, DOCUMENTS).unwrap();
        cried += usize::from(chance < 0.05);
    }
    // Three standard errors of 500 repetitions are 0.029; a covariance from 300 resamples adds a
    // little.
    let share = cried as f64 / REPETITIONS as f64;
    assert!((0.02..=0.085).contains(&share), "{share}");
}
