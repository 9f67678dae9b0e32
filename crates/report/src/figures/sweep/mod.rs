//! The figures of an IsoFLOP sweep (figure 2 of arXiv 2510.24626): curves of each budget with their minima, then the laws of the optima.
//!
//! | figure | what |
//! |---|---|
//! | `isoflop` | loss against N and against D, a curve a budget, minima marked |
//! | `optima` | N*, D* and the least loss against the budget, by cubics and by parabolas, and what every method says of a further budget |

mod curves;
mod optima;

use super::slot::{LeftOut, Section, Slot};
use crate::results::Results;

/// The names of these figures' files.
pub(super) const NAMES: [&str; 2] = [curves::NAME, optima::NAME];

/// A section a group of runs.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let groups =
        results.isoflop.iter().flat_map(|found| found.fit.groups.iter().map(move |group| (found, group)));
    groups
        .map(|(found, group)| {
            let slots = vec![
                Slot::of(curves::Curves::of(&found.fit, group)),
                Slot::of(optima::Optima::of(&found.fit, group)),
            ];
            Section::named(
                &format!("Sweep {}", group.name),
                &format!("{}--{}", found.file, group.name),
                slots,
            )
        })
        .collect()
}

/// The slots of these figures where there is no sweep.
pub(super) fn left_out() -> Vec<LeftOut> {
    let reason = "no isoflop.json here: relscale sweep fit SWEEP makes it in the folder of a sweep";
    [(curves::NAME, curves::TITLE), (optima::NAME, optima::TITLE)]
        .map(|(name, title)| LeftOut::because(name, title, reason))
        .to_vec()
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
