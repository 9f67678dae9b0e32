//! A drawing in pixels, for where an SVG cannot go: slides, word processors, chats.
//!
//! kuva's own rasteriser draws the same scene with a font that it carries (DejaVu Sans), so the
//! bytes are the same on every machine. Three things it cannot do are done for it.
//!
//! * It has one weight for plain text: bold text is handed to it as a run of bold text.
//! * It begins its dashes anew at every corner of a line, so that of a curve of short pieces
//!   nothing but the first dash is left: dashes are cut here.
//! * It turns text by way of a canvas on which every pixel that a letter merely touches becomes as
//!   dark as the letter, so that titles of vertical axes look doubled: these are drawn lying, in a
//!   picture of their own, which is turned here pixel by pixel.

use kuva::backend::raster::RasterBackend;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextSpan};

use super::draw::scene;
use super::{Drawing, FigureStyle};

/// Draws; the result is a whole PNG file on a white ground.
///
/// # Errors
/// What the rasteriser says, which a drawing of ours does not cause.
pub(crate) fn png(drawing: &Drawing, style: FigureStyle) -> Result<Vec<u8>, String> {
    let mut scene = scene(drawing, style);
    let (sideways, upright) = scene.elements.into_iter().partition(is_sideways);
    let upright: Vec<Primitive> = upright;
    scene.elements = upright.into_iter().flat_map(dashes_cut).map(bold_as_run).collect();
    let pixels = |scene: &Scene| RasterBackend { scale: style.pixels() }.render_scene(scene);
    let lying = lying(&scene, sideways);
    let upright = pixels(&scene)?;
    if lying.elements.is_empty() {
        return Ok(upright);
    }
    let mut picture = Picture::read(&upright)?;
    picture.darken(&Picture::read(&pixels(&lying)?)?.turned());
    picture.write()
}

/// Text that is read from below to above.
fn is_sideways(element: &Primitive) -> bool {
    matches!(element, Primitive::Text { rotate: Some(_), .. })
}

/// A scene that lies on its right side, with some text of it that was sideways.
fn lying(scene: &Scene, sideways: Vec<Primitive>) -> Scene {
    let mut lying = Scene::new(scene.height, scene.width);
    lying.background_color.clone_from(&scene.background_color);
    lying.text_color.clone_from(&scene.text_color);
    lying.elements = sideways
        .into_iter()
        .map(|element| match element {
            Primitive::Text { x, y, content, size, anchor, bold, color, .. } => {
                let (x, y) = (scene.height - y, x);
                bold_as_run(Primitive::Text {
                    x,
                    y,
                    content,
                    size,
                    anchor,
                    rotate: None,
                    bold,
                    color,
                })
            }
            other => other,
        })
        .collect();
    lying
}

/// Pixels of red, green, blue and opacity, row by row.
struct Picture {
    width: usize,
    pixels: Vec<[u8; 4]>,
}

impl Picture {
    fn read(file: &[u8]) -> Result<Self, String> {
        let told = |error: png::DecodingError| error.to_string();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().map_err(told)?;
        let mut bytes = vec![0; reader.output_buffer_size().ok_or("a picture without a size")?];
        let info = reader.next_frame(&mut bytes).map_err(told)?;
        let samples = info.color_type.samples();
        let pixels = bytes[..info.buffer_size()].chunks_exact(samples).map(|pixel| match *pixel {
            [red, green, blue] => [red, green, blue, u8::MAX],
            [red, green, blue, opacity] => [red, green, blue, opacity],
            [grey, ..] => [grey, grey, grey, u8::MAX],
            [] => [u8::MAX; 4],
        });
        Ok(Self { width: info.width as usize, pixels: pixels.collect() })
    }

    fn height(&self) -> usize {
        self.pixels.len() / self.width.max(1)
    }

    /// Set upright: what was its right side is its upper one.
    fn turned(&self) -> Self {
        let (width, height) = (self.height(), self.width);
        let pixels = (0..height).flat_map(|y| {
            (0..width).map(move |x| self.pixels[x * self.width + self.width - 1 - y])
        });
        Self { width, pixels: pixels.collect() }
    }

    /// Lays a picture of the same size with dark letters on white over this one.
    fn darken(&mut self, over: &Self) {
        for (pixel, over) in self.pixels.iter_mut().zip(&over.pixels) {
            for (one, over) in pixel.iter_mut().zip(over) {
                *one = (*one).min(*over);
            }
        }
    }

    fn write(&self) -> Result<Vec<u8>, String> {
        let mut file = Vec::new();
        let size = |length: usize| u32::try_from(length).map_err(|error| error.to_string());
        let mut encoder = png::Encoder::new(&mut file, size(self.width)?, size(self.height())?);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let told = |error: png::EncodingError| error.to_string();
        let mut writer = encoder.write_header().map_err(told)?;
        writer.write_image_data(self.pixels.as_flattened()).map_err(told)?;
        writer.finish().map_err(told)?;
        Ok(file)
    }
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
    use super::{Picture, cut};

    #[test]
    fn a_picture_that_lies_on_its_right_side_is_set_upright() {
        // Three columns and two rows: 1 2 3 above 4 5 6, whose right side is 3 6.
        let lying = Picture { width: 3, pixels: (1..=6).map(|at| [at; 4]).collect() };
        let turned = lying.turned();
        let numbers: Vec<u8> = turned.pixels.iter().map(|pixel| pixel[0]).collect();
        assert_eq!((turned.width, turned.height()), (2, 3));
        assert_eq!(numbers, [3, 6, 2, 5, 1, 4]);
    }

    #[test]
    fn a_picture_is_read_as_it_was_written_and_letters_darken_it() {
        let mut picture = Picture { width: 2, pixels: vec![[200, 100, 50, 255]; 4] };
        let letters =
            Picture { width: 2, pixels: vec![[255; 4], [31, 31, 31, 255], [255; 4], [255; 4]] };
        picture.darken(&letters);
        let again = Picture::read(&picture.write().unwrap()).unwrap();
        assert_eq!((again.width, &again.pixels), (2, &picture.pixels));
        assert_eq!(again.pixels[1], [31, 31, 31, 255]);
        assert_eq!(again.pixels[0], [200, 100, 50, 255]);
    }

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
