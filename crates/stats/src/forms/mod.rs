//! Shapes of law: how a value falls (or does not) with size.
//!
//! | member | formula | parameters |
//! |---|---|---|
//! | [`power`] | `a x^-alpha` | 2 |
//! | [`power_floor`] | `a x^-alpha + c`, `c >= 0` | 3 |
//! | [`exponential`] | `a exp(-b x)` | 2 |
//! | [`log_linear`] | `a - b ln x` | 2 |
//! | [`broken_power`] | two power laws that meet at a break | 4 |
//!
//! Every form is fitted by least squares of `ln y`, whatever its formula, so that sums of squares,
//! and the AICc made of them, compare like with like: that is maximum likelihood for relative
//! errors of equal size. A form is described about the centre of its data, `u = ln x - mean ln x`,
//! and its level is a linear parameter of `ln y`; so neither the unit of x nor that of y can change
//! a fit, only rename its numbers.
//!
//! Beside them [`sigmoid`] is the shape of a share (an accuracy) on a loss, fitted to the share
//! itself; [`shared_sigmoid`] is one shape for many of them, each of its own height.
//!
//! To add a form: a file with a unit struct that implements [`Form`], and a line in [`ALL`].

pub mod broken_power;
mod curve;
pub mod exponential;
mod fit;
pub mod log_linear;
pub mod power;
pub mod power_floor;
pub mod shared_sigmoid;
pub mod sigmoid;

pub use curve::{Curve, Parameter, Shape};
pub use fit::fit;

use crate::optimise::varpro::{Axis, DesignRow};

/// Every form, simplest first.
pub const ALL: [&dyn Form; 5] = [
    &power::PowerForm,
    &power_floor::PowerFloor,
    &exponential::Exponential,
    &log_linear::LogLinear,
    &broken_power::BrokenPower,
];

/// Smallest and largest `u = ln x - mean ln x` of the data a form is fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Below zero.
    pub low: f64,
    /// Above zero.
    pub high: f64,
}

/// What the data were divided by: x by `exp(log_x)`, y by `exp(log_y)`, their geometric means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// `mean ln x`.
    pub log_x: f64,
    /// `mean ln y`.
    pub log_y: f64,
    /// Range of u.
    pub span: Span,
}

/// Which values a parameter of a formula can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Any.
    Real,
    /// Above zero, over orders of magnitude: its interval is traced in the logarithm.
    Positive,
    /// Zero or more; zero is a value like others.
    NonNegative,
}

/// A law `ln y - mean ln y = offset(u; θ) + Σ β basis(u; θ)`.
pub trait Form: Sync {
    /// In words.
    fn name(&self) -> &'static str;

    /// As it would be printed.
    fn formula(&self) -> &'static str;

    /// Names of the parameters of [`formula`](Self::formula), in the order of
    /// [`report`](Self::report); their number is the form's number of parameters.
    fn parameters(&self) -> &'static [&'static str];

    /// Which values each of them can have, in the same order.
    fn domains(&self) -> &'static [Domain];

    /// How many of them are linear in `ln y`.
    fn linear(&self) -> usize;

    /// The others: limits, and a grid of starts laid on the data (`u` ascending, `v` the log values
    /// there).
    fn axes(&self, u: &[f64], v: &[f64]) -> Vec<Axis>;

    /// What it means that the data push θ number `axis` to its upper (or lower) limit.
    fn limit(&self, axis: usize, upper: bool) -> &'static str;

    /// The form at `u`; `None` where its value would not be above zero.
    fn row(&self, u: f64, span: Span, theta: &[f64]) -> Option<DesignRow>;

    /// The value of `ln y - mean ln y` alone, for those that need no derivatives.
    fn value(&self, u: f64, span: Span, theta: &[f64], beta: &[f64]) -> Option<f64> {
        Some(self.row(u, span, theta)?.value(beta))
    }

    /// The derivatives of that value by each parameter, linear ones first; zeros where the form has
    /// no value.
    fn slopes(&self, u: f64, span: Span, theta: &[f64], beta: &[f64], out: &mut [f64]) {
        let row = self.row(u, span, theta).unwrap_or_default();
        let (linear, others) = out.split_at_mut(beta.len());
        linear.copy_from_slice(&row.basis[..beta.len()]);
        others.iter_mut().enumerate().for_each(|(axis, slope)| *slope = row.slope(beta, axis));
    }

    /// The parameters of [`formula`](Self::formula) in the units of x and y.
    fn report(&self, frame: &Frame, theta: &[f64], beta: &[f64]) -> Vec<f64>;
}

impl std::fmt::Debug for dyn Form {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

impl PartialEq for dyn Form {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}
