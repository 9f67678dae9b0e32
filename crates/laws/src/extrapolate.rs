//! Values at sizes that were not measured, with the form of the law left open
//! (`relscale_stats::interval::open_form`): the power law is the case without a floor, and the
//! interval is of every floor that the points allow.

use relscale_stats::StatsError;
use relscale_stats::interval::open_form::{Of, Open, OpenForm};
use relscale_stats::interval::student;

use crate::result::{Estimate, Interval};

/// The value at `x`, `None` where it exceeds the range of numbers. `read` turns the law's quantity
/// into what was asked for.
pub(crate) fn at(
    form: &OpenForm,
    x: f64,
    of: Of,
    unit: &str,
    level: f64,
    read: impl Fn(f64) -> f64,
) -> Option<Estimate> {
    let found = form.at(x, of, level);
    let log_value = match &found {
        Ok(found) => found.log_value,
        Err(StatsError::NoDegreesOfFreedom | StatsError::FormUnknown { .. }) => {
            form.straight_log_value(x)
        }
        Err(_) => return None,
    };
    let value = Some(read(log_value.exp())).filter(|value| value.is_finite())?;
    let (standard_error, interval) = match found {
        Ok(found) => (error(&found, &read), interval(&found, &read)),
        Err(refusal) => (None, Interval::None { reason: refusal.to_string() }),
    };
    Some(Estimate { value, unit: unit.to_owned(), standard_error, interval })
}

/// Half of the interval over its quantile, carried through `read` to first order: what a standard
/// error would be were it even.
fn error(found: &Open, read: &impl Fn(f64) -> f64) -> Option<f64> {
    let (low, high) = found.bounds()?;
    let t = student::two_sided_quantile(found.level, found.degrees_of_freedom).ok()?;
    let log_error = 0.5 * (high - low) / t;
    let step = 1e-6;
    let (up, down) = (read((found.log_value + step).exp()), read((found.log_value - step).exp()));
    Some(((up - down) / (2.0 * step)).abs() * log_error).filter(|error| error.is_finite())
}

fn interval(found: &Open, read: &impl Fn(f64) -> f64) -> Interval {
    let ends = found.bounds().map(|(low, high)| (read(low.exp()), read(high.exp())));
    match ends.filter(|(a, b)| a.is_finite() && b.is_finite()) {
        Some((a, b)) => Interval::OpenForm {
            low: a.min(b),
            high: a.max(b),
            level: found.level,
            degrees_of_freedom: found.degrees_of_freedom as u32,
            text_share: found.text_share,
        },
        None if found.bounds().is_some() => {
            Interval::None { reason: "the interval exceeds the range of numbers".to_owned() }
        }
        None => Interval::None { reason: "the points do not bound it".to_owned() },
    }
}
