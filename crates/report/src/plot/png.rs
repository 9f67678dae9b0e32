//! A drawing in pixels, for where an SVG cannot go: slides, word processors, chats.
//!
//! kuva's own rasteriser draws the same scene with a font that it carries (DejaVu Sans), so the
//! bytes are the same on every machine. It has one weight for plain text: bold text is handed to it
//! as a run of bold text. And it begins its dashes anew at every corner of a line, so that of a
//! curve of short pieces nothing but the first dash is left: dashes are cut here.

use kuva::backend::raster::RasterBackend;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, TextSpan};

use super::draw::scene;
use super::{Drawing, FigureStyle};

/// Draws; the result is a whole PNG file on a white ground.
///
/// # Errors
/// What the rasteriser says, which a drawing of ours does not cause.
pub(crate) fn png(drawing: &Drawing, style: FigureStyle) -> Result<Vec<u8>, String> {
    let mut scene = scene(drawing, style);
    scene.elements = scene.elements.into_iter().flat_map(dashes_cut).map(bold_as_run).collect();
    RasterBackend { scale: style.pixels() }.render_scene(&scene)
}

fn bold_as_run(element: Primitive) -> Primitive {
    match element {
        Primitive::Text { x, y, content, size, anchor, rotate: None, bold: true, color } => {
            // A run is taken as it is: no mathematics, so no dollar to escape.
            let text = content.replace("\\$", "$");
            let span = TextSpan {
                text,
                bold: true,
                italic: false,
                underline: false,
                code: false,
                math: false,
            };
            Primitive::RichText { x, y, spans: vec![span], size, anchor, color }
        }
        other => other,
    }
}

/// A dashed line as its dashes; anything else as it is.
fn dashes_cut(element: Primitive) -> Vec<Primitive> {
    match element {
        Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray: Some(pattern) } => {
            let pattern: Vec<f64> =
                pattern.split(' ').filter_map(|length| length.parse().ok()).collect();
            cut(&points, &pattern)
                .into_iter()
                .map(|dash| solid(dash, &stroke, stroke_width))
                .collect()
        }
        other => vec![other],
    }
}

fn solid(points: Vec<(f64, f64)>, stroke: &Color, stroke_width: f64) -> Primitive {
    Primitive::PolyLine { points, stroke: stroke.clone(), stroke_width, stroke_dasharray: None }
}

/// The pieces of a line that a pattern of dashes and gaps, one after the other, leaves; the whole
/// line without a pattern.
fn cut(points: &[(f64, f64)], pattern: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let whole = pattern.iter().sum::<f64>();
    if pattern.len() < 2
        || whole.is_nan()
        || whole <= 0.0
        || pattern.iter().any(|length| *length <= 0.0)
    {
        return vec![points.to_vec()];
    }
    let mut dashes: Vec<Vec<(f64, f64)>> =
        points.first().map(|&first| vec![first]).into_iter().collect();
    // Which length of the pattern is drawn, and how much of it is left; even ones are dashes.
    let (mut at, mut left) = (0, pattern[0]);
    for pair in points.windows(2) {
        let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
        let length = (to_x - x).hypot(to_y - y);
        let on = |along: f64| (x + (to_x - x) * along / length, y + (to_y - y) * along / length);
        let mut along = 0.0;
        while length - along > left {
            along += left;
            let here = on(along);
            match (at % 2, dashes.last_mut()) {
                (0, Some(dash)) => dash.push(here),
                _ => dashes.push(vec![here]),
            }
            at = (at + 1) % pattern.len();
            left = pattern[at];
        }
        left -= length - along;
        if let (0, Some(dash)) = (at % 2, dashes.last_mut()) {
            dash.push((to_x, to_y));
        }
    }
    dashes.retain(|dash| dash.len() > 1);
    dashes
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn dashes_go_around_corners() {
        // Six units to the right, then six down, in dashes of four and gaps of one.
        let line = [(0.0, 0.0), (3.0, 0.0), (6.0, 0.0), (6.0, 6.0)];
        assert_eq!(
            cut(&line, &[4.0, 1.0]),
            [
                vec![(0.0, 0.0), (3.0, 0.0), (4.0, 0.0)],
                vec![(5.0, 0.0), (6.0, 0.0), (6.0, 3.0)],
                vec![(6.0, 4.0), (6.0, 6.0)],
            ]
        );
        assert_eq!(cut(&line, &[]), [line.to_vec()]);
        assert_eq!(cut(&line, &[0.0, 0.0]), [line.to_vec()]);
        assert!(cut(&[], &[4.0, 1.0]).is_empty());
        // Pieces much shorter than a dash are what the rasteriser leaves none of.
        let fine: Vec<(f64, f64)> = (0..=100).map(|at| (f64::from(at) / 10.0, 0.0)).collect();
        let ends: Vec<(f64, f64)> = cut(&fine, &[2.0, 3.0])
            .iter()
            .map(|dash| (dash[0].0, dash[dash.len() - 1].0))
            .collect();
        for (found, wanted) in ends.iter().zip([(0.0, 2.0), (5.0, 7.0)]) {
            assert!(
                (found.0 - wanted.0).abs() < 1e-9 && (found.1 - wanted.1).abs() < 1e-9,
                "{ends:?}"
            );
        }
    }
}
