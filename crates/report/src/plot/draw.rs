//! A drawing to SVG: where the panels, their axes and all text around them stand.

use kuva::backend::svg::SvgBackend;
use kuva::render::render::{Scene, TextAnchor};

use super::axes::Axes;
use super::colour::{GRID, INK, MUTED, PAPER};
use super::label::spread;
use super::marks::{self, RADIUS, dashes, draw_mark};
use super::pen::{self, LINE, SMALL, TEXT, bold, line, text, width_of};
use super::{Drawing, FigureStyle, Key, Look, Mark, Panel, Sample, Series, Style};
use crate::format::shortened;

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
/// The axes' least share of a panel: where labels beside them would leave less, they stand above.
const AXES: f64 = 0.5;
/// The narrowest panel; where there is no room for all of a row, they stand above each other.
const NARROWEST: f64 = 250.0;
/// The lowest axes that a style makes.
const LOWEST: f64 = 130.0;
/// Longest first line of a label, in characters.
const LONGEST: usize = 30;
/// Longest text of a legend, in characters.
const LONGEST_KEY: usize = 60;
/// Pixels that a tick needs: along, and up.
const TICK: (f64, f64) = (42.0, 30.0);
const FONT: &str = "system-ui, DejaVu Sans, Verdana, Liberation Sans, Arial, sans-serif";

/// Draws.
///
/// The result is a whole SVG file and can stand inside an HTML page as it is. Names are escaped in
/// it.
pub(crate) fn svg(drawing: &Drawing, style: FigureStyle) -> String {
    let scene = scene(drawing, style);
    accessible(&SvgBackend::new().render_scene(&scene), &drawing.title, scene.height, style)
}

/// Everything that is drawn, in the units of the canvas.
pub(super) fn scene(drawing: &Drawing, style: FigureStyle) -> Scene {
    let legend = legend_rows(&drawing.legend, style.width());
    let rows = rows(drawing, style);
    let mut y = 10.0 + legend.len() as f64 * LINE * 1.25;
    let height = y + rows.iter().map(|row| row.height(style) + GAP).sum::<f64>();

    let mut scene = Scene::new(style.width(), height);
    scene.background_color = Some(PAPER.to_owned());
    scene.text_color = Some(INK.to_owned());
    scene.font_family = Some(FONT.to_owned());
    for (row, keys) in legend.iter().enumerate() {
        draw_legend(&mut scene, keys, 10.0 + (row as f64 + 0.5) * LINE * 1.25);
    }
    for row in rows {
        for (column, panel) in row.panels.iter().enumerate() {
            draw_panel(&mut scene, panel, column as f64 * (row.width + GAP), y, &row, style);
        }
        y += row.height(style) + GAP;
    }
    scene
}

/// kuva sizes its file in pixels; a page wants it to shrink with the window, paper wants inches, a
/// screen reader a name.
fn accessible(svg: &str, title: &str, height: f64, style: FigureStyle) -> String {
    let width = style.width();
    let (scale, unit) = style.unit();
    let rest = svg.split_once(" font-family=").map_or(svg, |(_, rest)| rest);
    format!(
        "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
         width=\"{}{unit}\" height=\"{}{unit}\" font-family={rest}",
        pen::escaped(title),
        rounded(width * scale),
        rounded(height * scale),
    )
}

fn rounded(length: f64) -> f64 {
    (length * 1e3).round() / 1e3
}

/// Panels beside each other.
struct PanelRow<'a> {
    panels: &'a [Panel],
    width: f64,
}

/// The rows of a drawing, broken where its panels would be too narrow.
fn rows(drawing: &Drawing, style: FigureStyle) -> Vec<PanelRow<'_>> {
    let most = (((style.width() + GAP) / (NARROWEST + GAP)) as usize).max(1);
    let broken = drawing.rows.iter().flat_map(|row| {
        let rows = row.len().div_ceil(most).max(1);
        row.chunks(row.len().div_ceil(rows).max(1))
    });
    broken
        .map(|panels| {
            let gaps = GAP * (panels.len() as f64 - 1.0);
            PanelRow { panels, width: (style.width() - gaps) / panels.len() as f64 }
        })
        .collect()
}

impl PanelRow<'_> {
    fn header(&self) -> f64 {
        self.panels.iter().map(|panel| header_height(panel, self.width)).fold(0.0, f64::max)
    }

    fn height(&self, style: FigureStyle) -> f64 {
        let body = self
            .panels
            .iter()
            .map(|panel| axes_height(panel, self.width, style))
            .fold(0.0, f64::max);
        self.header() + body + BELOW
    }
}

fn axes_height(panel: &Panel, width: f64, style: FigureStyle) -> f64 {
    // Never so low that the title of the axis does not fit beside it.
    let height = f64::max(panel.height * style.shrunk(), f64::min(panel.height, LOWEST));
    if labels_above(panel, width) { height } else { f64::max(height, labels_height(panel)) }
}

fn header_height(panel: &Panel, width: f64) -> f64 {
    let lines = header(panel, width).len() + usize::from(!panel.heading.is_empty());
    lines as f64 * LINE + 8.0
}

/// What the labels of a panel need at least.
fn labels_height(panel: &Panel) -> f64 {
    panel.series.iter().map(label_height).sum()
}

fn label_height(series: &Series) -> f64 {
    if series.label.is_empty() { 0.0 } else { series.label.len() as f64 * LINE + 6.0 }
}

/// Room to the left of the axes: for the names of rows, where the axis has any.
fn left(panel: &Panel) -> f64 {
    let names = panel.y.names().iter().map(|name| width_of(name, SMALL) + 16.0);
    names.fold(LEFT, f64::max)
}

/// Room to the right of the axes for labels beside them.
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

/// Whether labels beside the axes would take too much of the width.
fn labels_above(panel: &Panel, width: f64) -> bool {
    let beside = margin(panel);
    beside > RIGHT && width - left(panel) - beside < AXES * width
}

/// A line between heading and axes.
struct Note {
    style: Style,
    /// The mark before it.
    mark: Option<Mark>,
    text: String,
}

/// The lines between heading and axes: the panel's notes, and the labels that have no room beside
/// the axes.
fn header(panel: &Panel, width: f64) -> Vec<Note> {
    let note = |(style, text): &(Style, String)| {
        let mark = (*style != Style::NEUTRAL).then(|| style.mark());
        Note { style: *style, mark, text: text.clone() }
    };
    let mut lines: Vec<Note> = panel.notes.iter().map(note).collect();
    if labels_above(panel, width) {
        let labelled = panel.series.iter().filter(|series| !series.label.is_empty());
        lines.extend(labelled.flat_map(|series| {
            let note = |mark, text| Note { style: series.style, mark, text };
            let whole = series.label.join(", ");
            match series.label.as_slice() {
                [name, rest @ ..] if !rest.is_empty() && 30.0 + width_of(&whole, SMALL) > width => {
                    vec![
                        note(Some(series.mark), shortened(name, LONGEST)),
                        note(None, rest.join(", ")),
                    ]
                }
                _ => vec![note(Some(series.mark), whole)],
            }
        }));
    }
    lines
}

fn draw_panel(
    scene: &mut Scene,
    panel: &Panel,
    x: f64,
    y: f64,
    row: &PanelRow<'_>,
    style: FigureStyle,
) {
    let top = y + row.header();
    let above = labels_above(panel, row.width);
    let axes = Axes {
        x: &panel.x,
        y: &panel.y,
        left: x + left(panel),
        right: x + row.width - if above { RIGHT } else { margin(panel) },
        top,
        bottom: top + axes_height(panel, row.width, style),
    };
    // Above the axis' ticks, whose width the lines of the header may need.
    draw_header(scene, panel, (x + LEFT - 30.0, y), row.width);
    for shade in &panel.shades {
        marks::draw_shade(scene, &axes, shade);
    }
    draw_axes(scene, &axes);
    for shade in &panel.shades {
        marks::name_shade(scene, &axes, shade);
    }
    marks::draw(scene, &axes, panel);
    if !above {
        draw_labels(scene, &axes, &panel.series);
    }
}

fn draw_header(scene: &mut Scene, panel: &Panel, (x, y): (f64, f64), width: f64) {
    let mut baseline = y + 12.0;
    if !panel.heading.is_empty() {
        bold(scene, (x, baseline), &panel.heading);
        baseline += LINE;
    }
    for note in header(panel, width) {
        let colour = note.style.colour();
        let mut start = x;
        if let Some(mark) = note.mark {
            draw_mark(scene, (x + 4.0, baseline - 4.0), mark, colour, Look::Filled);
            start += 13.0;
        }
        text(scene, (start, baseline), &note.text, SMALL, TextAnchor::Start, INK);
        baseline += LINE;
    }
}

fn draw_axes(scene: &mut Scene, axes: &Axes<'_>) {
    let Axes { left, right, top, bottom, .. } = *axes;
    // Of ticks too near to each other only the first is named.
    let mut free = f64::NEG_INFINITY;
    for (value, name) in axes.x.ticks(((right - left) / TICK.0) as usize) {
        let at = axes.across(value);
        let half = width_of(&name, SMALL) / 2.0;
        line(scene, (at, top), (at, bottom), GRID, 1.0, None);
        line(scene, (at, bottom), (at, bottom + 4.0), INK, 1.0, None);
        if at - half >= free {
            text(scene, (at, bottom + 17.0), &name, SMALL, TextAnchor::Middle, INK);
            free = at + half + 5.0;
        }
    }
    for (value, name) in axes.y.ticks(((bottom - top) / TICK.1) as usize) {
        let at = axes.height_of(value);
        line(scene, (left, at), (right, at), GRID, 1.0, None);
        line(scene, (left - 4.0, at), (left, at), INK, 1.0, None);
        text(scene, (left - 7.0, at + 4.0), &name, SMALL, TextAnchor::End, INK);
    }
    for value in axes.x.minor_ticks() {
        let at = axes.across(value);
        line(scene, (at, bottom), (at, bottom + 2.5), INK, 0.7, None);
    }
    for value in axes.y.minor_ticks() {
        let at = axes.height_of(value);
        line(scene, (left - 2.5, at), (left, at), INK, 0.7, None);
    }
    line(scene, (left, bottom), (right, bottom), INK, 1.0, None);
    line(scene, (left, top), (left, bottom), INK, 1.0, None);
    text(
        scene,
        ((left + right) / 2.0, bottom + 36.0),
        &axes.x.title,
        TEXT,
        TextAnchor::Middle,
        INK,
    );
    pen::sideways(scene, (left - LEFT + 14.0, (top + bottom) / 2.0), &axes.y.title);
}

/// The labels of series, beside the right end of each, joined to it by a thin line of its colour.
fn draw_labels(scene: &mut Scene, axes: &Axes<'_>, series: &[Series]) {
    let labelled: Vec<(&Series, (f64, f64))> = series
        .iter()
        .filter(|series| !series.label.is_empty())
        .filter_map(|series| Some((series, axes.at(right_end(series)?))))
        .collect();
    let wanted: Vec<(f64, f64)> =
        labelled.iter().map(|(series, end)| (end.1, label_height(series))).collect();
    let tops = spread(&wanted, axes.top - 6.0, axes.bottom + 6.0);
    let x = axes.right + LEADER;
    for ((series, end), top) in labelled.into_iter().zip(tops) {
        let middle = top + label_height(series) / 2.0;
        let colour = series.style.colour();
        marks::group(scene, series, |scene| {
            line(
                scene,
                (end.0 + RADIUS + 3.0, end.1),
                (x - 10.0, middle),
                colour,
                1.0,
                Some("1 2"),
            );
            draw_mark(scene, (x - 5.0, middle), series.mark, colour, Look::Filled);
            for (at, label) in series.label.iter().enumerate() {
                let baseline = top + 3.0 + 12.0 + at as f64 * LINE;
                if at == 0 {
                    bold(scene, (x + 2.0, baseline), &shortened(label, LONGEST));
                } else {
                    text(scene, (x + 2.0, baseline), label, SMALL, TextAnchor::Start, MUTED);
                }
            }
        });
    }
}

/// The rightmost point of a series.
fn right_end(series: &Series) -> Option<(f64, f64)> {
    let points = series.points.iter().map(|point| (point.x, point.y));
    let line = series.path.iter().chain(&series.beyond).copied();
    points.chain(line).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// A legend, broken into rows that fit.
fn legend_rows(keys: &[Key], width: f64) -> Vec<Vec<&Key>> {
    let mut rows: Vec<Vec<&Key>> = Vec::new();
    let mut used = f64::INFINITY;
    for key in keys {
        if used + key_width(key) > width - LEFT / 2.0 {
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
    30.0 + width_of(&shortened(&key.text, LONGEST_KEY), TEXT) + 22.0
}

fn draw_legend(scene: &mut Scene, keys: &[&Key], y: f64) {
    let mut x = LEFT / 2.0;
    for key in keys {
        let colour = key.style.colour();
        match key.sample {
            Sample::Series(stroke, mark) => {
                line(scene, (x, y), (x + 24.0, y), colour, 2.0, dashes(stroke));
                draw_mark(scene, (x + 12.0, y), mark, colour, Look::Filled);
            }
            Sample::Line(stroke) => line(scene, (x, y), (x + 24.0, y), colour, 2.0, dashes(stroke)),
            Sample::Mark(mark, look) => draw_mark(scene, (x + 12.0, y), mark, colour, look),
            Sample::Band => marks::draw_swatch(scene, (x, y), colour),
        }
        text(
            scene,
            (x + 30.0, y + 4.0),
            &shortened(&key.text, LONGEST_KEY),
            TEXT,
            TextAnchor::Start,
            INK,
        );
        x += key_width(key);
    }
}
