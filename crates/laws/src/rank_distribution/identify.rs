//! Can mu and sigma be told apart?
//!
//! Where a lognormal fits a tail that is nearly a power law, only a combination of mu and sigma is
//! known: their estimates are correlated to almost ±1, and the profile likelihood of mu is flat.
//! The paper's fit of GPT-2 (mu = -65, sigma = 13) is such a one. So the correlation and the
//! profile are reported with every fit.

use relscale_stats::discrete::{self, Fit, Histogram, ProfileInterval};

use crate::result::Identifiability;

/// Where mu is held, in standard errors from its estimate.
const GRID: [f64; 9] = [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0];

/// The profile of mu about the fit. `None` when mu has no standard error to set the scale by, or no
/// profile can be had.
pub(super) fn profile_mu(fit: &Fit, histogram: &Histogram, level: f64) -> Option<Identifiability> {
    let mu = fit.parameters.first()?;
    let error = mu.standard_error.filter(|error| error.is_finite() && *error > 0.0)?;
    let grid = GRID.map(|step| mu.value + step * error);
    let heights = discrete::profile(fit, histogram, 0, &grid).ok()?;
    // The profile's top is the fit; a rounding error above it is none.
    let deviance = |height: f64| (2.0 * (fit.log_likelihood - height)).max(0.0);
    let profile = heights.into_iter().map(|(mu, height)| (mu, deviance(height))).collect();
    let ProfileInterval { low, high } =
        discrete::profile_interval(fit, histogram, 0, level).ok()?;
    Some(Identifiability { words: words(fit, mu.value, low, high), profile, low, high, level })
}

fn words(fit: &Fit, mu: f64, low: Option<f64>, high: Option<f64>) -> String {
    let end =
        |end: Option<f64>| end.map_or_else(|| "without end".to_owned(), |end| format!("{end:.3}"));
    let correlation = fit
        .correlation
        .map_or_else(|| "no correlation known".to_owned(), |r| format!("correlation {r:.3}"));
    format!(
        "mu {mu:.3} (likelihood interval {} to {}), {correlation} with sigma: {}",
        end(low),
        end(high),
        if fit.is_identified() { "each is known apart" } else { "known only together" }
    )
}

#[cfg(test)]
mod tests {
    use relscale_stats::discrete::{Distribution, Kind, fit};
    use relscale_stats::draw;

    use super::*;

    fn drawn(mu: f64, sigma: f64, upper: u32) -> Histogram {
        let distribution = Distribution::new(Kind::PointMass, &[mu, sigma], upper).unwrap();
        let masses: Vec<f64> = (1..=upper).map(|k| distribution.ln_mass(k).exp()).collect();
        let counts = draw::counts(&masses, 20_000, 8).unwrap();
        let (values, counts): (Vec<u32>, Vec<u64>) =
            (1..).zip(counts).filter(|(_, count)| *count > 0).unzip();
        Histogram::new(&values, &counts).unwrap()
    }

    #[test]
    fn a_lognormal_with_a_hump_has_its_mu_known_apart() {
        let histogram = drawn(3.0, 1.2, 4096);
        let fit = fit(Kind::PointMass, &histogram, 4096).unwrap();
        let found = profile_mu(&fit, &histogram, 0.95).unwrap();
        let (mu, error) = (fit.parameters[0].value, fit.parameters[0].standard_error.unwrap());
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        assert!(low < 3.0 && 3.0 < high, "{low} {high}");
        // A near parabola: the interval is 1.96 standard errors wide on either side, the deviance
        // the steps squared.
        assert!(
            ((high - low) / (2.0 * 1.96 * error) - 1.0).abs() < 0.05,
            "{low} {mu} {high} {error}"
        );
        for ((_, deviance), step) in found.profile.iter().zip(GRID) {
            assert!(
                (deviance - step * step).abs() < 0.15 * step * step + 1e-6,
                "{step}: {deviance}"
            );
        }
        assert!(found.words.contains("known apart"), "{}", found.words);
    }

    #[test]
    fn a_lognormal_that_is_nearly_a_power_law_has_not() {
        // The paper's fit of GPT-2.
        let histogram = drawn(-65.192, 12.892, 50_257);
        let fit = fit(Kind::PointMass, &histogram, 50_257).unwrap();
        let found = profile_mu(&fit, &histogram, 0.95).unwrap();
        assert!(fit.correlation.unwrap().abs() > 0.99);
        assert!(found.words.contains("only together"), "{}", found.words);
        let wide = found.high.unwrap_or(f64::INFINITY) - found.low.unwrap_or(f64::NEG_INFINITY);
        assert!(wide > 20.0, "mu is anywhere within {wide}: {}", found.words);
    }
}
