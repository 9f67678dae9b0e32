//! What a study is expected to give, beside what it gave: a row a value.

mod selector;

use std::collections::BTreeMap;
use std::path::Path;

use relscale_records::digits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use selector::Selector;

use crate::error::{ReportError, Result};

/// A value that is expected in a result.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// What it is, in words.
    pub what: String,
    /// The result's file without `.json`.
    #[serde(rename = "in", default = "laws")]
    pub file: String,
    /// Where it stands there: see [`Selector`].
    pub at: String,
    /// The number that is expected, in the unit of the result.
    #[serde(default)]
    pub value: Option<f64>,
    /// How far from it the number may be; without this and `within_share`, its interval must hold
    /// the value.
    #[serde(default)]
    pub within: Option<f64>,
    /// The same as a part of the value.
    #[serde(default)]
    pub within_share: Option<f64>,
    /// The least that is expected.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// The most that is expected.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// The word that is expected: a finding, a form.
    #[serde(default)]
    pub is: Option<String>,
    /// Who says so, and where.
    pub source: String,
}

fn laws() -> String {
    "laws".to_owned()
}

/// An expectation beside what came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What it is.
    pub what: String,
    /// What was expected, in words.
    pub expected: String,
    /// What stands there; nothing where nothing does.
    pub got: Option<Got>,
    /// How they compare.
    pub verdict: Verdict,
    /// Why there is nothing; empty where there is.
    pub why: String,
    /// Who expects it.
    pub source: String,
}

/// What stands in a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Got {
    /// A number or a word.
    pub value: Value,
    /// The ends of its interval, where it has one.
    pub interval: Option<[f64; 2]>,
    /// File and JSON pointer (RFC 6901) of the value.
    pub place: String,
}

/// How an expectation and a result compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The result is what was expected.
    Agrees,
    /// It is not.
    Differs,
    /// There is no such result.
    Missing,
}

impl Verdict {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Missing => "missing",
        }
    }
}

impl Expectation {
    /// Checks that it says one thing that can be judged.
    ///
    /// # Errors
    /// In words, what is wrong.
    pub fn validate(&self) -> std::result::Result<(), String> {
        let numbers = [self.value, self.within, self.within_share, self.at_least, self.at_most];
        let name = self.file.as_str();
        let kinds = [
            self.value.is_some(),
            self.at_least.is_some() || self.at_most.is_some(),
            self.is.is_some(),
        ];
        let tolerances = [self.within, self.within_share];
        Selector::parse(&self.at)?;
        if numbers.into_iter().flatten().any(|number| !number.is_finite()) {
            Err("a number that is expected must be finite".to_owned())
        } else if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
            Err(format!("in = \"{name}\" is no result's name; give laws, relative, relative-NAME"))
        } else if kinds.into_iter().filter(|kind| *kind).count() != 1 {
            Err("give one of: value, at_least and at_most, is".to_owned())
        } else if self.value.is_none() && tolerances.iter().any(Option::is_some)
            || tolerances.iter().all(Option::is_some)
        {
            Err("within or within_share goes with value, one of them".to_owned())
        } else if tolerances.into_iter().flatten().any(|tolerance| tolerance < 0.0) {
            Err("a tolerance is not below zero".to_owned())
        } else {
            Ok(())
        }
    }

    fn tolerance(&self, value: f64) -> Option<f64> {
        self.within.or_else(|| Some(self.within_share? * value.abs()))
    }

    /// In words.
    fn words(&self) -> String {
        // As the file has it, but where that would be a row of zeros.
        let number = |number: f64| match number.abs() {
            0.0 | 1e-4..1e6 => number.to_string(),
            _ => digits::number(number),
        };
        match (self.value, &self.is, self.at_least, self.at_most) {
            (Some(value), ..) => match self.tolerance(value) {
                Some(tolerance) => format!("{} ± {}", number(value), number(tolerance)),
                None => format!("{}, in the interval", number(value)),
            },
            (None, Some(word), ..) => word.clone(),
            (None, None, Some(least), Some(most)) => {
                format!("{} to {}", number(least), number(most))
            }
            (None, None, Some(least), None) => format!("at least {}", number(least)),
            (None, None, None, most) => {
                format!("at most {}", most.map_or_else(String::new, number))
            }
        }
    }

    fn judge(&self, got: &Got) -> std::result::Result<bool, String> {
        if let Some(word) = &self.is {
            let there = match &got.value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            return Ok(there == *word);
        }
        let number = got.value.as_f64().ok_or_else(|| "no number stands there".to_owned())?;
        if let Some(value) = self.value {
            return match (self.tolerance(value), got.interval) {
                (Some(tolerance), _) => Ok((number - value).abs() <= tolerance),
                (None, Some([low, high])) => Ok((low..=high).contains(&value)),
                (None, None) => Err("it has no interval to hold the value; give within".to_owned()),
            };
        }
        Ok(self.at_least.is_none_or(|least| number >= least)
            && self.at_most.is_none_or(|most| number <= most))
    }
}

/// Compares what a folder holds with what is expected of it, in the order given.
///
/// # Errors
/// [`ReportError::Unreadable`] where a result is there and cannot be read. A result that is not
/// there is no error: it is [`Verdict::Missing`].
pub fn compare(folder: &Path, expected: &[Expectation]) -> Result<Vec<Compared>> {
    let mut files = BTreeMap::new();
    let mut rows = Vec::with_capacity(expected.len());
    for one in expected {
        let name = format!("{}.json", one.file);
        if !files.contains_key(&name) {
            files.insert(name.clone(), read(&folder.join(&name))?);
        }
        let found = match &files[&name] {
            None => Err(format!("the study has no {name}")),
            Some(file) => found(one, file, &name),
        };
        let judged = found.and_then(|got| Ok((one.judge(&got)?, got)));
        let (verdict, got, why) = match judged {
            Ok((true, got)) => (Verdict::Agrees, Some(got), String::new()),
            Ok((false, got)) => (Verdict::Differs, Some(got), String::new()),
            Err(why) => (Verdict::Missing, None, why),
        };
        rows.push(Compared {
            what: one.what.clone(),
            expected: one.words(),
            got,
            verdict,
            why,
            source: one.source.clone(),
        });
    }
    Ok(rows)
}

fn read(path: &Path) -> Result<Option<Value>> {
    let unreadable = |reason: String| ReportError::Unreadable { path: path.to_owned(), reason };
    match std::fs::read(path) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map(Some).map_err(|error| unreadable(error.to_string()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// The value at its place: of an estimate its value, with the interval beside it.
fn found(one: &Expectation, file: &Value, name: &str) -> std::result::Result<Got, String> {
    let (mut there, mut way) = Selector::parse(&one.at)?.find(file)?;
    let mut interval = None;
    if let (Some(value), Some(of_value)) = (there.get("value"), there.get("interval")) {
        let end = |name: &str| of_value.get(name).and_then(Value::as_f64);
        interval = end("low").zip(end("high")).map(|(low, high)| [low, high]);
        there = value;
        way.push("value".to_owned());
    }
    match there {
        Value::Null => Err(format!("{} holds no value", one.at)),
        Value::Array(_) | Value::Object(_) => {
            Err(format!("{} is no single value; go on to a member of it", one.at))
        }
        value => {
            let way: Vec<String> =
                way.iter().map(|step| step.replace('~', "~0").replace('/', "~1")).collect();
            let place = format!("{name}#/{}", way.join("/"));
            Ok(Got { value: value.clone(), interval, place })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Expectation {
        let head = "what = \"alpha\"\nsource = \"a table\"\nat = \"laws[k=1].exponent\"\n";
        let read: toml::Table = format!("{head}{text}").parse().unwrap();
        read.try_into().unwrap()
    }

    fn verdict(text: &str) -> (Verdict, String) {
        let folder = tempfile::tempdir().unwrap();
        let laws = r#"{"laws": [{"k": 1, "exponent": {"value": 0.1, "interval": {"low": 0.08, "high": 0.12}}, "finding": "holds", "none": null}]}"#;
        std::fs::write(folder.path().join("laws.json"), laws).unwrap();
        let expected = one(text);
        expected.validate().unwrap();
        let row = compare(folder.path(), &[expected]).unwrap().remove(0);
        (row.verdict, row.why)
    }

    #[test]
    fn a_value_is_judged_by_its_tolerance_or_by_its_interval() {
        for (text, wanted) in [
            ("value = 0.11", Verdict::Agrees),
            ("value = 0.13", Verdict::Differs),
            ("value = 0.13\nwithin = 0.03", Verdict::Agrees),
            ("value = 0.11\nwithin = 0.005", Verdict::Differs),
            ("value = 0.105\nwithin_share = 0.05", Verdict::Agrees),
            ("value = 0.106\nwithin_share = 0.05", Verdict::Differs),
            ("at_least = 0.1", Verdict::Agrees),
            ("at_least = 0.05\nat_most = 0.09", Verdict::Differs),
        ] {
            assert_eq!(verdict(text).0, wanted, "{text}");
        }
    }

    #[test]
    fn what_is_not_there_is_missing_with_its_reason() {
        for (at, more, word) in [
            ("laws[k=2].exponent", "value = 1.0", "no entry has k=2"),
            ("laws[k=1].none", "value = 1.0", "holds no value"),
            ("laws[k=1]", "value = 1.0", "no single value"),
            ("laws[k=1].finding", "value = 1.0", "no number"),
            ("laws[k=1].k", "value = 1.0", "no interval"),
        ] {
            let expected = Expectation { at: at.to_owned(), ..one(more) };
            let folder = tempfile::tempdir().unwrap();
            let laws = r#"{"laws": [{"k": 1, "finding": "holds", "none": null}]}"#;
            std::fs::write(folder.path().join("laws.json"), laws).unwrap();
            let row = compare(folder.path(), &[expected]).unwrap().remove(0);
            assert_eq!(row.verdict, Verdict::Missing, "{at}");
            assert!(row.why.contains(word), "{at}: {}", row.why);
        }
        let nowhere = tempfile::tempdir().unwrap();
        let row = compare(nowhere.path(), &[one("value = 1.0")]).unwrap().remove(0);
        assert_eq!(
            (row.verdict, row.why.as_str()),
            (Verdict::Missing, "the study has no laws.json")
        );
    }

    #[test]
    fn an_expectation_that_cannot_be_judged_is_refused() {
        for text in [
            "",
            "value = 1.0\nat_least = 2.0",
            "within = 1.0\nat_least = 1.0",
            "value = 1.0\nwithin = -1.0",
            "value = inf",
            "value = 1.0\nwithin = 1.0\nwithin_share = 0.1",
            "value = 1.0\nin = \"../laws\"",
        ] {
            assert!(one(text).validate().is_err(), "{text}");
        }
    }
}
