//! Questions with options: accuracy and loss of the right one against size, by distribution; one row of panels a format of the prompt.

use relscale_laws::choices::ChoiceMeasure;
use relscale_laws::{ChoiceMean, ChoicesGroup, ChoicesModel};

use super::relative::axis_of;
use super::slot::{Figure, LeftOut, Section, Slot};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Key, Line, Look, Panel, Point, Sample, Series, Style};
use crate::results::Results;

pub(super) const NAME: &str = "choices";
const TITLE: &str = "Accuracy and loss of questions against size";

/// What is drawn: a column of panels each.
const MEASURES: [ChoiceMeasure; 2] = [ChoiceMeasure::Accuracy, ChoiceMeasure::GoldBpb];

/// A section a family and corpus.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let groups = results
        .choices
        .iter()
        .flat_map(|found| found.fit.groups.iter().map(move |group| (&found.file, group)));
    groups
        .map(|(file, group)| {
            let heading = format!("Questions: {} on {}", group.family, group.corpus);
            let files = format!("{file}--{}--{}", group.family, group.corpus);
            Section::named(&heading, &files, vec![Slot::of(Choices::of(group))])
        })
        .collect()
}

/// The slot of this figure where there are no questions.
pub(super) fn left_out() -> Vec<LeftOut> {
    let reason = "no choices.json here: relscale choices STUDY makes it of a study that measured questions with options";
    vec![LeftOut::because(NAME, TITLE, reason)]
}

/// One family on one corpus.
struct Choices<'a> {
    group: &'a ChoicesGroup,
    /// Formats, in the order of the result.
    formats: Vec<&'a str>,
    /// Distributions, by name.
    distributions: Vec<&'a str>,
}

impl<'a> Choices<'a> {
    fn of(group: &'a ChoicesGroup) -> Result<Self, LeftOut> {
        let means = || group.models.iter().flat_map(|model| &model.means);
        let mut formats: Vec<&str> = Vec::new();
        for mean in means() {
            if !formats.contains(&mean.format.as_str()) {
                formats.push(&mean.format);
            }
        }
        let mut distributions: Vec<&str> = means().filter_map(|mean| mean.distribution.as_deref()).collect();
        distributions.sort_unstable();
        distributions.dedup();
        if distributions.is_empty() {
            return Err(LeftOut::because(NAME, TITLE, "no question can be judged on every model"));
        }
        Ok(Self { group, formats, distributions })
    }

    /// A distribution's mean of each model that has it.
    fn means(
        &self,
        format: &str,
        distribution: &str,
    ) -> impl Iterator<Item = (&'a ChoicesModel, &'a ChoiceMean)> {
        self.group.models.iter().filter_map(move |model| {
            let wanted = |mean: &&ChoiceMean| {
                mean.format == format
                    && mean.distribution.as_deref() == Some(distribution)
                    && mean.group.is_none()
            };
            Some((model, model.means.iter().find(wanted)?))
        })
    }

    fn panel(&self, format: &str, measure: ChoiceMeasure) -> Panel {
        let several = self.formats.len() > 1;
        let series: Vec<Series> = self
            .distributions
            .iter()
            .enumerate()
            .map(|(at, distribution)| {
                let points = self.means(format, distribution).filter_map(|(model, mean)| {
                    let value = mean.value(measure)?;
                    Some(Point {
                        x: model.non_embedding as f64,
                        y: value.mean.value,
                        bar: value.mean.bounds(),
                        look: Look::Filled,
                        tip: format!(
                            "{} on {distribution}\nS = {}\n{measure} {}\n{} questions, chance {}, gold shuffled {}",
                            model.model,
                            format::count(model.non_embedding),
                            format::estimate(&value.mean),
                            format::count(mean.items),
                            format::significant(mean.chance),
                            format::with_error(value.shuffled.mean, Some(value.shuffled.standard_deviation)),
                        ),
                    })
                });
                Series::joined(Style::of(at), distribution, points.collect())
            })
            .collect();
        let sizes = self.group.models.iter().map(|model| model.non_embedding as f64);
        let guides = if measure.is_accuracy() { self.chances(format) } else { Vec::new() };
        let heights = series.iter().flat_map(|series| &series.points).flat_map(|point| {
            let (low, high) = point.bar.unwrap_or((point.y, point.y));
            [low, high]
        });
        let title = if measure.is_accuracy() {
            "accuracy".to_owned()
        } else {
            format!("{measure} ({})", measure.unit())
        };
        let y = if measure.is_accuracy() {
            Axis::linear(title, heights.chain(guides.iter().filter_map(level)))
        } else {
            Axis::log(title, heights)
        };
        let heading =
            if several && measure == MEASURES[0] { format!("format {format}") } else { String::new() };
        Panel {
            heading,
            guides,
            series,
            ..Panel::of(axis_of("S, non-embedding parameters", sizes), y, 270.0)
        }
    }

    /// Accuracies of one who picks blindly: one line where all distributions share it.
    fn chances(&self, format: &str) -> Vec<Guide> {
        let mut chances: Vec<f64> = self
            .distributions
            .iter()
            .filter_map(|distribution| Some(self.means(format, distribution).next()?.1.chance))
            .collect();
        chances.sort_by(f64::total_cmp);
        chances.dedup_by(|a, b| (*a - *b).abs() < 5e-3);
        chances
            .into_iter()
            .map(|at| Guide::Level { at, text: "chance".to_owned(), end: End::Right })
            .collect()
    }
}

fn level(guide: &Guide) -> Option<f64> {
    match guide {
        Guide::Level { at, .. } => Some(*at),
        Guide::Upright { .. } => None,
    }
}

impl Figure for Choices<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("Accuracy and loss on {}, against size", self.group.corpus)
    }

    fn caption(&self) -> String {
        format!(
            "Accuracy: how often the right option has the largest sum of log-probabilities. Loss: bits per byte of the right option. Bars span 95 % by drawing the \
             questions of each group again. Under a pointer a mark tells chance and the same number with the right options shuffled. Seen: {}",
            self.group.verdict
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for format in &self.formats {
            for distribution in &self.distributions {
                for (model, mean) in self.means(format, distribution) {
                    for value in &mean.values {
                        let ends = value.mean.bounds();
                        rows.push(vec![
                            Cell::text(&self.group.family),
                            Cell::text(&self.group.corpus),
                            Cell::text(format),
                            Cell::text(distribution),
                            Cell::text(&model.model),
                            Cell::Count(model.non_embedding),
                            Cell::Count(mean.items),
                            Cell::Text(value.measure.to_string()),
                            Cell::Number(value.mean.value),
                            ends.map(|(low, _)| low).into(),
                            ends.map(|(_, high)| high).into(),
                            Cell::Number(mean.chance),
                            Cell::Number(value.shuffled.mean),
                            Cell::Number(value.shuffled.standard_deviation),
                        ]);
                    }
                }
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "format",
                "distribution",
                "model",
                "non_embedding_parameters",
                "questions",
                "measure",
                "value",
                "low",
                "high",
                "chance",
                "shuffled",
                "shuffled_standard_deviation",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let row = |format: &&str| MEASURES.iter().map(|measure| self.panel(format, *measure)).collect();
        let keys = self.distributions.iter().enumerate().map(|(at, distribution)| Key {
            style: Style::of(at),
            sample: Sample::Series(Line::Solid, Style::of(at).mark()),
            text: (*distribution).to_owned(),
        });
        Drawing { title: self.title(), legend: keys.collect(), rows: self.formats.iter().map(row).collect() }
    }
}
