//! Intervals of the numerics as they are stored, or the reason for none.

use relscale_stats::StatsError;
use relscale_stats::bootstrap::Sample;
use relscale_stats::interval::profile::ProfileInterval;
use relscale_stats::interval::student::StudentInterval;

use crate::result::Interval;

/// A Student t interval as it is stored, or the reason for none.
pub(crate) fn student_t(interval: Result<StudentInterval, StatsError>) -> Interval {
    match interval {
        // The ends of an interval over orders of magnitude may leave the range of a double.
        Ok(found) if !(found.low.is_finite() && found.high.is_finite()) => {
            Interval::None { reason: "the interval exceeds the range of numbers".to_owned() }
        }
        Ok(found) => Interval::StudentT {
            low: found.low,
            high: found.high,
            level: found.level,
            degrees_of_freedom: found.degrees_of_freedom as u32,
        },
        Err(refusal) => Interval::None { reason: refusal.to_string() },
    }
}

/// A percentile interval over resampled documents as it is stored, or the reason for none.
pub(crate) fn percentiles(sample: &Result<Sample, &str>, level: f64) -> Interval {
    let reason = match sample {
        Ok(sample) => match sample.interval(level) {
            Ok((low, high)) => {
                return Interval::DocumentBootstrap {
                    low,
                    high,
                    level,
                    resamples: sample.replicates() as u32,
                };
            }
            Err(refusal) => refusal.to_string(),
        },
        Err(reason) => (*reason).to_owned(),
    };
    Interval::None { reason }
}

/// An interval by profile as it is stored: one that is open on a side is none, with what is known
/// as the reason.
pub(crate) fn traced(interval: Result<ProfileInterval, StatsError>) -> Interval {
    let found = match interval {
        Ok(found) => found,
        Err(refusal) => return Interval::None { reason: refusal.to_string() },
    };
    let (low, high) =
        (found.low.filter(|end| end.is_finite()), found.high.filter(|end| end.is_finite()));
    let percent = 100.0 * found.level;
    match (low, high) {
        (Some(low), Some(high)) => Interval::Profile {
            low,
            high,
            level: found.level,
            degrees_of_freedom: found.degrees_of_freedom as u32,
        },
        (Some(low), None) => Interval::None {
            reason: format!("not bounded from above; at least {low:.4e} at {percent} %"),
        },
        (None, Some(high)) => Interval::None {
            reason: format!("not bounded from below; at most {high:.4e} at {percent} %"),
        },
        (None, None) => {
            Interval::None { reason: "the points do not bound it on either side".to_owned() }
        }
    }
}
