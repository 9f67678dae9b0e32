//! The figures of an IsoFLOP sweep (figure 2 of arXiv 2510.24626): curves of each budget with their
//! minima, then the laws of the optima.
//!
//! | figure | what |
//! |---|---|
//! | `isoflop` | loss against N and against D, a curve a budget, minima marked |
//! | `optima` | N*, D* and the least loss against the budget, by cubics and by parabolas, and what every method says of a further budget |
//! | `left-out` | runs of most compute, and of most tokens a parameter, as the surfaces of the others tell them |

mod curves;
mod left_out;
mod optima;

use relscale_laws::{IsoflopFit, IsoflopGroup};

use super::slot::{Kind, Made, Section, Slot};
use crate::results::Results;

/// How a figure of a group of runs is made.
type OfGroup = for<'a> fn(&'a IsoflopFit, &'a IsoflopGroup) -> Made<'a>;

/// The figures of a group of runs, in the order of the page.
const OF_GROUP: [Kind<OfGroup>; 3] = [curves::FIGURE, optima::FIGURE, left_out::FIGURE];

/// A section a group of runs.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let groups = results
        .isoflop
        .iter()
        .flat_map(|found| found.fit.groups.iter().map(move |group| (found, group)));
    let sections = groups.map(|(found, group)| {
        let slots = OF_GROUP.iter().map(|kind| kind.slot((kind.make)(&found.fit, group)));
        let files = format!("{}--{}", found.file, group.name);
        Section::new(&format!("Sweep {}", group.name), &files, slots.collect())
    });
    sections.collect()
}

/// The slots of these figures where there is no sweep.
pub(super) fn left_out() -> Vec<Slot<'static>> {
    let reason = "no isoflop.json here: relscale sweep fit SWEEP makes it in the folder of a sweep";
    OF_GROUP.iter().map(|kind| kind.slot(Err(reason.to_owned()))).collect()
}

/// `C, training FLOPs`: what budgets count.
fn flops(counted: &str) -> String {
    match counted {
        "train" => "C, FLOPs of training".to_owned(),
        "fwd" => "C, FLOPs of the forward pass".to_owned(),
        other => format!("C, FLOPs ({other})"),
    }
}

/// `N, parameters (total)`: what sizes count.
fn params(counted: &str) -> String {
    format!("N, parameters ({})", counted.replace('-', " "))
}
