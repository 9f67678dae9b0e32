//! The page: findings first, then the figures, the tables, the cautions, and how all of it came
//! about.
//!
//! [`html`] turns the fit into a view of strings and the view into a page by the template
//! `page.html`, which escapes every string that is not [`Html`](source::Html). Markup is written in
//! four other places, each of which escapes: numbers with their places in `source`, the laws'
//! sentences in `typeset`, figures in `plot`, the data of the figure that moves in `explore`.
//!
//! | file | what |
//! |---|---|
//! | `view` | what is said of the rank laws |
//! | `others` | what is said of the other results, as `shown` has it |
//! | `questions` | the figures, by the question that they answer |
//! | `tables` | tables as the template takes them |
//! | `cautions` | every flag of every result, and the points left out |
//! | `flagged` | a result as far as it leads to its flags |
//! | `records` | provenance |
//! | `escape` | text as markup |
//! | `explore` | the data of the figure that moves with k |
//! | `source` | numbers with the place from which they come |
//! | `typeset` | sentences of the laws as they look in print |
//! | `page.html`, `page.css` | the template and how it looks, on a screen, in the dark, on paper |
//! | `script/` | what moves: the slider, the switches, tables that sort and scroll, buttons that copy figures. Without scripts the page reads all the same |

mod cautions;
mod escape;
mod explore;
mod flagged;
mod others;
mod questions;
mod records;
mod source;
mod tables;
mod typeset;
mod view;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use relscale_laws::StudyFit;
use serde::Serialize;

pub(crate) use questions::Questions;
pub(crate) use records::Records;

use flagged::Flagged;

use crate::error::{ReportError, Result};
use crate::figures::Family;
use crate::results::{Named, Results};

/// The script of the page, in the order in which its parts build on each other.
const SCRIPT: &str = concat!(
    include_str!("script/print.js"),
    include_str!("script/source.js"),
    include_str!("script/sort.js"),
    include_str!("script/switches.js"),
    include_str!("script/axis.js"),
    include_str!("script/explore.js"),
    include_str!("script/take.js"),
    include_str!("script/scroll.js"),
);

/// What the template is given.
#[derive(Serialize)]
struct View {
    style: &'static str,
    script: &'static str,
    study: view::Study,
    others: others::Others,
    cautions: cautions::Cautions,
    records: records::View,
    questions: Vec<questions::Question>,
    /// Whether there is a figure that moves.
    explore: bool,
    /// Its data, as JSON.
    data: String,
}

/// The whole page.
///
/// # Errors
/// [`ReportError::Template`] when template and view do not fit, which no study can cause.
pub(crate) fn html(
    study: &StudyFit,
    results: &Results,
    records: &Records,
    families: &[Family<'_>],
    figures: Questions<'_>,
) -> Result<String> {
    page(study, results, records, families, figures)
        .map_err(|source| ReportError::Template { source })
}

fn page(
    study: &StudyFit,
    results: &Results,
    records: &Records,
    families: &[Family<'_>],
    figures: Questions<'_>,
) -> Result<String, minijinja::Error> {
    let json = |error: serde_json::Error| {
        minijinja::Error::new(ErrorKind::BadSerialization, error.to_string())
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_filter("typeset", typeset::filter);
    // The ending of the name turns escaping on.
    environment.add_template("page.html", include_str!("page.html"))?;
    let data = explore::Data::new(study, families);
    let flagged = flagged(study, results).map_err(json)?;
    let mut cautions = cautions::Cautions::from_files(&flagged);
    cautions.leave_out(view::switch::groups(study, families));
    environment.get_template("page.html")?.render(Serde(View {
        style: include_str!("page.css"),
        script: SCRIPT,
        study: view::Study::new(study, families),
        others: others::Others::from_results(results),
        cautions,
        records: records.view(study),
        questions: figures.numbered(1 + usize::from(data.any())),
        explore: data.any(),
        data: data.json().map_err(json)?,
    }))
}

/// What leads to the flags of every result, by the names of their files.
fn flagged(study: &StudyFit, results: &Results) -> serde_json::Result<Vec<(String, Flagged)>> {
    fn named<T: Serialize>(
        all: &[Named<T>],
    ) -> impl Iterator<Item = serde_json::Result<(String, Flagged)>> {
        all.iter().map(|one| Ok((format!("{}.json", one.file), Flagged::from_result(&one.fit)?)))
    }
    std::iter::once(Flagged::from_result(study).map(|laws| ("laws.json".to_owned(), laws)))
        .chain(named(&results.relative))
        .chain(named(&results.choices))
        .chain(named(&results.stages))
        .chain(named(&results.forecasts))
        .chain(named(&results.size_tokens))
        .chain(named(&results.training))
        .chain(named(&results.isoflop))
        .collect()
}
