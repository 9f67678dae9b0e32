//! Marks of different series at one place, set beside each other where their error bars would cover one another.

use super::Series;

/// Most pixels between neighbours, and over all of them.
const STEP: f64 = 5.0;
const ALL: f64 = 24.0;

/// By how many pixels the marks of each series move to the right. All zero where no error bars overlap.
pub(super) fn asides(series: &[Series]) -> Vec<f64> {
    let crowded =
        series.iter().enumerate().any(|(at, one)| series[at + 1..].iter().any(|other| overlap(one, other)));
    if !crowded {
        return vec![0.0; series.len()];
    }
    let neighbours = series.len() as f64 - 1.0;
    let step = f64::min(STEP, ALL / neighbours);
    (0..series.len()).map(|at| step * (at as f64 - neighbours / 2.0)).collect()
}

fn overlap(one: &Series, other: &Series) -> bool {
    one.points.iter().any(|a| {
        other.points.iter().any(|b| match (a.bar, b.bar) {
            (Some(p), Some(q)) => a.x == b.x && p.0 <= q.1 && q.0 <= p.1,
            _ => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Line, Mark, Point, Style};
    use super::*;

    fn series(bars: &[(f64, f64)]) -> Series {
        let point = |(at, bar): (usize, &(f64, f64))| Point {
            x: at as f64,
            y: bar.0,
            bar: Some(*bar),
            hollow: false,
            tip: String::new(),
        };
        let points = bars.iter().enumerate().map(point).collect();
        let (line, mark, style) = (Line::Solid, Mark::Disc, Style::NEUTRAL);
        Series { style, line, mark, path: vec![], points, label: vec![] }
    }

    #[test]
    fn marks_move_only_where_bars_meet() {
        let low = series(&[(0.0, 1.0), (0.0, 1.0)]);
        let high = series(&[(2.0, 3.0), (2.0, 3.0)]);
        let both = series(&[(2.0, 3.0), (0.5, 2.5)]);
        assert_eq!(asides(&[low, high]), [0.0, 0.0]);
        let low = series(&[(0.0, 1.0), (0.0, 1.0)]);
        assert_eq!(asides(&[low, both]), [-2.5, 2.5]);
    }
}
