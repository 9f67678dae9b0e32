//! A drawing in pixels, for where an SVG cannot go: slides, word processors, chats.
//!
//! kuva's own rasteriser draws the same scene with a font that it carries (DejaVu Sans), so the bytes are the same on
//! every machine. It has one weight for plain text: bold text is handed to it as a run of bold text.

use kuva::backend::raster::RasterBackend;
use kuva::render::render::{Primitive, TextSpan};

use super::draw::scene;
use super::{Drawing, FigureStyle};

/// Draws; the result is a whole PNG file on a white ground.
///
/// # Errors
/// What the rasteriser says, which a drawing of ours does not cause.
pub(crate) fn png(drawing: &Drawing, style: FigureStyle) -> Result<Vec<u8>, String> {
    let mut scene = scene(drawing, style);
    scene.elements = scene.elements.into_iter().map(bold_as_run).collect();
    RasterBackend { scale: style.pixels() }.render_scene(&scene)
}

fn bold_as_run(element: Primitive) -> Primitive {
    match element {
        Primitive::Text { x, y, content, size, anchor, rotate: None, bold: true, color } => {
            // A run is taken as it is: no mathematics, so no dollar to escape.
            let text = content.replace("\\$", "$");
            let span =
                TextSpan { text, bold: true, italic: false, underline: false, code: false, math: false };
            Primitive::RichText { x, y, spans: vec![span], size, anchor, color }
        }
        other => other,
    }
}
