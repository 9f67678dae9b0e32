//! delta_beta of every treatment with its interval: which gaps close, which widen, which are
//! parallel, which nobody can tell.

use relscale_laws::GapLaw;

use super::{Comparison, OfComparison, gap, slope, trend};
use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow};
use crate::plot::{Axis, Drawing, Guide, Marks, Num, Panel, Series, Shade};

pub(super) const FIGURE: Kind<OfComparison> =
    Kind { name: "slopes", title: "The slopes of all gaps", make };

/// Height of a row in pixels, and of the frame beside them.
const ROW: f64 = 22.0;
const FRAME: f64 = 26.0;

/// The gaps that have a law, by slope.
fn make<'a>(of: Comparison<'a>) -> Made<'a> {
    let mut laws: Vec<(&str, &GapLaw)> = gap::laws(&of.gaps().collect::<Vec<_>>()).collect();
    if laws.is_empty() {
        return Err("no gap has a law: it takes two models, and three for an interval".to_owned());
    }
    laws.sort_by(|a, b| a.1.delta_beta.value.total_cmp(&b.1.delta_beta.value));
    let options = &of.fit.options;
    let caption = format!(
        "The slope of ln G on ln x of every treatment with its {} interval (Student t from the residuals of ln G): left of 0 the gap closes, right of \
         it it widens; where G goes through 1 on the way it is crossed. Shaded: ±{}, inside which slopes count as parallel. Verdicts are adjusted for their number (false claims at most {}), so an \
         interval alone does not decide. Seen: {}.",
        format::percent(options.level),
        options.margin,
        format::percent(options.false_discovery),
        trend::summary(laws.iter().copied())
    );
    let numbers = Frame::from_rows(laws)
        .column("family", |_| &of.family.name)
        .column("treatment", |(treatment, _)| treatment)
        .column("baseline", |_| &options.baseline)
        .column("error", |_| &of.fit.error)
        .column("delta_beta", |(_, law)| law.delta_beta.value)
        .ends(["low", "high"], |(_, law)| law.delta_beta.bounds())
        .column("standard_error_of_text", |(_, law)| law.delta_beta_sampling.standard_error)
        .column("r_squared", |(_, law)| law.power.r_squared)
        .column("models", |(_, law)| law.power.points)
        .column("difference_q", |(_, law)| Some(law.tests?.difference_q))
        .column("equivalence_q", |(_, law)| Some(law.tests?.equivalence_q))
        .column("trend", |(_, law)| law.trend.name())
        .frame();
    let title = format!("Δβ of {} against {} by {}", of.fit.error, options.baseline, of.one());
    let margin = options.margin;
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let rows = frame.rows();
        let names: Vec<String> = rows.iter().map(|row| row.text("treatment").to_owned()).collect();
        let tip = |row: FrameRow<'_>| {
            format!("{}\nΔβ {}\n{}", row.text("treatment"), slope(row), row.text("trend"))
        };
        let series = rows.by("treatment").into_iter().filter_map(|rows| {
            let row = rows.first()?;
            let (treatment, verdict) = (row.text("treatment"), trend::verdict(row));
            let style = if of.named() { of.style(treatment) } else { trend::style(verdict) };
            let marks = Marks::at(&rows, "delta_beta", Num::row("treatment", &names, 0.0), tip);
            let marks = marks.error("low", "high").all(trend::look(verdict));
            Some(Series::new(style, treatment).shape(trend::mark(verdict)).lying(marks))
        });
        let x = Axis::linear("Δβ, slope of ln G on ln x").holding([-margin, margin]);
        let height = FRAME + ROW * names.len() as f64;
        let panel = Panel {
            shades: vec![Shade { from: -margin, to: margin, text: "" }],
            guides: vec![Guide::upright(0.0)],
            ..Panel::new(x, Axis::rows(&names), height, series.collect())
        };
        Drawing::one(trend::legend(&rows, !of.named()), panel)
    }))
}
