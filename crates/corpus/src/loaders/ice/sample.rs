//! Texts in ICE markup that the program carries: invented for it, in three varieties that do not
//! exist.
//!
//! Among them they have what the loader must survive: two encodings, both line endings, marks
//! without start, without end and without `>`, stray spaces, doubled prefixes, lower-case codes,
//! units without speaker, misspelt entities, several texts in one file.

use std::path::Path;

use super::texts::{IceOptions, documents};
use crate::error::Result;
use crate::loaders::stream::Documents;

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
pub(super) fn sample(options: &IceOptions) -> Result<Documents> {
    let mut all = Vec::new();
    for (file, variety, bytes) in FILES {
        all.extend(documents(Path::new(file), bytes, Some(variety), options)?);
    }
    Ok(Box::new(all.into_iter().map(Ok)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of this file promises them; what is left of each text is held by a test of the
    /// crate.
    #[test]
    fn every_irregularity_is_there() {
        let text = |at: usize| FILES[at].2.iter().map(|&byte| char::from(byte)).collect::<String>();
        let [units, doubled, codes, talk, printed] = [0, 1, 2, 3, 4].map(text);
        let cases = [
            (&talk, "captain </unclear> and", "an end without a start"),
            (&talk, "<O> a bell rings\n</I>", "a start without an end"),
            (
                &units,
                "<X> says a man at the back\n",
                "an extra-corpus speaker to the end of the unit",
            ),
            (&talk, "</O\n", "a mark without its >"),
            (&units, "<unclear> word you", "unclear without content"),
            (&talk, "</unc> </unc>", "an end twice"),
            (&printed, "</ p>\r\n< p>", "stray spaces"),
            (&talk, "<ICE-LOW:s1a-001#", "a code in lower case"),
            (&talk, "<ICE-LOW:S1A-001#8:1>", "a unit without speaker"),
            (&talk, "#X6:1:Z>", "an extra-corpus unit"),
            (&doubled, "<ICE-HIL:W2C-003W2C-003ICE-HIL:", "a doubled prefix"),
            (&printed, "&ldquuo;fine&rdquo; &obrack;in chalk&crback;", "misspelt entities"),
            (&printed, "caf\u{e9}", "ISO-8859-1"),
            (&printed, "\0\r\n", "NUL, and CRLF"),
            (&talk, "isnt", "apostrophes left out"),
            (&codes, "\nW2F001AT\n", "several texts in a file"),
            (&codes, "BBBsp spRRR", "editing codes"),
            (&talk, "</I>\n<I>", "several subtexts"),
            (&units, "<#> We think <w> it's </w>", "units without codes"),
            (&talk, "<}> <-> theyre </-> <+> there's </+> </}>", "a correction"),
        ];
        for (text, mark, what) in cases {
            assert!(text.contains(mark), "{what}");
        }
        // The other encoding.
        assert!(FILES[1].2.windows(2).any(|pair| pair == "\u{ef}".as_bytes()), "UTF-8");
        assert!(std::str::from_utf8(FILES[4].2).is_err());
    }
}
