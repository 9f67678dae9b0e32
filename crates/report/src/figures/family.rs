//! One family with its corpora: what the figures of the rank law draw from.

use relscale_laws::{GroupFit, StudyFit};

use super::slot::{Section, Slot};
use super::{
    audit, exponent_by_k, fit_by_k, greedy, head, held_out, independence, noise, ranks, ratio, residuals,
    sequences, sigmoids, simulation, tail, together,
};
use crate::plot::Style;

/// One family with its corpora, each in its colour.
pub(crate) struct Family<'a> {
    /// The family's name.
    pub(crate) name: &'a str,
    /// Its groups, by corpus.
    pub(crate) groups: Vec<(&'a GroupFit, Style)>,
    /// Misses (or hits) of any model below which no slope was claimed.
    pub(super) minimum_count: u64,
}

impl<'a> Family<'a> {
    /// The families of a study, by name. The colours are those of the corpora over the whole study.
    pub(crate) fn all(study: &'a StudyFit) -> Vec<Self> {
        let mut corpora: Vec<&str> = study.groups.iter().map(|group| group.corpus.as_str()).collect();
        corpora.sort_unstable();
        corpora.dedup();
        let mut families: Vec<Self> = Vec::new();
        for group in &study.groups {
            let style = Style::of(corpora.iter().position(|corpus| *corpus == group.corpus).unwrap_or(0));
            match families.iter_mut().find(|family| family.name == group.family) {
                Some(family) => family.groups.push((group, style)),
                None => families.push(Self {
                    name: &group.family,
                    groups: vec![(group, style)],
                    minimum_count: study.options.minimum_count,
                }),
            }
        }
        families
    }

    /// The k of all its rank laws, ascending.
    pub(super) fn grid(&self) -> Vec<u32> {
        let mut grid: Vec<u32> = self
            .groups
            .iter()
            .flat_map(|(group, _)| group.rank_laws.iter().filter_map(|law| law.k()))
            .collect();
        grid.sort_unstable();
        grid.dedup();
        grid
    }

    /// Its figures, in the order of the page.
    pub(super) fn section(&self) -> Section<'a> {
        let slots = vec![
            Slot::of(greedy::Greedy::of(self)),
            Slot::of(head::Head::of(self)),
            Slot::of(tail::Tail::of(self)),
            Slot::of(fit_by_k::FitByK::of(self)),
            Slot::of(exponent_by_k::ExponentByK::of(self)),
            Slot::of(sequences::Sequences::of(self)),
            Slot::of(sigmoids::Sigmoids::of(self)),
            Slot::of(together::Together::of(self)),
            Slot::of(simulation::Simulated::of(self)),
            Slot::of(ranks::Ranks::of(self)),
            Slot::of(ratio::Ratio::of(self)),
            Slot::of(residuals::Residuals::of(self)),
            Slot::of(held_out::HeldOutHalf::of(self)),
            Slot::of(audit::Audit::of(self)),
            Slot::of(noise::Noise::of(self)),
            Slot::of(independence::Independence::of(self)),
        ];
        Section::of_family(self.name, slots)
    }
}
