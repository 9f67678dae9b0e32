//! What the page says of the results beside `laws.json`: relative laws, questions with options, stages, size against tokens, sweeps.
//!
//! Their sentences are found by walking the result as JSON, as flags are: every result says what it shows in members
//! `verdict`, the whole first and its parts below it.

use relscale_laws::{Gap, GapLaw, RelativeFit, Saved};
use serde::Serialize;
use serde_json::Value;

use super::source::{Html, Place};
use super::tables::{self, Table};
use crate::format;
use crate::results::{Named, Results};

/// Lists inside lists deeper than this are detail: single predictions, single budgets.
const DEPTH: usize = 2;

/// Everything, result by result.
#[derive(Debug, Default, Serialize)]
pub(super) struct Others {
    findings: Vec<Finding>,
    gaps: Vec<Gaps>,
    tables: Vec<Table>,
}

/// What one result shows.
#[derive(Debug, Serialize)]
struct Finding {
    title: String,
    /// Its file.
    file: String,
    /// The sentences, each with what it is about.
    said: Vec<(String, Html)>,
}

/// The gaps of one family to one baseline, as a table.
#[derive(Debug, Serialize)]
struct Gaps {
    title: String,
    level: String,
    rows: Vec<Row>,
}

/// One gap.
#[derive(Debug, Serialize)]
struct Row {
    treatment: String,
    trend: &'static str,
    delta_beta: Html,
    method: String,
    r_squared: Html,
    at_smallest: Html,
    at_largest: Html,
    models: Html,
}

/// The results of a folder as JSON, by the names of their files; `laws.json` is not among them.
///
/// # Errors
/// None that a result can cause: all of it was JSON.
pub(super) fn values(results: &Results) -> serde_json::Result<Vec<(String, Value)>> {
    fn of<T: Saved>(all: &[Named<T>]) -> impl Iterator<Item = serde_json::Result<(String, Value)>> {
        all.iter().map(|one| Ok((format!("{}.json", one.file), serde_json::to_value(&one.fit)?)))
    }
    of(&results.relative)
        .chain(of(&results.choices))
        .chain(of(&results.stages))
        .chain(of(&results.size_tokens))
        .chain(of(&results.isoflop))
        .collect()
}

impl Others {
    /// What `values` say, those of [`values`].
    pub(super) fn of(results: &Results, values: &[(String, Value)]) -> Self {
        let findings = values.iter().map(|(file, value)| {
            let mut said = Vec::new();
            walk(value, &Place::file(file), 0, "", &mut said);
            Finding { title: title(file, value), file: file.clone(), said }
        });
        let gaps = results.relative.iter().flat_map(|one| gaps(&format!("{}.json", one.file), &one.fit));
        Self {
            findings: findings.filter(|finding| !finding.said.is_empty()).collect(),
            gaps: gaps.collect(),
            tables: tables::all(results),
        }
    }
}

/// What a result is, by its file and what it says of itself.
fn title(file: &str, value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let kind = match file {
        _ if file.starts_with("relative") => "Relative law",
        _ if file.starts_with("choices") => "Questions with options",
        _ if file.starts_with("stages") => "Loss to accuracy, in two stages",
        _ if file.starts_with("size-tokens") => "Size against tokens",
        _ => "Compute-optimal models of the sweep",
    };
    match (text("error"), text("x")) {
        (Some(error), Some(x)) => format!("{kind} of {error} against {x}"),
        _ => kind.to_owned(),
    }
}

fn walk(value: &Value, place: &Place, depth: usize, about: &str, said: &mut Vec<(String, Html)>) {
    match value {
        Value::Array(entries) if depth < DEPTH => {
            for (at, entry) in entries.iter().enumerate() {
                walk(entry, &place.at(at), depth + 1, about, said);
            }
        }
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            let about = match (text("family"), text("corpus")) {
                (Some(family), Some(corpus)) => format!("{family} on {corpus}"),
                _ => text("name").unwrap_or(about).to_owned(),
            };
            if let Some(verdict) = text("verdict") {
                said.push((about.clone(), place.at("verdict").said(verdict)));
            }
            for (name, member) in members {
                walk(member, &place.at(name), depth, &about, said);
            }
        }
        _ => {}
    }
}

fn gaps<'a>(file: &'a str, fit: &'a RelativeFit) -> Vec<Gaps> {
    let families = fit.families.iter().enumerate().filter(|(_, family)| !family.gaps.is_empty());
    families
        .map(|(at, family)| {
            let place = Place::file(file).at("families").at(at).at("gaps");
            Gaps {
                title: format!(
                    "{} ({}), E is {}, against {}",
                    fit.options.baseline, family.name, fit.error, fit.x
                ),
                level: format::percent(fit.options.level),
                rows: family.gaps.iter().enumerate().map(|(at, gap)| row(gap, &place.at(at))).collect(),
            }
        })
        .collect()
}

fn row(gap: &Gap, place: &Place) -> Row {
    let outcome = place.at("outcome");
    let none = || Html::text("–");
    let of = |number: &dyn Fn(&GapLaw) -> Html| gap.fit().map_or_else(none, number);
    Row {
        treatment: gap.name.clone(),
        trend: gap.fit().map_or("no fit", |law| law.trend.name()),
        delta_beta: of(&|law| outcome.at("delta_beta").estimate(&law.delta_beta)),
        method: gap.fit().map_or(String::new(), |law| format::interval_method(&law.delta_beta.interval)),
        r_squared: of(&|law| {
            law.power
                .r_squared
                .map_or_else(none, |r| outcome.at("r_squared").number(r, &format::r_squared(Some(r))))
        }),
        at_smallest: of(&|law| outcome.at("at_smallest").significant(&law.at_smallest)),
        at_largest: of(&|law| outcome.at("at_largest").significant(&law.at_largest)),
        models: place.at("points").count(gap.points.len() as u64),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sentences_are_found_with_what_they_are_about() {
        let value = json!({"families": [{"name": "f", "verdict": "All widen.", "gaps": [
            {"name": "t", "verdict": "It widens.", "points": [{"verdict": "detail"}]}
        ]}]});
        let mut said = Vec::new();
        walk(&value, &Place::file("relative.json"), 0, "", &mut said);
        let place = Place::file("relative.json").at("families").at(0);
        assert_eq!(
            said,
            [
                ("f".to_owned(), place.at("verdict").said("All widen.")),
                ("t".to_owned(), place.at("gaps").at(0).at("verdict").said("It widens.")),
            ]
        );
    }
}
