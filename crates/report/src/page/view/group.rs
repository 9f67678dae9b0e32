//! One family on one corpus: what is found of it, and its rows in the tables.

use relscale_laws::{GroupFit, Law};
use relscale_records::digits;
use serde::Serialize;

use super::switch::Switch;
use crate::page::source::Html;
use crate::page::tables::{Line, View};
use crate::shown::place::{At, at};
use crate::shown::{laws, measured};

/// The k of the main table; the nearest of the grid stands for each.
const HEADLINE: [u32; 3] = [1, 10, 100];

/// Findings that stand open below the verdict; the others are folded.
const FIRST: [&str; 2] = ["large k", "next size"];

/// One family on one corpus.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    family: String,
    corpus: String,
    /// Which switches of the page show and hide it.
    switch: Switch,
    colour: &'static str,
    verdict: Html,
    /// Where the law ends, and what the next size buys.
    first: Vec<Finding>,
    /// The other findings.
    more: Vec<Finding>,
    documents: Html,
    /// Averages of every model.
    averages: Option<View>,
    /// Bytes and vocabularies of every model.
    sizes: Option<View>,
    /// Rank laws at the k of the main table, then the cross-entropy law.
    headline: Vec<Line>,
    /// All rank laws, then the cross-entropy law.
    laws: Option<View>,
    /// The same in words.
    words: Vec<Html>,
    difference: Option<Html>,
    difference_method: String,
    held_out: Option<View>,
}

/// A finding beyond the exponents.
#[derive(Debug, Serialize)]
struct Finding {
    subject: &'static str,
    verdict: Html,
}

impl Group {
    /// The group as it stands in the file.
    pub(super) fn new(
        group: &At<'_, GroupFit>,
        level: f64,
        switch: Switch,
        colour: &'static str,
    ) -> Self {
        let level = digits::percent(level);
        let findings = laws::findings(group).into_iter();
        let findings = findings
            .map(|(subject, said)| Finding { subject, verdict: Html::from(&said.sentence()) });
        let (first, more): (Vec<_>, Vec<_>) =
            findings.partition(|one| FIRST.contains(&one.subject));
        let difference =
            at!(group.greedy_minus_cross_entropy).there().map(|difference| difference.estimate());
        let headline = headline(group);
        let all = || at!(group.rank_laws).each().chain([at!(group.cross_entropy_law)]);
        let table = View::from_table(&laws::group_table(group, &level));
        let first_laws =
            headline.first().and_then(|at| all().nth(*at)).into_iter().chain(all().next_back());
        Self {
            family: group.family.clone(),
            corpus: group.corpus.clone(),
            switch,
            colour,
            verdict: Html::from(&at!(group.verdict).sentence()),
            first,
            more,
            documents: Html::from(&at!(group.documents).count()),
            averages: View::from_table(&measured::averages(group)),
            sizes: View::from_table(&measured::sizes(group)),
            headline: headline
                .into_iter()
                .chain([group.rank_laws.len()])
                .filter_map(|at| table.as_ref().map(|table| table.line(at)))
                .collect(),
            laws: table,
            words: all().map(|law| Html::from(&at!(law.verdict).sentence())).collect(),
            difference: difference.as_ref().map(Html::from),
            difference_method: difference.map_or(String::new(), |difference| difference.hint),
            held_out: View::from_table(&laws::held_out(first_laws, &level)),
        }
    }
}

/// Which rank laws stand in the main table.
fn headline(group: &GroupFit) -> Vec<usize> {
    let distance = |law: &Law, wanted: u32| {
        law.k().map_or(f64::INFINITY, |k| (f64::from(k) / f64::from(wanted)).ln().abs())
    };
    let nearest = |wanted: u32| {
        let laws = group.rank_laws.iter().enumerate();
        laws.min_by(|(_, a), (_, b)| distance(a, wanted).total_cmp(&distance(b, wanted)))
            .map(|(at, _)| at)
    };
    let mut found: Vec<usize> = HEADLINE.into_iter().filter_map(nearest).collect();
    found.dedup();
    found
}
