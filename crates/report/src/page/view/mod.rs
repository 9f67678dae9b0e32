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
use crate::shown::place::{At, Total, at};
use crate::shown::{Cell, glance, text};
use group::Group;
use switch::{corpora, groups};

/// The whole study.
#[derive(Debug, Serialize)]
pub(super) struct Study {
    title: String,
    /// What was found, in a sentence.
    sentence: Html,
    /// The numbers that stand beside it.
    tiles: Vec<Tile>,
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
    /// Whether some group has laws in units of the text.
    any_text_units: bool,
    options: Options,
}

/// A number with what it is.
#[derive(Debug, Serialize)]
struct Tile {
    value: Html,
    /// Its interval, or how many it is of.
    beside: Html,
    what: Html,
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
            sentence: Html::from(&glance::sentence(&file)),
            tiles: tiles(&file),
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
            any_text_units: study.groups.iter().any(|group| group.text_units.is_some()),
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

/// Exponent, held-out coverage, and what a model of ten times the size would have: of the first
/// group that has them.
fn tiles(study: &At<'_, StudyFit>) -> Vec<Tile> {
    let groups = || at!(study.groups).each();
    let several = glance::several_families(study);
    let name = |group: &GroupFit| glance::title(group, several);
    let tile = |value: Cell, what: Cell| {
        let beside = Cell { pieces: value.interval.clone().unwrap_or_default(), ..Cell::default() };
        let value = Cell { interval: None, ..value };
        Tile { value: Html::from(&value), beside: Html::from(&beside), what: Html::from(&what) }
    };
    let first = groups().find_map(|group| Some((glance::first(&group)?, name(&group))));
    let exponent = first.map(|((law, fit), name)| {
        let what = format!("exponent of {} on {name}", law.quantity.symbol());
        tile(at!(fit.exponent).estimate(), Cell::words(what))
    });
    let coverage = || {
        let of = |group| {
            let (_, fit) = glance::first(&group)?;
            at!(fit.coverage).there()
        };
        groups().filter_map(of)
    };
    let sum = |counts: &mut dyn Iterator<Item = At<'_, u32>>| {
        counts.map(|count| Total::from(&count)).reduce(|all, one| all.plus(&one))
    };
    let inside = sum(&mut coverage().map(|one| at!(one.inside)));
    let judged = sum(&mut coverage().map(|one| at!(one.judged)));
    let held_out = inside.zip(judged).map(|(inside, judged)| Tile {
        value: Html::from(&inside.count(None)),
        beside: Html::from(&Cell::words("of ").with(judged.count(None))),
        what: Html::text("predictions of larger models from smaller ones, inside their intervals"),
    });
    let next = groups().find_map(|group| {
        let next = at!(group.next_size).there()?;
        let value = at!(next.values).each().next()?;
        let times = at!(next.times_largest).written(|times| format!("{times:.0}"));
        let what = Cell::words(format!("{} at ", value.prediction.quantity.symbol()))
            .with(times)
            .then(format!(" times the size on {}, now ", name(&group)))
            .with(at!(value.measured).number());
        Some(tile(glance::next_value(&value)?, what))
    });
    [exponent, held_out, next].into_iter().flatten().collect()
}

/// `Family f: 7 models with 3,100 to 3,100,000 non-embedding parameters (S), 60,000 scored tokens a
/// model; documents: code 40, prose 60.`: what all corpora share once, and where they differ one by
/// one.
fn measured(study: &StudyFit, families: &[Family<'_>], family: usize) -> Html {
    let of_family = || {
        groups(study, families)
            .filter(|(_, _, switch, _)| switch.family == family)
            .map(|(group, ..)| group)
    };
    let name = Cell::words(format!("Family {}: ", families[family].name));
    let facts: Vec<Cell> = of_family().map(|group| facts(&group)).collect();
    let same = facts.windows(2).all(|pair| text(&pair[0].pieces) == text(&pair[1].pieces));
    let documents = |group: &At<'_, GroupFit>| at!(group.documents).count();
    let whole = match facts.first() {
        Some(shared) if same => {
            let each = of_family()
                .map(|group| Cell::words(format!("{} ", group.corpus)).with(documents(&group)));
            name.with(shared.clone()).then("; documents: ").with(Cell::join(each, ", "))
        }
        _ => {
            let each = of_family().zip(facts).map(|(group, facts)| {
                let corpus = Cell::words(format!("on {} ", group.corpus)).with(facts);
                corpus.then(", ").with(documents(&group)).then(" documents")
            });
            name.with(Cell::join(each, "; "))
        }
    };
    Html::from(&whole.then("."))
}

/// Models, sizes and tokens.
fn facts(group: &At<'_, GroupFit>) -> Cell {
    let models = || at!(group.models).each();
    let plural = if group.models.len() == 1 { " model" } else { " models" };
    let mut cell = at!(group.models).length().then(plural);
    if let Some(first) = models().next() {
        cell = cell.then(" with ").with(at!(first.parameters).count());
        if let Some(last) = models().skip(1).next_back() {
            cell = cell.then(" to ").with(at!(last.parameters).count());
        }
        cell = cell.then(" non-embedding parameters (S)");
    }
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
