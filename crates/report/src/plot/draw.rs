//! A drawing to SVG: the only file that knows pixels and kuva.

use kuva::backend::svg::SvgBackend;
use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

use super::apart::asides;
use super::colour::{GRID, INK, MUTED, PAPER};
use super::label::spread;
use super::{Axis, Drawing, End, Key, Line, Mark, Panel, Point, Series};
use crate::format::shortened;

/// Width of every figure, in pixels.
const WIDTH: f64 = 900.0;
/// Between panels.
const GAP: f64 = 14.0;
/// Left of the axes: title and ticks of the y axis.
const LEFT: f64 = 66.0;
/// Below the axes: ticks and title of the x axis.
const BELOW: f64 = 46.0;
/// Right of axes without labels: half the last tick's text.
const RIGHT: f64 = 14.0;
/// Between axes and the text of labels.
const LEADER: f64 = 32.0;
/// Longest first line of a label, in characters.
const LONGEST: usize = 30;
/// Pixels that a tick needs: along, and up.
const TICK: (f64, f64) = (42.0, 30.0);
/// Height of a line of text.
const LINE: f64 = 16.0;
const TEXT: u32 = 12;
const SMALL: u32 = 11;
const RADIUS: f64 = 4.0;
/// Mean width of a character over the size of its font; wide fonts lie just below.
const CHARACTER: f64 = 0.62;
const FONT: &str = "system-ui, DejaVu Sans, Verdana, Liberation Sans, Arial, sans-serif";

/// Draws.
///
/// The result is a whole SVG file and can stand inside an HTML page as it is. Names are escaped in it.
pub(crate) fn svg(drawing: &Drawing) -> String {
    let legend = legend_rows(&drawing.legend);
    let mut y = 10.0 + legend.len() as f64 * LINE * 1.25;
    let heights: Vec<f64> = drawing.rows.iter().map(|row| row_height(row)).collect();
    let height = y + heights.iter().map(|height| height + GAP).sum::<f64>();

    let mut scene = Scene::new(WIDTH, height);
    scene.background_color = Some(PAPER.to_owned());
    scene.text_color = Some(INK.to_owned());
    scene.font_family = Some(FONT.to_owned());
    for (row, keys) in legend.iter().enumerate() {
        draw_legend(&mut scene, keys, 10.0 + (row as f64 + 0.5) * LINE * 1.25);
    }
    for (row, height) in drawing.rows.iter().zip(heights) {
        let width = (WIDTH - GAP * (row.len() as f64 - 1.0)) / row.len() as f64;
        let header = row.iter().map(header_height).fold(0.0, f64::max);
        for (column, panel) in row.iter().enumerate() {
            draw_panel(&mut scene, panel, column as f64 * (width + GAP), y, width, header);
        }
        y += height + GAP;
    }
    accessible(&SvgBackend::new().render_scene(&scene), &drawing.title, height)
}

/// kuva sizes its file in pixels; a page wants it to shrink with the window, and a screen reader a name.
fn accessible(svg: &str, title: &str, height: f64) -> String {
    let escaped: String = title
        .chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c => c.to_string(),
        })
        .collect();
    let named = format!("<svg role=\"img\" aria-label=\"{escaped}\" viewBox=\"0 0 {WIDTH} {height}\" ");
    svg.replacen("<svg ", &named, 1)
}

fn header_height(panel: &Panel) -> f64 {
    let lines = panel.notes.len() + usize::from(!panel.heading.is_empty());
    lines as f64 * LINE + 8.0
}

fn row_height(row: &[Panel]) -> f64 {
    let header = row.iter().map(header_height).fold(0.0, f64::max);
    let body = row.iter().map(|panel| f64::max(panel.height, labels_height(panel))).fold(0.0, f64::max);
    header + body + BELOW
}

/// What the labels of a panel need at least.
fn labels_height(panel: &Panel) -> f64 {
    panel.series.iter().map(label_height).sum()
}

fn label_height(series: &Series) -> f64 {
    if series.label.is_empty() { 0.0 } else { series.label.len() as f64 * LINE + 6.0 }
}

/// Room to the right of the axes.
fn margin(panel: &Panel) -> f64 {
    let widths = panel.series.iter().flat_map(|series| {
        series.label.iter().enumerate().map(|(at, label)| match at {
            // Bold is wider.
            0 => 1.25 * width_of(&shortened(label, LONGEST), TEXT),
            _ => width_of(label, SMALL),
        })
    });
    widths.fold(RIGHT, |margin, width| f64::max(margin, LEADER + 6.0 + width))
}

/// The axes of one panel on the page: data to pixels.
struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame<'_> {
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + self.x.position(x) * (self.right - self.left), self.height_of(y))
    }

    fn height_of(&self, y: f64) -> f64 {
        self.bottom - self.y.position(y) * (self.bottom - self.top)
    }
}

fn draw_panel(scene: &mut Scene, panel: &Panel, x: f64, y: f64, width: f64, header: f64) {
    let top = y + header;
    let frame = Frame {
        x: &panel.x,
        y: &panel.y,
        left: x + LEFT,
        right: x + width - margin(panel),
        top,
        bottom: top + f64::max(panel.height, labels_height(panel)),
    };
    // Above the axis' ticks, whose width the lines of the header may need.
    draw_header(scene, panel, frame.left - 30.0, y);
    draw_axes(scene, &frame);
    for guide in &panel.guides {
        let at = frame.height_of(guide.at);
        line(scene, (frame.left, at), (frame.right, at), MUTED, 1.0, Some("2 3"));
        let (x, anchor) = match guide.end {
            End::Left => (frame.left + 6.0, TextAnchor::Start),
            End::Right => (frame.right - 4.0, TextAnchor::End),
        };
        text(scene, (x, at + 13.0), &guide.text, SMALL, anchor, MUTED);
    }
    for series in &panel.series {
        draw_line(scene, &frame, series);
    }
    for (series, aside) in panel.series.iter().zip(asides(&panel.series)) {
        for point in &series.points {
            draw_point(scene, &frame, series, point, aside);
        }
    }
    draw_labels(scene, &frame, &panel.series);
}

fn draw_header(scene: &mut Scene, panel: &Panel, x: f64, y: f64) {
    let mut baseline = y + 12.0;
    if !panel.heading.is_empty() {
        bold(scene, (x, baseline), &panel.heading);
        baseline += LINE;
    }
    for (style, note) in &panel.notes {
        disc(scene, (x + 4.0, baseline - 4.0), 3.5, style.colour(), None);
        text(scene, (x + 13.0, baseline), note, SMALL, TextAnchor::Start, INK);
        baseline += LINE;
    }
}

fn draw_axes(scene: &mut Scene, frame: &Frame<'_>) {
    let Frame { left, right, top, bottom, .. } = *frame;
    // Of ticks too near to each other only the first is named.
    let mut free = f64::NEG_INFINITY;
    for (value, name) in frame.x.ticks(((right - left) / TICK.0) as usize) {
        let at = left + frame.x.position(value) * (right - left);
        let half = width_of(&name, SMALL) / 2.0;
        line(scene, (at, top), (at, bottom), GRID, 1.0, None);
        line(scene, (at, bottom), (at, bottom + 4.0), INK, 1.0, None);
        if at - half >= free {
            text(scene, (at, bottom + 17.0), &name, SMALL, TextAnchor::Middle, INK);
            free = at + half + 5.0;
        }
    }
    for (value, name) in frame.y.ticks(((bottom - top) / TICK.1) as usize) {
        let at = frame.height_of(value);
        line(scene, (left, at), (right, at), GRID, 1.0, None);
        line(scene, (left - 4.0, at), (left, at), INK, 1.0, None);
        text(scene, (left - 7.0, at + 4.0), &name, SMALL, TextAnchor::End, INK);
    }
    line(scene, (left, bottom), (right, bottom), INK, 1.0, None);
    line(scene, (left, top), (left, bottom), INK, 1.0, None);
    text(scene, ((left + right) / 2.0, bottom + 36.0), &frame.x.title, TEXT, TextAnchor::Middle, INK);
    scene.add(Primitive::Text {
        x: left - LEFT + 14.0,
        y: (top + bottom) / 2.0,
        content: literal(&frame.y.title),
        size: TEXT,
        anchor: TextAnchor::Middle,
        rotate: Some(-90.0),
        bold: false,
        color: Some(INK.into()),
    });
}

fn draw_line(scene: &mut Scene, frame: &Frame<'_>, series: &Series) {
    if series.path.len() < 2 {
        return;
    }
    scene.add(Primitive::PolyLine {
        points: series.path.iter().map(|&point| frame.at(point)).collect(),
        stroke: series.style.colour().into(),
        stroke_width: series.style.width(),
        stroke_dasharray: dashes(series.line).map(str::to_owned),
    });
}

/// The pattern of a line.
fn dashes(line: Line) -> Option<&'static str> {
    match line {
        Line::Solid => None,
        Line::Dashed => Some("7 4"),
    }
}

fn draw_point(scene: &mut Scene, frame: &Frame<'_>, series: &Series, point: &Point, aside: f64) {
    let colour = series.style.colour();
    let (x, y) = frame.at((point.x, point.y));
    let at = (x + aside, y);
    scene.add(Primitive::GroupStart {
        transform: None,
        title: Some(printable(&point.tip)),
        extra_attrs: None,
    });
    if let Some((low, high)) = point.bar {
        let (low, high) = (frame.height_of(low), frame.height_of(high));
        line(scene, (at.0, low), (at.0, high), colour, 1.3, None);
        for end in [low, high] {
            line(scene, (at.0 - 4.0, end), (at.0 + 4.0, end), colour, 1.3, None);
        }
    }
    draw_mark(scene, at, series.mark, colour, point.hollow);
    scene.add(Primitive::GroupEnd);
}

fn draw_mark(scene: &mut Scene, at: (f64, f64), mark: Mark, colour: &str, hollow: bool) {
    let (fill, edge) = if hollow { (PAPER, colour) } else { (colour, PAPER) };
    match mark {
        Mark::Disc => disc(scene, at, RADIUS, fill, Some(edge)),
        Mark::Diamond => {
            let (x, y, r) = (at.0, at.1, RADIUS * 1.25);
            scene.add(Primitive::Path(Box::new(PathData {
                d: format!(
                    "M{x:.2},{:.2} L{:.2},{y:.2} L{x:.2},{:.2} L{:.2},{y:.2} Z",
                    y - r,
                    x + r,
                    y + r,
                    x - r
                ),
                fill: Some(fill.into()),
                stroke: edge.into(),
                stroke_width: 1.3,
                opacity: None,
                stroke_dasharray: None,
            })));
        }
    }
}

/// The labels of series, beside the right end of each, joined to it by a thin line of its colour.
fn draw_labels(scene: &mut Scene, frame: &Frame<'_>, series: &[Series]) {
    let labelled: Vec<(&Series, (f64, f64))> = series
        .iter()
        .filter(|series| !series.label.is_empty())
        .filter_map(|series| Some((series, frame.at(right_end(series)?))))
        .collect();
    let wanted: Vec<(f64, f64)> =
        labelled.iter().map(|(series, end)| (end.1, label_height(series))).collect();
    let tops = spread(&wanted, frame.top - 6.0, frame.bottom + 6.0);
    let x = frame.right + LEADER;
    for ((series, end), top) in labelled.into_iter().zip(tops) {
        let middle = top + label_height(series) / 2.0;
        let colour = series.style.colour();
        line(scene, (end.0 + RADIUS + 3.0, end.1), (x - 8.0, middle), colour, 1.0, Some("1 2"));
        disc(scene, (x - 5.0, middle), 3.0, colour, None);
        for (at, label) in series.label.iter().enumerate() {
            let baseline = top + 3.0 + 12.0 + at as f64 * LINE;
            if at == 0 {
                bold(scene, (x + 2.0, baseline), &shortened(label, LONGEST));
            } else {
                text(scene, (x + 2.0, baseline), label, SMALL, TextAnchor::Start, MUTED);
            }
        }
    }
}

/// The rightmost point of a series.
fn right_end(series: &Series) -> Option<(f64, f64)> {
    let points = series.points.iter().map(|point| (point.x, point.y));
    points.chain(series.path.iter().copied()).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// A legend, broken into rows that fit.
fn legend_rows(keys: &[Key]) -> Vec<Vec<&Key>> {
    let mut rows: Vec<Vec<&Key>> = Vec::new();
    let mut used = f64::INFINITY;
    for key in keys {
        if used + key_width(key) > WIDTH - LEFT {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += key_width(key);
        if let Some(row) = rows.last_mut() {
            row.push(key);
        }
    }
    rows
}

fn key_width(key: &Key) -> f64 {
    30.0 + width_of(&shortened(&key.text, 60), TEXT) + 22.0
}

fn draw_legend(scene: &mut Scene, keys: &[&Key], y: f64) {
    let mut x = LEFT;
    for key in keys {
        let colour = key.style.colour();
        line(scene, (x, y), (x + 24.0, y), colour, 2.0, dashes(key.line));
        draw_mark(scene, (x + 12.0, y), key.mark, colour, false);
        text(scene, (x + 30.0, y + 4.0), &shortened(&key.text, 60), TEXT, TextAnchor::Start, INK);
        x += key_width(key);
    }
}

fn width_of(text: &str, size: u32) -> f64 {
    text.chars().count() as f64 * f64::from(size) * CHARACTER
}

/// kuva reads `$...$` as mathematics; a name that has dollars means dollars.
fn literal(text: &str) -> String {
    printable(text).replace('$', "\\$")
}

/// Text that XML can hold: it has no way to write most control characters.
fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}")
}

fn text(scene: &mut Scene, at: (f64, f64), content: &str, size: u32, anchor: TextAnchor, colour: &str) {
    if content.is_empty() {
        return;
    }
    scene.add(Primitive::Text {
        x: at.0,
        y: at.1,
        content: literal(content),
        size,
        anchor,
        rotate: None,
        bold: false,
        color: Some(colour.into()),
    });
}

fn bold(scene: &mut Scene, at: (f64, f64), content: &str) {
    scene.add(Primitive::Text {
        x: at.0,
        y: at.1,
        content: literal(content),
        size: TEXT,
        anchor: TextAnchor::Start,
        rotate: None,
        bold: true,
        color: Some(INK.into()),
    });
}

fn line(scene: &mut Scene, from: (f64, f64), to: (f64, f64), colour: &str, width: f64, dashes: Option<&str>) {
    scene.add(Primitive::Line {
        x1: from.0,
        y1: from.1,
        x2: to.0,
        y2: to.1,
        stroke: colour.into(),
        stroke_width: width,
        stroke_dasharray: dashes.map(str::to_owned),
    });
}

fn disc(scene: &mut Scene, at: (f64, f64), radius: f64, fill: &str, edge: Option<&str>) {
    scene.add(Primitive::Circle {
        cx: at.0,
        cy: at.1,
        r: radius,
        fill: fill.into(),
        fill_opacity: None,
        stroke: edge.map(Color::from),
        stroke_width: edge.map(|_| 1.3),
    });
}
