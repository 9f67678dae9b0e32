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
use crate::figures::{Family, Figure};

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

/// What the template is given.
#[derive(Serialize)]
struct View<'a> {
    style: &'static str,
    script: &'static str,
    study: view::Study,
    doubts: doubts::Doubts,
    records: records::View,
    sections: Vec<Section<'a>>,
}

/// The figures of one family.
#[derive(Serialize)]
struct Section<'a> {
    name: &'a str,
    figures: &'a [Drawn],
}

/// The whole page.
///
/// # Errors
/// [`ReportError::Template`] when template and view do not fit, which no study can cause.
pub(crate) fn html(
    study: &StudyFit,
    records: &Records,
    families: &[(Family<'_>, Vec<Drawn>)],
) -> Result<String> {
    page(study, records, families).map_err(|source| ReportError::Template { source })
}

fn page(
    study: &StudyFit,
    records: &Records,
    families: &[(Family<'_>, Vec<Drawn>)],
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
        sections: families.iter().map(|(family, figures)| Section { name: family.name, figures }).collect(),
    }))
}
