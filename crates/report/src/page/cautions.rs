//! The box of cautions: every flag of every result, and the points that were left out.
//!
//! Flags are found by walking the result as JSON ([`Flagged`]), wherever it holds a member `flags`:
//! a part of a result that is newer than this file has its flags on the page all the same. What a
//! flag is about is read off the members on the way to it.

use relscale_laws::{Flag, GroupFit, Severity};
use relscale_records::digits::count;
use serde::Serialize;
use serde_json::json;

use super::flagged::{Flagged, Members};
use super::source::Html;
use super::view::switch::Switch;
use crate::shown::laws::text_laws;
use crate::shown::place::{At, at};
use crate::shown::{Cell, Piece, Place};

/// Things that share a flag are named one by one up to this number.
const NAMED: usize = 16;

/// All doubts.
#[derive(Debug, Default, Serialize)]
pub(super) struct Cautions {
    /// The most severe first.
    kinds: Vec<Kind>,
    left_out: Vec<GroupLeftOut>,
    /// How many kinds there are of each severity, the most severe first.
    counts: Vec<(&'static str, usize)>,
    any: bool,
}

/// A kind of doubt: a row a group that it is about.
#[derive(Debug, Serialize)]
struct Kind {
    #[serde(skip)]
    order: Severity,
    severity: &'static str,
    /// As in the file.
    code: String,
    /// The same in words.
    name: String,
    rows: Vec<Caution>,
}

/// A kind of doubt about one group.
#[derive(Debug, Serialize)]
struct Caution {
    #[serde(skip)]
    order: Severity,
    #[serde(skip)]
    code: String,
    /// The group, or the file where it is about no group.
    group: String,
    /// Which laws, models and so on share the first message.
    about: String,
    message: Html,
    /// The same where words or numbers differ.
    others: Vec<Html>,
}

/// A flag with what it is about.
struct Found {
    group: String,
    /// Outermost first.
    about: Vec<String>,
    flag: Flag,
    code: String,
    place: Place,
}

/// Points of one group that are in no fit.
#[derive(Debug, Serialize)]
struct GroupLeftOut {
    title: String,
    switch: Switch,
    points: Vec<LeftOut>,
}

/// A point that is in no fit.
#[derive(Debug, Serialize)]
struct LeftOut {
    quantity: String,
    model: String,
    parameters: Html,
    reason: Html,
}

impl Cautions {
    /// Those of the files of a study, each with its content.
    pub(super) fn from_files(files: &[(String, Flagged)]) -> Self {
        let mut found = Vec::new();
        for (name, value) in files {
            walk(value, &Place::file(name), name.clone(), &[], &mut found);
        }
        let kinds = kinds(rows(found));
        let counts = [Severity::Serious, Severity::Caution, Severity::Note].map(|severity| {
            (severity.name(), kinds.iter().filter(|kind| kind.order == severity).count())
        });
        let any = !kinds.is_empty();
        Self { kinds, left_out: Vec::new(), counts: counts.to_vec(), any }
    }

    /// The points that no law of these groups has.
    pub(super) fn leave_out<'a>(
        &mut self,
        groups: impl Iterator<Item = (At<'a, GroupFit>, usize, Switch, &'static str)>,
    ) {
        for (group, _, switch, _) in groups {
            let laws = at!(group.rank_laws).each().chain([at!(group.cross_entropy_law)]);
            let laws = laws.chain(text_laws(&group));
            let points = laws.flat_map(|law| {
                let quantity = law.quantity.symbol();
                at!(law.left_out).each().map(move |left| LeftOut {
                    quantity: quantity.clone(),
                    model: left.label.clone(),
                    parameters: Html::from(&Cell::or_none(at!(left.x).there().map(|x| x.whole()))),
                    reason: Html::from(&at!(left.reason).sentence()),
                })
            });
            let points: Vec<LeftOut> = points.collect();
            if !points.is_empty() {
                let title = format!("{} on {}", group.family, group.corpus);
                self.left_out.push(GroupLeftOut { title, switch, points });
                self.any = true;
            }
        }
    }
}

/// Finds the flags in `value`, whose ancestors say that it is about `labels` of `group`.
fn walk(value: &Flagged, place: &Place, group: String, labels: &[String], found: &mut Vec<Found>) {
    match value {
        Flagged::Entries(entries) => {
            for (at, entry) in entries.iter().enumerate() {
                walk(entry, &place.step(&at.to_string()), group.clone(), labels, found);
            }
        }
        Flagged::Members(members) => {
            let group = match (members.text("family"), members.text("corpus")) {
                (Some(family), Some(corpus)) => format!("{family} on {corpus}"),
                _ => group,
            };
            let mut labels = labels.to_vec();
            labels.extend(label(members));
            for (name, member) in &members.0 {
                let place = place.step(name);
                if name != "flags" {
                    walk(member, &place, group.clone(), &labels, found);
                    continue;
                }
                let Flagged::Entries(entries) = member else { continue };
                for (at, entry) in entries.iter().enumerate() {
                    let Flagged::Members(entry) = entry else { continue };
                    let code = entry.text("code").unwrap_or("note").to_owned();
                    let whole = json!({ "code": code, "message": entry.text("message") });
                    if let Ok(flag) = serde_json::from_value::<Flag>(whole) {
                        let (group, about) = (group.clone(), labels.clone());
                        found.push(Found {
                            group,
                            about,
                            flag,
                            code,
                            place: place.step(&at.to_string()),
                        });
                    }
                }
            }
        }
        _ => {}
    }
}

/// What an object of a result is about, in a few words.
fn label(members: &Members) -> Option<String> {
    if let Some(Flagged::Members(quantity)) = members.get("quantity") {
        return Some(match (quantity.count("k"), quantity.count("length")) {
            (Some(k), None) => format!("k = {}", count(k)),
            (Some(k), Some(length)) => format!("p of {length} tokens at k = {k}"),
            // A column, a distribution; CE.
            _ => members.text("name").unwrap_or("CE").to_owned(),
        });
    }
    let named = ["treatment", "distribution", "model", "form", "name", "column"];
    // A group names itself.
    if members.get("corpus").is_some() {
        return None;
    }
    named.into_iter().find_map(|name| members.text(name)).map(str::to_owned).or_else(|| {
        members
            .count("length")
            .map(|length| format!("N = {length}"))
            .or_else(|| members.count("k").map(|k| format!("k = {k}")))
    })
}

/// By kind, the most severe first.
fn kinds(rows: Vec<Caution>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for row in rows {
        let of_kind =
            kinds.iter_mut().find(|kind| kind.code == row.code && kind.order == row.order);
        match of_kind {
            Some(kind) => kind.rows.push(row),
            None => kinds.push(Kind {
                order: row.order,
                severity: row.order.name(),
                code: row.code.clone(),
                name: row.code.replace('_', " "),
                rows: vec![row],
            }),
        }
    }
    // The sort keeps the order of the file among equals.
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.order));
    kinds
}

/// How much a doubt takes from what is claimed: of a form that nobody claims, nothing.
fn severity(found: &Found) -> Severity {
    let unclaimed = ["/rivals/forms/", "/rank_distribution/models/"];
    match unclaimed.iter().any(|part| found.place.as_str().contains(part)) {
        true => Severity::Note,
        false => found.flag.code.severity(),
    }
}

/// One row a kind of doubt and group, in the order of the file.
fn rows(found: Vec<Found>) -> Vec<Caution> {
    let mut kinds: Vec<Vec<Found>> = Vec::new();
    for flag in found {
        let same = |kind: &Found| {
            kind.code == flag.code && kind.group == flag.group && severity(kind) == severity(&flag)
        };
        let of_kind = kinds.iter_mut().find(|kind| same(&kind[0]));
        match of_kind {
            Some(kind) => kind.push(flag),
            None => kinds.push(vec![flag]),
        }
    }
    kinds.into_iter().filter_map(|kind| row(&kind)).collect()
}

fn row(kind: &[Found]) -> Option<Caution> {
    let first = kind.first()?;
    let (same, different): (Vec<&Found>, Vec<&Found>) =
        kind.iter().partition(|found| found.flag.message == first.flag.message);
    Some(Caution {
        order: severity(first),
        code: first.code.clone(),
        group: first.group.clone(),
        about: condensed(&same),
        message: said(first),
        others: different
            .iter()
            .map(|found| {
                let about = found.about.join(", ");
                let about = if about.is_empty() { about } else { format!("{about}: ") };
                Html::text(&about).with(&said(found))
            })
            .collect(),
    })
}

/// The message of a flag.
fn said(found: &Found) -> Html {
    let (text, place) = (found.flag.message.clone(), found.place.step("message"));
    Html::from(&Cell { pieces: vec![Piece::Sentence { text, place }], ..Cell::default() })
}

/// What several flags are about, said once: `k = 1, 2, 5 (power law with floor); CE`.
fn condensed(flags: &[&Found]) -> String {
    let mut parts: Vec<(&[String], Vec<&str>)> = Vec::new();
    for flag in flags {
        let Some((head, rest)) = flag.about.split_first() else { continue };
        match parts.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, heads)) if heads.contains(&head.as_str()) => {}
            Some((_, heads)) => heads.push(head),
            None => parts.push((rest, vec![head])),
        }
    }
    let more = parts.len().saturating_sub(NAMED);
    let mut said: Vec<String> = parts
        .iter()
        .take(NAMED)
        .map(|(rest, heads)| {
            let (ks, others): (Vec<&str>, Vec<&str>) =
                heads.iter().partition(|head| head.starts_with("k = "));
            let numbers: Vec<&str> = ks.iter().map(|k| k.trim_start_matches("k = ")).collect();
            let ks = if numbers.is_empty() {
                String::new()
            } else {
                format!("k = {}", numbers.join(", "))
            };
            let heads: Vec<&str> =
                [ks.as_str()].into_iter().chain(others).filter(|text| !text.is_empty()).collect();
            let rest =
                if rest.is_empty() { String::new() } else { format!(" ({})", rest.join(", ")) };
            format!("{}{rest}", heads.join(", "))
        })
        .collect();
    if more > 0 {
        said.push(format!("{more} more"));
    }
    said.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_wherever_they_stand() {
        let flag = |code: &str, message: &str| json!([{"code": code, "message": message}]);
        let value = json!({"groups": [{
            "family": "f", "corpus": "c", "flags": flag("few_tokens", "few"),
            "rank_laws": [
                {"quantity": {"name": "rank", "k": 1}, "flags": flag("few_misses", "one")},
                {"quantity": {"name": "rank", "k": 2}, "flags": flag("few_misses", "one")},
                {"quantity": {"name": "rank", "k": 5}, "flags": flag("few_misses", "two")},
            ],
            "cross_entropy_law": {"rivals": {"forms": [
                {"form": "power law with floor", "flags": flag("at_bound", "a form")},
            ]}},
            "newer": {"part": [{"model": "m", "flags": flag("outlier", "far")}]},
        }]});
        let value = Flagged::from_result(&value).unwrap();
        let cautions = Cautions::from_files(&[("laws.json".to_owned(), value)]);
        let seen: Vec<(&str, &str, &str, usize)> = cautions
            .kinds
            .iter()
            .flat_map(|kind| kind.rows.iter().map(move |row| (kind, row)))
            .map(|(kind, row)| {
                (kind.severity, kind.code.as_str(), row.about.as_str(), row.others.len())
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("serious", "few_misses", "k = 1, 2", 1),
                ("caution", "outlier", "m", 0),
                ("note", "few_tokens", "", 0),
                ("note", "at_bound", "power law with floor", 0),
            ]
        );
        assert_eq!(cautions.kinds[0].rows[0].group, "f on c");
        assert_eq!(cautions.counts, [("serious", 1), ("caution", 1), ("note", 2)]);
        let place = "laws.json#/groups/0/newer/part/0/flags/0/message";
        let said = Html::text("far");
        assert_eq!(cautions.kinds[1].rows[0].message, Html::source(place, &said));
    }
}
