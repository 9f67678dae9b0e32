//! The page: verdicts first, then the numbers, the figures, the doubts, and how all of it came about.
//!
//! [`html`] turns the fit into a view of strings (`view`, `doubts`, `records`) and the view into a page by the template
//! `page.html`, which escapes every string it is given. Four things enter the page as they are: the style sheet, the
//! script, the figures, whose names `plot` has escaped, and the laws' sentences, which `typeset` has.

mod doubts;
mod records;
mod typeset;
mod view;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use relscale_laws::StudyFit;
use serde::Serialize;

pub(crate) use records::Records;

use crate::error::{ReportError, Result};
use crate::figures::{Family, Figure, LeftOut};

/// A figure as it stands on the page.
#[derive(Debug, Serialize)]
pub(crate) struct Drawn {
    title: String,
    caption: String,
    /// Name of its files without the ending.
    stem: String,
    svg: String,
}

impl Drawn {
    /// A figure with its drawing.
    pub(crate) fn new(figure: &dyn Figure, stem: &str, svg: String) -> Self {
        Self { title: figure.title(), caption: figure.caption(), stem: stem.to_owned(), svg }
    }
}

/// A figure that is not there.
#[derive(Debug, Serialize)]
pub(crate) struct Missing {
    title: String,
    reason: String,
}

impl From<&LeftOut> for Missing {
    fn from(left: &LeftOut) -> Self {
        Self { title: left.title.clone(), reason: left.reason.clone() }
    }
}

/// Figures under one heading, and those that are not there.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    heading: String,
    pub(crate) figures: Vec<Drawn>,
    pub(crate) left_out: Vec<Missing>,
}

impl Section {
    /// A section without figures yet.
    pub(crate) fn of(heading: &str) -> Self {
        Self { heading: heading.to_owned(), figures: Vec::new(), left_out: Vec::new() }
    }
}

/// What the template is given.
#[derive(Serialize)]
struct View<'a> {
    style: &'static str,
    script: &'static str,
    study: view::Study,
    doubts: doubts::Doubts,
    records: records::View,
    sections: &'a [Section],
}

/// The whole page.
///
/// # Errors
/// [`ReportError::Template`] when template and view do not fit, which no study can cause.
pub(crate) fn html(
    study: &StudyFit,
    records: &Records,
    families: &[Family<'_>],
    sections: &[Section],
) -> Result<String> {
    page(study, records, families, sections).map_err(|source| ReportError::Template { source })
}

fn page(
    study: &StudyFit,
    records: &Records,
    families: &[Family<'_>],
    sections: &[Section],
) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_filter("typeset", typeset::filter);
    // The ending of the name turns escaping on.
    environment.add_template("page.html", include_str!("page.html"))?;
    environment.get_template("page.html")?.render(Serde(View {
        style: include_str!("page.css"),
        script: include_str!("page.js"),
        study: view::Study::of(study, families),
        doubts: doubts::Doubts::of(study),
        records: records.view(study),
        sections,
    }))
}
