//! One law as it is drawn and listed: the points of one corpus, their error bars, the fitted line.

use relscale_laws::{Law, Point as LawPoint, PowerLaw, Quantity};

use super::Family;
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Line, Look, Point, Series, Shade, Style};

/// Half the width of an error bar in standard errors: 95 % of a normal distribution.
pub(super) const BAR: f64 = 1.959_963_984_540_054;
/// How far beyond the largest model a line is drawn, as a ratio of sizes.
const BEYOND: f64 = 3.0;
/// Places at which the band about a line is drawn.
const STEPS: u32 = 24;

/// Why a figure of points against size is not there.
pub(super) const NO_POINT: &str = "no model has a point in a rank law";

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
        Self::of(family, |group| group.rank_law(k))
    }

    /// The cross-entropy laws of a family's corpora that have a point.
    pub(super) fn of_cross_entropy(family: &Family<'a>) -> Vec<Self> {
        Self::of(family, |group| Some(&group.cross_entropy_law))
    }

    fn of(family: &Family<'a>, law: impl Fn(&'a relscale_laws::GroupFit) -> Option<&'a Law>) -> Vec<Self> {
        family
            .groups
            .iter()
            .filter_map(|(group, style)| {
                let law = law(group)?;
                let curve = Self { family: &group.family, corpus: &group.corpus, style: *style, law };
                (!law.points.is_empty()).then_some(curve)
            })
            .collect()
    }

    /// The fit, claimed or not.
    pub(super) fn fit(&self) -> Option<&'a PowerLaw> {
        self.law.fit()
    }

    /// Whether a slope may be claimed.
    pub(super) fn claimed(&self) -> bool {
        self.fit().is_some_and(|fit| fit.claimed)
    }

    /// Sizes of the models that have a point.
    pub(super) fn sizes(&self) -> impl Iterator<Item = f64> + 'a {
        self.law.points.iter().map(|point| point.x)
    }

    /// Sizes that are drawn: those of the models, and the end of the line beyond them.
    pub(super) fn reach(&self) -> impl Iterator<Item = f64> + 'a {
        self.sizes().chain(self.beyond().map(|(_, end)| end))
    }

    /// The range of sizes beyond the models over which the line is continued: only where a slope with an interval is claimed.
    fn beyond(&self) -> Option<(f64, f64)> {
        let fit = self.fit().filter(|fit| fit.claimed && fit.line_interval(fit.centre).is_some())?;
        let largest = fit.range.1 as f64;
        Some((largest, BEYOND * largest))
    }

    /// Every height that is drawn: points, ends of error bars, ends of the line.
    pub(super) fn heights(&self) -> Vec<f64> {
        let points = self.law.points.iter().flat_map(|point| {
            let (low, high) = bar(point).unwrap_or((point.value, point.value));
            [low, point.value, high]
        });
        points.chain([self.line(), self.continued()].concat().into_iter().map(|(_, y)| y)).collect()
    }

    /// The line beyond the largest model.
    fn continued(&self) -> Vec<(f64, f64)> {
        let Some((fit, (from, to))) = self.fit().zip(self.beyond()) else { return Vec::new() };
        [from, to].map(|size| (size, fit.at(size))).to_vec()
    }

    /// The interval of the line over all sizes at which it is drawn; none where no slope is claimed.
    fn band(&self) -> Vec<(f64, f64, f64)> {
        let Some((fit, (_, end))) = self.fit().zip(self.beyond()) else { return Vec::new() };
        let start = fit.range.0 as f64;
        (0..=STEPS)
            .filter_map(|step| {
                let size = start * (end / start).powf(f64::from(step) / f64::from(STEPS));
                let (low, high) = fit.line_interval(size)?;
                Some((size, low, high))
            })
            .collect()
    }

    /// The fitted line from the smallest to the largest model; straight on log-log axes.
    fn line(&self) -> Vec<(f64, f64)> {
        let Some(fit) = self.fit() else { return Vec::new() };
        let (smallest, largest) = fit.range;
        [smallest as f64, largest as f64].map(|size| (size, fit.at(size))).to_vec()
    }

    /// Marks, error bars and line. Marks of a law without claim are hollow.
    pub(super) fn series(&self, line: Line, label: Vec<String>) -> Series {
        let look = Look::claimed(self.fit().is_none() || self.claimed());
        let points = self.law.points.iter().map(|point| Point {
            bar: bar(point),
            look,
            ..Point::of(point.x, point.value, self.tip(point))
        });
        Series {
            line,
            path: self.line(),
            beyond: self.continued(),
            band: self.band(),
            points: points.collect(),
            label,
            ..Series::of(self.style, self.corpus)
        }
    }

    fn tip(&self, point: &LawPoint) -> String {
        let error =
            point.standard_error.map_or(String::new(), |error| format!(" ± {}", format::significant(error)));
        let misses = point.misses.map_or(String::new(), |misses| {
            format!(
                "\n{} of {} tokens missed",
                format::count(misses),
                format::count(point.tokens.unwrap_or_default())
            )
        });
        format!(
            "{} on {}\nS = {}\n{} = {}{error} {}{misses}",
            point.label,
            self.corpus,
            format::count(point.x as u64),
            self.law.quantity.symbol(),
            format::significant(point.value),
            self.law.unit,
        )
    }

    /// The exponent's letter: alpha for ranks, beta for the cross entropy.
    fn letter(&self) -> &'static str {
        match self.law.quantity {
            Quantity::Rank { .. } => "α",
            _ => "β",
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
        [Some(self.exponent_text()), self.r_squared_text()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The error bar of a point: 95 % by the standard error of its logarithm.
fn bar(point: &LawPoint) -> Option<(f64, f64)> {
    let error = BAR * point.log_standard_error?;
    Some((point.value * (-error).exp(), point.value * error.exp()))
}

/// All points of some curves, those left out included; then, where the line is drawn beyond the models, its end.
pub(super) fn table(curves: &[Curve<'_>]) -> Table {
    let mut rows = Vec::new();
    for curve in curves {
        let law = curve.law;
        let head = |model: &str, parameters: f64| {
            vec![
                Cell::text(curve.family),
                Cell::text(curve.corpus),
                Cell::Text(law.quantity.symbol()),
                Cell::text(&law.unit),
                Cell::text(model),
                Cell::Count(parameters as u64),
            ]
        };
        let band = |parameters: f64| {
            let ends = curve.fit().and_then(|fit| fit.line_interval(parameters));
            [ends.map(|(low, _)| low).into(), ends.map(|(_, high)| high).into()]
        };
        for point in &law.points {
            let mut row = head(&point.label, point.x);
            let ends = bar(point);
            row.extend([
                Cell::Number(point.value),
                point.standard_error.into(),
                ends.map(|(low, _)| low).into(),
                ends.map(|(_, high)| high).into(),
                point.fitted.into(),
            ]);
            row.extend(band(point.x));
            row.extend([
                point.tokens.into(),
                point.hits.into(),
                point.misses.into(),
                Cell::Flag(curve.claimed()),
                Cell::Empty,
            ]);
            rows.push(row);
        }
        for left in &law.left_out {
            let mut row = head(&left.label, left.x.unwrap_or_default());
            row.extend(std::iter::repeat_n(Cell::Empty, 10));
            row.extend([Cell::Flag(curve.claimed()), Cell::text(&left.reason)]);
            rows.push(row);
        }
        if let Some((fit, (_, end))) = curve.fit().zip(curve.beyond()) {
            let mut row = head("(beyond the models)", end);
            row.extend(std::iter::repeat_n(Cell::Empty, 4));
            row.push(Cell::Number(fit.at(end)));
            row.extend(band(end.trunc()));
            row.extend(std::iter::repeat_n(Cell::Empty, 3));
            row.extend([Cell::Flag(curve.claimed()), Cell::Empty]);
            rows.push(row);
        }
    }
    Table {
        header: &[
            "family",
            "corpus",
            "quantity",
            "unit",
            "model",
            "non_embedding_parameters",
            "value",
            "standard_error",
            "low_95",
            "high_95",
            "fitted",
            "line_low",
            "line_high",
            "tokens",
            "hits",
            "misses",
            "slope_claimed",
            "left_out_because",
        ],
        rows,
    }
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
            format!("Seen: {exponent} {} on {corpus}{}.", format::estimate(&fit.exponent), r_squared(fit))
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

/// The region beyond the largest model, where some line goes on into it.
pub(super) fn shades(curves: &[Curve<'_>]) -> Vec<Shade> {
    let largest = curves.iter().flat_map(Curve::sizes).fold(0.0, f64::max);
    let goes_on = curves.iter().any(|curve| curve.beyond().is_some());
    let shade = Shade { from: largest, to: f64::INFINITY, text: "no model".to_owned() };
    if goes_on { vec![shade] } else { Vec::new() }
}

/// What every figure of points against size says about its marks.
pub(super) fn how_to_read(curves: &[Curve<'_>]) -> String {
    let mut text =
        "Each mark is a model; a straight line on these logarithmic axes is a power law, and a steeper one \
                    falls faster with size. "
            .to_owned();
    if curves.iter().any(|curve| curve.law.points.iter().any(|point| point.log_standard_error.is_some())) {
        text.push_str(
            "Error bars span 95 % by resampling documents (often less than the mark); models saw the same documents, \
             so they err together. Marks whose bars would cover \
             one another are set a little apart. ",
        );
    }
    if curves.iter().any(|curve| curve.beyond().is_some()) {
        text.push_str(
            "Bands are the interval of the line (Student t, from the scatter of the models); dotted in the shaded part it \
             goes on to three times the largest model, where nothing was measured. ",
        );
    }
    if curves.iter().any(|curve| curve.fit().is_some() && !curve.claimed()) {
        text.push_str("Hollow marks: no slope is claimed. ");
    }
    text
}
