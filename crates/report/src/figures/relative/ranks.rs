//! delta_beta of the gaps of `-ln RBP_k` against k: the relative law of ranks, which neither paper has.

use relscale_laws::{RankGap, RanksOfGap, RelativeRanks};

use super::{Comparison, signed, trend};
use crate::csv::{Cell, Table};
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Panel, Point, Series};

pub(super) const NAME: &str = "gap-by-k";
pub(super) const TITLE: &str = "The slopes of the gaps of −ln RBP against k";

/// The gaps that have slopes at several k.
pub(super) struct ByRank<'a> {
    of: Comparison<'a>,
    ranks: &'a RelativeRanks,
    gaps: Vec<&'a RanksOfGap>,
}

impl<'a> ByRank<'a> {
    pub(super) fn of(of: Comparison<'a>) -> Result<Self, LeftOut> {
        let reason = match &of.family.ranks {
            Some(ranks) => {
                let gaps: Vec<&RanksOfGap> = ranks.gaps.iter().filter(|gap| !gap.at.is_empty()).collect();
                if !gaps.is_empty() {
                    return Ok(Self { of, ranks, gaps });
                }
                "no gap of -ln RBP_k has a slope at any k"
            }
            None => {
                "no slopes by k are saved: relscale relative STUDY makes them of documents with ranks, not of tables or of questions with options"
            }
        };
        Err(LeftOut::because(NAME, TITLE, reason))
    }

    fn grid(&self) -> Vec<u32> {
        let mut grid: Vec<u32> = self.gaps.iter().flat_map(|gap| &gap.at).map(|at| at.k).collect();
        grid.sort_unstable();
        grid.dedup();
        grid
    }
}

impl Figure for ByRank<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("Δβ of −ln RBP to {} by {}, against k", self.of.fit.options.baseline, self.of.one())
    }

    fn caption(&self) -> String {
        let left_out = if self.gaps.iter().any(|gap| !gap.left_out.is_empty()) {
            " A k at which a model misses nothing is left out."
        } else {
            ""
        };
        let all = || self.gaps.iter().flat_map(|gap| &gap.at);
        let few = if all().any(|at| !at.claimed()) {
            " A dot in outline is also where some model has too few misses or hits for a slope to be claimed."
        } else {
            ""
        };
        format!(
            "The relative law of ranks: at each k the slope of ln G on ln x, G being −ln RBP of the treatment over that of {}. Above 0 the gap widens at this \
             k. Bars are {} intervals (Student t); neighbouring k share most of their hits, so they err together. Marks tell the verdict of each k.{few}{left_out} \
             Seen: {}",
            self.of.fit.options.baseline,
            format::percent(self.of.fit.options.level),
            self.ranks.verdict
        )
    }

    fn numbers(&self) -> Table {
        let row = |gap: &RanksOfGap, at: &RankGap| {
            let ends = at.delta_beta.bounds();
            vec![
                Cell::text(&self.of.family.name),
                Cell::text(&gap.treatment),
                Cell::text(&self.of.fit.options.baseline),
                Cell::Count(u64::from(at.k)),
                Cell::Number(at.delta_beta.value),
                ends.map(|(low, _)| low).into(),
                ends.map(|(_, high)| high).into(),
                at.delta_beta_sampling.standard_error.into(),
                Cell::Number(at.ends.0),
                Cell::Number(at.ends.1),
                Cell::Count(u64::from(at.models)),
                at.tests.map(|tests| tests.difference_q).into(),
                at.tests.map(|tests| tests.equivalence_q).into(),
                Cell::text(at.trend.name()),
                Cell::Flag(at.claimed()),
                Cell::Empty,
            ]
        };
        let missing = |gap: &RanksOfGap, (k, reason): &(u32, String)| {
            let mut cells = vec![
                Cell::text(&self.of.family.name),
                Cell::text(&gap.treatment),
                Cell::text(&self.of.fit.options.baseline),
                Cell::Count(u64::from(*k)),
            ];
            cells.extend(std::iter::repeat_n(Cell::Empty, 11));
            cells.push(Cell::text(reason));
            cells
        };
        let rows = self.gaps.iter().flat_map(|gap| {
            let there = gap.at.iter().map(|at| row(gap, at));
            there.chain(gap.left_out.iter().map(|left| missing(gap, left)))
        });
        Table {
            header: &[
                "family",
                "treatment",
                "baseline",
                "k",
                "delta_beta",
                "low",
                "high",
                "standard_error_of_text",
                "gap_at_smallest",
                "gap_at_largest",
                "models",
                "difference_q",
                "equivalence_q",
                "trend",
                "slope_claimed",
                "left_out_because",
            ],
            rows: rows.collect(),
        }
    }

    fn drawing(&self) -> Drawing {
        let series = self.gaps.iter().flat_map(|gap| {
            let style = self.of.style(&gap.treatment);
            let path = gap.at.iter().map(|at| (f64::from(at.k), at.delta_beta.value)).collect();
            let label = if self.of.named() { vec![gap.treatment.clone()] } else { Vec::new() };
            // The label has the mark of the point that it leads to.
            let mark = gap.at.last().map_or(style.mark(), |at| trend::mark(at.trend));
            let line = Series { mark, path, label, ..Series::of(style, &gap.treatment) };
            // A series has one mark, and verdicts differ by k.
            let marks = gap.at.iter().map(move |at| Series {
                mark: trend::mark(at.trend),
                points: vec![Point {
                    x: f64::from(at.k),
                    y: at.delta_beta.value,
                    bar: at.delta_beta.bounds(),
                    look: trend::look(at.trend),
                    tip: format!(
                        "{}\nk = {}\nΔβ {}\n{}",
                        gap.treatment,
                        at.k,
                        signed(&at.delta_beta),
                        if at.claimed() {
                            at.trend.name()
                        } else {
                            "too few misses or hits to claim a slope"
                        }
                    ),
                }],
                ..Series::of(style, &gap.treatment)
            });
            std::iter::once(line).chain(marks)
        });
        let heights = self.gaps.iter().flat_map(|gap| &gap.at).flat_map(|at| {
            let (low, high) = at.delta_beta.bounds().unwrap_or((at.delta_beta.value, at.delta_beta.value));
            [low, high]
        });
        let verdicts = self.gaps.iter().flat_map(|gap| &gap.at).map(|at| at.trend);
        let y = Axis::linear("Δβ, slope of ln G on ln x".to_owned(), heights.chain([0.0]));
        Drawing {
            title: self.title(),
            legend: trend::legend(verdicts, false),
            rows: vec![vec![Panel {
                guides: vec![Guide::Level { at: 0.0, text: "0: parallel".to_owned(), end: End::Right }],
                series: series.collect(),
                ..Panel::of(Axis::grid(&self.grid()), y, 320.0)
            }]],
        }
    }
}
