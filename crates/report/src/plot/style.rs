//! How large a figure is beside its text.

use std::fmt;
use std::str::FromStr;

/// For where a figure is made: the same numbers, another size beside the text.
///
/// Text keeps its size on the canvas, 12 units; a style sets how wide the canvas is in these units
/// and how large it is on paper or screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FigureStyle {
    /// One column of a paper: 3.35 inches wide, text of 8 points. Panels stand above each other.
    Column,
    /// Both columns of a paper: 7 inches wide, text of 8 points.
    TwoColumn,
    /// The page of a report: 900 pixels wide.
    #[default]
    Page,
    /// A slide: 1280 pixels wide, large text.
    Talk,
}

impl FigureStyle {
    /// All styles, by width of the canvas.
    pub const ALL: [Self; 4] = [Self::Column, Self::Talk, Self::TwoColumn, Self::Page];

    /// Its name, as it is given on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Column => "column",
            Self::TwoColumn => "two-column",
            Self::Page => "page",
            Self::Talk => "talk",
        }
    }

    /// Width of the canvas in its units.
    pub(super) fn width(self) -> f64 {
        match self {
            // 3.35 in = 241 pt; text of 12 units is then 8 pt.
            Self::Column => 362.0,
            // 7 in = 504 pt likewise.
            Self::TwoColumn => 756.0,
            Self::Page => 900.0,
            Self::Talk => 640.0,
        }
    }

    /// Height of axes, by what they have on a page.
    pub(super) fn shrunk(self) -> f64 {
        match self {
            Self::Column => 0.62,
            Self::TwoColumn => 0.75,
            Self::Page => 1.0,
            Self::Talk => 0.75,
        }
    }

    /// Pixels of a PNG a unit of the canvas: 600 a printed inch, twice a page's, full high
    /// definition across a slide.
    pub(super) fn pixels(self) -> f32 {
        match self {
            Self::Column => 3.35 * 600.0 / 362.0,
            Self::TwoColumn => 7.0 * 600.0 / 756.0,
            Self::Page => 2.0,
            Self::Talk => 3.0,
        }
    }

    /// Length of one unit of the canvas, and what it is counted in.
    pub(super) fn unit(self) -> (f64, &'static str) {
        match self {
            Self::Column => (3.35 / 362.0, "in"),
            Self::TwoColumn => (7.0 / 756.0, "in"),
            Self::Page => (1.0, ""),
            Self::Talk => (2.0, ""),
        }
    }
}

impl fmt::Display for FigureStyle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for FigureStyle {
    type Err = UnknownStyle;

    fn from_str(name: &str) -> Result<Self, UnknownStyle> {
        Self::ALL
            .into_iter()
            .find(|style| style.name() == name)
            .ok_or_else(|| UnknownStyle(name.to_owned()))
    }
}

/// No style has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no style {0:?} of figures; there are: column and two-column (of a paper), page, talk (slides)"
)]
pub struct UnknownStyle(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_known_by_its_name() {
        for style in FigureStyle::ALL {
            assert_eq!(style.to_string().parse(), Ok(style));
        }
        let error = "poster".parse::<FigureStyle>().unwrap_err().to_string();
        assert!(error.contains("poster") && error.contains("column"), "{error}");
    }
}
