//! p against S (fig. 7 of the paper, second form): a smooth law of `-ln p` looks like a sudden
//! ability.

use relscale_laws::{HalfSize, PowerLaw, SequencesOfLength};

use super::curve::S;
use super::sequences::{self, Lengths};
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, End, Guide, Key, Line, Look, Mark, Marks, Panel, Series, Shade, Style};

pub(super) const FIGURE: Kind<OfFamily> = Kind {
    name: "sigmoids",
    title: "Several tokens right in a row: their chance against model size",
    make,
};

/// Decades beyond the models up to which the size at one half is drawn.
const FAR: f64 = 2.0;
/// Places at which a curve is drawn: along the models, and beyond them.
const STEPS: [u32; 2] = [24, 8];
/// What stands for a model in the rows of a curve, and of S*.
const CURVE: &str = "(curve)";
const HALF: &str = "(p = 0.5)";

/// The measured chances and the laws through them, a panel for each k and corpus.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let all = Lengths::from_family(family)?;
    let (caption, values) = (caption(&all), values(&all));
    let numbers = Frame::stacked(all.iter().flat_map(|lengths| {
        let sizes = sizes(lengths);
        lengths.found.lengths.iter().map(move |length| rows(lengths, length, &sizes))
    }));
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let mut drawing = sequences::drawing(&all, |at| panel(frame, &all[at]));
        drawing.legend.push(Key::mark(Mark::Diamond, Look::HeldOut, "S*: p = 0.5"));
        drawing.legend.push(Key::line(Line::Dotted, "beyond the models"));
        drawing
    })
    .with(values))
}

/// S*, where it is near enough to the models to be shown.
fn half(length: &SequencesOfLength) -> Option<&HalfSize> {
    length.half.fit().filter(|half| half.claimed && half.decades_beyond.abs() <= FAR)
}

/// The fit whose curve is drawn: one that may be claimed.
fn fit(length: &SequencesOfLength) -> Option<&PowerLaw> {
    length.law.fit().filter(|fit| fit.claimed)
}

/// The sizes at which the curves of a panel are drawn: from the smallest model to the largest, then
/// as far as one half, if that is beyond three times as large.
fn sizes(lengths: &Lengths<'_>) -> Vec<f64> {
    let models = lengths.found.models.iter().map(|model| model.parameters as f64);
    let (least, most) = models.fold((f64::INFINITY, 0.0), |(least, most), size| {
        (f64::min(least, size), f64::max(most, size))
    });
    let halves =
        lengths.found.lengths.iter().filter_map(half).map(|half| 2.0 * half.parameters.value);
    let end = halves.fold(3.0 * most, f64::max);
    let between = |from: f64, to: f64, steps: u32| {
        (1..=steps).map(move |step| from * (to / from).powf(f64::from(step) / f64::from(steps)))
    };
    let along = [least].into_iter().chain(between(least, most, STEPS[0]));
    along.chain(between(most, end, STEPS[1])).collect()
}

/// The models of one length, S* and the curve of its law with the interval of that of `-ln p`, as
/// one of p.
fn rows(lengths: &Lengths<'_>, length: &SequencesOfLength, sizes: &[f64]) -> Frame {
    let fitted = |size: f64| Some((-fit(length)?.at(size)).exp());
    let points = Frame::from_rows(&length.points)
        .column("model", |point| &point.model)
        .column(S, |point| point.parameters as f64)
        .column("p", |point| Some(point.probability.as_ref()?.value))
        .ends(["low", "high"], |point| point.probability.as_ref()?.bounds())
        .column("fitted", |point| fitted(point.parameters as f64))
        .column("independent", |point| point.independent)
        .column("successes", |point| point.successes)
        .column("windows", |point| point.windows)
        .column("claimed", |point| point.claimed);
    let halves = Frame::from_rows(length.half.fit())
        .column("model", |_| HALF)
        .column(S, |half| half.parameters.value)
        .column("p", |_| 0.5)
        .column("fitted", |_| 0.5)
        .column("claimed", |half| half.claimed)
        .ends(["parameters_low", "parameters_high"], |half| half.parameters.bounds());
    let curve = Frame::from_rows(sizes.iter().copied().filter(|_| fit(length).is_some()))
        .column("model", |_| CURVE)
        .column(S, |size| size)
        .column("fitted", fitted)
        .ends(["line_low", "line_high"], |size| {
            let (low, high) = fit(length)?.line_interval(size)?;
            Some(((-high).exp(), (-low).exp()))
        });
    Frame::stacked([points.frame(), halves.frame(), curve.frame()]).led([
        ("family", lengths.family.into()),
        ("corpus", lengths.corpus.into()),
        ("k", lengths.found.k.into()),
        ("length", length.length.into()),
    ])
}

fn panel(frame: &Frame, lengths: &Lengths<'_>) -> Panel {
    let rows = frame.rows().matching("corpus", lengths.corpus).at("k", lengths.found.k);
    let (least, most) = rows.with("windows").range(S);
    let all = &lengths.found.lengths;
    let mut ends = rows.matching("model", CURVE).numbers(S);
    let mut shades = vec![Shade::above(most, "no model")];
    let mut series = Vec::new();
    for (at, length) in all.iter().enumerate() {
        let style = Style::step(at, all.len());
        let rows = rows.at("length", length.length);
        series.push(curve(style, lengths.corpus, &rows, most));
        if half(length).is_some() {
            let star = rows.matching("model", HALF);
            let marks = Marks::at(&star, S, "p", half_tip).all(Look::HeldOut);
            let marks = marks.error("parameters_low", "parameters_high");
            series.push(Series::new(style, lengths.corpus).shape(Mark::Diamond).lying(marks));
            ends.extend(star.numbers(S));
        }
    }
    if ends.iter().any(|end| *end < least) {
        shades.push(Shade::below(least, ""));
    }
    Panel {
        heading: lengths.heading(),
        apart: false,
        shades,
        guides: vec![Guide::level(0.5, "", End::Left)],
        ..Panel::new(
            Axis::sizes().closed(ends).holding([least, most]),
            Axis::linear("p").closed([0.0, 1.0]),
            230.0,
            series,
        )
    }
}

fn curve(style: Style, corpus: &str, rows: &Rows<'_>, most: f64) -> Series {
    let tip = |row: FrameRow<'_>| {
        format!(
            "{} on {}\nN = {}, k = {}\np = {}\n{} of {} windows",
            row.text("model"),
            row.text("corpus"),
            row.plain("length"),
            row.plain("k"),
            row.estimate(["p", "low", "high"]),
            row.count("successes"),
            row.count("windows"),
        )
    };
    // Lengths that nothing reaches lie on the axis and hide each other there.
    let reached = rows.above("successes", 0.0);
    let look = |row: FrameRow<'_>| Look::claimed(row.flag("claimed"));
    let places = rows.matching("model", CURVE);
    Series::new(style, corpus)
        .marks(Marks::at(&reached, S, "p", tip).error("low", "high").look(look))
        .line(&places.only(|row| row.number(S) <= Some(most)), S, "fitted")
        .beyond(&places.only(|row| row.number(S) >= Some(most)), S, "fitted")
        .band(&places, S, ["line_low", "line_high"])
}

fn half_tip(row: FrameRow<'_>) -> String {
    let ends = row.ends(["parameters_low", "parameters_high"]);
    let ends = ends.map_or(String::new(), |(low, high)| {
        format!(" [{}, {}]", format::scale(low), format::scale(high))
    });
    let half = format::scale(row.number(S).unwrap_or_default());
    format!("N = {}: p = 0.5 at S* = {half}{ends}", row.plain("length"))
}

/// S* of every law that reaches one half near the models.
fn values(all: &[Lengths<'_>]) -> Values {
    let rows = all.iter().flat_map(|lengths| {
        lengths.found.lengths.iter().filter_map(|length| {
            let found = half(length)?;
            let k = format::count(u64::from(lengths.found.k));
            let star = format::scale(found.parameters.value);
            Some([lengths.corpus.to_owned(), k, length.length.to_string(), star])
        })
    });
    Values::new(["corpus", "k", "N", "S*"], rows)
}

fn caption(all: &[Lengths<'_>]) -> String {
    let lengths = || all.iter().flat_map(|lengths| &lengths.found.lengths);
    let none = lengths().all(|length| half(length).is_none());
    let beyond = lengths().filter(|length| half(length).is_none() && fit(length).is_some()).count();
    let far = format!("{FAR} decade{}", if FAR == 1.0 { "" } else { "s" });
    let seen = match (none, beyond) {
        (true, _) => format!("No law reaches one half within {far} of the models."),
        (false, 0) => String::new(),
        (false, more) => format!(
            "{more} law{} one half only farther than {far} from the models, which nobody should believe, or not at \
             all.",
            if more == 1 { " reaches" } else { "s reach" },
        ),
    };
    format!(
        "The same laws as shares: p = exp(−C S^−α) is a curve that rises late and then steeply on an axis of log S, \
         with nothing sudden in it. Marks are measured, with intervals by resampling documents; curves and bands are \
         the fitted laws of −ln p, drawn where a slope is claimed and dotted beyond the models. Lengths that no window reaches are not drawn. Diamonds: S*, the size \
         at which half of the windows succeed, with its interval (Fieller). {seen}"
    )
}
