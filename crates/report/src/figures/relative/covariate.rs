//! The slopes against a number that each distribution has: B's slopes of varieties of English against internet users.

use relscale_laws::{CorrelationEstimate, CovariateLink, CovariatePair, Gap, GapLaw};

use super::{Comparison, signed, trend};
use crate::csv::{Cell, Table};
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Panel, Point, Series, Style};

pub(super) const NAME: &str = "covariate";
pub(super) const TITLE: &str = "The slopes against a covariate";

/// Slopes and covariates that are joined.
pub(super) struct Covariate<'a> {
    of: Comparison<'a>,
    link: &'a CovariateLink,
}

impl<'a> Covariate<'a> {
    pub(super) fn of(of: Comparison<'a>) -> Result<Self, LeftOut> {
        let reason = match &of.family.covariate {
            Some(link) if !link.pairs.is_empty() => return Ok(Self { of, link }),
            Some(link) => format!("no gap with a slope has a number in the column {}", link.column),
            None => {
                "no covariate was given: relscale relative ... --covariates FILE --key COLUMN --value COLUMN joins a number of each distribution"
                    .to_owned()
            }
        };
        Err(LeftOut::because(NAME, TITLE, reason))
    }

    fn law(&self, pair: &CovariatePair) -> Option<&'a GapLaw> {
        self.of.family.gap(&pair.treatment).and_then(Gap::fit)
    }

    fn ends(&self, pair: &CovariatePair) -> Option<(f64, f64)> {
        self.law(pair)?.delta_beta.bounds()
    }
}

/// `Pearson's r 0.82 [0.55, 0.94], p = 0.001`.
fn correlation(name: &str, found: &CorrelationEstimate) -> String {
    let ends = found.estimate.bounds().map_or(String::new(), |(low, high)| {
        format!(" [{}, {}]", format::fixed(low, 2), format::fixed(high, 2))
    });
    format!(
        "{name} {}{ends}, p = {}",
        format::fixed(found.estimate.value, 2),
        format::significant(found.p_value)
    )
}

impl Figure for Covariate<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("Δβ of {} against {}, by {}", self.of.fit.error, self.link.column, self.of.one())
    }

    fn caption(&self) -> String {
        let left_out = match self.link.left_out.len() {
            0 => String::new(),
            count => format!(" {count} without a number or a slope are left out."),
        };
        format!(
            "Does a gap close faster where there is more of something? Each mark is a treatment, with the {} interval of its slope. Errors of the slopes \
             weaken a correlation, so a true one is at least as strong.{left_out} Seen: {}",
            format::percent(self.of.fit.options.level),
            self.link.verdict
        )
    }

    fn numbers(&self) -> Table {
        let rows = self.link.pairs.iter().map(|pair| {
            let ends = self.ends(pair);
            vec![
                Cell::text(&self.of.family.name),
                Cell::text(&pair.treatment),
                Cell::text(&self.link.column),
                Cell::Number(pair.covariate),
                Cell::Number(pair.delta_beta),
                ends.map(|(low, _)| low).into(),
                ends.map(|(_, high)| high).into(),
                self.law(pair).map_or(Cell::Empty, |law| Cell::text(law.trend.name())),
                Cell::Empty,
            ]
        });
        let missing = self.link.left_out.iter().map(|left| {
            let mut row = vec![
                Cell::text(&self.of.family.name),
                Cell::text(&left.label),
                Cell::text(&self.link.column),
            ];
            row.extend(std::iter::repeat_n(Cell::Empty, 5));
            row.push(Cell::text(&left.reason));
            row
        });
        Table {
            header: &[
                "family",
                "treatment",
                "covariate",
                "value",
                "delta_beta",
                "low",
                "high",
                "trend",
                "left_out_because",
            ],
            rows: rows.chain(missing).collect(),
        }
    }

    fn drawing(&self) -> Drawing {
        let series = self.link.pairs.iter().map(|pair| {
            let verdict = self.law(pair).map(|law| law.trend);
            let point = Point {
                x: pair.covariate,
                y: pair.delta_beta,
                bar: self.ends(pair),
                look: verdict.map_or(crate::plot::Look::Hollow, trend::look),
                tip: format!(
                    "{}\n{} {}\nΔβ {}",
                    pair.treatment,
                    self.link.column,
                    format::significant(pair.covariate),
                    self.law(pair)
                        .map_or(format::significant(pair.delta_beta), |law| signed(&law.delta_beta)),
                ),
            };
            let style = if self.of.named() { self.of.style(&pair.treatment) } else { Style::NEUTRAL };
            Series {
                mark: verdict.map_or(style.mark(), trend::mark),
                points: vec![point],
                label: if self.of.named() { vec![pair.treatment.clone()] } else { Vec::new() },
                ..Series::of(style, &pair.treatment)
            }
        });
        let heights = self.link.pairs.iter().flat_map(|pair| {
            let (low, high) = self.ends(pair).unwrap_or((pair.delta_beta, pair.delta_beta));
            [low, high]
        });
        let x = Axis::linear(self.link.column.clone(), self.link.pairs.iter().map(|pair| pair.covariate));
        let y = Axis::linear("Δβ, slope of ln G on ln x".to_owned(), heights.chain([0.0]));
        let notes = [("Pearson's r", &self.link.pearson), ("Spearman's ρ", &self.link.spearman)];
        let notes = notes
            .into_iter()
            .filter_map(|(name, found)| Some((Style::NEUTRAL, correlation(name, found.as_ref()?))));
        Drawing {
            title: self.title(),
            legend: trend::legend(
                self.link.pairs.iter().filter_map(|pair| Some(self.law(pair)?.trend)),
                false,
            ),
            rows: vec![vec![Panel {
                notes: notes.collect(),
                guides: vec![Guide::Level { at: 0.0, text: "0: parallel".to_owned(), end: End::Right }],
                series: series.collect(),
                ..Panel::of(x, y, 340.0)
            }]],
        }
    }
}
