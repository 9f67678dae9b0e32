//! Keys and values that stand before the tensors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A value, as far as anything here is made of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Any whole number.
    Integer(i128),
    /// Any other number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// Text.
    Text(String),
    /// An array of texts.
    Texts(Vec<String>),
    /// An array of whole numbers of 32 bits.
    Integers(Vec<i64>),
    /// An array of f32.
    Numbers(Vec<f32>),
    /// An array of another kind: read over.
    Other(&'static str),
}

impl Value {
    /// In a few words, for messages.
    pub fn shown(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Text(text) => format!("{:?}", text.chars().take(60).collect::<String>()),
            Self::Texts(values) => format!("{} texts", values.len()),
            Self::Integers(values) => format!("{} whole numbers", values.len()),
            Self::Numbers(values) => format!("{} numbers", values.len()),
            Self::Other(what) => format!("an array of {what}"),
        }
    }
}

/// The metadata of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    path: PathBuf,
    keys: BTreeMap<String, Value>,
}

impl Metadata {
    pub(super) fn new(path: &Path, keys: BTreeMap<String, Value>) -> Self {
        Self { path: path.to_path_buf(), keys }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error that says so of this file.
    pub fn broken(&self, reason: String) -> Error {
        Error::Checkpoint { path: self.path.clone(), reason }
    }

    /// All keys, sorted.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.keys.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.keys.get(key)
    }

    /// A whole number.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] where the key has another value.
    pub fn integer(&self, key: &str) -> Result<Option<i128>> {
        self.of(key, "a whole number", |value| match value {
            Value::Integer(number) => Some(*number),
            _ => None,
        })
    }

    /// A number, whole or not.
    ///
    /// # Errors
    /// As [`Metadata::integer`].
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        self.of(key, "a number", |value| match value {
            Value::Integer(number) => Some(*number as f64),
            Value::Number(number) => Some(*number),
            _ => None,
        })
    }

    /// True or false.
    ///
    /// # Errors
    /// As [`Metadata::integer`].
    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        self.of(key, "true or false", |value| match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        })
    }

    /// Text.
    ///
    /// # Errors
    /// As [`Metadata::integer`].
    pub fn text(&self, key: &str) -> Result<Option<&str>> {
        self.of(key, "text", |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Texts.
    ///
    /// # Errors
    /// As [`Metadata::integer`].
    pub fn texts(&self, key: &str) -> Result<Option<&[String]>> {
        self.of(key, "an array of texts", |value| match value {
            Value::Texts(texts) => Some(texts.as_slice()),
            _ => None,
        })
    }

    /// Whole numbers.
    ///
    /// # Errors
    /// As [`Metadata::integer`].
    pub fn integers(&self, key: &str) -> Result<Option<&[i64]>> {
        self.of(key, "an array of whole numbers of 32 bits", |value| match value {
            Value::Integers(numbers) => Some(numbers.as_slice()),
            _ => None,
        })
    }

    /// Numbers.
    ///
    /// # Errors
    /// As [`Metadata::integer`].
    pub fn numbers(&self, key: &str) -> Result<Option<&[f32]>> {
        self.of(key, "an array of f32", |value| match value {
            Value::Numbers(numbers) => Some(numbers.as_slice()),
            _ => None,
        })
    }

    fn of<'a, T>(
        &'a self,
        key: &str,
        what: &str,
        as_what: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.keys.get(key) else { return Ok(None) };
        match as_what(value) {
            Some(found) => Ok(Some(found)),
            None => Err(self.broken(format!("{key} is {}, and not {what}", value.shown()))),
        }
    }
}
