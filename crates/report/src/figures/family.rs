//! One family with its corpora: what the figures of the rank law draw from.

use relscale_laws::{GroupFit, StudyFit};

use crate::plot::Style;

/// One family with its corpora, each in its colour.
#[derive(Clone)]
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
        let mut corpora: Vec<&str> =
            study.groups.iter().map(|group| group.corpus.as_str()).collect();
        corpora.sort_unstable();
        corpora.dedup();
        let mut families: Vec<Self> = Vec::new();
        for group in &study.groups {
            let style = Style::for_corpus(
                corpora.iter().position(|corpus| *corpus == group.corpus).unwrap_or(0),
            );
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
        let laws = self.groups.iter().flat_map(|(group, _)| &group.rank_laws);
        let mut grid: Vec<u32> = laws.filter_map(|law| law.k()).collect();
        grid.sort_unstable();
        grid.dedup();
        grid
    }

    /// The colour of a corpus.
    pub(super) fn style(&self, corpus: &str) -> Style {
        let group = self.groups.iter().find(|(group, _)| group.corpus == corpus);
        group.map_or(Style::NEUTRAL, |(_, style)| *style)
    }
}
