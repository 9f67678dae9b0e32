//! A distribution with its parameters and its truncation: masses, cumulative, tail.

use std::sync::Arc;

use crate::error::StatsError;

use super::family::Shape;
use super::kind::Kind;

/// A distribution on 1, 2, ..., upper with masses that add up to 1.
///
/// ```
/// use relscale_stats::discrete::{Distribution, Kind};
/// // 1, 1/2, 1/3, 1/4 over their sum, 25/12.
/// let zipf = Distribution::new(Kind::Zeta, &[1.0], 4).unwrap();
/// assert!((zipf.ln_mass(2).exp() - 6.0 / 25.0).abs() < 1e-15);
/// assert!((zipf.cdf(2) - 18.0 / 25.0).abs() < 1e-15 && (zipf.survival(3) - 3.0 / 25.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct Distribution {
    kind: Kind,
    parameters: Vec<f64>,
    upper: u32,
    shape: Arc<dyn Shape>,
    ln_total: f64,
}

impl Distribution {
    /// The distribution of this kind with these parameters, in the order of
    /// [`Kind::parameter_names`], cut off above `upper`.
    ///
    /// # Errors
    /// Another number of parameters; one outside its domain; parameters so extreme that every mass
    /// is zero in `f64`.
    pub fn new(kind: Kind, parameters: &[f64], upper: u32) -> Result<Self, StatsError> {
        let family = kind.family();
        let names = family.names();
        if parameters.len() != names.len() {
            return Err(StatsError::Lengths {
                left: "parameters",
                left_length: parameters.len(),
                right: "the distribution's",
                right_length: names.len(),
            });
        }
        for ((&value, scale), name) in parameters.iter().zip(family.scales()).zip(names) {
            if !scale.holds(value) {
                return Err(StatsError::Parameter { name, value, domain: scale.domain() });
            }
        }
        if upper < 1 {
            return Err(StatsError::NoObservations);
        }
        let shape: Arc<dyn Shape> = family.shape(parameters).into();
        let ln_total = shape.ln_between(0.0, f64::from(upper));
        if !ln_total.is_finite() {
            return Err(StatsError::Overflow { what: "the sum of all masses" });
        }
        Ok(Self { kind, parameters: parameters.to_vec(), upper, shape, ln_total })
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The parameters, in the order of [`Kind::parameter_names`].
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The largest value.
    pub fn upper(&self) -> u32 {
        self.upper
    }

    /// `ln P(R = k)`; minus infinity outside of 1, ..., upper.
    pub fn ln_mass(&self, k: u32) -> f64 {
        if k == 0 || k > self.upper {
            return f64::NEG_INFINITY;
        }
        self.shape.ln_weight(f64::from(k)) - self.ln_total
    }

    /// `P(R <= k)`.
    pub fn cdf(&self, k: u32) -> f64 {
        if k == 0 {
            0.0
        } else if k >= self.upper {
            1.0
        } else {
            (self.shape.ln_between(0.0, f64::from(k)) - self.ln_total).exp().min(1.0)
        }
    }

    /// `P(R > k)`, computed on its own: a small tail keeps its digits.
    pub fn survival(&self, k: u32) -> f64 {
        if k == 0 {
            1.0
        } else if k >= self.upper {
            0.0
        } else {
            (self.shape.ln_between(f64::from(k), f64::from(self.upper)) - self.ln_total)
                .exp()
                .min(1.0)
        }
    }

    /// `sum_k p_k f(k, ln p_k)`, term by term over all values: with `-ln p_k` the entropy in nats,
    /// with `ln k` the mean logarithm.
    pub fn expectation(&self, function: impl Fn(u32, f64) -> f64) -> f64 {
        let mut sum = super::sum::Sum::default();
        for k in 1..=self.upper {
            let ln_mass = self.ln_mass(k);
            if ln_mass > -745.0 {
                sum.add(ln_mass.exp() * function(k, ln_mass));
            }
        }
        sum.value()
    }
}
