//! What stands in a table or a sentence: words, and numbers with the places from which they come.

use relscale_laws::{Estimate, Interval, TracePoint};
use relscale_records::digits::{self, Spelled, count};

use super::place::{At, Computed, Place, Total, at};
use crate::format::interval_method;

/// A number of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// As the file has it.
    pub value: serde_json::Number,
    /// Where it stands there.
    pub place: Place,
    /// As people read it.
    pub text: String,
}

/// A piece of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Words of ours, or names.
    Words(String),
    /// A number of the result.
    Number(Number),
    /// A sentence of the result.
    Sentence {
        /// As the file has it.
        text: String,
        /// Where it stands there.
        place: Place,
    },
}

/// Pieces in a row; of an estimate the interval apart, so that it may stand in a column of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// What it says.
    pub pieces: Vec<Piece>,
    /// Of an estimate: the ends of its interval, or in a word why there are none.
    pub interval: Option<Vec<Piece>>,
    /// How much of the variance of an estimate is the text's; the page has a bar for it.
    pub share: Option<Number>,
    /// What a pointer that rests on it is told: how the interval was found, why there is no number.
    pub hint: String,
    /// A number that is shown and not claimed.
    pub unclaimed: bool,
}

impl Cell {
    /// Words without a number of the result.
    pub fn words(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece::Words(text.into())], ..Self::default() }
    }

    /// There is nothing to show.
    pub(crate) fn none() -> Self {
        Self::words("-")
    }

    /// The number, or [`none`](Self::none).
    pub(crate) fn or_none(number: Option<Self>) -> Self {
        number.unwrap_or_else(Self::none)
    }

    /// Words after this.
    pub(crate) fn then(mut self, text: impl Into<String>) -> Self {
        self.pieces.push(Piece::Words(text.into()));
        self
    }

    /// Another cell's pieces after this, its interval with them.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.pieces.extend(other.in_line().pieces);
        self
    }

    /// Cells in a row.
    pub(crate) fn join(cells: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut whole = Self::default();
        for (at, cell) in cells.into_iter().enumerate() {
            if at > 0 {
                whole = whole.then(between);
            }
            whole = whole.with(cell);
        }
        whole
    }

    /// The interval behind the value: `0.1040 [0.0981, 0.1104]`, `0.1040 (no interval)`.
    pub fn in_line(mut self) -> Self {
        let Some(interval) = self.interval.take() else { return self };
        let word = match interval.as_slice() {
            [Piece::Words(word)] => {
                Some(if word == "none" { "no interval" } else { word.as_str() })
            }
            _ => None,
        };
        match word {
            Some(word) => self.pieces.push(Piece::Words(format!(" ({word})"))),
            None => {
                self.pieces.push(Piece::Words(" ".to_owned()));
                self.pieces.extend(interval);
            }
        }
        self
    }

    /// In brackets, or in italics, where it is not claimed.
    pub(crate) fn claimed(mut self, claimed: bool) -> Self {
        self.unclaimed = !claimed;
        self
    }

    /// With what a resting pointer is told.
    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// With an interval of its own making; a word in place of ends.
    fn with_interval(mut self, interval: Option<[Number; 2]>, else_word: &str) -> Self {
        let word = |text: &str| Piece::Words(text.to_owned());
        self.interval = Some(match interval {
            Some([low, high]) => {
                vec![word("["), Piece::Number(low), word(", "), Piece::Number(high), word("]")]
            }
            None => vec![word(else_word)],
        });
        self
    }
}

/// The pieces as text.
pub fn text(pieces: &[Piece]) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Words(text) | Piece::Sentence { text, .. } => text.clone(),
        Piece::Number(number) => number.text.clone(),
    };
    pieces.iter().map(text).collect()
}

fn number(value: f64, place: Place, text: String) -> Number {
    // Every number of a result is finite; one that is not would stand there as null.
    let value = serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into());
    Number { value, place, text }
}

impl From<Number> for Cell {
    fn from(number: Number) -> Self {
        Self { pieces: vec![Piece::Number(number)], ..Self::default() }
    }
}

impl At<'_, f64> {
    /// As `text` writes it.
    pub(crate) fn written(&self, text: impl FnOnce(f64) -> String) -> Cell {
        number(*self.it, self.place.clone(), text(*self.it)).into()
    }

    /// A count that is kept as a real number: a size.
    pub(crate) fn whole(&self) -> Cell {
        self.written(|size| count(size as u64))
    }

    /// A real number.
    pub(crate) fn number(&self) -> Cell {
        self.written(digits::number)
    }
}

impl Computed {
    /// As `text` writes it.
    pub(crate) fn written(self, text: impl FnOnce(f64) -> String) -> Cell {
        number(self.value, self.place, text(self.value)).into()
    }

    /// With an interval of numbers computed likewise, as differences.
    pub(crate) fn signed_with(self, ends: Option<[Self; 2]>) -> Cell {
        let bounds = ends.as_ref().map(|[low, high]| (low.value, high.value));
        let spelled = digits::estimate(self.value, bounds).signed();
        let ends = ends.zip(spelled.ends).map(|([low, high], [of_low, of_high])| {
            [number(low.value, low.place, of_low), number(high.value, high.place, of_high)]
        });
        Cell::from(number(self.value, self.place, spelled.value)).with_interval(ends, "none")
    }
}

/// A count: `u32`, `u64`.
macro_rules! counts {
    ($($kind:ty),*) => {
        $(impl At<'_, $kind> {
            /// A count, its digits in threes.
            #[allow(clippy::useless_conversion)]
            pub(crate) fn count(&self) -> Cell {
                let n = u64::from(*self.it);
                Number { value: n.into(), place: self.place.clone(), text: count(n) }.into()
            }
        })*
    };
}
counts!(u32, u64);

impl At<'_, u64> {
    /// A number that names something, digit by digit.
    pub(crate) fn plain(&self) -> Cell {
        Number { value: (*self.it).into(), place: self.place.clone(), text: self.it.to_string() }
            .into()
    }
}

impl Total {
    /// Its digits in threes, or a word where there is none.
    pub(crate) fn count(&self, none: Option<&str>) -> Cell {
        let text = none.filter(|_| self.sum == 0).map_or_else(|| count(self.sum), str::to_owned);
        Number { value: self.sum.into(), place: self.place.clone(), text }.into()
    }
}

impl<T> At<'_, Vec<T>> {
    /// How many there are.
    pub(crate) fn length(&self) -> Cell {
        let n = self.it.len() as u64;
        Number { value: n.into(), place: self.place.clone(), text: count(n) }.into()
    }
}

impl At<'_, String> {
    /// A sentence of the result.
    pub(crate) fn sentence(&self) -> Cell {
        let piece = Piece::Sentence { text: self.it.clone(), place: self.place.clone() };
        Cell { pieces: vec![piece], ..Cell::default() }
    }
}

impl At<'_, Interval> {
    /// Both ends, where there is an interval.
    pub(crate) fn both_ends(&self) -> Option<[Computed; 2]> {
        let (low, high) = self.it.bounds()?;
        // The members of every method that has ends.
        Some(
            [(low, "low"), (high, "high")]
                .map(|(value, end)| Computed { value, place: self.place.step(end) }),
        )
    }

    /// Both ends where there is an interval, `texts` of them.
    fn ends(&self, texts: Option<[String; 2]>) -> Option<[Number; 2]> {
        let [low, high] = self.both_ends()?;
        let [of_low, of_high] = texts?;
        Some([number(low.value, low.place, of_low), number(high.value, high.place, of_high)])
    }

    /// The text's share of the variance, where models and text are both in it.
    pub(crate) fn text_share(&self) -> Option<Number> {
        let share = self.it.text_share()?;
        let text = format!("{:.0} %", 100.0 * share);
        // The member of every method that has both.
        Some(number(share, self.place.step("text_share"), text))
    }

    /// The ends alone, as a cell's text.
    pub(crate) fn alone(&self, text: impl Fn(f64) -> String) -> Cell {
        let texts = self.it.bounds().map(|(low, high)| [text(low), text(high)]);
        let whole = Cell::default().with_interval(self.ends(texts), self.word());
        Cell { pieces: whole.interval.unwrap_or_default(), ..Cell::default() }
    }

    /// Why there is none, in a word.
    fn word(&self) -> &'static str {
        match self.it.reason() {
            Some(reason) if reason.starts_with("held") => "held",
            _ => "none",
        }
    }
}

impl<'a> At<'a, f64> {
    /// With an interval that stands beside it.
    pub(crate) fn within(&self, interval: &At<'a, Interval>, absent: &str) -> Cell {
        let spelled = digits::estimate(*self.it, interval.it.bounds());
        let ends = interval.ends(spelled.ends);
        Cell::from(number(*self.it, self.place.clone(), spelled.value)).with_interval(ends, absent)
    }
}

impl At<'_, TracePoint> {
    /// The value of a curve, and the interval of the curve there.
    pub(crate) fn estimate(&self) -> Cell {
        let spelled = digits::estimate(self.it.value, self.it.interval);
        let interval = at!(self.interval).there();
        let ends = interval.zip(spelled.ends).map(|(interval, [of_low, of_high])| {
            let [low, high] = interval.both();
            [number(*low, low.place, of_low), number(*high, high.place, of_high)]
        });
        let value = at!(self.value);
        Cell::from(number(*value, value.place, spelled.value)).with_interval(ends, "none")
    }
}

impl At<'_, Estimate> {
    fn spelled(&self, spelled: Spelled) -> Cell {
        let interval = at!(self.interval);
        let value = number(self.it.value, at!(self.value).place, spelled.value);
        let ends = interval.ends(spelled.ends);
        let hint = interval_method(&self.it.interval);
        Cell::from(value).with_interval(ends, interval.word()).hinted(hint)
    }

    /// Value and interval.
    pub(crate) fn estimate(&self) -> Cell {
        self.spelled(digits::estimate(self.it.value, self.it.bounds()))
    }

    /// Of a difference: with signs.
    pub(crate) fn difference(&self) -> Cell {
        self.spelled(digits::estimate(self.it.value, self.it.bounds()).signed())
    }

    /// The value alone.
    pub(crate) fn value_alone(&self) -> Cell {
        at!(self.value).number()
    }

    /// Value and standard error: `4.0040 ± 0.0221`.
    pub(crate) fn with_error(&self) -> Cell {
        let error = at!(self.standard_error).there();
        let value = self.value_alone();
        match error {
            Some(error) => value.then(" ± ").with(error.number()),
            None => value,
        }
    }
}
