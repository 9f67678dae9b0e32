//! The figures: one a file, its numbers first, its drawing second.
//!
//! Each figure is a struct that holds what is shown of one family (a selection of `laws.json`, nothing computed anew but
//! the ends of error bars). From it come a table (the CSV), a caption that says what is seen and how to read it, and a
//! drawing.
//!
//! A page is a list of [`Section`]s, a section a list of [`Slot`]s. A slot holds a figure, or, where its data are not
//! there, its title and the reason: the page lists what it does not show. The constructor of a figure therefore returns
//! `Result<Self, LeftOut>`.
//!
//! | figure | file | after arXiv 2510.20387 |
//! |---|---|---|
//! | [`greedy::Greedy`] | `greedy--FAMILY` | fig. 3: `-ln RBP_1` against S |
//! | [`head::Head`] | `head--FAMILY` | fig. 4: the same for k = 10, 50, 100 |
//! | [`tail::Tail`] | `tail--FAMILY` | fig. 5: the largest k, with the misses behind each point |
//! | [`fit_by_k::FitByK`] | `fit-by-k--FAMILY` | fig. 6a: R² against k |
//! | [`exponent_by_k::ExponentByK`] | `exponent-by-k--FAMILY` | fig. 6b: alpha against k |
//! | [`sequences::Sequences`] | `sequences--FAMILY` | fig. 7: `-ln p_{N,k}` against S |
//! | [`sigmoids::Sigmoids`] | `sigmoids--FAMILY` | fig. 7: p against S, and S* |
//! | [`together::Together`] | `together--FAMILY` | fig. 8a: cross entropy and `-ln RBP_1` |
//! | [`simulation::Simulated`] | `simulation--FAMILY` | fig. 8b: both laws from simulated ranks |
//! | [`ranks::Ranks`] | `ranks--FAMILY` | fig. 8c: the rank histogram with fitted densities |
//! | [`ratio::Ratio`] | `mu-sigma--FAMILY` | fig. 8d: mu/sigma against S |
//! | [`residuals::Residuals`] | `residuals--FAMILY` | ours: how far each model lies from its line |
//! | [`held_out::HeldOutHalf`] | `held-out--FAMILY` | ours: the smaller half of the models predicts the others |
//! | [`audit::Audit`] | `audit--FAMILY` | ours: how far off predictions from the m smallest models are, for each m |
//! | [`noise::Noise`] | `noise-floor--FAMILY` | ours: what a perfect law would look like on this text |
//! | [`independence::Independence`] | `independence--FAMILY` | ours: hits in order |
//!
//! The figures of the other results are in rooms of their own: `relative` (with its table of figures), `choices`, `stages`, `size_tokens`, `sweep`. A result
//! that a folder does not hold has its figures' slots in a last section, with the command that makes it.
//!
//! Laws are fitted within a family, so a figure shows one family; corpora have the same colours in all of them.

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

use crate::results::Results;

pub(crate) use family::Family;
pub(crate) use slot::{Figure, LeftOut, Section, Slot};

/// The names that files of figures of the rank laws start with, those of earlier reports included.
pub(crate) const NAMES: [&str; 16] = [
    "greedy",
    "head",
    "tail",
    "fit-by-k",
    "exponent-by-k",
    "sequences",
    "sigmoids",
    "together",
    "simulation",
    "ranks",
    "mu-sigma",
    "residuals",
    "held-out",
    "audit",
    "noise-floor",
    "independence",
];

/// The names that files of all figures start with.
pub(crate) fn names() -> Vec<&'static str> {
    let others =
        [&relative::NAMES[..], &[choices::NAME], &stages::NAMES, &[size_tokens::NAME], &sweep::NAMES];
    NAMES.into_iter().chain(others.concat()).collect()
}

/// The heading of the figures whose results are not in the folder.
pub(crate) const NOT_HERE: &str = "Results that are not here";

/// All sections of a page: one a family of the rank laws, then those of every other result; at last the figures of results that are not there.
pub(crate) fn sections(results: &Results) -> Vec<Section<'_>> {
    let families = results.laws.as_ref().map(Family::all).unwrap_or_default();
    let mut sections: Vec<Section<'_>> = families.iter().map(Family::section).collect();
    let mut missing = Vec::new();
    if results.laws.is_none() {
        let reason = "no laws.json here: relscale fit STUDY makes it";
        missing.push(LeftOut::because(NAMES[0], "The figures of the rank laws", reason));
    }
    let others = [
        (relative::sections(results), relative::left_out as fn() -> Vec<LeftOut>),
        (choices::sections(results), choices::left_out),
        (stages::sections(results), stages::left_out),
        (size_tokens::sections(results), size_tokens::left_out),
        (sweep::sections(results), sweep::left_out),
    ];
    for (found, left_out) in others {
        if found.is_empty() {
            missing.extend(left_out());
        }
        sections.extend(found);
    }
    if !missing.is_empty() {
        sections.push(Section::named(NOT_HERE, "none", missing.into_iter().map(Slot::LeftOut).collect()));
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_a_name_by_which_its_stale_files_are_known() {
        let study = relscale_laws::StudyFit {
            format: relscale_laws::RESULT_FORMAT,
            tool: String::new(),
            options: relscale_laws::FitOptions::default(),
            groups: Vec::new(),
        };
        let family = Family { name: "none", groups: Vec::new(), minimum_count: study.options.minimum_count };
        let names: Vec<&str> = family
            .section()
            .slots
            .iter()
            .map(|slot| match slot {
                Slot::Figure(figure) => figure.name(),
                Slot::LeftOut(left) => left.name,
            })
            .collect();
        assert_eq!(names, NAMES, "in the order of the page");
    }
}
