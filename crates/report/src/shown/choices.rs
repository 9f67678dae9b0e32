//! Questions with options: means of every model on every distribution.

use std::collections::BTreeSet;

use relscale_laws::choices::ChoiceMeasure;
use relscale_laws::{ChoiceMean, ChoicesFit, ChoicesGroup};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table, notes};

/// What of them is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Questions {
    /// Groups within distributions (subjects, behaviours) as well.
    pub groups: bool,
    /// Differences from the mean with the gold shuffled.
    pub beyond_shuffled: bool,
}

/// Measures by the heads of their columns, in the order of the table; those of a screen first.
const COLUMNS: [(ChoiceMeasure, &str); 5] = [
    (ChoiceMeasure::Accuracy, "accuracy"),
    (ChoiceMeasure::AccuracyBytes, "by byte"),
    (ChoiceMeasure::AccuracyTokens, "by token"),
    (ChoiceMeasure::GoldBpb, "bits/byte"),
    (ChoiceMeasure::ChoiceNll, "-ln p"),
];

/// The means of every family on every corpus.
pub fn choices(fit: &At<'_, ChoicesFit>, how: Questions) -> Shown {
    let level = digits::percent(fit.level);
    let parts = at!(fit.groups).each().flat_map(|group| group_parts(&group, &level, how)).collect();
    Shown { title: "Questions with options".to_owned(), parts }
}

fn group_parts(group: &At<'_, ChoicesGroup>, level: &str, how: Questions) -> Vec<Part> {
    let name = format!("{} on {}", group.family, group.corpus);
    let means = || group.models.iter().flat_map(|model| &model.means);
    let formats: BTreeSet<&str> = means().map(|mean| mean.format.as_str()).collect();
    let measured: BTreeSet<ChoiceMeasure> =
        means().flat_map(|mean| &mean.values).map(|value| value.measure).collect();
    let mut measures: Vec<(ChoiceMeasure, String)> =
        COLUMNS.map(|(measure, head)| (measure, head.to_owned())).into();
    let others = ChoiceMeasure::ALL
        .into_iter()
        .filter(|measure| COLUMNS.iter().all(|(one, _)| one != measure));
    measures.extend(others.filter(|one| measured.contains(one)).map(|one| (one, one.to_string())));

    let mut columns = vec![Column::words("model"), Column::words("distribution")];
    let format = (formats.len() > 1).then(|| Column::words("format"));
    columns.extend(format);
    columns.push(Column::numbers("items").yields(4));
    for (measure, head) in &measures {
        columns.push(match measure {
            ChoiceMeasure::Accuracy => {
                let head = if how.beyond_shuffled { "accuracy -" } else { head };
                Column::estimates(head, format!("{level} interval")).interval_yields(5)
            }
            ChoiceMeasure::AccuracyBytes => Column::numbers(head).yields(3),
            ChoiceMeasure::AccuracyTokens => Column::numbers(head).yields(1),
            ChoiceMeasure::GoldBpb | ChoiceMeasure::ChoiceNll => Column::numbers(head),
            _ => Column::numbers(head).only(Medium::Page),
        });
    }
    columns.push(Column::numbers("chance").yields(2));

    let rows = at!(group.models).each().map(|model| {
        let shown = at!(model.means).each().filter(|mean| how.groups || mean.group.is_none());
        let row = |mean: At<'_, ChoiceMean>| {
            let mut cells = vec![Cell::words(&model.model), Cell::words(distribution(&mean))];
            cells.extend((formats.len() > 1).then(|| Cell::words(&mean.format)));
            cells.push(at!(mean.items).count());
            cells.extend(
                measures.iter().map(|(measure, _)| value(&mean, *measure, how.beyond_shuffled)),
            );
            cells.push(at!(mean.chance).number());
            Row::from(cells)
        };
        shown.map(row).collect()
    });
    let mut parts = vec![Said::part(Role::Heading, "", Cell::words(&name)).only(Medium::Screen)];
    parts.push(Part::Table(Table {
        title: format!("Questions of {} under {}", group.corpus, group.family),
        columns,
        groups: rows.collect(),
        note: "Intervals by items drawn again, the models held fixed. Chance: the accuracy of one who picks blindly.",
        only: None,
    }));
    if how.beyond_shuffled {
        let what = "Shown are differences from the mean with the gold shuffled over the questions of each group: an accuracy \
                    above 0 or a loss below 0 is knowledge.";
        parts.push(Said::part(Role::More, "", Cell::words(what)));
    }
    parts.push(Said::part(Role::Verdict, &name, at!(group.verdict).sentence()).only(Medium::Page));
    parts.push(Said::part(Role::Verdict, "", at!(group.verdict).sentence()).only(Medium::Screen));
    parts.extend(notes(&at!(group.flags), &name));
    parts
}

fn distribution(mean: &ChoiceMean) -> String {
    match (&mean.distribution, &mean.group) {
        (None, _) => "(all)".to_owned(),
        (Some(distribution), None) => distribution.clone(),
        (Some(_), Some(group)) => format!("  {group}"),
    }
}

fn value(mean: &At<'_, ChoiceMean>, measure: ChoiceMeasure, beyond_shuffled: bool) -> Cell {
    let Some(value) = at!(mean.values).each().find(|value| value.measure == measure) else {
        return Cell::none();
    };
    let (found, shuffled) = (at!(value.mean), at!(value.shuffled.mean));
    if !beyond_shuffled {
        return found.estimate();
    }
    let interval = at!(found.interval);
    let ends = interval.both_ends().map(|ends| ends.map(|end| end.less(&shuffled)));
    at!(found.value).less(&shuffled).signed_with(ends)
}
