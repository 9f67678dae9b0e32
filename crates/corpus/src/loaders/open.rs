//! A user's file, opened: no pipe and no device, unpacked by what its bytes say, known for what it
//! is.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use relscale_records::content::{Content, HEAD};

use super::members::{Members, Packing};
use super::reading::{Reading, is_stop};
use crate::error::{CorpusError, Result};

/// Bytes that are read ahead.
const AHEAD: usize = 1 << 16;

/// Archives within archives that are still unpacked: by then it is a mistake, or a trap.
const MOST_LAYERS: usize = 3;

/// The last part of a path, for ids and descriptions; the folders above differ between machines.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A file's extension in lower case, that of its compression looked through.
pub(super) fn extension(path: &Path) -> Option<String> {
    let name = bare_name(path);
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_lowercase())
}

/// A file's name without the extension of its compression, of those too that are not undone here
/// (which opening will say).
pub(super) fn bare_name(path: &Path) -> String {
    let name = file_name(path);
    let packed = ["xz", "bz2", "lzma", "lz4", "lz", "br", "z"];
    match name.rsplit_once('.') {
        Some((stem, extension))
            if !stem.is_empty()
                && (Packing::by_name(path).is_some()
                    || packed.contains(&extension.to_lowercase().as_str())) =>
        {
            stem.to_owned()
        }
        _ => name,
    }
}

/// A reader, and the name of the compression that it undoes.
pub(super) struct Opened {
    pub(super) reader: Box<dyn BufRead + Send>,
    pub(super) compression: Option<&'static str>,
}

/// What is expected of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Text of any kind, for which no other format can be taken.
    Text,
    /// Numbers, whose first bytes may be anything.
    Numbers,
}

/// Opens a regular file.
///
/// # Errors
/// [`CorpusError::Read`]; [`CorpusError::BadLayout`] for a folder, a pipe, a device.
pub(super) fn regular(path: &Path) -> Result<File> {
    let kind = std::fs::metadata(path).map_err(CorpusError::read(path))?;
    if kind.is_file() {
        return File::open(path).map_err(CorpusError::read(path));
    }
    let reason = if kind.is_dir() {
        "it is a folder, not a file".to_owned()
    } else {
        "it is a pipe or a device, and a text is read more than once; write what it gives into a file, and give that"
            .to_owned()
    };
    Err(CorpusError::BadLayout { path: path.to_owned(), reason })
}

/// Opens a file; gzip and zstd are undone on the way, whatever its name says.
///
/// # Errors
/// Those of [`regular`]; [`CorpusError::BadLayout`] for what is known not to be `expected`, with
/// what to do; [`CorpusError::Compression`].
pub(super) fn open(path: &Path, expected: Expected, reading: &Reading) -> Result<Opened> {
    let named = Packing::by_name(path);
    let mut reader: Box<dyn BufRead + Send> =
        Box::new(BufReader::with_capacity(AHEAD, regular(path)?));
    let mut compression = None;
    for _ in 0..MOST_LAYERS {
        let head;
        (head, reader) = peeked(reader).map_err(|source| broken(path, compression, 0, source))?;
        let packing = match Content::detect(&head) {
            Content::Gzip => Some(Packing::Gzip),
            Content::Zstd => Some(Packing::Zstd),
            _ => None,
        };
        let unsure = expected == Expected::Numbers && named.is_none();
        let Some(packing) = packing.filter(|packing| !unsure || packing.unpacks(&head)) else {
            check(path, &head, expected, compression.is_some(), named)?;
            break;
        };
        let members = Members::new(packing, reader, file_name(path), reading.clone());
        compression = Some(packing.name());
        reader = Box::new(BufReader::with_capacity(AHEAD, members));
    }
    Ok(Opened {
        reader: Box::new(BufReader::with_capacity(AHEAD, reading.watch(reader))),
        compression,
    })
}

/// The whole of a small file.
///
/// # Errors
/// As [`open`].
pub(super) fn whole(path: &Path, expected: Expected, reading: &Reading) -> Result<Vec<u8>> {
    let mut opened = open(path, expected, reading)?;
    let mut bytes = Vec::new();
    let read = opened.reader.read_to_end(&mut bytes);
    read.map_err(|source| broken(path, opened.compression, 0, source))?;
    Ok(bytes)
}

/// The first bytes of a file, unpacked: at most so many. `None` where they cannot be had, which
/// opening will tell.
pub(super) fn first_bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    let opened = open(path, Expected::Text, &Reading::default()).ok()?;
    let mut bytes = Vec::new();
    opened.reader.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What a file is by its first bytes as they stand; `None` where it cannot be read.
pub(super) fn content(path: &Path) -> Option<Content> {
    let mut head = Vec::with_capacity(HEAD);
    regular(path).ok()?.take(HEAD as u64).read_to_end(&mut head).ok()?;
    Some(Content::detect(&head))
}

/// An error while reading, in our words.
pub(super) fn broken(
    path: &Path,
    compression: Option<&'static str>,
    rows: u64,
    source: std::io::Error,
) -> CorpusError {
    let path = path.to_owned();
    match compression {
        _ if is_stop(&source) => CorpusError::Stopped,
        Some(compression) => CorpusError::Compression { path, compression, rows, source },
        None => CorpusError::Read { path, source },
    }
}

type Peeked = (Vec<u8>, Box<dyn BufRead + Send>);

/// The first bytes, and a reader that still begins with them.
fn peeked(mut reader: Box<dyn BufRead + Send>) -> std::io::Result<Peeked> {
    let mut head = Vec::with_capacity(HEAD);
    (&mut reader).take(HEAD as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(reader))))
}

/// Refuses what is known to be something else.
fn check(
    path: &Path,
    head: &[u8],
    expected: Expected,
    unpacked: bool,
    named: Option<Packing>,
) -> Result<()> {
    let refused = |reason: String| Err(CorpusError::BadLayout { path: path.to_owned(), reason });
    let inside = if unpacked { "inside its compression " } else { "" };
    match Content::detect(head) {
        Content::Unreadable { what, hint } if expected == Expected::Text || is_certain(head) => {
            return refused(format!("{inside}it is {what}; {hint}"));
        }
        Content::Parquet if expected == Expected::Text => {
            let how = if unpacked { "unpack it, and read it" } else { "read it" };
            return refused(format!("{inside}it is a Parquet file; {how} with kind=parquet"));
        }
        Content::Arrow if expected == Expected::Text => {
            let how = if unpacked { "unpack it, and read it" } else { "read it" };
            return refused(format!("{inside}it is an Arrow file; {how} with kind=arrow"));
        }
        _ => {}
    }
    if is_tar(path) {
        return refused(
            "it is a tar archive by its name; unpack it with `tar xf`, and give the file or folder in it"
                .to_owned(),
        );
    }
    if is_brotli(path) {
        return refused(
            "packed with brotli by its name; unpack it with `brotli -dk`, or pack it anew as .zst or .gz"
                .to_owned(),
        );
    }
    match named {
        Some(packing) if !unpacked => refused(format!(
            "its name says {}, and its bytes do not; rename it if it is plain, or fetch it again",
            packing.name()
        )),
        _ => Ok(()),
    }
}

/// Marks of four bytes and more, which numbers do not begin with by chance.
fn is_certain(head: &[u8]) -> bool {
    !(head.starts_with(b"\x1F\x9D")
        || head.starts_with(b"\xFF\xFE")
        || head.starts_with(b"\xFE\xFF"))
}

fn is_tar(path: &Path) -> bool {
    let name = file_name(path).to_lowercase();
    [".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.zstd"].iter().any(|ending| name.ends_with(ending))
}

fn is_brotli(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("br"))
}
