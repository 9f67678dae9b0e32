//! How predictable each group's loss is, and its accuracy: B's figure 3, where the groups are formats of a prompt.

use relscale_laws::{StagesFit, StagesGroup};

use crate::csv::{Cell, Table};
use crate::figures::relative::axis_of;
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Key, Look, Mark, Panel, Point, Sample, Series, Style};

pub(super) const NAME: &str = "formats";
pub(super) const TITLE: &str = "Predictability and accuracy by group";

/// Height of a row in pixels, and of the frame beside them.
const ROW: f64 = 30.0;
const FRAME: f64 = 30.0;

/// Two groups or more.
pub(super) struct Formats<'a> {
    fit: &'a StagesFit,
}

impl<'a> Formats<'a> {
    pub(super) fn of(fit: &'a StagesFit) -> Result<Self, LeftOut> {
        if fit.groups.len() < 2 {
            let reason = "it compares groups, and there is one: relscale stages ... --group format makes one of each format";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { fit })
    }

    fn predictability(&self) -> Panel {
        let groups = &self.fit.groups;
        let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
        let mark = |at: usize, value: Option<f64>, look, what: &str| {
            Some(Point {
                x: value?,
                y: Axis::row(at),
                bar: None,
                look,
                tip: format!("{}\n{what}: R² {}", groups[at].name, format::significant(value?)),
            })
        };
        let series = groups.iter().enumerate().map(|(at, group)| {
            let found = &group.predictability;
            let points = [
                mark(at, found.quadratic_left_out, Look::Hollow, "each point predicted from the others"),
                mark(at, found.quadratic, Look::Filled, "parabola of the loss in ln x"),
            ];
            Series {
                mark: Mark::Disc,
                points: points.into_iter().flatten().collect(),
                ..Series::of(Style::of(at), &group.name)
            }
        });
        let values = groups.iter().flat_map(|group| {
            let found = &group.predictability;
            // One group without any predictability would press all others against 1.
            [found.quadratic, found.quadratic_left_out.map(|r| r.max(-0.5))].into_iter().flatten()
        });
        let x = Axis::linear("R² of the loss on compute".to_owned(), values.chain([1.0]));
        Panel {
            heading: "Predictability".to_owned(),
            guides: vec![Guide::Upright { at: 1.0, text: String::new() }],
            series: series.collect(),
            ..Panel::of(x, Axis::rows(&names), FRAME + ROW * names.len() as f64)
        }
    }

    fn accuracy(&self) -> Panel {
        let groups = &self.fit.groups;
        let series = groups.iter().enumerate().map(|(at, group)| {
            let points = group.points.iter().map(|point| Point {
                x: point.x,
                y: point.accuracy,
                bar: None,
                look: if point.held_out { Look::HeldOut } else { Look::Filled },
                tip: format!(
                    "{}, {}\nx = {}\naccuracy {}",
                    point.label,
                    group.name,
                    format::quantity(point.x),
                    format::significant(point.accuracy)
                ),
            });
            let points: Vec<Point> = points.collect();
            // Several models of one x stand above each other; a line through them would say nothing.
            let one_each = points.windows(2).all(|pair| pair[0].x < pair[1].x);
            let style = Style::of(at);
            let joined = if one_each {
                Series::joined(style, &group.name, points)
            } else {
                Series { points, ..Series::of(style, &group.name) }
            };
            Series { mark: Mark::Disc, ..joined }
        });
        let points = || groups.iter().flat_map(|group| &group.points);
        let heights = points().map(|point| point.accuracy).chain(self.fit.chance);
        Panel {
            heading: "Accuracy".to_owned(),
            guides: self
                .fit
                .chance
                .map(|at| Guide::Level { at, text: "chance".to_owned(), end: End::Right })
                .into_iter()
                .collect(),
            series: series.collect(),
            ..Panel::of(
                axis_of(&self.fit.x, points().map(|point| point.x)),
                Axis::linear("accuracy".to_owned(), heights),
                FRAME + ROW * groups.len() as f64,
            )
        }
    }
}

/// The accuracy at the largest x.
fn largest(group: &StagesGroup) -> Option<f64> {
    group.points.last().map(|point| point.accuracy)
}

impl Figure for Formats<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("Predictability of {} and {} by group", self.fit.loss, self.fit.accuracy)
    }

    fn caption(&self) -> String {
        let mut found: Vec<(&str, f64)> = self
            .fit
            .groups
            .iter()
            .filter_map(|group| Some((group.name.as_str(), group.predictability.quadratic?)))
            .collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        let seen = match found.as_slice() {
            [] => "no group has the four points that a parabola leaves a residual of".to_owned(),
            [only] => format!("R² {} of {}", format::r_squared(Some(only.1)), only.0),
            [least, .., most] => format!(
                "R² from {} ({}) to {} ({})",
                format::r_squared(Some(least.1)),
                least.0,
                format::r_squared(Some(most.1)),
                most.0
            ),
        };
        format!(
            "Left: the share of the variation of the loss that a parabola in ln x explains; outlines, with each point predicted from all others (below 0 when their \
             mean would predict better). Right: accuracy against x, in the same colours. A format is of use when its loss is predictable and its accuracy leaves chance. \
             Seen: {seen}."
        )
    }

    fn numbers(&self) -> Table {
        let rows = self.fit.groups.iter().flat_map(|group| {
            let found = &group.predictability;
            let whole = vec![
                Cell::text(&group.name),
                Cell::text("group"),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                largest(group).into(),
                Cell::Empty,
                found.quadratic.into(),
                found.quadratic_left_out.into(),
                found.power.into(),
                found.power_left_out.into(),
            ];
            let points = group.points.iter().map(|point| {
                let mut cells = vec![
                    Cell::text(&group.name),
                    Cell::text("point"),
                    Cell::text(&point.label),
                    Cell::Number(point.x),
                    Cell::Number(point.loss),
                    Cell::Number(point.accuracy),
                    Cell::Flag(point.held_out),
                ];
                cells.extend(std::iter::repeat_n(Cell::Empty, 4));
                cells
            });
            std::iter::once(whole).chain(points).collect::<Vec<_>>()
        });
        Table {
            header: &[
                "group",
                "row",
                "model",
                "x",
                "loss",
                "accuracy",
                "held_out",
                "quadratic_r_squared",
                "quadratic_left_out_r_squared",
                "power_r_squared",
                "power_left_out_r_squared",
            ],
            rows: rows.collect(),
        }
    }

    fn drawing(&self) -> Drawing {
        let key = |look, text: &str| Key {
            style: Style::NEUTRAL,
            sample: Sample::Mark(Mark::Disc, look),
            text: text.to_owned(),
        };
        Drawing {
            title: self.title(),
            legend: vec![
                key(Look::Filled, "of all points"),
                key(Look::Hollow, "each point predicted from the others"),
                key(Look::HeldOut, "held out"),
            ],
            rows: vec![vec![self.predictability(), self.accuracy()]],
        }
    }
}
