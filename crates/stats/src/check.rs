//! What the fits of this crate ask of what they are given.

use crate::error::StatsError;

/// Slices of one length without a number that is not finite; the first gives the length.
///
/// # Errors
/// [`StatsError::Lengths`], then [`StatsError::NonFinite`], of the first slice that fails.
pub(crate) fn columns(named: &[(&'static str, &[f64])]) -> Result<(), StatsError> {
    lengths(named)?;
    finite(named)
}

/// Slices of one length; the first gives it.
pub(crate) fn lengths(named: &[(&'static str, &[f64])]) -> Result<(), StatsError> {
    let Some(((left, first), others)) = named.split_first() else { return Ok(()) };
    match others.iter().find(|(_, values)| values.len() != first.len()) {
        None => Ok(()),
        Some((right, values)) => Err(StatsError::Lengths {
            left,
            left_length: first.len(),
            right,
            right_length: values.len(),
        }),
    }
}

/// No number that is not finite.
pub(crate) fn finite(named: &[(&'static str, &[f64])]) -> Result<(), StatsError> {
    for (what, values) in named {
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(StatsError::NonFinite { what, index, value: values[index] });
        }
    }
    Ok(())
}

/// A coverage: above 0 and below 1.
pub(crate) fn level(level: f64) -> Result<(), StatsError> {
    // Written so that NaN is refused too.
    if level > 0.0 && level < 1.0 { Ok(()) } else { Err(StatsError::Level { level }) }
}
