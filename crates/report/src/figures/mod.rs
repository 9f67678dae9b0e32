//! The figures: one a file, each a table and what its rows look like.
//!
//! A figure selects numbers of a result into a [`Frame`](crate::frame::Frame), nothing computed
//! anew but the ends of error bars; that frame is its CSV. Its drawing encodes columns of the frame
//! (x, y, band, error bar, mark, colour, panel) and has no other numbers. A caption says what is
//! seen and how to read it.
//!
//! A page is a list of [`Section`]s, a section a list of [`Slot`]s. A slot holds a figure, or,
//! where its data are not there, its title and the reason: the page lists what it does not show. A
//! further figure is a file with a [`Kind`], and a line in the list of its room.
//!
//! | figure | file | after arXiv 2510.20387 |
//! |---|---|---|
//! | `rank` | `rank--FAMILY` | figs. 1 and 2: what a rank is, at a position of the study |
//! | `greedy` | `greedy--FAMILY` | fig. 3: `-ln RBP_1` against S |
//! | `head` | `head--FAMILY` | fig. 4: the same for k = 10, 50, 100 |
//! | `tail` | `tail--FAMILY` | fig. 5: the largest k, with the misses behind each point |
//! | `fit_by_k` | `fit-by-k--FAMILY` | fig. 6a: R² against k |
//! | `exponent_by_k` | `exponent-by-k--FAMILY` | fig. 6b: alpha against k |
//! | `sequences` | `sequences--FAMILY` | fig. 7: `-ln p_{N,k}` against S |
//! | `sigmoids` | `sigmoids--FAMILY` | fig. 7: p against S, and S* |
//! | `together` | `together--FAMILY` | fig. 8a: cross entropy and `-ln RBP_1` |
//! | `simulation` | `simulation--FAMILY` | fig. 8b: both laws from simulated ranks |
//! | `ranks` | `ranks--FAMILY` | fig. 8c: the rank histogram with fitted densities |
//! | `ratio` | `mu-sigma--FAMILY` | fig. 8d: mu/sigma against S |
//! | `residuals` | `residuals--FAMILY` | ours: how far each model lies from its line |
//! | `held_out` | `held-out--FAMILY` | ours: the smaller half of the models predicts the others |
//! | `audit` | `audit--FAMILY` | ours: how far off predictions from the m smallest models are, for each m |
//! | `noise` | `noise-floor--FAMILY` | ours: what a perfect law would look like on this text |
//! | `independence` | `independence--FAMILY` | ours: hits in order |
//!
//! `across` shows the families of one corpus side by side (`across-tokenizers--CORPUS`). The
//! figures of the other results are in rooms of their own: `relative` (with its table of figures),
//! `choices`, `stages`, `size_tokens`, `training`, `sweep`. A result that a folder does not hold
//! has its figures' slots in a last section, with the command that makes it.
//!
//! Laws are fitted within a family, so a figure shows one family; corpora have the same colours in
//! all of them.

mod across;
mod audit;
mod by_k;
mod choices;
mod curve;
mod exponent_by_k;
mod family;
mod fit_by_k;
mod greedy;
mod head;
mod held_out;
mod independence;
mod noise;
mod rank;
mod ranks;
mod ratio;
mod relative;
mod residuals;
mod sequences;
mod sigmoids;
mod simulation;
mod size_tokens;
mod slot;
mod stages;
mod sweep;
mod tail;
mod together;
mod training;

use crate::results::Results;

pub(crate) use family::Family;
pub(crate) use slot::{Figure, Kind, LeftOut, Made, Passage, Section, Slot, Values};

/// How a figure of a family is made.
type OfFamily = for<'a> fn(&Family<'a>) -> Made<'a>;

/// The figures of a family of rank laws, in the order of the page.
const OF_FAMILY: [Kind<OfFamily>; 16] = [
    greedy::FIGURE,
    head::FIGURE,
    tail::FIGURE,
    fit_by_k::FIGURE,
    exponent_by_k::FIGURE,
    sequences::FIGURE,
    sigmoids::FIGURE,
    together::FIGURE,
    simulation::FIGURE,
    ranks::FIGURE,
    ratio::FIGURE,
    residuals::FIGURE,
    held_out::FIGURE,
    audit::FIGURE,
    noise::FIGURE,
    independence::FIGURE,
];

/// The questions that the figures of a page answer, in its order, each with the names of its
/// figures.
pub(crate) const QUESTIONS: [(&str, &[&str]); 11] = [
    ("What is a rank?", &["rank"]),
    ("Does the law hold?", &["greedy", "head", "together", "residuals"]),
    ("How far does it carry?", &["held-out", "audit", "left-out"]),
    ("What breaks it?", &["tail", "fit-by-k", "exponent-by-k", "noise-floor"]),
    ("Where does it come from?", &["ranks", "mu-sigma", "simulation"]),
    ("What does it mean for generation?", &["sequences", "sigmoids", "independence"]),
    ("How do families compare?", &["across-tokenizers"]),
    (
        "How do distributions differ?",
        &["absolute", "gap", "slopes", "covariate", "gap-by-k", "cases", "size-tokens"],
    ),
    ("What does training do?", &["training", "training-exponents", "training-noise"]),
    ("What does it mean for questions?", &["choices", "stages", "formats"]),
    ("Which size is best for a budget?", &["isoflop", "optima"]),
];

/// Which question a figure of this name answers; what has none stands with the last.
pub(crate) fn question(name: &str) -> usize {
    let of = |(_, names): &(&str, &[&str])| names.contains(&name);
    QUESTIONS.iter().position(of).unwrap_or(QUESTIONS.len() - 1)
}

/// The figure that shows what the figure that moves shows at first.
pub(crate) const STILL: &str = "greedy";

/// The names that files of all figures start with, those of earlier reports included.
pub(crate) fn names() -> Vec<&'static str> {
    let others = [
        across::left_out(),
        relative::left_out(),
        choices::left_out(),
        stages::left_out(),
        size_tokens::left_out(),
        training::left_out(),
        sweep::left_out(),
    ];
    let others = others.iter().flatten().map(|slot| slot.name);
    let of_family = OF_FAMILY.iter().map(|kind| kind.name);
    [rank::FIGURE.name].into_iter().chain(of_family).chain(others).collect()
}

/// The heading of the figures whose results are not in the folder.
pub(crate) const NOT_HERE: &str = "Results that are not here";

/// All sections of a page: one a family of the rank laws, then those of every other result; at last
/// the figures of results that are not there.
pub(crate) fn sections(results: &Results) -> Vec<Section<'_>> {
    let families = results.laws.as_ref().map(Family::all).unwrap_or_default();
    let mut sections: Vec<Section<'_>> = Vec::new();
    for family in &families {
        let first = rank::FIGURE.slot((rank::FIGURE.make)(family, results.examples.as_ref()));
        let slots = OF_FAMILY.iter().map(|kind| kind.slot((kind.make)(family)));
        let slots = [first].into_iter().chain(slots);
        sections.push(Section::new(
            &format!("Family {}", family.name),
            family.name,
            slots.collect(),
        ));
    }
    let mut missing = Vec::new();
    if results.laws.is_none() {
        let kind = Kind { title: "The figures of the rank laws", ..greedy::FIGURE };
        missing.push(kind.slot(Err("no laws.json here: relscale fit STUDY makes it".to_owned())));
    }
    let others = [
        (across::sections(results), across::left_out as fn() -> Vec<Slot<'static>>),
        (relative::sections(results), relative::left_out),
        (choices::sections(results), choices::left_out),
        (stages::sections(results), stages::left_out),
        (size_tokens::sections(results), size_tokens::left_out),
        (training::sections(results), training::left_out),
        (sweep::sections(results), sweep::left_out),
    ];
    for (found, left_out) in others {
        if found.is_empty() {
            missing.extend(left_out());
        }
        sections.extend(found);
    }
    if !missing.is_empty() {
        sections.push(Section::new(NOT_HERE, "none", missing));
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_files_of_its_own() {
        let names = names();
        let mut different = names.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), names.len(), "{names:?}");
        let one_word = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        assert!(
            names.iter().all(one_word) && names.iter().all(|name| !name.contains("--")),
            "{names:?}"
        );
    }

    #[test]
    fn every_figure_answers_one_question() {
        let asked = QUESTIONS.iter().flat_map(|(_, names)| *names).copied();
        let mut asked: Vec<&str> = asked.collect();
        let mut known = names();
        asked.sort_unstable();
        known.sort_unstable();
        assert_eq!(asked, known);
    }

    #[test]
    fn what_a_folder_does_not_hold_is_named() {
        let nothing = Results::default();
        let sections = sections(&nothing);
        let [missing] = sections.as_slice() else { panic!("one section") };
        assert_eq!(missing.heading, NOT_HERE);
        assert!(missing.slots.iter().all(|slot| slot.figure.is_err()));
        // One slot for all figures of the rank laws, one for each other.
        assert_eq!(missing.slots.len(), names().len() - OF_FAMILY.len());
    }
}
