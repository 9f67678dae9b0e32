//! What the figure that moves with k is drawn from: the rank laws of the whole grid as compact JSON
//! inside the page.
//!
//! The script draws points, error bars, lines and bands from this; the numbers beside the figure
//! are those of the table of all laws, which the script copies with their places. Nothing is
//! rounded here, so that a number that the script shows can be looked up in `laws.json`.

use relscale_laws::{GroupFit, Law, StudyFit};
use serde::Serialize;

use super::view::switch::{corpora, groups};
use crate::figures::Family;

/// All groups.
#[derive(Debug, Serialize)]
pub(super) struct Data<'a> {
    /// All k at which some group has a law, ascending.
    grid: Vec<u32>,
    families: Vec<&'a str>,
    corpora: Vec<&'a str>,
    groups: Vec<Group<'a>>,
}

/// One family on one corpus.
#[derive(Debug, Serialize)]
struct Group<'a> {
    family: usize,
    corpus: usize,
    colour: &'static str,
    /// Its number in the file.
    at: usize,
    laws: Vec<LawAtK<'a>>,
}

/// The law at one k.
#[derive(Debug, Serialize)]
struct LawAtK<'a> {
    k: u32,
    /// Its number in the group.
    at: usize,
    points: Vec<Point<'a>>,
    fit: Option<Fit>,
}

/// Model, S, value, standard error of its logarithm, misses, tokens.
type Point<'a> = (&'a str, f64, f64, Option<f64>, Option<u64>, Option<u64>);

/// A fitted line, known by its middle and its slope.
#[derive(Debug, Serialize)]
struct Fit {
    claimed: bool,
    /// The geometric mean of the sizes, and the law's value there with its interval.
    centre: f64,
    value: (f64, Option<(f64, f64)>),
    exponent: (f64, Option<(f64, f64)>),
    /// Of the two over texts.
    correlation: f64,
    range: (f64, f64),
}

impl<'a> Data<'a> {
    pub(super) fn new(study: &'a StudyFit, families: &'a [Family<'a>]) -> Self {
        let groups: Vec<Group<'a>> = groups(study, families)
            .map(|(group, at, switch, colour)| Group {
                family: switch.family,
                corpus: switch.corpus,
                colour,
                at,
                laws: laws(group.it),
            })
            .collect();
        let mut grid: Vec<u32> = groups
            .iter()
            .flat_map(|group| {
                group.laws.iter().filter(|law| !law.points.is_empty()).map(|law| law.k)
            })
            .collect();
        grid.sort_unstable();
        grid.dedup();
        Self {
            grid,
            families: families.iter().map(|family| family.name).collect(),
            corpora: corpora(study),
            groups,
        }
    }

    /// Whether there is anything to draw.
    pub(super) fn any(&self) -> bool {
        !self.grid.is_empty()
    }

    /// As the content of a `script` element: no `<` that could end it.
    pub(super) fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)?.replace('<', "\\u003c"))
    }
}

fn laws(group: &GroupFit) -> Vec<LawAtK<'_>> {
    let laws = group.rank_laws.iter().enumerate();
    laws.filter_map(|(at, law)| {
        Some(LawAtK { k: law.k()?, at, points: points(law), fit: fit(law) })
    })
    .collect()
}

fn points(law: &Law) -> Vec<Point<'_>> {
    let points = law.points.iter().map(|point| {
        let error = point.log_standard_error;
        (point.label.as_str(), point.x, point.value, error, point.misses, point.tokens)
    });
    points.collect()
}

fn fit(law: &Law) -> Option<Fit> {
    let fit = law.fit()?;
    Some(Fit {
        claimed: fit.claimed,
        centre: fit.centre,
        value: (fit.at_centre.value, fit.at_centre.bounds()),
        exponent: (fit.exponent.value, fit.exponent.bounds()),
        correlation: fit.correlation,
        range: fit.range,
    })
}
