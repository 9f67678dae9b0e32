//! Questions with options: accuracy and loss of the right one against size, by distribution; one
//! row of panels a format of the prompt.

use relscale_laws::choices::ChoiceMeasure;
use relscale_laws::{ChoiceMean, ChoicesGroup};

use super::curve::S;
use super::slot::{Figure, Kind, Made, Section, Slot};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, End, Guide, Key, Marks, Panel, Series, Style};
use crate::results::Results;

const FIGURE: Kind<for<'a> fn(&'a ChoicesGroup) -> Made<'a>> =
    Kind { name: "choices", title: "Accuracy and loss of questions against size", make };

/// What is drawn: a column of panels each.
const MEASURES: [ChoiceMeasure; 2] = [ChoiceMeasure::Accuracy, ChoiceMeasure::GoldBpb];

/// A section a family and corpus.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let files = results.choices.iter();
    let groups =
        files.flat_map(|found| found.fit.groups.iter().map(move |group| (&found.file, group)));
    let sections = groups.map(|(file, group)| {
        let heading = format!("Questions: {} on {}", group.family, group.corpus);
        let files = format!("{file}--{}--{}", group.family, group.corpus);
        Section::new(&heading, &files, vec![FIGURE.slot((FIGURE.make)(group))])
    });
    sections.collect()
}

/// The slot of this figure where there are no questions.
pub(super) fn left_out() -> Vec<Slot<'static>> {
    let reason = "no choices.json here: relscale choices STUDY makes it of a study that measured questions with options";
    vec![FIGURE.slot(Err(reason.to_owned()))]
}

/// One family on one corpus.
fn make(group: &ChoicesGroup) -> Made<'_> {
    let means =
        || group.models.iter().flat_map(|model| model.means.iter().map(move |mean| (model, mean)));
    // Formats in the order of the result, distributions by name.
    let mut formats: Vec<&str> = Vec::new();
    for (_, mean) in means() {
        if !formats.contains(&mean.format.as_str()) {
            formats.push(&mean.format);
        }
    }
    let mut names: Vec<&str> =
        means().filter_map(|(_, mean)| mean.distribution.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Err("no question can be judged on every model".to_owned());
    }
    // Of one model, in one format, on one distribution, by one measure.
    let mut values = Vec::new();
    for format in &formats {
        for name in &names {
            // A distribution's mean of each model that has it.
            let wanted = |mean: &ChoiceMean| {
                mean.format == *format
                    && mean.distribution.as_deref() == Some(name)
                    && mean.group.is_none()
            };
            for model in &group.models {
                let mean = model.means.iter().find(|mean| wanted(mean));
                values.extend(
                    mean.iter().flat_map(|mean| mean.values.iter().map(move |v| (model, *mean, v))),
                );
            }
        }
    }
    let numbers = Frame::from_rows(values)
        .column("family", |_| &group.family)
        .column("corpus", |_| &group.corpus)
        .column("format", |(_, mean, _)| &mean.format)
        .column("distribution", |(_, mean, _)| mean.distribution.as_deref())
        .column("model", |(model, ..)| &model.model)
        .column(S, |(model, ..)| model.non_embedding)
        .column("questions", |(_, mean, _)| mean.items)
        .column("measure", |(.., value)| value.measure.to_string())
        .column("value", |(.., value)| value.mean.value)
        .ends(["low", "high"], |(.., value)| value.mean.bounds())
        .column("chance", |(_, mean, _)| mean.chance)
        .column("shuffled", |(.., value)| value.shuffled.mean)
        .column("shuffled_standard_deviation", |(.., value)| value.shuffled.standard_deviation)
        .frame();
    let caption = format!(
        "Accuracy: how often the right option has the largest sum of log-probabilities. Loss: bits per byte of the right option. Bars span 95 % by drawing the \
         questions of each group again. Under a pointer a mark tells chance and the same number with the right options shuffled. Seen: {}",
        group.verdict
    );
    let title = format!("Accuracy and loss on {}, against size", group.corpus);
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let rows = frame.rows();
        let keys =
            names.iter().enumerate().map(|(at, name)| Key::series(Style::for_corpus(at), name));
        let panels = formats.iter().map(|format| {
            let rows = rows.matching("format", format);
            let heading =
                if formats.len() > 1 { format!("format {format}") } else { String::new() };
            let panel = |measure: &ChoiceMeasure| panel(&rows, &names, *measure);
            let mut row: Vec<Panel> = MEASURES.iter().map(panel).collect();
            row[0].heading = heading;
            row
        });
        Drawing::new(keys.collect(), panels.collect())
    }))
}

fn panel(rows: &Rows<'_>, names: &[String], measure: ChoiceMeasure) -> Panel {
    let sizes = rows.numbers(S);
    let rows = rows.matching("measure", &measure.to_string());
    let series = names.iter().enumerate().map(|(at, name)| {
        let marks = Marks::at(&rows.matching("distribution", name), S, "value", tip);
        Series::new(Style::for_corpus(at), name).joined(marks.error("low", "high"))
    });
    let x = Axis::amounts("S, non-embedding parameters").holding(sizes);
    if !measure.is_accuracy() {
        let y = Axis::log(format!("{measure} ({})", measure.unit()));
        return Panel::new(x, y, 270.0, series.collect());
    }
    // Accuracies of one who picks blindly: one line where all distributions share it.
    let mut chances = rows.numbers("chance");
    chances.sort_by(f64::total_cmp);
    chances.dedup_by(|a, b| (*a - *b).abs() < 5e-3);
    let y = Axis::linear("accuracy").holding(chances.iter().copied());
    let guides = chances.into_iter().map(|at| Guide::level(at, "chance", End::Right)).collect();
    Panel { guides, ..Panel::new(x, y, 270.0, series.collect()) }
}

fn tip(row: FrameRow<'_>) -> String {
    let shuffled = row.number("shuffled").unwrap_or_default();
    format!(
        "{} on {}\nS = {}\n{} {}\n{} questions, chance {}, gold shuffled {}",
        row.text("model"),
        row.text("distribution"),
        row.count(S),
        row.text("measure"),
        row.estimate(["value", "low", "high"]),
        row.count("questions"),
        row.significant("chance"),
        format::with_error(shuffled, row.number("shuffled_standard_deviation")),
    )
}
