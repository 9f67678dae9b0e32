//! How the best size, the best number of tokens and the least loss grow with the budget.

use relscale_laws::{Along, Curve, Estimate, IsoflopFit, IsoflopGroup, MethodOptimum, OptimumPath, PathLaw};

use super::{flops, params};
use crate::csv::{Cell, Table};
use crate::figures::relative::axis_of;
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{Axis, Drawing, Key, Line, Look, Mark, Panel, Point, Sample, Series, Shade, Style};

pub(super) const NAME: &str = "optima";
pub(super) const TITLE: &str = "The best size, the best number of tokens and the least loss of each budget";

/// What a panel is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Params,
    Tokens,
    Loss,
}

impl Quantity {
    const ALL: [Self; 3] = [Self::Params, Self::Tokens, Self::Loss];

    fn name(self) -> &'static str {
        match self {
            Self::Params => "params",
            Self::Tokens => "tokens",
            Self::Loss => "loss",
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Params => "N*",
            Self::Tokens => "D*",
            Self::Loss => "loss",
        }
    }

    fn law(self, path: &OptimumPath) -> Option<&PathLaw> {
        match self {
            Self::Params => path.params.fit(),
            Self::Tokens => path.tokens.fit(),
            Self::Loss => path.loss.fit(),
        }
    }

    fn of(self, method: &MethodOptimum) -> &Estimate {
        match self {
            Self::Params => &method.params,
            Self::Tokens => &method.tokens,
            Self::Loss => &method.loss,
        }
    }
}

/// The optima of one group.
pub(super) struct Optima<'a> {
    fit: &'a IsoflopFit,
    group: &'a IsoflopGroup,
}

impl<'a> Optima<'a> {
    pub(super) fn of(fit: &'a IsoflopFit, group: &'a IsoflopGroup) -> Result<Self, LeftOut> {
        let found = Self { fit, group };
        if Quantity::ALL.iter().all(|quantity| found.minima(Curve::Cubic, *quantity).len() < 2) {
            let reason = "it takes two budgets with a minimum that runs bracket";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(found)
    }

    /// Budgets with their minima by one curve. The least loss is that along tokens, as in the law of it.
    fn minima(&self, curve: Curve, quantity: Quantity) -> Vec<(f64, f64)> {
        let along = if quantity == Quantity::Params { Along::Params } else { Along::Tokens };
        let found = |budget: &relscale_laws::IsoflopBudget| {
            let (at, loss) = budget.minimum(curve, along)?.found()?;
            Some((budget.budget, if quantity == Quantity::Loss { loss } else { at }))
        };
        self.group.budgets.iter().filter_map(found).collect()
    }

    fn paths(&self, quantity: Quantity) -> impl Iterator<Item = (Curve, &'a PathLaw)> {
        self.group.paths.iter().filter_map(move |path| Some((path.curve, quantity.law(path)?)))
    }

    /// Smallest and largest budget with a minimum, and the largest that is asked about.
    fn range(&self) -> (f64, f64, f64) {
        let measured = Quantity::ALL.iter().flat_map(|quantity| self.minima(Curve::Cubic, *quantity));
        let (low, high) =
            measured.fold((f64::INFINITY, 0.0_f64), |(low, high), (c, _)| (low.min(c), high.max(c)));
        (low, high, self.group.ahead.iter().map(|ahead| ahead.budget).fold(high, f64::max))
    }

    fn panel(&self, quantity: Quantity) -> Panel {
        let (low, high, farthest) = self.range();
        let mut series = Vec::new();
        for curve in [Curve::Parabola, Curve::Cubic] {
            let law = self.paths(quantity).find(|(one, _)| *one == curve).map(|(_, law)| law);
            let points = self.minima(curve, quantity).into_iter().map(|(budget, value)| Point {
                x: budget,
                y: value,
                bar: None,
                look: Look::Filled,
                tip: format!(
                    "{} by the {} at C = {}\n{}",
                    quantity.symbol(),
                    curve.name(),
                    format::quantity(budget),
                    format::significant(value)
                ),
            });
            series.push(Series {
                line: line(curve),
                mark: mark(curve.name()),
                path: law
                    .map(|law| [low, farthest].map(|budget| (budget, law.at(budget))).to_vec())
                    .unwrap_or_default(),
                points: points.collect(),
                ..Series::of(style(curve.name()), "")
            });
        }
        for ahead in self.group.ahead.iter().filter(|ahead| ahead.decades_beyond != 0.0) {
            series.extend(ahead.methods.iter().map(|method| {
                let estimate = quantity.of(method);
                let point = Point {
                    x: ahead.budget,
                    y: estimate.value,
                    bar: estimate.bounds(),
                    look: Look::HeldOut,
                    tip: format!(
                        "{} by {} at C = {}\n{}",
                        quantity.symbol(),
                        method.method,
                        format::quantity(ahead.budget),
                        with_ends(estimate)
                    ),
                };
                Series {
                    mark: mark(&method.method),
                    points: vec![point],
                    ..Series::of(style(&method.method), "")
                }
            }));
        }
        let heights = series.iter().flat_map(|series| {
            let bars = series.points.iter().flat_map(|point| point.bar.map(|(low, high)| [low, high]));
            let path = series.path.iter().map(|(_, y)| *y);
            bars.flatten().chain(series.points.iter().map(|point| point.y)).chain(path).collect::<Vec<_>>()
        });
        let title = match quantity {
            Quantity::Params => params(&self.fit.params).replacen('N', "N*", 1),
            Quantity::Tokens => "D*, tokens".to_owned(),
            Quantity::Loss => "least loss".to_owned(),
        };
        let y = if quantity == Quantity::Loss { Axis::log(title, heights) } else { axis_of(&title, heights) };
        let notes = self.paths(quantity).map(|(curve, law)| {
            (style(curve.name()), format!("{} ∝ C^{}", quantity.symbol(), format::estimate(&law.exponent)))
        });
        let beyond = Shade { from: high, to: f64::INFINITY, text: String::new() };
        Panel {
            notes: notes.collect(),
            shades: if farthest > high { vec![beyond] } else { Vec::new() },
            series,
            ..Panel::of(axis_of(&flops(&self.fit.flops), [low, farthest]), y, 260.0)
        }
    }

    /// The methods that say something of a further budget, in the order of the result.
    fn methods(&self) -> Vec<&'a str> {
        let ahead = self.group.ahead.iter().find(|ahead| ahead.decades_beyond != 0.0);
        ahead.into_iter().flat_map(|ahead| &ahead.methods).map(|method| method.method.as_str()).collect()
    }
}

fn line(curve: Curve) -> Line {
    if curve == Curve::Cubic { Line::Solid } else { Line::Dashed }
}

/// The colour of a method.
fn style(method: &str) -> Style {
    match method {
        "cubic" => Style::of(0),
        "parabola" => Style::of(1),
        "variable projection" => Style::of(2),
        _ => Style::of(3),
    }
}

fn mark(method: &str) -> Mark {
    style(method).mark()
}

/// A value of any size with its interval.
fn with_ends(estimate: &Estimate) -> String {
    let value = format::significant(estimate.value);
    match estimate.bounds() {
        Some((low, high)) => format!("{value} [{}, {}]", format::significant(low), format::significant(high)),
        None => format!("{value} (no interval)"),
    }
}

impl Figure for Optima<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("The optima of each budget, {}", self.group.name)
    }

    fn caption(&self) -> String {
        let ahead: Vec<&str> = self
            .group
            .ahead
            .iter()
            .filter(|ahead| ahead.decades_beyond != 0.0)
            .map(|ahead| ahead.verdict.as_str())
            .collect();
        let further = if ahead.is_empty() {
            String::new()
        } else {
            format!(
                " Dotted outlines on the shaded side: what each method says of a budget beyond the runs. {}",
                ahead.join(" ")
            )
        };
        format!(
            "The minima of the curves of each budget, by cubics and by parabolas, with their laws A C^a; the least loss is that along tokens. Parabolas are \
             biased where loss curves are not symmetric. Seen: {}{further}",
            self.group.verdict
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        let ends =
            |ends: Option<(f64, f64)>| [ends.map(|(low, _)| low).into(), ends.map(|(_, high)| high).into()];
        for quantity in Quantity::ALL {
            let mut row = |row: &str,
                           method: &str,
                           budget: Option<f64>,
                           value: Option<f64>,
                           interval: Option<(f64, f64)>,
                           law: Option<&PathLaw>| {
                let mut cells = vec![
                    Cell::text(&self.group.name),
                    Cell::text(quantity.name()),
                    Cell::text(row),
                    Cell::text(method),
                ];
                cells.extend([budget.into(), value.into()]);
                cells.extend(ends(interval));
                cells.push(law.map(|law| law.exponent.value).into());
                cells.extend(ends(law.and_then(|law| law.exponent.bounds())));
                cells.push(law.map(|law| law.prefactor.value).into());
                cells.push(law.and_then(|law| law.r_squared).into());
                rows.push(cells);
            };
            for curve in Curve::ALL {
                for (budget, value) in self.minima(curve, quantity) {
                    row("minimum", curve.name(), Some(budget), Some(value), None, None);
                }
            }
            for (curve, law) in self.paths(quantity) {
                row("law", curve.name(), None, None, None, Some(law));
            }
            for ahead in &self.group.ahead {
                for method in &ahead.methods {
                    let estimate = quantity.of(method);
                    row(
                        "ahead",
                        &method.method,
                        Some(ahead.budget),
                        Some(estimate.value),
                        estimate.bounds(),
                        None,
                    );
                }
            }
        }
        Table {
            header: &[
                "group",
                "quantity",
                "row",
                "method",
                "budget",
                "value",
                "low",
                "high",
                "exponent",
                "exponent_low",
                "exponent_high",
                "prefactor",
                "r_squared",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let curves = [Curve::Cubic, Curve::Parabola].map(|curve| Key {
            style: style(curve.name()),
            sample: Sample::Series(line(curve), mark(curve.name())),
            text: format!("by {}s", curve.name()),
        });
        let others = self
            .methods()
            .into_iter()
            .filter(|method| Curve::ALL.iter().all(|curve| curve.name() != *method));
        let others = others.map(|method| Key {
            style: style(method),
            sample: Sample::Mark(mark(method), Look::HeldOut),
            text: format!("by the surface, {method}"),
        });
        Drawing {
            title: self.title(),
            legend: curves.into_iter().chain(others).collect(),
            rows: vec![Quantity::ALL.map(|quantity| self.panel(quantity)).into_iter().collect()],
        }
    }
}
