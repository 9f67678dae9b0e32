//! Compressed files as the tools that made them read them: members (gzip) or frames (zstd) one
//! after another are one file, and what comes behind the last is passed over with a word.

use std::io::{self, BufRead, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::reading::Reading;

/// The window that `zstd --long=31` needs, the largest there is: 2^31 bytes, held only by files
/// that were made so.
const LARGEST_WINDOW: u32 = 31;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// What a file's name says.
    pub(super) fn by_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "gz" | "gzip" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Whether bytes are the beginning of such a file, not only of its mark.
    pub(super) fn unpacks(self, head: &[u8]) -> bool {
        let mut byte = [0];
        let first = Member::begin(self, head).and_then(|mut member| member.read(&mut byte));
        first.is_ok()
    }

    /// Whether what is left may be another member: as much of its mark as there is.
    fn begins(self, rest: &[u8]) -> bool {
        let alike = |mark: &[u8]| rest.iter().zip(mark).all(|(a, b)| a == b);
        match self {
            Self::Gzip => alike(b"\x1F\x8B"),
            Self::Zstd => {
                let skippable = rest.first().is_some_and(|first| first & 0xF0 == 0x50);
                alike(b"\x28\xB5\x2F\xFD")
                    || (skippable && rest.iter().skip(1).zip(b"\x2A\x4D\x18").all(|(a, b)| a == b))
            }
        }
    }
}

/// One member that is being unpacked.
enum Member<R: BufRead> {
    Gzip(Box<GzDecoder<R>>),
    Zstd(zstd::stream::read::Decoder<'static, R>),
}

impl<R: BufRead> Member<R> {
    fn begin(packing: Packing, reader: R) -> io::Result<Self> {
        Ok(match packing {
            Packing::Gzip => Self::Gzip(Box::new(GzDecoder::new(reader))),
            Packing::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?.single_frame();
                decoder.window_log_max(LARGEST_WINDOW)?;
                Self::Zstd(decoder)
            }
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
        }
    }

    fn into_rest(self) -> R {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.finish(),
        }
    }
}

/// All members of a file.
pub(super) struct Members<R: BufRead> {
    packing: Packing,
    /// `None` at the end.
    member: Option<Member<R>>,
    rest: Option<R>,
    file: String,
    reading: Reading,
}

impl<R: BufRead> Members<R> {
    pub(super) fn new(packing: Packing, reader: R, file: String, reading: Reading) -> Self {
        Self { packing, member: None, rest: Some(reader), file, reading }
    }

    /// What comes after a member: another, behind padding perhaps, or the end.
    fn goes_on(&mut self, mut rest: R) -> io::Result<()> {
        let mut zeros = 0;
        loop {
            let ahead = rest.fill_buf()?;
            if ahead.is_empty() {
                if zeros > 0 {
                    self.add_notice(zeros, true);
                }
                return Ok(());
            }
            match ahead.iter().position(|byte| *byte != 0) {
                Some(0) => break,
                found => {
                    let count = found.unwrap_or(ahead.len());
                    zeros += count as u64;
                    rest.consume(count);
                }
            }
        }
        if self.packing.begins(rest.fill_buf()?) {
            self.member = Some(Member::begin(self.packing, rest)?);
            return Ok(());
        }
        let garbage = io::copy(&mut self.reading.watch(rest), &mut io::sink())?;
        self.add_notice(zeros + garbage, false);
        Ok(())
    }

    fn add_notice(&self, bytes: u64, padding: bool) {
        let what = if padding { "zeros (padding)" } else { "that are not compressed data" };
        let file = &self.file;
        self.reading.add_notice(format!(
            "{file}: after its last member come {bytes} bytes {what}; they are passed over"
        ));
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(rest) = self.rest.take() {
            self.member = Some(Member::begin(self.packing, rest)?);
        }
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            if let Some(member) = self.member.take() {
                self.goes_on(member.into_rest())?;
            }
        }
        Ok(0)
    }
}
