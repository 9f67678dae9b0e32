//! One family on one corpus: what is found of it, and its rows in the tables.

use relscale_laws::{GroupFit, Law};
use serde::Serialize;

use super::Switch;
use super::law::{Prediction, Row, predictions};
use super::model::Model;
use crate::format;
use crate::page::source::{Html, Place};

/// The k of the main table; the nearest of the grid stands for each.
const HEADLINE: [u32; 3] = [1, 10, 100];

/// Findings that stand open below the verdict; the others are folded.
const FIRST: [&str; 2] = ["large k", "next size"];

/// One family on one corpus.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    family: String,
    corpus: String,
    /// Which switches of the page show and hide it.
    switch: Switch,
    colour: &'static str,
    verdict: Html,
    /// Where the law ends, and what the next size buys.
    first: Vec<Finding>,
    /// The other findings.
    more: Vec<Finding>,
    documents: Html,
    models: Vec<Model>,
    /// Rank laws at the k of the main table, then the cross-entropy law.
    headline: Vec<Row>,
    /// All rank laws, then the cross-entropy law.
    laws: Vec<Row>,
    difference: Option<Html>,
    difference_method: String,
    held_out: Vec<Prediction>,
}

/// A finding beyond the exponents.
#[derive(Debug, Serialize)]
struct Finding {
    subject: &'static str,
    verdict: Html,
}

impl Group {
    /// The group that stands at `place`.
    pub(super) fn of(group: &GroupFit, place: &Place, switch: Switch, colour: &'static str) -> Self {
        let rank_place = |at: usize| place.at("rank_laws").at(at);
        let entropy_place = place.at("cross_entropy_law");
        let entropy = &group.cross_entropy_law;
        let headline = headline(group);
        let row = |&at: &usize| Row::of(&group.rank_laws[at], &rank_place(at));
        let (first, more): (Vec<_>, Vec<_>) = findings(group, place)
            .into_iter()
            .partition(|finding: &Finding| FIRST.contains(&finding.subject));
        let difference = group.greedy_minus_cross_entropy.as_ref();
        Self {
            family: group.family.clone(),
            corpus: group.corpus.clone(),
            switch,
            colour,
            verdict: place.at("verdict").said(&group.verdict),
            first,
            more,
            documents: place.at("documents").count(group.documents),
            models: group
                .models
                .iter()
                .enumerate()
                .map(|(at, model)| Model::of(model, &place.at("models").at(at)))
                .collect(),
            headline: headline.iter().map(row).chain([Row::of(entropy, &entropy_place)]).collect(),
            laws: (0..group.rank_laws.len())
                .map(|at| row(&at))
                .chain([Row::of(entropy, &entropy_place)])
                .collect(),
            difference: difference.map(|estimate| place.at("greedy_minus_cross_entropy").estimate(estimate)),
            difference_method: difference
                .map_or(String::new(), |estimate| format::interval_method(&estimate.interval)),
            held_out: headline
                .first()
                .into_iter()
                .flat_map(|&at| predictions(&group.rank_laws[at], &rank_place(at)))
                .chain(predictions(entropy, &entropy_place))
                .collect(),
        }
    }
}

/// The findings of a group with their places.
fn findings(group: &GroupFit, place: &Place) -> Vec<Finding> {
    let rivals = |law: Place| law.at("rivals").at("verdict");
    let found = group.findings();
    let found = found.into_iter().map(|(subject, verdict)| {
        let at = match subject {
            "shape" => rivals(place.at("rank_laws").at(0)),
            "shape of CE" => rivals(place.at("cross_entropy_law")),
            "next size" => place.at("next_size").at("verdict"),
            "large k" => place.at("breakdown").at("verdict"),
            "who misses" => place.at("classes").at("verdict"),
            "in a row" => place.at("emergence").at("verdict"),
            _ => place.at("rank_distribution").at("verdict"),
        };
        Finding { subject, verdict: at.said(verdict) }
    });
    found.collect()
}

/// Which rank laws stand in the main table.
fn headline(group: &GroupFit) -> Vec<usize> {
    let distance = |law: &Law, wanted: u32| {
        law.k().map_or(f64::INFINITY, |k| (f64::from(k) / f64::from(wanted)).ln().abs())
    };
    let nearest = |wanted: u32| {
        let laws = group.rank_laws.iter().enumerate();
        laws.min_by(|(_, a), (_, b)| distance(a, wanted).total_cmp(&distance(b, wanted))).map(|(at, _)| at)
    };
    let mut found: Vec<usize> = HEADLINE.into_iter().filter_map(nearest).collect();
    found.dedup();
    found
}
