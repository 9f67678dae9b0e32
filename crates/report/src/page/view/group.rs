//! One family on one corpus: what is found of it, and its rows in the tables.

use relscale_laws::{Flag, GroupFit, Severity};
use relscale_records::digits;
use serde::Serialize;

use super::switch::Switch;
use crate::page::source::Html;
use crate::page::tables::{Line, View};
use crate::shown::glance::{self, headline};
use crate::shown::place::{At, at};
use crate::shown::{Cell, laws, measured};

/// One family on one corpus.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    family: String,
    corpus: String,
    /// Which switches of the page show and hide it.
    switch: Switch,
    colour: &'static str,
    /// What a reader of ten seconds is told.
    glance: Glance,
    verdict: Html,
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
    /// The laws in bytes, words and spans of words.
    text_units: Option<View>,
    /// The same in words.
    words: Vec<Html>,
    difference: Option<Html>,
    difference_method: String,
    held_out: Option<View>,
}

/// A row of the findings' table.
#[derive(Debug, Serialize)]
struct Glance {
    /// The k that it is of.
    k: String,
    exponent: Html,
    r_squared: Html,
    held_out: Html,
    next: Html,
    law: Html,
    /// Doubts about these numbers.
    doubts: Vec<Doubt>,
}

/// A doubt that stands beside the number that it is about.
#[derive(Debug, Serialize)]
struct Doubt {
    severity: &'static str,
    code: String,
    name: String,
}

impl Glance {
    fn new(group: &At<'_, GroupFit>) -> Self {
        let first = glance::first(group);
        let law = first.as_ref().map(|(law, _)| law);
        let fit = first.as_ref().map(|(_, fit)| fit);
        let html = |cell: Option<Cell>| Html::from(&Cell::or_none(cell));
        let next = at!(group.next_size).there();
        let next = next.and_then(|next| at!(next.values).each().next());
        let r_squared = fit.filter(|fit| fit.points > 2);
        let doubts = law.into_iter().flat_map(|law| &law.flags).chain(&group.flags);
        let mut doubts: Vec<Doubt> = doubts.filter_map(Doubt::from_flag).collect();
        doubts.sort_by_key(|doubt| doubt.severity != Severity::Serious.name());
        Self {
            k: law.and_then(|law| law.k()).map(|k| k.to_string()).unwrap_or_default(),
            exponent: html(law.map(glance::exponent)),
            r_squared: html(
                r_squared
                    .and_then(|fit| at!(fit.r_squared).there())
                    .map(|r| r.written(digits::r_squared)),
            ),
            held_out: html(fit.and_then(glance::held_out)),
            next: html(next.as_ref().and_then(glance::next_value)),
            law: html(glance::form(group)),
            doubts,
        }
    }
}

impl Doubt {
    /// Not of a fact that is merely to be known.
    fn from_flag(flag: &Flag) -> Option<Self> {
        let severity = flag.code.severity();
        let code = serde_json::to_value(flag.code).ok()?.as_str()?.to_owned();
        (severity != Severity::Note).then(|| Self {
            severity: severity.name(),
            name: code.replace('_', " "),
            code,
        })
    }
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
        let more = findings
            .map(|(subject, said)| Finding { subject, verdict: Html::from(&said.sentence()) })
            .collect();
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
            glance: Glance::new(group),
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
            text_units: View::from_table(&laws::group_text_table(group, &level)),
            words: all().map(|law| Html::from(&at!(law.verdict).sentence())).collect(),
            difference: difference.as_ref().map(Html::from),
            difference_method: difference.map_or(String::new(), |difference| difference.hint),
            held_out: View::from_table(&laws::held_out(first_laws, &level)),
        }
    }
}
