//! What every method of search is given and gives back.

/// Where a parameter may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Smallest value allowed.
    pub low: f64,
    /// Largest value allowed.
    pub high: f64,
}

impl Bound {
    /// Anywhere.
    pub const NONE: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// The nearest allowed value.
    pub fn clamp(self, value: f64) -> f64 {
        value.max(self.low).min(self.high)
    }
}

/// A point and the function's value there.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point.
    pub point: Vec<f64>,
    /// The function there; infinite where the point is not allowed.
    pub value: f64,
}
