//! What a figure is, and the places for figures on the page: filled, or empty with the reason.

use relscale_records::study::safe_name;
use serde::Serialize;

use crate::format;
use crate::frame::Frame;
use crate::plot::Drawing;

/// A table, and how its rows are drawn.
pub(crate) struct Figure<'a> {
    /// What it shows, in a line.
    pub(crate) title: String,
    /// What is seen, of which corpora: at most [`CAPTION`] words.
    pub(crate) caption: String,
    /// How to read it, and what it shows in numbers; may be empty.
    pub(crate) reading: String,
    /// What it shows in numbers that a reader would look up.
    pub(crate) values: Option<Values>,
    /// The text that it is of.
    pub(crate) passage: Option<Passage>,
    /// The numbers that are drawn.
    pub(crate) numbers: Frame,
    encoding: Box<dyn Fn(&Frame) -> Drawing + 'a>,
}

/// A small table: what a figure shows, a row a curve or corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Values {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// The column that is text of a corpus, as it stands there.
    literal: Option<usize>,
}

impl Values {
    /// Rows under a head; columns that are empty in every row are left out.
    pub(crate) fn new<const N: usize>(
        head: [&'static str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Self {
        let rows: Vec<[String; N]> = rows.into_iter().collect();
        let filled = |at: &usize| rows.iter().any(|row| !row[*at].is_empty());
        let columns: Vec<usize> = (0..N).filter(filled).collect();
        Self {
            head: columns.iter().map(|at| head[*at]).collect(),
            rows: rows
                .iter()
                .map(|row| columns.iter().map(|at| row[*at].clone()).collect())
                .collect(),
            literal: None,
        }
    }

    /// The same, a column of which is text of a corpus: no sign in it is mathematics.
    pub(crate) fn literal(mut self, column: &str) -> Self {
        self.literal = self.head.iter().position(|head| *head == column);
        self
    }
}

/// A piece of text and the token that came after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Passage {
    before: String,
    token: String,
}

impl Passage {
    /// Of tokens as a vocabulary spells them.
    pub(crate) fn new(before: &str, token: &str) -> Self {
        // SentencePiece's sign for a space.
        let spelled = |text: &str| text.replace('\u{2581}', " ");
        Self { before: spelled(before), token: spelled(token) }
    }
}

/// A figure, or what it lacks and how to come by it, in words without a full stop.
pub(crate) type Made<'a> = Result<Figure<'a>, String>;

/// Words of a caption, at most: whoever wants more unfolds it.
pub(crate) const CAPTION: usize = 40;

/// Corpora that a caption names one by one, at most.
const NAMED: usize = 4;

impl<'a> Figure<'a> {
    /// Numbers with what their rows look like. The first sentences of `words` are its caption, as
    /// far as there is room beside the names of its corpora; the others tell how to read it.
    pub(crate) fn new(
        title: impl Into<String>,
        words: String,
        numbers: Frame,
        encoding: impl Fn(&Frame) -> Drawing + 'a,
    ) -> Self {
        let (caption, reading) = captioned(&words, &of_corpora(&numbers));
        let encoding = Box::new(encoding);
        Self {
            title: title.into(),
            caption,
            reading,
            values: None,
            passage: None,
            numbers,
            encoding,
        }
    }

    /// The same with a small table of what it shows.
    pub(crate) fn with(self, values: Values) -> Self {
        Self { values: Some(values).filter(|values| !values.rows.is_empty()), ..self }
    }

    /// The same with the text that it is of.
    pub(crate) fn of(self, passage: Passage) -> Self {
        Self { passage: Some(passage), ..self }
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

/// `On code and prose.`: the corpora of a figure's numbers, or its distributions; empty where they
/// are of none.
fn of_corpora(numbers: &Frame) -> String {
    let rows = numbers.rows();
    let column = ["corpus", "distribution", "treatment"];
    let Some(column) = column.into_iter().find(|column| numbers.has(column)) else {
        return String::new();
    };
    let names: Vec<String> =
        rows.by(column).iter().map(|rows| rows.text(column).to_owned()).collect();
    match names.len() {
        0 => String::new(),
        1..=NAMED => format!("On {}.", format::list(&names)),
        several => format!("On {several} texts."),
    }
}

/// Cuts words into a caption that ends with `of`, and what has no room there.
fn captioned(words: &str, of: &str) -> (String, String) {
    let count = |text: &str| text.split_whitespace().count();
    let words = words.trim();
    let mut end = 0;
    for (at, _) in words.match_indices(". ") {
        let next = words[at + 2..].chars().next();
        if next.is_some_and(|letter| !letter.is_lowercase() && !letter.is_ascii_digit()) {
            if end > 0 && count(&words[..at]) + count(of) > CAPTION {
                break;
            }
            end = at + 1;
        }
    }
    if end == 0 || count(words) + count(of) <= CAPTION {
        end = words.len();
    }
    let caption = format!("{} {of}", words[..end].trim_end());
    (caption.trim().to_owned(), words[end..].trim().to_owned())
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

    #[test]
    fn a_caption_is_short_and_the_rest_is_kept() {
        let long = "one two three ".repeat(13);
        let words = format!("First {long}four. Second 0.5 is fig. 4. Third {long}end.");
        let (caption, reading) = captioned(&words, "On a.");
        assert_eq!(caption, format!("First {long}four. On a."));
        assert_eq!(reading, format!("Second 0.5 is fig. 4. Third {long}end."));
        assert_eq!(
            captioned("All of it. And more.", ""),
            ("All of it. And more.".into(), String::new())
        );
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
