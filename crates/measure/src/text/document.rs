//! One document as token ids, and how it is written down.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;

use relscale_corpus::Encoded;

use crate::error::Result;
use crate::scratch;

/// Numbers that are decoded at a time: memory does not hold a long document twice.
const PIECE: usize = 1 << 14;

/// One document as token ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenisedDocument {
    /// The loader's name for it.
    pub id: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Its token ids, nothing added, and the source bytes of each; these add up to `text_bytes`.
    pub encoded: Encoded,
    /// Bytes of its text; 0 where it came as ids.
    pub text_bytes: u64,
    /// Words of its text ([`relscale_records::units::words`]); `None` where it came as ids.
    pub words: Option<u64>,
    /// Byte ranges that are scored; empty means all.
    pub spans: Vec<Range<usize>>,
}

/// All of a document but its tokens: id, tags, bytes and words of text, special tokens, spans.
type Head = (String, BTreeMap<String, String>, u64, Option<u64>, usize, Vec<Range<usize>>);

/// What stands before each document: little-endian numbers of 32, 32 and 64 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preamble {
    /// Bytes of the head, as JSON.
    head: u32,
    /// Tokens; ids, then byte counts, 32 bits each.
    tokens: u32,
    /// Of head, ids and byte counts.
    checksum: u64,
}

impl Preamble {
    pub(super) const BYTES: usize = 16;

    pub(super) fn read(reader: &mut impl Read) -> io::Result<Self> {
        let (head, tokens) = (number(reader)?, number(reader)?);
        let checksum = u64::from(number(reader)?) | u64::from(number(reader)?) << 32;
        Ok(Self { head, tokens, checksum })
    }

    /// Bytes that come after it.
    pub(super) fn following(&self) -> u64 {
        u64::from(self.head) + 8 * u64::from(self.tokens)
    }
}

impl TokenisedDocument {
    /// Appends it.
    ///
    /// # Errors
    /// [`crate::Error::Keep`].
    pub(super) fn write(&self, to: &mut scratch::Writer) -> Result<()> {
        let head =
            (&self.id, &self.tags, self.text_bytes, self.words, self.encoded.specials, &self.spans);
        let head = serde_json::to_vec(&head).map_err(|error| to.unwritable(error.into()))?;
        let length = |length: usize| {
            u32::try_from(length).map_err(|_| to.unwritable(io::ErrorKind::FileTooLarge.into()))
        };
        let (length, tokens) = (length(head.len())?, length(self.encoded.ids.len())?);
        let checksum = Checksum::of(&head, &self.encoded.ids, &self.encoded.bytes);
        to.write(&length.to_le_bytes())?;
        to.write(&tokens.to_le_bytes())?;
        to.write(&checksum.to_le_bytes())?;
        to.write(&head)?;
        for words in [&self.encoded.ids, &self.encoded.bytes] {
            for words in words.chunks(PIECE) {
                let piece: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                to.write(&piece)?;
            }
        }
        Ok(())
    }

    /// Reads what was written, after its preamble.
    ///
    /// # Errors
    /// The reader's; `InvalidData` for what is not what was written.
    pub(super) fn read(preamble: Preamble, reader: &mut impl Read) -> io::Result<Self> {
        let mut head = vec![0; preamble.head as usize];
        reader.read_exact(&mut head)?;
        let ids = words(reader, preamble.tokens)?;
        let bytes = words(reader, preamble.tokens)?;
        if Checksum::of(&head, &ids, &bytes) != preamble.checksum {
            let reason = "what is read is not what was written";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let (id, tags, text_bytes, words, specials, spans): Head = serde_json::from_slice(&head)?;
        Ok(Self { id, tags, encoded: Encoded { ids, bytes, specials }, text_bytes, words, spans })
    }
}

fn number(reader: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    reader.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn words(reader: &mut impl Read, count: u32) -> io::Result<Vec<u32>> {
    let mut words = Vec::with_capacity(count as usize);
    let mut piece = vec![0; 4 * PIECE.min(count as usize)];
    while words.len() < count as usize {
        let size = 4 * PIECE.min(count as usize - words.len());
        reader.read_exact(&mut piece[..size])?;
        let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        words.extend(piece[..size].chunks_exact(4).map(word));
    }
    Ok(words)
}

/// Tells what was written from what a disk made of it: rotate, xor, multiply, as rustc's hash does,
/// two words at a time. No defence against anybody, and fast beside reading.
#[derive(Default)]
struct Checksum(u64);

impl Checksum {
    fn of(head: &[u8], ids: &[u32], bytes: &[u32]) -> u64 {
        let mut checksum = Self::default();
        checksum.bytes(head);
        checksum.words(ids);
        checksum.words(bytes);
        checksum.0
    }

    fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn words(&mut self, words: &[u32]) {
        let pairs = words.chunks(2);
        pairs.for_each(|pair| {
            self.add(pair.iter().fold(0, |sum, &word| sum << 32 | u64::from(word)))
        });
    }

    fn bytes(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|eight| {
            self.add(eight.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
        });
    }
}
