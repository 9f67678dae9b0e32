//! G against x for each treatment: B's figures of relative laws, and where they lead.

use relscale_laws::{Gap, GapLaw, Trend};

use super::{Comparison, OfComparison, signed, trend};
use crate::figures::curve::log_bar;
use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows, Selection};
use crate::plot::{Axis, Drawing, End, Guide, Look, Marks, Panel, Series, Shade};

pub(super) const FIGURE: Kind<OfComparison> =
    Kind { name: "gap", title: "The gap of each distribution to the baseline", make };

/// The kinds of rows.
const MEASURED: &str = "measured";
const LAW: &str = "law";
const PREDICTED: &str = "predicted";

/// How many times wider than what it is of an interval may be that still sets the scale.
const WIDE: f64 = 3.0;

/// All gaps with a point.
fn make<'a>(of: Comparison<'a>) -> Made<'a> {
    let gaps: Vec<&Gap> = of.gaps().collect();
    if gaps.is_empty() {
        let baseline = &of.fit.options.baseline;
        return Err(format!("no model has an error on {baseline} and on another distribution"));
    }
    let (error, baseline) = (&of.fit.error, &of.fit.options.baseline);
    let title = format!("The gap of {error} to {baseline} by {}, against {}", of.one(), of.x());
    let numbers = Frame::stacked(gaps.iter().map(|gap| frame(&of, gap)));
    let caption = caption(&of, &gaps);
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let rows = frame.rows();
        let panel = panel(&of, &gaps, &rows, of.named(), 400.0);
        Drawing::one(trend::legend(&rows, !of.named()), panel)
    }))
}

/// The gaps with a law, by name.
pub(super) fn laws<'a>(gaps: &[&'a Gap]) -> impl Iterator<Item = (&'a str, &'a GapLaw)> + Clone {
    gaps.iter().filter_map(|gap| Some((gap.name.as_str(), gap.fit()?)))
}

/// Points, law and predictions of a gap, and what is left out: `row` says which. Ends are 95 % by
/// resampled documents of a point, those of the law for the law, those of a new model for a
/// prediction.
pub(super) fn frame(of: &Comparison<'_>, gap: &Gap) -> Frame {
    let law = gap.fit();
    let traced = law.map_or(&[][..], |law| &law.trace);
    let ahead = law.map_or(&[][..], |law| &law.predictions);
    let measured = Frame::from_rows(&gap.points)
        .column("row", |_| MEASURED)
        .column("model", |point| &point.label)
        .column("x", |point| point.x)
        .column("baseline_error", |point| point.baseline)
        .column("treatment_error", |point| point.treatment)
        .column("gap", |point| point.value)
        .ends(["low", "high"], |point| log_bar(point.value, point.log_standard_error))
        .column("fitted", |point| point.fitted);
    let traced = Frame::from_rows(traced)
        .column("row", |_| LAW)
        .column("x", |at| at.x)
        .column("gap", |at| at.value)
        .ends(["low", "high"], |at| at.interval);
    let ahead = Frame::from_rows(ahead)
        .column("row", |_| PREDICTED)
        .column("x", |at| at.x)
        .column("gap", |at| at.law.value)
        .ends(["low", "high"], |at| at.model.bounds());
    let missing = Frame::from_rows(&gap.left_out)
        .column("row", |_| "left out")
        .column("model", |left| &left.label);
    Frame::stacked([
        tail(measured, law).frame(),
        tail(traced, law).frame(),
        tail(ahead, law).frame(),
        tail(missing, law).column("left_out_because", |left| &left.reason).frame(),
    ])
    .led([
        ("family", (&of.family.name).into()),
        ("treatment", (&gap.name).into()),
        ("baseline", (&of.fit.options.baseline).into()),
        ("error", (&of.fit.error).into()),
    ])
}

fn tail<T: Copy>(rows: Selection<T>, law: Option<&GapLaw>) -> Selection<T> {
    rows.column("delta_beta", |_| Some(law?.delta_beta.value))
        .column("trend", |_| Some(law?.trend.name()))
}

/// The panel of some gaps, for this figure and for those side by side.
pub(super) fn panel(
    of: &Comparison<'_>,
    gaps: &[&Gap],
    rows: &Rows<'_>,
    labelled: bool,
    height: f64,
) -> Panel {
    let baseline = &of.fit.options.baseline;
    let (measured, predicted) = (rows.matching("row", MEASURED), rows.matching("row", PREDICTED));
    let (nearest, farthest) = measured.range("x");
    let x = [measured.numbers("x"), predicted.numbers("x")].concat();
    // Bands set no scale, nor do intervals that are many times wider than what they are of.
    let narrow = predicted.only(|row| {
        row.ends(["low", "high"]).is_some_and(|(low, high)| low > 0.0 && high / low < WIDE)
    });
    let ends = |rows: &Rows<'_>| [rows.numbers("low"), rows.numbers("high")].concat();
    let heights =
        [measured.numbers("gap"), ends(&measured), predicted.numbers("gap"), ends(&narrow)]
            .concat();
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = heights.iter().copied().fold(0.0, f64::max);
    let mut shades = Vec::new();
    if x.iter().any(|x| *x > farthest) {
        shades.push(Shade::above(farthest, "extrapolation"));
    }
    if x.iter().any(|x| *x < nearest) {
        shades.push(Shade::below(nearest, "extrapolation"));
    }
    let equal = Guide::level(1.0, format!("as {baseline}"), End::Right);
    let y = Axis::log(format!("G, E over that of {baseline}")).closed(heights);
    let series = gaps.iter().flat_map(|gap| series(of, gap, rows, labelled)).collect();
    Panel {
        shades,
        // A line at 1 that lies far off would press the gaps together.
        guides: if lowest <= 1.02 && highest >= 0.98 { vec![equal] } else { Vec::new() },
        ..Panel::new(of.axis().closed(x), y, height, series)
    }
}

/// Marks, line and band of a gap; then, apart from the marks, what it is predicted to be.
fn series(of: &Comparison<'_>, gap: &Gap, rows: &Rows<'_>, labelled: bool) -> [Series; 2] {
    let law = gap.fit();
    let slope = |law: &GapLaw| signed(law.delta_beta.value, law.delta_beta.bounds());
    let told = law.map(|law| format!("{}, Δβ {}", law.trend.name(), slope(law)));
    let rows = rows.matching("treatment", &gap.name);
    let verdict = rows.first().map_or(Trend::Undecided, trend::verdict);
    let style = if of.named() { of.style(&gap.name) } else { trend::style(verdict) };
    let series = || Series::new(style, &gap.name).shape(trend::mark(verdict));
    let marks = Marks::at(&rows.matching("row", MEASURED), "x", "gap", |row| {
        let verdict = told.as_ref().map_or(String::new(), |told| format!("\n{told}"));
        tip(row, &verdict)
    });
    let trace = rows.matching("row", LAW);
    let measured = series()
        .stroke(trend::line(verdict))
        .line(&trace, "x", "gap")
        .marks(marks.error("low", "high").all(trend::look(verdict)));
    // Bands of gaps that nobody claims would only cover the others.
    let measured = if of.named() && verdict != Trend::Undecided {
        measured.band(&trace, "x", ["low", "high"])
    } else {
        measured
    };
    let label = [gap.name.clone(), told.unwrap_or_else(|| "no relative law".to_owned())];
    let ahead = Marks::at(&rows.matching("row", PREDICTED), "x", "gap", |row| {
        let x = format::quantity(row.number("x").unwrap_or_default());
        // The interval is that of a new model, whose middle is the law's.
        let value = row.estimate(["gap", "low", "high"]);
        format!("{}\npredicted at x = {x}\nG = {value} of a new model", gap.name)
    });
    [
        measured.label(if labelled { label.to_vec() } else { vec![] }),
        series().marks(ahead.error("low", "high").all(Look::HeldOut)),
    ]
}

fn tip(row: FrameRow<'_>, verdict: &str) -> String {
    let ends = row.ends(["low", "high"]).map_or(String::new(), |(low, high)| {
        format!(" [{}, {}]", format::significant(low), format::significant(high))
    });
    format!(
        "{} on {}\nx = {}\nG = {}{ends}{verdict}",
        row.text("model"),
        row.text("treatment"),
        format::quantity(row.number("x").unwrap_or_default()),
        row.significant("gap")
    )
}

fn caption(of: &Comparison<'_>, gaps: &[&Gap]) -> String {
    let options = &of.fit.options;
    let told = trend::summary(laws(gaps));
    let seen =
        if told.is_empty() { "No gap has a law".to_owned() } else { format!("Seen: {told}") };
    let errors =
        gaps.iter().flat_map(|gap| &gap.points).any(|point| point.log_standard_error.is_some());
    let bars =
        if errors { "Error bars span 95 % by resampling the documents of both. " } else { "" };
    let traced = laws(gaps).any(|(_, law)| !law.trace.is_empty());
    let level = format::percent(options.level);
    let band = if traced {
        format!("; shades are {level} bands of decided laws (Student t)")
    } else {
        String::new()
    };
    let ahead = if traced && laws(gaps).any(|(_, law)| !law.predictions.is_empty()) {
        " Dotted outlines: what a new model is predicted to have, with its interval."
    } else {
        ""
    };
    format!(
        "G = E / E of {}, model by model, with its law γ x^Δβ{band}. A rising G widens; one that goes through 1 is crossed. {bars}Marks tell the verdict, adjusted for the number of gaps: \
         outlines and broken lines are undecided, parallel means a slope inside ±{}.{ahead} {seen}.",
        options.baseline, options.margin,
    )
}
