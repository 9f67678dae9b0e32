//! Tests of a straight line, each with a level: does it bend, does a point lie off it, are two
//! lines lumped together?
//!
//! All are shares: how much of the sum of squared residuals one more thing would explain.
//!
//! ```text
//! bend          (q'e)² / e'e            q the part of x² that no line has, of length 1
//! outlier       max_i e_i² / (h_i e'e)  h_i = 1 - leverage; of one point it is a function of its leave-one-out t
//! interleaved   max_c (c'e)² / e'e      every other point belongs to another line: it runs beside the first, leaves
//!                                       it at the smallest x or meets it at the largest
//! two groups    max_c (c'e)² / e'e      the same for any two groups of points, each a third of them or more
//! ```
//!
//! A share knows neither the line nor the size of the scatter, so its distribution under a true
//! line depends on the x and on the *kind* of scatter alone and can be drawn. Four kinds are drawn
//! ([`Scatter`]), and the p-value is the largest of the four: a test holds its level under each of
//! them. For the bend under equal normal scatter Student's t is exact and stands in for the draws.
//! The two shares of lumped lines are judged together, by Bonferroni.
//!
//! | file | what |
//! |---|---|
//! | `geometry` | the directions of a set of x, and the shares of residuals along them |
//! | `null` | what the shares are under a true line |
//! | [`straight`] | the bend alone, where the noise of each point may be known: F tests against a parabola and a cubic |
//! | `foresight` | how large a floor so many points would show |
//!
//! Sources: Davison and Hinkley 1997, ch. 4 (Monte Carlo tests); Cook and Weisberg 1982, ch. 2 (the
//! outlier's share). Levels and power: `tests/judge.rs`. That the largest of several p-values holds
//! the level under each is Lehmann and Romano 2005, ch. 3.

mod foresight;
mod geometry;
mod null;
pub mod straight;

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::error::StatsError;

pub use foresight::floor_seen;
pub use null::Scatter;

use geometry::Geometry;

/// The level of every test here: the largest share of true lines that one may reject.
pub const LEVEL: f64 = 0.05;

/// Points that a test of the bend needs: the line takes two, the bend one, and with one degree of
/// freedom left nothing is ever seen.
pub const FEWEST_FOR_BEND: usize = 5;

/// Points that a test of single points needs.
pub const FEWEST_FOR_OUTLIER: usize = 4;

/// Points that a test for two lines needs, three each.
pub const FEWEST_FOR_LUMPED: usize = 6;

/// Of the level of the lumped test, the part for points that belong to two lines by turns; the rest
/// is for any two groups.
const BY_TURNS: f64 = 0.6;

/// Residuals below this share of the variation of y are rounding.
const EXACT: f64 = 1e-24;

/// What the tests say of a line. A test that the points are too few for, or that scatter of the
/// size of rounding forbids, is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement {
    /// Whether it bends.
    pub bend: Option<Bend>,
    /// The points that lie off it at [`LEVEL`], in the order of the points.
    pub outliers: Vec<Outlying>,
    /// Whether two lines are lumped.
    pub lumped: Option<Lumped>,
    /// Whether the residuals are rounding.
    pub exact: bool,
}

/// The test of the bend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bend {
    /// The coefficient of x² beside the line, unit of y by unit of x squared. Above zero: a falling
    /// line flattens.
    pub curvature: f64,
    /// Its standard error under equal scatter.
    pub standard_error: f64,
    /// Points less three.
    pub degrees_of_freedom: usize,
    /// Chance of a bend this large under a true line, whichever the [`Scatter`].
    pub p_value: f64,
}

impl Bend {
    /// Whether the line is rejected.
    pub fn rejects(&self) -> bool {
        self.p_value <= LEVEL
    }
}

/// A point that lies off the line through the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlying {
    /// Index of the point.
    pub point: usize,
    /// y less the value there of the line through all others.
    pub error: f64,
    /// Chance that some point of a true line lies this far off.
    pub p_value: f64,
}

/// The test for two lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lumped {
    /// Chance that two lines explain this much of a true one.
    pub p_value: f64,
    /// Whether the two lines are those of every other point.
    pub by_turns: bool,
    /// Whether two lines explain more than a bend or a single point does: else the rejection has
    /// another name.
    pub explains_most: bool,
}

impl Lumped {
    /// Whether one line is rejected in favour of two.
    pub fn rejects(&self) -> bool {
        self.explains_most && self.p_value <= LEVEL
    }
}

/// Judges the line through points, in any order.
///
/// # Errors
/// Slices of other lengths; entries that are not finite; fewer than two points; all x equal.
///
/// ```
/// // A parabola: bent, and no point of it an outlier.
/// let x: Vec<f64> = (0..8).map(f64::from).collect();
/// let y: Vec<f64> = x.iter().map(|x| x * x + (7.0 * x).sin()).collect();
/// let found = relscale_stats::judge::line(&x, &y).unwrap();
/// assert!(found.bend.unwrap().rejects() && found.outliers.is_empty());
/// ```
pub fn line(x: &[f64], y: &[f64]) -> Result<Judgement, StatsError> {
    // Checks the points.
    crate::optimise::least_squares::line(x, y)?;
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]).then(y[a].total_cmp(&y[b])));
    let (low, span) = (x[order[0]], x[order[x.len() - 1]] - x[order[0]]);
    let places: Vec<f64> = order.iter().map(|&at| (x[at] - low) / span).collect();
    let values: Vec<f64> = order.iter().map(|&at| y[at]).collect();
    let Some(geometry) = Geometry::new(&places) else { return Ok(Judgement::default()) };
    let residuals = geometry.residuals(&values);
    let squares: f64 = residuals.iter().map(|e| e * e).sum();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variation: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if squares <= EXACT * variation || squares == 0.0 {
        return Ok(Judgement { exact: true, ..Judgement::default() });
    }
    if x.len() < FEWEST_FOR_OUTLIER {
        return Ok(Judgement::default());
    }
    let shares = geometry.shares(&residuals);
    let null = null::distribution(&places);
    Ok(Judgement {
        bend: shares.bend.map(|share| bend(share, &geometry, &residuals, squares, span, &null)),
        outliers: outliers(&geometry, &residuals, squares, &order, &null),
        lumped: lumped(&shares, &null),
        exact: false,
    })
}

fn bend(
    share: f64,
    geometry: &Geometry,
    residuals: &[f64],
    squares: f64,
    span: f64,
    null: &null::Null,
) -> Bend {
    let freedom = residuals.len() - 3;
    let (along, length) = geometry.along_bend(residuals);
    let rest = (squares * (1.0 - share)).max(0.0);
    let standard = (rest / freedom as f64).sqrt();
    let scale = length * span * span;
    let student = StudentsT::new(0.0, 1.0, freedom as f64);
    let exact = student.map_or(1.0, |student| 2.0 * student.sf(along.abs() / standard));
    Bend {
        curvature: along / scale,
        standard_error: standard / scale,
        degrees_of_freedom: freedom,
        p_value: null.bend(share).max(if exact.is_finite() { exact } else { 0.0 }),
    }
}

fn outliers(
    geometry: &Geometry,
    residuals: &[f64],
    squares: f64,
    order: &[usize],
    null: &null::Null,
) -> Vec<Outlying> {
    let mut found: Vec<Outlying> = (0..residuals.len())
        .filter_map(|at| {
            let p_value = null.outlier(geometry.of_point(at, residuals[at])? / squares);
            (p_value <= LEVEL).then(|| Outlying {
                point: order[at],
                error: geometry.left_out(at, residuals[at]),
                p_value,
            })
        })
        .collect();
    found.sort_by_key(|outlying| outlying.point);
    found
}

fn lumped(shares: &geometry::Shares, null: &null::Null) -> Option<Lumped> {
    let groups = shares.groups?;
    let others = shares.bend.unwrap_or(0.0).max(shares.outlier);
    let any = null.groups(groups);
    let Some(turns) = shares.by_turns else {
        return Some(Lumped { p_value: any, by_turns: false, explains_most: groups > others });
    };
    let (turns_p, any_p) = (null.by_turns(turns) / BY_TURNS, any / (1.0 - BY_TURNS));
    let by_turns = turns_p <= any_p;
    Some(Lumped {
        p_value: turns_p.min(any_p).min(1.0),
        by_turns,
        explains_most: if by_turns { turns } else { groups } > others,
    })
}
