//! Are tokens independent? Correlation of hits, runs of hits against the geometric, and the length that N tokens count as.

use relscale_laws::{EmergenceAtK, Estimate, HitOrder, SequencePoint};

use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Key, Line, Look, Panel, Point, Sample, Series, Style};

const NAME: &str = "independence";
const TITLE: &str = "Are tokens independent? Hits in order";

/// The largest model at the smallest k of one corpus.
struct Corpus<'a> {
    name: &'a str,
    style: Style,
    at: &'a EmergenceAtK,
    order: &'a HitOrder,
}

/// A panel each: correlation by lag, runs by length, effective length by N.
pub(super) struct Independence<'a> {
    family: &'a str,
    corpora: Vec<Corpus<'a>>,
}

impl<'a> Independence<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let corpora: Vec<_> = family
            .groups
            .iter()
            .filter_map(|(group, style)| {
                let at = group.emergence.as_ref()?.by_k.first()?;
                let order = at.models.last()?;
                Some(Corpus { name: &group.corpus, style: *style, at, order })
            })
            .collect();
        if corpora.is_empty() {
            return Err(LeftOut::because(NAME, TITLE, "the order of hits was not counted"));
        }
        Ok(Self { family: family.name, corpora })
    }
}

impl Corpus<'_> {
    fn tip(&self, what: &str) -> String {
        format!("{} on {}, k = {}\n{what}", self.order.model, self.name, self.at.k)
    }

    fn correlation(&self) -> Series {
        let points = self.order.autocorrelation.iter().filter_map(|found| {
            let value = found.value.as_ref()?;
            let tip = self.tip(&format!("lag {}: {}", found.lag, format::estimate(value)));
            Some(Point { bar: value.bounds(), ..Point::of(f64::from(found.lag), value.value, tip) })
        });
        Series::joined(self.style, self.name, points.collect())
    }

    /// Observed shares as marks; independent tokens dashed, a chain dotted.
    fn runs(&self) -> [Series; 3] {
        let survival = || self.order.runs.survival.iter();
        let line = |line, value: fn(&relscale_laws::RunSurvival) -> f64| Series {
            line,
            path: survival()
                .map(|found| (f64::from(found.length), value(found)))
                .filter(|(_, share)| *share > 0.0)
                .collect(),
            ..Series::of(self.style, self.name)
        };
        let points = survival().filter(|found| found.observed > 0.0).map(|found| {
            let tip = self.tip(&format!(
                "runs of {} or more: {}\nindependent {}, chain {}",
                found.length,
                format::significant(found.observed),
                format::significant(found.independent),
                format::significant(found.markov)
            ));
            Point::of(f64::from(found.length), found.observed, tip)
        });
        [
            Series::joined(self.style, self.name, points.collect()),
            line(Line::Dashed, |found| found.independent),
            line(Line::Dotted, |found| found.markov),
        ]
    }

    /// The largest model's windows of each length that count as some number of independent tokens.
    fn effective(&self) -> impl DoubleEndedIterator<Item = (u32, &SequencePoint, &Estimate)> {
        self.at.lengths.iter().filter_map(|length| {
            let point = length.points.last()?;
            Some((length.length, point, point.effective_length.as_ref()?))
        })
    }

    fn lengths(&self) -> Series {
        let points = self.effective().map(|(length, point, effective)| {
            let tip = self.tip(&format!("N = {length} counts as {} tokens", format::estimate(effective)));
            let look = Look::claimed(point.claimed);
            Point { bar: effective.bounds(), look, ..Point::of(f64::from(length), effective.value, tip) }
        });
        Series::joined(self.style, self.name, points.collect())
    }
}

impl Figure for Independence<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .corpora
            .iter()
            .map(|corpus| {
                let lag = corpus.order.autocorrelation.first().and_then(|found| found.value.as_ref());
                let lag = lag.map_or(String::new(), |value| {
                    format!("correlation {} at lag 1", format::fixed(value.value, 3))
                });
                let counts = corpus.effective().rfind(|(length, point, _)| point.claimed && *length > 1);
                let counts = counts.map_or(String::new(), |(length, _, effective)| {
                    format!(", N = {length} counts as {} tokens", format::significant(effective.value))
                });
                format!("{} on {}: {lag}{counts}", corpus.order.model, corpus.name)
            })
            .collect();
        let k = self.corpora.first().map_or(1, |corpus| corpus.at.k);
        format!(
            "The largest model, a hit being a rank of at most {k}. First: correlation of two hits a lag apart; what does not \
             die out is the difference between easy and hard documents. Second: share of runs of hits that reach a length, \
             measured (marks), with independent tokens (dashed) and in a first-order chain (dotted). Third: ln p of N \
             tokens in a row over ln RBP, how many independent tokens they count as; below the line of equality hits \
             cluster. Bars and intervals by resampling documents; hollow marks rest on too few successes. Seen: {}.",
            seen.join("; ")
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for corpus in &self.corpora {
            let row = |what: &str, at: u32, cells: [Cell; 5]| {
                let mut row = vec![
                    Cell::text(self.family),
                    Cell::text(corpus.name),
                    Cell::Count(u64::from(corpus.at.k)),
                    Cell::text(&corpus.order.model),
                    Cell::text(what),
                    Cell::Count(u64::from(at)),
                ];
                row.extend(cells);
                row
            };
            let ends =
                |bounds: Option<(f64, f64)>| [bounds.map(|(low, _)| low), bounds.map(|(_, high)| high)];
            for found in &corpus.order.autocorrelation {
                let [low, high] = ends(found.value.as_ref().and_then(|value| value.bounds()));
                let value = found.value.as_ref().map(|value| value.value);
                rows.push(row(
                    "correlation at lag",
                    found.lag,
                    [value.into(), low.into(), high.into(), Cell::Empty, Cell::Empty],
                ));
            }
            for found in &corpus.order.runs.survival {
                rows.push(row(
                    "share of runs of at least",
                    found.length,
                    [
                        Cell::Number(found.observed),
                        Cell::Empty,
                        Cell::Empty,
                        Cell::Number(found.independent),
                        Cell::Number(found.markov),
                    ],
                ));
            }
            for (length, _, effective) in corpus.effective() {
                let [low, high] = ends(effective.bounds());
                rows.push(row(
                    "effective length of",
                    length,
                    [
                        Cell::Number(effective.value),
                        low.into(),
                        high.into(),
                        Cell::Number(f64::from(length)),
                        Cell::Empty,
                    ],
                ));
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "k",
                "model",
                "what",
                "at",
                "value",
                "low",
                "high",
                "independent",
                "markov",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let ends = |series: &[Series]| -> Vec<f64> {
            let points = series.iter().flat_map(|series| &series.points);
            points.flat_map(|point| point.bar.map_or([point.y, point.y], <[f64; 2]>::from)).collect()
        };
        let places = |series: &[Series]| -> Vec<f64> {
            series.iter().flat_map(|series| series.points.iter().map(|point| point.x)).collect()
        };
        let panel = |heading: &str, x: Axis, y: Axis, series: Vec<Series>| Panel {
            heading: heading.to_owned(),
            apart: false,
            series,
            ..Panel::of(x, y, 250.0)
        };
        let correlation: Vec<Series> = self.corpora.iter().map(Corpus::correlation).collect();
        let runs: Vec<Series> = self.corpora.iter().flat_map(Corpus::runs).collect();
        let mut lengths: Vec<Series> = self.corpora.iter().map(Corpus::lengths).collect();

        let mut first = panel(
            "correlation of hits",
            Axis::counts("lag in tokens".to_owned(), places(&correlation)),
            Axis::linear("correlation".to_owned(), ends(&correlation).into_iter().chain([0.0])),
            correlation,
        );
        first.apart = true;
        first.guides.push(Guide::Level { at: 0.0, text: "independent".to_owned(), end: End::Left });
        // Where independence leaves nothing, its line leaves the axes.
        let shares = ends(&runs);
        let foot = shares.iter().copied().fold(1.0, f64::min) / 20.0;
        let second = panel(
            "runs of hits",
            Axis::counts("length of the run".to_owned(), places(&runs)),
            Axis::log("share that is as long".to_owned(), shares.into_iter().chain([foot, 1.0])),
            runs,
        );
        let mut third = panel(
            "what N tokens count as",
            Axis::counts("N, tokens in a row".to_owned(), places(&lengths)),
            Axis::log("effective length".to_owned(), ends(&lengths).into_iter().chain(places(&lengths))),
            Vec::new(),
        );
        let (least, most) = places(&lengths)
            .into_iter()
            .fold((f64::INFINITY, 0.0), |(least, most), at| (f64::min(least, at), f64::max(most, at)));
        lengths.push(Series {
            line: Line::Dashed,
            path: vec![(least, least), (most, most)],
            ..Series::of(Style::NEUTRAL, "")
        });
        third.series = lengths;

        let mut legend: Vec<Key> = self
            .corpora
            .iter()
            .map(|corpus| Key {
                style: corpus.style,
                sample: Sample::Series(Line::Solid, corpus.style.mark()),
                text: corpus.name.to_owned(),
            })
            .collect();
        for (line, text) in [(Line::Dashed, "independent tokens"), (Line::Dotted, "first-order chain")] {
            legend.push(Key { style: Style::NEUTRAL, sample: Sample::Line(line), text: text.to_owned() });
        }
        Drawing { title: self.title(), legend, rows: vec![vec![first, second, third]] }
    }
}
