//! Numbers as people and programs write them in tables.
//!
//! ```text
//! 1400000   1.4e6   1.4M   1,400,000   1.400.000   1 400 000   1_400_000   1'400'000      one million and four hundred thousand
//! 3.65   3,65                                                                            three and 65 hundredths
//! nan  -nan  NaN  1.#QNAN  #NUM!        inf  +Inf  Infinity  1.#INF  1e999                 what a run that diverged logs
//! ```
//!
//! `1,400` alone is 1400 or 1.4; the other numbers of its file tell which ([`Comma`]), and where
//! they do not, it is no number.

/// What a comma in the numbers of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Comma {
    /// Nothing in the file says it.
    #[default]
    Unknown,
    /// It stands before the fraction.
    Decimal,
    /// It stands between groups of three digits.
    Thousands,
    /// The file has both.
    Both,
}

impl Comma {
    /// What all these cells together say; cells that are no numbers say nothing.
    pub fn from_cells<'a>(cells: impl Iterator<Item = &'a str>) -> Self {
        cells.filter_map(|cell| Shape::parse(cell)?.says()).fold(
            Self::Unknown,
            |all, one| match all {
                Self::Unknown => one,
                same if same == one => same,
                _ => Self::Both,
            },
        )
    }
}

/// What a cell holds for someone who wants a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// A number, which may be NaN or infinite.
    Number(f64),
    /// Nothing, or a word for it: `NA`, `null`.
    Nothing,
    /// A number that can be read in two ways.
    Ambiguous,
    /// A text.
    Text,
}

impl Reading {
    /// The number, be it finite or not.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// Words that stand where a number is missing.
const NOTHING: [&str; 8] = ["na", "n/a", "#n/a", "<na>", "null", "none", "-", "--"];
/// Beginnings of what stands for no number, or for one beyond all.
const NAN: [&str; 6] = ["nan", "1.#qnan", "1.#snan", "1.#ind", "#num!", "#div/0!"];
const INFINITE: [&str; 4] = ["inf", "infinity", "∞", "1.#inf"];
/// Letters behind a number, with what they multiply it by.
const UNITS: [(char, i32); 5] = [('k', 3), ('m', 6), ('b', 9), ('g', 9), ('t', 12)];

/// Reads a cell of a file whose commas are known as far as the file tells.
pub fn read(cell: &str, comma: Comma) -> Reading {
    let cell = cell.trim();
    if cell.is_empty() || NOTHING.contains(&cell.to_lowercase().as_str()) {
        return Reading::Nothing;
    }
    if let Some(number) = beyond(cell) {
        return Reading::Number(number);
    }
    let Some(shape) = Shape::parse(cell) else { return Reading::Text };
    let decimal = match (shape.mark, comma) {
        (Mark::None, _) => None,
        (Mark::Decimal(mark), _) => Some(mark),
        (Mark::Groups, _) => None,
        // One point is what programs write, unless commas stand where it should.
        (Mark::Either('.'), Comma::Unknown | Comma::Thousands | Comma::Both) => Some('.'),
        (Mark::Either('.'), Comma::Decimal) => return Reading::Ambiguous,
        (Mark::Either(mark), Comma::Decimal) => Some(mark),
        (Mark::Either(_), Comma::Thousands) => None,
        (Mark::Either(_), Comma::Unknown | Comma::Both) => return Reading::Ambiguous,
    };
    let plain = |letter: char| match letter {
        mark if Some(mark) == decimal => Some('.'),
        '.' | ',' => None,
        other => Some(other),
    };
    let mut digits: String = shape.mantissa.chars().filter_map(plain).collect();
    let exponent: i32 = match shape.exponent.parse::<i32>() {
        Ok(exponent) => exponent.saturating_add(shape.power),
        Err(_) if shape.exponent.is_empty() => shape.power,
        Err(_) => return Reading::Text,
    };
    if exponent != 0 {
        digits.push_str(&format!("e{exponent}"));
    }
    let sign = if shape.negative { -1.0 } else { 1.0 };
    digits.parse::<f64>().map_or(Reading::Text, |number| Reading::Number(sign * number))
}

/// A text that stands for a number which is none, however it is spelled.
fn beyond(text: &str) -> Option<f64> {
    let (negative, body) = signed(text);
    let body = body.to_lowercase();
    let ends =
        |rest: &str| rest.chars().all(|letter| letter.is_ascii_digit()) || rest.starts_with('(');
    let is = |words: &[&str]| words.iter().any(|word| body.strip_prefix(word).is_some_and(ends));
    match () {
        () if is(&NAN) => Some(f64::NAN),
        () if is(&INFINITE) => Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY }),
        () => None,
    }
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// What the marks between digits are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mark {
    /// There is none.
    None,
    /// This one stands before the fraction, any other between groups.
    Decimal(char),
    /// All stand between groups.
    Groups,
    /// The only one could be either.
    Either(char),
}

/// The parts of a number.
struct Shape {
    negative: bool,
    /// Digits, points and commas.
    mantissa: String,
    mark: Mark,
    exponent: String,
    power: i32,
}

impl Shape {
    /// The parts, where the text can be a number.
    fn parse(cell: &str) -> Option<Self> {
        let (negative, rest) = signed(cell.trim());
        let last = rest.chars().last()?.to_ascii_lowercase();
        let unit = UNITS.iter().find(|(letter, _)| *letter == last);
        let rest = if unit.is_some() { rest[..rest.len() - 1].trim_end() } else { rest };
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, ""));
        if rest.len() > mantissa.len() && !whole(exponent) {
            return None;
        }
        let mantissa = ungrouped(mantissa)?;
        let mark = mark(&mantissa)?;
        Some(Self {
            negative,
            mark,
            mantissa,
            exponent: exponent.trim_start_matches('+').to_owned(),
            power: unit.map_or(0, |(_, power)| *power),
        })
    }

    /// What this number says of the commas of its file.
    fn says(&self) -> Option<Comma> {
        let (commas, points) = (self.mantissa.contains(','), self.mantissa.contains('.'));
        match self.mark {
            Mark::Decimal(',') => Some(Comma::Decimal),
            Mark::Decimal(_) => Some(Comma::Thousands),
            Mark::Groups if commas => Some(Comma::Thousands),
            Mark::Groups if points => Some(Comma::Decimal),
            _ => None,
        }
    }
}

/// A whole number with its sign.
fn whole(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The digits without what only groups them: blanks, `_` and `'` between groups of three.
fn ungrouped(mantissa: &str) -> Option<String> {
    let separator =
        |letter: char| letter.is_whitespace() || ['_', '\'', '\u{2019}'].contains(&letter);
    let groups: Vec<&str> = mantissa.split(separator).collect();
    let of_three = |group: &&str| {
        let digits = group.find(['.', ',']).unwrap_or(group.len());
        digits == 3
    };
    let first = groups.first()?.len();
    (groups.len() == 1 || ((1..=3).contains(&first) && groups[1..].iter().all(of_three)))
        .then(|| groups.concat())
}

/// What the points and commas of digits are; none where these are no digits, or no number has its
/// marks so.
fn mark(mantissa: &str) -> Option<Mark> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !mantissa.chars().all(|letter| letter.is_ascii_digit() || letter == '.' || letter == ',')
        || !mantissa.contains(|letter: char| letter.is_ascii_digit())
    {
        return None;
    }
    let Some(last) = mantissa.rfind(['.', ',']) else { return Some(Mark::None) };
    let mark = if mantissa[last..].starts_with('.') { '.' } else { ',' };
    let (before, fraction) = (&mantissa[..last], &mantissa[last + 1..]);
    let groups = |text: &str, between: char| {
        let mut parts = text.split(between);
        let first =
            parts.next().is_some_and(|first| (1..=3).contains(&first.len()) && digits(first));
        first && parts.all(|part| part.len() == 3 && digits(part))
    };
    match before.matches(['.', ',']).count() {
        // `1.` and `.5` are what programs write; `3,` is not.
        0 if fraction.is_empty() => (mark == '.').then_some(Mark::Decimal('.')),
        0 => {
            let either =
                fraction.len() == 3 && (1..=3).contains(&before.len()) && !before.starts_with('0');
            Some(if either { Mark::Either(mark) } else { Mark::Decimal(mark) })
        }
        _ if groups(mantissa, mark) => Some(Mark::Groups),
        _ => {
            let other = if mark == '.' { ',' } else { '.' };
            groups(before, other).then_some(Mark::Decimal(mark))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(cell: &str) -> Reading {
        read(cell, Comma::Unknown)
    }

    #[test]
    fn numbers_however_they_are_written() {
        for cell in [
            "1400000",
            "1.4e6",
            "+1.4E+06",
            "1.4M",
            "1.4 m",
            "1,400,000",
            "1.400.000",
            "1 400 000",
            "1\u{202f}400\u{202f}000",
            "1_400_000",
            "1'400'000",
            "1,400,000.0",
            "1.400.000,0",
            "1400K",
            "0.0014b",
            "1400000.",
        ] {
            assert_eq!(reading(cell), Reading::Number(1.4e6), "{cell}");
        }
        for (cell, number) in [
            ("3,65", 3.65),
            ("3,6543", 3.6543),
            ("0,655", 0.655),
            (".5", 0.5),
            (",5", 0.5),
            ("-2.5", -2.5),
            ("\u{2212}2,5", -2.5),
            ("1e18", 1e18),
            ("3.655", 3.655),
            ("70m", 7e7),
            ("6.9b", 6.9e9),
            ("1,5e3", 1500.0),
            ("1.2T", 1.2e12),
        ] {
            assert_eq!(reading(cell), Reading::Number(number), "{cell}");
        }
        for cell in ["", " ", "NA", "null", "None", "#N/A", "-"] {
            assert_eq!(reading(cell), Reading::Nothing, "{cell}");
        }
        for cell in [
            "abc", "1e", "e5", "M", "1,40,000", "1 40", "3,", "1.2.3", "12%", "1e5.5", "v1.2",
            "12-5", ".", "1ee5",
        ] {
            assert_eq!(reading(cell), Reading::Text, "{cell}");
        }
    }

    #[test]
    fn what_a_run_that_diverged_logs() {
        for cell in [
            "nan",
            "-nan",
            "NaN",
            "NAN",
            "+nan",
            "nan(ind)",
            "-nan(ind)",
            "1.#QNAN",
            "-1.#IND00",
            "#NUM!",
        ] {
            assert!(matches!(reading(cell), Reading::Number(number) if number.is_nan()), "{cell}");
        }
        for cell in
            ["inf", "Inf", "+inf", "INF", "Infinity", "1.#INF", "1.#INF00", "\u{221e}", "1e999"]
        {
            assert_eq!(reading(cell), Reading::Number(f64::INFINITY), "{cell}");
        }
        for cell in ["-inf", "-Infinity", "-1.#INF"] {
            assert_eq!(reading(cell), Reading::Number(f64::NEG_INFINITY), "{cell}");
        }
        // Names that begin alike.
        for cell in ["nano", "info", "infinite", "nan-run"] {
            assert_eq!(reading(cell), Reading::Text, "{cell}");
        }
    }

    #[test]
    fn the_file_tells_what_a_comma_is() {
        let comma = |cells: &[&str]| Comma::from_cells(cells.iter().copied());
        assert_eq!(comma(&["a", "1,400", "7"]), Comma::Unknown);
        assert_eq!(comma(&["3,65", "1,400"]), Comma::Decimal);
        assert_eq!(comma(&["3.65", "1,400"]), Comma::Thousands);
        assert_eq!(comma(&["1,400,000", "1,400"]), Comma::Thousands);
        assert_eq!(comma(&["1.400.000"]), Comma::Decimal);
        assert_eq!(comma(&["3.65", "3,65"]), Comma::Both);
        for (comma, number) in [(Comma::Decimal, 1.4), (Comma::Thousands, 1400.0)] {
            assert_eq!(read("1,400", comma), Reading::Number(number));
        }
        for comma in [Comma::Unknown, Comma::Both] {
            assert_eq!(read("1,400", comma), Reading::Ambiguous);
        }
        assert_eq!(read("1.400", Comma::Decimal), Reading::Ambiguous);
        assert_eq!(read("1.400", Comma::Unknown), Reading::Number(1.4));
    }
}
