//! A study at a glance: what a reader of ten seconds takes home, on a terminal and on the page.

use std::cmp::Ordering;

use relscale_laws::{Finding, FormFinding, FormTest, GroupFit, Law, NextValue, PowerLaw, StudyFit};
use relscale_records::digits;

use super::across;
use super::cell::Cell;
use super::emergence;
use super::place::{At, at};
use super::table::{Column, Part, Role, Row, Said, Shown, Table};
use crate::format;

/// The k that are told first, as in the paper's figures; the nearest of the grid stands for each.
const HEADLINE: [u32; 3] = [1, 10, 100];

/// Names in a row, at most; others are `others`.
const NAMED: usize = 3;

/// A study in short: the laws at a few k, a line a corpus, and tokens right in a row as a table of
/// its own where `in_a_row` says so.
pub fn glance(study: &At<'_, StudyFit>, in_a_row: bool) -> Shown {
    let groups = || at!(study.groups).each();
    let several = several_families(study);
    let title = |group: &GroupFit| title(group, several);
    let level = digits::percent(study.options.level);
    let mut parts = vec![Part::Table(Table {
        columns: vec![
            Column::once("distribution"),
            Column::numbers("k"),
            Column::estimates("exponent", format!("{level} interval")).interval_yields(2),
            Column::numbers("R²").yields(3),
            Column::numbers("held out").yields(1),
            Column::words("the law"),
        ],
        groups: groups().map(|group| rows(&group, &title(&group))).collect(),
        ..Table::default()
    })];
    if in_a_row {
        let rows = groups().map(|group| emergence::rows(&group, &title(&group))).collect();
        parts.push(Part::Table(emergence::table(rows)));
    }
    parts.push(Said::part(Role::Verdict, "", sentence(study)));
    let line = |group: At<'_, GroupFit>| {
        let name = title(&group);
        let short = Cell::join(form(&group).into_iter().chain(next_size(&group)), "; ");
        Said::part(Role::Item, &name, Cell::words(format!("{name}: ")).with(short))
    };
    parts.extend(groups().map(line));
    parts.extend(across::parts(study));
    Shown { title: "Rank law".to_owned(), parts }
}

/// Whether families must be told apart.
pub(crate) fn several_families(study: &StudyFit) -> bool {
    study.groups.windows(2).any(|pair| pair[0].family != pair[1].family)
}

/// A group's name: its corpus, with the family where there are several.
pub(crate) fn title(group: &GroupFit, several: bool) -> String {
    match several {
        true => format!("{} on {}", group.family, group.corpus),
        false => group.corpus.clone(),
    }
}

/// Which rank laws are told first.
pub(crate) fn headline(group: &GroupFit) -> Vec<usize> {
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

fn rows(group: &At<'_, GroupFit>, title: &str) -> Vec<Row> {
    let told = headline(group);
    let laws = at!(group.rank_laws).each().enumerate().filter(|(at, _)| told.contains(at));
    laws.map(|(_, law)| {
        let outcome = at!(law.outcome);
        let fit = outcome.fit();
        let r_squared = fit.as_ref().filter(|fit| fit.points > 2);
        let r_squared = r_squared.and_then(|fit| at!(fit.r_squared).there());
        vec![
            Cell::words(title),
            Cell::words(law.k().map_or(String::new(), |k| k.to_string())),
            exponent(&law),
            Cell::or_none(r_squared.map(|r| r.written(digits::r_squared))),
            Cell::or_none(fit.and_then(|fit| held_out(&fit))),
            Cell::words(law.breakdown.as_ref().map_or("", |there| finding(there.finding))),
        ]
        .into()
    })
    .collect()
}

/// What was found of a law, in a few words.
pub(super) fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Holds => "holds",
        Finding::Bends => "bends",
        Finding::Departure => "departs from a line",
        Finding::SamplingNoise => "hidden by sampling noise",
        Finding::SlopeLost => "slope lost",
        Finding::TooFew => "too few misses or hits",
        Finding::Undecided => "undecided",
        // A finding that is newer than this page: the verdict says it.
        _ => "see its verdict",
    }
}

/// The exponent with its interval, or that there is none.
pub(crate) fn exponent(law: &At<'_, Law>) -> Cell {
    let outcome = at!(law.outcome);
    outcome.fit().map_or_else(
        || Cell::words("no fit").hinted(outcome.reason()),
        |fit| at!(fit.exponent).estimate().claimed(fit.claimed),
    )
}

/// `12 of 12`: how many predictions of larger models from smaller ones lie in their intervals.
pub(crate) fn held_out(fit: &At<'_, PowerLaw>) -> Option<Cell> {
    let coverage = at!(fit.coverage).there()?;
    Some(at!(coverage.inside).count().then(" of ").with(at!(coverage.judged).count()))
}

/// The rank law that is told first: that of the smallest k that can be claimed.
pub(crate) fn first<'a>(group: &At<'a, GroupFit>) -> Option<(At<'a, Law>, At<'a, PowerLaw>)> {
    at!(group.rank_laws).each().find_map(|law| {
        let fit = at!(law.outcome).fit().filter(|fit| fit.claimed)?;
        Some((law, fit))
    })
}

/// Whether the first law is a power law, in a few words.
pub(crate) fn form(group: &At<'_, GroupFit>) -> Option<Cell> {
    let Some((law, _)) = first(group) else { return Some(Cell::words("no law is claimed")) };
    let rivals = at!(law.rivals).there()?;
    let test = at!(rivals.test).there()?;
    let p_value = at!(test.p_value).there().map(|p| p.written(digits::probability));
    let chance = |words: &str| match &p_value {
        Some(p) => Cell::words(format!("{words} (p = ")).with(p.clone()).then(")"),
        None => Cell::words(words),
    };
    Some(match test.finding {
        FormFinding::Bends => chance("no power law: the points bend").then(direction(&test)),
        FormFinding::NotRejected => chance("a power law is not rejected"),
        _ => Cell::words("undecided whether a power law: ")
            .with(at!(test.points).count())
            .then(" models, ")
            .with(at!(test.points_needed).count())
            .then(" are needed"),
    })
}

fn direction(test: &FormTest) -> &'static str {
    match test.curvature {
        Some(curvature) if curvature > 0.0 => ", flatter towards the largest",
        Some(_) => ", steeper towards the largest",
        None => "",
    }
}

/// What the next size has: the first of its values.
fn next_size(group: &At<'_, GroupFit>) -> Option<Cell> {
    let next = at!(group.next_size).there()?;
    let value = at!(next.values).each().next()?;
    let times = at!(next.times_largest).written(|times| format!("{times:.0}"));
    let symbol = value.prediction.quantity.symbol();
    let found = next_value(&value)?;
    let now = at!(value.measured).number();
    let words = Cell::words("at ").with(times).then(format!(" times the size, {symbol} "));
    Some(words.with(found).then(" instead of ").with(now))
}

/// What is predicted, with its interval.
pub(crate) fn next_value(value: &At<'_, NextValue>) -> Option<Cell> {
    let prediction = at!(value.prediction);
    let outcome = at!(prediction.outcome);
    let found = outcome.fit()?;
    Some(at!(found.value).estimate())
}

/// The whole study in a sentence or two: whether the ranks fall with size, how fast, and by what
/// form.
pub(crate) fn sentence(study: &At<'_, StudyFit>) -> Cell {
    let several = several_families(study);
    let told: Vec<_> = at!(study.groups)
        .each()
        .filter_map(|group| {
            let (law, fit) = first(&group)?;
            Some((title(&group, several), law, fit))
        })
        .collect();
    let Some((_, one, _)) = told.first() else {
        return Cell::words("No rank law is claimed.");
    };
    let symbol = one.quantity.symbol();
    let falls = |fit: &PowerLaw| match fit.exponent.bounds() {
        Some((low, _)) => low > 0.0,
        None => fit.exponent.value > 0.0,
    };
    let names = |of: &dyn Fn(&Law, &PowerLaw) -> bool| -> Vec<String> {
        let those = told.iter().filter(|(_, law, fit)| of(law, fit));
        those.map(|(name, ..)| name.clone()).collect()
    };
    let (falling, others) = (names(&|_, fit| falls(fit)), names(&|_, fit| !falls(fit)));
    let mut said = match (falling.len(), others.len()) {
        (0, _) => Cell::words(format!("{symbol} is not shown to fall with size")),
        (_, 0) => Cell::words(format!("{symbol} falls with size on {}", list(&falling))),
        _ => Cell::words(format!(
            "{symbol} falls with size on {}, and is not shown to on {}",
            list(&falling),
            list(&others)
        )),
    };
    let exponents = || told.iter().map(|(_, _, fit)| at!(fit.exponent));
    let by_value = |a: &At<'_, _>, b: &At<'_, _>| order(a, b);
    if let (Some(least), Some(most)) = (exponents().min_by(by_value), exponents().max_by(by_value))
    {
        said = match told.len() {
            1 => said.then(", with exponent ").with(least.estimate()),
            _ => said
                .then(", with exponents from ")
                .with(least.value_alone())
                .then(" to ")
                .with(most.value_alone()),
        };
    }
    let found = |wanted: FormFinding| {
        names(&|law, _| {
            let test = law.rivals.as_ref().and_then(|rivals| rivals.test.as_ref());
            test.is_some_and(|test| test.finding == wanted)
        })
    };
    let forms = [
        (FormFinding::NotRejected, "a power law is not rejected"),
        (FormFinding::Bends, "the points bend, so it is no power law"),
        (FormFinding::Undecided, "too few models to tell whether it is a power law"),
    ];
    let forms: Vec<String> = forms
        .into_iter()
        .map(|(finding, words)| (found(finding), words))
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, words)| match names.len() == told.len() {
            true => words.to_owned(),
            false => format!("on {} {words}", list(&names)),
        })
        .collect();
    match forms.is_empty() {
        true => said.then("."),
        false => said.then(format!("; {}.", forms.join("; "))),
    }
}

fn order(a: &relscale_laws::Estimate, b: &relscale_laws::Estimate) -> Ordering {
    a.value.total_cmp(&b.value)
}

fn list(names: &[String]) -> String {
    match names.len() <= NAMED {
        true => format::list(names),
        false => format!("{} and others", names[..NAMED].join(", ")),
    }
}
