//! A drawing to SVG: where the panels, their axes and all text around them stand.

use kuva::backend::svg::SvgBackend;
use kuva::render::render::{Scene, TextAnchor};

use super::axes::Axes;
use super::colour::{GRID, INK, MUTED, PAPER};
use super::grid::{
    GAP, Grid, LEADER, LEFT, LONGEST, Row, Title, header, label_height, labels_above,
};
use super::label::spread;
use super::lean;
use super::marks::{self, RADIUS, dashes, draw_mark};
use super::pen::{self, LINE, SMALL, TEXT, bold, line, text, width_of};
use super::{Drawing, FigureStyle, Key, Look, Panel, Sample, Series};
use crate::format::shortened;

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
    let svg = lean::rounded(&SvgBackend::new().render_scene(&scene));
    accessible(&svg, &drawing.title, scene.height, style)
}

/// Everything that is drawn, in the units of the canvas.
pub(super) fn scene(drawing: &Drawing, style: FigureStyle) -> Scene {
    let legend = legend_rows(&drawing.legend, style.width());
    let grid = Grid::new(drawing, style);
    let mut y = 10.0 + legend.len() as f64 * LINE * 1.25;
    let height = y + grid.height();

    let mut scene = Scene::new(style.width(), height);
    scene.background_color = Some(PAPER.to_owned());
    scene.text_color = Some(INK.to_owned());
    scene.font_family = Some(FONT.to_owned());
    for (row, keys) in legend.iter().enumerate() {
        draw_legend(&mut scene, keys, 10.0 + (row as f64 + 0.5) * LINE * 1.25);
    }
    let mut whole: Option<Extent> = None;
    for row in &grid.rows {
        let of_row = draw_row(&mut scene, row, y, grid.y.is_none());
        whole = Extent::both(whole, of_row);
        y += row.height() + GAP;
    }
    if let Some(whole) = whole {
        whole.title_below(&mut scene, grid.x.unwrap_or_default());
        whole.title_beside(&mut scene, grid.y.unwrap_or_default());
    }
    scene
}

/// The rectangle that the axes of some panels fill.
#[derive(Clone, Copy)]
struct Extent {
    across: (f64, f64),
    up: (f64, f64),
}

impl Extent {
    fn of(axes: &Axes<'_>) -> Self {
        Self { across: (axes.left, axes.right), up: (axes.top, axes.bottom) }
    }

    fn both(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
        let both = |a: (f64, f64), b: (f64, f64)| (f64::min(a.0, b.0), f64::max(a.1, b.1));
        Some(Self { across: both(one.across, other.across), up: both(one.up, other.up) })
    }

    /// The title of the x axis, below the ticks.
    fn title_below(self, scene: &mut Scene, title: &str) {
        let at = ((self.across.0 + self.across.1) / 2.0, self.up.1 + 36.0);
        text(scene, at, title, TEXT, TextAnchor::Middle, INK);
    }

    /// The title of the y axis, left of the ticks of the leftmost panel.
    fn title_beside(self, scene: &mut Scene, title: &str) {
        let at = (self.across.0 - LEFT + 14.0, (self.up.0 + self.up.1) / 2.0);
        pen::sideways(scene, at, title);
    }
}

/// A row that begins at a height; where its axes stand. Whether it says the title of its y axes
/// where all of them share it.
fn draw_row(scene: &mut Scene, row: &Row<'_>, y: f64, titled: bool) -> Option<Extent> {
    let mut whole = None;
    for (column, panel) in row.panels.iter().enumerate() {
        let axes = row.axes(column, y);
        // Above the axis' ticks, whose width the lines of the header may need.
        let corner = (row.start(column) + row.ticks() - 30.0, y);
        draw_panel(scene, panel, &axes, corner, row);
        let extent = Extent::of(&axes);
        if row.x == Title::Own {
            extent.title_below(scene, &panel.x.title);
        }
        if row.y == Title::Own {
            extent.title_beside(scene, &panel.y.title);
        }
        whole = Extent::both(whole, Some(extent));
    }
    if let (Some(whole), Title::Shared(title)) = (whole, row.x) {
        whole.title_below(scene, title);
    }
    if let (Some(whole), Title::Shared(title), true) = (whole, row.y, titled) {
        whole.title_beside(scene, title);
    }
    whole
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

/// A panel with its axes, its header beginning in a corner.
fn draw_panel(
    scene: &mut Scene,
    panel: &Panel,
    axes: &Axes<'_>,
    corner: (f64, f64),
    row: &Row<'_>,
) {
    draw_header(scene, panel, corner, row.width);
    for shade in &panel.shades {
        marks::draw_shade(scene, axes, shade);
    }
    draw_axes(scene, axes);
    for shade in &panel.shades {
        marks::name_shade(scene, axes, shade);
    }
    marks::draw(scene, axes, panel);
    if !labels_above(panel, row.width) {
        draw_labels(scene, axes, &panel.series);
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
