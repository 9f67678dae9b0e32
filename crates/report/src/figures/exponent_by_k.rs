//! alpha against k, with intervals (fig. 6b of the paper): how fast each regime improves with size.

use super::by_k::{self, FitsByK};
use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Look, Panel, Point, Series};

const NAME: &str = "exponent-by-k";
const TITLE: &str = "The exponent α against k";

/// The exponent of each rank law.
pub(super) struct ExponentByK<'a> {
    corpora: Vec<FitsByK<'a>>,
}

impl<'a> ExponentByK<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let corpora = FitsByK::of(family, |_| true);
        if by_k::grid(&corpora).len() < 2 {
            let reason = "it needs laws of two models or more at two k or more";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { corpora })
    }
}

impl Figure for ExponentByK<'_> {
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
            .filter_map(|corpus| {
                let claimed: Vec<_> = corpus.fits.iter().filter(|(_, fit)| fit.claimed).collect();
                let (first_k, first) = claimed.first()?;
                let (top_k, top) =
                    claimed.iter().max_by(|a, b| a.1.exponent.value.total_cmp(&b.1.exponent.value))?;
                Some(format!(
                    "on {} from {} at k = {first_k} up to {} at k = {}",
                    corpus.corpus,
                    format::fixed(first.exponent.value, 3),
                    format::fixed(top.exponent.value, 3),
                    format::count(u64::from(*top_k)),
                ))
            })
            .collect();
        let bars = self
            .corpora
            .iter()
            .any(|corpus| corpus.fits.iter().any(|(_, fit)| fit.exponent.bounds().is_some()));
        format!(
            "The exponent of −ln RBP at each k: larger means that this regime gains more from size.{}{} {}",
            if bars {
                " Bars are Student t intervals from the scatter of the models about the line."
            } else {
                " Two models give no interval."
            },
            if self.corpora.iter().any(|corpus| corpus.fits.iter().any(|(_, fit)| !fit.claimed)) {
                " Hollow marks, without bars: no slope is claimed."
            } else {
                ""
            },
            if seen.is_empty() {
                "No α is claimed here.".to_owned()
            } else {
                format!("Seen: α goes {}.", format::list(&seen))
            }
        )
    }

    fn numbers(&self) -> Table {
        let rows = self.corpora.iter().flat_map(|corpus| {
            corpus.fits.iter().map(|(k, fit)| {
                let bounds = fit.exponent.bounds();
                vec![
                    Cell::text(corpus.family),
                    Cell::text(corpus.corpus),
                    Cell::Count(u64::from(*k)),
                    Cell::Number(fit.exponent.value),
                    bounds.map(|(low, _)| low).into(),
                    bounds.map(|(_, high)| high).into(),
                    Cell::Text(format::interval_method(&fit.exponent.interval)),
                    Cell::Flag(fit.claimed),
                ]
            })
        });
        Table {
            header: &["family", "corpus", "k", "alpha", "low", "high", "interval", "slope_claimed"],
            rows: rows.collect(),
        }
    }

    fn drawing(&self) -> Drawing {
        let series: Vec<Series> = self
            .corpora
            .iter()
            .map(|corpus| {
                let points: Vec<Point> = corpus
                    .fits
                    .iter()
                    .map(|(k, fit)| Point {
                        // An interval that nobody claims would only set the scale of the axis.
                        bar: fit.exponent.bounds().filter(|_| fit.claimed),
                        look: Look::claimed(fit.claimed),
                        ..Point::of(
                            f64::from(*k),
                            fit.exponent.value,
                            format!("{}\nk = {k}\nα {}", corpus.corpus, format::estimate(&fit.exponent)),
                        )
                    })
                    .collect();
                let label = vec![corpus.corpus.to_owned()];
                Series { label, ..Series::joined(corpus.style, corpus.corpus, points) }
            })
            .collect();
        let mut heights: Vec<f64> = series
            .iter()
            .flat_map(|series| &series.points)
            .flat_map(|point| {
                let (low, high) = point.bar.unwrap_or((point.y, point.y));
                [low, point.y, high]
            })
            .collect();
        // Zero, and room for its name below it.
        heights.push(-0.06 * heights.iter().copied().fold(0.0, f64::max));
        let x = Axis::grid(&by_k::grid(&self.corpora));
        Drawing {
            title: self.title(),
            legend: Vec::new(),
            rows: vec![vec![Panel {
                guides: vec![Guide::Level {
                    at: 0.0,
                    text: "0: no change with size".to_owned(),
                    end: End::Left,
                }],
                series,
                ..Panel::of(x, Axis::linear("α".to_owned(), heights), 300.0)
            }]],
        }
    }
}
