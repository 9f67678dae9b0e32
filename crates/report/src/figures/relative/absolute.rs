//! E against x for each distribution: B's figures of absolute laws (MMLU domains, varieties of English, clusters of risk).

use relscale_laws::{Law, Point as LawPoint};

use super::{Comparison, bar, capital};
use crate::csv::{Cell, Table};
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{Axis, Drawing, Look, Panel, Point, Series};

pub(super) const NAME: &str = "absolute";
pub(super) const TITLE: &str = "The error of each distribution";

/// All distributions with a point.
pub(super) struct Absolute<'a> {
    of: Comparison<'a>,
    laws: Vec<&'a Law>,
}

impl<'a> Absolute<'a> {
    pub(super) fn of(of: Comparison<'a>) -> Result<Self, LeftOut> {
        let laws: Vec<&Law> = of.family.absolute.iter().filter(|law| !law.points.is_empty()).collect();
        if laws.is_empty() {
            return Err(LeftOut::because(NAME, TITLE, "no model has an error above zero"));
        }
        Ok(Self { of, laws })
    }

    fn series(&self, law: &Law) -> Series {
        let points = law.points.iter().map(|point| Point {
            x: point.x,
            y: point.value,
            bar: bar(point.value, point.log_standard_error),
            look: Look::Filled,
            tip: self.tip(law, point),
        });
        let label = if self.of.named() {
            let fit =
                law.fit().map_or("no fit".to_owned(), |law| format!("β {}", format::estimate(&law.exponent)));
            let r_squared =
                law.fit().and_then(|law| law.r_squared).map(|r| format!("R² {}", format::r_squared(Some(r))));
            [Some(law.name.clone()), Some(fit), r_squared].into_iter().flatten().collect()
        } else {
            Vec::new()
        };
        let line = law.points.iter().filter_map(|point| Some((point.x, point.fitted?)));
        Series {
            path: line.collect(),
            points: points.collect(),
            label,
            ..Series::of(self.of.style(&law.name), &law.name)
        }
    }

    fn tip(&self, law: &Law, point: &LawPoint) -> String {
        let ends = bar(point.value, point.log_standard_error).map_or(String::new(), |(low, high)| {
            format!(" [{}, {}]", format::significant(low), format::significant(high))
        });
        format!(
            "{} on {}\nx = {}\nE = {}{ends} {}",
            point.label,
            law.name,
            format::quantity(point.x),
            format::significant(point.value),
            self.of.fit.unit
        )
    }
}

impl Figure for Absolute<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("{} by {}, against {}", capital(&self.of.fit.error), self.of.one(), self.of.x())
    }

    fn caption(&self) -> String {
        let mut slopes: Vec<(&str, f64)> =
            self.laws.iter().filter_map(|law| Some((law.name.as_str(), law.fit()?.exponent.value))).collect();
        slopes.sort_by(|a, b| a.1.total_cmp(&b.1));
        let seen = match slopes.as_slice() {
            [] => "No law is fitted.".to_owned(),
            [(name, beta)] => format!("Seen: β {} on {name}.", format::fixed(*beta, 4)),
            [(slow, least), .., (fast, most)] => {
                format!(
                    "Seen: β from {} ({slow}) to {} ({fast}).",
                    format::fixed(*least, 4),
                    format::fixed(*most, 4)
                )
            }
        };
        let bars =
            if self.laws.iter().flat_map(|law| &law.points).any(|point| point.log_standard_error.is_some()) {
                " Error bars span 95 % by resampling documents."
            } else {
                ""
            };
        format!(
            "E = α x^−β of each of {} {}, x = {}; each mark is a model, the lines are least squares on these logarithmic axes.{bars} {seen}",
            self.laws.len(),
            self.of.many(),
            self.of.fit.x,
        )
    }

    fn numbers(&self) -> Table {
        let row = |law: &Law, point: &LawPoint| {
            let ends = bar(point.value, point.log_standard_error);
            let beta = law.fit().map(|law| &law.exponent);
            vec![
                Cell::text(&self.of.family.name),
                Cell::text(&law.name),
                Cell::text(&self.of.fit.error),
                Cell::text(&self.of.fit.unit),
                Cell::text(&point.label),
                Cell::Number(point.x),
                Cell::Number(point.value),
                ends.map(|(low, _)| low).into(),
                ends.map(|(_, high)| high).into(),
                point.fitted.into(),
                beta.map(|beta| beta.value).into(),
                beta.and_then(|beta| beta.bounds()).map(|(low, _)| low).into(),
                beta.and_then(|beta| beta.bounds()).map(|(_, high)| high).into(),
                Cell::Empty,
            ]
        };
        let missing = |law: &Law, model: &str, reason: &str| {
            let head = [&self.of.family.name, &law.name, &self.of.fit.error, &self.of.fit.unit]
                .map(|text| Cell::text(text));
            let mut cells = head.to_vec();
            cells.push(Cell::text(model));
            cells.extend(std::iter::repeat_n(Cell::Empty, 8));
            cells.push(Cell::text(reason));
            cells
        };
        let rows = self.laws.iter().flat_map(|law| {
            let measured = law.points.iter().map(|point| row(law, point));
            measured.chain(law.left_out.iter().map(|left| missing(law, &left.label, &left.reason)))
        });
        Table {
            header: &[
                "family",
                "distribution",
                "error",
                "unit",
                "model",
                "x",
                "value",
                "low_95",
                "high_95",
                "fitted",
                "beta",
                "beta_low",
                "beta_high",
                "left_out_because",
            ],
            rows: rows.collect(),
        }
    }

    fn drawing(&self) -> Drawing {
        let points = || self.laws.iter().flat_map(|law| &law.points);
        let heights = points().flat_map(|point| {
            let (low, high) =
                bar(point.value, point.log_standard_error).unwrap_or((point.value, point.value));
            [Some(low), Some(high), point.fitted].into_iter().flatten()
        });
        let (x, y) = (self.of.axis(points().map(|point| point.x)), Axis::log(self.of.error(), heights));
        Drawing {
            title: self.title(),
            legend: Vec::new(),
            rows: vec![vec![Panel {
                series: self.laws.iter().map(|law| self.series(law)).collect(),
                ..Panel::of(x, y, 380.0)
            }]],
        }
    }
}
