//! The list of distributions.

use super::family::Family;
use super::{
    geometric::Geometric, log_logistic::LogLogistic, lognormal::Lognormal,
    negative_binomial::NegativeBinomial, point_mass::PointMass, weibull::Weibull,
    yule_simon::YuleSimon, zeta::Zeta, zipf_mandelbrot::ZipfMandelbrot,
};

/// A kind of distribution on 1, 2, ..., upper. The module of each has its formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A lognormal variable rounded up: `mu`, `sigma`.
    Lognormal,
    /// A lognormal density at whole numbers, normalised (the paper's Appendix B): `mu`, `sigma`.
    PointMass,
    /// A power law: `exponent`.
    Zeta,
    /// A shifted power law: `exponent`, `shift`.
    ZipfMandelbrot,
    /// `rho B(k, rho + 1)`: `rho`.
    YuleSimon,
    /// A stretched exponential: `rate`, `beta`.
    Weibull,
    /// `P(R > k) = 1 / (1 + (k / scale)^shape)`: `ln_scale`, `shape`.
    LogLogistic,
    /// `p (1 - p)^(k - 1)`: `p`.
    Geometric,
    /// The negative binomial of `k - 1`: `r`, `p`.
    NegativeBinomial,
}

impl Kind {
    /// Every kind, in the order of the rooms.
    pub const ALL: [Self; 9] = [
        Self::Lognormal,
        Self::PointMass,
        Self::Zeta,
        Self::ZipfMandelbrot,
        Self::YuleSimon,
        Self::Weibull,
        Self::LogLogistic,
        Self::Geometric,
        Self::NegativeBinomial,
    ];

    /// The name in results, as the file of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lognormal => "lognormal",
            Self::PointMass => "point_mass",
            Self::Zeta => "zeta",
            Self::ZipfMandelbrot => "zipf_mandelbrot",
            Self::YuleSimon => "yule_simon",
            Self::Weibull => "weibull",
            Self::LogLogistic => "log_logistic",
            Self::Geometric => "geometric",
            Self::NegativeBinomial => "negative_binomial",
        }
    }

    /// The name in sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::Lognormal => "lognormal",
            Self::PointMass => "lognormal point masses",
            Self::Zeta => "zeta",
            Self::ZipfMandelbrot => "Zipf-Mandelbrot",
            Self::YuleSimon => "Yule-Simon",
            Self::Weibull => "discrete Weibull",
            Self::LogLogistic => "log-logistic",
            Self::Geometric => "geometric",
            Self::NegativeBinomial => "negative binomial",
        }
    }

    /// Names of the parameters, in order.
    pub fn parameter_names(self) -> &'static [&'static str] {
        self.family().names()
    }

    pub(super) fn family(self) -> &'static dyn Family {
        match self {
            Self::Lognormal => &Lognormal,
            Self::PointMass => &PointMass,
            Self::Zeta => &Zeta,
            Self::ZipfMandelbrot => &ZipfMandelbrot,
            Self::YuleSimon => &YuleSimon,
            Self::Weibull => &Weibull,
            Self::LogLogistic => &LogLogistic,
            Self::Geometric => &Geometric,
            Self::NegativeBinomial => &NegativeBinomial,
        }
    }
}
