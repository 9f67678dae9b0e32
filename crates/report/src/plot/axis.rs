//! Scales and ranges.

use super::ticks;
use crate::format;

/// One axis: where values lie on it, and its ticks.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(super) title: String,
    log: bool,
    /// Ends in units of the scale: log10 of the value on a log axis.
    low: f64,
    high: f64,
    /// Ticks that were asked for; empty = chosen from the range.
    wanted: Vec<f64>,
    label: fn(f64) -> String,
    /// Names of rows, the uppermost first; empty = the axis is of numbers.
    names: Vec<String>,
}

/// A tick: value and text.
pub(super) type Tick = (f64, String);

/// Room at either end, as a share of the range.
const PADDING: f64 = 0.05;
/// The least range of a log axis, in decades: one point still gets an axis with ticks.
const LEAST_DECADES: f64 = 0.1;
/// Longest log axis with ticks that have no name.
const MINOR_DECADES: f64 = 6.0;
/// Longest name of a row, in characters.
const LONGEST_NAME: usize = 32;
/// Most ticks on an axis, however long.
const MOST_TICKS: usize = 8;

impl Axis {
    /// A log axis of model sizes that holds `values`.
    pub(crate) fn sizes(values: impl IntoIterator<Item = f64>) -> Self {
        let title = "S, non-embedding parameters".to_owned();
        Self { label: format::scale, ..Self::log(title, values) }
    }

    /// A log axis that holds `values`, all above zero.
    pub(crate) fn log(title: String, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values.into_iter().map(f64::log10)).unwrap_or((0.0, 1.0));
        let padding = f64::max(PADDING * (high - low), (LEAST_DECADES - (high - low)) / 2.0);
        Self {
            title,
            log: true,
            low: low - padding,
            high: high + padding,
            wanted: vec![],
            label: format::tick,
            names: vec![],
        }
    }

    /// A log axis of counts that holds `values`, all above zero.
    pub(crate) fn counts(title: String, values: impl IntoIterator<Item = f64>) -> Self {
        Self { label: format::scale, ..Self::log(title, values) }
    }

    /// A log axis of k with a tick at each of `grid`.
    pub(crate) fn grid(grid: &[u32]) -> Self {
        let wanted: Vec<f64> = grid.iter().map(|&k| f64::from(k)).collect();
        Self {
            wanted: wanted.clone(),
            label: format::scale,
            ..Self::log("k, the largest rank that counts as a hit".to_owned(), wanted)
        }
    }

    /// A linear axis that holds `values`.
    pub(crate) fn linear(title: String, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values).unwrap_or((0.0, 1.0));
        let padding = if high > low { PADDING * (high - low) } else { f64::max(0.1 * high.abs(), 0.01) };
        Self {
            title,
            log: false,
            low: low - padding,
            high: high + padding,
            wanted: vec![],
            label: format::tick,
            names: vec![],
        }
    }

    /// A vertical axis of named rows, the first uppermost; [`row`](Self::row) says where each lies.
    pub(crate) fn rows(names: &[String]) -> Self {
        let last = Self::row(names.len().max(1) - 1);
        Self {
            names: names.iter().map(|name| format::shortened(name, LONGEST_NAME)).collect(),
            low: last - 0.7,
            high: 0.7,
            ..Self::linear(String::new(), [])
        }
    }

    /// Where the row at this place of [`rows`](Self::rows) lies.
    pub(crate) fn row(at: usize) -> f64 {
        -(at as f64)
    }

    /// Length in units of the scale: decades on a log axis.
    pub(crate) fn span(&self) -> f64 {
        self.high - self.low
    }

    /// The same axis, widened about its middle to at least `span`.
    ///
    /// Log axes of one span and one length show equal exponents as equal slopes.
    pub(crate) fn widened(mut self, span: f64) -> Self {
        let more = f64::max(span - self.span(), 0.0) / 2.0;
        self.low -= more;
        self.high += more;
        self
    }

    /// The same axis without its title.
    pub(crate) fn untitled(mut self) -> Self {
        self.title.clear();
        self
    }

    /// Where a value lies: 0 at the low end, 1 at the high end; held inside, so that nothing is drawn over a margin.
    pub(super) fn position(&self, value: f64) -> f64 {
        let at = self.place(value);
        // A log of zero or less: below everything.
        if at.is_nan() { 0.0 } else { at.clamp(0.0, 1.0) }
    }

    /// As [`position`](Self::position), not held inside: below 0 or above 1 beyond the ends, no number for the log of none.
    pub(super) fn place(&self, value: f64) -> f64 {
        let at = if self.log { value.log10() } else { value };
        (at - self.low) / self.span()
    }

    /// The ticks, ascending; not many more than there is `room` for, unless they were asked for.
    pub(super) fn ticks(&self, room: usize) -> Vec<Tick> {
        if !self.names.is_empty() {
            return self.names.iter().enumerate().map(|(at, name)| (Self::row(at), name.clone())).collect();
        }
        let most = room.clamp(3, MOST_TICKS);
        let values = if !self.wanted.is_empty() {
            self.wanted.clone()
        } else if self.log {
            ticks::logarithmic((self.low, self.high), most)
        } else {
            ticks::linear(self.low, self.high, most)
        };
        values.into_iter().map(|value| (value, (self.label)(value))).collect()
    }

    /// The names of its rows; empty when it is of numbers.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Ticks without a name: the other digits of each decade of a log axis, where they lie apart.
    pub(super) fn minor_ticks(&self) -> Vec<f64> {
        if !self.log || !self.wanted.is_empty() || self.span() > MINOR_DECADES {
            return Vec::new();
        }
        ticks::decades((self.low, self.high), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1)
    }
}

/// Smallest and largest of the finite values.
fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|value| value.is_finite()).fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.ticks(9).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn sizes_over_three_decades() {
        let axis = Axis::sizes([3_100.0, 3_100_000.0]);
        assert_eq!(texts(&axis), ["3k", "10k", "30k", "100k", "300k", "1M", "3M"]);
    }

    #[test]
    fn sizes_of_large_families() {
        let axis = Axis::sizes([1.2e6, 1.1e10]);
        assert_eq!(texts(&axis), ["1M", "10M", "100M", "1B", "10B"]);
    }

    #[test]
    fn a_sixth_of_a_decade_still_has_ticks() {
        let axis = Axis::log("y".into(), [0.748, 0.877]);
        assert_eq!(texts(&axis), ["0.75", "0.8", "0.85", "0.9"]);
        let axis = Axis::log("y".into(), [0.7, 2.2]);
        assert_eq!(texts(&axis), ["0.8", "1", "1.2", "1.5", "2"]);
        let axis = Axis::log("y".into(), [0.95, 1.9]);
        assert_eq!(texts(&axis), ["1", "1.2", "1.4", "1.6", "1.8"]);
    }

    #[test]
    fn one_point_has_an_axis() {
        let axis = Axis::sizes([1e6]);
        assert!(axis.ticks(9).len() >= 2, "{:?}", texts(&axis));
        assert!((axis.position(1e6) - 0.5).abs() < 1e-12);
        assert!(Axis::linear("y".into(), [0.0]).ticks(9).len() >= 2);
    }

    #[test]
    fn a_little_more_than_a_decade_has_ticks() {
        let axis = Axis::log("y".into(), [0.65, 8.5]);
        assert_eq!(texts(&axis), ["1", "2", "5"]);
    }

    #[test]
    fn a_short_axis_has_fewer_ticks() {
        let texts: Vec<String> =
            Axis::sizes([3_100.0, 3_100_000.0]).ticks(5).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["10k", "100k", "1M"]);
    }

    #[test]
    fn many_decades_are_thinned() {
        let axis = Axis::log("y".into(), [1e-12, 1e12]);
        assert!(axis.ticks(9).len() <= MOST_TICKS, "{:?}", texts(&axis));
    }

    #[test]
    fn no_value_and_no_number_harm_nothing() {
        assert!(!Axis::log("y".into(), []).ticks(9).is_empty());
        let axis = Axis::log("y".into(), [1.0, 10.0]);
        assert_eq!(axis.position(0.0), 0.0);
        assert_eq!(axis.position(-1.0), 0.0);
        assert_eq!(axis.position(f64::INFINITY), 1.0);
    }
}
