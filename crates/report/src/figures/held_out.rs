//! The law fitted to the smaller half of the models, and where it puts the others.

use relscale_laws::{AuditStep, Law, Point as LawPoint};

use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, Key, Line, Look, Mark, Panel, Point, Sample, Series, Shade, Style};

const NAME: &str = "held-out";
const TITLE: &str = "The smaller half of the models predicts the others";

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
pub(super) struct HeldOutHalf<'a> {
    family: &'a str,
    panels: Vec<Vec<Cut<'a>>>,
}

impl<'a> HeldOutHalf<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let cut = |law: Option<&'a Law>, corpus: &'a str, style: Style| {
            let law = law?;
            let fit = law.fit().filter(|fit| fit.claimed)?;
            let half = fit.points.div_ceil(2);
            let steps = fit.audit.iter().filter(|step| !step.predictions.is_empty());
            let step = steps.min_by_key(|step| step.fitted_points.abs_diff(half))?;
            Some(Cut { corpus, style, law, step })
        };
        let groups = || family.groups.iter();
        let rank = groups().filter_map(|(group, style)| cut(group.rank_laws.first(), &group.corpus, *style));
        let entropy =
            groups().filter_map(|(group, style)| cut(Some(&group.cross_entropy_law), &group.corpus, *style));
        let panels: Vec<Vec<Cut<'a>>> = [rank.collect(), entropy.collect()]
            .into_iter()
            .filter(|cuts: &Vec<_>| !cuts.is_empty())
            .collect();
        if panels.is_empty() {
            let reason = "it needs a law of four models or more with a slope that is claimed";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { family: family.name, panels })
    }
}

impl Cut<'_> {
    fn fitted(&self) -> &[LawPoint] {
        &self.law.points[..self.law.points.len().min(self.step.fitted_points as usize)]
    }

    /// The size up to which models were fitted.
    fn edge(&self) -> f64 {
        self.fitted().last().map_or(0.0, |point| point.x)
    }

    /// The line of the fit, from where it puts the first model that it has not seen.
    fn at(&self, size: f64) -> Option<f64> {
        let first = self.step.predictions.first()?;
        Some(first.predicted.value * (size / first.x).powf(-self.step.exponent))
    }

    fn symbol(&self) -> String {
        self.law.k().map_or("CE".to_owned(), format::rank_symbol)
    }

    fn series(&self) -> [Series; 2] {
        let seen = self.fitted().iter().map(|point| {
            let tip = format!(
                "{} on {}\nfitted: {} = {}",
                point.label,
                self.corpus,
                self.symbol(),
                format::significant(point.value)
            );
            Point::of(point.x, point.value, tip)
        });
        let line = |sizes: [Option<f64>; 2]| -> Vec<(f64, f64)> {
            sizes.into_iter().flatten().filter_map(|size| Some((size, self.at(size)?))).collect()
        };
        let first = self.fitted().first().map(|point| point.x);
        let last = self.step.predictions.last().map(|held| held.x);
        let fitted = Series {
            points: seen.collect(),
            path: line([first, Some(self.edge())]),
            beyond: line([Some(self.edge()), last]),
            band: self
                .step
                .predictions
                .iter()
                .filter_map(|held| {
                    let (low, high) = held.predicted.bounds()?;
                    Some((held.x, low, high))
                })
                .collect(),
            label: vec![
                self.corpus.to_owned(),
                format!("exponent {}", format::fixed(self.step.exponent, 3)),
                format!("largest off by {} %", format::fixed(100.0 * self.farthest(), 1)),
            ],
            ..Series::of(self.style, self.corpus)
        };
        let unseen = self.step.predictions.iter().map(|held| {
            let tip = format!(
                "{} on {}\nheld out: {} = {}\npredicted {}",
                held.label,
                self.corpus,
                self.symbol(),
                format::significant(held.observed),
                format::estimate(&held.predicted)
            );
            let look = Look::HeldOut;
            Point { look, ..Point::of(held.x, held.observed, tip) }
        });
        let held = Series { points: unseen.collect(), ..Series::of(self.style, self.corpus) };
        [fitted, held]
    }

    /// Relative error of the prediction of the largest model.
    fn farthest(&self) -> f64 {
        self.step.predictions.last().map_or(0.0, |held| held.relative_error)
    }
}

impl Figure for HeldOutHalf<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .panels
            .iter()
            .flatten()
            .map(|cut| {
                let inside = cut.step.predictions.iter().filter(|held| held.covered == Some(true)).count();
                format!(
                    "{} on {}: {inside} of {} inside the band, the largest off by {} %",
                    cut.symbol(),
                    cut.corpus,
                    cut.step.predictions.len(),
                    format::fixed(100.0 * cut.farthest(), 1)
                )
            })
            .collect();
        format!(
            "The line is fitted to the full marks alone; in the shaded part it goes on, dotted, to models that it has not seen \
             (outlines with a dot). The band is the interval for the value of one new model (Student t from the scatter of \
             the fitted ones), so it should hold nearly all of them. Seen: {}.",
            seen.join("; ")
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for cut in self.panels.iter().flatten() {
            let head = |model: &str, parameters: f64, observed: f64| {
                vec![
                    Cell::text(self.family),
                    Cell::text(cut.corpus),
                    Cell::Text(cut.law.quantity.symbol()),
                    Cell::text(model),
                    Cell::Count(parameters as u64),
                    Cell::Number(observed),
                ]
            };
            for point in cut.fitted() {
                let mut row = head(&point.label, point.x, point.value);
                row.extend([Cell::Flag(false), cut.at(point.x).into()]);
                row.extend(std::iter::repeat_n(Cell::Empty, 3));
                rows.push(row);
            }
            for held in &cut.step.predictions {
                let bounds = held.predicted.bounds();
                let mut row = head(&held.label, held.x, held.observed);
                row.extend([
                    Cell::Flag(true),
                    Cell::Number(held.predicted.value),
                    bounds.map(|(low, _)| low).into(),
                    bounds.map(|(_, high)| high).into(),
                    held.covered.map_or(Cell::Empty, Cell::Flag),
                ]);
                rows.push(row);
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "quantity",
                "model",
                "non_embedding_parameters",
                "observed",
                "held_out",
                "line",
                "low",
                "high",
                "covered",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let panel = |cuts: &Vec<Cut<'_>>| {
            let series: Vec<Series> = cuts.iter().flat_map(Cut::series).collect();
            let points = || series.iter().flat_map(|series| &series.points);
            let lines = series.iter().flat_map(|series| series.path.iter().chain(&series.beyond));
            let shown: Vec<f64> = points().map(|point| point.y).chain(lines.map(|(_, y)| *y)).collect();
            // An interval from few models may be far wider than all there is to see.
            let least = shown.iter().copied().fold(f64::INFINITY, f64::min) / WIDEST;
            let most = shown.iter().copied().fold(0.0, f64::max) * WIDEST;
            let bands = series.iter().flat_map(|series| &series.band);
            let ends = bands.flat_map(|(_, low, high)| [low.clamp(least, most), high.clamp(least, most)]);
            let heights: Vec<f64> = ends.chain(shown).collect();
            let x = Axis::sizes(points().map(|point| point.x));
            let symbol = cuts.first().map(Cut::symbol).unwrap_or_default();
            let unit = cuts.first().map_or("nats", |cut| &cut.law.unit);
            let edge = cuts.iter().map(Cut::edge).fold(0.0, f64::max);
            Panel {
                heading: symbol.clone(),
                shades: vec![Shade { from: edge, to: f64::INFINITY, text: "held out".to_owned() }],
                series,
                ..Panel::of(x, Axis::log(format!("{symbol} ({unit})"), heights), 280.0)
            }
        };
        let sample = |look| Sample::Mark(Mark::Disc, look);
        let key = |sample, text: &str| Key { style: Style::NEUTRAL, sample, text: text.to_owned() };
        Drawing {
            title: self.title(),
            legend: vec![
                key(sample(Look::Filled), "fitted"),
                key(sample(Look::HeldOut), "held out"),
                key(Sample::Line(Line::Dotted), "predicted"),
                key(Sample::Band, "interval of one new model"),
            ],
            rows: self.panels.iter().map(|cuts| vec![panel(cuts)]).collect(),
        }
    }
}
