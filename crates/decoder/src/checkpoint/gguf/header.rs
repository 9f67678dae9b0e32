//! All of a file but the numbers of its tensors.
//!
//! Nothing is allocated for a count that the file claims: what is read grows as its bytes come, and
//! no length goes beyond the bytes that there are.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::super::tensor::Entry;
use super::metadata::{Metadata, Value};
use super::types;
use crate::error::{Error, Result};

/// Headers above this are refused; the largest vocabularies take 20 MB.
const MAX_HEADER: u64 = 100_000_000;

/// Between tensors where the file does not say it.
const ALIGNMENT: i128 = 32;

/// More is in no file: a page at most is sensible.
const MAX_ALIGNMENT: i128 = 1 << 20;

/// What a file says.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) metadata: Metadata,
    pub(super) tensors: Vec<(String, Entry)>,
}

/// Reads the header of a file of so many bytes.
pub(super) fn read(path: &Path, mut file: &File, bytes: u64) -> Result<Header> {
    let read = |source| Error::Read { path: path.to_path_buf(), source };
    file.seek(SeekFrom::Start(0)).map_err(read)?;
    let from = BufReader::new(file);
    let mut cursor = Cursor { path: path.to_path_buf(), from, at: 0, bytes };
    cursor.begin()?;
    let (tensors, keys) = (cursor.u64()?, cursor.u64()?);
    let metadata = Metadata::new(path, cursor.keys(keys)?);
    let described = cursor.tensors(tensors)?;
    let alignment = metadata.integer("general.alignment")?.unwrap_or(ALIGNMENT);
    if !(1..=MAX_ALIGNMENT).contains(&alignment) || alignment.count_ones() != 1 {
        return Err(metadata.broken(format!(
            "general.alignment = {alignment} is not a power of two up to {MAX_ALIGNMENT}. Fetch the file again"
        )));
    }
    let alignment = alignment as u64;
    let data = cursor.at.next_multiple_of(alignment);
    let tensors = place(&metadata, described, data, alignment, bytes)?;
    Ok(Header { metadata, tensors })
}

/// A tensor as the directory has it.
struct Described {
    name: String,
    shape: Vec<usize>,
    kind: types::Type,
    bytes: u64,
    offset: u64,
}

/// Where tensors lie in the file: one behind the other, as llama.cpp demands it too.
fn place(
    metadata: &Metadata,
    described: Vec<Described>,
    data: u64,
    alignment: u64,
    bytes: u64,
) -> Result<Vec<(String, Entry)>> {
    let mut expected = 0_u64;
    let mut tensors = Vec::new();
    for Described { name, shape, kind, bytes: size, offset } in described {
        if offset != expected {
            return Err(metadata.broken(format!(
                "tensor {name} is said to begin at byte {offset} of the data, where {expected} is due: the directory is \
                damaged. Fetch the file again"
            )));
        }
        let start = data.checked_add(offset);
        let end = start.and_then(|start| start.checked_add(size));
        let (Some(start), Some(end)) = (start, end.filter(|end| *end <= bytes)) else {
            return Err(metadata.broken(format!(
                "tensor {name} of {size} bytes lies beyond the file's {bytes}: cut while fetching or writing. Fetch it again"
            )));
        };
        // The last one needs no padding behind it.
        expected = (end - data).checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
        tensors.push((name, Entry { stored: kind.stored, shape, start, strides: None }));
    }
    Ok(tensors)
}

/// Reads on and on, never beyond the file.
struct Cursor<'a> {
    path: PathBuf,
    from: BufReader<&'a File>,
    at: u64,
    bytes: u64,
}

impl Cursor<'_> {
    fn broken(&self, reason: String) -> Error {
        Error::Checkpoint { path: self.path.clone(), reason }
    }

    /// Magic and version.
    fn begin(&mut self) -> Result<()> {
        if self.bytes < 24 {
            let bytes = self.bytes;
            return Err(self.broken(format!("{bytes} bytes are no GGUF file: cut. Fetch it again")));
        }
        let magic: [u8; 4] = self.array()?;
        if magic != *b"GGUF" {
            let older = [&b"lmgg"[..], b"fmgg", b"tjgg"].contains(&&magic[..]);
            let what = match older {
                true => {
                    "a GGML file from before GGUF, which is not read. Convert the original model"
                }
                false => "not a GGUF file: it does not begin with GGUF. Fetch it again",
            };
            return Err(self.broken(what.to_owned()));
        }
        let version = self.u32()?;
        match version {
            2 | 3 => Ok(()),
            1 => Err(self.broken(
                "GGUF of version 1, whose counts are of 32 bits, is not read. Convert the original model".to_owned(),
            )),
            _ if (1..=3).contains(&version.swap_bytes()) => Err(self.broken(
                "GGUF for big-endian machines is not read. Convert it with gguf_convert_endian.py of the gguf package"
                    .to_owned(),
            )),
            _ => Err(self.broken(format!(
                "GGUF of version {version} is not read; 2 and 3 are. Convert the original model"
            ))),
        }
    }

    fn keys(&mut self, count: u64) -> Result<BTreeMap<String, Value>> {
        let mut keys = BTreeMap::new();
        for number in 0..count {
            let key = self.name(&format!("key {number} of {count}"))?;
            let kind = self.u32()?;
            let value = self.value(&key, kind)?;
            if keys.contains_key(&key) {
                return Err(self.broken(format!("{key} is given twice. Fetch the file again")));
            }
            keys.insert(key, value);
        }
        Ok(keys)
    }

    fn tensors(&mut self, count: u64) -> Result<Vec<Described>> {
        let mut names = std::collections::BTreeSet::new();
        let mut tensors = Vec::new();
        for number in 0..count {
            let tensor = self.tensor(&format!("tensor {number} of {count}"))?;
            if !names.insert(tensor.name.clone()) {
                let name = tensor.name;
                return Err(
                    self.broken(format!("tensor {name} is given twice. Fetch the file again"))
                );
            }
            tensors.push(tensor);
        }
        Ok(tensors)
    }

    fn tensor(&mut self, which: &str) -> Result<Described> {
        let name = self.name(which)?;
        let axes = self.u32()?;
        if !(1..=4).contains(&axes) {
            return Err(self.broken(format!(
                "tensor {name} has {axes} axes, of which there are 1 to 4. Fetch the file again"
            )));
        }
        let sizes: Vec<u64> = (0..axes).map(|_| self.u64()).collect::<Result<_>>()?;
        let (id, offset) = (self.u32()?, self.u64()?);
        let Some(kind) = types::by_id(id) else {
            return Err(self.broken(format!(
                "tensor {name} has type {id}, which GGUF did not have when this was written. Convert the original model to \
                Q8_0"
            )));
        };
        let (numbers, bytes) = kind.block;
        let elements = sizes.iter().try_fold(1_u64, |all, size| all.checked_mul(*size));
        let size = elements.filter(|elements| *elements <= isize::MAX as u64 / 4);
        let size = size.and_then(|elements| (elements / numbers).checked_mul(bytes));
        let (Some(size), true) = (size, sizes[0].is_multiple_of(numbers)) else {
            return Err(self.broken(format!(
                "tensor {name} has the shape {sizes:?}, which {} cannot have. Fetch the file again",
                kind.stored.name()
            )));
        };
        // The first axis is the one whose numbers lie side by side.
        let shape = sizes.iter().rev().map(|size| usize::try_from(*size));
        let Ok(shape) = shape.collect::<Result<_, _>>() else {
            return Err(self.broken(format!("tensor {name} is larger than memory can be")));
        };
        Ok(Described { name, shape, kind, bytes: size, offset })
    }

    /// A value of the kind that an id means.
    fn value(&mut self, key: &str, kind: u32) -> Result<Value> {
        Ok(match kind {
            0 => Value::Integer(self.array::<1>()?[0].into()),
            1 => Value::Integer(i8::from_le_bytes(self.array()?).into()),
            2 => Value::Integer(u16::from_le_bytes(self.array()?).into()),
            3 => Value::Integer(i16::from_le_bytes(self.array()?).into()),
            4 => Value::Integer(self.u32()?.into()),
            5 => Value::Integer(i32::from_le_bytes(self.array()?).into()),
            6 => Value::Number(f32::from_le_bytes(self.array()?).into()),
            7 => Value::Flag(self.flag(key)?),
            8 => Value::Text(String::from_utf8_lossy(&self.text(key)?).into_owned()),
            9 => self.values(key)?,
            10 => Value::Integer(self.u64()?.into()),
            11 => Value::Integer(i64::from_le_bytes(self.array()?).into()),
            12 => Value::Number(f64::from_le_bytes(self.array()?)),
            _ => {
                return Err(self.broken(format!(
                    "{key} has a value of the unknown type {kind}. Fetch the file again"
                )));
            }
        })
    }

    /// An array.
    fn values(&mut self, key: &str) -> Result<Value> {
        let (kind, count) = (self.u32()?, self.u64()?);
        let other = |width, what| (Some(width), what);
        let (width, what) = match kind {
            0 | 1 => other(1_u64, "whole numbers of 8 bits"),
            2 | 3 => other(2, "whole numbers of 16 bits"),
            4 | 5 => other(4, ""),
            6 => other(4, ""),
            7 => other(1, "flags"),
            8 => (None, ""),
            9 => {
                return Err(self.broken(format!("{key} is an array of arrays, which is not read")));
            }
            10 | 11 => other(8, "whole numbers of 64 bits"),
            12 => other(8, "numbers of 64 bits"),
            _ => {
                return Err(self.broken(format!(
                    "{key} is an array of the unknown type {kind}. Fetch the file again"
                )));
            }
        };
        let Some(width) = width else {
            let mut texts = Vec::new();
            for _ in 0..count {
                let text = String::from_utf8(self.text(key)?);
                let text = text.map_err(|_| {
                    self.broken(format!(
                        "{key}: text {} is no UTF-8. Fetch the file again",
                        texts.len()
                    ))
                })?;
                texts.push(text);
            }
            return Ok(Value::Texts(texts));
        };
        let bytes = self.take(key, count.checked_mul(width))?;
        let fours = bytes.chunks_exact(4).map(|four| [four[0], four[1], four[2], four[3]]);
        Ok(match kind {
            4 => Value::Integers(fours.map(|four| u32::from_le_bytes(four).into()).collect()),
            5 => Value::Integers(fours.map(|four| i32::from_le_bytes(four).into()).collect()),
            6 => Value::Numbers(fours.map(f32::from_le_bytes).collect()),
            _ => Value::Other(what),
        })
    }

    fn flag(&mut self, key: &str) -> Result<bool> {
        match self.array::<1>()?[0] {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.broken(format!("{key} is the byte {other}, neither true nor false"))),
        }
    }

    /// Text of a name.
    fn name(&mut self, which: &str) -> Result<String> {
        let bytes = self.text(which)?;
        String::from_utf8(bytes).map_err(|_| {
            self.broken(format!("{which}: its name is no UTF-8. Fetch the file again"))
        })
    }

    /// A length, and so many bytes.
    fn text(&mut self, which: &str) -> Result<Vec<u8>> {
        let length = self.u64()?;
        self.take(which, Some(length))
    }

    fn take(&mut self, which: &str, length: Option<u64>) -> Result<Vec<u8>> {
        let left = self.left();
        let Some(length) = length.filter(|length| *length <= left) else {
            let claimed = length.map_or("more than any file has".to_owned(), |n| n.to_string());
            return Err(self.short(&format!("{which} claims {claimed} bytes")));
        };
        let mut bytes = Vec::new();
        (&mut self.from)
            .take(length)
            .read_to_end(&mut bytes)
            .map_err(|source| self.failed(source))?;
        if bytes.len() as u64 != length {
            return Err(self.short(which));
        }
        self.at += length;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        if self.left() < N as u64 {
            return Err(self.short("what should follow"));
        }
        self.from.read_exact(&mut bytes).map_err(|source| self.failed(source))?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes that may still belong to the header.
    fn left(&self) -> u64 {
        self.bytes.min(MAX_HEADER).saturating_sub(self.at)
    }

    fn short(&self, what: &str) -> Error {
        let (at, bytes) = (self.at, self.bytes);
        let end = if bytes > MAX_HEADER { "the longest header that is read" } else { "the file" };
        self.broken(format!(
            "{what} at byte {at} goes beyond {end} (of {bytes} bytes): cut, or damaged. Fetch the file again"
        ))
    }

    fn failed(&self, source: std::io::Error) -> Error {
        match source.kind() {
            std::io::ErrorKind::UnexpectedEof => self.short("what should follow"),
            _ => Error::Read { path: self.path.clone(), source },
        }
    }
}
