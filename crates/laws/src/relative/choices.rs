//! Measurements from a study's questions with options: the errors are means over items, and items
//! are drawn again.

use std::collections::BTreeMap;

use super::series::{ModelFamily, Series, SeriesPoint, Units, tell_apart};
use super::source::StudySource;
use crate::choices::{ChoiceMeasure, Draw, Grouping, Means, Panel};
use crate::error::LawsError;
use crate::result::{Flag, FlagCode, LeftOut};

/// The error of every distribution of every corpus that has items, by family.
///
/// # Errors
/// As [`read_study`](super::read_study); items of several formats under one name.
pub(super) fn families(
    source: &StudySource<'_>,
    measure: ChoiceMeasure,
) -> Result<Vec<ModelFamily>, LawsError> {
    let grouping = Grouping { by: source.by, whole_corpus: true, only: source.only };
    let wanted =
        |run: &relscale_records::RunTally| source.family.is_none_or(|family| family == run.family);
    let mut families: BTreeMap<&str, (ModelFamily, Vec<String>)> = BTreeMap::new();
    for panel in Panel::all(source.runs, source.documents, grouping, wanted)? {
        let (family, corpora) = families.entry(panel.family).or_insert_with(|| {
            let flags = source.x.map(|x| x.flags().to_vec()).unwrap_or_default();
            let family = ModelFamily {
                name: panel.family.to_owned(),
                series: Vec::new(),
                places: BTreeMap::new(),
                flags,
            };
            (family, Vec::new())
        });
        if let Some((item, reason)) = panel.left_out.first() {
            let message = format!(
                "{} items of {} left out for all models, e.g. {item}: {reason}",
                panel.left_out.len(),
                panel.corpus
            );
            family.flags.push(Flag::new(FlagCode::PointsLeftOut, message));
        }
        let draw = Draw { resamples: source.resamples, seed: source.seed };
        for means in Means::from_panel(&panel, &[measure], draw, false) {
            // All items of a format together are no distribution beside its parts.
            let Some(distribution) = &means.distribution else { continue };
            if family.series.iter().zip(corpora.iter()).any(|(series, corpus)| {
                (&series.distribution, corpus.as_str()) == (distribution, panel.corpus)
            }) {
                return Err(LawsError::SeveralFormats {
                    corpus: panel.corpus.to_owned(),
                    distribution: distribution.clone(),
                });
            }
            family.series.push(series(&panel, &means, distribution, measure, source)?);
            corpora.push(panel.corpus.to_owned());
        }
    }
    if families.values().all(|(family, _)| family.series.is_empty()) {
        let corpus = source.runs.first().map_or(String::new(), |run| run.corpus.clone());
        return Err(LawsError::NoTag { tags: source.tags(), corpus });
    }
    Ok(families.into_values().map(|(family, corpora)| tell_apart(family, &corpora)).collect())
}

fn series(
    panel: &Panel<'_>,
    means: &Means,
    distribution: &str,
    measure: ChoiceMeasure,
    source: &StudySource<'_>,
) -> Result<Series, LawsError> {
    let error = |mean: f64| if measure.is_accuracy() { -mean.ln() } else { mean };
    let mut series = Series {
        distribution: distribution.to_owned(),
        points: Vec::new(),
        left_out: Vec::new(),
        units: None,
    };
    series.units = Some(Units {
        key: format!("{} {distribution}", panel.documents_key),
        sizes: vec![1.0; means.items()],
        left_out: BTreeMap::new(),
    });
    for (at, model) in panel.models.iter().enumerate() {
        let name = model.tally.model.clone();
        let value = error(means.values[at]);
        if !(value > 0.0 && value.is_finite()) {
            let reason = format!("its {} is {value}, which has no logarithm", source.error);
            series.left_out.push(LeftOut::new(name, reason));
            continue;
        }
        let Some(x) = source.x.map_or(Some(model.tally.non_embedding as f64), |x| x.of(&name))
        else {
            series.left_out.push(LeftOut::new(name, "it has no x".to_owned()));
            continue;
        };
        let replicates = means
            .replicates
            .as_ref()
            .map(|replicates| replicates.column(at).map(error).collect())
            .map_err(Clone::clone);
        series.points.push(SeriesPoint { model: name, x, error: value, replicates, counted: None });
    }
    Ok(series)
}
