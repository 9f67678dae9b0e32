//! One budget: its runs, and the minimum of each curve through them.

use serde::{Deserialize, Serialize};

use crate::result::{Interval, Outcome, TracePoint};

/// One budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopBudget {
    /// FLOPs.
    pub budget: f64,
    /// Its runs, smallest first: all of them, seeds of one size too.
    pub runs: Vec<IsoflopRun>,
    /// Its sizes, smallest first; empty in files of earlier versions.
    #[serde(default)]
    pub sizes: Vec<IsoflopSize>,
    /// The minimum of each curve along each axis.
    pub minima: Vec<IsoflopMinimum>,
}

impl IsoflopBudget {
    /// How many sizes its runs have.
    pub fn size_count(&self) -> usize {
        // Earlier versions kept one run a size.
        if self.sizes.is_empty() { self.runs.len() } else { self.sizes.len() }
    }

    /// The minimum of a curve along an axis.
    pub fn minimum(&self, curve: Curve, along: Along) -> Option<&IsoflopMinimum> {
        self.minima.iter().find(|minimum| (minimum.curve, minimum.along) == (curve, along))
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopRun {
    /// Its name, or its place in the table.
    pub run: String,
    /// N.
    pub params: f64,
    /// D.
    pub tokens: f64,
    /// Loss.
    pub loss: f64,
}

/// The runs of one size (within 0.1 %): its seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopSize {
    /// N, the geometric mean of its runs.
    pub params: f64,
    /// D, likewise.
    pub tokens: f64,
    /// How many runs.
    pub runs: u32,
    /// Their mean loss.
    pub loss: f64,
    /// Standard deviation of the loss of one run; absent for a single one.
    pub standard_deviation: Option<f64>,
}

/// Which polynomial in the logarithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Curve {
    /// Degree 3: the default, as loss curves are not symmetric about their minimum.
    Cubic,
    /// Degree 2, as published; biased when the curve is asymmetric or sampled off its centre.
    Parabola,
}

impl Curve {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Cubic, Self::Parabola];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Parabola => "parabola",
        }
    }

    /// Its degree.
    pub fn degree(self) -> usize {
        match self {
            Self::Cubic => 3,
            Self::Parabola => 2,
        }
    }
}

/// Of which quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// N.
    Params,
    /// D.
    Tokens,
}

impl Along {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Params, Self::Tokens];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Params => "params",
            Self::Tokens => "tokens",
        }
    }
}

/// The minimum of one curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopMinimum {
    /// Which polynomial.
    pub curve: Curve,
    /// In the logarithm of what.
    pub along: Along,
    /// Where it is, or why there is none.
    pub outcome: Outcome<Minimum>,
    /// The curve over the runs of the budget, as it is drawn: loss by N or D; empty without a
    /// curve.
    #[serde(default)]
    pub trace: Vec<TracePoint>,
}

impl IsoflopMinimum {
    /// `(place, loss)`, when there is one.
    pub fn found(&self) -> Option<(f64, f64)> {
        self.outcome.fit().map(|minimum| (minimum.at, minimum.loss))
    }
}

/// A minimum that is bracketed by runs on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Minimum {
    /// N or D.
    pub at: f64,
    /// Where it may be by the scatter of the budget's runs about the curve (Fieller). None where
    /// that scatter leaves it open on a side, as far as the sizes go: then the minimum is hardly
    /// known.
    pub place: Interval,
    /// Loss there.
    pub loss: f64,
    /// Second derivative of the loss by the logarithm there.
    pub curvature: f64,
    /// Its standard error from the scatter of the runs; absent without degrees of freedom.
    pub curvature_standard_error: Option<f64>,
    /// Standard deviation of a run about the curve, from seeds and curve together, or from the
    /// means alone where those lie too far from it for the scatter of the seeds; absent without
    /// degrees of freedom.
    pub residual_standard_deviation: Option<f64>,
    /// How likely means of seeds would lie so far from the curve by the scatter of the seeds alone
    /// (F test); absent without seeds.
    #[serde(default)]
    pub lack_of_fit: Option<f64>,
    /// By how much this curve turns beside the optimum by its shape alone, as a ratio less 1: its
    /// minimum through the losses that the fitted surface has at these runs, over the surface's
    /// optimum. Absent without a surface, and where that curve has no minimum.
    #[serde(default)]
    pub bias: Option<f64>,
}
