//! Slopes along size and along tokens, and how far to trust them.

use relscale_stats::interval::jackknife;
use relscale_stats::optimise::{least_squares, plane};

use super::Ranges;
use crate::intervals::student_t;
use crate::result::{Direction, Estimate, Interval, Outcome, Plane, Slice, Split};

/// How far apart, as a ratio, numbers of tokens that count as equal may lie: steps are whole.
pub(crate) const SAME_TOKENS: f64 = 1.02;

/// Different values of what varies that a slice needs to be told of.
const LEAST: usize = 3;

/// One checkpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) size: f64,
    pub(crate) tokens: f64,
    pub(crate) log_value: f64,
}

/// Both directions and the plane; `points` ascend in size.
pub(crate) fn both(points: &[Point], ranges: Ranges, level: f64) -> Split {
    Split {
        along_size: direction(points, at_tokens, |point| point.size, ranges.0, level),
        along_tokens: direction(points, at_size, |point| point.tokens, ranges.1, level),
        plane: fit_plane(points, level),
    }
}

/// Checkpoints of as many tokens, within 2 % of the fewest.
fn at_tokens(points: &[Point]) -> Vec<(f64, Vec<Point>)> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.tokens.total_cmp(&b.tokens).then(a.size.total_cmp(&b.size)));
    let mut slices: Vec<Vec<Point>> = Vec::new();
    for point in sorted {
        match slices.last_mut() {
            Some(slice) if point.tokens <= slice[0].tokens * SAME_TOKENS => slice.push(point),
            _ => slices.push(vec![point]),
        }
    }
    let mean = |slice: &[Point]| {
        (slice.iter().map(|point| point.tokens.ln()).sum::<f64>() / slice.len() as f64).exp()
    };
    slices.into_iter().map(|slice| (mean(&slice), slice)).collect()
}

/// Checkpoints of one size.
fn at_size(points: &[Point]) -> Vec<(f64, Vec<Point>)> {
    points.chunk_by(|a, b| a.size == b.size).map(|slice| (slice[0].size, slice.to_vec())).collect()
}

type Slicing = fn(&[Point]) -> Vec<(f64, Vec<Point>)>;
type Varying = fn(&Point) -> f64;

fn direction(
    points: &[Point],
    slicing: Slicing,
    varying: Varying,
    range: (f64, f64),
    level: f64,
) -> Direction {
    let slices: Vec<Slice> = slicing(points)
        .into_iter()
        .filter_map(|(fixed, slice)| line(fixed, &slice, varying, LEAST))
        .collect();
    if slices.is_empty() {
        return Direction { slices, slope: None, factor: None };
    }
    let value = mean(&slices);
    // Without a size a slice of three has two values left, which still have a slope.
    let chosen: Vec<f64> = slices.iter().map(|slice| slice.fixed).collect();
    let again = |points: &[Point]| {
        let left: Vec<Slice> = slicing(points)
            .into_iter()
            .filter(|(fixed, _)| {
                chosen
                    .iter()
                    .any(|chosen| fixed / chosen < SAME_TOKENS && chosen / fixed < SAME_TOKENS)
            })
            .filter_map(|(fixed, slice)| line(fixed, &slice, varying, LEAST - 1))
            .collect();
        (!left.is_empty()).then(|| mean(&left))
    };
    let slope = estimate(value, &without_each_size(points, again), level);
    let factor = (slope.value * (range.1 / range.0).ln()).exp();
    Direction {
        slices,
        slope: Some(slope),
        factor: Some(factor).filter(|factor| factor.is_finite()),
    }
}

fn mean(slices: &[Slice]) -> f64 {
    slices.iter().map(|slice| slice.slope).sum::<f64>() / slices.len() as f64
}

fn line(fixed: f64, slice: &[Point], varying: Varying, least: usize) -> Option<Slice> {
    let mut values: Vec<f64> = slice.iter().map(varying).collect();
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() < least {
        return None;
    }
    let y: Vec<f64> = slice.iter().map(|point| point.log_value).collect();
    let fit = least_squares::line(&logs, &y).ok()?;
    Some(Slice { fixed, points: slice.len() as u32, slope: fit.slope, r_squared: fit.r_squared })
}

/// A statistic without each of the sizes in turn; `None` where it does not exist.
fn without_each_size<T>(
    points: &[Point],
    statistic: impl Fn(&[Point]) -> Option<T>,
) -> Vec<Option<T>> {
    without_each(points, |point| point.size, statistic)
}

/// The same of anything with sizes, in their order.
pub(crate) fn without_each<P: Clone, T>(
    points: &[P],
    size: impl Fn(&P) -> f64,
    statistic: impl Fn(&[P]) -> Option<T>,
) -> Vec<Option<T>> {
    let mut sizes: Vec<f64> = points.iter().map(&size).collect();
    sizes.dedup();
    sizes
        .into_iter()
        .map(|left_out| {
            let others: Vec<P> =
                points.iter().filter(|point| size(point) != left_out).cloned().collect();
            statistic(&others)
        })
        .collect()
}

pub(crate) fn estimate(value: f64, left_out: &[Option<f64>], level: f64) -> Estimate {
    let all: Option<Vec<f64>> = left_out.iter().copied().collect();
    let none = |reason: String| (Interval::None { reason }, None);
    let (interval, standard_error) = match all {
        None => {
            none("without one of the sizes there is no slope, so it rests on that size".to_owned())
        }
        Some(all) if all.len() < LEAST => none(format!(
            "{} size(s) tell nothing of how sizes scatter; at least {LEAST} are needed",
            all.len()
        )),
        Some(all) => match jackknife::interval(value, &all, level) {
            Ok((interval, error)) => (student_t(Ok(interval)), Some(error)),
            Err(refusal) => none(refusal.to_string()),
        },
    };
    Estimate { value, unit: "1".to_owned(), standard_error, interval }
}

fn fit_plane(points: &[Point], level: f64) -> Outcome<Plane> {
    let slopes = |points: &[Point]| {
        let log = |of: Varying| -> Vec<f64> { points.iter().map(|point| of(point).ln()).collect() };
        let y: Vec<f64> = points.iter().map(|point| point.log_value).collect();
        plane::fit(&log(|point| point.size), &log(|point| point.tokens), &y)
    };
    let fit = match slopes(points) {
        Ok(fit) => fit,
        Err(refusal) => return Outcome::refuse(refusal),
    };
    let left_out = without_each_size(points, |points| slopes(points).ok().map(|fit| fit.slopes));
    let of = |axis: usize| {
        let values: Vec<Option<f64>> =
            left_out.iter().map(|slopes| Some(slopes.as_ref()?[axis])).collect();
        estimate(fit.slopes[axis], &values, level)
    };
    Outcome::fitted(Plane { size: of(0), tokens: of(1), r_squared: fit.r_squared })
}
