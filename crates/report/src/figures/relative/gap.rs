//! G against x for each treatment: B's figures of relative laws, and where they lead.

use relscale_laws::{Gap, GapLaw, Point as GapPoint, Trend};

use super::{Comparison, bar, signed, trend};
use crate::csv::{Cell, Table};
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Look, Panel, Point, Series, Shade};

pub(super) const NAME: &str = "gap";
pub(super) const TITLE: &str = "The gap of each distribution to the baseline";

/// All gaps with a point.
pub(super) struct Gaps<'a> {
    of: Comparison<'a>,
    gaps: Vec<&'a Gap>,
}

impl<'a> Gaps<'a> {
    pub(super) fn of(of: Comparison<'a>) -> Result<Self, LeftOut> {
        let gaps: Vec<&Gap> = of.gaps().collect();
        if gaps.is_empty() {
            let reason =
                format!("no model has an error on {} and on another distribution", of.fit.options.baseline);
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { of, gaps })
    }

    fn laws(&self) -> impl Iterator<Item = (&'a str, &'a GapLaw)> + Clone {
        self.gaps.iter().filter_map(|gap| Some((gap.name.as_str(), gap.fit()?)))
    }
}

/// The panel of some gaps, for this figure and for those side by side.
pub(super) fn panel(of: &Comparison<'_>, gaps: &[&Gap], labelled: bool, height: f64) -> Panel {
    let measured = || gaps.iter().flat_map(|gap| &gap.points);
    let laws = || gaps.iter().filter_map(|gap| gap.fit());
    let ahead = || laws().flat_map(|law| &law.predictions);
    let x: Vec<f64> = measured().map(|point| point.x).chain(ahead().map(|point| point.x)).collect();
    // Bands set no scale, nor do intervals that are many times wider than what they are of.
    const WIDE: f64 = 3.0;
    let heights: Vec<f64> = measured()
        .flat_map(|point| {
            let (low, high) =
                bar(point.value, point.log_standard_error).unwrap_or((point.value, point.value));
            [low, high]
        })
        .chain(ahead().map(|point| point.law.value))
        .chain(
            ahead()
                .flat_map(|point| {
                    let (low, high) =
                        point.model.bounds().filter(|(low, high)| *low > 0.0 && high / low < WIDE)?;
                    Some([low, high])
                })
                .flatten(),
        )
        .collect();
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = heights.iter().copied().fold(0.0, f64::max);
    let ends = measured()
        .map(|point| point.x)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    let beyond = |from, to| Shade { from, to, text: "extrapolation".to_owned() };
    let mut shades = Vec::new();
    if x.iter().any(|x| *x > ends.1) {
        shades.push(beyond(ends.1, f64::INFINITY));
    }
    if x.iter().any(|x| *x < ends.0) {
        shades.push(beyond(0.0, ends.0));
    }
    let equal = Guide::Level { at: 1.0, text: format!("as {}", of.fit.options.baseline), end: End::Right };
    Panel {
        shades,
        // A line at 1 that lies far off would press the gaps together.
        guides: if lowest <= 1.02 && highest >= 0.98 { vec![equal] } else { Vec::new() },
        series: gaps.iter().flat_map(|gap| series(of, gap, labelled)).collect(),
        ..Panel::of(
            of.axis(x),
            Axis::log(format!("G, E over that of {}", of.fit.options.baseline), heights),
            height,
        )
    }
}

/// Marks, line and band of a gap; then, apart from the marks, what it is predicted to be.
fn series(of: &Comparison<'_>, gap: &Gap, labelled: bool) -> Vec<Series> {
    let law = gap.fit();
    let verdict = law.map_or(Trend::Undecided, |law| law.trend);
    let style = if of.named() { of.style(&gap.name) } else { trend::style(verdict) };
    let points = gap.points.iter().map(|point| Point {
        x: point.x,
        y: point.value,
        bar: bar(point.value, point.log_standard_error),
        look: trend::look(verdict),
        tip: tip(gap, point),
    });
    let label = match law {
        _ if !labelled => Vec::new(),
        None => vec![gap.name.clone(), "no relative law".to_owned()],
        Some(law) => {
            vec![gap.name.clone(), format!("{}, Δβ {}", law.trend.name(), signed(&law.delta_beta))]
        }
    };
    let trace = || law.into_iter().flat_map(|law| &law.trace);
    let measured = Series {
        mark: trend::mark(verdict),
        line: trend::line(verdict),
        path: trace().map(|at| (at.x, at.value)).collect(),
        // Bands of gaps that nobody claims would only cover the others.
        band: if of.named() && verdict != Trend::Undecided {
            trace().filter_map(|at| at.interval.map(|(low, high)| (at.x, low, high))).collect()
        } else {
            Vec::new()
        },
        points: points.collect(),
        label,
        ..Series::of(style, &gap.name)
    };
    let ahead = law.into_iter().flat_map(|law| &law.predictions).map(|point| Point {
        x: point.x,
        y: point.law.value,
        bar: point.model.bounds(),
        look: Look::HeldOut,
        tip: format!(
            "{}\npredicted at x = {}\nG = {} of a new model",
            gap.name,
            format::quantity(point.x),
            format::estimate(&point.model)
        ),
    });
    let predicted =
        Series { mark: trend::mark(verdict), points: ahead.collect(), ..Series::of(style, &gap.name) };
    [measured, predicted].into_iter().filter(|series| !series.points.is_empty()).collect()
}

fn tip(gap: &Gap, point: &GapPoint) -> String {
    let ends = bar(point.value, point.log_standard_error).map_or(String::new(), |(low, high)| {
        format!(" [{}, {}]", format::significant(low), format::significant(high))
    });
    let verdict = gap
        .fit()
        .map_or(String::new(), |law| format!("\n{}, Δβ {}", law.trend.name(), signed(&law.delta_beta)));
    format!(
        "{} on {}\nx = {}\nG = {}{ends}{verdict}",
        point.label,
        gap.name,
        format::quantity(point.x),
        format::significant(point.value)
    )
}

impl Figure for Gaps<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!(
            "The gap of {} to {} by {}, against {}",
            self.of.fit.error,
            self.of.fit.options.baseline,
            self.of.one(),
            self.of.x()
        )
    }

    fn caption(&self) -> String {
        let options = &self.of.fit.options;
        let told = trend::told(self.laws());
        let seen = if told.is_empty() { "No gap has a law".to_owned() } else { format!("Seen: {told}") };
        let errors =
            self.gaps.iter().flat_map(|gap| &gap.points).any(|point| point.log_standard_error.is_some());
        let bars = if errors { "Error bars span 95 % by resampling the documents of both. " } else { "" };
        let (band, ahead) = if self.laws().any(|(_, law)| !law.trace.is_empty()) {
            let ahead = if self.laws().any(|(_, law)| !law.predictions.is_empty()) {
                " Dotted outlines: what a new model is predicted to have, with its interval."
            } else {
                ""
            };
            (
                format!("; shades are {} bands of decided laws (Student t)", format::percent(options.level)),
                ahead,
            )
        } else {
            (String::new(), "")
        };
        format!(
            "G = E / E of {}, model by model, with its law γ x^Δβ{band}. A rising G widens; one that goes through 1 is crossed. {bars}Marks tell the verdict, adjusted for the number of gaps: \
             outlines and broken lines are undecided, parallel means a slope inside ±{}.{ahead} {seen}.",
            options.baseline, options.margin,
        )
    }

    fn numbers(&self) -> Table {
        Table { header: &HEADER, rows: self.gaps.iter().flat_map(|gap| rows(&self.of, gap)).collect() }
    }

    fn drawing(&self) -> Drawing {
        let verdicts = self.laws().map(|(_, law)| law.trend);
        Drawing {
            title: self.title(),
            legend: trend::legend(verdicts, !self.of.named()),
            rows: vec![vec![panel(&self.of, &self.gaps, self.of.named(), 400.0)]],
        }
    }
}

/// Columns of a table of gaps.
pub(super) const HEADER: [&str; 16] = [
    "family",
    "treatment",
    "baseline",
    "error",
    "row",
    "model",
    "x",
    "baseline_error",
    "treatment_error",
    "gap",
    "low",
    "high",
    "fitted",
    "delta_beta",
    "trend",
    "left_out_because",
];

/// Points, law and predictions of a gap, as they are drawn: `row` says which. Ends are 95 % by resampled documents of a point, those of the law
/// for the law, those of a new model for a prediction.
pub(super) fn rows(of: &Comparison<'_>, gap: &Gap) -> Vec<Vec<Cell>> {
    let head = |row: &str, model: &str| {
        [&of.family.name, &gap.name, &of.fit.options.baseline, &of.fit.error, row, model]
            .map(Cell::text)
            .to_vec()
    };
    let law = gap.fit();
    let tail = |reason: &str| {
        [
            law.map(|law| law.delta_beta.value).into(),
            law.map_or(Cell::Empty, |law| Cell::text(law.trend.name())),
            if reason.is_empty() { Cell::Empty } else { Cell::text(reason) },
        ]
    };
    let ends =
        |ends: Option<(f64, f64)>| [ends.map(|(low, _)| low).into(), ends.map(|(_, high)| high).into()];
    let measured = gap.points.iter().map(|point| {
        let mut row = head("measured", &point.label);
        row.push(Cell::Number(point.x));
        row.extend([point.baseline, point.treatment, Some(point.value)].map(Cell::from));
        row.extend(ends(bar(point.value, point.log_standard_error)));
        row.push(point.fitted.into());
        row.extend(tail(""));
        row
    });
    let curve = |row: &'static str, x: f64, value: f64, interval: Option<(f64, f64)>| {
        let mut cells = head(row, "");
        cells.extend([Cell::Number(x), Cell::Empty, Cell::Empty, Cell::Number(value)]);
        cells.extend(ends(interval));
        cells.push(Cell::Empty);
        cells.extend(tail(""));
        cells
    };
    let traced =
        law.into_iter().flat_map(|law| &law.trace).map(|at| curve("law", at.x, at.value, at.interval));
    let ahead = law.into_iter().flat_map(|law| &law.predictions);
    let ahead = ahead.map(|at| curve("predicted", at.x, at.law.value, at.model.bounds()));
    let missing = gap.left_out.iter().map(|left| {
        let mut row = head("left out", &left.label);
        row.extend(std::iter::repeat_n(Cell::Empty, 7));
        row.extend(tail(&left.reason));
        row
    });
    measured.chain(traced).chain(ahead).chain(missing).collect()
}
