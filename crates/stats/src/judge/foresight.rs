//! How large a floor so many points would show: what would change a verdict that rejects nothing.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::geometry::Geometry;
use super::{FEWEST_FOR_BEND, LEVEL};
use crate::normal::upper_tail;
use crate::optimise::dot;

/// Halvings in the search for the share.
const HALVINGS: usize = 40;

/// The smallest floor, as a share of the value at the largest x, that a test of the bend at
/// [`LEVEL`] would see with the chance `chance`: the truth falls from end to end as the line of
/// `ln y` of slope `slope` over `x` does, and scatters by `scatter` in `ln y`. `None` where no
/// floor would be seen, and for a line that does not fall.
///
/// The chance is that of a noncentral t, to the approximation of Johnson and Kotz 1970 (ch. 31),
/// whose error is below 0.02 from two degrees of freedom on; scatter is taken to be equal.
///
/// ```
/// // Eight points over three decades, exponent 0.12, scatter 2 %.
/// let x: Vec<f64> = (0..8).map(|at| 6.908 * f64::from(at) / 7.0).collect();
/// let share = relscale_stats::judge::floor_seen(&x, -0.12, 0.02, 0.8).unwrap();
/// assert!(share > 0.3 && share < 0.9);
/// ```
pub fn floor_seen(x: &[f64], slope: f64, scatter: f64, chance: f64) -> Option<f64> {
    let low = x.iter().copied().fold(f64::INFINITY, f64::min);
    let span = x.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
    let fall = slope * span;
    if x.len() < FEWEST_FOR_BEND
        || fall.is_nan()
        || fall >= 0.0
        || scatter.is_nan()
        || scatter <= 0.0
    {
        return None;
    }
    let mut places: Vec<f64> = x.iter().map(|x| (x - low) / span).collect();
    places.sort_by(f64::total_cmp);
    let geometry = Geometry::new(&places)?;
    let seen = |share: f64| {
        let bent: Vec<f64> = places.iter().map(|&place| with_floor(share, fall, place)).collect();
        let residuals = geometry.residuals(&bent);
        let (along, _) = geometry.along_bend(&residuals);
        // What of the floor's shape is no parabola adds to the scatter.
        let rest = (dot(&residuals, &residuals) - along * along).max(0.0) / (x.len() - 3) as f64;
        power(along.abs() / scatter.hypot(rest.sqrt()), x.len() - 3) >= chance
    };
    let (mut hidden, mut shown) = (0.0, 0.999);
    if !seen(shown) {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (hidden + shown);
        if seen(middle) { shown = middle } else { hidden = middle }
    }
    Some(shown)
}

/// `ln y` at a place in `[0, 1]` of a power law with a floor that is `share` of its value at 1,
/// from 0 at 0 to `fall` at 1.
fn with_floor(share: f64, fall: f64, place: f64) -> f64 {
    let end = fall.exp();
    let floor = share * end;
    let above = ((end - floor) / (1.0 - floor)).powf(place) * (1.0 - floor);
    (above + floor).ln()
}

/// Chance that a t of that noncentrality rejects at [`LEVEL`], two-sided.
fn power(noncentrality: f64, freedom: usize) -> f64 {
    let freedom = freedom as f64;
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return 0.0 };
    let t = student.inverse_cdf(1.0 - LEVEL / 2.0);
    upper_tail(
        (t * (1.0 - 0.25 / freedom) - noncentrality) / (1.0 + t * t / (2.0 * freedom)).sqrt(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_seen_the_better_the_smaller_the_scatter_and_the_more_the_points() {
        let x = |points: usize| -> Vec<f64> {
            (0..points).map(|at| 7.0 * at as f64 / (points - 1) as f64).collect()
        };
        let at = |points, scatter| floor_seen(&x(points), -0.2, scatter, 0.8).unwrap();
        assert!(at(8, 0.005) < at(8, 0.01) && at(8, 0.01) < at(8, 0.02));
        assert!(at(16, 0.01) < at(8, 0.01) && at(8, 0.01) < at(6, 0.01));
        assert_eq!(floor_seen(&x(4), -0.2, 0.01, 0.8), None);
        assert_eq!(floor_seen(&x(8), 0.1, 0.01, 0.8), None);
        assert_eq!(floor_seen(&x(8), -0.2, 10.0, 0.8), None);
        // The ends of the truth are those of the line, whatever the floor.
        for share in [0.0, 0.3, 0.9] {
            assert!(with_floor(share, -1.4, 0.0).abs() < 1e-15);
            assert!((with_floor(share, -1.4, 1.0) + 1.4).abs() < 1e-14);
        }
    }
}
