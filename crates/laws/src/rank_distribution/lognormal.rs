//! The two ways in which a lognormal becomes a distribution on ranks 1 to |V|.

use relscale_stats::normal::upper_tail;

use super::appendix_b;
use crate::error::LawsError;

/// A lognormal on integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LognormalForm {
    /// `R = ceil(X)` with ln X normal: `P(R = k) = F(ln k) - F(ln(k - 1))`, truncated at |V|.
    Interval,
    /// `P(R = k) = psi(k)/c` with psi the density of X: Appendix B of the paper.
    PointMass,
}

impl LognormalForm {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Interval, Self::PointMass];

    /// Name as in results, equal to that of the fitted kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interval => "lognormal",
            Self::PointMass => "point_mass",
        }
    }

    /// Probabilities of ranks 1 to `upper`; they sum to 1.
    ///
    /// # Errors
    /// [`LawsError::Lognormal`]: a sigma that is not above zero, parameters that are not finite, or that leave no
    /// probability on ranks 1 to `upper`.
    pub fn masses(self, mu: f64, sigma: f64, upper: u32) -> Result<Vec<f64>, LawsError> {
        match self {
            Self::PointMass => appendix_b::masses(mu, sigma, upper),
            Self::Interval => interval_masses(mu, sigma, upper),
        }
    }
}

fn interval_masses(mu: f64, sigma: f64, upper: u32) -> Result<Vec<f64>, LawsError> {
    appendix_b::check(mu, sigma)?;
    let z = |k: u32| (f64::from(k).ln() - mu) / sigma;
    // Between two tails on the side where they are small: the difference keeps its digits.
    let between = |low: f64, high: f64| {
        if low > 0.0 { upper_tail(low) - upper_tail(high) } else { upper_tail(-high) - upper_tail(-low) }
    };
    let mut masses = Vec::with_capacity(upper as usize);
    let mut low = f64::NEG_INFINITY;
    for k in 1..=upper {
        let high = z(k);
        masses.push(between(low, high));
        low = high;
    }
    let total: f64 = masses.iter().rev().sum();
    if !(total.is_finite() && total > 0.0) {
        return Err(LawsError::Lognormal {
            mu,
            sigma,
            reason: "no rank of the vocabulary has any probability",
        });
    }
    masses.iter_mut().for_each(|mass| *mass /= total);
    Ok(masses)
}

/// `-sum p ln p` over masses that sum to 1, nats.
pub fn entropy(masses: &[f64]) -> f64 {
    masses.iter().rev().filter(|mass| **mass > 0.0).map(|mass| -mass * mass.ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_by_hand() {
        // mu 0: rank 1 is the lower half of the normal; of 3 ranks, the third ends at ln 3.
        let masses = LognormalForm::Interval.masses(0.0, 1.0, 3).unwrap();
        let below_ln_3 = 1.0 - upper_tail(3.0_f64.ln());
        assert!((masses[0] - 0.5 / below_ln_3).abs() < 1e-15);
        assert!((masses.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!((entropy(&[0.5, 0.25, 0.25, 0.0]) - 1.5 * std::f64::consts::LN_2).abs() < 1e-15);
    }

    #[test]
    fn far_tails_keep_their_digits() {
        // P(R = k) is about the density at k - 1/2: for k far out to seven digits.
        let (mu, sigma) = (-2.0, 1.5);
        let masses = LognormalForm::Interval.masses(mu, sigma, 60_000).unwrap();
        let density = |x: f64| {
            let z = (x.ln() - mu) / sigma;
            (-0.5 * z * z).exp() / (std::f64::consts::TAU.sqrt() * sigma * x)
        };
        let total = 1.0 - upper_tail((60_000.0_f64.ln() - mu) / sigma);
        for k in [5_000, 50_000] {
            let expected = density(f64::from(k) - 0.5) / total;
            assert!((masses[k as usize - 1] / expected - 1.0).abs() < 1e-7, "{k}");
        }
    }

    #[test]
    fn ranks_without_any_probability_are_refused() {
        assert!(LognormalForm::Interval.masses(1e6, 1.0, 100).is_err());
        for form in LognormalForm::ALL {
            assert!(form.masses(0.0, 0.0, 100).is_err(), "{}", form.name());
            assert!(form.masses(0.0, 1.0, 0).is_err(), "{}", form.name());
        }
    }
}
