//! The figures: one a file, its numbers first, its drawing second.
//!
//! Each figure is a struct that holds what is shown of one family (a selection of `laws.json`, nothing computed anew but
//! the ends of error bars). From it come a table (the CSV), a caption that says what is seen and how to read it, and a
//! drawing. A figure that has nothing to show is absent.
//!
//! | figure | file | after arXiv 2510.20387 |
//! |---|---|---|
//! | [`greedy::Greedy`] | `greedy--FAMILY` | fig. 3: `-ln RBP_1` against S |
//! | [`head::Head`] | `head--FAMILY` | fig. 4: the same for k = 10, 50, 100 |
//! | [`tail::Tail`] | `tail--FAMILY` | fig. 5: the largest k, with the misses behind each point |
//! | [`fit_by_k::FitByK`] | `fit-by-k--FAMILY` | fig. 6a: R² against k |
//! | [`exponent_by_k::ExponentByK`] | `exponent-by-k--FAMILY` | fig. 6b: alpha against k |
//! | [`together::Together`] | `together--FAMILY` | fig. 8a: cross entropy and `-ln RBP_1` |
//!
//! Laws are fitted within a family, so a figure shows one family; corpora have the same colours in all of them.

mod by_k;
mod curve;
mod exponent_by_k;
mod fit_by_k;
mod greedy;
mod head;
mod tail;
mod together;

use relscale_laws::{GroupFit, StudyFit};
use relscale_records::study::safe_name;

use crate::csv::Table;
use crate::plot::{Drawing, Style};

/// What every figure can do.
pub(crate) trait Figure {
    /// Start of the names of its files.
    fn name(&self) -> &'static str;
    /// What it shows, in a line.
    fn title(&self) -> String;
    /// What is seen, and how to read it.
    fn caption(&self) -> String;
    /// The numbers that are drawn.
    fn numbers(&self) -> Table;
    /// The drawing of them.
    fn drawing(&self) -> Drawing;
}

/// The names that files of figures start with, those of earlier reports included.
pub(crate) const NAMES: [&str; 6] = ["greedy", "head", "tail", "fit-by-k", "exponent-by-k", "together"];

/// One family with its corpora, each in its colour.
pub(crate) struct Family<'a> {
    /// The family's name.
    pub(crate) name: &'a str,
    /// Its groups, by corpus.
    pub(crate) groups: Vec<(&'a GroupFit, Style)>,
    /// Misses (or hits) of any model below which no slope was claimed.
    minimum_count: u64,
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
    fn grid(&self) -> Vec<u32> {
        let mut grid: Vec<u32> = self
            .groups
            .iter()
            .flat_map(|(group, _)| group.rank_laws.iter().filter_map(|law| law.k()))
            .collect();
        grid.sort_unstable();
        grid.dedup();
        grid
    }

    /// The figures that have something to show.
    pub(crate) fn figures(&self) -> Vec<Box<dyn Figure + 'a>> {
        let mut figures: Vec<Box<dyn Figure + 'a>> = Vec::new();
        let mut keep = |figure: Option<Box<dyn Figure + 'a>>| figures.extend(figure);
        keep(greedy::Greedy::of(self).map(|figure| Box::new(figure) as _));
        keep(head::Head::of(self).map(|figure| Box::new(figure) as _));
        keep(tail::Tail::of(self).map(|figure| Box::new(figure) as _));
        keep(fit_by_k::FitByK::of(self).map(|figure| Box::new(figure) as _));
        keep(exponent_by_k::ExponentByK::of(self).map(|figure| Box::new(figure) as _));
        keep(together::Together::of(self).map(|figure| Box::new(figure) as _));
        figures
    }

    /// The name of a figure's files for this family, without the ending.
    pub(crate) fn stem(&self, figure: &dyn Figure) -> String {
        format!("{}--{}", figure.name(), safe_name(self.name))
    }
}
