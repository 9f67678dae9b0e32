//! Scales and ranges.

use super::ticks;
use crate::format;

/// One axis: where values lie on it, and its ticks.
///
/// What it is of is said first; its ends follow from what is drawn along it when a panel is made of
/// both.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(super) title: String,
    log: bool,
    /// Ends in units of the scale: log10 of the value on a log axis.
    low: f64,
    high: f64,
    /// Values that it holds besides those that are drawn, or, when `closed`, instead of them.
    held: Vec<f64>,
    closed: bool,
    /// How much longer it is than it need be, as a ratio.
    stretch: f64,
    /// Ticks that were asked for; empty = chosen from the range.
    wanted: Vec<f64>,
    label: fn(f64) -> String,
    /// Whether it counts sizes, tokens or FLOPs, with letters for thousands up to where people
    /// still read them.
    amounts: bool,
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

/// From here on a power of ten says more than a number of T.
const LETTERS: f64 = 1e14;

impl Axis {
    /// A linear axis.
    pub(crate) fn linear(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            log: false,
            low: 0.0,
            high: 1.0,
            held: vec![],
            closed: false,
            stretch: 1.0,
            wanted: vec![],
            label: format::tick,
            amounts: false,
            names: vec![],
        }
    }

    /// A log axis, of values above zero.
    pub(crate) fn log(title: impl Into<String>) -> Self {
        Self { log: true, ..Self::linear(title) }
    }

    /// A log axis of model sizes.
    pub(crate) fn sizes() -> Self {
        Self::counts("S, non-embedding parameters")
    }

    /// A log axis of counts.
    pub(crate) fn counts(title: impl Into<String>) -> Self {
        Self { label: format::scale, ..Self::log(title) }
    }

    /// A log axis of sizes, tokens or FLOPs.
    pub(crate) fn amounts(title: impl Into<String>) -> Self {
        Self { amounts: true, ..Self::log(title) }
    }

    /// A log axis of k with a tick at each of some k.
    pub(crate) fn grid(mut ks: Vec<f64>) -> Self {
        ks.sort_by(f64::total_cmp);
        ks.dedup();
        Self {
            wanted: ks.clone(),
            ..Self::counts("k, the largest rank that counts as a hit").closed(ks)
        }
    }

    /// A vertical axis of named rows, the first uppermost; [`row`](Self::row) says where each lies.
    pub(crate) fn rows(names: &[String]) -> Self {
        Self {
            names: names.iter().map(|name| format::shortened(name, LONGEST_NAME)).collect(),
            low: Self::row(names.len().max(1) - 1) - 0.7,
            high: 0.7,
            ..Self::linear("")
        }
    }

    /// Where the row at this place of [`rows`](Self::rows) lies.
    pub(super) fn row(at: usize) -> f64 {
        -(at as f64)
    }

    /// The same axis, which also holds `values`.
    pub(crate) fn holding(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.held.extend(values);
        self
    }

    /// The same axis, which holds `values` and leaves out what is drawn beyond them.
    pub(crate) fn closed(self, values: impl IntoIterator<Item = f64>) -> Self {
        Self { closed: true, ..self.holding(values) }
    }

    /// The same axis, longer by a ratio than what it holds.
    pub(crate) fn stretched(self, stretch: f64) -> Self {
        Self { stretch, ..self }
    }

    /// The same axis without its title.
    pub(crate) fn untitled(mut self) -> Self {
        self.title.clear();
        self
    }

    /// The axis with its ends, where `drawn` is drawn along it.
    pub(super) fn around(mut self, drawn: impl Iterator<Item = f64>) -> Self {
        if !self.names.is_empty() {
            return self;
        }
        let closed = self.closed;
        let values: Vec<f64> = self.held.iter().copied().chain(drawn.filter(|_| !closed)).collect();
        let scaled = |value: &f64| if self.log { value.log10() } else { *value };
        let (low, high) = extent(values.iter().map(scaled)).unwrap_or((0.0, 1.0));
        let padding = match (self.log, high > low) {
            (true, _) => f64::max(PADDING * (high - low), (LEAST_DECADES - (high - low)) / 2.0),
            (false, true) => PADDING * (high - low),
            (false, false) => f64::max(0.1 * high.abs(), 0.01),
        };
        (self.low, self.high) = (low - padding, high + padding);
        self.widen(self.stretch * self.span());
        let flops = self.title.to_lowercase().contains("flops");
        if self.amounts && !flops && values.iter().all(|value| *value < LETTERS) {
            self.label = format::scale;
        }
        self
    }

    /// Length in units of the scale: decades on a log axis.
    pub(super) fn span(&self) -> f64 {
        self.high - self.low
    }

    /// Makes it at least `span` long, about its middle.
    pub(super) fn widen(&mut self, span: f64) {
        let more = f64::max(span - self.span(), 0.0) / 2.0;
        self.low -= more;
        self.high += more;
    }

    /// Where a value lies: 0 at the low end, 1 at the high end; held inside, so that nothing is
    /// drawn over a margin.
    pub(super) fn position(&self, value: f64) -> f64 {
        let at = self.place(value);
        // A log of zero or less: below everything.
        if at.is_nan() { 0.0 } else { at.clamp(0.0, 1.0) }
    }

    /// As [`position`](Self::position), not held inside: below 0 or above 1 beyond the ends, no
    /// number for the log of none.
    pub(super) fn place(&self, value: f64) -> f64 {
        let at = if self.log { value.log10() } else { value };
        (at - self.low) / self.span()
    }

    /// The ticks, ascending; not many more than there is `room` for, unless they were asked for.
    pub(super) fn ticks(&self, room: usize) -> Vec<Tick> {
        if !self.names.is_empty() {
            return self
                .names
                .iter()
                .enumerate()
                .map(|(at, name)| (Self::row(at), name.clone()))
                .collect();
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
        let axis = Axis::sizes().around([3_100.0, 3_100_000.0].into_iter());
        assert_eq!(texts(&axis), ["3k", "10k", "30k", "100k", "300k", "1M", "3M"]);
    }

    #[test]
    fn sizes_of_large_families() {
        let axis = Axis::sizes().around([1.2e6, 1.1e10].into_iter());
        assert_eq!(texts(&axis), ["1M", "10M", "100M", "1B", "10B"]);
    }

    #[test]
    fn a_sixth_of_a_decade_still_has_ticks() {
        let axis = Axis::log("y").around([0.748, 0.877].into_iter());
        assert_eq!(texts(&axis), ["0.75", "0.8", "0.85", "0.9"]);
        let axis = Axis::log("y").around([0.7, 2.2].into_iter());
        assert_eq!(texts(&axis), ["0.8", "1", "1.2", "1.5", "2"]);
        let axis = Axis::log("y").around([0.95, 1.9].into_iter());
        assert_eq!(texts(&axis), ["1", "1.2", "1.4", "1.6", "1.8"]);
    }

    #[test]
    fn one_point_has_an_axis() {
        let axis = Axis::sizes().around([1e6].into_iter());
        assert!(axis.ticks(9).len() >= 2, "{:?}", texts(&axis));
        assert!((axis.position(1e6) - 0.5).abs() < 1e-12);
        assert!(Axis::linear("y").around([0.0].into_iter()).ticks(9).len() >= 2);
    }

    #[test]
    fn a_little_more_than_a_decade_has_ticks() {
        let axis = Axis::log("y").around([0.65, 8.5].into_iter());
        assert_eq!(texts(&axis), ["1", "2", "5"]);
    }

    #[test]
    fn a_short_axis_has_fewer_ticks() {
        let texts: Vec<String> = Axis::sizes()
            .around([3_100.0, 3_100_000.0].into_iter())
            .ticks(5)
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert_eq!(texts, ["10k", "100k", "1M"]);
    }

    #[test]
    fn many_decades_are_thinned() {
        let axis = Axis::log("y").around([1e-12, 1e12].into_iter());
        assert!(axis.ticks(9).len() <= MOST_TICKS, "{:?}", texts(&axis));
    }

    #[test]
    fn no_value_and_no_number_harm_nothing() {
        assert!(!Axis::log("y").around([].into_iter()).ticks(9).is_empty());
        let axis = Axis::log("y").around([1.0, 10.0].into_iter());
        assert_eq!(axis.position(0.0), 0.0);
        assert_eq!(axis.position(-1.0), 0.0);
        assert_eq!(axis.position(f64::INFINITY), 1.0);
    }
}
