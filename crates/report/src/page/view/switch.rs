//! Which groups of a study there are, and by which switches of the page they are shown and hidden.

use relscale_laws::{GroupFit, StudyFit};
use serde::Serialize;

use crate::figures::Family;
use crate::shown::place::{At, at};

/// The numbers of the switches of a family and of a corpus.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Switch {
    pub(crate) family: usize,
    pub(crate) corpus: usize,
}

/// The groups with their places in the file, in the order of the page.
pub(crate) fn groups<'a>(
    study: &'a StudyFit,
    families: &'a [Family<'a>],
) -> impl Iterator<Item = (At<'a, GroupFit>, usize, Switch, &'static str)> {
    let corpora = corpora(study);
    families.iter().enumerate().flat_map(move |(family, one)| {
        let corpora = corpora.clone();
        one.groups.iter().filter_map(move |(group, style)| {
            let file = At::file("laws.json", study);
            let mut groups = at!(file.groups).each().enumerate();
            let (at, group) = groups.find(|(_, other)| std::ptr::eq(other.it, *group))?;
            let corpus = corpora.iter().position(|corpus| *corpus == group.corpus).unwrap_or(0);
            Some((group, at, Switch { family, corpus }, style.colour()))
        })
    })
}

/// All corpora by name, which is the order of their colours.
pub(crate) fn corpora(study: &StudyFit) -> Vec<&str> {
    let mut corpora: Vec<&str> = study.groups.iter().map(|group| group.corpus.as_str()).collect();
    corpora.sort_unstable();
    corpora.dedup();
    corpora
}
