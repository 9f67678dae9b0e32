//! What one run has logged, whatever the format.

use std::collections::BTreeMap;
use std::path::PathBuf;

use relscale_records::written::json::number;
use serde_json::Value;

/// One logged number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The step of which it is; `None` for a number of the run as a whole.
    pub step: Option<f64>,
    /// May be NaN or infinite: a run that diverged logs such.
    pub value: f64,
}

/// The numbers and texts of one run by name.
#[derive(Debug, Clone, Default)]
pub struct Logged {
    /// Name of the run.
    pub name: String,
    /// Series of numbers, in the order they were logged.
    pub numbers: BTreeMap<String, Vec<Entry>>,
    /// Per name, what stands where a number should and is none: the last, with its step.
    pub unread: BTreeMap<String, (Option<f64>, String)>,
    /// Whether a part of its log is lost, so that what was logged last need not be the end.
    pub broken: bool,
    /// Texts of the run as a whole.
    pub texts: BTreeMap<String, String>,
    /// A `config.json` beside it, which may be that of a model.
    pub config: Option<PathBuf>,
    /// What was odd about the files.
    pub notes: Vec<String>,
}

impl Logged {
    /// A run without numbers.
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a number.
    pub(super) fn add(&mut self, name: &str, step: Option<f64>, value: f64) {
        self.numbers.entry(name.to_owned()).or_default().push(Entry { step, value });
    }

    /// Adds the numbers and texts of a JSON object; what is nested has a name with `between`
    /// between the parts.
    pub(super) fn add_object(
        &mut self,
        value: &Value,
        prefix: &str,
        between: &str,
        step: Option<f64>,
    ) {
        let Value::Object(members) = value else { return };
        for (name, value) in members {
            let name =
                if prefix.is_empty() { name.clone() } else { format!("{prefix}{between}{name}") };
            match (value, number(value)) {
                (Value::String(text), found) => {
                    if let Some(number) = found {
                        self.add(&name, step, number);
                    }
                    self.texts.insert(name, text.clone());
                }
                (_, Some(number)) => self.add(&name, step, number),
                (Value::Object(_), _) => self.add_object(value, &name, between, step),
                _ => {}
            }
        }
    }

    /// Notes that a name has this text at a step, where a number may be meant.
    pub(super) fn add_unread(&mut self, name: &str, step: Option<f64>, text: &str) {
        let earlier = self.unread.get(name).and_then(|(step, _)| *step);
        if earlier <= step {
            self.unread.insert(name.to_owned(), (step, text.to_owned()));
        }
    }

    /// Says which names have texts among their numbers; names of texts alone are no numbers that
    /// could not be read.
    pub(super) fn tell_unread(&mut self) {
        let Self { unread, numbers, notes, .. } = self;
        unread.retain(|name, _| numbers.contains_key(name));
        for (name, (_, text)) in unread {
            notes.push(format!("{name} has `{text}` among its numbers, which is none"));
        }
    }

    /// Takes over what another has of texts and of what could not be read.
    pub(super) fn add_texts(&mut self, other: Self) {
        self.texts.extend(other.texts);
        self.unread.extend(other.unread);
        self.notes.extend(other.notes);
    }

    /// The first of these names that has a number, with its series.
    pub(super) fn first<'a>(&self, names: &[&'a str]) -> Option<(&'a str, &[Entry])> {
        names.iter().find_map(|name| Some((*name, self.numbers.get(*name)?.as_slice())))
    }

    /// The last number under the first of these names that has one, if it is finite.
    pub(super) fn last(&self, names: &[&str]) -> Option<f64> {
        let (_, series) = self.first(names)?;
        series.last().map(|entry| entry.value).filter(|value| value.is_finite())
    }

    /// The largest step of anything that was logged.
    pub(super) fn last_step(&self) -> Option<f64> {
        self.numbers
            .values()
            .flatten()
            .filter_map(|entry| entry.step)
            .filter(|step| step.is_finite())
            .reduce(f64::max)
    }
}
