//! The law fitted to the smaller half of the models, and where it puts the others.

use relscale_laws::{AuditStep, Law, Point};

use super::curve::{self, S};
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{
    Axis, Drawing, Key, Line, Look, Mark, Marks, Panel, Sample, Series, Shade, Style,
};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "held-out", title: "The smaller half of the models predicts the others", make };

/// How far a band may widen the axes, as a ratio.
const WIDEST: f64 = 1.4;

/// One law of one corpus, cut in two.
struct Cut<'a> {
    corpus: &'a str,
    style: Style,
    law: &'a Law,
    step: &'a AuditStep,
}

/// A panel a law: the first k, the cross entropy.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let cut = |law: Option<&'a Law>, corpus: &'a str, style: Style| {
        let law = law?;
        let fit = law.fit().filter(|fit| fit.claimed)?;
        let half = fit.points.div_ceil(2);
        let steps = fit.audit.iter().filter(|step| !step.predictions.is_empty());
        let step = steps.min_by_key(|step| step.fitted_points.abs_diff(half))?;
        Some(Cut { corpus, style, law, step })
    };
    let groups = || family.groups.iter();
    let rank =
        groups().filter_map(|(group, style)| cut(group.rank_laws.first(), &group.corpus, *style));
    let entropy = groups()
        .filter_map(|(group, style)| cut(Some(&group.cross_entropy_law), &group.corpus, *style));
    let mut panels: Vec<Vec<Cut<'a>>> = vec![rank.collect(), entropy.collect()];
    panels.retain(|cuts| !cuts.is_empty());
    if panels.is_empty() {
        return Err("it needs a law of four models or more with a slope that is claimed".to_owned());
    }
    let values = panels.iter().flatten().map(|cut| {
        let inside = cut.step.predictions.iter().filter(|held| held.covered == Some(true)).count();
        [
            cut.corpus.to_owned(),
            curve::symbol(cut.law),
            format!("{inside} of {}", cut.step.predictions.len()),
            format!("{} %", format::fixed(100.0 * cut.farthest(), 1)),
        ]
    });
    let values = Values::new(["corpus", "law", "inside the band", "the largest off by"], values);
    let caption = String::from(
        "The line is fitted to the full marks alone; in the shaded part it goes on, dotted, to models that it has not seen \
         (outlines with a dot). The band is the interval for the value of one new model (Student t from the scatter of \
         the fitted ones), so it should hold nearly all of them.",
    );
    let numbers = Frame::stacked(panels.iter().flatten().map(|cut| cut.frame(family.name)));
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let legend = vec![
            Key::mark(Mark::Disc, Look::Filled, "fitted"),
            Key::mark(Mark::Disc, Look::HeldOut, "held out"),
            Key::line(Line::Dotted, "predicted"),
            Key::new(Style::NEUTRAL, Sample::Band, "interval of one new model"),
        ];
        Drawing::new(legend, panels.iter().map(|cuts| vec![panel(&frame.rows(), cuts)]).collect())
    })
    .with(values))
}

impl Cut<'_> {
    fn fitted(&self) -> &[Point] {
        &self.law.points[..self.law.points.len().min(self.step.fitted_points as usize)]
    }

    /// The line of the fit, from where it puts the first model that it has not seen.
    fn at(&self, size: f64) -> Option<f64> {
        let first = self.step.predictions.first()?;
        Some(first.predicted.value * (size / first.x).powf(-self.step.exponent))
    }

    /// Relative error of the prediction of the largest model.
    fn farthest(&self) -> f64 {
        self.step.predictions.last().map_or(0.0, |held| held.relative_error)
    }

    fn frame(&self, family: &str) -> Frame {
        let fitted = Frame::from_rows(self.fitted())
            .column("model", |point| &point.label)
            .column(S, |point| point.x as u64)
            .column("observed", |point| point.value)
            .column("held_out", |_| false)
            .column("line", |point| self.at(point.x));
        let held_out = Frame::from_rows(&self.step.predictions)
            .column("model", |held| &held.label)
            .column(S, |held| held.x as u64)
            .column("observed", |held| held.observed)
            .column("held_out", |_| true)
            .column("line", |held| held.predicted.value)
            .ends(["low", "high"], |held| held.predicted.bounds())
            .column("covered", |held| held.covered);
        let quantity = self.law.quantity.symbol().into();
        let head =
            [("family", family.into()), ("corpus", self.corpus.into()), ("quantity", quantity)];
        Frame::stacked([fitted.frame(), held_out.frame()]).led(head)
    }

    fn rows<'f>(&self, rows: &Rows<'f>) -> Rows<'f> {
        rows.matching("corpus", self.corpus).matching("quantity", &self.law.quantity.symbol())
    }

    fn series(&self, rows: &Rows<'_>) -> [Series; 2] {
        let rows = self.rows(rows);
        let symbol = curve::symbol(self.law);
        let seen = rows.only(|row| !row.flag("held_out"));
        let held_out = rows.only(|row| row.flag("held_out"));
        let (_, edge) = seen.range(S);
        let label = vec![
            self.corpus.to_owned(),
            format!("exponent {}", format::fixed(self.step.exponent, 3)),
            format!("largest off by {} %", format::fixed(100.0 * self.farthest(), 1)),
        ];
        let told = |row: FrameRow<'_>, what: &str| {
            let (model, value) = (row.text("model"), row.significant("observed"));
            format!("{model} on {}\n{what}: {symbol} = {value}", row.text("corpus"))
        };
        let fitted = Series::new(self.style, self.corpus)
            .marks(Marks::at(&seen, S, "observed", |row| told(row, "fitted")))
            .line(&seen, S, "line")
            .beyond(&rows.only(|row| row.number(S) >= Some(edge)), S, "line")
            .band(&held_out, S, ["low", "high"])
            .label(label);
        let marks = Marks::at(&held_out, S, "observed", |row| {
            let predicted = row.estimate(["line", "low", "high"]);
            format!("{}\npredicted {predicted}", told(row, "held out"))
        });
        [fitted, Series::new(self.style, self.corpus).marks(marks.all(Look::HeldOut))]
    }
}

fn panel(rows: &Rows<'_>, cuts: &[Cut<'_>]) -> Panel {
    let (symbol, unit) = match cuts.first() {
        Some(cut) => (curve::symbol(cut.law), cut.law.unit.as_str()),
        None => (String::new(), "nats"),
    };
    let shown = cuts.iter().map(|cut| cut.rows(rows));
    let shown: Vec<Rows<'_>> = shown.collect();
    let heights = |column| shown.iter().flat_map(move |rows: &Rows<'_>| rows.numbers(column));
    // An interval from few models may be far wider than all there is to see.
    let marks: Vec<f64> = heights("observed").chain(heights("line")).collect();
    let least = marks.iter().copied().fold(f64::INFINITY, f64::min) / WIDEST;
    let most = marks.iter().copied().fold(0.0, f64::max) * WIDEST;
    let ends = heights("low").chain(heights("high")).map(|end| end.min(most).max(least));
    let seen = shown.iter().map(|rows| rows.only(|row| !row.flag("held_out")).range(S).1);
    let y = Axis::log(format!("{symbol} ({unit})")).holding(ends);
    let series = cuts.iter().flat_map(|cut| cut.series(rows)).collect();
    Panel {
        shades: vec![Shade::above(seen.fold(0.0, f64::max), "held out")],
        heading: symbol,
        ..Panel::new(Axis::sizes(), y, 280.0, series)
    }
}
