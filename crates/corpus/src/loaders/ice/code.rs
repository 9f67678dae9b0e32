//! Text codes (`S1A-001`) and what the corpus design calls them.

use std::fmt;

/// Category, first and last number, and what the design calls them. Source: the ICE design, 500
/// texts a component.
const REGISTERS: [(&str, u16, u16, &str); 32] = [
    ("S1A", 1, 90, "private conversations"),
    ("S1A", 91, 100, "phone calls"),
    ("S1B", 1, 20, "class lessons"),
    ("S1B", 21, 40, "broadcast discussions"),
    ("S1B", 41, 50, "broadcast interviews"),
    ("S1B", 51, 60, "parliamentary debates"),
    ("S1B", 61, 70, "cross-examinations"),
    ("S1B", 71, 80, "business transactions"),
    ("S2A", 1, 20, "commentaries"),
    ("S2A", 21, 50, "unscripted speeches"),
    ("S2A", 51, 60, "demonstrations"),
    ("S2A", 61, 70, "legal presentations"),
    ("S2B", 1, 20, "broadcast news"),
    ("S2B", 21, 40, "broadcast talks"),
    ("S2B", 41, 50, "other talks"),
    ("W1A", 1, 10, "student essays"),
    ("W1A", 11, 20, "exam scripts"),
    ("W1B", 1, 15, "social letters"),
    ("W1B", 16, 30, "business letters"),
    ("W2A", 1, 10, "academic: humanities"),
    ("W2A", 11, 20, "academic: social sciences"),
    ("W2A", 21, 30, "academic: natural sciences"),
    ("W2A", 31, 40, "academic: technology"),
    ("W2B", 1, 10, "popular: humanities"),
    ("W2B", 11, 20, "popular: social sciences"),
    ("W2B", 21, 30, "popular: natural sciences"),
    ("W2B", 31, 40, "popular: technology"),
    ("W2C", 1, 20, "press reports"),
    ("W2D", 1, 10, "administrative writing"),
    ("W2D", 11, 20, "skills and hobbies"),
    ("W2E", 1, 10, "press editorials"),
    ("W2F", 1, 20, "novels and stories"),
];

/// The code of a text: category, number, and in ICE-East Africa the country, with the letters of
/// parts before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCode {
    category: String,
    number: u16,
    /// Ends in `K` (Kenya) or `T` (Tanzania); empty elsewhere.
    country: String,
}

impl TextCode {
    /// Reads `S1A-001`, `w2f-020`, `W2F001K`, `W2F001AK`: two kinds of hyphen or none, any case.
    /// `None` for anything else.
    ///
    /// ```
    /// use relscale_corpus::loaders::ice::code::TextCode;
    /// assert_eq!(TextCode::parse("w2f-020").unwrap().to_string(), "W2F-020");
    /// assert_eq!(TextCode::parse("W2F001K").unwrap().to_string(), "W2F-001K");
    /// assert!(TextCode::parse("conv1").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_uppercase();
        let category = text.get(..3)?;
        let known = REGISTERS.iter().any(|(known, ..)| *known == category);
        let rest = text.get(3..)?.trim_start_matches(['-', '_']);
        let (digits, country) = (rest.get(..3)?, rest.get(3..)?);
        let of_a_country = country.is_empty() || country.ends_with(['K', 'T']);
        let right = known && of_a_country && digits.bytes().all(|digit| digit.is_ascii_digit());
        let right = right && country.bytes().all(|letter| letter.is_ascii_uppercase());
        let number = digits.parse().ok().filter(|_| right)?;
        Some(Self { category: category.to_owned(), number, country: country.to_owned() })
    }

    /// `S1A`.
    pub fn category(&self) -> &str {
        &self.category
    }

    /// `spoken` or `written`.
    pub fn mode(&self) -> &'static str {
        if self.category.starts_with('S') { "spoken" } else { "written" }
    }

    /// What the design calls texts of this category and number; `None` for numbers that it does not
    /// have.
    pub fn register(&self) -> Option<&'static str> {
        let mut registers = REGISTERS.iter();
        registers
            .find(|(category, first, last, _)| {
                *category == self.category && (*first..=*last).contains(&self.number)
            })
            .map(|(.., name)| *name)
    }

    /// Whether it has the country of ICE-East Africa, whose words may carry editing codes.
    pub fn is_east_african(&self) -> bool {
        !self.country.is_empty()
    }
}

impl fmt::Display for TextCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:03}{}", self.category, self.number, self.country)
    }
}

/// Variety and text code of the first text unit, `<ICE-SIN:S1A-001#1:1:A>`; prefixes may be
/// doubled, case may vary.
pub(super) fn of_units(text: &str) -> Option<(String, TextCode)> {
    text.split('<').skip(1).find_map(|tag| {
        let unit = tag.split('#').next().filter(|unit| unit.len() < tag.len())?;
        let upper = unit.to_ascii_uppercase();
        let (variety, place) = upper.strip_prefix("ICE-")?.split_once(':')?;
        let code = place.get(..7).and_then(TextCode::parse).or_else(|| TextCode::parse(place))?;
        let variety = variety.trim();
        (!variety.is_empty()).then(|| (variety.to_owned(), code))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_every_spelling_give_variety_and_code() {
        let cases = [
            ("x <ICE-SIN:S1A-001#12:1:A> y", "SIN", "S1A-001"),
            ("<ICE-SIN:s1b-020#22:1>", "SIN", "S1B-020"),
            ("<ICE-PHI:S2A-005S2A-005ICE-PHI:S2A-005#19:1:>", "PHI", "S2A-005"),
        ];
        for (text, variety, code) in cases {
            let (found, of) = of_units(text).unwrap();
            assert_eq!((found.as_str(), of.to_string().as_str()), (variety, code), "{text}");
        }
        assert!(of_units("<I> <$A> <#> no unit").is_none());
    }

    #[test]
    fn registers_follow_the_design() {
        let register = |code: &str| TextCode::parse(code).unwrap().register();
        assert_eq!(register("S1A-090"), Some("private conversations"));
        assert_eq!(register("S1A-091"), Some("phone calls"));
        assert_eq!(register("W2B-021"), Some("popular: natural sciences"));
        assert_eq!(register("W2E-011"), None);
        for other in
            ["S1A-01", "S3A-001", "S1A-0010", "S1A", "S1A-001X", "W2F-001K1", "W2F001 K", "ÄÄÄ-001"]
        {
            assert!(TextCode::parse(other).is_none(), "{other}");
        }
    }
}
