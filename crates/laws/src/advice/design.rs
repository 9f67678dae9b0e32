//! Sizes, scatter and noise of a law, from which studies are drawn.

use relscale_stats::bootstrap::Noise;
use relscale_stats::interval::mixed::{MixedLine, Shared};
use relscale_stats::interval::open_form::{Of, OpenForm};
use relscale_stats::optimise::least_squares::Line;

use crate::line::Fit;
use crate::predict::Source;
use crate::result::{Further, TextNoise};

/// A law from which studies can be drawn.
#[derive(Debug, Clone)]
pub(super) struct Design {
    /// Sizes, in the order of the noise.
    sizes: Vec<f64>,
    /// The line from which points are drawn.
    line: Line,
    /// Variance of a model about the line, its text held fixed.
    scatter: f64,
    /// Covariance of the text, row by row; zeros where it is not known.
    text: Vec<f64>,
    /// With how many degrees of freedom it is known; none where it is not.
    freedom: Option<f64>,
}

/// Median widths of what fits of drawn studies give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Widths {
    /// Half of the exponent's interval.
    pub(super) exponent: f64,
    /// Width of the interval of the logarithm of a prediction; none where most have no ends.
    pub(super) ahead: Option<f64>,
}

/// Freedom of a text that is held fixed: so much that it does not matter.
const FIXED: f64 = 1e9;

impl Design {
    /// Of a law.
    ///
    /// # Errors
    /// Why it cannot be drawn from, in words.
    pub(super) fn of(source: &Source<'_>) -> Result<Self, String> {
        let sizes = source.sizes.clone();
        let line = source.fit.power.line.clone();
        let few = || "two points show no scatter to draw from".to_owned();
        let residual = line.residual_variance().ok_or_else(few)?;
        // A file of others may hold the noise of other points.
        let of_these =
            |text: &&TextNoise| text.shared().is_some_and(|shared| shared.points() == sizes.len());
        let noise = source.law.text.as_ref().filter(of_these);
        let text =
            noise.map_or_else(|| vec![0.0; sizes.len().pow(2)], |text| whole(text, sizes.len()));
        let freedom = noise.map(|text| text.degrees_of_freedom);
        let mut design = Self { sizes, line, scatter: 0.0, text, freedom };
        design.scatter = (residual - design.seen()).max(0.0);
        Ok(design)
    }

    /// The part of the residual variance that is the text's: `tr(MV)/(n - 2)`.
    fn seen(&self) -> f64 {
        let n = self.sizes.len();
        let log: Vec<f64> = self.sizes.iter().map(|size| size.ln()).collect();
        let mean = log.iter().sum::<f64>() / n as f64;
        let spread: f64 = log.iter().map(|x| (x - mean).powi(2)).sum();
        let hat = |i: usize, j: usize| 1.0 / n as f64 + (log[i] - mean) * (log[j] - mean) / spread;
        let mut trace = 0.0;
        for i in 0..n {
            trace += self.text[i * n + i];
            for j in 0..n {
                trace -= hat(i, j) * self.text[j * n + i];
            }
        }
        (trace / (n - 2) as f64).max(0.0)
    }

    /// The same law with more; none where it is not known what more would give.
    pub(super) fn with(&self, what: Further) -> Option<Self> {
        let mut then = self.clone();
        match what {
            Further::Text { times } => {
                then.freedom = Some(times * self.freedom?);
                then.text.iter_mut().for_each(|entry| *entry /= times);
            }
            Further::Model { parameters } => {
                then.sizes.push(parameters);
                then.text = self.text_with(parameters)?;
            }
        }
        Some(then)
    }

    /// The text's covariance with one more model: the text moves it along the line through how it
    /// moves the others, and by itself as much as they lie off that line. To take the nearest
    /// model's share instead would promise that a model far out sees through a tilt of the text.
    fn text_with(&self, parameters: f64) -> Option<Vec<f64>> {
        let n = self.sizes.len();
        let log: Vec<f64> = self.sizes.iter().map(|size| size.ln()).collect();
        let mean = log.iter().sum::<f64>() / n as f64;
        let spread: f64 = log.iter().map(|x| (x - mean).powi(2)).sum();
        let ahead = parameters.ln() - mean;
        let line: Vec<f64> =
            log.iter().map(|x| 1.0 / n as f64 + ahead * (x - mean) / spread).collect();
        let rows = self.text.chunks_exact(n);
        let with: Vec<f64> =
            rows.clone().map(|row| row.iter().zip(&line).map(|(v, w)| v * w).sum()).collect();
        let own = with.iter().zip(&line).map(|(v, w)| v * w).sum::<f64>() + self.seen();
        let mut whole: Vec<f64> =
            rows.zip(&with).flat_map(|(row, with)| row.iter().chain([with])).copied().collect();
        whole.extend(with.iter().chain([&own]));
        whole.iter().all(|entry| entry.is_finite()).then_some(whole)
    }

    /// Widths over `draws` drawn studies; none where no study of this kind can be fitted.
    pub(super) fn widths(&self, ahead: f64, level: f64, draws: u32, seed: u64) -> Option<Widths> {
        let n = self.sizes.len();
        let mut covariance = self.text.clone();
        covariance.iter_mut().step_by(n + 1).for_each(|variance| *variance += self.scatter);
        let noise = Noise::known(&covariance, n).ok()?;
        let shared = Shared::new(self.text.clone(), n, self.freedom.unwrap_or(FIXED)).ok()?;
        let log: Vec<f64> = self.sizes.iter().map(|size| size.ln()).collect();
        let (mut exponents, mut predictions) = (Vec::new(), Vec::new());
        noise.for_each(draws, seed, STREAM, |noise| {
            let values: Vec<f64> =
                log.iter().zip(noise).map(|(x, noise)| (self.line.at(*x) + noise).exp()).collect();
            let Ok(fit) = Fit::new(&self.sizes, &values, None) else { return };
            let mixed = MixedLine::new(&fit.power.line, &log, Some(&shared));
            exponents.extend(mixed.ok().and_then(|mixed| mixed.slope().half(level).ok()));
            let open = OpenForm::fit(&self.sizes, &values, Some(&shared));
            let ends = open
                .and_then(|open| open.at(ahead, Of::Point, level))
                .ok()
                .and_then(|open| open.bounds());
            predictions.push(ends.map_or(f64::INFINITY, |(low, high)| high - low));
        });
        Some(Widths {
            exponent: median(exponents).filter(|half| *half > 0.0)?,
            ahead: median(predictions).filter(|width| width.is_finite() && *width > 0.0),
        })
    }
}

/// The stream of the drawing: its own, the same for all candidates.
const STREAM: u64 = u64::MAX / 3;

/// The middle value; `None` of none.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => None,
        1 => Some(values[half]),
        _ => Some(0.5 * (values[half - 1] + values[half])),
    }
}

/// The covariance of the points, also where a file holds it along directions alone.
fn whole(text: &TextNoise, points: usize) -> Vec<f64> {
    if text.along.is_empty() {
        return text.covariance.clone();
    }
    let size = text.along.len();
    let mut covariance = vec![0.0; points * points];
    for (row, entries) in covariance.chunks_exact_mut(points).enumerate() {
        for (column, entry) in entries.iter_mut().enumerate() {
            for (p, left) in text.along.iter().enumerate() {
                for (q, right) in text.along.iter().enumerate() {
                    *entry += left[row] * text.covariance[p * size + q] * right[column];
                }
            }
        }
        // What lies elsewhere is spread evenly: no fit moves there.
        let others = points.saturating_sub(size).max(1) as f64;
        entries[row] += text.elsewhere.unwrap_or_default() / others;
    }
    covariance
}

#[cfg(test)]
mod tests {
    use relscale_stats::forms::power;

    use super::*;

    fn design(scatter: f64, text: f64) -> Design {
        let sizes: Vec<f64> = (0..7).map(|at| 1e4 * 3f64.powi(at)).collect();
        let values: Vec<f64> = sizes.iter().map(|size| 4.0 * size.powf(-0.1)).collect();
        let line = power::fit(&sizes, &values).unwrap().line;
        // Half of the text's variance moves all models alike, half tilts them.
        let mean = 1e4f64.ln() + 3.0 * 3f64.ln();
        let tilt: Vec<f64> = sizes.iter().map(|size| (size.ln() - mean) / 2.5).collect();
        let entry = |i: usize, j: usize| 0.5 * text * (1.0 + tilt[i] * tilt[j]);
        let text = (0..7).flat_map(|i| (0..7).map(move |j| (i, j))).map(|(i, j)| entry(i, j));
        Design { text: text.collect(), sizes, line, scatter, freedom: Some(200.0) }
    }

    fn part(design: &Design, what: Further) -> f64 {
        let width = |design: &Design| design.widths(1e8, 0.95, 400, 7).unwrap().exponent;
        width(&design.with(what).unwrap()) / width(design)
    }

    #[test]
    fn what_limits_is_what_is_to_be_measured() {
        // All of it is the text's, level and tilt: four times as much halves the interval, another
        // model sees the same.
        let of_text = design(1e-8, 1e-4);
        assert!((part(&of_text, Further::Text { times: 4.0 }) - 0.5).abs() < 0.03);
        assert!((part(&of_text, Further::Model { parameters: 1e8 }) - 1.0).abs() < 0.02);
        // All of it is the models': a further one far out narrows, more text does nothing.
        let of_models = design(1e-4, 1e-9);
        assert!((part(&of_models, Further::Text { times: 4.0 }) - 1.0).abs() < 0.01);
        let far = part(&of_models, Further::Model { parameters: 1e8 });
        let middle = part(&of_models, Further::Model { parameters: 2.7e5 });
        assert!(far < 0.75 && far < middle && middle < 1.0, "{far} {middle}");
    }

    /// The slope's standard error of a design without noise of a text is σ/√Σ(x - x̄)², and half of
    /// the interval t of n - 2 times that.
    #[test]
    fn widths_are_students_where_models_alone_scatter() {
        let found = design(1e-4, 0.0).widths(1e8, 0.95, 2_000, 3).unwrap().exponent;
        let spread: f64 = (0..7).map(|at| ((f64::from(at) - 3.0) * 3f64.ln()).powi(2)).sum();
        // Median of the root of chi² with 5 degrees of freedom over 5.
        let wanted = 2.570_581_835_6 * (1e-4 / spread).sqrt() * (4.351_46f64 / 5.0).sqrt();
        assert!((found / wanted - 1.0).abs() < 0.03, "{found} {wanted}");
    }

    #[test]
    fn noise_that_a_file_holds_along_directions_is_the_same() {
        let of = design(1e-5, 1e-4);
        let level = vec![7f64.sqrt().recip(); 7];
        let shared = Shared::new(of.text.clone(), 7, 9.0).unwrap();
        let within = shared.within(vec![level.clone(), (0..7).map(f64::from).collect()]);
        let text = TextNoise {
            covariance: within.covariance().to_vec(),
            along: within.directions().to_vec(),
            elsewhere: Some(within.elsewhere()),
            degrees_of_freedom: 9.0,
            loudest: 0.0,
            documents: 10,
            effective_documents: 10.0,
        };
        let again = whole(&text, 7);
        for (one, other) in again.iter().zip(&of.text) {
            assert!((one - other).abs() < 1e-12, "{one} {other}");
        }
    }
}
