//! What the fits of one corpus look like along k.

use relscale_laws::PowerLaw;

use super::Family;
use crate::plot::Style;

/// The fits of one corpus, k ascending.
pub(super) struct FitsByK<'a> {
    pub(super) family: &'a str,
    pub(super) corpus: &'a str,
    pub(super) style: Style,
    pub(super) fits: Vec<(u32, &'a PowerLaw)>,
}

impl<'a> FitsByK<'a> {
    /// Those of a family's corpora that have a fit which `keep` wants.
    pub(super) fn of(family: &Family<'a>, keep: impl Fn(&PowerLaw) -> bool) -> Vec<Self> {
        family
            .groups
            .iter()
            .map(|(group, style)| Self {
                family: &group.family,
                corpus: &group.corpus,
                style: *style,
                fits: group
                    .rank_laws
                    .iter()
                    .filter_map(|law| Some((law.k()?, law.fit().filter(|fit| keep(fit))?)))
                    .collect(),
            })
            .filter(|fits| !fits.fits.is_empty())
            .collect()
    }
}

/// All k of some corpora, ascending.
pub(super) fn grid(corpora: &[FitsByK<'_>]) -> Vec<u32> {
    let mut grid: Vec<u32> = corpora.iter().flat_map(|corpus| corpus.fits.iter().map(|(k, _)| *k)).collect();
    grid.sort_unstable();
    grid.dedup();
    grid
}
