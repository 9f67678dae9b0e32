//! What the page says of the laws: every number with its place in `laws.json`, its unit, and its interval or the reason
//! for none.
//!
//! | file | what |
//! |---|---|
//! | `group` | one family on one corpus |
//! | `law` | one law in a table, and how far it predicts |
//! | `model` | one model's run |

mod group;
mod law;
mod model;

use relscale_laws::{GroupFit, StudyFit};
use serde::Serialize;

use super::source::{Html, Place};
use crate::figures::Family;
use crate::format;
use group::Group;

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

/// The numbers of the switches of a family and of a corpus.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Switch {
    pub(super) family: usize,
    pub(super) corpus: usize,
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

/// Where a study's groups stand.
fn groups_place() -> Place {
    Place::file("laws.json").at("groups")
}

/// The groups with their places in the file, in the order of the page.
pub(super) fn groups<'a>(
    study: &'a StudyFit,
    families: &'a [Family<'a>],
) -> impl Iterator<Item = (&'a GroupFit, usize, Switch, &'static str)> {
    let corpora = corpora(study);
    families.iter().enumerate().flat_map(move |(family, one)| {
        let corpora = corpora.clone();
        one.groups.iter().map(move |(group, style)| {
            let at = study.groups.iter().position(|other| std::ptr::eq(other, *group)).unwrap_or(0);
            let corpus = corpora.iter().position(|corpus| *corpus == group.corpus).unwrap_or(0);
            (*group, at, Switch { family, corpus }, style.colour())
        })
    })
}

/// All corpora by name, which is the order of their colours.
pub(super) fn corpora(study: &StudyFit) -> Vec<&str> {
    let mut corpora: Vec<&str> = study.groups.iter().map(|group| group.corpus.as_str()).collect();
    corpora.sort_unstable();
    corpora.dedup();
    corpora
}

impl Study {
    pub(super) fn of(study: &StudyFit, families: &[Family<'_>]) -> Self {
        let names: Vec<String> = families.iter().map(|family| family.name.to_owned()).collect();
        let corpora: Vec<String> = corpora(study).into_iter().map(str::to_owned).collect();
        let place = groups_place();
        let mut colours = vec![""; corpora.len()];
        for (_, _, switch, colour) in groups(study, families) {
            colours[switch.corpus] = colour;
        }
        Self {
            title: if names.is_empty() {
                "Rank law: no laws yet".to_owned()
            } else {
                format!("Rank law of {} on {}", format::list(&names), format::list(&corpora))
            },
            tool: study.tool.clone(),
            format: Place::file("laws.json").at("format").count(u64::from(study.format)),
            measured: (0..families.len()).map(|family| measured(study, families, family)).collect(),
            nonfinite: nonfinite(study),
            groups: groups(study, families)
                .map(|(group, at, switch, colour)| Group::of(group, &place.at(at), switch, colour))
                .collect(),
            several_families: names.len() > 1,
            families: names,
            corpora: corpora.into_iter().zip(colours).collect(),
            options: Options::of(study),
        }
    }
}

impl Options {
    fn of(study: &StudyFit) -> Self {
        let options = &study.options;
        let place = Place::file("laws.json").at("options");
        let level_text = format::percent(options.level);
        Self {
            level: place.at("level").number(options.level, &level_text),
            level_text,
            resamples: place.at("resamples").count(u64::from(options.resamples)),
            seed: place.at("seed").number(options.seed, &options.seed.to_string()),
            minimum_count: place.at("minimum_count").count(options.minimum_count),
            k: if options.k.is_empty() {
                Html::text("all that were counted, below |V|")
            } else {
                let all = options.k.iter().enumerate();
                Html::join(all.map(|(at, k)| place.at("k").at(at).number(k, &k.to_string())), ", ")
            },
        }
    }
}

/// `Family f: 7 models, 3,100 to 3,100,000 non-embedding parameters (S), on code (40 documents, 60,000 scored tokens a
/// model) and ...`
fn measured(study: &StudyFit, families: &[Family<'_>], family: usize) -> Html {
    let parts: Vec<Html> = groups(study, families)
        .filter(|(_, _, switch, _)| switch.family == family)
        .map(|(group, at, ..)| on_corpus(group, &groups_place().at(at)))
        .collect();
    Html::text(&format!("Family {}: ", families[family].name)).with(&Html::join(parts, "; ")).then(".")
}

fn on_corpus(group: &GroupFit, place: &Place) -> Html {
    let models = place.at("models");
    let parameters = |at: usize| models.at(at).at("parameters").count(group.models[at].parameters);
    let by_tokens = |at: &usize| group.models[*at].tokens;
    let all = 0..group.models.len();
    let plural = if group.models.len() == 1 { " model" } else { " models" };
    let mut html = Html::text(&format!("on {} ", group.corpus))
        .with(&models.count(group.models.len() as u64))
        .then(plural);
    if let Some(last) = group.models.len().checked_sub(1) {
        html = html.then(" with ").with(&parameters(0));
        if last > 0 {
            html = html.then(" to ").with(&parameters(last));
        }
        html = html.then(" non-embedding parameters (S)");
    }
    html = html.then(", ").with(&place.at("documents").count(group.documents)).then(" documents");
    if let (Some(least), Some(most)) = (all.clone().min_by_key(by_tokens), all.max_by_key(by_tokens)) {
        let tokens = |at: usize| models.at(at).at("tokens").count(group.models[at].tokens);
        html = html.then(", ").with(&tokens(least));
        if by_tokens(&least) != by_tokens(&most) {
            html = html.then(" to ").with(&tokens(most));
        }
        html = html.then(" scored tokens a model");
    }
    html
}

fn nonfinite(study: &StudyFit) -> Html {
    let runs = || study.groups.iter().flat_map(|group| &group.models);
    let (broken, all): (u64, u64) = runs().fold((0, 0), |(broken, all), model| {
        (broken + model.nonfinite, all + model.nonfinite + model.tokens)
    });
    let every = groups_place().at("*").at("models").at("*");
    let broken_at = every.at("nonfinite");
    let all = every.at("tokens").plus(&broken_at).count(all);
    if broken == 0 {
        let none = broken_at.number(0, "None");
        return none.then(" of ").with(&all).then(" positions had a non-finite logit.");
    }
    let mut places = Vec::new();
    for (at, group) in study.groups.iter().enumerate() {
        for (number, model) in group.models.iter().enumerate().filter(|(_, model)| model.nonfinite > 0) {
            let place = groups_place().at(at).at("models").at(number).at("nonfinite");
            places
                .push(place.count(model.nonfinite).then(&format!(" for {} on {}", model.name, group.corpus)));
        }
    }
    broken_at
        .count(broken)
        .then(" of ")
        .with(&all)
        .then(" positions had a non-finite logit (NaN or infinity); they are counted and in no average: ")
        .with(&Html::join(places, ", "))
        .then(".")
}
