//! Numbers as people read them.

use relscale_laws::{Estimate, Interval};

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
        digit => digit.to_digit(10).and_then(|value| char::from_u32('⁰' as u32 + value)).unwrap_or(digit),
    }
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `1,475,561,600`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

/// A small error with five decimals.
pub(crate) fn small_error(value: f64) -> String {
    if value < 0.5e-5 { "< 0.00001".to_owned() } else { fixed(value, 5) }
}

/// A value with four significant digits.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..=6).contains(&magnitude) {
        return format!("{value:.3e}").replace('-', "−");
    }
    fixed(value, usize::try_from(3 - magnitude).unwrap_or(0))
}

/// `4.004 ± 0.022`: two digits of the standard error, and the value to match.
pub(crate) fn with_error(value: f64, error: Option<f64>) -> String {
    match error {
        Some(error) if error > 0.0 => {
            let places = (1 - error.log10().floor() as i64).clamp(0, 9) as usize;
            format!("{} ± {}", fixed(value, places), fixed(error, places))
        }
        _ => significant(value),
    }
}

/// Decimals that show two digits of half the interval, three to five.
pub(crate) fn places(bounds: Option<(f64, f64)>) -> usize {
    let Some((low, high)) = bounds else { return 3 };
    let half = (high - low) / 2.0;
    if half > 0.0 { ((-half.log10()).ceil() as i64 + 1).clamp(3, 5) as usize } else { 3 }
}

/// `0.104 [0.098, 0.110]`, or the value and that there is no interval.
pub(crate) fn estimate(estimate: &Estimate) -> String {
    let places = places(estimate.bounds());
    let value = fixed(estimate.value, places);
    match estimate.bounds() {
        Some((low, high)) => format!("{value} [{}, {}]", fixed(low, places), fixed(high, places)),
        None => format!("{value} (no interval)"),
    }
}

/// R² with three digits, with four from 0.99 on, and never rounded up to a perfect 1.
pub(crate) fn r_squared(value: Option<f64>) -> String {
    match value {
        None => "none (all values equal)".to_owned(),
        Some(r) if (0.99..1.0).contains(&r) => format!("{:.4}", (r * 1e4).floor() / 1e4),
        Some(r) => format!("{r:.3}"),
    }
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
            "{} for texts like this and models like these: {} of the variance is the text's, {degrees_of_freedom:.1} degrees of freedom",
            percent(*level),
            share(*text_share)
        ),
        Interval::OpenForm { level, degrees_of_freedom, .. } => {
            over_models(*level, "of every floor that the points allow, none included", *degrees_of_freedom)
        }
        Interval::DocumentSpread { level, degrees_of_freedom, .. } => {
            over_models(*level, "over documents", *degrees_of_freedom)
        }
        Interval::DocumentBootstrap { level, resamples, .. } => {
            format!("{} document bootstrap, {} resamples", percent(*level), count(u64::from(*resamples)))
        }
        Interval::None { reason } => format!("no interval: {reason}"),
        // The list of methods may grow; an interval by a method unknown here still has its ends.
        _ => "interval".to_owned(),
    }
}

/// `63 %`: a part of a whole, in whole per cents.
pub(crate) fn share(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// `95 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", trimmed(format!("{:.3}", 100.0 * share)))
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
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_475_561_600), "1,475,561,600");
        assert_eq!(fixed(-0.0001, 3), "0.000");
        assert_eq!(fixed(-0.104, 3), "−0.104");
        assert_eq!(tick(0.0003), "3×10⁻⁴");
        assert_eq!(tick(1e-12), "10⁻¹²");
        assert_eq!(tick(2.5e7), "2.5×10⁷");
        assert_eq!(tick(-1e6), "−10⁶");
        assert_eq!(tick(0.75), "0.75");
        assert_eq!(significant(1.23456), "1.235");
        assert_eq!(significant(0.000012345), "1.234e−5");
        assert_eq!(significant(12_345.6), "12346");
        assert_eq!(with_error(4.00401, Some(0.0221)), "4.004 ± 0.022");
        assert_eq!(with_error(4.00401, None), "4.004");
        assert_eq!(small_error(5.1e-5), "0.00005");
        assert_eq!(small_error(2e-16), "< 0.00001");
    }

    #[test]
    fn a_fit_that_is_not_perfect_does_not_look_it() {
        assert_eq!(r_squared(Some(0.999_999_9)), "0.9999");
        assert_eq!(r_squared(Some(0.9834)), "0.983");
        assert_eq!(r_squared(Some(1.0)), "1.000");
    }

    #[test]
    fn an_interval_decides_the_digits() {
        let interval = |low, high| Interval::StudentT { low, high, level: 0.95, degrees_of_freedom: 5 };
        let of = |value, interval| Estimate { value, unit: "1".into(), standard_error: None, interval };
        assert_eq!(estimate(&of(0.1042, interval(0.1008, 0.1076))), "0.1042 [0.1008, 0.1076]");
        assert_eq!(estimate(&of(0.1, interval(-0.2, 0.4))), "0.100 [−0.200, 0.400]");
        assert_eq!(estimate(&of(0.1, Interval::None { reason: "two points".into() })), "0.100 (no interval)");
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
