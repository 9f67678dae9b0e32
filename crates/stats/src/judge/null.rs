//! What the shares of a line's residuals are under a true line: drawn once for a set of x, and
//! remembered.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::geometry::{Geometry, Shares};

/// Kinds of scatter about a true line under each of which a test holds its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scatter {
    /// Normal, the same everywhere.
    Equal,
    /// Normal, its standard deviation falling from 4 at the smallest x to 1 at the largest.
    Falling,
    /// Normal, rising from 1 to 4.
    Rising,
    /// Student's t of three degrees of freedom: now and then a point far off.
    HeavyTailed,
}

impl Scatter {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Equal, Self::Falling, Self::Rising, Self::HeavyTailed];

    fn fill(self, places: &[f64], random: &mut ChaCha8Rng, out: &mut [f64]) {
        for (value, place) in out.iter_mut().zip(places) {
            let (first, second) = (uniform(random), uniform(random));
            let direction = (std::f64::consts::TAU * second).cos();
            // Box and Muller 1958; its like for Student's t, Bailey 1994.
            let normal = || (-2.0 * first.ln()).sqrt() * direction;
            *value = match self {
                Self::Equal => normal(),
                Self::Falling => (4.0 - 3.0 * place) * normal(),
                Self::Rising => (1.0 + 3.0 * place) * normal(),
                Self::HeavyTailed => (3.0 * (first.powf(-2.0 / 3.0) - 1.0)).sqrt() * direction,
            };
        }
    }
}

/// Uniform strictly between 0 and 1.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// The seed of the draws, a stream a kind. It is no option: a p-value is to be the same whoever
/// computes it.
const SEED: u64 = 20_387;

/// Draws of each kind: a share of 5 % is then known to 0.3 %.
const DRAWS: usize = 4999;

/// Numbers drawn for a kind, at most: from 50 points on there are fewer draws, but never fewer than
/// [`FEWEST`].
const NUMBERS: usize = 250_000;

const FEWEST: usize = 999;

/// Sets of x that are remembered.
const REMEMBERED: usize = 16;

/// Places are remembered, and drawn for, to so many parts of their range, so that neither the unit
/// of x nor its rounding matters.
const PARTS: f64 = 1e9;

/// Shares under a true line, ascending, one list a kind of scatter.
#[derive(Debug)]
pub(super) struct Null {
    bend: Vec<Vec<f64>>,
    outlier: Vec<Vec<f64>>,
    by_turns: Vec<Vec<f64>>,
    groups: Vec<Vec<f64>>,
}

impl Null {
    /// Chance of a bend's share this large, under any scatter but equal normal one, for which
    /// Student's t is exact.
    pub(super) fn bend(&self, share: f64) -> f64 {
        largest_tail(&self.bend[1..], share)
    }

    pub(super) fn outlier(&self, share: f64) -> f64 {
        largest_tail(&self.outlier, share)
    }

    pub(super) fn by_turns(&self, share: f64) -> f64 {
        largest_tail(&self.by_turns, share)
    }

    pub(super) fn groups(&self, share: f64) -> f64 {
        largest_tail(&self.groups, share)
    }
}

/// The data count as one of the draws (Davison and Hinkley 1997, eq. 4.11).
fn largest_tail(kinds: &[Vec<f64>], share: f64) -> f64 {
    kinds
        .iter()
        .map(|drawn| {
            let below = drawn.partition_point(|value| *value < share);
            (1 + drawn.len() - below) as f64 / (1 + drawn.len()) as f64
        })
        .fold(0.0, f64::max)
}

/// The shares under a true line through these places in `[0, 1]`, ascending: at least four, not all
/// alike.
///
/// Drawing takes tens of milliseconds and the laws of a study share their x, so the last sets are
/// remembered. What is remembered is what would be drawn again: nobody can tell but by the clock.
pub(super) fn distribution(places: &[f64]) -> Arc<Null> {
    static MEMORY: Mutex<VecDeque<(Vec<u64>, Arc<Null>)>> = Mutex::new(VecDeque::new());
    let key: Vec<u64> = places.iter().map(|place| (place * PARTS).round() as u64).collect();
    let find = || {
        let memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        memory.iter().find(|(known, _)| *known == key).map(|(_, null)| Arc::clone(null))
    };
    if let Some(known) = find() {
        return known;
    }
    let drawn = Arc::new(draw(&key.iter().map(|&part| part as f64 / PARTS).collect::<Vec<f64>>()));
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    if memory.len() == REMEMBERED {
        memory.pop_front();
    }
    memory.push_back((key, Arc::clone(&drawn)));
    drawn
}

fn draw(places: &[f64]) -> Null {
    let draws = DRAWS.min(NUMBERS / places.len()).max(FEWEST);
    let mut null =
        Null { bend: Vec::new(), outlier: Vec::new(), by_turns: Vec::new(), groups: Vec::new() };
    let Some(geometry) = Geometry::new(places) else { return null };
    let mut scatter = vec![0.0; places.len()];
    for (stream, kind) in (0..).zip(Scatter::ALL) {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        random.set_stream(stream);
        let shares: Vec<Shares> = (0..draws)
            .map(|_| {
                kind.fill(places, &mut random, &mut scatter);
                geometry.shares(&geometry.residuals(&scatter))
            })
            .collect();
        null.bend.push(ascending(shares.iter().filter_map(|shares| shares.bend)));
        null.outlier.push(ascending(shares.iter().map(|shares| shares.outlier)));
        null.by_turns.push(ascending(shares.iter().filter_map(|shares| shares.by_turns)));
        null.groups.push(ascending(shares.iter().filter_map(|shares| shares.groups)));
    }
    null
}

fn ascending(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = shares.collect();
    all.sort_by(f64::total_cmp);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scatter_has_the_spread_it_promises() {
        let places = [0.0, 0.5, 1.0];
        for (kind, wanted) in [
            (Scatter::Equal, [1.0, 1.0, 1.0]),
            (Scatter::Falling, [4.0, 2.5, 1.0]),
            (Scatter::Rising, [1.0, 2.5, 4.0]),
        ] {
            let mut random = ChaCha8Rng::seed_from_u64(1);
            let (mut sums, mut out) = ([0.0; 3], [0.0; 3]);
            for _ in 0..20_000 {
                kind.fill(&places, &mut random, &mut out);
                sums.iter_mut().zip(out).for_each(|(sum, value)| *sum += value * value);
            }
            for (sum, wanted) in sums.iter().zip(wanted) {
                // Known to 1 / sqrt(2 x 20 000) = 0.5 %.
                assert!(((sum / 20_000.0).sqrt() / wanted - 1.0).abs() < 0.02, "{kind:?} {sums:?}");
            }
        }
        // Student's t of 3: beyond 3.182 with chance 5 %.
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let (mut beyond, mut out) = (0, [0.0]);
        for _ in 0..20_000 {
            Scatter::HeavyTailed.fill(&[0.0], &mut random, &mut out);
            beyond += u32::from(out[0].abs() > 3.182);
        }
        assert!((900..1100).contains(&beyond), "{beyond}");
    }

    #[test]
    fn what_is_remembered_is_what_would_be_drawn() {
        let places = [0.0, 0.2, 0.45, 0.7, 1.0];
        let (first, again) = (distribution(&places), distribution(&places));
        assert!(Arc::ptr_eq(&first, &again));
        // A rounding of the last digit is the same set.
        assert!(Arc::ptr_eq(&first, &distribution(&[0.0, 0.2 + 1e-16, 0.45, 0.7 - 2e-16, 1.0])));
        let drawn = draw(&places);
        assert_eq!((&drawn.bend, &drawn.outlier), (&first.bend, &first.outlier));
    }
}
