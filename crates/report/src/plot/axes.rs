//! Where the axes of a panel stand on the page: from the units of the data to pixels.

use super::{Axis, clip};

/// The axes of one panel on the page: data to pixels.
pub(super) struct Axes<'a> {
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Axes<'_> {
    pub(super) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.across(x), self.height_of(y))
    }

    /// The parts of a line that lie inside.
    pub(super) fn line(&self, points: impl Iterator<Item = (f64, f64)>) -> Vec<Vec<(f64, f64)>> {
        let points: Vec<(f64, f64)> = points.map(|at| self.free(at)).collect();
        clip::inside(
            &points,
            &clip::Bounds { x: (self.left, self.right), y: (self.top, self.bottom) },
        )
    }

    /// The edge of an area: a line that goes along the axes' ends where it leaves them.
    pub(super) fn edge(&self, points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let held = |(x, y): (f64, f64)| (x.clamp(self.left, self.right), y);
        let points: Vec<(f64, f64)> = points.map(|at| held(self.free(at))).collect();
        clip::bent(&points, (self.top, self.bottom))
    }

    /// Where a point lies, inside or not.
    fn free(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (width, height) = (self.right - self.left, self.bottom - self.top);
        (self.left + self.x.place(x) * width, self.bottom - self.y.place(y) * height)
    }

    pub(super) fn across(&self, x: f64) -> f64 {
        self.left + self.x.position(x) * (self.right - self.left)
    }

    pub(super) fn height_of(&self, y: f64) -> f64 {
        self.bottom - self.y.position(y) * (self.bottom - self.top)
    }
}
