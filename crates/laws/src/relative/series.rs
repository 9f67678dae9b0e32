//! What is compared: for each family of models, each distribution's error over its models.

use std::collections::BTreeMap;

use relscale_stats::bootstrap::{Sample, covariance};

use crate::line::{DocumentSizes, text_noise};
use crate::result::{Flag, LeftOut, TextNoise};

/// All that a relative law needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurements {
    /// What x is, in words.
    pub x: String,
    /// What a distribution is: `corpus`, or a tag's or a column's name; empty where each column is
    /// one.
    pub distributions: String,
    /// What the error is, in words.
    pub error: String,
    /// Unit of the error.
    pub unit: String,
    /// The files that were read, as they were named.
    pub files: Vec<String>,
    /// Families of models, by name. Models of different families share no law.
    pub families: Vec<ModelFamily>,
}

/// How far apart, as a ratio, two x of one budget may lie: steps are whole, so compute misses its
/// budget by a little.
pub(super) const ONE_BUDGET: f64 = 1.02;

impl Measurements {
    /// Of models of one x (within 2 %) keeps the one with the least error on `baseline`: the
    /// compute-optimal one of each budget, as nearly as it was trained. The others are listed as
    /// left out.
    pub fn keep_best(&mut self, baseline: &str) {
        for family in &mut self.families {
            let Some(judge) = family.series.iter().find(|series| series.distribution == baseline)
            else {
                continue;
            };
            let mut points: Vec<&SeriesPoint> = judge.points.iter().collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.model.cmp(&b.model)));
            let budgets = points.chunk_by(|a, b| b.x <= a.x * ONE_BUDGET);
            let best: Vec<String> = budgets
                .filter_map(|budget| budget.iter().min_by(|a, b| a.error.total_cmp(&b.error)))
                .map(|point| point.model.clone())
                .collect();
            for series in &mut family.series {
                let (kept, others): (Vec<_>, Vec<_>) =
                    series.points.drain(..).partition(|point| best.contains(&point.model));
                series.points = kept;
                series.left_out.extend(others.into_iter().map(|point| {
                    LeftOut::new(point.model, format!("not the best of its x on {baseline}"))
                }));
            }
        }
    }
}

/// One family.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFamily {
    /// Its name.
    pub name: String,
    /// One series a distribution.
    pub series: Vec<Series>,
    /// Where a model lies along its budget (its size, or its tokens), by name; empty unless an
    /// optimum between the models is wanted.
    pub places: BTreeMap<String, f64>,
    /// Doubts about how they were measured.
    pub flags: Vec<Flag>,
}

/// The error of one distribution over the models of a family.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The distribution.
    pub distribution: String,
    /// One point a model, in any order.
    pub points: Vec<SeriesPoint>,
    /// Models that have no point, with the reason.
    pub left_out: Vec<LeftOut>,
    /// What was sampled to measure it; absent for a table.
    pub units: Option<Units>,
}

/// The documents (or questions) of a distribution, as far as they matter to the noise that all
/// models share.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// The same for the same units, whatever they are called; another for others.
    pub key: String,
    /// Size of each: scored tokens of a document, 1 for a question.
    pub sizes: Vec<f64>,
    /// The error of each model without each unit in turn; a model that is not here has its
    /// replicates alone.
    pub left_out: BTreeMap<String, Vec<f64>>,
}

impl Series {
    /// How the logarithms of the errors of `models` move together over units.
    pub(crate) fn noise(&self, models: &[&SeriesPoint]) -> Option<TextNoise> {
        let units = self.units.as_ref()?;
        let x: Vec<f64> = models.iter().map(|point| point.x).collect();
        let of = |point: &&SeriesPoint| units.left_out.get(&point.model).map(Vec::as_slice);
        match models.iter().map(of).collect::<Option<Vec<&[f64]>>>() {
            Some(left_out) => text_noise(&x, &left_out, &DocumentSizes(units.sizes.clone())),
            None => {
                let replicates: Option<Vec<&[f64]>> =
                    models.iter().map(|point| point.replicates.as_deref().ok()).collect();
                drawn_noise(&replicates?, &units.sizes)
            }
        }
    }

    /// The same of the ratios to a baseline: together where both are of the same units, apart where
    /// they are not.
    pub(super) fn noise_of_ratio(
        &self,
        baseline: &Self,
        pairs: &[(&SeriesPoint, &SeriesPoint)],
    ) -> Option<TextNoise> {
        let (treated, base): (Vec<&SeriesPoint>, Vec<&SeriesPoint>) = pairs.iter().copied().unzip();
        let x: Vec<f64> = base.iter().map(|point| point.x).collect();
        let (own, other) = (self.units.as_ref()?, baseline.units.as_ref()?);
        if own.key != other.key {
            return TextNoise::of_ratio(&self.noise(&treated)?, &baseline.noise(&base)?, &x);
        }
        let ratios: Option<Vec<Vec<f64>>> = pairs
            .iter()
            .map(|(treated, base)| {
                let (t, b) = (own.left_out.get(&treated.model)?, other.left_out.get(&base.model)?);
                Some(t.iter().zip(b).map(|(t, b)| t / b).collect())
            })
            .collect();
        if let Some(ratios) = ratios {
            let ratios: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
            return text_noise(&x, &ratios, &DocumentSizes(own.sizes.clone()));
        }
        let ratios: Option<Vec<Vec<f64>>> = pairs
            .iter()
            .map(|(treated, base)| {
                let (t, b) = (treated.replicates.as_ref().ok()?, base.replicates.as_ref().ok()?);
                Some(t.iter().zip(b).map(|(t, b)| t / b).collect())
            })
            .collect();
        drawn_noise(&ratios?.iter().map(Vec::as_slice).collect::<Vec<&[f64]>>(), &own.sizes)
    }
}

/// From values over units drawn again, whose covariance is too small by one unit.
fn drawn_noise(replicates: &[&[f64]], sizes: &[f64]) -> Option<TextNoise> {
    let units = sizes.len() as f64;
    let series: Vec<Vec<f64>> =
        replicates.iter().map(|values| values.iter().map(|value| value.ln()).collect()).collect();
    let covariance = covariance(&series).ok().filter(|_| units >= 3.0)?;
    Some(TextNoise {
        covariance: covariance.into_iter().map(|value| value * units / (units - 1.0)).collect(),
        along: Vec::new(),
        elsewhere: None,
        degrees_of_freedom: units - 1.0,
        loudest: 0.0,
        documents: sizes.len() as u64,
        effective_documents: DocumentSizes(sizes.to_vec()).effective(),
    })
}

/// One model's error on one distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesPoint {
    /// The model: points of one name in different series are a pair.
    pub model: String,
    /// Above zero, finite; the same for a model in all series.
    pub x: f64,
    /// Above zero, finite.
    pub error: f64,
    /// The error in every resample of the documents, or why there are none. Resample r is the same
    /// draw for all models of a series; two series share draws where they share documents, and are
    /// drawn apart where they do not.
    pub replicates: Result<Vec<f64>, String>,
    /// What was counted where the error is `-ln RBP_k` of a study; absent for every other error.
    pub counted: Option<Counted>,
}

/// How many tokens a share of hits comes from: few hits, or few misses, and the share is hardly
/// known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Scored tokens of rank at most k.
    pub hits: u64,
    /// All scored tokens.
    pub tokens: u64,
}

/// Standard error of the logarithm of an error, or of a gap, over the resamples.
pub(super) fn log_error(replicates: &Result<Vec<f64>, String>) -> Option<f64> {
    let replicates = replicates.as_ref().ok()?;
    Sample::new(replicates.iter().map(|value| value.ln())).standard_error().ok()
}

/// Puts their corpus before names that two corpora share.
pub(super) fn tell_apart(mut family: ModelFamily, corpora: &[String]) -> ModelFamily {
    let names: Vec<String> =
        family.series.iter().map(|series| series.distribution.clone()).collect();
    for ((series, corpus), name) in family.series.iter_mut().zip(corpora).zip(&names) {
        if names.iter().filter(|other| *other == name).count() > 1 {
            series.distribution = format!("{corpus}/{name}");
        }
    }
    family
}
