//! The `key=value` pairs of a `--corpus` value, and how a value is refused.

use std::collections::BTreeMap;

use crate::error::CorpusError;

/// Why a `--corpus` value is refused.
pub(crate) enum Refusal {
    /// What is wrong with the value itself.
    Reason(String),
    /// What is wrong with what it names.
    Error(CorpusError),
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl From<CorpusError> for Refusal {
    fn from(error: CorpusError) -> Self {
        Self::Error(error)
    }
}

/// The pairs after the question mark. A loader takes out its own; what is left is an error.
pub(crate) struct Keys {
    pairs: BTreeMap<String, Vec<String>>,
    /// Every key that a loader asked for, in that order: those that it knows.
    known: Vec<String>,
}

impl Keys {
    /// # Errors
    /// What is wrong with a pair.
    pub(crate) fn parse(query: &str) -> Result<Self, String> {
        let mut pairs: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| format!("`{pair}` is not key=value"))?;
            pairs.entry(key.to_owned()).or_default().push(percent_decoded(value)?);
        }
        Ok(Self { pairs, known: Vec::new() })
    }

    /// The value of a key that may be given once.
    pub(crate) fn one(&mut self, key: &str) -> Result<Option<String>, String> {
        let mut values = self.all(key);
        if values.len() > 1 {
            return Err(format!("{key}= is given {} times", values.len()));
        }
        Ok(values.pop())
    }

    /// A key whose value is a number of at least `least`.
    pub(crate) fn number(&mut self, key: &str, least: usize) -> Result<Option<usize>, String> {
        let Some(text) = self.one(key)? else { return Ok(None) };
        let number = text.parse().ok().filter(|number| *number >= least);
        number.map(Some).ok_or_else(|| format!("{key}={text} is not a number of at least {least}"))
    }

    /// The values of a key that may be given several times.
    pub(crate) fn all(&mut self, key: &str) -> Vec<String> {
        self.known.push(key.to_owned());
        self.pairs.remove(key).unwrap_or_default()
    }

    /// Refuses a key that nobody asked for.
    pub(crate) fn none_left(&self, place: &str) -> Result<(), String> {
        match self.pairs.keys().next() {
            Some(key) => Err(format!(
                "there is no key `{key}` for `{place}`; there are {}",
                self.known.join(", ")
            )),
            None => Ok(()),
        }
    }
}

/// A text in which `%XX` is a byte.
pub(crate) fn percent_decoded(value: &str) -> Result<String, String> {
    let wrong =
        || format!("`{value}`: after % come two hexadecimal digits, and the bytes must be UTF-8");
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|d| (d as char).to_digit(16)).ok_or_else(wrong);
        let (high, low) = (digit()?, digit()?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}
