//! A token or key: it can be sent, and not be shown.

use std::fmt;

/// A token or key of a user. Neither `Debug` nor `Display` shows it, nor is it serialised.
///
/// ```
/// use relscale_measure::http::Secret;
/// let token = Secret::new(" hf_abc\n").unwrap();
/// assert_eq!(format!("{token} {token:?}"), "(secret) Secret(..)");
/// assert!(Secret::new(" \n").is_none());
/// assert!(Secret::new("two\nlines").is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret in a text, without white space around it; none where nothing is left, or where it
    /// could not stand in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let sendable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        sendable.then(|| Self(text.to_owned()))
    }

    /// The secret of an environment variable, where that holds one.
    pub fn from_variable(name: &str) -> Option<Self> {
        Self::new(&std::env::var(name).ok()?)
    }

    /// The words themselves, for the header that they go into: nowhere else.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}
