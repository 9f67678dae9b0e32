//! Large k (fig. 5 of the paper): where the law frays, and how few misses are left to know it by.

use super::curve::{self, Curve};
use super::head::legend;
use super::{Family, Figure, LeftOut};
use crate::csv::Table;
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Line, Look, Panel, Point, Series};

const NAME: &str = "tail";

/// The two largest k that were fitted: above, the law; below, the misses behind each point.
pub(super) struct Tail<'a> {
    /// Misses of any model below which no slope is claimed.
    minimum: u64,
    panels: Vec<(u32, Vec<Curve<'a>>)>,
}

impl<'a> Tail<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let grid = family.grid();
        // Small k have figures of their own.
        let large: Vec<u32> = grid.into_iter().filter(|&k| k > 100).collect();
        let panels: Vec<_> = large[large.len().saturating_sub(2)..]
            .iter()
            .map(|&k| (k, Curve::of_rank(family, k)))
            .filter(|(_, curves)| !curves.is_empty())
            .collect();
        if panels.is_empty() {
            let reason = format!("above k = 100 {}", curve::NO_POINT);
            return Err(LeftOut::because(
                NAME,
                "Where the law ends: −ln RBP against model size for large k",
                reason,
            ));
        }
        Ok(Self { minimum: family.minimum_count, panels })
    }

    fn curves(&self) -> Vec<Curve<'_>> {
        self.panels.iter().flat_map(|(_, curves)| curves.iter().copied()).collect()
    }

    /// Misses by size.
    fn misses(curve: &Curve<'_>) -> Series {
        let points: Vec<Point> = curve
            .law
            .points
            .iter()
            .filter_map(|point| {
                let misses = point.misses?;
                let tip = format!("{} on {}\n{} misses", point.label, curve.corpus, format::count(misses));
                let look = Look::claimed(curve.claimed());
                Some(Point { look, ..Point::of(point.x, misses as f64, tip) })
            })
            .collect();
        Series::joined(curve.style, curve.corpus, points)
    }
}

impl Figure for Tail<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        let ks: Vec<String> = self.panels.iter().map(|(k, _)| format::count(u64::from(*k))).collect();
        format!("Where the law ends: −ln RBP against model size for k = {}", format::list(&ks))
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .panels
            .iter()
            .map(|(k, curves)| {
                let fewest = curves
                    .iter()
                    .flat_map(|curve| curve.law.points.iter().filter_map(|point| point.misses))
                    .min()
                    .unwrap_or(0);
                format!(
                    "k = {}: {} The fewest misses of a model are {}.",
                    format::count(u64::from(*k)),
                    curve::summary(curves, "α").replace("Seen: ", ""),
                    format::count(fewest)
                )
            })
            .collect();
        format!(
            "As k nears the vocabulary nearly every token is a hit, and −ln RBP rests on the few that are not: the lower \
             panels count them. Below {} misses of any model no slope is claimed. {}{}",
            self.minimum,
            curve::how_to_read(&self.curves()),
            seen.join(" ")
        )
    }

    fn numbers(&self) -> Table {
        curve::table(&self.curves())
    }

    fn drawing(&self) -> Drawing {
        let sizes =
            |curves: &[Curve<'_>]| Axis::sizes(curves.iter().flat_map(Curve::reach).collect::<Vec<_>>());
        let law = |(k, curves): &(u32, Vec<Curve<'_>>)| Panel {
            heading: format!("k = {}", format::count(u64::from(*k))),
            notes: curves.iter().map(|curve| (curve.style, curve.fit_text())).collect(),
            shades: curve::shades(curves),
            series: curves.iter().map(|curve| curve.series(Line::Solid, vec![])).collect(),
            ..Panel::of(
                sizes(curves).untitled(),
                Axis::log(
                    format!("{} (nats)", format::rank_symbol(*k)),
                    curves.iter().flat_map(Curve::heights),
                ),
                240.0,
            )
        };
        let misses = |(k, curves): &(u32, Vec<Curve<'_>>)| {
            let series: Vec<Series> = curves.iter().map(Self::misses).collect();
            let counts = series.iter().flat_map(|series| series.points.iter().map(|point| point.y));
            let y = Axis::counts(
                format!("misses (rank > {})", format::count(u64::from(*k))),
                // The threshold, and room for its name below it.
                counts.chain([1.0, 0.6].map(|share| share * self.minimum as f64)),
            );
            Panel {
                guides: vec![Guide::Level {
                    at: self.minimum as f64,
                    text: format!("{} misses", self.minimum),
                    end: End::Right,
                }],
                shades: curve::shades(curves),
                series,
                ..Panel::of(sizes(curves), y, 130.0)
            }
        };
        Drawing {
            title: self.title(),
            legend: legend(&self.curves()),
            rows: vec![self.panels.iter().map(law).collect(), self.panels.iter().map(misses).collect()],
        }
    }
}
