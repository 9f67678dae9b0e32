//! Numbers of a page looked up where they say that they come from.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The files of a study, read once each.
pub(crate) struct Sources {
    folder: PathBuf,
    files: BTreeMap<String, Value>,
}

/// A number or a sentence on the page with its source.
#[derive(Debug, Clone)]
pub(crate) struct Stated {
    /// As people read it.
    pub(crate) text: String,
    /// What stands behind the text; none for a sentence.
    pub(crate) value: Option<String>,
    pub(crate) source: String,
}

impl Sources {
    /// Those beside a page.
    pub(crate) fn read(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), files: BTreeMap::new() }
    }

    /// What is at a place: a value, or what is computed of several.
    pub(crate) fn find(&mut self, source: &str) -> Value {
        for (sign, compute) in [
            (" - ", (|a, b| a - b) as fn(f64, f64) -> f64),
            (" / ", (|a, b| a / b) as fn(f64, f64) -> f64),
        ] {
            if let Some((one, other)) = source.split_once(sign) {
                let [one, other] = [one, other].map(|place| self.find(place).as_f64().unwrap());
                return compute(one, other).into();
            }
        }
        let mut found = Vec::new();
        for place in source.split(" + ") {
            let (file, pointer) =
                place.split_once('#').unwrap_or_else(|| panic!("no place: {place}"));
            let folder = &self.folder;
            let value = self.files.entry(file.to_owned()).or_insert_with(|| {
                let text =
                    fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
                serde_json::from_str(&text).unwrap()
            });
            let mut values = vec![&*value];
            for step in pointer.split('/').skip(1) {
                let step = step.replace("~1", "/").replace("~0", "~");
                values = values
                    .into_iter()
                    .flat_map(|value| match (step.as_str(), value) {
                        ("*", Value::Array(entries)) => entries.iter().collect(),
                        (step, Value::Array(entries)) => {
                            vec![&entries[step.parse::<usize>().unwrap()]]
                        }
                        (step, value) => {
                            vec![value.get(step).unwrap_or_else(|| panic!("{source}: no {step}"))]
                        }
                    })
                    .collect();
            }
            found.extend(values.into_iter().cloned());
        }
        match found.as_slice() {
            [Value::Array(entries)] => entries.len().into(),
            [one] => one.clone(),
            several => several.iter().map(|value| value.as_u64().unwrap()).sum::<u64>().into(),
        }
    }

    /// Holds a number to its source: the value exactly, the text to its last digit. A sentence must
    /// be the same.
    pub(crate) fn check(&mut self, stated: &Stated) {
        let there = self.find(&stated.source);
        let Some(value) = &stated.value else {
            let same =
                |text: &str| super::spelled(text).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(same(&stated.text), same(there.as_str().unwrap()), "{}", stated.source);
            return;
        };
        let value: f64 = value.parse().unwrap();
        assert_eq!(Some(value), there.as_f64(), "{}", stated.source);
        let text = stated.text.replace('−', "-").replace(',', "");
        let text = text.strip_prefix("p ").unwrap_or(&text);
        if let Some(limit) = text.strip_prefix("< ") {
            assert!(value < limit.parse().unwrap(), "{stated:?}");
            return;
        }
        if text == "None" {
            assert!(value == 0.0, "{stated:?}");
            return;
        }
        let (digits, scale) = match text.strip_suffix(" %") {
            Some(digits) => (digits, 0.01),
            None => (text, 1.0),
        };
        let shown: f64 = digits.parse().unwrap_or_else(|_| panic!("not a number: {stated:?}"));
        let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
        let places = mantissa.split_once('.').map_or(0, |(_, places)| places.len() as i32);
        // R² is rounded down, so a whole unit of the last digit.
        let unit = scale * 10_f64.powi(exponent.parse::<i32>().unwrap() - places);
        // `1.0 decades below` has its sign in its words.
        let value = if digits.starts_with('-') { value } else { value.abs() };
        let off = (shown * scale - value).abs();
        assert!(off <= unit * 1.000001, "{stated:?}: off by {off}");
    }
}

/// Everything on a page that has a source, in order. Enough of HTML for what our template writes.
pub(crate) fn stated(html: &str) -> Vec<Stated> {
    let mut all = Vec::new();
    for (at, _) in html.match_indices("data-source=\"") {
        let open = html[..at].rfind('<').unwrap();
        let tag = &html[open..at + html[at..].find('>').unwrap() + 1];
        let name = tag[1..].split([' ', '>']).next().unwrap();
        let body = &html[open + tag.len()..];
        let body = &body[..body.find(&format!("</{name}>")).unwrap()];
        let attribute = |key: &str| {
            let start = tag.find(&format!("{key}=\""))? + key.len() + 2;
            let end = tag[start..].find('"')? + start;
            Some(super::unescaped(&tag[start..end]))
        };
        all.push(Stated {
            text: super::read(body),
            value: attribute("value"),
            source: attribute("data-source").unwrap(),
        });
    }
    all
}
