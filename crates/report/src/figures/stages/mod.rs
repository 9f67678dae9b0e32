//! The figures of two-stage prediction (figures 3 and 4 of arXiv 2510.24626).
//!
//! | figure | what |
//! |---|---|
//! | `stages` | compute to loss, loss to accuracy, compute to accuracy of one group, held-out points marked |
//! | `formats` | how predictable the loss of each group is, beside its accuracy: formats of a prompt compared |

mod chain;
mod formats;

use super::slot::{LeftOut, Section, Slot};
use crate::results::Results;

/// The names of these figures' files.
pub(super) const NAMES: [&str; 2] = [formats::NAME, chain::NAME];

/// Sections of each result: its groups compared, then each group.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    for found in &results.stages {
        let fit = &found.fit;
        let heading = format!("Two stages: {} to {} to {}", fit.x, fit.loss, fit.accuracy);
        let several = fit.groups.len() > 1;
        let mut whole = vec![Slot::of(formats::Formats::of(fit))];
        if let ([group], false) = (fit.groups.as_slice(), several) {
            whole.push(Slot::of(chain::Chain::of(fit, group)));
        }
        sections.push(Section::named(&heading, &found.file, whole));
        for group in fit.groups.iter().filter(|_| several) {
            let slots = vec![Slot::of(chain::Chain::of(fit, group))];
            let files = format!("{}--{}", found.file, group.name);
            sections.push(Section::named(&format!("Two stages: {}", group.name), &files, slots));
        }
    }
    sections
}

/// The slots of these figures where there are no stages.
pub(super) fn left_out() -> Vec<LeftOut> {
    let reason = "no stages.json here: relscale stages --table FILE --x X --loss COLUMN --accuracy COLUMN --json STUDY/stages.json makes it, of \
                  choices.csv for instance";
    [(formats::NAME, formats::TITLE), (chain::NAME, chain::TITLE)]
        .map(|(name, title)| LeftOut::because(name, title, reason))
        .to_vec()
}
