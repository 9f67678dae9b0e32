//! Bytes to text: UTF-8 or UTF-16, with or without a mark at the beginning.

use super::Fault;

/// First bytes of files that are no text, with what they are and what to do.
const NO_TEXT: [(&[u8], &str); 7] = [
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; unpack it first"),
    (b"\xfd7zXZ\0", "compressed by xz; unpack it first"),
    (b"PK\x03\x04", "a workbook or a zip archive; save the sheet as CSV"),
    (b"PAR1", "a Parquet file; name it .parquet"),
    (b"\xff\xfe\0\0", "UTF-32; save it as UTF-8"),
    (
        b"version https://git-lfs",
        "a Git LFS pointer and not the file itself; fetch it with `git lfs pull`",
    ),
];

/// The text of a file.
///
/// # Errors
/// What the bytes are instead, or the first line that is not UTF-8.
pub fn decode(bytes: Vec<u8>) -> Result<String, Fault> {
    if let Some((_, what)) = NO_TEXT.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(Fault { line: 1, reason: format!("this is {what}") });
    }
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => return wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return wide(rest, u16::from_be_bytes),
        // Without a mark: a letter of ASCII beside a zero, twice.
        [1..=255, 0, 1..=255, 0, ..] => return wide(&bytes, u16::from_le_bytes),
        [0, 1..=255, 0, 1..=255, ..] => return wide(&bytes, u16::from_be_bytes),
        _ => {}
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count() as u64;
        Fault { line, reason: "not UTF-8; save the file as UTF-8".to_owned() }
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, Fault> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    let mut text = String::with_capacity(units.len());
    let mut line = 1;
    for letter in char::decode_utf16(units) {
        let refuse = |_| Fault {
            line,
            reason: "half a letter of UTF-16; save the file as UTF-8".to_owned(),
        };
        let letter = letter.map_err(refuse)?;
        line += u64::from(letter == '\n');
        text.push(letter);
    }
    match rest {
        [] => Ok(text),
        _ => Err(Fault {
            line,
            reason: "UTF-16 that ends inside a letter; the file is cut".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_in_every_encoding() {
        let text = "S,rbp1\n1e7,0,5 \u{2212}\u{1f600}\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [&b"\xff\xfe"[..], &little].concat(),
            [&b"\xfe\xff"[..], &big].concat(),
            little.clone(),
            big,
        ] {
            assert_eq!(decode(bytes.clone()).as_deref(), Ok(text), "{bytes:?}");
        }
        let cut = decode([&b"\xff\xfe"[..], &little[..little.len() - 1]].concat()).unwrap_err();
        assert_eq!((cut.line, cut.reason.contains("cut")), (2, true));
    }

    #[test]
    fn what_is_no_text_is_told_by_name() {
        for (bytes, words) in [
            (&b"\x1f\x8b\x08"[..], "gzip"),
            (b"PK\x03\x04\x14", "save the sheet as CSV"),
            (b"PAR1\x15", "name it .parquet"),
            (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        ] {
            assert!(decode(bytes.to_vec()).unwrap_err().reason.contains(words), "{words}");
        }
        let latin = decode(b"a,b\ncaf\xe9,1\n".to_vec()).unwrap_err();
        assert_eq!((latin.line, latin.reason.contains("not UTF-8")), (2, true));
    }
}
