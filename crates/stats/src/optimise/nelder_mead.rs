//! The simplex of Nelder and Mead (1965): a minimiser that asks for values alone.
//!
//! It is here to disagree. It knows no derivative, so a wrong derivative, a kink or a flat valley
//! that stops [`newton`](super::newton) does not stop it. Coefficients adapted to the dimension
//! (Gao and Han 2012, *Comput. Optim. Appl.* 51, 259); restarted from its best point until a
//! restart gains nothing, since a simplex can collapse without being anywhere near a minimum
//! (McKinnon 1998). Points are clamped to the box.

use super::{Bound, Minimum};

/// When to stop looking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Times a simplex is set up, the first one counted.
    pub simplices: usize,
    /// Evaluations of one simplex for each dimension.
    pub evaluations: usize,
    /// A simplex whose values differ by less has arrived; so has one of the size of rounding,
    /// whatever this says.
    pub same: f64,
}

impl Effort {
    /// To the last digits.
    pub const FULL: Self = Self { simplices: 3, evaluations: 120, same: 0.0 };
}

/// Minimises `function` in the box from `start`, with a first simplex of the edges `steps`.
///
/// A value of NaN or infinity means "not allowed". The answer is the best point seen, the start
/// included.
///
/// ```
/// use relscale_stats::optimise::{Bound, nelder_mead};
/// let rosenbrock = |p: &[f64]| (1.0 - p[0]).powi(2) + 100.0 * (p[1] - p[0] * p[0]).powi(2);
/// let found = nelder_mead::minimise(rosenbrock, &[-1.2, 1.0], &[0.5, 0.5], &[Bound::NONE; 2]);
/// assert!(found.value < 1e-12 && (found.point[0] - 1.0).abs() < 1e-5);
/// ```
pub fn minimise(
    function: impl FnMut(&[f64]) -> f64,
    start: &[f64],
    steps: &[f64],
    bounds: &[Bound],
) -> Minimum {
    minimise_with(function, start, steps, bounds, Effort::FULL)
}

/// As [`minimise`], with less effort where a rough place or a known height is enough.
pub fn minimise_with(
    mut function: impl FnMut(&[f64]) -> f64,
    start: &[f64],
    steps: &[f64],
    bounds: &[Bound],
    effort: Effort,
) -> Minimum {
    let mut value = |point: &[f64]| {
        let value = function(point);
        if value.is_nan() { f64::INFINITY } else { value }
    };
    let mut best = (start.to_vec(), value(start));
    for restart in 0..effort.simplices {
        let shrink = 0.1_f64.powi(restart as i32);
        let before = best.1;
        best = simplex(&mut value, best, (steps, shrink), bounds, effort);
        if restart > 0 && before - best.1 <= 1e-12 * before.abs() {
            break;
        }
    }
    Minimum { point: best.0, value: best.1 }
}

type Vertex = (Vec<f64>, f64);

fn simplex(
    value: &mut impl FnMut(&[f64]) -> f64,
    start: Vertex,
    (steps, shrink): (&[f64], f64),
    bounds: &[Bound],
    effort: Effort,
) -> Vertex {
    let n = start.0.len();
    let dimension = n as f64;
    let (expansion, contraction, reduction) = if n > 1 {
        (1.0 + 2.0 / dimension, 0.75 - 0.5 / dimension, 1.0 - 1.0 / dimension)
    } else {
        (2.0, 0.5, 0.5)
    };
    let mut vertices = vec![start];
    for axis in 0..n {
        let mut point = vertices[0].0.clone();
        let step = steps[axis] * shrink;
        // Away from a bound that the step would be cut off by.
        let there = bounds[axis].clamp(point[axis] + step);
        point[axis] =
            if there == point[axis] { bounds[axis].clamp(point[axis] - step) } else { there };
        let found = value(&point);
        vertices.push((point, found));
    }
    for _ in 0..effort.evaluations * n {
        vertices.sort_by(|a, b| a.1.total_cmp(&b.1));
        if vertices[n].1 - vertices[0].1 < effort.same || finished(&vertices, steps) {
            break;
        }
        let centre: Vec<f64> = (0..n)
            .map(|axis| vertices[..n].iter().map(|vertex| vertex.0[axis]).sum::<f64>() / dimension)
            .collect();
        let mut along = |factor: f64| -> Vertex {
            let point: Vec<f64> = (0..n)
                .map(|axis| {
                    bounds[axis].clamp(centre[axis] + factor * (vertices[n].0[axis] - centre[axis]))
                })
                .collect();
            let found = value(&point);
            (point, found)
        };
        let reflected = along(-1.0);
        let accepted = if reflected.1 < vertices[0].1 {
            let expanded = along(-expansion);
            Some(if expanded.1 < reflected.1 { expanded } else { reflected })
        } else if reflected.1 < vertices[n - 1].1 {
            Some(reflected)
        } else {
            let outside = reflected.1 < vertices[n].1;
            let contracted = along(if outside { -contraction } else { contraction });
            (contracted.1 < reflected.1.min(vertices[n].1)).then_some(contracted)
        };
        if let Some(vertex) = accepted {
            vertices[n] = vertex;
        } else {
            let (first, rest) = vertices.split_at_mut(1);
            for vertex in rest {
                for axis in 0..n {
                    vertex.0[axis] =
                        first[0].0[axis] + reduction * (vertex.0[axis] - first[0].0[axis]);
                }
                vertex.1 = value(&vertex.0);
            }
        }
    }
    vertices
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or_else(|| (Vec::new(), f64::INFINITY))
}

/// The simplex is a point to within rounding of the steps.
fn finished(vertices: &[Vertex], steps: &[f64]) -> bool {
    vertices[1..].iter().all(|vertex| {
        vertex
            .0
            .iter()
            .zip(&vertices[0].0)
            .zip(steps)
            .all(|((a, b), step)| (a - b).abs() <= 1e-10 * step)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_on_the_wall_is_found() {
        let bounds = [Bound { low: 0.0, high: 1.0 }, Bound { low: -1.0, high: 4.0 }];
        let found = minimise(
            |p| (p[0] + 1.0).powi(2) + (p[1] - 2.0).powi(2),
            &[0.7, 0.0],
            &[0.2, 0.2],
            &bounds,
        );
        assert!(found.point[0].abs() < 1e-9 && (found.point[1] - 2.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn kinks_and_forbidden_regions_do_not_stop_it() {
        let kink = minimise(|p| (p[0] - 0.3).abs(), &[5.0], &[1.0], &[Bound::NONE]);
        assert!((kink.point[0] - 0.3).abs() < 1e-8, "{kink:?}");
        let forbidden = |p: &[f64]| if p[0] < 1.0 { f64::NAN } else { p[0] };
        let found = minimise(forbidden, &[3.0], &[0.5], &[Bound::NONE]);
        assert!((found.value - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn the_start_is_kept_when_nothing_is_better() {
        let found =
            minimise(|p| if p[0] == 2.0 { -1.0 } else { 0.0 }, &[2.0], &[0.1], &[Bound::NONE]);
        assert_eq!((found.point[0], found.value), (2.0, -1.0));
    }
}
