//! The slopes against a number that each distribution has: B's slopes of varieties of English
//! against internet users.

use relscale_laws::{CorrelationEstimate, CovariatePair, Gap};

use super::{Comparison, OfComparison, slope, trend};
use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow};
use crate::plot::{Axis, Drawing, End, Guide, Look, Marks, Panel, Series, Style};

pub(super) const FIGURE: Kind<OfComparison> =
    Kind { name: "covariate", title: "The slopes against a covariate", make };

/// Slopes and covariates that are joined.
fn make<'a>(of: Comparison<'a>) -> Made<'a> {
    let link = of.family.covariate.as_ref().ok_or(
        "no covariate was given: relscale relative ... --covariates FILE --key COLUMN --value COLUMN joins a number of each distribution",
    )?;
    if link.pairs.is_empty() {
        return Err(format!("no gap with a slope has a number in the column {}", link.column));
    }
    let left_out = match link.left_out.len() {
        0 => String::new(),
        count => format!(" {count} without a number or a slope are left out."),
    };
    let caption = format!(
        "Does a gap close faster where there is more of something? Each mark is a treatment, with the {} interval of its slope. Errors of the slopes \
         weaken a correlation, so a true one is at least as strong.{left_out} Seen: {}",
        format::percent(of.fit.options.level),
        link.verdict
    );
    let law = |pair: &CovariatePair| of.family.gap(&pair.treatment).and_then(Gap::fit);
    let pairs = Frame::from_rows(&link.pairs)
        .column("family", |_| &of.family.name)
        .column("treatment", |pair| &pair.treatment)
        .column("covariate", |_| &link.column)
        .column("value", |pair| pair.covariate)
        .column("delta_beta", |pair| pair.delta_beta)
        .ends(["low", "high"], |pair| law(pair)?.delta_beta.bounds())
        .column("trend", |pair| Some(law(pair)?.trend.name()));
    let missing = Frame::from_rows(&link.left_out)
        .column("family", |_| &of.family.name)
        .column("treatment", |left| &left.label)
        .column("covariate", |_| &link.column)
        .column("left_out_because", |left| &left.reason);
    let title = format!("Δβ of {} against {}, by {}", of.fit.error, link.column, of.one());
    let numbers = Frame::stacked([pairs.frame(), missing.frame()]);
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let rows = frame.rows();
        let tip = |row: FrameRow<'_>| {
            let (treatment, value) = (row.text("treatment"), row.significant("value"));
            let law = !row.text("trend").is_empty();
            let slope = if law { slope(row) } else { row.significant("delta_beta") };
            format!("{treatment}\n{} {value}\nΔβ {slope}", row.text("covariate"))
        };
        let series = rows.with("value").by("treatment").into_iter().filter_map(|rows| {
            let row = rows.first()?;
            let treatment = row.text("treatment");
            let style = if of.named() { of.style(treatment) } else { Style::NEUTRAL };
            let (mark, look) = match row.text("trend") {
                "" => (style.mark(), Look::Hollow),
                _ => (trend::mark(trend::verdict(row)), trend::look(trend::verdict(row))),
            };
            let marks = Marks::at(&rows, "value", "delta_beta", tip).error("low", "high").all(look);
            let label = if of.named() { vec![treatment.to_owned()] } else { vec![] };
            Some(Series::new(style, treatment).shape(mark).marks(marks).label(label))
        });
        let notes = [("Pearson's r", &link.pearson), ("Spearman's ρ", &link.spearman)];
        let notes = notes
            .into_iter()
            .filter_map(|(name, found)| Some((Style::NEUTRAL, correlation(name, found.as_ref()?))));
        let y = Axis::linear("Δβ, slope of ln G on ln x").holding([0.0]);
        let panel = Panel {
            notes: notes.collect(),
            guides: vec![Guide::level(0.0, "0: parallel", End::Right)],
            ..Panel::new(Axis::linear(&link.column), y, 340.0, series.collect())
        };
        Drawing::one(trend::legend(&rows, false), panel)
    }))
}

/// `Pearson's r 0.82 [0.55, 0.94], p = 0.001`.
fn correlation(name: &str, found: &CorrelationEstimate) -> String {
    let ends = found.estimate.bounds().map_or(String::new(), |(low, high)| {
        format!(" [{}, {}]", format::fixed(low, 2), format::fixed(high, 2))
    });
    let value = format::fixed(found.estimate.value, 2);
    format!("{name} {value}{ends}, p = {}", format::significant(found.p_value))
}
