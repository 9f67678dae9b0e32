//! How often the intervals of curves are right: of the power law and of the power law with floor,
//! for few models.

// The long simulation reports its table.
#![allow(clippy::print_stderr)]

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use relscale_stats::bootstrap::wild;
use relscale_stats::forms::{self, Form, Shape, power::PowerForm, power_floor::PowerFloor};
use relscale_stats::interval::profile;
use relscale_stats::outcome::Caution;

/// Standard normal numbers, Box and Muller's way.
struct Normal(ChaCha8Rng);

impl Normal {
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn draw(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Sizes of a family: `models` over three decades.
fn sizes(models: usize) -> Vec<f64> {
    (0..models).map(|i| 1e6 * 1e3_f64.powf(i as f64 / (models - 1) as f64)).collect()
}

/// Ten times the largest size.
const FAR: f64 = 1e10;

/// `y = (1 - share) (x / 1e6)^-alpha + share`, and how points scatter about it.
#[derive(Clone, Copy)]
struct Truth {
    alpha: f64,
    share: f64,
    /// Relative scatter of each model for itself.
    scatter: f64,
    /// So many times that at the smallest size, falling to once at the largest.
    unequal: f64,
    /// Documents measured by all models; 0 for none, so that all scatter is the models' own.
    documents: usize,
}

/// The values of a family on one text.
struct Drawn {
    y: Vec<f64>,
    /// How much harder this text is than all texts, as a factor common to all models.
    hard: f64,
}

impl Truth {
    fn at(&self, x: f64) -> f64 {
        (1.0 - self.share) * (x / 1e6).powf(-self.alpha) + self.share
    }

    fn draw(&self, x: &[f64], normal: &mut Normal) -> Drawn {
        let mut y: Vec<f64> = x
            .iter()
            .map(|&x| {
                let scatter =
                    self.scatter * self.unequal.powf(1.0 - (x / 1e6).ln() / 1e3_f64.ln()).max(1.0);
                self.at(x) * (scatter * normal.draw()).exp()
            })
            .collect();
        let mut hard = 1.0;
        if self.documents > 0 {
            let mut sums = vec![0.0; x.len()];
            let (mut tokens, mut difficulties) = (0.0, 0.0);
            for _ in 0..self.documents {
                let length = 50.0 + (100.0 * normal.uniform()).floor();
                // Hard for all, and a little harder or easier for each.
                let difficulty = 1.0 + 0.3 * normal.draw();
                for sum in &mut sums {
                    *sum += length * (difficulty + 0.1 * normal.draw());
                }
                tokens += length;
                difficulties += length * difficulty;
            }
            hard = difficulties / tokens;
            y.iter_mut().zip(sums).for_each(|(y, sum)| *y *= sum / tokens);
        }
        Drawn { y, hard }
    }
}

/// What an interval is asked for, and its true value on a text that is `hard` times as hard as all
/// texts.
struct Statistic {
    name: &'static str,
    of: fn(&Shape) -> f64,
    truth: fn(&Truth, f64) -> f64,
}

const FLOOR: [Statistic; 3] = [
    Statistic { name: "alpha", of: |shape| shape.values()[1], truth: |truth, _| truth.alpha },
    Statistic { name: "c", of: |shape| shape.values()[2], truth: |truth, hard| truth.share * hard },
    FAR_VALUE,
];

const LINE: [Statistic; 2] = [
    Statistic { name: "alpha", of: |shape| shape.values()[1], truth: |truth, _| truth.alpha },
    FAR_VALUE,
];

const FAR_VALUE: Statistic = Statistic {
    name: "value at 10 x largest",
    of: |shape| shape.log_at(FAR).unwrap_or(f64::NAN),
    truth: |truth, hard| (truth.at(FAR) * hard).ln(),
};

/// How often one interval was right.
#[derive(Default, Clone, Copy)]
struct Tally {
    wild: Option<usize>,
    profile: usize,
    /// Against the truth of all texts instead of that of the text measured.
    profile_all_texts: usize,
    unbounded: usize,
}

struct Simulated {
    repetitions: usize,
    statistics: Vec<Tally>,
    /// Intervals for one more model, ten times the largest.
    new_model: usize,
    at_bound: usize,
}

fn simulate(
    form: &'static dyn Form,
    truth: &Truth,
    models: usize,
    (repetitions, refits): (usize, u32),
    statistics: &[Statistic],
) -> Simulated {
    let x = sizes(models);
    let seen: Vec<f64> = x.iter().copied().chain([FAR]).collect();
    let mut normal = Normal(ChaCha8Rng::seed_from_u64(models as u64));
    let tallies = vec![Tally::default(); statistics.len()];
    let mut out = Simulated { repetitions, statistics: tallies, new_model: 0, at_bound: 0 };
    for repetition in 0..repetitions {
        let Drawn { mut y, hard } = truth.draw(&seen, &mut normal);
        let new = y.pop().unwrap();
        let curve = forms::fit(form, &x, &y).unwrap();
        out.at_bound += usize::from(
            curve.cautions.iter().any(|caution| matches!(caution, Caution::AtBound { .. })),
        );
        let refits = (refits > 0).then(|| wild::refits(&curve, refits, repetition as u64).unwrap());
        for (statistic, tally) in statistics.iter().zip(&mut out.statistics) {
            let (here, everywhere) =
                ((statistic.truth)(truth, hard), (statistic.truth)(truth, 1.0));
            if let Some(refits) = &refits {
                let found =
                    refits.interval((statistic.of)(&curve.shape), statistic.of, 0.95).unwrap();
                *tally.wild.get_or_insert(0) +=
                    usize::from(found.low <= here && here <= found.high);
            }
            let found = profile::interval(&curve, statistic.of, 0.95).unwrap();
            tally.profile += usize::from(found.holds(here));
            tally.profile_all_texts += usize::from(found.holds(everywhere));
            tally.unbounded += usize::from(found.bounds().is_err());
        }
        out.new_model +=
            usize::from(profile::prediction(&curve, FAR, 0.95).unwrap().holds(new.ln()));
    }
    out
}

/// The short version of the table: intervals by profile for the exponent, and for a model that is
/// yet to come.
#[test]
fn profiles_cover_what_they_say() {
    let floor = Truth { alpha: 0.3, share: 0.3, scatter: 0.01, unequal: 1.0, documents: 100 };
    for models in [4, 6, 8, 12] {
        let found = simulate(&PowerFloor, &floor, models, (500, 0), &FLOOR[..1]);
        // Three standard errors of 500 repetitions are 2.9 %.
        for covered in [found.statistics[0].profile, found.new_model] {
            let share = covered as f64 / 500.0;
            assert!((0.921..=0.985).contains(&share), "{models} models: {share}");
        }
    }
}

/// The whole table; four minutes in a debug build.
///
/// `cargo test -p relscale-stats --test curve_coverage -- --ignored --nocapture`
#[test]
#[ignore = "minutes; its figures are in record/"]
fn table_of_coverages() {
    const REPETITIONS: usize = 1000;
    // Documents change nothing about how the two methods compare, so one of them is enough there.
    let refits = |truth: &Truth| if truth.documents == 0 { 100 } else { 0 };
    let clear = Truth { alpha: 0.3, share: 0.3, scatter: 0.01, unequal: 1.0, documents: 0 };
    let faint = Truth { alpha: 0.15, share: 0.1, scatter: 0.02, unequal: 1.0, documents: 0 };
    let line = Truth { alpha: 0.12, share: 0.0, scatter: 0.02, unequal: 1.0, documents: 0 };
    eprintln!("truth | models | statistic | profile | all texts | open | wild | c = 0");
    for (name, truth) in [
        ("clear floor", clear),
        ("clear floor, documents", Truth { documents: 100, ..clear }),
        ("clear floor, unequal", Truth { unequal: 4.0, ..clear }),
        ("faint floor", faint),
        ("faint floor, documents", Truth { documents: 100, ..faint }),
    ] {
        for models in [4, 6, 8, 12] {
            let found =
                simulate(&PowerFloor, &truth, models, (REPETITIONS, refits(&truth)), &FLOOR);
            report(name, models, &found, &FLOOR);
        }
    }
    for (name, truth) in [
        ("line", line),
        ("line, documents", Truth { documents: 100, ..line }),
        ("line, unequal", Truth { unequal: 4.0, ..line }),
    ] {
        for models in [4, 6, 8, 12] {
            let found = simulate(&PowerForm, &truth, models, (REPETITIONS, refits(&truth)), &LINE);
            report(name, models, &found, &LINE);
        }
    }
}

fn report(name: &str, models: usize, found: &Simulated, statistics: &[Statistic]) {
    let percent = |count: usize| 100.0 * count as f64 / found.repetitions as f64;
    for (statistic, tally) in statistics.iter().zip(&found.statistics) {
        eprintln!(
            "| {name} | {models} | {} | {:.1} | {:.1} | {:.0} | {} | {:.0} |",
            statistic.name,
            percent(tally.profile),
            percent(tally.profile_all_texts),
            percent(tally.unbounded),
            tally.wild.map_or(String::new(), |wild| format!("{:.1}", percent(wild))),
            percent(found.at_bound),
        );
    }
    eprintln!("| {name} | {models} | new model | {:.1} | | | | |", percent(found.new_model));
}
