//! p against S (fig. 7 of the paper, second form): a smooth law of `-ln p` looks like a sudden ability.

use relscale_laws::{HalfSize, PowerLaw, SequencesOfLength};

use super::sequences::{self, Lengths};
use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{
    Axis, Drawing, End, Guide, Key, Line, Look, Mark, Panel, Point, Sample, Series, Shade, Style,
};

const NAME: &str = "sigmoids";
const TITLE: &str = "Several tokens right in a row: their chance against model size";
/// Decades beyond the models up to which the size at one half is drawn.
const FAR: f64 = 2.0;
/// Places at which a curve is drawn.
const STEPS: u32 = 36;

/// The measured chances and the laws through them, a panel for each k and corpus.
pub(super) struct Sigmoids<'a> {
    panels: Vec<Lengths<'a>>,
}

impl<'a> Sigmoids<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let panels: Vec<_> = Lengths::of(family).into_iter().filter(Lengths::has_points).collect();
        if panels.is_empty() { Err(sequences::left_out(NAME, TITLE)) } else { Ok(Self { panels }) }
    }
}

/// S*, where it is near enough to the models to be shown.
fn half(length: &SequencesOfLength) -> Option<&HalfSize> {
    length.half.fit().filter(|half| half.claimed && half.decades_beyond.abs() <= FAR)
}

/// The fit whose curve is drawn: one that may be claimed.
fn fit(length: &SequencesOfLength) -> Option<&PowerLaw> {
    length.law.fit().filter(|fit| fit.claimed)
}

/// Sizes of all models of a panel, then those at one half.
fn sizes(lengths: &Lengths<'_>) -> (f64, f64, Vec<f64>) {
    let models = lengths.found.models.iter().map(|model| model.parameters as f64);
    let (least, most) = models
        .fold((f64::INFINITY, 0.0), |(least, most), size| (f64::min(least, size), f64::max(most, size)));
    let halves = lengths.found.lengths.iter().filter_map(half).map(|half| half.parameters.value);
    (least, most, halves.collect())
}

fn curve(fit: &PowerLaw, from: f64, to: f64) -> Vec<(f64, f64)> {
    (0..=STEPS)
        .map(|step| {
            let size = from * (to / from).powf(f64::from(step) / f64::from(STEPS));
            (size, (-fit.at(size)).exp())
        })
        .collect()
}

/// The interval of a law of `-ln p`, as one of p.
fn band(fit: &PowerLaw, from: f64, to: f64) -> Vec<(f64, f64, f64)> {
    let at = |(size, _): (f64, f64)| {
        let (low, high) = fit.line_interval(size)?;
        Some((size, (-high).exp(), (-low).exp()))
    };
    curve(fit, from, to).into_iter().filter_map(at).collect()
}

fn series(lengths: &Lengths<'_>, end: f64) -> Vec<Series> {
    let mut all = Vec::new();
    let (least, most, _) = sizes(lengths);
    for (at, length) in lengths.found.lengths.iter().enumerate() {
        // Lengths that nothing reaches lie on the axis and hide each other there.
        let points = length.points.iter().filter(|point| point.successes > 0).filter_map(|point| {
            let p = point.probability.as_ref()?;
            let tip = format!(
                "{} on {}\nN = {}, k = {}\np = {}\n{} of {} windows",
                point.model,
                lengths.corpus,
                length.length,
                lengths.found.k,
                format::estimate(p),
                format::count(point.successes),
                format::count(point.windows),
            );
            let look = Look::claimed(point.claimed);
            Some(Point { bar: p.bounds(), look, ..Point::of(point.parameters as f64, p.value, tip) })
        });
        let points = points.collect();
        let (path, beyond, band) = fit(length).map_or_else(Default::default, |fit| {
            (curve(fit, least, most), curve(fit, most, end), band(fit, least, end))
        });
        all.push(Series { points, path, beyond, band, ..Series::of(lengths.style(at), lengths.corpus) });
        if let Some(half) = half(length) {
            let tip = format!(
                "N = {}: p = 0.5 at S* = {}{}",
                length.length,
                format::scale(half.parameters.value),
                half.parameters.bounds().map_or(String::new(), |(low, high)| format!(
                    " [{}, {}]",
                    format::scale(low),
                    format::scale(high)
                )),
            );
            let star = Point {
                bar: half.parameters.bounds(),
                look: Look::HeldOut,
                ..Point::of(half.parameters.value, 0.5, tip)
            };
            all.push(Series {
                mark: Mark::Diamond,
                points: vec![star],
                lying: true,
                ..Series::of(lengths.style(at), lengths.corpus)
            });
        }
    }
    all
}

impl Figure for Sigmoids<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let mut halves: Vec<String> = Vec::new();
        let mut beyond = 0;
        for lengths in &self.panels {
            for length in &lengths.found.lengths {
                match half(length) {
                    Some(found) => halves.push(format!(
                        "{}, N = {}: S* = {}",
                        lengths.heading(),
                        length.length,
                        format::scale(found.parameters.value)
                    )),
                    None => beyond += usize::from(fit(length).is_some()),
                }
            }
        }
        let seen = match (halves.as_slice(), beyond) {
            ([], _) => format!("No law reaches one half within {} of the models.", decades(FAR)),
            (some, 0) => format!("Seen: {}.", some.join("; ")),
            (some, more) => format!(
                "Seen: {}; {more} other law{} one half only farther than {} from the models, which nobody should \
                 believe, or not at all.",
                some.join("; "),
                if more == 1 { " reaches" } else { "s reach" },
                decades(FAR)
            ),
        };
        format!(
            "The same laws as shares: p = exp(−C S^−α) is a curve that rises late and then steeply on an axis of log S, \
             with nothing sudden in it. Marks are measured, with intervals by resampling documents; curves and bands are \
             the fitted laws of −ln p, drawn where a slope is claimed and dotted beyond the models. Lengths that no window reaches are not drawn. Diamonds: S*, the size \
             at which half of the windows succeed, with its interval (Fieller). {seen}"
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for lengths in &self.panels {
            for length in &lengths.found.lengths {
                let head = || {
                    vec![
                        Cell::text(lengths.family),
                        Cell::text(lengths.corpus),
                        Cell::Count(u64::from(lengths.found.k)),
                        Cell::Count(u64::from(length.length)),
                    ]
                };
                for point in &length.points {
                    let bounds = point.probability.as_ref().and_then(|p| p.bounds());
                    let mut row = head();
                    row.extend([
                        Cell::text(&point.model),
                        Cell::Number(point.parameters as f64),
                        point.probability.as_ref().map(|p| p.value).into(),
                        bounds.map(|(low, _)| low).into(),
                        bounds.map(|(_, high)| high).into(),
                        fit(length).map(|fit| (-fit.at(point.parameters as f64)).exp()).into(),
                        point.independent.into(),
                        Cell::Count(point.successes),
                        Cell::Count(point.windows),
                        Cell::Flag(point.claimed),
                        Cell::Empty,
                        Cell::Empty,
                    ]);
                    rows.push(row);
                }
                if let Some(found) = length.half.fit() {
                    let mut row = head();
                    row.extend([Cell::text("(p = 0.5)"), Cell::Number(found.parameters.value)]);
                    row.extend([Cell::Number(0.5), Cell::Empty, Cell::Empty, Cell::Number(0.5)]);
                    row.extend([Cell::Empty, Cell::Empty, Cell::Empty, Cell::Flag(found.claimed)]);
                    let bounds = found.parameters.bounds();
                    row.extend([bounds.map(|(low, _)| low).into(), bounds.map(|(_, high)| high).into()]);
                    rows.push(row);
                }
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "k",
                "length",
                "model",
                "non_embedding_parameters",
                "p",
                "low",
                "high",
                "fitted",
                "independent",
                "successes",
                "windows",
                "claimed",
                "parameters_low",
                "parameters_high",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let panel = |lengths: &Lengths<'_>| {
            let (least, most, halves) = sizes(lengths);
            let end = halves.iter().copied().fold(3.0 * most, |end, half| f64::max(end, 2.0 * half));
            let mut shades = vec![Shade { from: most, to: f64::INFINITY, text: "no model".to_owned() }];
            if halves.iter().any(|half| *half < least) {
                shades.push(Shade { from: 0.0, to: least, text: String::new() });
            }
            let ends: Vec<f64> = halves.into_iter().chain([least, end]).collect();
            Panel {
                heading: lengths.heading(),
                apart: false,
                shades,
                guides: vec![Guide::Level { at: 0.5, text: String::new(), end: End::Left }],
                series: series(lengths, end),
                ..Panel::of(Axis::sizes(ends), Axis::linear("p".to_owned(), [0.0, 1.0]), 230.0)
            }
        };
        let mut legend = sequences::legend(self.panels.iter());
        legend.push(Key {
            style: Style::NEUTRAL,
            sample: Sample::Mark(Mark::Diamond, Look::HeldOut),
            text: "S*: p = 0.5".to_owned(),
        });
        legend.push(Key {
            style: Style::NEUTRAL,
            sample: Sample::Line(Line::Dotted),
            text: "beyond the models".to_owned(),
        });
        Drawing {
            title: self.title(),
            legend,
            rows: sequences::by_k(self.panels.iter().map(|lengths| (lengths, panel(lengths)))),
        }
    }
}

fn decades(number: f64) -> String {
    format!("{number} decade{}", if number == 1.0 { "" } else { "s" })
}
