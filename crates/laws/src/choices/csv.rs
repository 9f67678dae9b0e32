//! Means and options as CSV, read by `relscale relative --table`, `relscale stages --table`, and by
//! other programs.

use std::io;
use std::path::Path;

use relscale_records::spreadsheet;

use crate::choice_measure::ChoiceMeasure;
use crate::error::LawsError;
use crate::result::{
    ChoiceMean, ChoiceOption, ChoicesFit, ChoicesGroup, ChoicesModel, write_named,
};

/// Writes one row a model and set of items. Columns:
/// `family, model, params, corpus, format, level, distribution, group, items, chance`, then for
/// each measure its name and the name with `_low`, `_high`, `_shuffled`, `_shuffled_sd`. `level` is
/// `group`, `distribution` or `all`; what is not known is empty.
///
/// # Errors
/// [`LawsError::Write`].
pub fn save_means(fit: &ChoicesFit, path: &Path) -> Result<(), LawsError> {
    write_named(path, |out| {
        let mut table = csv::Writer::from_writer(out);
        let mut header: Vec<String> = [
            "family",
            "model",
            "params",
            "corpus",
            "format",
            "level",
            "distribution",
            "group",
            "items",
            "chance",
        ]
        .map(str::to_owned)
        .to_vec();
        for measure in ChoiceMeasure::ALL {
            let ends = ["", "_low", "_high", "_shuffled", "_shuffled_sd"];
            header.extend(ends.map(|end| [measure.name(), end].concat()));
        }
        table.write_record(&header).map_err(io::Error::from)?;
        for group in &fit.groups {
            for model in &group.models {
                for mean in &model.means {
                    table.write_record(row(group, model, mean)).map_err(io::Error::from)?;
                }
            }
        }
        table.flush()
    })
}

fn text(text: &str) -> String {
    spreadsheet::cell(text).into_owned()
}

fn row(group: &ChoicesGroup, model: &ChoicesModel, mean: &ChoiceMean) -> Vec<String> {
    let level = match (&mean.distribution, &mean.group) {
        (None, _) => "all",
        (Some(_), None) => "distribution",
        (Some(_), Some(_)) => "group",
    };
    let mut row = vec![
        text(&group.family),
        text(&model.model),
        model.non_embedding.to_string(),
        text(&group.corpus),
        text(&mean.format),
        level.to_owned(),
        text(mean.distribution.as_deref().unwrap_or_default()),
        text(mean.group.as_deref().unwrap_or_default()),
        mean.items.to_string(),
        mean.chance.to_string(),
    ];
    for value in &mean.values {
        let (low, high) =
            value.mean.bounds().map_or((String::new(), String::new()), |(low, high)| {
                (low.to_string(), high.to_string())
            });
        let shuffled = value.shuffled;
        row.extend([value.mean.value.to_string(), low, high]);
        row.extend([shuffled.mean.to_string(), shuffled.standard_deviation.to_string()]);
    }
    row
}

/// Writes one row an option, the members of [`ChoiceOption`] as columns.
///
/// # Errors
/// [`LawsError::Write`].
pub fn save_options(options: &[ChoiceOption], path: &Path) -> Result<(), LawsError> {
    write_named(path, |out| {
        let mut table = csv::Writer::from_writer(out);
        for option in options {
            let of = option;
            let option = ChoiceOption {
                model: text(&of.model),
                corpus: text(&of.corpus),
                format: text(&of.format),
                distribution: text(&of.distribution),
                group: text(&of.group),
                item: text(&of.item),
                option: text(&of.option),
                ..of.clone()
            };
            table.serialize(option).map_err(io::Error::from)?;
        }
        table.flush()
    })
}
