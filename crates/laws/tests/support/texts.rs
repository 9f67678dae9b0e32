//! Documents that differ in how hard they are, and in how much easier they get with size.

use super::random::Random;

/// A document: tokens, how hard it is, and how much faster than others it gets easier with size.
pub(crate) struct Text {
    pub(crate) tokens: f64,
    level: f64,
    slope: f64,
}

impl Text {
    pub(crate) fn draw(normal: &mut Random) -> Self {
        Self {
            tokens: (300.0 + 1200.0 * normal.uniform()).round(),
            level: 0.25 * normal.normal(),
            slope: 0.04 * normal.normal(),
        }
    }

    /// Its chance of a miss of rank 1 under a model of so many parameters.
    pub(crate) fn miss(&self, size: f64) -> f64 {
        let law = 0.75 * (size / 3_100.0).powf(-0.12);
        let hard = self.level - self.slope * (size / 98_000.0).ln();
        (law * hard.exp()).clamp(0.001, 0.98)
    }
}
