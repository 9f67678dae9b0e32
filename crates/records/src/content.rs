//! What a file of others is, by its first bytes: names lie, and downloads go wrong.

/// How many first bytes [`Content::detect`] wants to see; fewer only where the file is shorter.
pub const HEAD: usize = 512;

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
    /// Parquet.
    Parquet,
    /// Arrow IPC: a file (Feather) or a stream, as Hugging Face `datasets` writes.
    Arrow,
    /// Something that is known and not read here.
    Unreadable {
        /// What it is, with its article.
        what: &'static str,
        /// What makes of it something that can be read.
        hint: &'static str,
    },
    /// Nothing known: text, or numbers.
    Other,
}

/// How the pointer files of Git LFS begin.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// First bytes, what they say, what to do.
const UNREADABLE: [(&[u8], &str, &str); 15] = [
    (LFS, "a Git LFS pointer, not the file itself", "fetch the file with `git lfs pull`"),
    (b"\xFD7zXZ\0", "packed with xz", "unpack it with `xz -dk`, or pack it anew as .zst or .gz"),
    (b"BZh", "packed with bzip2", "unpack it with `bunzip2 -k`, or pack it anew as .zst or .gz"),
    (b"LZIP", "packed with lzip", "unpack it with `lzip -dk`, or pack it anew as .zst or .gz"),
    (
        b"\x04\x22\x4D\x18",
        "packed with lz4",
        "unpack it with `lz4 -dk`, or pack it anew as .zst or .gz",
    ),
    (
        b"\x1F\x9D",
        "packed with compress",
        "unpack it with `uncompress -k`, or pack it anew as .zst or .gz",
    ),
    (
        b"7z\xBC\xAF\x27\x1C",
        "a 7z archive",
        "unpack it with `7z x`, and give the file or folder in it",
    ),
    (b"PK\x03\x04", "a zip archive", "unpack it with `unzip`, and give the file or folder in it"),
    (
        b"Rar!\x1A\x07",
        "a rar archive",
        "unpack it with `unrar x`, and give the file or folder in it",
    ),
    (b"%PDF-", "a PDF", "turn it into text first, for example with `pdftotext`"),
    (b"\x89HDF\r\n\x1A\n", "an HDF5 file", "write its texts as JSONL or Parquet"),
    (
        b"\x93NUMPY",
        "an array of NumPy",
        "write its ids without a header: `numpy.load(FILE).tofile(\"x.ids\")`",
    ),
    (b"SQLite format 3\0", "an SQLite database", "write its texts as JSONL, CSV or Parquet"),
    (b"Obj\x01", "an Avro file", "write its texts as JSONL or Parquet"),
    (b"ORC\x08", "an ORC file", "write its texts as JSONL or Parquet"),
];

impl Content {
    /// What the first [`HEAD`] bytes of a file say.
    ///
    /// ```
    /// use relscale_records::content::Content;
    /// assert_eq!(Content::detect(b"PAR1..."), Content::Parquet);
    /// assert_eq!(Content::detect(b"plain text"), Content::Other);
    /// ```
    pub fn detect(head: &[u8]) -> Self {
        let begins = |with: &[u8]| head.starts_with(with);
        if begins(b"\x1F\x8B") {
            return Self::Gzip;
        }
        // A frame, or one that carries no data (`pzstd`, seekable formats).
        let skippable = head.len() > 4 && head[0] & 0xF0 == 0x50 && head[1..4] == *b"\x2A\x4D\x18";
        if begins(b"\x28\xB5\x2F\xFD") || skippable {
            return Self::Zstd;
        }
        if begins(b"PAR1") {
            return Self::Parquet;
        }
        if begins(b"ARROW1") || is_arrow_stream(head) {
            return Self::Arrow;
        }
        let known = UNREADABLE.iter().find(|(bytes, ..)| begins(bytes));
        if let Some((bytes, what, hint)) = known
            && (*bytes != b"BZh" || is_bzip2(head))
        {
            return Self::Unreadable { what, hint };
        }
        if is_lzma(head) {
            let hint = "unpack it with `xz --format=lzma -dk`, or pack it anew as .zst or .gz";
            return Self::Unreadable { what: "packed with lzma", hint };
        }
        if head.get(257..262) == Some(b"ustar") {
            let hint = "unpack it with `tar xf`, and give the file or folder in it";
            return Self::Unreadable { what: "a tar archive", hint };
        }
        if begins(b"\xFF\xFE") || begins(b"\xFE\xFF") {
            let hint = "turn it into UTF-8: `iconv -f UTF-16 -t UTF-8 FILE > NEW`";
            return Self::Unreadable { what: "UTF-16 text", hint };
        }
        Self::Other
    }
}

/// A message of Arrow's stream: a mark, the length of the schema's description, a table of flat
/// buffers.
fn is_arrow_stream(head: &[u8]) -> bool {
    let word = |at: usize| {
        let four = head.get(at..at + 4)?;
        Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
    };
    let length = word(4).is_some_and(|length| length > 0 && length % 8 == 0 && length < 1 << 28);
    word(0) == Some(u32::MAX) && length && word(8).is_some_and(|root| root < 256)
}

fn is_bzip2(head: &[u8]) -> bool {
    head.get(3).is_some_and(|level| (b'1'..=b'9').contains(level))
        && matches!(
            head.get(4..10),
            Some(b"\x31\x41\x59\x26\x53\x59" | b"\x17\x72\x45\x38\x50\x90")
        )
}

/// The usual properties, a dictionary of a power of two, and a length that is not told or below
/// 2^40.
fn is_lzma(head: &[u8]) -> bool {
    let size = head.get(5..13);
    head.starts_with(b"\x5D\0\0")
        && size.is_some_and(|size| size == [0xFF; 8] || size[5..] == [0; 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_taken_for_something_else() {
        for text in [
            "BZh is a file format",
            "7z",
            "PK",
            "",
            "]",
            "version 1",
            "{\"text\": 1}",
            "P",
            "ustar",
        ] {
            assert_eq!(Content::detect(text.as_bytes()), Content::Other, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_to_do() {
        let tar = [[b'x'; 257].as_slice(), b"ustar\0", &[0; 249]].concat();
        let lzma = b"\x5D\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0";
        let cases: [(&[u8], &str); 6] = [
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
            (b"\xFD7zXZ\0\0\x04", "xz -dk"),
            (b"BZh91AY&SY", "bunzip2"),
            (lzma, "--format=lzma"),
            (&tar, "tar xf"),
            (b"\xFF\xFEa\0", "iconv"),
        ];
        for (head, said) in cases {
            let Content::Unreadable { hint, .. } = Content::detect(head) else { panic!("{said}") };
            assert!(hint.contains(said), "{hint}");
        }
    }
}
