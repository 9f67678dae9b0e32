//! What moves errors and gaps: size at fixed tokens, or tokens at fixed size.

use relscale_laws::{Estimate, SizeTokens, SizeTokensFit, Split};

use super::slot::{Figure, Kind, Made, Section, Slot};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{
    Axis, Drawing, Guide, Key, Look, Mark, Marks, Num, Panel, Sample, Series, Style,
};
use crate::results::Results;

const FIGURE: Kind<for<'a> fn(&'a SizeTokensFit) -> Made<'a>> =
    Kind { name: "size-tokens", title: "Errors and gaps along size and along tokens", make };

/// Height of a row in pixels, and of the frame beside them.
const ROW: f64 = 30.0;
const FRAME: f64 = 30.0;

/// The two directions: their names, looks, and how far their marks lie above the middle of a row.
const DIRECTIONS: [(&str, usize, Mark, f64); 2] =
    [("size", 0, Mark::Disc, 0.17), ("tokens", 1, Mark::Diamond, -0.17)];

/// Where a slope comes from.
const MEAN: &str = "mean of slices";
const PLANE: &str = "plane";

/// A section a result.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let sections = results.size_tokens.iter().map(|found| {
        let heading = format!("Size against tokens: {} to {}", found.fit.error, found.fit.baseline);
        Section::new(&heading, &found.file, vec![FIGURE.slot((FIGURE.make)(&found.fit))])
    });
    sections.collect()
}

/// The slot of this figure where there is no such result.
pub(super) fn left_out() -> Vec<Slot<'static>> {
    let reason = "no size-tokens.json here: relscale size-tokens STUDY --models FILE --baseline NAME makes it of checkpoints whose tokens are known";
    vec![FIGURE.slot(Err(reason.to_owned()))]
}

/// The slope in a direction: the mean over slices, else that of the plane.
fn slope(split: &Split, direction: usize) -> Option<(&Estimate, &'static str)> {
    let along = if direction == 0 { &split.along_size } else { &split.along_tokens };
    if let Some(slope) = &along.slope {
        return Some((slope, MEAN));
    }
    let plane = split.plane.fit()?;
    Some((if direction == 0 { &plane.size } else { &plane.tokens }, PLANE))
}

/// E of a distribution, and its G where it is not the baseline.
fn splits(found: &SizeTokens) -> impl Iterator<Item = (&'static str, &Split)> {
    [("E", Some(&found.absolute)), ("G", found.gap.as_ref())]
        .into_iter()
        .filter_map(|(name, split)| Some((name, split?)))
}

/// All distributions of a result.
fn make(fit: &SizeTokensFit) -> Made<'_> {
    let all = || fit.distributions.iter();
    if !all().any(|found| (0..2).any(|direction| slope(&found.absolute, direction).is_some())) {
        return Err("no slope along size or tokens could be had".to_owned());
    }
    let clear = |direction: usize| {
        let bounds = all().filter_map(|found| slope(found.gap.as_ref()?, direction)?.0.bounds());
        bounds.filter(|(low, high)| *low > 0.0 || *high < 0.0).count()
    };
    let planes = all().flat_map(splits).any(|(_, split)| {
        (0..2).any(|direction| slope(split, direction).is_some_and(|(_, from)| from == PLANE))
    });
    let caption = format!(
        "Left: slopes of ln E; right: of ln G, the gap to {}. Discs: along {} at fixed tokens; diamonds: along {} at fixed size; bars are {} intervals by leaving \
         out whole sizes.{} Seen: of {} gaps size moves {} and tokens move {}, by intervals that leave out 0.",
        fit.baseline,
        fit.params,
        fit.tokens,
        format::percent(fit.level),
        if planes { " Outlines: where no slices are, the slope of a plane over both." } else { "" },
        all().filter(|found| found.gap.is_some()).count(),
        clear(0),
        clear(1),
    );
    let title =
        format!("{} and its gap to {}, along size and along tokens", fit.error, fit.baseline);
    let numbers = Frame::stacked(all().flat_map(|found| {
        splits(found).flat_map(move |(quantity, split)| {
            [0, 1].map(|along| rows(&found.name, quantity, split, along))
        })
    }));
    Ok(Figure::new(title, caption, numbers, |frame| {
        let key = |(name, style, mark, _): &(&str, usize, Mark, f64)| {
            Key::new(
                Style::for_corpus(*style),
                Sample::Mark(*mark, Look::Filled),
                format!("along {name}"),
            )
        };
        let rows = frame.rows();
        let panels = vec![
            panel("Errors", "slope of ln E", &rows.matching("quantity", "E")),
            panel("Gaps", "slope of ln G", &rows.matching("quantity", "G")),
        ];
        Drawing::new(DIRECTIONS.iter().map(key).collect(), vec![panels])
    }))
}

/// The slope in a direction, then its slices.
fn rows(distribution: &str, quantity: &str, split: &Split, direction: usize) -> Frame {
    let along = if direction == 0 { &split.along_size } else { &split.along_tokens };
    let named = |rows: Vec<(&'static str, Option<f64>, f64)>| {
        Frame::from_rows(rows)
            .column("row", |(row, ..)| row)
            .column("fixed", |(_, fixed, _)| fixed)
            .column("slope", |(.., slope)| slope)
    };
    let found = slope(split, direction);
    let whole = named(found.iter().map(|(slope, from)| (*from, None, slope.value)).collect())
        .ends(["low", "high"], |_| found?.0.bounds())
        .column("times_over_the_range", |(from, ..)| along.factor.filter(|_| from == MEAN));
    let slices = along.slices.iter().map(|slice| ("slice", Some(slice.fixed), slice.slope));
    Frame::stacked([whole.frame(), named(slices.collect()).frame()]).led([
        ("distribution", distribution.into()),
        ("quantity", quantity.into()),
        ("along", DIRECTIONS[direction].0.into()),
    ])
}

fn panel(heading: &str, axis: &str, rows: &Rows<'_>) -> Panel {
    let names: Vec<String> =
        rows.by("distribution").iter().map(|rows| rows.text("distribution").to_owned()).collect();
    let tip = |row: FrameRow<'_>| {
        let slope = row.estimate(["slope", "low", "high"]);
        let (name, along, from) = (row.text("distribution"), row.text("along"), row.text("row"));
        format!("{name}, along {along}\n{slope} ({from})")
    };
    let look =
        |row: FrameRow<'_>| if row.text("row") == MEAN { Look::Filled } else { Look::Hollow };
    let slopes = rows.only(|row| [MEAN, PLANE].contains(&row.text("row")));
    let series = slopes.by("distribution").into_iter().flat_map(|rows| {
        DIRECTIONS.map(|(along, style, mark, above)| {
            let place = Num::row("distribution", &names, above);
            let marks = Marks::at(&rows.matching("along", along), "slope", place, tip);
            let series =
                Series::new(Style::for_corpus(style), rows.text("distribution")).shape(mark);
            series.lying(marks.error("low", "high").look(look))
        })
    });
    Panel {
        heading: heading.to_owned(),
        guides: vec![Guide::upright(0.0)],
        ..Panel::new(
            Axis::linear(axis).holding([0.0]),
            Axis::rows(&names),
            FRAME + ROW * names.len() as f64,
            series.collect(),
        )
    }
}
