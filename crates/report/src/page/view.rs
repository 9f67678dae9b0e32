//! What the page says of the laws: every number already a string, with its unit and its interval or the reason for none.

use relscale_laws::{
    Estimate, GroupFit, HeldOut, Law, ModelSummary, Outcome, PowerLaw, Quantity, Regime, StudyFit,
};
use serde::Serialize;

use crate::figures::Family;
use crate::format;

/// The k of the main table; the nearest of the grid stands for each.
const HEADLINE: [u32; 3] = [1, 10, 100];

/// The whole study.
#[derive(Debug, Serialize)]
pub(super) struct Study {
    title: String,
    tool: String,
    format: u32,
    /// What was measured, a sentence a family.
    measured: Vec<String>,
    nonfinite: String,
    groups: Vec<Group>,
    several_families: bool,
    options: Options,
}

/// The options of the fit.
#[derive(Debug, Serialize)]
struct Options {
    level: String,
    resamples: String,
    seed: u64,
    minimum_count: u64,
    k: String,
}

/// One family on one corpus.
#[derive(Debug, Serialize)]
struct Group {
    family: String,
    corpus: String,
    colour: &'static str,
    verdict: String,
    findings: Vec<Finding>,
    documents: String,
    models: Vec<Model>,
    /// Rank laws at the k of the main table.
    headline: Vec<Row>,
    /// All rank laws, then the cross-entropy law.
    laws: Vec<Row>,
    cross_entropy: Row,
    difference: Option<String>,
    difference_method: String,
    held_out: Vec<Prediction>,
}

/// A finding beyond the exponents.
#[derive(Debug, Serialize)]
struct Finding {
    subject: &'static str,
    verdict: String,
}

/// One law in a table.
#[derive(Debug, Serialize)]
struct Row {
    quantity: String,
    /// For rank laws.
    k: Option<String>,
    regime: &'static str,
    exponent: String,
    /// How the interval was found, or why there is none, or why there is no fit.
    method: String,
    r_squared: String,
    /// Standard error of the exponent from the text sample alone.
    sampling_error: String,
    models: String,
    fewest_misses: String,
    chi_squared: String,
    claimed: bool,
    fitted: bool,
    verdict: String,
}

/// One model's run.
#[derive(Debug, Serialize)]
struct Model {
    name: String,
    parameters: String,
    tokens: String,
    bytes: String,
    cross_entropy: String,
    bits_per_byte: String,
    entropy: String,
    tied: String,
    nonfinite: String,
    vocabulary: [String; 4],
}

/// The largest model as the smallest ones predict it.
#[derive(Debug, Serialize)]
struct Prediction {
    quantity: String,
    fitted_models: u32,
    model: String,
    observed: String,
    predicted: String,
    error: String,
    covered: &'static str,
}

impl Study {
    pub(super) fn of(study: &StudyFit, families: &[Family<'_>]) -> Self {
        let names: Vec<String> = families.iter().map(|family| family.name.to_owned()).collect();
        let mut corpora: Vec<String> = study.groups.iter().map(|group| group.corpus.clone()).collect();
        corpora.sort();
        corpora.dedup();
        let groups = families
            .iter()
            .flat_map(|family| &family.groups)
            .map(|(group, style)| Group::of(group, style.colour()))
            .collect();
        let options = &study.options;
        Self {
            title: if names.is_empty() {
                "Rank law: no laws yet".to_owned()
            } else {
                format!("Rank law of {} on {}", format::list(&names), format::list(&corpora))
            },
            tool: study.tool.clone(),
            format: study.format,
            measured: families.iter().map(measured).collect(),
            nonfinite: nonfinite(study),
            groups,
            several_families: names.len() > 1,
            options: Options {
                level: format::percent(options.level),
                resamples: format::count(u64::from(options.resamples)),
                seed: options.seed,
                minimum_count: options.minimum_count,
                k: if options.k.is_empty() {
                    "all that were counted, below |V|".to_owned()
                } else {
                    options.k.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
                },
            },
        }
    }
}

/// `7 models of family f, from 3,100 to 3,100,000 non-embedding parameters (S), on 3 corpora: ...`
fn measured(family: &Family<'_>) -> String {
    let mut sizes: Vec<(&str, u64)> = family
        .groups
        .iter()
        .flat_map(|(group, _)| group.models.iter().map(|model| (model.name.as_str(), model.parameters)))
        .collect();
    sizes.sort_by_key(|(name, size)| (*size, *name));
    sizes.dedup();
    let span = match (sizes.first(), sizes.last()) {
        (Some((_, least)), Some((_, most))) if least != most => {
            format!("with {} to {} non-embedding parameters (S)", format::count(*least), format::count(*most))
        }
        (Some((_, only)), _) => format!("with {} non-embedding parameters (S)", format::count(*only)),
        _ => String::new(),
    };
    let corpora: Vec<String> = family
        .groups
        .iter()
        .map(|(group, _)| {
            let tokens = group.models.iter().map(|model| model.tokens);
            let (least, most) = (tokens.clone().min().unwrap_or(0), tokens.max().unwrap_or(0));
            let tokens = if least == most {
                format::count(most)
            } else {
                format!("{} to {}", format::count(least), format::count(most))
            };
            format!(
                "{} ({} documents, {tokens} scored tokens a model)",
                group.corpus,
                format::count(group.documents)
            )
        })
        .collect();
    format!(
        "Family {}: {} {span}, on {}.",
        family.name,
        plural(sizes.len() as u64, "model"),
        format::list(&corpora)
    )
}

fn plural(number: u64, what: &str) -> String {
    format!("{} {what}{}", format::count(number), if number == 1 { "" } else { "s" })
}

fn nonfinite(study: &StudyFit) -> String {
    let runs = || study.groups.iter().flat_map(|group| &group.models);
    let (broken, all): (u64, u64) = runs().fold((0, 0), |(broken, all), model| {
        (broken + model.nonfinite, all + model.nonfinite + model.tokens)
    });
    if broken == 0 {
        return format!("None of {} positions had a non-finite logit.", format::count(all));
    }
    let places: Vec<String> = study
        .groups
        .iter()
        .flat_map(|group| {
            group.models.iter().filter(|model| model.nonfinite > 0).map(|model| {
                format!("{} for {} on {}", format::count(model.nonfinite), model.name, group.corpus)
            })
        })
        .collect();
    format!(
        "{} of {} positions had a non-finite logit (NaN or infinity); they are counted and in no average: {}.",
        format::count(broken),
        format::count(all),
        format::list(&places)
    )
}

impl Group {
    fn of(group: &GroupFit, colour: &'static str) -> Self {
        let difference = group.greedy_minus_cross_entropy.as_ref();
        let headline = headline(group);
        Self {
            family: group.family.clone(),
            corpus: group.corpus.clone(),
            colour,
            verdict: group.verdict.clone(),
            findings: group
                .findings()
                .into_iter()
                .map(|(subject, verdict)| Finding { subject, verdict: verdict.to_owned() })
                .collect(),
            documents: format::count(group.documents),
            models: group.models.iter().map(Model::of).collect(),
            headline: headline.iter().map(|law| Row::of(law)).collect(),
            laws: group.rank_laws.iter().chain([&group.cross_entropy_law]).map(Row::of).collect(),
            cross_entropy: Row::of(&group.cross_entropy_law),
            difference: difference.map(format::estimate),
            difference_method: difference
                .map_or(String::new(), |estimate| format::interval_method(&estimate.interval)),
            held_out: headline
                .first()
                .copied()
                .into_iter()
                .chain([&group.cross_entropy_law])
                .flat_map(predictions)
                .collect(),
        }
    }
}

/// The laws of the main table.
fn headline(group: &GroupFit) -> Vec<&Law> {
    let mut found: Vec<&Law> = HEADLINE
        .iter()
        .filter_map(|&wanted| {
            let distance =
                |law: &Law| law.k().map_or(f64::INFINITY, |k| (f64::from(k) / f64::from(wanted)).ln().abs());
            group.rank_laws.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
        })
        .collect();
    found.dedup_by_key(|law| law.k());
    found
}

impl Row {
    fn of(law: &Law) -> Self {
        let misses = law.points.iter().filter_map(|point| point.misses).min();
        let (exponent, method) = match &law.outcome {
            Outcome::Refused { reason } => ("no fit".to_owned(), reason.clone()),
            Outcome::Fitted(fit) => {
                (format::estimate(&fit.exponent), format::interval_method(&fit.exponent.interval))
            }
        };
        let fit = law.fit();
        let of_fit = |text: fn(&PowerLaw) -> String| fit.map_or("–".to_owned(), text);
        Self {
            quantity: match law.quantity {
                Quantity::Rank { k } => format::rank_symbol(k),
                _ => "CE".to_owned(),
            },
            k: law.k().map(|k| format::count(u64::from(k))),
            regime: law.k().map_or("", |k| match Regime::of(k) {
                Regime::Greedy => "greedy",
                Regime::TopK => "top-k",
                Regime::Large => "large k",
            }),
            exponent,
            method,
            r_squared: of_fit(|fit| {
                if fit.models > 2 { format::r_squared(fit.r_squared) } else { "two points".to_owned() }
            }),
            sampling_error: of_fit(|fit| {
                fit.exponent_sampling_error.map_or("–".to_owned(), format::small_error)
            }),
            models: law.points.len().to_string(),
            fewest_misses: misses.map_or("–".to_owned(), format::count),
            chi_squared: of_fit(|fit| {
                fit.chi_squared.map_or("–".to_owned(), |chi| {
                    format!("{:.1} / {}, p {}", chi.value, chi.degrees_of_freedom, p_value(chi.p_value))
                })
            }),
            claimed: fit.is_some_and(|fit| fit.claimed),
            fitted: fit.is_some(),
            verdict: law.verdict.clone(),
        }
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

impl Model {
    fn of(model: &ModelSummary) -> Self {
        let with_error = |estimate: &Option<Estimate>| {
            estimate.as_ref().map_or("–".to_owned(), |estimate| {
                format::with_error(estimate.value, estimate.standard_error)
            })
        };
        let sizes = model.vocabulary;
        Self {
            name: model.name.clone(),
            parameters: format::count(model.parameters),
            tokens: format::count(model.tokens),
            bytes: format::count(model.bytes),
            cross_entropy: with_error(&model.cross_entropy),
            bits_per_byte: with_error(&model.bits_per_byte),
            entropy: with_error(&model.entropy),
            tied: format::count(model.tied),
            nonfinite: format::count(model.nonfinite),
            vocabulary: [sizes.tokenizer, sizes.with_added, sizes.rows, sizes.scored]
                .map(|size| format::count(u64::from(size))),
        }
    }
}

/// The extrapolation audit of one law: each fit to the smallest m models, and the largest model by it.
fn predictions(law: &Law) -> Vec<Prediction> {
    let Some(fit) = law.fit() else { return Vec::new() };
    fit.audit
        .iter()
        .filter_map(|step| Some((step.fitted_models, step.predictions.last()?)))
        .map(|(fitted_models, largest)| Prediction::of(law, fitted_models, largest))
        .collect()
}

impl Prediction {
    fn of(law: &Law, fitted_models: u32, held: &HeldOut) -> Self {
        Self {
            quantity: match law.quantity {
                Quantity::Rank { k } => format::rank_symbol(k),
                _ => "CE".to_owned(),
            },
            fitted_models,
            model: held.model.clone(),
            observed: format::significant(held.observed),
            predicted: format::estimate(&held.predicted),
            error: format!("{} %", format::fixed(100.0 * held.relative_error, 2)),
            covered: match held.covered {
                Some(true) => "yes",
                Some(false) => "no",
                None => "no interval",
            },
        }
    }
}
