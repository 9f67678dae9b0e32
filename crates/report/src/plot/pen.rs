//! The strokes that everything is made of, in pixels: text, lines, discs, areas.

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

use super::colour::INK;

/// Height of a line of text.
pub(super) const LINE: f64 = 16.0;
/// Sizes of fonts.
pub(super) const TEXT: u32 = 12;
pub(super) const SMALL: u32 = 11;
/// Half the length of the crossbars of an error bar.
const CROSSBAR: f64 = 4.0;
/// Mean width of a character over the size of its font; wide fonts lie just below.
const CHARACTER: f64 = 0.62;

/// About how wide a text is.
pub(super) fn width_of(text: &str, size: u32) -> f64 {
    text.chars().count() as f64 * f64::from(size) * CHARACTER
}

/// kuva reads `$...$` as mathematics; a name that has dollars means dollars.
fn literal(text: &str) -> String {
    printable(text).replace('$', "\\$")
}

/// Text that XML can hold: it has no way to write most control characters.
pub(super) fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}")
}

pub(super) fn text(
    scene: &mut Scene,
    at: (f64, f64),
    content: &str,
    size: u32,
    anchor: TextAnchor,
    colour: &str,
) {
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

pub(super) fn bold(scene: &mut Scene, at: (f64, f64), content: &str) {
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

pub(super) fn line(
    scene: &mut Scene,
    from: (f64, f64),
    to: (f64, f64),
    colour: &str,
    width: f64,
    dashes: Option<&str>,
) {
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

pub(super) fn disc(scene: &mut Scene, at: (f64, f64), radius: f64, fill: &str, edge: Option<&str>) {
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

/// A closed shape without an edge.
pub(super) fn area(
    scene: &mut Scene,
    corners: impl IntoIterator<Item = (f64, f64)>,
    fill: &str,
    opacity: f64,
) {
    scene.add(Primitive::Path(Box::new(PathData {
        d: outline(corners),
        fill: Some(fill.into()),
        stroke: "none".into(),
        stroke_width: 0.0,
        opacity: Some(opacity),
        stroke_dasharray: None,
    })));
}

/// A closed shape with an edge.
pub(super) fn shape(
    scene: &mut Scene,
    corners: impl IntoIterator<Item = (f64, f64)>,
    fill: &str,
    edge: &str,
) {
    scene.add(Primitive::Path(Box::new(PathData {
        d: outline(corners),
        fill: Some(fill.into()),
        stroke: edge.into(),
        stroke_width: 1.3,
        opacity: None,
        stroke_dasharray: None,
    })));
}

/// A line with a crossbar at either end, in one piece: a page has thousands.
pub(super) fn error_bar(scene: &mut Scene, [from, to]: [(f64, f64); 2], colour: &str) {
    // Crossbars are at right angles to the line.
    let (along, up) = if from.0 == to.0 { (CROSSBAR, 0.0) } else { (0.0, CROSSBAR) };
    let mut path = format!("M{:.1},{:.1}L{:.1},{:.1}", from.0, from.1, to.0, to.1);
    for (x, y) in [from, to] {
        path.push_str(&format!(
            "M{:.1},{:.1}l{:.1},{:.1}",
            x - along,
            y - up,
            2.0 * along,
            2.0 * up
        ));
    }
    scene.add(Primitive::Path(Box::new(PathData {
        d: path,
        fill: None,
        stroke: colour.into(),
        stroke_width: 1.3,
        opacity: None,
        stroke_dasharray: None,
    })));
}

/// A closed polygon as the text of an SVG path.
fn outline(corners: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in corners {
        path.push_str(if path.is_empty() { "M" } else { " L" });
        path.push_str(&format!("{x:.1},{y:.1}"));
    }
    path + " Z"
}

/// Text that is read from below to above, centred at a point.
pub(super) fn sideways(scene: &mut Scene, at: (f64, f64), content: &str) {
    scene.add(Primitive::Text {
        x: at.0,
        y: at.1,
        content: literal(content),
        size: TEXT,
        anchor: TextAnchor::Middle,
        rotate: Some(-90.0),
        bold: false,
        color: Some(INK.into()),
    });
}

/// Text as the value of an attribute.
pub(super) fn escaped(text: &str) -> String {
    printable(text)
        .chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
