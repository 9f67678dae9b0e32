//! Documents drawn from a corpus as it passes, in bounded memory.
//!
//! Kept are at any time the documents with the lowest places ([`relscale_corpus::draw`]) that have
//! the wanted tokens together, of those that have passed: who comes with a higher place is not even
//! tokenised, who is pushed out by a lower one is forgotten. So of a corpus that is `n` times what
//! is wanted `1 + ln n` times the wanted tokens are tokenised, in one pass. What is forgotten
//! leaves holes in [`crate::scratch`]; when there are more holes than documents, these move
//! together.

use std::collections::BinaryHeap;
use std::io::{self, BufReader, Seek, SeekFrom};

use super::document::{Preamble, TokenisedDocument};
use crate::error::Result;
use crate::scratch::{Bytes, Place, Reader, Writer};

/// Weight of a document beside that of its tokens, and of what may be forgotten before documents
/// move together.
const BESIDE: u64 = 32;
const HOLES: u64 = 1 << 17;

/// A document that is kept, ordered by place, then number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Drawn {
    place: u64,
    number: u64,
    at: u64,
    tokens: u64,
}

/// The documents with the lowest places.
pub(super) struct Drawing {
    /// Tokens that are wanted.
    wanted: u64,
    place: Place,
    writer: Writer,
    kept: BinaryHeap<Drawn>,
    /// Tokens of the kept documents.
    tokens: u64,
    /// Weight of everything that was written since documents moved together.
    written: u64,
    /// Whether any document was turned away or forgotten.
    any_left_out: bool,
}

impl Drawing {
    pub(super) fn new(wanted: u64, place: &Place) -> Self {
        // Twice at a time, where documents move together.
        let place = Place { memory: place.memory / 2, ..place.clone() };
        Self {
            wanted,
            writer: Writer::new(place.clone()),
            place,
            kept: BinaryHeap::new(),
            tokens: 0,
            written: 0,
            any_left_out: false,
        }
    }

    /// Whether a document with this place would be kept now; if not, it never will be.
    pub(super) fn wants(&mut self, place: u64) -> bool {
        // The last that is kept may be a question, whose other options have its place.
        let wanted =
            self.tokens < self.wanted || self.kept.peek().is_some_and(|last| place <= last.place);
        self.any_left_out |= !wanted;
        wanted
    }

    /// Keeps a document, if it is (still) wanted.
    ///
    /// # Errors
    /// Those of [`crate::scratch`].
    pub(super) fn add(
        &mut self,
        place: u64,
        number: u64,
        document: &TokenisedDocument,
    ) -> Result<()> {
        if !self.wants(place) {
            return Ok(());
        }
        let (at, tokens) = (self.writer.written(), document.encoded.ids.len() as u64);
        document.write(&mut self.writer)?;
        self.kept.push(Drawn { place, number, at, tokens });
        self.tokens += tokens;
        self.written += tokens + BESIDE;
        self.forget();
        let kept = self.tokens + BESIDE * self.kept.len() as u64;
        if self.written > 2 * kept + HOLES { self.move_together() } else { Ok(()) }
    }

    /// Forgets the last documents (questions as a whole) as long as the others have what is wanted.
    fn forget(&mut self) {
        while let Some(&Drawn { place, .. }) = self.kept.peek() {
            let (mut last, mut tokens) = (Vec::new(), 0);
            while let Some(drawn) = self.kept.peek().copied().filter(|drawn| drawn.place == place) {
                self.kept.pop();
                tokens += drawn.tokens;
                last.push(drawn);
            }
            if self.kept.is_empty() || self.tokens - tokens < self.wanted {
                self.kept.extend(last);
                return;
            }
            self.tokens -= tokens;
            self.any_left_out = true;
        }
    }

    fn move_together(&mut self) -> Result<()> {
        let full = std::mem::replace(&mut self.writer, Writer::new(self.place.clone())).finish()?;
        let mut kept = std::mem::take(&mut self.kept).into_vec();
        kept.sort_unstable_by_key(|drawn| drawn.at);
        let mut reading = Reading::of(&full);
        for drawn in &mut kept {
            let document = reading.at(drawn.at)?;
            drawn.at = self.writer.written();
            document.write(&mut self.writer)?;
        }
        self.written = self.tokens + BESIDE * kept.len() as u64;
        self.kept = kept.into();
        Ok(())
    }

    /// Whether all documents of the corpus are kept.
    pub(super) fn whole(&self) -> bool {
        !self.any_left_out
    }

    /// Tokens of the kept documents.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Gives back the kept documents, as drawn or in the corpus's order.
    ///
    /// # Errors
    /// Those of [`crate::scratch`] and of `take`.
    pub(super) fn each(
        self,
        as_drawn: bool,
        mut take: impl FnMut(TokenisedDocument) -> Result<()>,
    ) -> Result<()> {
        let mut kept = self.kept.into_vec();
        match as_drawn {
            true => kept.sort_unstable(),
            false => kept.sort_unstable_by_key(|drawn| drawn.number),
        }
        let bytes = self.writer.finish()?;
        let mut reading = Reading::of(&bytes);
        kept.iter().try_for_each(|drawn| take(reading.at(drawn.at)?))
    }
}

/// Reads documents from anywhere.
struct Reading<'a> {
    bytes: &'a Bytes,
    reader: BufReader<Reader<'a>>,
}

impl<'a> Reading<'a> {
    fn of(bytes: &'a Bytes) -> Self {
        // Little is read ahead, since the next document is elsewhere.
        Self { bytes, reader: BufReader::with_capacity(1 << 12, bytes.reader(0)) }
    }

    fn at(&mut self, at: u64) -> Result<TokenisedDocument> {
        let mut read = || -> io::Result<TokenisedDocument> {
            self.reader.seek(SeekFrom::Start(at))?;
            let preamble = Preamble::read(&mut self.reader)?;
            TokenisedDocument::read(preamble, &mut self.reader)
        };
        read().map_err(|source| self.bytes.unreadable(source))
    }
}
