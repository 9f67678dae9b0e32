//! Places for figures on the page: filled, or empty with the reason.

use relscale_records::study::safe_name;

use crate::csv::Table;
use crate::plot::Drawing;

/// What every figure can do.
pub(crate) trait Figure {
    /// Start of the names of its files.
    fn name(&self) -> &'static str;
    /// What it shows, in a line.
    fn title(&self) -> String;
    /// What is seen, and how to read it.
    fn caption(&self) -> String;
    /// The numbers that are drawn.
    fn numbers(&self) -> Table;
    /// The drawing of them.
    fn drawing(&self) -> Drawing;
}

/// One place of a section.
pub(crate) enum Slot<'a> {
    /// There is something to see.
    Figure(Box<dyn Figure + 'a>),
    /// There is not, and this is why.
    LeftOut(LeftOut),
}

impl<'a> Slot<'a> {
    /// A figure, or why it could not be made.
    pub(crate) fn of<F: Figure + 'a>(made: Result<F, LeftOut>) -> Self {
        match made {
            Ok(figure) => Self::Figure(Box::new(figure)),
            Err(left) => Self::LeftOut(left),
        }
    }
}

/// A figure that lacks its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Start of the names that its files would have.
    pub(crate) name: &'static str,
    /// What it would show, in a line.
    pub(crate) title: String,
    /// What it lacks and how to come by it, in words without a full stop.
    pub(crate) reason: String,
}

impl LeftOut {
    /// The figure `name` is not there because of `reason`.
    pub(crate) fn because(name: &'static str, title: &str, reason: impl Into<String>) -> Self {
        Self { name, title: title.to_owned(), reason: reason.into() }
    }
}

/// Figures that stand together on the page under one heading: those of a family, or of a law over families.
pub(crate) struct Section<'a> {
    /// The heading: `Family crates`, `Relative law`.
    pub(crate) heading: String,
    /// End of the names of its files.
    files: String,
    /// Its figures in the order of the page.
    pub(crate) slots: Vec<Slot<'a>>,
}

impl<'a> Section<'a> {
    /// The figures of one family.
    pub(crate) fn of_family(family: &str, slots: Vec<Slot<'a>>) -> Self {
        Self { heading: format!("Family {family}"), files: safe_name(family), slots }
    }

    /// Figures that belong to no single family; `files` ends the names of their files: `relative-law`, `sweep`.
    pub(crate) fn named(heading: &str, files: &str, slots: Vec<Slot<'a>>) -> Self {
        Self { heading: heading.to_owned(), files: safe_name(files), slots }
    }

    /// The name of a figure's files in this section, without the ending.
    pub(crate) fn stem(&self, figure: &dyn Figure) -> String {
        format!("{}--{}", figure.name(), self.files)
    }
}
