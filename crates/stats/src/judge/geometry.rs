//! The directions that a set of x has, and the shares of residuals along them.

use super::{FEWEST_FOR_BEND, FEWEST_FOR_LUMPED};
use crate::optimise::{dot, subtract, unit};

/// A direction shorter than this, of one that was as long as its points, is rounding.
const ROUNDING: f64 = 1e-9;

/// Rounds of flips in the search for two groups; it has nearly always ended after three.
const ROUNDS: usize = 8;

/// Directions of places in `[0, 1]`, ascending.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    /// An orthonormal basis of the lines.
    line: [Vec<f64>; 2],
    /// One less leverage.
    freedom: Vec<f64>,
    /// The part of `place²` that no line has, of length 1, and its length before.
    bend: Option<(Vec<f64>, f64)>,
    /// Two lines by turns.
    by_turns: Vec<Vec<f64>>,
    /// How far the lines of two groups are apart at each place: the same everywhere, and growing
    /// from the smallest on.
    apart: [Vec<f64>; 2],
    /// Fewest points of a group.
    group: usize,
}

/// Shares of the sum of squares; absent where the points are too few.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    pub(super) bend: Option<f64>,
    /// The largest of any point.
    pub(super) outlier: f64,
    /// Absent also where places coincide, which have no order.
    pub(super) by_turns: Option<f64>,
    pub(super) groups: Option<f64>,
}

impl Geometry {
    /// `None` for fewer than three places.
    pub(super) fn new(places: &[f64]) -> Option<Self> {
        let points = places.len();
        if points < 3 {
            return None;
        }
        let flat = vec![(points as f64).sqrt().recip(); points];
        let mean = places.iter().sum::<f64>() / points as f64;
        let centred: Vec<f64> = places.iter().map(|place| place - mean).collect();
        let (slope, _) = unit(centred.clone(), std::slice::from_ref(&flat), ROUNDING)?;
        let line = [flat, slope];
        let freedom = (0..points)
            .map(|at| (1.0 - line.iter().map(|l| l[at] * l[at]).sum::<f64>()).max(0.0))
            .collect();
        let bend = (points >= FEWEST_FOR_BEND)
            .then(|| unit(centred.iter().map(|place| place * place).collect(), &line, ROUNDING))
            .flatten();
        let distinct = places.windows(2).all(|pair| pair[1] - pair[0] > ROUNDING);
        let by_turns = if points >= FEWEST_FOR_LUMPED && distinct {
            let turn = |at: usize| if at.is_multiple_of(2) { 1.0 } else { -1.0 };
            let apart: [fn(f64) -> f64; 3] = [|_| 1.0, |place| place, |place| 1.0 - place];
            let direction = |apart: fn(f64) -> f64| {
                places.iter().enumerate().map(|(at, &p)| turn(at) * apart(p)).collect()
            };
            apart
                .into_iter()
                .filter_map(|apart| Some(unit(direction(apart), &line, ROUNDING)?.0))
                .collect()
        } else {
            Vec::new()
        };
        Some(Self {
            line,
            freedom,
            bend,
            by_turns,
            apart: [vec![1.0; points], places.to_vec()],
            group: points.div_ceil(3),
        })
    }

    /// What a line leaves of values.
    pub(super) fn residuals(&self, values: &[f64]) -> Vec<f64> {
        let mut rest = values.to_vec();
        // Twice, as a large offset leaves its rounding the first time.
        for direction in self.line.iter().chain(&self.line) {
            let share = dot(direction, &rest);
            subtract(&mut rest, direction, share);
        }
        rest
    }

    /// All shares of residuals that are not all zero.
    pub(super) fn shares(&self, residuals: &[f64]) -> Shares {
        let squares: f64 = residuals.iter().map(|e| e * e).sum();
        let share = |direction: &[f64]| dot(direction, residuals).powi(2) / squares;
        let outlier = residuals
            .iter()
            .enumerate()
            .filter_map(|(at, &e)| self.of_point(at, e))
            .fold(0.0_f64, f64::max);
        let groups = (residuals.len() >= FEWEST_FOR_LUMPED).then(|| {
            self.apart.iter().map(|apart| self.two_groups(residuals, apart)).fold(0.0, f64::max)
        });
        Shares {
            bend: self.bend.as_ref().map(|(direction, _)| share(direction)),
            outlier: outlier / squares,
            by_turns: (!self.by_turns.is_empty()).then(|| {
                self.by_turns.iter().map(|direction| share(direction)).fold(0.0, f64::max)
            }),
            groups: groups.map(|explained| explained / squares),
        }
    }

    /// The residuals along the bend, and the length of `place²` along it.
    pub(super) fn along_bend(&self, residuals: &[f64]) -> (f64, f64) {
        self.bend
            .as_ref()
            .map_or((0.0, 1.0), |(direction, length)| (dot(direction, residuals), *length))
    }

    /// The sum of squares that leaving out a point takes away; `None` where the others define no
    /// line.
    pub(super) fn of_point(&self, at: usize, residual: f64) -> Option<f64> {
        (self.freedom[at] > ROUNDING).then(|| residual * residual / self.freedom[at])
    }

    /// The point's distance from the line through the others.
    pub(super) fn left_out(&self, at: usize, residual: f64) -> f64 {
        residual / self.freedom[at]
    }

    /// The most that any two groups explain, as far as a search finds: the points split by the
    /// order of their residuals, then single points moved while that helps. Data and draws are
    /// searched alike, so the test needs no more.
    fn two_groups(&self, residuals: &[f64], apart: &[f64]) -> f64 {
        let points = residuals.len();
        let mut order: Vec<usize> = (0..points).collect();
        order.sort_by(|&a, &b| residuals[a].total_cmp(&residuals[b]));
        let mut state = Split::new(self, residuals, apart);
        let mut best = (0.0, 0);
        for (done, &at) in order.iter().enumerate().take(points - self.group) {
            state.flip(at);
            if done + 1 >= self.group && state.explained() > best.0 {
                best = (state.explained(), done + 1);
            }
        }
        let mut state = Split::new(self, residuals, apart);
        order.iter().take(best.1).for_each(|&at| state.flip(at));
        for _ in 0..ROUNDS {
            let mut moved = false;
            for at in 0..points {
                let before = state.explained();
                state.flip(at);
                let size = state.second.min(points - state.second);
                if size >= self.group && state.explained() > before * (1.0 + ROUNDING) {
                    moved = true;
                } else {
                    state.flip(at);
                }
            }
            if !moved {
                break;
            }
        }
        state.explained()
    }
}

/// Points in two groups: the direction `±apart`, kept as its products with the residuals and with
/// the basis of the lines.
struct Split<'a> {
    geometry: &'a Geometry,
    residuals: &'a [f64],
    direction: Vec<f64>,
    with_residuals: f64,
    with_line: [f64; 2],
    squared: f64,
    /// Points of the second group.
    second: usize,
}

impl<'a> Split<'a> {
    fn new(geometry: &'a Geometry, residuals: &'a [f64], apart: &[f64]) -> Self {
        Self {
            geometry,
            residuals,
            with_residuals: dot(apart, residuals),
            with_line: [dot(apart, &geometry.line[0]), dot(apart, &geometry.line[1])],
            squared: dot(apart, apart),
            direction: apart.to_vec(),
            second: 0,
        }
    }

    fn flip(&mut self, at: usize) {
        let twice = 2.0 * self.direction[at];
        self.with_residuals -= twice * self.residuals[at];
        for (product, line) in self.with_line.iter_mut().zip(&self.geometry.line) {
            *product -= twice * line[at];
        }
        // The sign is the group, also where the lines meet and the direction is zero.
        let was_second = self.direction[at].is_sign_negative();
        self.direction[at] = -self.direction[at];
        if was_second {
            self.second -= 1;
        } else {
            self.second += 1;
        }
    }

    fn explained(&self) -> f64 {
        let [flat, slope] = self.with_line;
        let length = self.squared - flat * flat - slope * slope;
        if length <= ROUNDING * self.squared {
            0.0
        } else {
            self.with_residuals * self.with_residuals / length
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evenly(points: usize) -> Vec<f64> {
        (0..points).map(|at| at as f64 / (points - 1) as f64).collect()
    }

    #[test]
    fn each_share_is_one_for_what_it_looks_for() {
        let places = evenly(8);
        let geometry = Geometry::new(&places).unwrap();
        let shares = |value: &dyn Fn(usize) -> f64| {
            let values: Vec<f64> = (0..8).map(|at| 5.0 - 3.0 * places[at] + value(at)).collect();
            geometry.shares(&geometry.residuals(&values))
        };
        let near = |share: f64| (share - 1.0).abs() < 1e-12;
        assert!(near(shares(&|at| places[at] * places[at]).bend.unwrap()));
        assert!(near(shares(&|at| if at == 3 { 1.0 } else { 0.0 }).outlier));
        let turns = shares(&|at| if at % 2 == 0 { places[at] } else { 0.0 });
        assert!(near(turns.by_turns.unwrap()));
        assert!(near(turns.groups.unwrap()), "{turns:?}");
        let groups = shares(&|at| if [0, 1, 4, 6].contains(&at) { 1.0 } else { 0.0 });
        assert!(near(groups.groups.unwrap()) && groups.by_turns.unwrap() < 0.5, "{groups:?}");
    }

    #[test]
    fn the_share_of_a_point_is_that_of_leaving_it_out() {
        // 0 0 9 0 0 at 0, 1/4, ...: the others lie on the line zero.
        let geometry = Geometry::new(&evenly(5)).unwrap();
        let residuals = geometry.residuals(&[0.0, 0.0, 9.0, 0.0, 0.0]);
        assert!((geometry.left_out(2, residuals[2]) - 9.0).abs() < 1e-13);
        let squares: f64 = residuals.iter().map(|e| e * e).sum();
        assert!((geometry.of_point(2, residuals[2]).unwrap() / squares - 1.0).abs() < 1e-13);
    }

    #[test]
    fn places_that_coincide_have_no_turns_and_a_decisive_point_is_no_outlier() {
        let twins = Geometry::new(&[0.0, 0.0, 0.3, 0.6, 0.8, 1.0]).unwrap();
        assert!(twins.by_turns.is_empty());
        let decisive = Geometry::new(&[0.0, 0.0, 0.0, 1.0]).unwrap();
        assert_eq!(decisive.of_point(3, 1.0), None);
        assert!(Geometry::new(&[0.0, 1.0]).is_none());
    }
}
