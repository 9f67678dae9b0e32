//! Climbing a log-likelihood of one or two coordinates in a box.
//!
//! From each start and from the best point of a coarse lattice a simplex, from the best of their
//! ends Newton's steps with derivatives by central differences, then a second simplex from some
//! standard errors away as a cross-check. Differences are taken over a fraction of a standard
//! error, found from the curvature itself: there the likelihood is close to a parabola and the
//! differences stand far above rounding. No step's claim to have converged is believed: what is
//! returned is the best point that was ever evaluated, and whether the two methods agree on it.

use crate::optimise::nelder_mead::{self, Effort};
use crate::optimise::search::{self, Found, Search};
use crate::optimise::{Bound, Minimum};

/// The top of a likelihood.
#[derive(Debug, Clone)]
pub(super) struct Maximum {
    /// The best point seen.
    pub(super) point: Vec<f64>,
    /// The likelihood there.
    pub(super) value: f64,
    /// Coordinates that ended at an end of the box.
    pub(super) at_bound: Vec<Option<End>>,
    /// The inverse of minus the second derivatives, row by row; `None` at a bound or where the top
    /// is flat in some direction.
    pub(super) covariance: Option<Vec<f64>>,
    /// Newton's steps and the simplex came to the same height.
    pub(super) confirmed: bool,
}

/// An end of the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Low,
    High,
}

/// A box: lowest and highest value of each coordinate.
pub(super) type Ranges = [(f64, f64)];

/// Times that the cross-check is made.
const ROUNDS: usize = 3;

/// Log-likelihoods closer than this are the same: a hundred-thousandth of what would be noticed in
/// any test.
const SAME: f64 = 1e-5;

/// The top of `value` within the box. `None` when no start has a finite value.
pub(super) fn maximise(
    value: &dyn Fn(&[f64]) -> f64,
    starts: &[Vec<f64>],
    bounds: &Ranges,
) -> Option<Maximum> {
    let value = |point: &[f64]| {
        let value = value(point);
        if value.is_nan() { f64::NEG_INFINITY } else { value }
    };
    let wide = vec![0.3; bounds.len()];
    let lattice = lattice(&value, bounds);
    let (rough, _) = starts
        .iter()
        .chain(&lattice)
        .map(|start| simplex(&value, &inside(start, bounds), &wide, bounds, 30, 1e-2))
        .filter(|vertex| vertex.1.is_finite())
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let start = std::iter::once(rough);
    let mut methods = Climb { value: &value, bounds, covariance: None };
    let Found { best, confirmed } = search::search(&mut methods, start, ROUNDS)?;
    let mut covariance = methods.covariance;
    let at_bound: Vec<Option<End>> =
        best.point.iter().zip(bounds).map(|(&x, &ends)| end(x, ends)).collect();
    if at_bound.iter().any(Option::is_some) {
        covariance = None;
    }
    Some(Maximum { point: best.point, value: -best.value, at_bound, covariance, confirmed })
}

/// The top of `value`, of one coordinate without limits, from places that are close to it: by
/// Newton's steps from the higher of them, and as [`maximise`] where those do not settle on a top.
pub(super) fn follow(value: &dyn Fn(&[f64]) -> f64, starts: &[f64]) -> Option<(f64, f64)> {
    let everywhere = [(f64::NEG_INFINITY, f64::INFINITY)];
    let height = |point: &[f64]| {
        let value = value(point);
        if value.is_nan() { f64::NEG_INFINITY } else { value }
    };
    let places = starts.iter().map(|&start| (vec![start], height(&[start])));
    let from = places.filter(|place| place.1.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some(from) = from {
        let Climbed { best, covariance, settled } = newton(&height, &from, &everywhere);
        if settled && covariance.is_some() {
            return Some((best.0[0], best.1));
        }
    }
    let starts: Vec<Vec<f64>> = starts.iter().map(|&start| vec![start]).collect();
    maximise(value, &starts, &everywhere).map(|found| (found.point[0], found.value))
}

type Vertex = (Vec<f64>, f64);

/// Newton's steps, and a simplex from some standard errors away as a cross-check; of minus the
/// likelihood.
struct Climb<'a, F> {
    value: &'a F,
    bounds: &'a Ranges,
    /// At the place that Newton's steps came to last.
    covariance: Option<Vec<f64>>,
}

impl<F: Fn(&[f64]) -> f64> Climb<'_, F> {
    /// Standard errors of the coordinates, or what stands in for them.
    fn errors(&self) -> Vec<f64> {
        let size = self.bounds.len();
        let error =
            |i: usize| self.covariance.as_ref().map_or(0.1, |c| c[i * size + i].sqrt().min(1.0));
        (0..size).map(error).collect()
    }

    fn simplex(&self, start: &[f64], evaluations: usize) -> Minimum {
        let start = inside(start, self.bounds);
        let (point, value) =
            simplex(self.value, &start, &self.errors(), self.bounds, evaluations, 0.1 * SAME);
        Minimum { point, value: -value }
    }
}

impl<F: Fn(&[f64]) -> f64> Search for Climb<'_, F> {
    const FOLLOWED: f64 = SAME;

    fn polish(&mut self, start: &[f64]) -> Minimum {
        let from = (start.to_vec(), (self.value)(start));
        let climbed = newton(self.value, &from, self.bounds);
        self.covariance = climbed.covariance;
        Minimum { point: climbed.best.0, value: -climbed.best.1 }
    }

    fn second(&mut self, best: &Minimum) -> Minimum {
        let away: Vec<f64> =
            best.point.iter().zip(self.errors()).map(|(x, error)| x + 2.0 * error).collect();
        self.simplex(&away, 100)
    }

    fn agree(&mut self, before: &Minimum, second: &Minimum, _: &Minimum) -> bool {
        let gain = before.value - second.value;
        // No higher; and if lower, the simplex was the one that got stuck, from a place of its own
        // choosing.
        gain.abs() <= SAME
            || gain < 0.0 && self.simplex(&before.point, 50).value >= before.value - SAME
    }
}

/// The highest point of a coarse lattice over the box, where the box is finite: the start of last
/// resort.
fn lattice(value: &impl Fn(&[f64]) -> f64, bounds: &Ranges) -> Option<Vec<f64>> {
    const LINES: usize = 9;
    if bounds.iter().any(|(low, high)| !(high - low).is_finite()) {
        return None;
    }
    let at = |(low, high): (f64, f64), line: usize| {
        low + (high - low) * (line as f64 + 0.5) / LINES as f64
    };
    (0..LINES.pow(bounds.len() as u32))
        .map(|cell| {
            let point: Vec<f64> = bounds
                .iter()
                .enumerate()
                .map(|(i, &range)| at(range, cell / LINES.pow(i as u32) % LINES))
                .collect();
            let height = value(&point);
            (point, height)
        })
        .filter(|vertex| vertex.1.is_finite())
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|vertex| vertex.0)
}

fn inside(point: &[f64], bounds: &Ranges) -> Vec<f64> {
    point.iter().zip(bounds).map(|(x, &(low, high))| x.clamp(low, high)).collect()
}

/// The end of its range that a coordinate stands at, to within a thousandth of the range.
fn end(x: f64, (low, high): (f64, f64)) -> Option<End> {
    let near = 1e-3 * (high - low);
    if !near.is_finite() {
        None
    } else if x - low <= near {
        Some(End::Low)
    } else if high - x <= near {
        Some(End::High)
    } else {
        None
    }
}

struct Climbed {
    best: Vertex,
    covariance: Option<Vec<f64>>,
    /// Twice in a row there was nothing to gain.
    settled: bool,
}

/// A gain of the log-likelihood that is none.
const NOTHING: f64 = 1e-10;

/// Newton's method, damped, on the coordinates that no end of the box holds back.
fn newton(value: &impl Fn(&[f64]) -> f64, from: &Vertex, bounds: &Ranges) -> Climbed {
    let n = bounds.len();
    let mut best = from.clone();
    let mut steps = vec![1e-3; n];
    let mut covariance = None;
    let mut settled = 0;
    for _ in 0..40 {
        let local = differences(value, &best, &steps, bounds);
        // The scale of the next differences: about a third of a standard error.
        for (i, step) in steps.iter_mut().enumerate() {
            let curvature = -local.second[i * n + i];
            *step = if curvature > 0.0 {
                (0.3 / curvature.sqrt()).clamp(1e-7, 0.3)
            } else {
                (4.0 * *step).min(0.3)
            };
        }
        let held: Vec<bool> = (0..n)
            .map(|i| {
                let (low, high) = bounds[i];
                best.0[i] <= low && local.first[i] <= 0.0
                    || best.0[i] >= high && local.first[i] >= 0.0
            })
            .collect();
        covariance = negative_inverse(&local.second, &vec![false; n]);
        let Some(direction) = uphill(&local, &held) else { break };
        let gain: f64 = 0.5 * direction.iter().zip(&local.first).map(|(d, g)| d * g).sum::<f64>();
        let mut factor = direction.iter().fold(1.0_f64, |least, d| least.min(1.5 / d.abs()));
        let mut moved = false;
        // Where nothing is to be gained a shorter step gains nothing either.
        for _ in 0..if gain.abs() < NOTHING { 1 } else { 25 } {
            let trial: Vec<f64> =
                best.0.iter().zip(&direction).map(|(x, d)| x + factor * d).collect();
            let trial = inside(&trial, bounds);
            let height = value(&trial);
            if height > best.1 {
                best = (trial, height);
                moved = true;
                break;
            }
            factor *= 0.4;
        }
        // Twice in a row nothing to gain: the second time with differences over the right distance.
        settled = if gain.abs() < NOTHING || !moved { settled + 1 } else { 0 };
        if settled == 2 {
            break;
        }
    }
    Climbed { best, covariance, settled: settled == 2 }
}

struct Local {
    first: Vec<f64>,
    /// Row by row.
    second: Vec<f64>,
}

/// Derivatives by central differences of fourth order; one-sided of second order where the box
/// leaves no room.
fn differences(
    value: &impl Fn(&[f64]) -> f64,
    at: &Vertex,
    steps: &[f64],
    bounds: &Ranges,
) -> Local {
    let n = steps.len();
    let shifted = |moves: &[(usize, f64)]| {
        let mut point = at.0.clone();
        moves.iter().for_each(|&(i, by)| point[i] += by);
        value(&point)
    };
    let (mut first, mut second) = (vec![0.0; n], vec![0.0; n * n]);
    for i in 0..n {
        let (h, (low, high)) = (steps[i], bounds[i]);
        let f = |m: f64| shifted(&[(i, m * h)]);
        let room = (at.0[i] - low >= 2.0 * h, high - at.0[i] >= 2.0 * h);
        if room.0 && room.1 {
            let (near, far) = ((f(1.0), f(-1.0)), (f(2.0), f(-2.0)));
            first[i] = (8.0 * (near.0 - near.1) - (far.0 - far.1)) / (12.0 * h);
            second[i * n + i] =
                (16.0 * (near.0 + near.1) - (far.0 + far.1) - 30.0 * at.1) / (12.0 * h * h);
        } else {
            let side = if room.1 { 1.0 } else { -1.0 };
            let (one, two) = (f(side), f(2.0 * side));
            first[i] = side * (4.0 * one - two - 3.0 * at.1) / (2.0 * h);
            second[i * n + i] = (two - 2.0 * one + at.1) / (h * h);
        }
        for j in 0..i {
            let side = |k: usize, way: f64| {
                let point = at.0[k] + way * steps[k];
                if point < bounds[k].0 || point > bounds[k].1 { 0.0 } else { way * steps[k] }
            };
            let (up, down) = ((side(i, 1.0), side(j, 1.0)), (side(i, -1.0), side(j, -1.0)));
            let area = (up.0 - down.0) * (up.1 - down.1);
            let mixed = shifted(&[(i, up.0), (j, up.1)])
                - shifted(&[(i, up.0), (j, down.1)])
                - shifted(&[(i, down.0), (j, up.1)])
                + shifted(&[(i, down.0), (j, down.1)]);
            second[i * n + j] = mixed / area;
            second[j * n + i] = mixed / area;
        }
    }
    Local { first, second }
}

/// Newton's step on the coordinates that are not held, or, where the likelihood is not curved
/// downwards, a step uphill of the size that the curvature's magnitude suggests. `None` when all
/// are held.
fn uphill(local: &Local, held: &[bool]) -> Option<Vec<f64>> {
    let n = held.len();
    if held.iter().all(|&held| held) || local.first.iter().any(|g| !g.is_finite()) {
        return None;
    }
    if let Some(inverse) = negative_inverse(&local.second, held) {
        return Some(
            (0..n).map(|i| (0..n).map(|j| inverse[i * n + j] * local.first[j]).sum()).collect(),
        );
    }
    let along = |i: usize| {
        let curvature = local.second[i * n + i].abs();
        if held[i] {
            0.0
        } else {
            local.first[i] / curvature.max(local.first[i].abs()).max(f64::MIN_POSITIVE)
        }
    };
    Some((0..n).map(along).collect())
}

/// Inverse of minus the second derivatives over the coordinates not held, zero in the others.
/// `None` unless it is positive definite beyond rounding.
fn negative_inverse(second: &[f64], held: &[bool]) -> Option<Vec<f64>> {
    let n = held.len();
    match n {
        1 => (second[0] < 0.0).then(|| vec![-1.0 / second[0]]),
        _ => {
            let [a, b, d] = [-second[0], -second[1], -second[3]];
            match (held[0], held[1]) {
                (false, true) => (a > 0.0).then(|| vec![1.0 / a, 0.0, 0.0, 0.0]),
                (true, false) => (d > 0.0).then(|| vec![0.0, 0.0, 0.0, 1.0 / d]),
                _ => {
                    let determinant = a * d - b * b;
                    let sound = a > 0.0 && d > 0.0 && determinant > 1e-12 * a * d;
                    sound.then(|| {
                        vec![d / determinant, -b / determinant, -b / determinant, a / determinant]
                    })
                }
            }
        }
    }
}

/// The crate's simplex, upside down, with a number of evaluations a dimension and a height below
/// which all is level.
fn simplex(
    value: &impl Fn(&[f64]) -> f64,
    start: &[f64],
    steps: &[f64],
    bounds: &Ranges,
    evaluations: usize,
    same: f64,
) -> Vertex {
    let bounds: Vec<Bound> = bounds.iter().map(|&(low, high)| Bound { low, high }).collect();
    let effort = Effort { simplices: 1, evaluations, same };
    let found = nelder_mead::minimise_with(|point| -value(point), start, steps, &bounds, effort);
    (found.point, -found.value)
}
