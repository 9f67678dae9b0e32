//! What the page says of the laws.
//!
//! | file | what |
//! |---|---|
//! | `group` | one family on one corpus |
//! | `switch` | which groups there are, in the order of the page |

mod group;
pub(super) mod switch;

use relscale_laws::{GroupFit, StudyFit};
use relscale_records::digits;
use serde::Serialize;

use super::source::Html;
use crate::figures::Family;
use crate::format;
use crate::shown::Cell;
use crate::shown::place::{At, Total, at};
use group::Group;
use switch::{corpora, groups};

/// The whole study.
#[derive(Debug, Serialize)]
pub(super) struct Study {
    title: String,
    tool: String,
    format: Html,
    /// What was measured, a sentence a family.
    measured: Vec<Html>,
    nonfinite: Html,
    groups: Vec<Group>,
    families: Vec<String>,
    /// Each with its colour.
    corpora: Vec<(String, &'static str)>,
    several_families: bool,
    options: Options,
}

/// The options of the fit.
#[derive(Debug, Serialize)]
struct Options {
    level: Html,
    /// The level without its place, for headers that are repeated.
    level_text: String,
    resamples: Html,
    seed: Html,
    minimum_count: Html,
    k: Html,
}

impl Study {
    pub(super) fn new(study: &StudyFit, families: &[Family<'_>]) -> Self {
        let names: Vec<String> = families.iter().map(|family| family.name.to_owned()).collect();
        let corpora: Vec<String> = corpora(study).into_iter().map(str::to_owned).collect();
        let mut colours = vec![""; corpora.len()];
        for (_, _, switch, colour) in groups(study, families) {
            colours[switch.corpus] = colour;
        }
        let file = At::file("laws.json", study);
        Self {
            title: if names.is_empty() {
                "Rank law: no laws yet".to_owned()
            } else {
                format!("Rank law of {} on {}", format::list(&names), format::list(&corpora))
            },
            tool: study.tool.clone(),
            format: Html::from(&at!(file.format).count()),
            measured: (0..families.len()).map(|family| measured(study, families, family)).collect(),
            nonfinite: Html::from(&nonfinite(&file)),
            groups: groups(study, families)
                .map(|(group, _, switch, colour)| {
                    Group::new(&group, study.options.level, switch, colour)
                })
                .collect(),
            several_families: names.len() > 1,
            families: names,
            corpora: corpora.into_iter().zip(colours).collect(),
            options: Options::from_study(&file),
        }
    }
}

impl Options {
    fn from_study(study: &At<'_, StudyFit>) -> Self {
        let options = at!(study.options);
        let html = |cell: Cell| Html::from(&cell);
        let k = at!(options.k).each().map(|k| k.count());
        Self {
            level: html(at!(options.level).written(digits::percent)),
            level_text: digits::percent(options.level),
            resamples: html(at!(options.resamples).count()),
            seed: html(at!(options.seed).plain()),
            minimum_count: html(at!(options.minimum_count).count()),
            k: html(if options.k.is_empty() {
                Cell::words("all that were counted, below |V|")
            } else {
                Cell::join(k, ", ")
            }),
        }
    }
}

/// `Family f: on code 7 models with 3,100 to 3,100,000 non-embedding parameters (S), 40 documents,
/// 60,000 scored tokens a model; on ...`
fn measured(study: &StudyFit, families: &[Family<'_>], family: usize) -> Html {
    let parts = groups(study, families)
        .filter(|(_, _, switch, _)| switch.family == family)
        .map(|(group, ..)| on_corpus(&group));
    let whole =
        Cell::words(format!("Family {}: ", families[family].name)).with(Cell::join(parts, "; "));
    Html::from(&whole.then("."))
}

fn on_corpus(group: &At<'_, GroupFit>) -> Cell {
    let models = || at!(group.models).each();
    let plural = if group.models.len() == 1 { " model" } else { " models" };
    let mut cell =
        Cell::words(format!("on {} ", group.corpus)).with(at!(group.models).length()).then(plural);
    if let Some(first) = models().next() {
        cell = cell.then(" with ").with(at!(first.parameters).count());
        if let Some(last) = models().skip(1).next_back() {
            cell = cell.then(" to ").with(at!(last.parameters).count());
        }
        cell = cell.then(" non-embedding parameters (S)");
    }
    cell = cell.then(", ").with(at!(group.documents).count()).then(" documents");
    let least = models().min_by_key(|model| model.tokens);
    let most = models().max_by_key(|model| model.tokens);
    if let (Some(least), Some(most)) = (least, most) {
        cell = cell.then(", ").with(at!(least.tokens).count());
        if least.tokens != most.tokens {
            cell = cell.then(" to ").with(at!(most.tokens).count());
        }
        cell = cell.then(" scored tokens a model");
    }
    cell
}

/// How many positions of all runs had a logit that is no number, and whose.
fn nonfinite(study: &At<'_, StudyFit>) -> Cell {
    let models =
        || at!(study.groups).all().flat_map(|group| at!(group.models).all().collect::<Vec<_>>());
    let broken = Total::from_counts(models().map(|model| at!(model.nonfinite)));
    let finite = Total::from_counts(models().map(|model| at!(model.tokens)));
    let (Some(broken), Some(finite)) = (broken, finite) else { return Cell::default() };
    let of_all = broken.count(Some("None")).then(" of ").with(finite.plus(&broken).count(None));
    if broken.sum == 0 {
        return of_all.then(" positions had a non-finite logit.");
    }
    let places = at!(study.groups).each().flat_map(|group| {
        let corpus = group.corpus.clone();
        let models = at!(group.models).each().filter(|model| model.nonfinite > 0);
        models.map(move |model| {
            at!(model.nonfinite).count().then(format!(" for {} on {corpus}", model.name))
        })
    });
    of_all
        .then(" positions had a non-finite logit (NaN or infinity); they are counted and in no average: ")
        .with(Cell::join(places, ", "))
        .then(".")
}
