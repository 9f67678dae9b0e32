//! One law as it is listed and drawn: the points of one corpus, their error bars, the fitted line.

use relscale_laws::{Law, Point, PowerLaw, Quantity};

use super::Family;
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Line, Look, Marks, Panel, Series, Shade, Style};

/// Half the width of an error bar in standard errors: 95 % of a normal distribution.
pub(super) const BAR: f64 = 1.959_963_984_540_054;
/// How far beyond the largest model a line is drawn, as a ratio of sizes.
const BEYOND: f64 = 3.0;
/// What stands for a model in the row of the line's end.
const END: &str = "(beyond the models)";

/// Why a figure of points against size is not there.
pub(super) const NO_POINT: &str = "no model has a point in a rank law";

/// The column of S.
pub(super) const S: &str = "non_embedding_parameters";

/// A law of one corpus.
#[derive(Clone, Copy)]
pub(super) struct Curve<'a> {
    pub(super) family: &'a str,
    pub(super) corpus: &'a str,
    pub(super) style: Style,
    pub(super) law: &'a Law,
}

impl<'a> Curve<'a> {
    /// The rank laws at `k` of a family's corpora that have a point.
    pub(super) fn of_rank(family: &Family<'a>, k: u32) -> Vec<Self> {
        Self::from_family(family, |group| group.rank_law(k))
    }

    /// The cross-entropy laws of a family's corpora that have a point.
    pub(super) fn of_cross_entropy(family: &Family<'a>) -> Vec<Self> {
        Self::from_family(family, |group| Some(&group.cross_entropy_law))
    }

    fn from_family(
        family: &Family<'a>,
        law: impl Fn(&'a relscale_laws::GroupFit) -> Option<&'a Law>,
    ) -> Vec<Self> {
        let groups = family.groups.iter();
        let of = |(group, style): &(&'a relscale_laws::GroupFit, Style)| {
            let law = law(group)?;
            let curve = Self { family: &group.family, corpus: &group.corpus, style: *style, law };
            (!law.points.is_empty()).then_some(curve)
        };
        groups.filter_map(of).collect()
    }

    /// The fit, claimed or not.
    pub(super) fn fit(&self) -> Option<&'a PowerLaw> {
        self.law.fit()
    }

    /// Whether a slope may be claimed.
    pub(super) fn claimed(&self) -> bool {
        self.fit().is_some_and(|fit| fit.claimed)
    }

    /// The size beyond the models up to which the line is continued: only where a slope with an
    /// interval is claimed.
    fn end(&self) -> Option<f64> {
        let fit =
            self.fit().filter(|fit| fit.claimed && fit.line_interval(fit.centre).is_some())?;
        Some(BEYOND * fit.range.1)
    }

    /// The rows of its points, of those left out, and of the end of its line.
    fn frame(&self) -> Frame {
        let band = |size: f64| self.fit()?.line_interval(size);
        let points = Frame::from_rows(&self.law.points)
            .column("model", |point| &point.label)
            .column(S, |point| point.x as u64)
            .column("value", |point| point.value)
            .column("standard_error", |point| point.standard_error)
            .ends(["low_95", "high_95"], bar)
            .column("fitted", |point| point.fitted)
            .ends(["line_low", "line_high"], |point| band(point.x))
            .column("tokens", |point| point.tokens)
            .column("hits", |point| point.hits)
            .column("misses", |point| point.misses)
            .column("slope_claimed", |_| self.claimed());
        let left_out = Frame::from_rows(&self.law.left_out)
            .column("model", |left| &left.label)
            .column(S, |left| left.x.unwrap_or_default() as u64)
            .column("slope_claimed", |_| self.claimed())
            .column("left_out_because", |left| &left.reason);
        let end = Frame::from_rows(self.end())
            .column("model", |_| END)
            .column(S, |end| end as u64)
            .column("fitted", |end| Some(self.fit()?.at(end)))
            .ends(["line_low", "line_high"], band)
            .column("slope_claimed", |_| self.claimed());
        Frame::stacked([points.frame(), left_out.frame(), end.frame()]).led([
            ("family", self.family.into()),
            ("corpus", self.corpus.into()),
            ("quantity", self.law.quantity.symbol().into()),
            ("unit", (&self.law.unit).into()),
        ])
    }

    /// Its rows among those of several curves.
    pub(super) fn rows<'f>(&self, rows: &Rows<'f>) -> Rows<'f> {
        let of_family = rows.matching("family", self.family).matching("corpus", self.corpus);
        of_family.matching("quantity", &self.law.quantity.symbol())
    }

    /// What its line is called among those beside it: its corpus, or in a figure of one corpus its
    /// family.
    fn name(&self) -> &'a str {
        match self.law.quantity {
            Quantity::BitsPerByte
            | Quantity::Bytes { .. }
            | Quantity::Words { .. }
            | Quantity::Spans { .. } => self.family,
            _ => self.corpus,
        }
    }

    /// Marks, error bars and line, with its continuation and the band about both.
    fn series(&self, rows: &Rows<'_>, line: Line, label: Vec<String>) -> Series {
        let rows = self.rows(rows);
        let models = rows.with("value");
        // Marks of a law without claim are hollow.
        let look = |row: FrameRow<'_>| {
            Look::claimed(row.flag("slope_claimed") || row.number("fitted").is_none())
        };
        let series = Series::new(self.style, self.name())
            .stroke(line)
            .label(label)
            .line(&models, S, "fitted")
            .marks(Marks::at(&models, S, "value", tip).error("low_95", "high_95").look(look));
        if rows.matching("model", END).is_empty() {
            return series;
        }
        let (_, largest) = models.range(S);
        let beyond = rows.only(|row| row.number(S) >= Some(largest));
        series.beyond(&beyond, S, "fitted").band(&rows, S, ["line_low", "line_high"])
    }

    /// `−ln RBP₁`.
    pub(super) fn symbol(&self) -> String {
        symbol(self.law)
    }

    /// The exponent's letter: alpha for ranks, beta for the cross entropy.
    fn letter(&self) -> &'static str {
        match self.law.quantity {
            Quantity::CrossEntropy | Quantity::BitsPerByte => "β",
            _ => "α",
        }
    }

    /// `α 0.104 [0.098, 0.110]`, or why there is no such number.
    pub(super) fn exponent_text(&self) -> String {
        match self.fit() {
            None => "no fit".to_owned(),
            Some(fit) if !fit.claimed => "no slope claimed".to_owned(),
            Some(fit) => format!("{} {}", self.letter(), format::estimate(&fit.exponent)),
        }
    }

    /// `R² 0.998`.
    pub(super) fn r_squared_text(&self) -> Option<String> {
        let fit = self.fit().filter(|fit| fit.claimed && fit.points > 2)?;
        Some(format!("R² {}", format::r_squared(fit.r_squared)))
    }

    /// Exponent and R² in a line.
    pub(super) fn fit_text(&self) -> String {
        let parts: Vec<String> =
            [Some(self.exponent_text()), self.r_squared_text()].into_iter().flatten().collect();
        parts.join(", ")
    }
}

/// `−ln RBP₁`, `−ln RBP₁ of words`, `bits per byte` or `CE`.
pub(super) fn symbol(law: &Law) -> String {
    match &law.quantity {
        Quantity::Rank { k } => format::rank_symbol(*k),
        Quantity::Bytes { k } => format!("{} of bytes", format::rank_symbol(*k)),
        Quantity::Words { k } => format!("{} of words", format::rank_symbol(*k)),
        Quantity::Spans { k, words } => format!("{} of {words} words", format::rank_symbol(*k)),
        other => other.symbol(),
    }
}

/// The error bar of a point: 95 % by the standard error of its logarithm.
fn bar(point: &Point) -> Option<(f64, f64)> {
    log_bar(point.value, point.log_standard_error)
}

/// 95 % about a value whose logarithm has a standard error.
pub(super) fn log_bar(value: f64, log_standard_error: Option<f64>) -> Option<(f64, f64)> {
    let error = BAR * log_standard_error?;
    Some((value * (-error).exp(), value * error.exp()))
}

fn tip(row: FrameRow<'_>) -> String {
    let error = row.number("standard_error");
    let error = error.map_or(String::new(), |error| format!(" ± {}", format::significant(error)));
    let misses = match row.count("misses") {
        misses if misses.is_empty() => misses,
        misses => {
            // `-ln RBP_1 of words`, `-ln RBP_1 of 8 words`.
            let units = match row.text("quantity").split_once(" of ") {
                None => "tokens".to_owned(),
                Some((_, words)) if words.starts_with(|c: char| c.is_ascii_digit()) => {
                    format!("spans of {words}")
                }
                Some((_, units)) => units.to_owned(),
            };
            format!("\n{misses} of {} {units} missed", row.count("tokens"))
        }
    };
    format!(
        "{} on {}\nS = {}\n{} = {}{error} {}{misses}",
        row.text("model"),
        row.text("corpus"),
        row.count(S),
        row.text("quantity"),
        row.significant("value"),
        row.text("unit"),
    )
}

/// All points of some curves, those left out included; then, where the line is drawn beyond the
/// models, its end.
pub(super) fn frame<'c, 'a: 'c>(curves: impl IntoIterator<Item = &'c Curve<'a>>) -> Frame {
    Frame::stacked(curves.into_iter().map(Curve::frame))
}

/// Some curves on one pair of axes, each with its line and its label.
pub(super) fn panel<'a>(
    frame: &Frame,
    curves: &[Curve<'a>],
    title: &str,
    height: f64,
    look: impl Fn(&Curve<'a>) -> (Line, Vec<String>),
) -> Panel {
    let rows = frame.rows();
    let series = curves.iter().map(|curve| {
        let (line, label) = look(curve);
        curve.series(&rows, line, label)
    });
    let panel = Panel::new(Axis::sizes(), Axis::log(title), height, series.collect());
    Panel { shades: shades(&rows, curves), ..panel }
}

/// The region beyond the largest model, where some line goes on into it.
pub(super) fn shades(rows: &Rows<'_>, curves: &[Curve<'_>]) -> Vec<Shade> {
    let shown: Vec<Rows<'_>> = curves.iter().map(|curve| curve.rows(rows)).collect();
    let largest = shown.iter().map(|rows| rows.with("value").range(S).1).fold(0.0, f64::max);
    let goes_on = shown.iter().any(|rows| !rows.matching("model", END).is_empty());
    goes_on.then(|| Shade::above(largest, "no model")).into_iter().collect()
}

/// One sentence: the range of exponents and R² over the curves that have a claimed fit.
pub(super) fn summary(curves: &[Curve<'_>], exponent: &str) -> String {
    let mut fits: Vec<(&str, &PowerLaw)> = curves
        .iter()
        .filter_map(|curve| Some((curve.corpus, curve.fit().filter(|fit| fit.claimed)?)))
        .collect();
    fits.sort_by(|a, b| a.1.exponent.value.total_cmp(&b.1.exponent.value));
    let r_squared = |fit: &PowerLaw| {
        let shown = fit.points > 2 && fit.r_squared.is_some();
        if shown { format!(", R² {}", format::r_squared(fit.r_squared)) } else { String::new() }
    };
    match fits.as_slice() {
        [] => format!("No {exponent} is claimed here."),
        [(corpus, fit)] => {
            format!(
                "Seen: {exponent} {} on {corpus}{}.",
                format::estimate(&fit.exponent),
                r_squared(fit)
            )
        }
        [(slow, least), .., (fast, most)] => format!(
            "Seen: {exponent} from {} ({slow}{}) to {} ({fast}{}).",
            format::fixed(least.exponent.value, 3),
            r_squared(least),
            format::fixed(most.exponent.value, 3),
            r_squared(most),
        ),
    }
}

/// What every figure of points against size says about its marks.
pub(super) fn how_to_read<'c, 'a: 'c>(
    curves: impl Iterator<Item = &'c Curve<'a>> + Clone,
) -> String {
    let mut text =
        "Each mark is a model; a straight line on these logarithmic axes is a power law, and a steeper one \
                    falls faster with size. "
            .to_owned();
    let mut points = curves.clone().flat_map(|curve| &curve.law.points);
    if points.any(|point| point.log_standard_error.is_some()) {
        text.push_str(
            "Error bars span 95 % by resampling documents (often less than the mark); models saw the same documents, \
             so they err together. Marks whose bars would cover \
             one another are set a little apart. ",
        );
    }
    if curves.clone().any(|curve| curve.end().is_some()) {
        text.push_str(
            "Bands are the interval of the line (Student t, from the scatter of the models); dotted in the shaded part it \
             goes on to three times the largest model, where nothing was measured. ",
        );
    }
    if curves.clone().any(|curve| curve.fit().is_some() && !curve.claimed()) {
        text.push_str("Hollow marks: no slope is claimed. ");
    }
    text
}
