//! A run that was not trained: two of N, D, C and M, from which the others follow.

use std::str::FromStr;

use relscale_records::digits;
use relscale_records::written::number::{self, Comma};

/// Numbers that a point may have.
const RANGE: std::ops::RangeInclusive<f64> = 1e-60..=1e60;

/// What a point is given by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointQuantity {
    /// N, as the table counts parameters.
    Params,
    /// D.
    Tokens,
    /// C, as the table counts FLOPs: `k N D`.
    Flops,
    /// M = D / N.
    Multiplier,
}

impl PointQuantity {
    /// All.
    pub const ALL: [Self; 4] = [Self::Params, Self::Tokens, Self::Flops, Self::Multiplier];

    /// Its symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Params => "N",
            Self::Tokens => "D",
            Self::Flops => "C",
            Self::Multiplier => "M",
        }
    }
}

/// Two of N, D, C and M.
///
/// ```
/// use relscale_laws::isoflop::Point;
/// let point: Point = "C=1e21, M=40".parse().unwrap();
/// let (n, d) = point.place(Some(6.0)).unwrap();
/// assert!((d / n / 40.0 - 1.0).abs() < 1e-12 && (6.0 * n * d / 1e21 - 1.0).abs() < 1e-12);
/// assert!("N=7B,D=1T,M=143".parse::<Point>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    first: (PointQuantity, f64),
    second: (PointQuantity, f64),
}

/// Why a text or two numbers are no point.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PointError {
    /// A member without a name.
    #[error("`{0}` has no name; a point is two of N=, D=, C= and M=, as N=7e9,D=1e12")]
    NoName(String),
    /// A name that is none of the four.
    #[error(
        "`{0}` is no quantity of a point; they are N (parameters), D (tokens), C (FLOPs) and M (tokens a parameter), in capitals"
    )]
    Unknown(String),
    /// A quantity twice.
    #[error("{0} is given twice; a point is two different ones of N, D, C and M")]
    Repeated(&'static str),
    /// One alone.
    #[error(
        "{0} alone is no point; give a second of N, D, C and M (the optimum of a budget is asked for without a name: --at 1e21)"
    )]
    Alone(&'static str),
    /// More than two, of which any two decide the rest.
    #[error(
        "{0} are more than a point needs, and may contradict each other; two of them tell the others, as C = k N D and M = D / N"
    )]
    TooMany(String),
    /// A value that is no number.
    #[error("{name} is `{text}`, which is no number; write it as 7e9, 7B or 125M")]
    NoNumber {
        /// The quantity.
        name: &'static str,
        /// What stands there.
        text: String,
    },
    /// A value that nothing has.
    #[error("{name} is {value}; it must be above 0, from 1e-60 to 1e60")]
    Range {
        /// The quantity.
        name: &'static str,
        /// The value.
        value: f64,
    },
}

impl Point {
    /// Of two quantities.
    ///
    /// # Errors
    /// One twice; a value that is not above 0 and within 1e-60 to 1e60.
    pub fn new(
        first: (PointQuantity, f64),
        second: (PointQuantity, f64),
    ) -> Result<Self, PointError> {
        for (quantity, value) in [first, second] {
            if !RANGE.contains(&value) {
                return Err(PointError::Range { name: quantity.symbol(), value });
            }
        }
        match first.0 == second.0 {
            true => Err(PointError::Repeated(first.0.symbol())),
            false => Ok(Self { first, second }),
        }
    }

    /// Of N and D.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of(params: f64, tokens: f64) -> Result<Self, PointError> {
        Self::new((PointQuantity::Params, params), (PointQuantity::Tokens, tokens))
    }

    /// N and D, with so many FLOPs a parameter and token; `None` where C is given and those are
    /// not.
    pub fn place(&self, per_product: Option<f64>) -> Option<(f64, f64)> {
        let of = |wanted: PointQuantity| {
            let given = [self.first, self.second];
            given.into_iter().find(|(quantity, _)| *quantity == wanted).map(|(_, value)| value)
        };
        let [n, d, c, m] = PointQuantity::ALL.map(of);
        // N D, where C tells it.
        let product = match c {
            None => None,
            Some(c) => Some(c / per_product?),
        };
        Some(match (n, d, product, m) {
            (Some(n), Some(d), _, _) => (n, d),
            (Some(n), _, Some(product), _) => (n, product / n),
            (Some(n), _, _, Some(m)) => (n, m * n),
            (_, Some(d), Some(product), _) => (product / d, d),
            (_, Some(d), _, Some(m)) => (d / m, d),
            (_, _, Some(product), Some(m)) => ((product / m).sqrt(), (product * m).sqrt()),
            _ => return None,
        })
    }
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [(first, one), (second, other)] = [self.first, self.second];
        let [one, other] = [one, other].map(digits::given);
        write!(f, "{}={one},{}={other}", first.symbol(), second.symbol())
    }
}

impl FromStr for Point {
    type Err = PointError;

    /// `N=7e9,D=1e12`: numbers as in tables, with k, M, B or T for powers of a thousand.
    fn from_str(text: &str) -> Result<Self, PointError> {
        let mut given: Vec<(PointQuantity, f64)> = Vec::new();
        for member in text.split(',') {
            let (name, value) = member
                .split_once('=')
                .ok_or_else(|| PointError::NoName(member.trim().to_owned()))?;
            let (name, value) = (name.trim(), value.trim());
            let quantity = PointQuantity::ALL
                .into_iter()
                .find(|quantity| quantity.symbol() == name)
                .ok_or_else(|| PointError::Unknown(name.to_owned()))?;
            let symbol = quantity.symbol();
            if given.iter().any(|(known, _)| *known == quantity) {
                return Err(PointError::Repeated(symbol));
            }
            let number = number::read(value, Comma::Unknown).number();
            let number = number
                .ok_or_else(|| PointError::NoNumber { name: symbol, text: value.to_owned() })?;
            given.push((quantity, number));
        }
        match given[..] {
            [(only, value)] => match RANGE.contains(&value) {
                true => Err(PointError::Alone(only.symbol())),
                false => Err(PointError::Range { name: only.symbol(), value }),
            },
            [first, second] => Self::new(first, second),
            _ => {
                let names: Vec<&str> =
                    given.iter().map(|(quantity, _)| quantity.symbol()).collect();
                Err(PointError::TooMany(names.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_tell_the_others() {
        // 6 N D = 4.2e22, D / N = 1000 / 7.
        for text in [
            "N=7e9,D=1e12",
            "D=1T , N=7B",
            "N=7e9,C=4.2e22",
            "D=1e12,C=4.2e22",
            "N=7e9,M=142.85714285714286",
            "D=1e12,M=142.85714285714286",
            "C=4.2e22,M=142.85714285714286",
        ] {
            let (n, d) = text.parse::<Point>().unwrap().place(Some(6.0)).unwrap();
            assert!(
                (n / 7e9 - 1.0).abs() < 1e-12 && (d / 1e12 - 1.0).abs() < 1e-12,
                "{text}: {n} {d}"
            );
        }
        let without = |text: &str| text.parse::<Point>().unwrap().place(None);
        assert_eq!(without("N=2,M=3"), Some((2.0, 6.0)));
        assert_eq!(without("C=2,M=3"), None);
    }

    #[test]
    fn what_is_no_point_is_refused_by_kind() {
        let refused = |text: &str| text.parse::<Point>().unwrap_err();
        assert_eq!(refused("N=7e9"), PointError::Alone("N"));
        assert_eq!(refused("N=7e9,N=8e9"), PointError::Repeated("N"));
        assert_eq!(refused("N=7e9,1e12"), PointError::NoName("1e12".into()));
        assert_eq!(refused("N=7e9,"), PointError::NoName(String::new()));
        assert_eq!(refused("n=7e9,D=1"), PointError::Unknown("n".into()));
        assert_eq!(refused("N=7e9,L=2"), PointError::Unknown("L".into()));
        assert_eq!(refused("N=7e9,D=1e12,M=9"), PointError::TooMany("N, D, M".into()));
        assert!(matches!(refused("N=seven,D=1"), PointError::NoNumber { name: "N", .. }));
        assert!(matches!(refused("N=,D=1"), PointError::NoNumber { name: "N", .. }));
        for value in ["0", "-7e9", "inf", "nan", "1e999", "1e61", "1e-61"] {
            let refusal = refused(&format!("N=7e9,D={value}"));
            assert!(matches!(refusal, PointError::Range { name: "D", .. }), "{value}: {refusal}");
        }
    }
}
