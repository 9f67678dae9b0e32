//! One search for all fits that have no closed form: a grid, a polish, a second method, a verdict.
//!
//! It trusts no method's claim to have converged. The lowest places of a grid are walked down from;
//! a second method that fails in other ways looks for the minimum too; where it finds a lower point
//! that is walked down from in its turn; and whether the two agree is said. The answer is the
//! lowest point seen.

use super::newton::{self, Residuals};
use super::{Bound, Minimum, nelder_mead};

/// The two methods of a search.
pub trait Search {
    /// A second method that gains at least this much is followed; by default any gain at all.
    const FOLLOWED: f64 = f64::MIN_POSITIVE;

    /// Walks downhill from a point, and never ends above it.
    fn polish(&mut self, start: &[f64]) -> Minimum;

    /// The minimum by another method, from a place of its own choosing.
    fn second(&mut self, best: &Minimum) -> Minimum;

    /// Whether the second method confirms the first: what was best before it, what it found, what
    /// is best now.
    fn agree(&mut self, before: &Minimum, second: &Minimum, best: &Minimum) -> bool;
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The lowest point seen.
    pub best: Minimum,
    /// The second method agrees.
    pub confirmed: bool,
}

/// Searches from the given places, asking the second method at most `rounds` times. `None` when no
/// start is allowed.
pub fn search<S: Search>(
    methods: &mut S,
    starts: impl IntoIterator<Item = Vec<f64>>,
    rounds: usize,
) -> Option<Found> {
    let mut best = walked(starts, |start| methods.polish(&start))?;
    let mut confirmed = false;
    for _ in 0..rounds {
        let second = methods.second(&best);
        let before = best.clone();
        let followed = before.value - second.value >= S::FOLLOWED;
        if followed {
            let again = methods.polish(&second.point);
            for candidate in [again, second.clone()] {
                if candidate.value < best.value {
                    best = candidate;
                }
            }
        }
        confirmed = methods.agree(&before, &second, &best);
        if confirmed || !followed {
            break;
        }
    }
    Some(Found { best, confirmed })
}

/// The lowest of the points that walks from the given places end at; `None` when no start is
/// allowed.
pub fn walked<P>(
    starts: impl IntoIterator<Item = P>,
    walk: impl FnMut(P) -> Minimum,
) -> Option<Minimum> {
    let ends = starts.into_iter().map(walk).filter(|end| end.value.is_finite());
    ends.min_by(|a, b| a.value.total_cmp(&b.value))
}

/// The `keep` lowest of the places of a grid with their values, lowest first.
pub fn lowest<P>(
    places: impl IntoIterator<Item = P>,
    mut value: impl FnMut(&P) -> f64,
    keep: usize,
) -> Vec<(P, f64)> {
    let mut found: Vec<(P, f64)> = places
        .into_iter()
        .map(|place| {
            let value = value(&place);
            (place, value)
        })
        .collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found.truncate(keep);
    found
}

/// Relative difference of two sums of squares that is no difference.
const SAME: f64 = 1e-6;

/// Sums of squares: polished by damped Gauss-Newton, and by a simplex that starts from the lowest
/// place of the grid by itself and must arrive at the same sum.
pub struct LeastSquares<'a, R> {
    /// What is squared.
    pub problem: &'a mut R,
    /// Where the parameters may lie.
    pub bounds: &'a [Bound],
    /// The lowest place of the grid.
    pub from: &'a [f64],
    /// Edges of the simplex.
    pub steps: &'a [f64],
    /// A sum of squares that is rounding.
    pub noise: f64,
}

impl<R: Residuals> Search for LeastSquares<'_, R> {
    fn polish(&mut self, start: &[f64]) -> Minimum {
        newton::polish(self.problem, start, self.bounds)
    }

    fn second(&mut self, _: &Minimum) -> Minimum {
        let mut residuals = Vec::new();
        let sum = |point: &[f64]| match self.problem.residuals(point, &mut residuals) {
            true => residuals.iter().map(|r| r * r).sum(),
            false => f64::INFINITY,
        };
        nelder_mead::minimise(sum, self.from, self.steps, self.bounds)
    }

    fn agree(&mut self, _: &Minimum, second: &Minimum, best: &Minimum) -> bool {
        second.value - best.value <= SAME * best.value + self.noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two valleys, at 0 (height 1) and at 10 (height 0), and a second method that is told what to
    /// find.
    struct Valleys(Vec<f64>);

    fn height(x: f64) -> f64 {
        if x < 5.0 { 1.0 + x * x } else { (x - 10.0).powi(2) }
    }

    impl Search for Valleys {
        fn polish(&mut self, start: &[f64]) -> Minimum {
            let x = if start[0] < 5.0 { 0.0 } else { 10.0 };
            Minimum {
                point: vec![x],
                value: if start[0].is_nan() { f64::INFINITY } else { height(x) },
            }
        }

        fn second(&mut self, _: &Minimum) -> Minimum {
            let x = self.0.remove(0);
            Minimum { point: vec![x], value: height(x) }
        }

        fn agree(&mut self, before: &Minimum, second: &Minimum, _: &Minimum) -> bool {
            (before.value - second.value).abs() < 0.1
        }
    }

    fn found(starts: &[f64], second: &[f64], rounds: usize) -> Option<(f64, bool)> {
        let starts = starts.iter().map(|start| vec![*start]);
        let found = search(&mut Valleys(second.to_vec()), starts, rounds)?;
        Some((found.best.point[0], found.confirmed))
    }

    #[test]
    fn a_lower_point_of_the_second_method_is_followed_and_then_confirmed() {
        assert_eq!(found(&[3.0], &[0.1], 3), Some((0.0, true)));
        assert_eq!(found(&[3.0], &[9.5, 9.9], 3), Some((10.0, true)));
        assert_eq!(found(&[3.0], &[9.5], 1), Some((10.0, false)));
        // A second method that stops higher neither moves nor confirms anything, and is not asked
        // again.
        assert_eq!(found(&[3.0, 8.0], &[8.0], 3), Some((10.0, false)));
        assert_eq!(found(&[f64::NAN], &[], 3), None);
    }

    #[test]
    fn the_lowest_places_come_first() {
        let places = lowest([4.0, 1.0, 12.0, 9.0], |x| height(*x), 3);
        assert_eq!(places, [(9.0, 1.0), (1.0, 2.0), (12.0, 4.0)]);
    }
}
