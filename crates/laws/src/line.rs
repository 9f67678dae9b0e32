//! The line of a law with both of its uncertainties: models that scatter about it, and the text
//! that all of them read.
//!
//! Where the noise of the text is known (a study), every interval here is for *texts like this one
//! and models like these* (`relscale_stats::interval::mixed`). Where it is not (a table, one
//! document), the scatter of the points is all there is, and the intervals are Student's, for this
//! very text.

use relscale_stats::bootstrap::left_out_covariance;
use relscale_stats::forms::power::{self, Power};
use relscale_stats::interval::crossing::{self, Band};
use relscale_stats::interval::mixed::{MixedLine, Shared, Spread};
use relscale_stats::interval::open_form::OpenForm;
use relscale_stats::{StatsError, multiple};

use crate::intervals::student_t;
use crate::result::{Estimate, Interval, TextNoise};
use crate::sizes;

/// The documents of a text, as far as they matter to the noise of a mean over them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DocumentSizes(pub(crate) Vec<f64>);

impl DocumentSizes {
    /// Number of documents of equal length that would know a mean as well: `(Σ n)²/Σ n²` (Kish
    /// 1965).
    pub(crate) fn effective(&self) -> f64 {
        let total: f64 = self.0.iter().sum();
        let squares: f64 = self.0.iter().map(|size| size * size).sum();
        if squares > 0.0 { total * total / squares } else { 0.0 }
    }
}

/// How the logarithms of a law's points move together when one document is left out; `left_out`
/// holds the values of each point without each document, in the order of `sizes`. None where some
/// value does not exist (all misses of a model stand in one document) or the documents are fewer
/// than three.
pub(crate) fn text_noise(
    x: &[f64],
    left_out: &[&[f64]],
    sizes: &DocumentSizes,
) -> Option<TextNoise> {
    if sizes.0.len() < 3 || left_out.len() != x.len() {
        return None;
    }
    let series: Vec<Vec<f64>> =
        left_out.iter().map(|values| values.iter().map(|value| value.ln()).collect()).collect();
    let log_x: Vec<f64> = x.iter().map(|x| x.ln()).collect();
    let count = log_x.len() as f64;
    let mean = log_x.iter().sum::<f64>() / count;
    let slope: Vec<f64> = log_x.iter().map(|x| x - mean).collect();
    let found =
        left_out_covariance(&series, &sizes.0, &[slope, vec![1.0 / count; log_x.len()]]).ok()?;
    Some(TextNoise {
        covariance: found.shared.covariance().to_vec(),
        along: Vec::new(),
        elsewhere: None,
        degrees_of_freedom: found.shared.degrees_of_freedom(),
        loudest: found.loudest,
        documents: sizes.0.len() as u64,
        effective_documents: sizes.effective(),
    })
}

/// A fitted power law with what is known of its noise.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub(crate) power: Power,
    /// Absent without noise of a text, and for two points.
    mixed: Option<MixedLine>,
}

impl Fit {
    /// Fits `y = a x^-alpha`.
    ///
    /// # Errors
    /// As [`power::fit`].
    pub(crate) fn new(x: &[f64], y: &[f64], text: Option<&TextNoise>) -> Result<Self, StatsError> {
        let power = power::fit(x, y)?;
        let log_x: Vec<f64> = x.iter().map(|x| x.ln()).collect();
        let shared = text.and_then(TextNoise::shared);
        let mixed =
            shared.and_then(|shared| MixedLine::new(&power.line, &log_x, Some(&shared)).ok());
        Ok(Self { power, mixed })
    }

    /// The exponent, positive when y falls: for texts like this one and models like these.
    pub(crate) fn exponent(&self, level: f64) -> Estimate {
        let value = self.power.exponent();
        let (standard_error, interval) = match &self.mixed {
            None => (
                self.power.line.slope_standard_error(),
                student_t(self.power.exponent_interval(level)),
            ),
            Some(mixed) => about(value, mixed.slope(), level, |end| end),
        };
        Estimate { value, unit: "1".to_owned(), standard_error, interval }
    }

    /// The same from the scatter of the models alone: for this very text.
    pub(crate) fn exponent_of_this_text(&self, level: f64) -> Estimate {
        Estimate {
            value: self.power.exponent(),
            unit: "1".to_owned(),
            standard_error: self.power.line.slope_standard_error(),
            interval: student_t(self.power.exponent_interval(level)),
        }
    }

    /// The same with the noise of the text alone: for these very models. `reason` says why it is
    /// not known.
    pub(crate) fn exponent_of_these_models(
        &self,
        text: Option<&TextNoise>,
        x: &[f64],
        reason: &str,
        level: f64,
    ) -> Estimate {
        let value = self.power.exponent();
        let known = text.and_then(|text| Some((text.slope_variance(x)?.sqrt(), text)));
        let interval = known.and_then(|(error, text)| {
            let half = relscale_stats::interval::student::quantile(level, text.degrees_of_freedom)
                .ok()?
                * error;
            Some(Interval::DocumentSpread {
                low: value - half,
                high: value + half,
                level,
                degrees_of_freedom: text.degrees_of_freedom.round() as u32,
            })
        });
        Estimate {
            value,
            unit: "1".to_owned(),
            standard_error: known.map(|(error, _)| error),
            interval: interval.unwrap_or_else(|| Interval::None { reason: reason.to_owned() }),
        }
    }

    /// The law's value at `x` (`fresh` false) or that of one new point (true).
    pub(crate) fn value(&self, x: f64, fresh: bool, unit: &str, level: f64) -> Estimate {
        let value = self.power.at(x);
        let line = &self.power.line;
        let (log_error, interval) = match &self.mixed {
            None if fresh => (
                line.prediction_standard_error(x.ln(), 1.0),
                student_t(self.power.prediction_interval(x, level)),
            ),
            None => {
                (line.mean_standard_error(x.ln()), student_t(self.power.mean_interval(x, level)))
            }
            Some(mixed) => about(
                line.at(x.ln()),
                mixed.value(x.ln(), f64::from(u8::from(fresh))),
                level,
                f64::exp,
            ),
        };
        // Relative error times value: first order, as any error of an exponential is.
        let standard_error = log_error.map(|error| error * value).filter(|error| error.is_finite());
        Estimate { value, unit: unit.to_owned(), standard_error, interval }
    }

    /// The law's value at the geometric mean of x.
    pub(crate) fn at_centre(&self, unit: &str, level: f64) -> Estimate {
        self.value(self.power.centre(), false, unit, level)
    }

    /// Correlation of the logarithm of [`at_centre`](Self::at_centre) with the exponent: 0 where
    /// the text is not known.
    pub(crate) fn correlation(&self) -> f64 {
        // Of the slope, whose sign is the other.
        self.mixed.as_ref().map_or(0.0, |mixed| 0.0 - mixed.correlation())
    }

    /// The law's value at `x = 1`, `x` as its unit is to name it; `None` where it exceeds the range
    /// of numbers.
    pub(crate) fn prefactor(&self, unit: &str, x: &str, level: f64) -> Option<Estimate> {
        let value = self.power.prefactor();
        let (log_error, interval) = match &self.mixed {
            None => (
                self.power.line.intercept_standard_error(),
                student_t(self.power.prefactor_interval(level)),
            ),
            Some(mixed) => about(self.power.line.intercept, mixed.value(0.0, 0.0), level, f64::exp),
        };
        value.is_finite().then(|| Estimate {
            value,
            unit: format!("{unit} at {x} = 1"),
            standard_error: log_error.map(|error| error * value).filter(|error| error.is_finite()),
            interval,
        })
    }

    /// Standard error of the logarithm of the law's value at `x`; `None` for two points.
    pub(crate) fn log_error(&self, log_x: f64) -> Option<f64> {
        match &self.mixed {
            None => self.power.line.mean_standard_error(log_x),
            Some(mixed) => Some(mixed.value(log_x, 0.0).standard_error()),
        }
    }

    /// The x at which the law (or one new point, `fresh`) takes the value whose logarithm is
    /// `log_y`.
    pub(crate) fn reaches(&self, log_y: f64, fresh: bool, level: f64) -> Interval {
        let band = if fresh { Band::Observation } else { Band::Line };
        let Some(mixed) = &self.mixed else {
            return sizes::within(crossing::interval(&self.power.line, log_y, band, level));
        };
        let spread = mixed.slope();
        match mixed.crossing(log_y, f64::from(u8::from(fresh)), level) {
            Ok((low, high, freedom)) if high.exp().is_finite() => Interval::ModelsAndText {
                low: low.exp(),
                high: high.exp(),
                level,
                degrees_of_freedom: freedom,
                text_share: spread.text_share(),
            },
            Ok((low, ..)) => Interval::None {
                reason: format!("from {:.2e} to beyond the range of numbers", low.exp()),
            },
            Err(refusal) => Interval::None { reason: refusal.to_string() },
        }
    }

    /// Tests of the slope against zero and against `margin`.
    ///
    /// # Errors
    /// Two points; a margin that is not above zero.
    pub(crate) fn slope_tests(&self, margin: f64) -> Result<multiple::SlopeTests, StatsError> {
        match &self.mixed {
            None => multiple::slope(&self.power.line, margin),
            Some(mixed) => {
                let spread = mixed.slope();
                multiple::tests(
                    self.power.line.slope,
                    spread.standard_error(),
                    spread.degrees_of_freedom,
                    margin,
                )
            }
        }
    }
}

/// Standard error and interval about a value, the ends carried through `scale`.
fn about(
    value: f64,
    spread: Spread,
    level: f64,
    scale: impl Fn(f64) -> f64,
) -> (Option<f64>, Interval) {
    let interval = match spread.half(level) {
        Err(refusal) => Interval::None { reason: refusal.to_string() },
        Ok(half) => {
            let (low, high) = (scale(value - half), scale(value + half));
            if low.is_finite() && high.is_finite() {
                Interval::ModelsAndText {
                    low,
                    high,
                    level,
                    degrees_of_freedom: spread.degrees_of_freedom,
                    text_share: spread.text_share(),
                }
            } else {
                Interval::None { reason: "the interval exceeds the range of numbers".to_owned() }
            }
        }
    };
    (Some(spread.standard_error()), interval)
}

/// Points up to which the noise of a text is kept whole: beyond, its file grows with their square.
const WHOLE: usize = 24;

impl TextNoise {
    /// As the numerics want it; none where the file holds no square.
    pub(crate) fn shared(&self) -> Option<Shared> {
        let (covariance, freedom) = (self.covariance.clone(), self.degrees_of_freedom);
        if !self.along.is_empty() {
            let elsewhere = self.elsewhere.unwrap_or_default();
            return Shared::along(covariance, self.along.clone(), elsewhere, freedom).ok();
        }
        let points = (covariance.len() as f64).sqrt().round() as usize;
        Shared::new(covariance, points, freedom).ok()
    }

    /// What of it laws through points at `x` with `values` need: for many points a small part. It
    /// is kept in files, once nothing asks for more.
    pub(crate) fn condense(&mut self, x: &[f64], values: &[f64]) {
        if x.len() <= WHOLE || !self.along.is_empty() {
            return;
        }
        let (Some(shared), Ok(open)) = (self.shared(), OpenForm::fit(x, values, None)) else {
            return;
        };
        let within = shared.within(open.directions());
        self.covariance = within.covariance().to_vec();
        self.along = within.directions().to_vec();
        self.elsewhere = Some(within.elsewhere());
    }

    /// Variance of the slope of a least-squares line over `ln x` by the text alone.
    pub(crate) fn slope_variance(&self, x: &[f64]) -> Option<f64> {
        let log_x: Vec<f64> = x.iter().map(|x| x.ln()).collect();
        let mean = log_x.iter().sum::<f64>() / log_x.len() as f64;
        let spread: f64 = log_x.iter().map(|x| (x - mean).powi(2)).sum();
        let weights: Vec<f64> = log_x.iter().map(|x| (x - mean) / spread).collect();
        let shared = self.shared().filter(|shared| shared.points() == x.len() && spread > 0.0)?;
        Some(shared.product(&weights, &weights).max(0.0))
    }

    /// Noise of a ratio of two errors, point by point, whose texts are other documents: the two
    /// covariances added, degrees of freedom of the sum by Satterthwaite for the slope.
    pub(crate) fn of_ratio(treatment: &Self, baseline: &Self, x: &[f64]) -> Option<Self> {
        let whole = treatment.along.is_empty() && baseline.along.is_empty();
        if !whole || treatment.covariance.len() != baseline.covariance.len() {
            return None;
        }
        let pairs = treatment.covariance.iter().zip(&baseline.covariance);
        let covariance = pairs.map(|(a, b)| a + b).collect();
        let (a, b) = (treatment.slope_variance(x)?, baseline.slope_variance(x)?);
        let known = a * a / treatment.degrees_of_freedom + b * b / baseline.degrees_of_freedom;
        let least = treatment.degrees_of_freedom.min(baseline.degrees_of_freedom);
        Some(Self {
            covariance,
            along: Vec::new(),
            elsewhere: None,
            degrees_of_freedom: if known > 0.0 { (a + b).powi(2) / known } else { least },
            loudest: treatment.loudest.max(baseline.loudest),
            documents: treatment.documents.min(baseline.documents),
            effective_documents: treatment.effective_documents.min(baseline.effective_documents),
        })
    }
}

#[cfg(test)]
mod tests {
    use relscale_stats::interval::open_form::Of;

    use super::*;

    /// What a file keeps of the noise of a text of many points gives every interval that the whole
    /// of it gives.
    #[test]
    fn condensed_noise_is_as_good_as_the_whole() {
        let (points, documents) = (40, 60);
        let x: Vec<f64> = (0..points).map(|at| 1e5 * 1.2_f64.powi(at)).collect();
        let wave = |at: usize, by: f64| (by * at as f64).sin();
        // With a floor, or without one, which is at its bound then.
        for floor in [0.5, 0.0] {
            let y: Vec<f64> = (0..x.len())
                .map(|at| (9.0 * x[at].powf(-0.12) + floor) * (0.003 * wave(at, 2.4)).exp())
                .collect();
            let left_out: Vec<Vec<f64>> = (0..x.len())
                .map(|at| {
                    let moved = |document: usize| {
                        1e-4 * (wave(document, 1.7) + 0.2 * wave(document + at * document, 0.9))
                    };
                    (0..documents).map(|document| y[at] * moved(document).exp()).collect()
                })
                .collect();
            let slices: Vec<&[f64]> = left_out.iter().map(Vec::as_slice).collect();
            let sizes = DocumentSizes(vec![100.0; documents]);
            let whole = text_noise(&x, &slices, &sizes).unwrap();
            let mut part = whole.clone();
            part.condense(&x, &y);
            assert!(part.covariance.len() <= 25 && part.along.len() <= 5, "{part:?}");
            let both = [&whole, &part];
            let close = |[left, right]: [f64; 2]| {
                assert!((left / right - 1.0).abs() < 1e-9, "{left} {right}");
            };
            close(both.map(|text| text.slope_variance(&x).unwrap()));
            let fits = both.map(|text| Fit::new(&x, &y, Some(text)).unwrap());
            let open = both.map(|text| OpenForm::fit(&x, &y, text.shared().as_ref()).unwrap());
            for at in [1e5, 1e7, 1e9] {
                close(
                    [0, 1].map(|one: usize| {
                        fits[one].value(at, false, "1", 0.95).bounds().unwrap().0
                    }),
                );
                for of in [Of::Law, Of::Point] {
                    let found = [0, 1].map(|one: usize| open[one].at(at, of, 0.95).unwrap());
                    close([0, 1].map(|one: usize| found[one].bounds().unwrap().1));
                    close([0, 1].map(|one: usize| found[one].text_share));
                }
            }
            // Few points are kept whole.
            let mut few = whole.clone();
            few.condense(&x[..24], &y[..24]);
            assert_eq!(few, whole);
        }
    }
}
