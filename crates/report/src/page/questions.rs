//! The figures of the page, by the question that they answer.

use serde::Serialize;

use crate::figures::{self, Family, Figure, LeftOut, Passage, Values};

/// A figure as it stands on the page.
#[derive(Debug, Serialize)]
struct Drawn {
    /// Its place among all figures; the one that moves is the first.
    number: usize,
    title: String,
    caption: String,
    reading: String,
    values: Option<Values>,
    passage: Option<Passage>,
    /// What it is of where that is not all there is: a family, a result.
    of: String,
    /// The family that it is of, where it is of one.
    family: Option<usize>,
    /// Name of its files without the ending.
    stem: String,
    svg: String,
    /// The same in one column, for narrow screens.
    narrow: String,
    /// Its numbers.
    csv: String,
    /// Whether the figure that moves shows the same.
    still: bool,
}

/// A figure that is not there.
#[derive(Debug, Serialize)]
struct Missing {
    title: String,
    of: String,
    reason: String,
}

/// Figures that answer one question, and those that are not there.
#[derive(Debug, Serialize)]
pub(super) struct Question {
    heading: &'static str,
    /// By which it is found.
    anchor: String,
    figures: Vec<Drawn>,
    left_out: Vec<Missing>,
}

/// All figures of a page.
pub(crate) struct Questions<'a> {
    families: &'a [Family<'a>],
    all: Vec<Question>,
}

impl<'a> Questions<'a> {
    /// No figures yet.
    pub(crate) fn new(families: &'a [Family<'a>]) -> Self {
        let question = |heading: &'static str| Question {
            heading,
            anchor: anchor(heading),
            figures: Vec::new(),
            left_out: Vec::new(),
        };
        // At last, what is not here.
        let headings = figures::QUESTIONS.iter().map(|(words, _)| *words);
        let all = headings.chain([figures::NOT_HERE]).map(question).collect();
        Self { families, all }
    }

    /// A figure of the section of this heading, drawn wide and in one column.
    pub(crate) fn add(
        &mut self,
        name: &str,
        heading: &str,
        stem: &str,
        figure: &Figure<'_>,
        [svg, narrow]: [String; 2],
    ) {
        let (of, family) = self.of(heading);
        self.all[figures::question(name)].figures.push(Drawn {
            number: 0,
            title: figure.title.clone(),
            caption: figure.caption.clone(),
            reading: figure.reading.clone(),
            values: figure.values.clone(),
            passage: figure.passage.clone(),
            of,
            family,
            stem: stem.to_owned(),
            svg,
            narrow,
            csv: figure.numbers.to_csv(),
            still: name == figures::STILL,
        });
    }

    /// A figure that is not there.
    pub(crate) fn leave_out(&mut self, name: &str, heading: &str, left: &LeftOut) {
        let (of, _) = self.of(heading);
        let at = match heading == figures::NOT_HERE {
            true => self.all.len() - 1,
            false => figures::question(name),
        };
        self.all[at].left_out.push(Missing {
            title: left.title.clone(),
            of,
            reason: left.reason.clone(),
        });
    }

    /// What a section's figures are of, where it is not all there is, and which family that is.
    fn of(&self, heading: &str) -> (String, Option<usize>) {
        let mut names = self.families.iter().map(|family| family.name);
        let family = names.position(|name| heading == format!("Family {name}"));
        let of = match family {
            Some(_) if self.families.len() == 1 => String::new(),
            Some(at) => self.families[at].name.to_owned(),
            None if heading == figures::NOT_HERE => String::new(),
            None => heading.to_owned(),
        };
        (of, family)
    }

    /// The questions with a figure, or a reason for none; the figures numbered from `first`.
    pub(super) fn numbered(mut self, first: usize) -> Vec<Question> {
        self.all.retain(|question| !question.figures.is_empty() || !question.left_out.is_empty());
        let figures = self.all.iter_mut().flat_map(|question| &mut question.figures);
        figures.zip(first..).for_each(|(figure, number)| figure.number = number);
        self.all
    }
}

/// Words as the name of a place.
fn anchor(words: &str) -> String {
    let kept: String = words.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    kept.trim_matches('-').to_owned()
}
