//! Numbers as people read them. There is one rule a kind of number, so that a number reads the same
//! in a sentence, on a screen and on a page.
//!
//! | what | rule | example |
//! |---|---|---|
//! | [`number`] | four decimals; from 1000 on and below 0.001 four digits and a power of ten | `0.2002`, `1.505e7` |
//! | [`signed`] | the same with its sign, for differences | `+0.0100` |
//! | [`estimate`] | value and ends of the interval alike, by the largest of them | `0.2002 [0.1990, 0.2013]` |
//! | [`r_squared`] | four decimals, and a perfect 1 only where it is one | `0.9999` |
//! | [`chance`] | three decimals down to 0.001 | `p = 0.018` |
//! | [`deviation`] | a part of the whole with its sign, in per cent with one decimal | `+1.5 %` |
//! | [`part`] | the same of what has no sign | `3.3 %` |
//! | [`percent`] | a level or a share, as many digits as it has | `95 %` |
//! | [`given`] | a place on an axis: a size, a budget | `0.0705`, `12`, `2.19e6` |
//! | [`count`] | digits in threes | `1,475,561,600` |
//!
//! A minus sign is a hyphen here; a page may have a real one.

use std::fmt;

/// A real number.
pub fn number(value: f64) -> String {
    Form::for_values(&[value]).write(value)
}

/// A difference: the number with its sign, also where it is above 0.
pub fn signed(value: f64) -> String {
    with_sign(number(value))
}

/// An estimate as text: its value, and the ends of its interval where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelled {
    /// The value.
    pub value: String,
    /// Lower and upper end.
    pub ends: Option<[String; 2]>,
}

/// A value with the ends of its interval, all in one form.
pub fn estimate(value: f64, bounds: Option<(f64, f64)>) -> Spelled {
    let (low, high) = bounds.unwrap_or((value, value));
    let form = Form::for_values(&[value, low, high]);
    Spelled {
        value: form.write(value),
        ends: bounds.map(|(low, high)| [low, high].map(|end| form.write(end))),
    }
}

impl Spelled {
    /// Of a difference: value and ends with their signs.
    pub fn signed(self) -> Self {
        Self { value: with_sign(self.value), ends: self.ends.map(|ends| ends.map(with_sign)) }
    }

    /// `[0.1990, 0.2013]`, where there is an interval.
    pub fn interval(&self) -> Option<String> {
        self.ends.as_ref().map(|[low, high]| format!("[{low}, {high}]"))
    }
}

impl fmt::Display for Spelled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.interval() {
            Some(interval) => write!(out, "{} {interval}", self.value),
            None => write!(out, "{} (no interval)", self.value),
        }
    }
}

/// R²: four decimals, and never rounded up to a perfect 1.
pub fn r_squared(r: f64) -> String {
    format!("{:.4}", if r < 1.0 { r.min(0.9999) } else { r })
}

/// A probability of a test: `p = 0.018`, `p < 0.001`.
pub fn chance(p: f64) -> String {
    match probability(p) {
        below if below.starts_with('<') => format!("p {below}"),
        p => format!("p = {p}"),
    }
}

/// The same without its name: `0.018`, `< 0.001`.
pub fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// How far off something is as a part of the whole: `+1.5 %`.
pub fn deviation(part: f64) -> String {
    let text = format!("{:+.1} %", 100.0 * part);
    if text == "-0.0 %" { "+0.0 %".to_owned() } else { text }
}

/// A part of a whole, in per cent with one decimal: `3.3 %`.
pub fn part(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// `95 %`, `99.9 %`: a level or a share of a whole, to a thousandth of a per cent.
pub fn percent(share: f64) -> String {
    format!("{} %", trimmed(format!("{:.3}", 100.0 * share)))
}

/// A place on the axis of a law, given or computed: at most four decimals; from 1000 on and below
/// 0.001 three digits and a power of ten.
pub fn given(x: f64) -> String {
    match Form::for_values(&[x]) {
        Form::Decimals => trimmed(format!("{x:.4}")),
        Form::PowersOfTen => format!("{x:.2e}"),
    }
}

/// A count with its digits in threes: `1,475,561,600`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number's text without zeros that end it.
pub fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// How numbers that stand beside each other are written.
#[derive(Clone, Copy)]
enum Form {
    Decimals,
    PowersOfTen,
}

impl Form {
    fn for_values(values: &[f64]) -> Self {
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        if largest == 0.0 || (0.001..1000.0).contains(&largest) {
            Self::Decimals
        } else {
            Self::PowersOfTen
        }
    }

    fn write(self, value: f64) -> String {
        match self {
            Self::PowersOfTen if value != 0.0 => format!("{value:.3e}"),
            // No negative zero.
            _ => match format!("{value:.4}") {
                zero if zero == "-0.0000" => "0.0000".to_owned(),
                text => text,
            },
        }
    }
}

fn with_sign(text: String) -> String {
    if text.starts_with('-') { text } else { format!("+{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        let numbers = [0.0, 0.25, -0.104, 0.001, 999.4, 1000.0, 1e-12, -2.5e7, -1e-300];
        let read = [
            "0.0000",
            "0.2500",
            "-0.1040",
            "0.0010",
            "999.4000",
            "1.000e3",
            "1.000e-12",
            "-2.500e7",
            "-1.000e-300",
        ];
        assert_eq!(numbers.map(number), read);
        assert_eq!([0.01, -0.01].map(signed), ["+0.0100", "-0.0100"]);
        assert_eq!([0.015, -0.000_1].map(deviation), ["+1.5 %", "+0.0 %"]);
        assert_eq!([0.95, 0.999, 0.5].map(percent), ["95 %", "99.9 %", "50 %"]);
        assert_eq!(
            [0.0705, 12.0, 2_187_344.0, 5.99e-23].map(given),
            ["0.0705", "12", "2.19e6", "5.99e-23"]
        );
        assert_eq!([0.0182, 1e-5].map(chance), ["p = 0.018", "p < 0.001"]);
        assert_eq!(
            [0, 999, 1_000, 1_475_561_600].map(count),
            ["0", "999", "1,000", "1,475,561,600"]
        );
    }

    #[test]
    fn ends_are_written_as_the_value_is() {
        assert_eq!(
            estimate(0.20019, Some((0.199, 0.20134))).to_string(),
            "0.2002 [0.1990, 0.2013]"
        );
        assert_eq!(
            estimate(8.07e7, Some((0.5, 1.16e8))).to_string(),
            "8.070e7 [5.000e-1, 1.160e8]"
        );
        assert_eq!(
            estimate(-3e-6, Some((-0.01, 0.01))).signed().to_string(),
            "+0.0000 [-0.0100, +0.0100]"
        );
        assert_eq!(estimate(0.2, None).to_string(), "0.2000 (no interval)");
    }

    #[test]
    fn a_fit_that_is_not_perfect_does_not_look_it() {
        assert_eq!(
            [0.999_999_9, 0.9834, 0.999_94, 1.0, -0.3].map(r_squared),
            ["0.9999", "0.9834", "0.9999", "1.0000", "-0.3000"]
        );
    }
}
