//! What the page says beside the rank laws of each family: families side by side, relative laws,
//! questions with options, stages, forecasts, size against tokens, training, sweeps.

use serde::Serialize;

use super::source::Html;
use super::tables::View;
use crate::results::{Named, Results};
use crate::shown::{self, At, Medium, Part, Questions, Role, Shown};

/// Everything, result by result.
#[derive(Debug, Default, Serialize)]
pub(super) struct Others {
    findings: Vec<Finding>,
    tables: Vec<View>,
}

/// What one result shows.
#[derive(Debug, Serialize)]
struct Finding {
    title: String,
    /// The sentences, each with what it is about.
    said: Vec<(String, Html)>,
}

/// The results as they are shown.
fn shown(results: &Results) -> Vec<Shown> {
    fn shown_all<T>(
        all: &[Named<T>],
        show: impl Fn(&At<'_, T>) -> Shown,
    ) -> impl Iterator<Item = Shown> {
        all.iter().map(move |one| show(&At::file(&format!("{}.json", one.file), &one.fit)))
    }
    let across = results.laws.as_ref().map(|laws| shown::across(&At::file("laws.json", laws)));
    let across = across.filter(|shown| !shown.parts.is_empty());
    across
        .into_iter()
        .chain(shown_all(&results.relative, shown::relative))
        .chain(shown_all(&results.choices, |fit| shown::choices(fit, Questions::default())))
        .chain(shown_all(&results.stages, shown::stages))
        .chain(shown_all(&results.forecasts, shown::forecast))
        .chain(shown_all(&results.size_tokens, shown::size_tokens))
        .chain(shown_all(&results.training, shown::training))
        .chain(shown_all(&results.isoflop, shown::sweep))
        .collect()
}

impl Others {
    /// Everything beside the laws of ranks.
    pub(super) fn from_results(results: &Results) -> Self {
        let mut others = Self::default();
        for result in shown(results) {
            let mut said = Vec::new();
            for part in &result.parts {
                match part {
                    Part::Table(table) => others.tables.extend(View::from_table(table)),
                    // Doubts have a place of their own.
                    Part::Said(one)
                        if one.role == Role::Note || one.only == Some(Medium::Screen) => {}
                    Part::Said(one) => said.push((one.about.clone(), Html::from(&one.text))),
                }
            }
            if !said.is_empty() {
                others.findings.push(Finding { title: result.title, said });
            }
        }
        others
    }
}
