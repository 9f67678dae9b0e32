//! Residuals of the fitted lines: scatter without a pattern, or a curve that no straight line follows?

use super::curve::{BAR, Curve};
use super::head::{legend, nearest};
use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Look, Panel, Point, Series};

const NAME: &str = "residuals";
const TITLE: &str = "Residuals of the laws against model size";

/// A panel a law: the first k, those of the head, the cross entropy.
pub(super) struct Residuals<'a> {
    panels: Vec<(String, Vec<Curve<'a>>)>,
}

impl<'a> Residuals<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let grid = family.grid();
        let mut shown: Vec<u32> = grid.first().copied().into_iter().chain(nearest(&grid)).collect();
        shown.dedup();
        // Two points have no residuals.
        let scattered = |curves: Vec<Curve<'a>>| -> Vec<Curve<'a>> {
            curves.into_iter().filter(|curve| curve.fit().is_some_and(|fit| fit.points > 2)).collect()
        };
        let ranks = shown.into_iter().map(|k| (format::rank_symbol(k), scattered(Curve::of_rank(family, k))));
        let entropy = [("CE".to_owned(), scattered(Curve::of_cross_entropy(family)))];
        let panels: Vec<_> = ranks.chain(entropy).filter(|(_, curves)| !curves.is_empty()).collect();
        if panels.is_empty() {
            return Err(LeftOut::because(NAME, TITLE, "it needs a law of three models or more"));
        }
        Ok(Self { panels })
    }
}

fn series(curve: &Curve<'_>) -> Series {
    let points = curve
        .law
        .points
        .iter()
        .filter_map(|point| {
            let residual = 100.0 * point.log_residual?;
            let tip =
                format!("{} on {}\n{} % of the line", point.label, curve.corpus, format::fixed(residual, 2));
            let bar = point
                .log_standard_error
                .map(|error| 100.0 * BAR * error)
                .map(|half| (residual - half, residual + half));
            let look = Look::claimed(curve.claimed());
            Some(Point { bar, look, ..Point::of(point.x, residual, tip) })
        })
        .collect();
    Series::joined(curve.style, curve.corpus, points)
}

impl Figure for Residuals<'_> {
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
            .filter_map(|(symbol, curves)| {
                let all = || {
                    curves.iter().flat_map(|curve| {
                        curve
                            .law
                            .points
                            .iter()
                            .filter_map(move |point| Some((curve, point, point.log_residual?)))
                    })
                };
                let (curve, point, most) = all().max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))?;
                Some(format!(
                    "{symbol} {} % ({} on {})",
                    format::fixed(100.0 * most, 1),
                    point.label,
                    curve.corpus
                ))
            })
            .collect();
        format!(
            "ln of measured over fitted value, times 100: about the per cent by which a model lies above the line. Residuals \
             that turn from one sign to the other and back with size say that the law is curved there. Bars span 95 % by \
             resampling documents, which moves all models together, so neighbours agree better than bars suggest. Farthest \
             from the line: {}.",
            format::list(&seen)
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for (_, curves) in &self.panels {
            for curve in curves {
                for point in &curve.law.points {
                    rows.push(vec![
                        Cell::text(curve.family),
                        Cell::text(curve.corpus),
                        Cell::Text(curve.law.quantity.symbol()),
                        Cell::text(&point.label),
                        Cell::Count(point.x as u64),
                        point.log_residual.into(),
                        point.log_standard_error.into(),
                        point.leverage.into(),
                        Cell::Flag(curve.claimed()),
                    ]);
                }
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "quantity",
                "model",
                "non_embedding_parameters",
                "log_residual",
                "log_standard_error",
                "leverage",
                "slope_claimed",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let panel = |(symbol, curves): &(String, Vec<Curve<'_>>)| {
            let series: Vec<Series> = curves.iter().map(series).collect();
            let points = || series.iter().flat_map(|series| &series.points);
            let heights: Vec<f64> =
                points().flat_map(|point| point.bar.map_or([point.y, point.y], <[f64; 2]>::from)).collect();
            let x = Axis::sizes(points().map(|point| point.x));
            Panel {
                heading: symbol.clone(),
                guides: vec![Guide::Level { at: 0.0, text: String::new(), end: End::Left }],
                series,
                ..Panel::of(x, Axis::linear("residual, %".to_owned(), heights), 200.0)
            }
        };
        let panels: Vec<Panel> = self.panels.iter().map(panel).collect();
        let curves: Vec<Curve<'_>> =
            self.panels.iter().flat_map(|(_, curves)| curves.iter().copied()).collect();
        let mut rows: Vec<Vec<Panel>> = Vec::new();
        for panel in panels {
            match rows.last_mut() {
                Some(row) if row.len() < 3 => row.push(panel),
                _ => rows.push(vec![panel]),
            }
        }
        Drawing { title: self.title(), legend: legend(&curves), rows }
    }
}
