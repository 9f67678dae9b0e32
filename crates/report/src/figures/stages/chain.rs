//! Compute to loss, loss to accuracy, compute to accuracy: B's figure 4, with the points that no curve has seen.

use relscale_laws::{
    HeldOutPoint, Outcome, Route, StageCurve, StageCurves, StagesFit, StagesGroup, StagesPoint, TracePoint,
};

use crate::csv::{Cell, Table};
use crate::figures::relative::axis_of;
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{
    Axis, Drawing, End, Guide, Key, Line, Look, Mark, Panel, Point, Sample, Series, Shade, Style,
};

pub(super) const NAME: &str = "stages";
pub(super) const TITLE: &str = "Compute to loss to accuracy";

/// Routes from x with their looks.
const ROUTES: [(Route, usize, Line); 3] = [
    (Route::Chain, 0, Line::Solid),
    (Route::DirectPower, 1, Line::Dashed),
    (Route::DirectSigmoid, 2, Line::DashDot),
];

/// One group.
pub(super) struct Chain<'a> {
    fit: &'a StagesFit,
    group: &'a StagesGroup,
}

impl<'a> Chain<'a> {
    pub(super) fn of(fit: &'a StagesFit, group: &'a StagesGroup) -> Result<Self, LeftOut> {
        if group.points.is_empty() {
            return Err(LeftOut::because(NAME, TITLE, "the group has no rows"));
        }
        Ok(Self { fit, group })
    }

    /// The curves that are drawn: those that have not seen what was held out.
    fn curves(&self) -> &'a StageCurves {
        self.group.held_out.as_ref().map_or(&self.group.curves, |held_out| &held_out.curves)
    }

    fn held_out(&self) -> &'a [HeldOutPoint] {
        self.group.held_out.as_ref().map_or(&[], |held_out| &held_out.points)
    }

    /// The rows as marks of one panel.
    fn measured(&self, place: fn(&StagesPoint) -> (f64, f64)) -> Series {
        let points = self.group.points.iter().map(|point| {
            let (x, y) = place(point);
            Point {
                x,
                y,
                bar: None,
                look: if point.held_out { Look::HeldOut } else { Look::Filled },
                tip: format!(
                    "{} ({})\nx = {}\nloss {}\naccuracy {}{}",
                    point.label,
                    point.place,
                    format::quantity(point.x),
                    format::significant(point.loss),
                    format::significant(point.accuracy),
                    if point.held_out { "\nheld out" } else { "" }
                ),
            }
        });
        Series { mark: Mark::Disc, points: points.collect(), ..Series::of(Style::NEUTRAL, "") }
    }

    /// What was predicted of each held-out point.
    fn predicted(
        &self,
        style: Style,
        of: impl Fn(&HeldOutPoint) -> Option<((f64, f64), Option<(f64, f64)>)>,
    ) -> Series {
        let points = self.held_out().iter().filter_map(|point| {
            let ((x, y), bar) = of(point)?;
            let tip = format!("{} as predicted\n{}", point.label, format::significant(y));
            Some(Point { x, y, bar, look: Look::Hollow, tip })
        });
        Series { mark: Mark::Diamond, points: points.collect(), ..Series::of(style, "") }
    }

    fn first(&self) -> Panel {
        let traces = &self.curves().traces;
        let curve = curve(Style::of(0), Line::Solid, &traces.loss);
        let predicted = self.predicted(Style::of(0), |point| {
            let loss = point.predicted_loss.as_ref()?;
            Some(((point.x, loss.value), loss.bounds()))
        });
        let series = vec![curve, self.measured(|point| (point.x, point.loss)), predicted];
        let y = Axis::log(self.fit.loss.clone(), heights(&series));
        self.panel("First stage: compute to loss", series, y)
    }

    fn second(&self) -> Panel {
        let curve = curve(Style::of(0), Line::Solid, &self.curves().traces.accuracy);
        let predicted = self.predicted(Style::of(0), |point| {
            let found = point.predicted.iter().find(|value| value.route == Route::SecondStage)?;
            Some(((point.loss, found.accuracy.value), found.accuracy.bounds()))
        });
        let series = vec![curve, self.measured(|point| (point.loss, point.accuracy)), predicted];
        let losses = self.group.points.iter().map(|point| point.loss);
        let y = Axis::linear(self.fit.accuracy.clone(), heights(&series).into_iter().chain(self.fit.chance));
        Panel {
            heading: "Second stage: loss to accuracy".to_owned(),
            guides: self.chance(End::Right),
            series,
            ..Panel::of(Axis::linear(self.fit.loss.clone(), losses), y, 260.0)
        }
    }

    fn whole(&self) -> Panel {
        let traces = &self.curves().traces;
        let mut series: Vec<Series> = ROUTES
            .iter()
            .filter_map(|(route, style, line)| {
                let traced = curve(Style::of(*style), *line, traces.route(*route)?);
                // One band is enough to read; the others' ends are in the table.
                Some(Series { band: if *route == Route::Chain { traced.band } else { Vec::new() }, ..traced })
            })
            .collect();
        series.push(self.measured(|point| (point.x, point.accuracy)));
        series.extend(ROUTES.iter().map(|(route, style, _)| {
            self.predicted(Style::of(*style), |point| {
                let found = point.predicted.iter().find(|value| value.route == *route)?;
                Some((
                    (point.x, found.accuracy.value),
                    found.accuracy.bounds().filter(|_| *route == Route::Chain),
                ))
            })
        }));
        let y = Axis::linear(self.fit.accuracy.clone(), heights(&series).into_iter().chain(self.fit.chance));
        Panel { guides: self.chance(End::Left), ..self.panel("Compute to accuracy", series, y) }
    }

    fn panel(&self, heading: &str, series: Vec<Series>, y: Axis) -> Panel {
        let drawn = series.iter().flat_map(|series| series.path.iter().map(|(x, _)| *x));
        let x = drawn.chain(self.group.points.iter().map(|point| point.x));
        let axis = axis_of(&self.fit.x, x);
        let largest = self.group.points.iter().map(|point| point.x).fold(0.0, f64::max);
        let beyond = Shade { from: largest, to: f64::INFINITY, text: String::new() };
        let shades = if self.farthest() > largest { vec![beyond] } else { Vec::new() };
        Panel { heading: heading.to_owned(), shades, series, ..Panel::of(axis, y, 260.0) }
    }

    /// The largest x that is drawn.
    fn farthest(&self) -> f64 {
        self.curves().traces.loss.iter().map(|at| at.x).fold(0.0, f64::max)
    }

    fn chance(&self, end: End) -> Vec<Guide> {
        self.fit.chance.map(|at| Guide::Level { at, text: "chance".to_owned(), end }).into_iter().collect()
    }
}

/// A curve with its band.
fn curve(style: Style, line: Line, trace: &[TracePoint]) -> Series {
    Series {
        line,
        path: trace.iter().map(|at| (at.x, at.value)).collect(),
        band: trace.iter().filter_map(|at| at.interval.map(|(low, high)| (at.x, low, high))).collect(),
        ..Series::of(style, "")
    }
}

/// Every height but those of bands, which may be many times wider than all points.
fn heights(series: &[Series]) -> Vec<f64> {
    let of = |series: &Series| {
        let marks = series.points.iter().flat_map(|point| {
            let (low, high) = point.bar.unwrap_or((point.y, point.y));
            [low, point.y, high]
        });
        marks.chain(series.path.iter().map(|(_, y)| *y)).collect::<Vec<_>>()
    };
    series.iter().flat_map(of).collect()
}

/// Why there is no curve.
fn refusal(name: &str, outcome: &Outcome<StageCurve>) -> Option<String> {
    outcome.refused().map(|reason| format!(" No {name}: {reason}."))
}

impl Figure for Chain<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("{} to {} to {}, {}", self.fit.x, self.fit.loss, self.fit.accuracy, self.group.name)
    }

    fn caption(&self) -> String {
        let curves = self.curves();
        let missing = [refusal("first stage", &curves.loss), refusal("second stage", &curves.accuracy)];
        let held_out = self.group.held_out.as_ref().map_or_else(
            || "No point was held out.".to_owned(),
            |held_out| {
                format!(
                    "Dotted outlines are held out ({}) and unknown to the curves; diamonds say what was predicted of them.",
                    held_out.which
                )
            },
        );
        format!(
            "A power law with a floor from compute to loss, a sigmoid from loss to accuracy, and both composed; beside them accuracy straight from compute. \
             {held_out} Bands and bars are {} intervals of one new model.{}{} Seen: {}",
            format::percent(self.fit.level),
            if self.farthest() > self.group.points.last().map_or(0.0, |point| point.x) {
                " Shaded: beyond all rows."
            } else {
                ""
            },
            missing.into_iter().flatten().collect::<String>(),
            self.group.verdict
        )
    }

    fn numbers(&self) -> Table {
        let head = |row: &str, route: &str, label: &str| {
            [&self.group.name, row, route, label].map(Cell::text).to_vec()
        };
        let ends =
            |ends: Option<(f64, f64)>| [ends.map(|(low, _)| low).into(), ends.map(|(_, high)| high).into()];
        let mut rows = Vec::new();
        for point in &self.group.points {
            let mut cells = head(if point.held_out { "held out" } else { "fitted" }, "", &point.label);
            cells.extend([point.x, point.loss, point.accuracy].map(Cell::Number));
            cells.extend(ends(None));
            rows.push(cells);
        }
        for point in self.held_out() {
            if let Some(loss) = &point.predicted_loss {
                let mut cells = head("predicted", "first stage", &point.label);
                cells.extend([Cell::Number(point.x), Cell::Number(loss.value), Cell::Empty]);
                cells.extend(ends(loss.bounds()));
                rows.push(cells);
            }
            for value in &point.predicted {
                let mut cells = head("predicted", value.route.name(), &point.label);
                cells.extend([Cell::Number(point.x), Cell::Empty, Cell::Number(value.accuracy.value)]);
                cells.extend(ends(value.accuracy.bounds()));
                rows.push(cells);
            }
        }
        let traces = &self.curves().traces;
        for at in &traces.loss {
            let mut cells = head("curve", "first stage", "");
            cells.extend([Cell::Number(at.x), Cell::Number(at.value), Cell::Empty]);
            cells.extend(ends(at.interval));
            rows.push(cells);
        }
        for at in &traces.accuracy {
            let mut cells = head("curve", Route::SecondStage.name(), "");
            cells.extend([Cell::Empty, Cell::Number(at.x), Cell::Number(at.value)]);
            cells.extend(ends(at.interval));
            rows.push(cells);
        }
        for traced in &traces.routes {
            for at in &traced.accuracy {
                let mut cells = head("curve", traced.route.name(), "");
                cells.extend([Cell::Number(at.x), Cell::Empty, Cell::Number(at.value)]);
                cells.extend(ends(at.interval));
                rows.push(cells);
            }
        }
        Table { header: &["group", "row", "route", "model", "x", "loss", "accuracy", "low", "high"], rows }
    }

    fn drawing(&self) -> Drawing {
        let route = |(route, style, line): &(Route, usize, Line)| Key {
            style: Style::of(*style),
            sample: Sample::Line(*line),
            text: route.name().to_owned(),
        };
        let key = |mark, look, text: &str| Key {
            style: Style::NEUTRAL,
            sample: Sample::Mark(mark, look),
            text: text.to_owned(),
        };
        let mut legend: Vec<Key> = ROUTES.iter().map(route).collect();
        legend.push(key(Mark::Disc, Look::Filled, "fitted"));
        if !self.held_out().is_empty() {
            legend.push(key(Mark::Disc, Look::HeldOut, "held out"));
            legend.push(key(Mark::Diamond, Look::Hollow, "predicted"));
        }
        Drawing { title: self.title(), legend, rows: vec![vec![self.first(), self.second(), self.whole()]] }
    }
}
