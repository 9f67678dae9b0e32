//! Texts in ICE markup that the program carries: invented for it, in three varieties that do not exist.
//!
//! Among them they have what the loader must survive: two encodings, both line endings, marks without start, without end and without `>`,
//! stray spaces, doubled prefixes, lower-case codes, units without speaker, misspelt entities, several texts in one file.

use std::path::Path;

use super::{IceOptions, documents};
use crate::error::Result;
use crate::loaders::Documents;

/// File, the folder it stands for (its variety), content.
const FILES: [(&str, &str, &[u8]); 5] = [
    ("S2A-021.txt", "HIL", include_bytes!("sample/HIL-S2A-021.txt")),
    ("W2C-003.txt", "HIL", include_bytes!("sample/HIL-W2C-003.txt")),
    ("stories.txt", "LAK", include_bytes!("sample/LAK-stories.txt")),
    ("S1A-001.txt", "LOW", include_bytes!("sample/LOW-S1A-001.txt")),
    ("w2b-021.TXT", "LOW", include_bytes!("sample/LOW-w2b-021.TXT")),
];

/// Streams the texts, by variety and code.
///
/// # Errors
/// None of its own: options that leave nothing of a text.
pub fn sample(options: &IceOptions) -> Result<Documents> {
    let mut all = Vec::new();
    for (file, variety, bytes) in FILES {
        all.extend(documents(Path::new(file), bytes, Some(variety), options)?);
    }
    Ok(Box::new(all.into_iter().map(Ok)))
}
