//! The rank laws and the cross-entropy law of a study.

use relscale_laws::{AuditStep, Flag, GroupFit, Law, PowerLaw, Quantity, StudyFit};
use relscale_records::digits;
use relscale_records::words::SPAN_K;

use super::across;
use super::cell::Cell;
use super::emergence;
use super::glance::{self, finding};
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table, notes};

/// All laws: a table, and what they show in words; tokens right in a row as a table of its own
/// where `in_a_row` says so.
pub fn laws(study: &At<'_, StudyFit>, in_a_row: bool) -> Shown {
    let level = digits::percent(study.options.level);
    let several = glance::several_families(study);
    let title = |group: &GroupFit| glance::title(group, several);
    let groups = || at!(study.groups).each();
    let mut parts = vec![Part::Table(Table {
        columns: columns(&level),
        groups: groups().map(|group| rows(&group, &title(&group))).collect(),
        ..Table::default()
    })];
    if in_a_row {
        let rows = groups().map(|group| emergence::rows(&group, &title(&group))).collect();
        parts.push(Part::Table(emergence::table(rows)));
    }
    let of_text = groups().map(|group| text_rows(&group, &title(&group), told)).collect();
    parts.push(Part::Table(text_table(of_text, &level)));
    parts.extend(across::parts(study));
    parts.extend(groups().flat_map(|group| said(&group)));
    Shown { title: "Rank law".to_owned(), parts }
}

/// Columns of the laws.
fn columns(level: &str) -> Vec<Column> {
    vec![
        Column::once("distribution").only(Medium::Screen),
        Column::numbers("k"),
        Column::estimates("exponent", format!("{level} interval")),
        Column::numbers("R²"),
        Column::numbers("text error").only(Medium::Page),
        Column::numbers("χ² / df, p").only(Medium::Page),
        Column::numbers("models").only(Medium::Page),
        Column::numbers("fewest misses").only(Medium::Page),
        Column::words("the law").only(Medium::Page),
    ]
}

/// All laws of one family on one corpus, for the page.
pub(crate) fn group_table(group: &At<'_, GroupFit>, level: &str) -> Table {
    Table { columns: columns(level), groups: vec![rows(group, &group.corpus)], ..Table::default() }
}

/// The laws in bytes, words and spans of words, a row each.
fn text_table(groups: Vec<Vec<Row>>, level: &str) -> Table {
    let mut columns = columns(level);
    columns[1] = Column::words("quantity");
    columns[2].interval_yields = 2;
    columns[3].yields = 1;
    columns.truncate(columns.len() - 1);
    let title = "In bytes and words, which compare across tokenizers".to_owned();
    Table { title, columns, groups, ..Table::default() }
}

/// Those of one family on one corpus, for the page.
pub(crate) fn group_text_table(group: &At<'_, GroupFit>, level: &str) -> Table {
    text_table(vec![text_rows(group, &group.corpus, |_| true)], level)
}

/// Whether a screen has room for the law: at k = 1, 10, 100, and of spans at k = 1.
fn told(law: &Law) -> bool {
    match law.quantity {
        Quantity::Bytes { k } | Quantity::Words { k } => SPAN_K.contains(&k),
        Quantity::Spans { k, .. } => k == 1,
        _ => true,
    }
}

fn text_rows(group: &At<'_, GroupFit>, title: &str, told: impl Fn(&Law) -> bool) -> Vec<Row> {
    let laws = text_laws(group).filter(|law| told(law));
    laws.map(|law| {
        let mut row = row(&law, title);
        // What is fitted is -ln of each share, as in the table of ranks.
        row.cells[1] = Cell::words(law.name.trim_start_matches("-ln "));
        row.cells.pop();
        Row { key: None, ..row }
    })
    .collect()
}

/// The laws in units of the text: bits per byte, then hits of bytes, words and spans.
pub(crate) fn text_laws<'a>(
    group: &At<'a, GroupFit>,
) -> impl Iterator<Item = At<'a, Law>> + use<'a> {
    let text = at!(group.text_units).there();
    text.into_iter().flat_map(|text| {
        let hits = at!(text.bytes).each().chain(at!(text.words).each());
        [at!(text.bits_per_byte)].into_iter().chain(hits).chain(at!(text.spans).each())
    })
}

/// The rank laws, then the cross-entropy law.
fn rows(group: &At<'_, GroupFit>, title: &str) -> Vec<Row> {
    let laws = at!(group.rank_laws).each().chain([at!(group.cross_entropy_law)]);
    laws.map(|law| row(&law, title)).collect()
}

fn row(law: &At<'_, Law>, title: &str) -> Row {
    let outcome = at!(law.outcome);
    let fit = outcome.fit();
    let of = |number: &dyn Fn(&At<'_, PowerLaw>) -> Option<Cell>| {
        Cell::or_none(fit.as_ref().and_then(number))
    };
    let misses = at!(law.points).each().filter_map(|point| at!(point.misses).there());
    let cells = vec![
        Cell::words(title),
        Cell::words(law.k().map_or("CE".to_owned(), |k| k.to_string())),
        match &fit {
            None => Cell::words("no fit").hinted(outcome.reason()),
            Some(fit) => exponent(fit),
        },
        // A line through two points is always perfect.
        of(&|fit| match fit.r_squared {
            _ if fit.points <= 2 => Some(Cell::none().hinted("two points")),
            None => Some(Cell::none().hinted("all values equal")),
            Some(_) => at!(fit.r_squared).there().map(|r| r.written(digits::r_squared)),
        }),
        of(&|fit| {
            let sampling = at!(fit.exponent_sampling).there()?;
            at!(sampling.standard_error).there().map(|error| error.number())
        }),
        of(&chi_squared),
        at!(law.points).length(),
        Cell::or_none(misses.min_by_key(|misses| **misses).map(|misses| misses.count())),
        Cell::words(law.breakdown.as_ref().map_or("", |breakdown| finding(breakdown.finding))),
    ];
    Row { cells, key: law.k() }
}

fn exponent(fit: &At<'_, PowerLaw>) -> Cell {
    let cell = at!(fit.exponent).estimate().claimed(fit.claimed);
    match at!(fit.exponent.interval).text_share() {
        Some(share) => Cell { share: Some(share), ..cell },
        None => cell,
    }
}

fn chi_squared(fit: &At<'_, PowerLaw>) -> Option<Cell> {
    let chi = at!(fit.chi_squared).there()?;
    Some(
        at!(chi.value)
            .written(|value| format!("{value:.1}"))
            .then(" / ")
            .with(at!(chi.degrees_of_freedom).count())
            .then(", p ")
            .with(at!(chi.p_value).written(digits::probability)),
    )
}

/// The verdict of a group, its findings, its doubts.
fn said(group: &At<'_, GroupFit>) -> Vec<Part> {
    let about = format!("{} on {}", group.family, group.corpus);
    let mut parts = vec![Said::part(Role::Verdict, &about, at!(group.verdict).sentence())];
    let findings = findings(group).into_iter();
    parts.extend(
        findings.map(|(subject, said)| Said::part(Role::Subject, subject, said.sentence())),
    );
    parts.extend(notes(&at!(group.flags), &about));
    parts.extend(law_flags(group).into_iter().map(|(flag, of)| {
        let text = Cell::words(format!("({of}) ")).with(at!(flag.message).sentence());
        Said::part(Role::Note, &about, text)
    }));
    parts
}

/// The findings beyond the exponents, each with the words for its subject. What the result does not
/// hold is passed over.
pub(crate) fn findings<'a>(group: &At<'a, GroupFit>) -> Vec<(&'static str, At<'a, String>)> {
    let shape = |law: At<'a, Law>| at!(law.rivals).there().map(|rivals| at!(rivals.verdict));
    let all = [
        ("shape", at!(group.rank_laws).each().next().and_then(shape)),
        ("shape of CE", shape(at!(group.cross_entropy_law))),
        ("next size", at!(group.next_size).there().map(|next| at!(next.verdict))),
        ("large k", at!(group.breakdown).there().map(|breakdown| at!(breakdown.verdict))),
        ("across tokenizers", at!(group.text_units).there().map(|text| at!(text.verdict))),
        ("who misses", at!(group.classes).there().map(|classes| at!(classes.verdict))),
        ("in a row", at!(group.emergence).there().map(|emergence| at!(emergence.verdict))),
        ("ranks", at!(group.rank_distribution).there().map(|ranks| at!(ranks.verdict))),
    ];
    all.into_iter().filter_map(|(subject, said)| Some((subject, said?))).collect()
}

/// Each kind of doubt about a law of the group, the first of its kind, and which laws have it.
fn law_flags<'a>(group: &At<'a, GroupFit>) -> Vec<(At<'a, Flag>, String)> {
    let mut kinds: Vec<(At<'a, Flag>, Vec<String>)> = Vec::new();
    for law in at!(group.rank_laws).each().chain([at!(group.cross_entropy_law)]) {
        let name = law.k().map_or("CE".to_owned(), |k| k.to_string());
        for flag in at!(law.flags).each() {
            match kinds.iter_mut().find(|(there, _)| there.code == flag.code) {
                Some((_, laws)) => laws.push(name.clone()),
                None => kinds.push((flag, vec![name.clone()])),
            }
        }
    }
    let of = |laws: Vec<String>| {
        let (entropy, k): (Vec<String>, Vec<String>) =
            laws.into_iter().partition(|name| name == "CE");
        let (k, figures) = match k.as_slice() {
            [] => (None, None),
            [one] => (Some(format!("k = {one}")), None),
            [first, .., last] => {
                let values = format!("{} values of k, {first} to {last}", k.len());
                (Some(values), Some(format!("; figures of k = {first}")))
            }
        };
        let names: Vec<String> = k.into_iter().chain(entropy).collect();
        names.join(", and ") + &figures.unwrap_or_default()
    };
    kinds.into_iter().map(|(flag, laws)| (flag, of(laws))).collect()
}

/// The largest model as fits to the smallest ones predict it: of these laws, one step of the audit
/// a row.
pub(crate) fn held_out<'a>(laws: impl Iterator<Item = At<'a, Law>>, level: &str) -> Table {
    let rows = laws.flat_map(|law| {
        let symbol = law.quantity.symbol();
        let steps = at!(law.outcome).fit().map(|fit| at!(fit.audit));
        let steps = steps.into_iter().flat_map(|steps| steps.each()).collect::<Vec<_>>();
        steps.into_iter().filter_map(move |step| step_of(&step, &symbol))
    });
    Table {
        columns: vec![
            Column::words("quantity"),
            Column::numbers("fitted to the smallest"),
            Column::words("largest model"),
            Column::numbers("measured"),
            Column::estimates("predicted", format!("{level} interval")),
            Column::numbers("error"),
            Column::words("inside the interval"),
        ],
        groups: vec![rows.collect()],
        only: Some(Medium::Page),
        ..Table::default()
    }
}

fn step_of(step: &At<'_, AuditStep>, symbol: &str) -> Option<Row> {
    let held = at!(step.predictions).each().next_back()?;
    let cells = vec![
        Cell::words(symbol),
        at!(step.fitted_points).count(),
        Cell::words(&held.label),
        at!(held.observed).number(),
        at!(held.predicted).estimate(),
        at!(held.relative_error).written(digits::deviation),
        Cell::words(match held.covered {
            Some(true) => "yes",
            Some(false) => "no",
            None => "no interval",
        }),
    ];
    Some(cells.into())
}
