//! Ticks that people would choose.

/// Of a log axis from `low` to `high` (logarithms to base ten): digits of decades, as many as fit;
/// values.
pub(super) fn logarithmic((low, high): (f64, f64), most: usize) -> Vec<f64> {
    // From fine to coarse: fewer and fewer digits in each decade.
    let ladders: [&[f64]; 5] = [
        &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 3.0],
        &[1.0],
    ];
    let span = high - low;
    let fitting = ladders
        .iter()
        .map(|digits| decades((low, high), digits, 1))
        .find(|ticks| ticks.len() <= most);
    let least = match span {
        span if span < 0.5 => 4,
        span if span < 1.0 => 3,
        _ => 2,
    };
    match fitting {
        Some(ticks) if ticks.len() >= least => ticks,
        // Over less than a decade a log scale is nearly linear.
        _ if span < 1.0 => linear(10f64.powf(low), 10f64.powf(high), most),
        _ => {
            let step = span.ceil() as usize / most + 1;
            decades((low, high), &[1.0], i32::try_from(step).unwrap_or(1))
        }
    }
}

/// `digit * 10^exponent` inside the range of logarithms, for every `step`th exponent.
pub(super) fn decades((low, high): (f64, f64), digits: &[f64], step: i32) -> Vec<f64> {
    (low.floor() as i32..=high.ceil() as i32)
        .filter(|exponent| exponent.rem_euclid(step) == 0)
        .flat_map(|exponent| digits.iter().map(move |digit| decimal(*digit, exponent)))
        .filter(|tick| (low..=high).contains(&tick.log10()))
        .collect()
}

/// Multiples of 1, 2 or 5 times a power of ten, at most `most` of them or one more.
pub(super) fn linear(low: f64, high: f64, most: usize) -> Vec<f64> {
    let rough = (high - low) / f64::from(u32::try_from(most.min(6)).unwrap_or(6));
    let exponent = rough.log10().floor() as i32;
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| decimal(digit, exponent))
        .find(|&step| step >= rough)
        .unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    // Rounded to the decimals of the step, lest 3 * 0.1 be written 0.30000000000000004.
    let places = usize::try_from((-step.log10().floor()).max(0.0) as i64).unwrap_or(0);
    (first..=last)
        .map(|multiple| {
            let value = multiple as f64 * step;
            format!("{value:.places$}").parse().unwrap_or(value)
        })
        .collect()
}

/// `digit * 10^exponent` as it would be parsed, without the error of a power.
fn decimal(digit: f64, exponent: i32) -> f64 {
    format!("{digit}e{exponent}").parse().unwrap_or(digit * 10f64.powi(exponent))
}
