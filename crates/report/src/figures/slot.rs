//! What a figure is, and the places for figures on the page: filled, or empty with the reason.

use relscale_records::study::safe_name;

use crate::frame::Frame;
use crate::plot::Drawing;

/// A table, and how its rows are drawn.
pub(crate) struct Figure<'a> {
    /// What it shows, in a line.
    pub(crate) title: String,
    /// What is seen, and how to read it.
    pub(crate) caption: String,
    /// The numbers that are drawn.
    pub(crate) numbers: Frame,
    encoding: Box<dyn Fn(&Frame) -> Drawing + 'a>,
}

/// A figure, or what it lacks and how to come by it, in words without a full stop.
pub(crate) type Made<'a> = Result<Figure<'a>, String>;

impl<'a> Figure<'a> {
    /// Numbers with what their rows look like.
    pub(crate) fn new(
        title: impl Into<String>,
        caption: String,
        numbers: Frame,
        encoding: impl Fn(&Frame) -> Drawing + 'a,
    ) -> Self {
        Self { title: title.into(), caption, numbers, encoding: Box::new(encoding) }
    }

    /// The drawing of its numbers.
    pub(crate) fn drawing(&self) -> Drawing {
        debug_assert!(
            (self.encoding)(&self.numbers.emptied()).is_bare(),
            "{} draws what its table lacks",
            self.title
        );
        Drawing { title: self.title.clone(), ..(self.encoding)(&self.numbers) }
    }
}

/// A figure before it is known whether there are data for it.
pub(crate) struct Kind<F> {
    /// Start of the names of its files.
    pub(crate) name: &'static str,
    /// What it shows, in a line.
    pub(crate) title: &'static str,
    /// Makes it of a result.
    pub(crate) make: F,
}

impl<F> Kind<F> {
    /// Its place, with what came of making it.
    pub(crate) fn slot<'a>(&self, made: Made<'a>) -> Slot<'a> {
        let left_out = |reason| LeftOut { title: self.title.to_owned(), reason };
        Slot { name: self.name, figure: made.map_err(left_out) }
    }
}

/// One place of a section.
pub(crate) struct Slot<'a> {
    /// Start of the names that the figure's files have, or would have.
    pub(crate) name: &'static str,
    pub(crate) figure: Result<Figure<'a>, LeftOut>,
}

/// A figure that lacks its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// What it would show, in a line.
    pub(crate) title: String,
    /// What it lacks and how to come by it, in words without a full stop.
    pub(crate) reason: String,
}

/// Figures that stand together on the page under one heading: those of a family, or of a law over
/// families.
pub(crate) struct Section<'a> {
    /// The heading: `Family crates`, `Relative law`.
    pub(crate) heading: String,
    /// End of the names of its files.
    files: String,
    /// Its figures in the order of the page.
    pub(crate) slots: Vec<Slot<'a>>,
}

impl<'a> Section<'a> {
    /// Figures whose files' names end with `files`: a family, `relative-law`, `sweep`.
    pub(crate) fn new(heading: &str, files: &str, slots: Vec<Slot<'a>>) -> Self {
        Self { heading: heading.to_owned(), files: safe_name(files), slots }
    }

    /// The name of the files of a figure in this section, without the ending.
    pub(crate) fn stem(&self, name: &str) -> String {
        format!("{name}--{}", self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Marks, Panel, Series, Style};

    fn figure(numbers: Frame, drawn: Frame) -> Figure<'static> {
        Figure::new("a figure", String::new(), numbers, move |frame| {
            // A figure that is right draws the frame that it is given.
            let frame = if drawn.rows().is_empty() { frame } else { &drawn };
            let marks = Marks::at(&frame.rows(), "x", "x", |_| String::new());
            let series = vec![Series::new(Style::NEUTRAL, "").marks(marks)];
            Drawing::one(vec![], Panel::new(Axis::linear("x"), Axis::linear("y"), 100.0, series))
        })
    }

    fn frame() -> Frame {
        Frame::from_rows([1.0, 2.0]).column("x", |x| x).frame()
    }

    #[test]
    fn a_drawing_shows_its_table() {
        let drawing = figure(frame(), frame().emptied()).drawing();
        assert!(!drawing.is_bare());
        assert_eq!(drawing.title, "a figure");
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "draws what its table lacks")]
    fn a_drawing_of_something_else_is_refused() {
        let _ = figure(frame(), frame()).drawing();
    }
}
