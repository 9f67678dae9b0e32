//! Where words begin and end inside a token: what the vocabulary says of its text.
//!
//! | vocabulary | how it is told | how a token spells its text |
//! |---|---|---|
//! | byte-level BPE | else | byte by byte, as the stored vocabulary has it (` the`); pieces of characters as `<0xE4>` |
//! | SentencePiece | more entries begin with U+2581 (`▁`) than with a space | `▁` is a space; one that stands for nothing (at the beginning of a text) is dropped; bytes as `<0x0A>` |
//! | WordPiece | more entries begin with `##` than with `▁` or a space | `##` goes on with a word; white space is in no token: where a token has more source bytes than letters, white space stood before it |
//!
//! A token marked as special stands for its own text where its source bytes say so; where they do
//! not (`[UNK]`, white space that it swallowed), what stood there is not known.

use crate::classes::TokenCounts;
use crate::units::is_space;
use crate::vocabulary::{TokenKind, Vocabulary};

/// How SentencePiece writes a space.
const MARK: char = '\u{2581}';

/// How WordPiece writes that a token goes on with a word.
const JOINS: &str = "##";

/// Ids beyond this have no spelling: no vocabulary is so large, and the table is dense.
const LARGEST_ID: u32 = 1 << 22;

/// What a token holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing that is known.
    Unknown,
    /// Whole characters: words with white space between them.
    Text(Text),
    /// Bytes that may be pieces of characters, in the arena from `start` to `end`.
    Bytes { start: u32, end: u32 },
    /// A piece of a word of a vocabulary without white space; `letters` is its length in bytes.
    Piece { letters: u32, joins: bool },
}

/// A token of whole characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Text {
    /// It begins with white space.
    pub(super) leads: bool,
    /// Words that it touches.
    pub(super) pieces: u32,
    /// It ends with white space behind a word.
    pub(super) trails: bool,
    /// Its bytes.
    pub(super) bytes: u32,
    /// Of a special token, which must stand for these very bytes.
    pub(super) special: bool,
    /// It begins with a space that may stand for nothing.
    pub(super) marked: bool,
}

/// The shapes of the tokens that occur in a run.
#[derive(Debug, Clone)]
pub struct Spelling {
    /// By id.
    shapes: Vec<Shape>,
    arena: Vec<u8>,
}

/// How a vocabulary spells white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Plain,
    Marked,
    Dropped,
}

impl Manner {
    fn of(vocabulary: &Vocabulary) -> Self {
        let (mut spaces, mut marks, mut joins) = (0, 0, 0);
        for entry in vocabulary.entries().iter().filter(|entry| entry.kind == TokenKind::Normal) {
            spaces += usize::from(entry.text.starts_with(' '));
            marks += usize::from(entry.text.starts_with(MARK));
            joins += usize::from(entry.text.starts_with(JOINS));
        }
        match () {
            () if joins > marks.max(spaces) => Self::Dropped,
            () if marks > spaces => Self::Marked,
            () => Self::Plain,
        }
    }
}

impl Spelling {
    /// The shapes of those tokens that occur.
    pub fn new(vocabulary: &Vocabulary, counts: &TokenCounts) -> Self {
        let manner = Manner::of(vocabulary);
        let mut spelling = Self { shapes: Vec::new(), arena: Vec::new() };
        for (id, _) in counts.iter().filter(|(id, _)| *id < LARGEST_ID) {
            let Some(entry) = vocabulary.get(id) else { continue };
            let shape = match entry.kind {
                TokenKind::Byte => spelling.bytes(&entry.text),
                TokenKind::Special => Shape::Text(Text::new(&entry.text, true)),
                TokenKind::Normal => match manner {
                    Manner::Plain => Shape::Text(Text::new(&entry.text, false)),
                    Manner::Marked => Shape::Text(Text {
                        marked: entry.text.starts_with(MARK),
                        ..Text::new(&entry.text.replace(MARK, " "), false)
                    }),
                    Manner::Dropped => {
                        let rest = entry.text.strip_prefix(JOINS);
                        let letters = rest.unwrap_or(&entry.text).len();
                        Shape::Piece { letters: length(letters), joins: rest.is_some() }
                    }
                },
            };
            spelling.shapes.resize(id as usize, Shape::Unknown);
            spelling.shapes.push(shape);
        }
        spelling
    }

    /// What the token of this id holds.
    pub(super) fn shape(&self, id: u32) -> Shape {
        self.shapes.get(id as usize).copied().unwrap_or(Shape::Unknown)
    }

    /// The bytes of a [`Shape::Bytes`].
    pub(super) fn arena(&self, start: u32, end: u32) -> &[u8] {
        self.arena.get(start as usize..end as usize).unwrap_or_default()
    }

    /// `<0xE4><0xB8>` as its bytes.
    fn bytes(&mut self, text: &str) -> Shape {
        let start = self.arena.len();
        for piece in text.split_inclusive('>') {
            let hex = piece.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
            match hex.map(|hex| u8::from_str_radix(hex, 16)) {
                Some(Ok(byte)) => self.arena.push(byte),
                _ => {
                    self.arena.truncate(start);
                    return Shape::Unknown;
                }
            }
        }
        Shape::Bytes { start: length(start), end: length(self.arena.len()) }
    }
}

impl Text {
    fn new(text: &str, special: bool) -> Self {
        let pieces = text.split(is_space).filter(|piece| !piece.is_empty()).count();
        Self {
            leads: text.starts_with(is_space),
            pieces: length(pieces),
            trails: pieces > 0 && text.ends_with(is_space),
            bytes: length(text.len()),
            special,
            marked: false,
        }
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::VocabularyEntry;

    fn spelling(entries: &[(&str, TokenKind)]) -> Spelling {
        let entry = |(id, (text, kind)): (usize, &(&str, TokenKind))| VocabularyEntry {
            id: id as u32,
            text: (*text).to_owned(),
            kind: *kind,
        };
        let vocabulary =
            Vocabulary::new("", entries.iter().enumerate().map(entry).collect()).unwrap();
        let mut counts = TokenCounts::default();
        counts.extend(0..entries.len() as u32);
        Spelling::new(&vocabulary, &counts)
    }

    fn text(spelling: &Spelling, id: u32) -> (bool, u32, bool) {
        let Shape::Text(text) = spelling.shape(id) else { panic!("{:?}", spelling.shape(id)) };
        (text.leads, text.pieces, text.trails)
    }

    #[test]
    fn each_kind_of_vocabulary_is_told_by_its_entries() {
        use TokenKind::{Byte, Normal, Special};
        let plain = spelling(&[
            (" the", Normal),
            (",\n", Normal),
            (" of the", Normal),
            ("\u{2581}", Normal),
            ("<0xE4><0xB8>", Byte),
            ("\u{3000}", Normal),
            ("<|end of text|>", Special),
        ]);
        assert_eq!(text(&plain, 0), (true, 1, false));
        assert_eq!(text(&plain, 1), (false, 1, true));
        assert_eq!(text(&plain, 2), (true, 2, false));
        assert_eq!(text(&plain, 3), (false, 1, false));
        assert_eq!(plain.shape(4), Shape::Bytes { start: 0, end: 2 });
        assert_eq!(plain.arena(0, 2), [0xE4, 0xB8]);
        assert_eq!(text(&plain, 5), (true, 0, false));
        assert_eq!(text(&plain, 6), (false, 3, false));
        assert_eq!(plain.shape(7), Shape::Unknown);

        let marked = spelling(&[
            ("\u{2581}the", Normal),
            ("\u{2581}\u{2581}", Normal),
            (" a", Normal),
            ("\u{2581}of\u{2581}the", Normal),
            ("<0x0A>", Byte),
        ]);
        assert_eq!(text(&marked, 0), (true, 1, false));
        assert_eq!(text(&marked, 1), (true, 0, false));
        assert_eq!(text(&marked, 3), (true, 2, false));

        let dropped = spelling(&[("the", Normal), ("##re", Normal), ("##s", Normal)]);
        assert_eq!(dropped.shape(0), Shape::Piece { letters: 3, joins: false });
        assert_eq!(dropped.shape(1), Shape::Piece { letters: 2, joins: true });
    }
}
