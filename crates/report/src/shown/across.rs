//! The families of one corpus side by side, per word and per byte.

use relscale_laws::{AcrossTokenizers, StudyFit};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Part, Role, Row, Said, Shown, Table, notes};

/// All corpora that several families were measured on; nothing where there is none.
pub fn across(study: &At<'_, StudyFit>) -> Shown {
    Shown { title: "Families side by side".to_owned(), parts: parts(study) }
}

/// The same as parts of another result.
pub(super) fn parts(study: &At<'_, StudyFit>) -> Vec<Part> {
    if study.across_tokenizers.is_empty() {
        return Vec::new();
    }
    let level = digits::percent(study.options.level);
    let corpora = || at!(study.across_tokenizers).each();
    let counted = corpora().map(|corpus| counted(&corpus)).collect();
    let laws = corpora().map(|corpus| laws(&corpus)).collect();
    let mut parts = vec![
        Part::Table(Table {
            title: "Families side by side: what was counted".to_owned(),
            columns: vec![
                Column::once("corpus"),
                Column::words("family"),
                Column::numbers("tokens"),
                Column::numbers("bytes"),
                Column::numbers("words"),
                Column::numbers("words left out"),
                Column::words("tokenizer").yields(1),
            ],
            groups: counted,
            ..Table::default()
        }),
        Part::Table(Table {
            title: "Families side by side, per word and per byte".to_owned(),
            columns: vec![
                Column::once("corpus"),
                Column::once("quantity"),
                Column::words("family"),
                Column::estimates("at the common size", format!("{level} of the line"))
                    .interval_yields(2),
                Column::estimates("exponent", format!("{level} interval")).interval_yields(1),
            ],
            groups: laws,
            note: "Shares of words, bytes and spans are of those whose tokens all have rank at most k; the exponent is of minus \
                   their logarithm.",
            ..Table::default()
        }),
    ];
    for corpus in corpora() {
        parts.push(Said::part(Role::Verdict, "", at!(corpus.verdict).sentence()));
        parts.extend(notes(&at!(corpus.flags), &corpus.corpus));
    }
    parts
}

fn counted(corpus: &At<'_, AcrossTokenizers>) -> Vec<Row> {
    let rows = at!(corpus.families).each().map(|family| {
        let words = at!(family.words).there().map(|words| words.count());
        let left_out = at!(family.words_left_out).there().map(|words| words.count());
        let tokenizer: String = family.tokenizer.chars().take(12).collect();
        vec![
            Cell::words(&corpus.corpus),
            Cell::words(&family.family),
            at!(family.tokens).count(),
            at!(family.bytes).count(),
            Cell::or_none(words),
            Cell::or_none(left_out),
            Cell::words(tokenizer),
        ]
        .into()
    });
    rows.collect()
}

fn laws(corpus: &At<'_, AcrossTokenizers>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for quantity in at!(corpus.quantities).each() {
        rows.extend(at!(quantity.families).each().map(|family| {
            let at_size = at!(family.at_size).there().map(|at| at.estimate());
            Row::from(vec![
                Cell::words(&corpus.corpus),
                Cell::words(&quantity.name),
                Cell::words(&family.family),
                Cell::or_none(at_size),
                at!(family.exponent).estimate().claimed(family.claimed),
            ])
        }));
    }
    rows
}
