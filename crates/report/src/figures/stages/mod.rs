//! The figures of two-stage prediction (figures 3 and 4 of arXiv 2510.24626).
//!
//! | figure | what |
//! |---|---|
//! | `stages` | compute to loss, loss to accuracy, compute to accuracy of one group, held-out points marked |
//! | `formats` | how predictable the loss of each group is, beside its accuracy: formats of a prompt compared |

mod chain;
mod formats;

use super::slot::{Section, Slot};
use crate::results::Results;

/// Sections of each result: its groups compared, then each group.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    for found in &results.stages {
        let fit = &found.fit;
        let heading = format!("Two stages: {} to {} to {}", fit.x, fit.loss, fit.accuracy);
        let mut chains =
            fit.groups.iter().map(|group| (group, chain::FIGURE.slot(chain::make(fit, group))));
        let mut whole = vec![formats::FIGURE.slot(formats::make(fit))];
        if fit.groups.len() == 1 {
            whole.extend(chains.by_ref().map(|(_, slot)| slot));
        }
        sections.push(Section::new(&heading, &found.file, whole));
        sections.extend(chains.map(|(group, slot)| {
            let files = format!("{}--{}", found.file, group.name);
            Section::new(&format!("Two stages: {}", group.name), &files, vec![slot])
        }));
    }
    sections
}

/// The slots of these figures where there are no stages.
pub(super) fn left_out() -> Vec<Slot<'static>> {
    let reason = "no stages.json here: relscale stages --table FILE --x X --loss COLUMN --accuracy COLUMN --json STUDY/stages.json makes it, of \
                  choices.csv for instance";
    vec![formats::FIGURE.slot(Err(reason.to_owned())), chain::FIGURE.slot(Err(reason.to_owned()))]
}
