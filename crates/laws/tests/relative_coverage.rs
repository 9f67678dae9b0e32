//! How often the intervals of the relative law are right and its claims false: long simulations,
//! run by hand, with their figures in `record/2026-11-28-relative-law.md`, and a short one that
//! always runs.

// The figures are for a person to copy.
#![allow(clippy::print_stderr)]

use proptest::test_runner::{RngAlgorithm, TestRng};
use relscale_laws::relative::{
    Measurements, ModelFamily, RelativeOptions, Series, SeriesPoint, fit_relative,
};
use relscale_laws::{RelativeFamily, Trend};

/// Uniform numbers from a seed, and normal ones by Box and Muller's way.
struct Normal(TestRng);

impl Normal {
    fn seeded(seed: u64) -> Self {
        let mut bytes = [7_u8; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn uniform(&mut self) -> f64 {
        use proptest::prelude::Rng;
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn draw(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A family of `models` over two decades of compute: a baseline and a treatment a slope. A model's
/// own noise is in all of them; each distribution has noise of its own besides.
fn family(models: usize, slopes: &[f64], own: f64, normal: &mut Normal) -> Measurements {
    let x: Vec<f64> =
        (0..models).map(|i| 1e18 * 100_f64.powf(i as f64 / (models - 1) as f64)).collect();
    let common: Vec<f64> = x.iter().map(|_| 0.02 * normal.draw()).collect();
    let mut series = |name: String, prefactor: f64, beta: f64| Series {
        distribution: name,
        points: x
            .iter()
            .zip(&common)
            .enumerate()
            .map(|(at, (&x, common))| SeriesPoint {
                counted: None,
                model: format!("m{at}"),
                x,
                error: prefactor * x.powf(-beta) * (common + own * normal.draw()).exp(),
                replicates: Err("none".to_owned()),
            })
            .collect(),
        left_out: Vec::new(),
        units: None,
    };
    let mut all = vec![series("base".to_owned(), 5.0, 0.05)];
    all.extend(
        slopes.iter().enumerate().map(|(at, slope)| series(format!("t{at:02}"), 6.0, 0.05 - slope)),
    );
    Measurements {
        x: "FLOPs".to_owned(),
        distributions: "corpus".to_owned(),
        error: "loss".to_owned(),
        unit: "1".to_owned(),
        files: Vec::new(),
        families: vec![ModelFamily {
            name: "all".to_owned(),
            series: all,
            places: Default::default(),
            flags: Vec::new(),
        }],
    }
}

fn fit(measurements: &Measurements) -> RelativeFamily {
    fit_relative(measurements, &RelativeOptions::new("base"), None).unwrap().families.remove(0)
}

/// What came of one true slope.
#[derive(Debug, Default)]
struct Counts {
    covered: usize,
    predicted: usize,
    closes: usize,
    widens: usize,
    parallel: usize,
}

fn count(models: usize, slope: f64, own: f64, repetitions: usize) -> Counts {
    let mut normal = Normal::seeded(models as u64 + (slope * 1e5) as u64);
    let mut counts = Counts::default();
    for _ in 0..repetitions {
        let family = fit(&family(models, &[slope], own, &mut normal));
        let law = family.gaps[0].fit().unwrap();
        let (low, high) = law.delta_beta.bounds().unwrap();
        counts.covered += usize::from(low <= slope && slope <= high);
        // The largest model's gap from the smaller ones.
        let held = law.power.audit.last().and_then(|step| step.predictions.last());
        counts.predicted += usize::from(held.and_then(|held| held.covered) == Some(true));
        match law.trend {
            Trend::Crossed if law.delta_beta.value < 0.0 => counts.closes += 1,
            Trend::Closes => counts.closes += 1,
            Trend::Crossed | Trend::Widens => counts.widens += 1,
            Trend::Parallel => counts.parallel += 1,
            Trend::Undecided => {}
        }
    }
    counts
}

#[test]
fn intervals_cover_and_claims_are_seldom_false() {
    const REPETITIONS: usize = 300;
    let share = |count: usize| count as f64 / REPETITIONS as f64;
    // Three standard errors at 95 % are 0.038, at 5 % likewise.
    let flat = count(7, 0.0, 0.003, REPETITIONS);
    assert!((0.912..=0.988).contains(&share(flat.covered)), "{flat:?}");
    assert!(share(flat.closes + flat.widens) < 0.088, "{flat:?}");
    // At the very edge of the margin "parallel" is false as often as is allowed; well beyond it
    // never.
    let edge = count(7, 0.002, 0.0005, REPETITIONS);
    assert!(share(edge.parallel) < 0.088, "{edge:?}");
    let steep = count(7, -0.01, 0.001, REPETITIONS);
    assert_eq!((steep.closes, steep.widens, steep.parallel), (REPETITIONS, 0, 0));
}

/// `cargo test -p relscale-laws --test relative_coverage -- --ignored --nocapture`
#[test]
#[ignore = "46 rates over 2000 families each; the figures are in record/"]
fn rates_over_many_families() {
    const REPETITIONS: usize = 2000;
    eprintln!(
        "models slope noise covered predicted closes widens parallel (per cent of {REPETITIONS})"
    );
    for (slope, own) in
        [(0.0, 0.003), (0.0, 0.0005), (0.002, 0.0005), (0.005, 0.003), (-0.01, 0.003)]
    {
        for models in [4, 5, 7, 12] {
            let found = count(models, slope, own, REPETITIONS);
            let share = |count: usize| 100.0 * count as f64 / REPETITIONS as f64;
            eprintln!(
                "{models} {slope} {own} {:.1} {:.1} {:.1} {:.1} {:.1}",
                share(found.covered),
                share(found.predicted),
                share(found.closes),
                share(found.widens),
                share(found.parallel)
            );
            assert!((92.0..=98.0).contains(&share(found.covered)), "{found:?}");
            assert!((92.0..=98.0).contains(&share(found.predicted)), "{found:?}");
        }
    }
    // Twelve treatments of one baseline, of which some number has a slope: the mean share of false
    // claims among those made.
    eprintln!("with slope, mean share of false claims, claims a family");
    for real in [0, 3, 6] {
        let mut normal = Normal::seeded(900 + real as u64);
        let slopes: Vec<f64> = (0..12).map(|at| if at < real { -0.006 } else { 0.0 }).collect();
        let (mut shares, mut claims) = (0.0, 0);
        for _ in 0..REPETITIONS {
            let family = fit(&family(7, &slopes, 0.003, &mut normal));
            let claimed = |at: usize| {
                matches!(
                    family.gaps[at].fit().map(|law| law.trend),
                    Some(Trend::Closes | Trend::Widens | Trend::Crossed)
                )
            };
            let all = (0..12).filter(|at| claimed(*at)).count();
            let wrong = (real..12).filter(|at| claimed(*at)).count();
            shares += wrong as f64 / all.max(1) as f64;
            claims += all;
        }
        let (share, each) = (shares / REPETITIONS as f64, claims as f64 / REPETITIONS as f64);
        eprintln!("{real} {share:.4} {each:.2}");
        assert!(share < 0.06, "{real}: {share}");
    }
}
