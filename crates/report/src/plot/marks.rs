//! What stands inside the axes: shaded regions, guides, and the parts of each series from back to
//! front.

use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::apart::asides;
use super::axes::Axes;
use super::colour::{MUTED, PAPER, SHADE};
use super::pen::{self, LINE, SMALL, disc, line, text};
use super::series::{Bar, Point};
use super::{End, Guide, Line, Look, Mark, Panel, Series, Shade};

/// Half the size of a mark in pixels.
pub(super) const RADIUS: f64 = 4.0;
/// How much of its colour the area of a band or a bar has.
const BAND: f64 = 0.16;
const BAR: f64 = 0.35;

/// Everything inside the axes of a panel.
pub(super) fn draw(scene: &mut Scene, axes: &Axes<'_>, panel: &Panel) {
    for guide in &panel.guides {
        draw_guide(scene, axes, guide);
    }
    // All bands lie behind all lines, all lines behind all marks.
    for series in &panel.series {
        group(scene, series, |scene| {
            draw_band(scene, axes, series);
            for bar in &series.bars {
                draw_bar(scene, axes, series, bar);
            }
        });
    }
    let asides = if panel.apart { asides(&panel.series) } else { vec![0.0; panel.series.len()] };
    for (series, aside) in panel.series.iter().zip(&asides) {
        group(scene, series, |scene| draw_line(scene, axes, series, *aside));
    }
    for (series, aside) in panel.series.iter().zip(asides) {
        group(scene, series, |scene| {
            for point in &series.points {
                draw_point(scene, axes, series, point, aside);
            }
        });
    }
}

/// What belongs to a corpus says so, for a script that hides corpora.
pub(super) fn group(scene: &mut Scene, series: &Series, draw: impl FnOnce(&mut Scene)) {
    let before = scene.elements.len();
    let named = !series.whose.is_empty();
    if named {
        let name = pen::escaped(&series.whose);
        scene.add(Primitive::GroupStart {
            transform: None,
            title: None,
            extra_attrs: Some(format!("class=\"series\" data-whose=\"{name}\"")),
        });
    }
    draw(scene);
    if named {
        if scene.elements.len() == before + 1 {
            scene.elements.truncate(before);
        } else {
            scene.add(Primitive::GroupEnd);
        }
    }
}

/// Behind the grid.
pub(super) fn draw_shade(scene: &mut Scene, axes: &Axes<'_>, shade: &Shade) {
    let (left, right) = (axes.across(shade.from), axes.across(shade.to));
    let (top, bottom) = (axes.top, axes.bottom);
    pen::area(scene, [(left, top), (right, top), (right, bottom), (left, bottom)], SHADE, 1.0);
}

/// The name of a shaded region, where there is room; on a ground of its own, as it stands on the
/// grid.
pub(super) fn name_shade(scene: &mut Scene, axes: &Axes<'_>, shade: &Shade) {
    let (left, right) = (axes.across(shade.from), axes.across(shade.to));
    let (width, top) = (pen::width_of(shade.text, SMALL), axes.top);
    if !shade.text.is_empty() && width + 6.0 <= right - left {
        let start = right - width - 2.0;
        pen::area(
            scene,
            [(start, top + 2.0), (right, top + 2.0), (right, top + 17.0), (start, top + 17.0)],
            SHADE,
            1.0,
        );
        text(scene, (right - 4.0, top + 13.0), shade.text, SMALL, TextAnchor::End, MUTED);
    }
}

fn draw_guide(scene: &mut Scene, axes: &Axes<'_>, guide: &Guide) {
    match guide {
        Guide::Level { at, text: name, end } => {
            let at = axes.height_of(*at);
            line(scene, (axes.left, at), (axes.right, at), MUTED, 1.0, Some("2 3"));
            let (x, anchor) = match end {
                End::Left => (axes.left + 6.0, TextAnchor::Start),
                End::Right => (axes.right - 4.0, TextAnchor::End),
            };
            // Below the line, unless that is below the axes.
            let below = at + LINE < axes.bottom;
            text(scene, (x, if below { at + 13.0 } else { at - 4.0 }), name, SMALL, anchor, MUTED);
        }
        Guide::Upright { at, text: name } => {
            let at = axes.across(*at);
            line(scene, (at, axes.top), (at, axes.bottom), MUTED, 1.0, Some("2 3"));
            let fits = at + 4.0 + pen::width_of(name, SMALL) <= axes.right;
            let (x, anchor) =
                if fits { (at + 4.0, TextAnchor::Start) } else { (at - 4.0, TextAnchor::End) };
            text(scene, (x, axes.top + 13.0), name, SMALL, anchor, MUTED);
        }
    }
}

fn draw_band(scene: &mut Scene, axes: &Axes<'_>, series: &Series) {
    if series.band.len() < 2 {
        return;
    }
    let upper = axes.edge(series.band.iter().map(|&(x, _, high)| (x, high)));
    let lower = axes.edge(series.band.iter().map(|&(x, low, _)| (x, low)));
    pen::area(scene, upper.into_iter().chain(lower.into_iter().rev()), series.style.colour(), BAND);
}

fn draw_bar(scene: &mut Scene, axes: &Axes<'_>, series: &Series, bar: &Bar) {
    let (left, right) = (axes.across(bar.from), axes.across(bar.to));
    // A log axis has no zero: bars stand on its low end.
    let (top, foot) = (axes.height_of(bar.value), axes.height_of(0.0));
    tipped(scene, &bar.tip, |scene| {
        pen::area(
            scene,
            [(left, top), (right, top), (right, foot), (left, foot)],
            series.style.colour(),
            BAR,
        );
        line(scene, (left, top), (right, top), series.style.colour(), 1.3, None);
    });
}

fn draw_line(scene: &mut Scene, axes: &Axes<'_>, series: &Series, aside: f64) {
    let marks =
        series.points.iter().filter(|_| series.joined).map(|point| axes.at((point.x, point.y)));
    let joined: Vec<(f64, f64)> = marks.map(|(x, y)| (x + aside, y)).collect();
    let path = axes.line(series.path.iter().copied());
    let beyond = axes.line(series.beyond.iter().copied());
    let solid = path.into_iter().chain([joined]).map(|part| (part, series.line));
    for (points, line) in solid.chain(beyond.into_iter().map(|part| (part, Line::Dotted))) {
        if points.len() > 1 {
            scene.add(Primitive::PolyLine {
                points,
                stroke: series.style.colour().into(),
                stroke_width: series.style.width(),
                stroke_dasharray: dashes(line).map(str::to_owned),
            });
        }
    }
}

/// What a band looks like, for a legend.
pub(super) fn draw_swatch(scene: &mut Scene, (x, y): (f64, f64), colour: &str) {
    pen::area(
        scene,
        [(x, y - 5.0), (x + 24.0, y - 5.0), (x + 24.0, y + 5.0), (x, y + 5.0)],
        colour,
        2.0 * BAND,
    );
}

/// The pattern of a line.
pub(super) fn dashes(line: Line) -> Option<&'static str> {
    match line {
        Line::Solid => None,
        Line::Dashed => Some("7 4"),
        Line::Dotted => Some("2 3"),
        Line::DashDot => Some("8 3 2 3"),
    }
}

fn draw_point(scene: &mut Scene, axes: &Axes<'_>, series: &Series, point: &Point, aside: f64) {
    let colour = series.style.colour();
    let (x, y) = axes.at((point.x, point.y));
    let at = (x + aside, y);
    tipped(scene, &point.tip, |scene| {
        if let Some((low, high)) = point.bar {
            let ends = if series.lying {
                [(axes.across(low), at.1), (axes.across(high), at.1)]
            } else {
                [(at.0, axes.height_of(low)), (at.0, axes.height_of(high))]
            };
            pen::error_bar(scene, ends, colour);
        }
        draw_mark(scene, at, series.mark, colour, point.look);
    });
}

/// Something that tells more to a pointer that rests on it.
fn tipped(scene: &mut Scene, tip: &str, draw: impl FnOnce(&mut Scene)) {
    scene.add(Primitive::GroupStart {
        transform: None,
        title: Some(pen::printable(tip)),
        extra_attrs: None,
    });
    draw(scene);
    scene.add(Primitive::GroupEnd);
}

/// A mark, by look: full, an outline, or an outline with a point in it.
pub(super) fn draw_mark(scene: &mut Scene, at: (f64, f64), mark: Mark, colour: &str, look: Look) {
    let (x, y) = at;
    let (fill, edge) = if look == Look::Filled { (colour, PAPER) } else { (PAPER, colour) };
    // All shapes have about the area of the disc.
    match mark {
        Mark::Disc => disc(scene, at, RADIUS, fill, Some(edge)),
        Mark::Diamond => {
            let r = RADIUS * 1.25;
            pen::shape(scene, [(x, y - r), (x + r, y), (x, y + r), (x - r, y)], fill, edge);
        }
        Mark::Square => {
            let r = RADIUS * 0.92;
            pen::shape(
                scene,
                [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
                fill,
                edge,
            );
        }
        Mark::Triangle => {
            let r = RADIUS * 1.35;
            pen::shape(
                scene,
                [(x, y - r), (x + 0.9 * r, y + 0.65 * r), (x - 0.9 * r, y + 0.65 * r)],
                fill,
                edge,
            );
        }
        Mark::Wedge => {
            let r = RADIUS * 1.35;
            pen::shape(
                scene,
                [(x, y + r), (x + 0.9 * r, y - 0.65 * r), (x - 0.9 * r, y - 0.65 * r)],
                fill,
                edge,
            );
        }
    }
    if look == Look::HeldOut {
        disc(scene, at, 1.4, colour, None);
    }
}
