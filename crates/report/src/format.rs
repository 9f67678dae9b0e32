//! Numbers and names of figures, and the words of intervals; numbers by the rules of
//! `relscale_records::digits`.

use relscale_laws::{Estimate, Interval};
use relscale_records::digits;
use relscale_records::digits::trimmed;
pub(crate) use relscale_records::digits::{count, percent};

/// `3.1k`, `2.2M`, `12B`: two digits, for axes and sentences.
pub(crate) fn scale(value: f64) -> String {
    let (divided, suffix) = match value {
        v if v < 999.5 => (v, ""),
        v if v < 999.5e3 => (v / 1e3, "k"),
        v if v < 999.5e6 => (v / 1e6, "M"),
        v if v < 999.5e9 => (v / 1e9, "B"),
        v => (v / 1e12, "T"),
    };
    let places = usize::from(divided < 9.95);
    format!("{}{suffix}", trimmed(format!("{divided:.places$}")))
}

/// A tick of a value axis: as short as it can be.
pub(crate) fn tick(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-3 || value.abs() >= 1e6) {
        return power_of_ten(&format!("{value:e}"));
    }
    trimmed(format!("{value:.6}")).replace('-', "−")
}

/// `3e-4` as `3×10⁻⁴`, `1e-4` as `10⁻⁴`.
fn power_of_ten(text: &str) -> String {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: String = exponent.chars().map(superscript).collect();
    let digits = digits.replace('-', "−");
    match digits.as_str() {
        "1" => format!("10{exponent}"),
        "−1" => format!("−10{exponent}"),
        _ => format!("{digits}×10{exponent}"),
    }
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => {
            digit.to_digit(10).and_then(|value| char::from_u32('⁰' as u32 + value)).unwrap_or(digit)
        }
    }
}

/// A size, a number of tokens or of FLOPs: whole where people can read it, `1.234e19` beyond.
pub(crate) fn quantity(value: f64) -> String {
    // Whole numbers of this size are exact in 64 bits.
    if value.fract() == 0.0 && (0.0..1e13).contains(&value) {
        count(value as u64)
    } else {
        significant(value)
    }
}

/// A compute budget: `3e18`, `9.1e17`.
pub(crate) fn flops(value: f64) -> String {
    let text = format!("{value:.2e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits.to_owned())),
        None => text,
    }
}

/// A number with `places` decimals, a real minus sign, and no negative zero.
pub(crate) fn fixed(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A real number.
pub(crate) fn significant(value: f64) -> String {
    minus(digits::number(value))
}

/// `4.0040 ± 0.0221`.
pub(crate) fn with_error(value: f64, error: Option<f64>) -> String {
    match error {
        Some(error) => format!("{} ± {}", significant(value), significant(error)),
        None => significant(value),
    }
}

/// `0.1040 [0.0981, 0.1104]`, or the value and that there is no interval.
pub(crate) fn estimate(estimate: &Estimate) -> String {
    with_ends(estimate.value, estimate.bounds())
}

/// As [`estimate`], of a value and the ends of its interval.
pub(crate) fn with_ends(value: f64, ends: Option<(f64, f64)>) -> String {
    minus(digits::estimate(value, ends).to_string())
}

/// R², never rounded up to a perfect 1.
pub(crate) fn r_squared(value: Option<f64>) -> String {
    value.map_or("none (all values equal)".to_owned(), |r| minus(digits::r_squared(r)))
}

/// With real minus signs, as a page has them.
pub(crate) fn minus(text: String) -> String {
    text.replace('-', "−")
}

/// How an interval was found, in words, or why there is none.
pub(crate) fn interval_method(interval: &Interval) -> String {
    let over_models = |level: f64, method: &str, freedom: u32| {
        let plural = if freedom == 1 { "" } else { "s" };
        format!("{} {method}, {freedom} degree{plural} of freedom", percent(level))
    };
    match interval {
        Interval::StudentT { level, degrees_of_freedom, .. } => {
            over_models(*level, "Student t", *degrees_of_freedom)
        }
        Interval::Fieller { level, degrees_of_freedom, .. } => {
            over_models(*level, "Fieller", *degrees_of_freedom)
        }
        Interval::Profile { level, degrees_of_freedom, .. } => {
            over_models(*level, "profile with Student t", *degrees_of_freedom)
        }
        Interval::ModelsAndText { level, degrees_of_freedom, text_share, .. } => format!(
            "{} for texts like this and models like these: {:.0} % of the variance is the text's, {degrees_of_freedom:.1} degrees of freedom",
            percent(*level),
            100.0 * text_share
        ),
        Interval::OpenForm { level, degrees_of_freedom, .. } => over_models(
            *level,
            "of every floor that the points allow, none included",
            *degrees_of_freedom,
        ),
        Interval::DocumentSpread { level, degrees_of_freedom, .. } => {
            over_models(*level, "over documents", *degrees_of_freedom)
        }
        Interval::DocumentBootstrap { level, resamples, .. } => {
            format!(
                "{} document bootstrap, {} resamples",
                percent(*level),
                count(u64::from(*resamples))
            )
        }
        Interval::OverTasks { level, degrees_of_freedom, .. } => {
            over_models(*level, "over tasks, for these models", *degrees_of_freedom)
        }
        Interval::CorpusBootstrap { level, resamples, .. } => {
            format!(
                "{} over training corpora drawn again, {} resamples",
                percent(*level),
                count(u64::from(*resamples))
            )
        }
        Interval::None { reason } => format!("no interval: {reason}"),
        // The list of methods may grow; an interval by a method unknown here still has its ends.
        _ => "interval".to_owned(),
    }
}

/// `−ln RBP₁₀`: for figures, where there is no markup.
pub(crate) fn rank_symbol(k: u32) -> String {
    let subscript = |digit: char| {
        digit.to_digit(10).and_then(|value| char::from_u32('₀' as u32 + value)).unwrap_or(digit)
    };
    format!("−ln RBP{}", k.to_string().chars().map(subscript).collect::<String>())
}

/// At most `longest` characters, the last of them an ellipsis where some were cut.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// A form of the distribution of ranks as people call it, by the name that files have for it.
pub(crate) fn form(name: &str) -> String {
    match name {
        "point_mass" => "point masses (Appendix B)".to_owned(),
        "zeta" => "power law (zeta)".to_owned(),
        "zipf_mandelbrot" => "Zipf–Mandelbrot".to_owned(),
        "yule_simon" => "Yule–Simon".to_owned(),
        "weibull" => "Weibull".to_owned(),
        "log_logistic" => "log-logistic".to_owned(),
        other => other.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!(scale(12.0), "12");
        assert_eq!(scale(3_100.0), "3.1k");
        assert_eq!(scale(98_000.0), "98k");
        assert_eq!(scale(999_900.0), "1M");
        assert_eq!(scale(1_475_561_600.0), "1.5B");
        assert_eq!(count(1_475_561_600), "1,475,561,600");
        assert_eq!(fixed(-0.0001, 3), "0.000");
        assert_eq!(fixed(-0.104, 3), "−0.104");
        assert_eq!(tick(0.0003), "3×10⁻⁴");
        assert_eq!(tick(1e-12), "10⁻¹²");
        assert_eq!(tick(2.5e7), "2.5×10⁷");
        assert_eq!(tick(-1e6), "−10⁶");
        assert_eq!(tick(0.75), "0.75");
        assert_eq!(with_error(4.00401, Some(0.0221)), "4.0040 ± 0.0221");
        assert_eq!(with_error(4.00401, None), "4.0040");
    }

    #[test]
    fn a_fit_that_is_not_perfect_does_not_look_it() {
        assert_eq!(r_squared(Some(0.999_999_9)), "0.9999");
        assert_eq!(r_squared(Some(0.9834)), "0.9834");
        assert_eq!(r_squared(Some(1.0)), "1.0000");
    }

    #[test]
    fn an_interval_is_written_as_its_value() {
        let interval =
            |low, high| Interval::StudentT { low, high, level: 0.95, degrees_of_freedom: 5 };
        let of =
            |value, interval| Estimate { value, unit: "1".into(), standard_error: None, interval };
        assert_eq!(estimate(&of(0.1042, interval(0.1008, 0.1076))), "0.1042 [0.1008, 0.1076]");
        assert_eq!(estimate(&of(0.1, interval(-0.2, 0.4))), "0.1000 [−0.2000, 0.4000]");
        assert_eq!(
            estimate(&of(0.1, Interval::None { reason: "two points".into() })),
            "0.1000 (no interval)"
        );
    }

    #[test]
    fn every_method_of_an_interval_has_its_words() {
        let profile = Interval::Profile { low: 0.1, high: 0.2, level: 0.95, degrees_of_freedom: 1 };
        assert_eq!(interval_method(&profile), "95 % profile with Student t, 1 degree of freedom");
        let fieller = Interval::Fieller { low: 0.1, high: 0.2, level: 0.9, degrees_of_freedom: 5 };
        assert_eq!(interval_method(&fieller), "90 % Fieller, 5 degrees of freedom");
    }

    #[test]
    fn symbols_and_lists() {
        assert_eq!(rank_symbol(100), "−ln RBP₁₀₀");
        assert_eq!(shortened("markdown", 5), "mark…");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
