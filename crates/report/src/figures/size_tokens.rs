//! What moves errors and gaps: size at fixed tokens, or tokens at fixed size.

use relscale_laws::{Estimate, SizeTokens, SizeTokensFit, Split};

use super::slot::{Figure, LeftOut, Section, Slot};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, Guide, Key, Look, Mark, Panel, Point, Sample, Series, Style};
use crate::results::Results;

pub(super) const NAME: &str = "size-tokens";
const TITLE: &str = "Errors and gaps along size and along tokens";

/// Height of a row in pixels, and of the frame beside them.
const ROW: f64 = 30.0;
const FRAME: f64 = 30.0;
/// How far the marks of the two directions lie from the middle of their row.
const ASIDE: f64 = 0.17;

/// A section a result.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    results
        .size_tokens
        .iter()
        .map(|found| {
            let heading = format!("Size against tokens: {} to {}", found.fit.error, found.fit.baseline);
            Section::named(&heading, &found.file, vec![Slot::of(SizeAgainstTokens::of(&found.fit))])
        })
        .collect()
}

/// The slot of this figure where there is no such result.
pub(super) fn left_out() -> Vec<LeftOut> {
    let reason = "no size-tokens.json here: relscale size-tokens STUDY --models FILE --baseline NAME makes it of checkpoints whose tokens are known";
    vec![LeftOut::because(NAME, TITLE, reason)]
}

/// All distributions of a result.
struct SizeAgainstTokens<'a> {
    fit: &'a SizeTokensFit,
}

/// A direction: its name, what its slope is called, and its looks.
const DIRECTIONS: [(&str, usize, Mark); 2] = [("size", 0, Mark::Disc), ("tokens", 1, Mark::Diamond)];

/// Where a slope comes from.
const MEAN: &str = "mean of slices";
const PLANE: &str = "plane";

/// The slope in a direction: the mean over slices, else that of the plane.
fn slope(split: &Split, direction: usize) -> Option<(&Estimate, &'static str)> {
    let along = if direction == 0 { &split.along_size } else { &split.along_tokens };
    if let Some(slope) = &along.slope {
        return Some((slope, MEAN));
    }
    let plane = split.plane.fit()?;
    Some((if direction == 0 { &plane.size } else { &plane.tokens }, PLANE))
}

impl<'a> SizeAgainstTokens<'a> {
    fn of(fit: &'a SizeTokensFit) -> Result<Self, LeftOut> {
        let any = |found: &SizeTokens| (0..2).any(|direction| slope(&found.absolute, direction).is_some());
        if !fit.distributions.iter().any(any) {
            return Err(LeftOut::because(NAME, TITLE, "no slope along size or tokens could be had"));
        }
        Ok(Self { fit })
    }

    fn panel(&self, heading: &str, axis: &str, split: fn(&SizeTokens) -> Option<&Split>) -> Panel {
        let shown: Vec<&SizeTokens> =
            self.fit.distributions.iter().filter(|found| split(found).is_some()).collect();
        let mut series = Vec::new();
        let mut ends = vec![0.0];
        for (at, found) in shown.iter().enumerate() {
            for (direction, (name, style, mark)) in DIRECTIONS.iter().enumerate() {
                let Some((slope, from)) = split(found).and_then(|split| slope(split, direction)) else {
                    continue;
                };
                let (low, high) = slope.bounds().unwrap_or((slope.value, slope.value));
                ends.extend([low, high]);
                let aside = if direction == 0 { ASIDE } else { -ASIDE };
                let point = Point {
                    x: slope.value,
                    y: Axis::row(at) + aside,
                    bar: slope.bounds(),
                    look: if from == MEAN { Look::Filled } else { Look::Hollow },
                    tip: format!("{}, along {name}\n{} ({from})", found.name, format::estimate(slope)),
                };
                series.push(Series {
                    lying: true,
                    mark: *mark,
                    points: vec![point],
                    ..Series::of(Style::of(*style), &found.name)
                });
            }
        }
        let names: Vec<String> = shown.iter().map(|found| found.name.clone()).collect();
        Panel {
            heading: heading.to_owned(),
            guides: vec![Guide::Upright { at: 0.0, text: String::new() }],
            series,
            ..Panel::of(
                Axis::linear(axis.to_owned(), ends),
                Axis::rows(&names),
                FRAME + ROW * names.len() as f64,
            )
        }
    }
}

impl Figure for SizeAgainstTokens<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("{} and its gap to {}, along size and along tokens", self.fit.error, self.fit.baseline)
    }

    fn caption(&self) -> String {
        let clear = |direction: usize| {
            let moved = self.fit.distributions.iter().filter(|found| {
                let bounds = found.gap.as_ref().and_then(|gap| slope(gap, direction)?.0.bounds());
                bounds.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
            });
            moved.count()
        };
        let gaps = self.fit.distributions.iter().filter(|found| found.gap.is_some()).count();
        let planes = self.fit.distributions.iter().any(|found| {
            [Some(&found.absolute), found.gap.as_ref()].into_iter().flatten().any(|split| {
                (0..2).any(|direction| slope(split, direction).is_some_and(|(_, from)| from == PLANE))
            })
        });
        format!(
            "Left: slopes of ln E; right: of ln G, the gap to {}. Discs: along {} at fixed tokens; diamonds: along {} at fixed size; bars are {} intervals by leaving \
             out whole sizes.{} Seen: of {gaps} gaps size moves {} and tokens move {}, by intervals that leave out 0.",
            self.fit.baseline,
            self.fit.params,
            self.fit.tokens,
            format::percent(self.fit.level),
            if planes { " Outlines: where no slices are, the slope of a plane over both." } else { "" },
            clear(0),
            clear(1),
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for found in &self.fit.distributions {
            let splits = [("E", Some(&found.absolute)), ("G", found.gap.as_ref())];
            for (quantity, split) in splits.into_iter().filter_map(|(name, split)| Some((name, split?))) {
                for (direction, (name, ..)) in DIRECTIONS.iter().enumerate() {
                    let head = |row: &str| {
                        vec![Cell::text(&found.name), Cell::text(quantity), Cell::text(name), Cell::text(row)]
                    };
                    let along = if direction == 0 { &split.along_size } else { &split.along_tokens };
                    if let Some((slope, from)) = slope(split, direction) {
                        let mut cells = head(from);
                        let ends = slope.bounds();
                        cells.extend([Cell::Empty, Cell::Number(slope.value)]);
                        cells.extend([ends.map(|(low, _)| low).into(), ends.map(|(_, high)| high).into()]);
                        cells.push(along.factor.filter(|_| from == MEAN).into());
                        rows.push(cells);
                    }
                    for slice in &along.slices {
                        let mut cells = head("slice");
                        cells.extend([
                            Cell::Number(slice.fixed),
                            Cell::Number(slice.slope),
                            Cell::Empty,
                            Cell::Empty,
                            Cell::Empty,
                        ]);
                        rows.push(cells);
                    }
                }
            }
        }
        Table {
            header: &[
                "distribution",
                "quantity",
                "along",
                "row",
                "fixed",
                "slope",
                "low",
                "high",
                "times_over_the_range",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let key = |(name, style, mark): &(&str, usize, Mark)| Key {
            style: Style::of(*style),
            sample: Sample::Mark(*mark, Look::Filled),
            text: format!("along {name}"),
        };
        let absolute = self.panel("Errors", "slope of ln E", |found| Some(&found.absolute));
        let gaps = self.panel("Gaps", "slope of ln G", |found| found.gap.as_ref());
        Drawing {
            title: self.title(),
            legend: DIRECTIONS.iter().map(key).collect(),
            rows: vec![vec![absolute, gaps]],
        }
    }
}
