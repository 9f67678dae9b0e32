//! Tokenised documents one after another, found by their number.

use std::io::{BufReader, ErrorKind};

use super::document::{Preamble, TokenisedDocument};
use crate::error::Result;
use crate::scratch::{self, Bytes, Place};

/// Bytes between two documents whose places are remembered: what is passed over to find one is
/// never much more.
const MARK: u64 = 1 << 20;

/// Bytes that are read ahead.
const AHEAD: usize = 1 << 18;

/// Documents that are being written.
#[derive(Debug)]
pub(super) struct StoreWriter {
    bytes: scratch::Writer,
    marks: Vec<(u32, u64)>,
    documents: u32,
}

impl StoreWriter {
    pub(super) fn new(place: Place) -> Self {
        Self { bytes: scratch::Writer::new(place), marks: Vec::new(), documents: 0 }
    }

    /// How many there are.
    pub(super) fn documents(&self) -> u32 {
        self.documents
    }

    /// Adds one; the caller sees to it that they can be numbered.
    pub(super) fn push(&mut self, document: &TokenisedDocument) -> Result<()> {
        let at = self.bytes.written();
        if self.marks.last().is_none_or(|&(_, last)| at >= last + MARK) {
            self.marks.push((self.documents, at));
        }
        self.documents += 1;
        document.write(&mut self.bytes)
    }

    pub(super) fn finish(self) -> Result<Store> {
        Ok(Store { bytes: self.bytes.finish()?, marks: self.marks, documents: self.documents })
    }
}

/// Documents that were written.
#[derive(Debug)]
pub(super) struct Store {
    bytes: Bytes,
    /// Number and place of a document every [`MARK`] bytes.
    marks: Vec<(u32, u64)>,
    documents: u32,
}

impl Store {
    pub(super) fn documents(&self) -> u32 {
        self.documents
    }

    pub(super) fn on_disk(&self) -> bool {
        self.bytes.on_disk()
    }

    /// The documents from a number on.
    pub(super) fn from(&self, ordinal: u32) -> Documents<'_> {
        let after = self.marks.partition_point(|&(marked, _)| marked <= ordinal);
        let (marked, at) = self.marks.get(after.wrapping_sub(1)).copied().unwrap_or_default();
        let reader = BufReader::with_capacity(AHEAD, self.bytes.reader(at));
        Documents { store: self, reader, at, next: marked, from: ordinal }
    }
}

/// Reads documents in order. After an error there is no further item.
#[derive(Debug)]
pub struct Documents<'a> {
    store: &'a Store,
    reader: BufReader<scratch::Reader<'a>>,
    /// Where the next document begins.
    at: u64,
    /// Its number.
    next: u32,
    /// The number of the first that is wanted.
    from: u32,
}

impl Documents<'_> {
    fn read(&mut self) -> std::io::Result<TokenisedDocument> {
        loop {
            let preamble = Preamble::read(&mut self.reader)?;
            let end = self.at + Preamble::BYTES as u64 + preamble.following();
            if end > self.store.bytes.length() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            (self.at, self.next) = (end, self.next + 1);
            if self.next > self.from {
                return TokenisedDocument::read(preamble, &mut self.reader);
            }
            // A document's tokens are at most 32 GB, so this fits.
            self.reader.seek_relative(preamble.following() as i64)?;
        }
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<TokenisedDocument>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next.max(self.from) >= self.store.documents {
            return None;
        }
        let read = self.read().map_err(|source| {
            self.next = self.store.documents;
            self.store.bytes.unreadable(source)
        });
        Some(read)
    }
}
