//! Marks of different series at one place, set beside each other where their error bars would cover
//! one another.

use super::Series;

/// Most pixels between neighbours, and over all of them.
const STEP: f64 = 5.0;
const ALL: f64 = 24.0;

/// By how many pixels the marks of each series move to the right: zero, unless error bars of it and
/// others overlap.
pub(super) fn asides(series: &[Series]) -> Vec<f64> {
    let mut asides = vec![0.0; series.len()];
    let mut placed = vec![false; series.len()];
    for first in 0..series.len() {
        if placed[first] {
            continue;
        }
        // All that cover one another, directly or by way of others, in the order of the series.
        let mut crowd = vec![first];
        placed[first] = true;
        let mut next = 0;
        while let Some(&member) = crowd.get(next) {
            for other in 0..series.len() {
                if !placed[other] && overlap(&series[member], &series[other]) {
                    placed[other] = true;
                    crowd.push(other);
                }
            }
            next += 1;
        }
        crowd.sort_unstable();
        let gaps = crowd.len() as f64 - 1.0;
        for (at, &member) in crowd.iter().enumerate().skip(usize::from(crowd.len() == 1)) {
            asides[member] = f64::min(STEP, ALL / gaps) * (at as f64 - gaps / 2.0);
        }
    }
    asides
}

fn overlap(one: &Series, other: &Series) -> bool {
    if one.lying || other.lying {
        return false;
    }
    one.points.iter().any(|a| {
        other.points.iter().any(|b| match (a.bar, b.bar) {
            (Some(p), Some(q)) => a.x == b.x && p.0 <= q.1 && q.0 <= p.1,
            _ => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::Style;
    use super::super::series::Point;
    use super::*;

    fn series(bars: &[(f64, f64)]) -> Series {
        let point = |(at, bar): (usize, &(f64, f64))| Point {
            bar: Some(*bar),
            ..Point::new(at as f64, bar.0, String::new())
        };
        Series {
            points: bars.iter().enumerate().map(point).collect(),
            ..Series::new(Style::NEUTRAL, "")
        }
    }

    #[test]
    fn marks_move_only_where_bars_meet() {
        let low = series(&[(0.0, 1.0), (0.0, 1.0)]);
        let high = series(&[(2.0, 3.0), (2.0, 3.0)]);
        let both = series(&[(2.0, 3.0), (0.5, 2.5)]);
        assert_eq!(asides(&[low, high]), [0.0, 0.0]);
        let low = series(&[(0.0, 1.0), (0.0, 1.0)]);
        let far = series(&[(8.0, 9.0), (8.0, 9.0)]);
        assert_eq!(asides(&[low, far, both]), [-2.5, 0.0, 2.5]);
    }
}
