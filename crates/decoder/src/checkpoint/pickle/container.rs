//! The two containers of `torch.save`, and where each storage lies in them.
//!
//! * Since 2020, an uncompressed zip archive: `NAME/data.pkl`, the pickle, and `NAME/data/KEY`, one
//!   entry a storage.
//! * Before: five pickles one after another (magic number, version, system, the object, the keys),
//!   then for each key the number of elements (i64) and the numbers.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use zip::{CompressionMethod, ZipArchive};

use super::machine;
use super::state_dict;
use super::value::{Tensor, Value};
use crate::checkpoint::tensor::Entry;
use crate::error::{PickleError, PickleResult as Result};

/// First bytes of the old container: protocol 2, then `LONG1 0x1950a86a20f9469cfc6c` and STOP.
const LEGACY_MAGIC: [u8; 15] =
    [0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, b'.'];

/// Where a storage lies.
#[derive(Debug, Clone, Copy)]
struct Region {
    start: u64,
    bytes: u64,
}

/// All tensors of the file; `bytes` is its length.
pub(super) fn directory(mut file: &File, bytes: u64) -> Result<Vec<(String, Entry)>> {
    file.seek(SeekFrom::Start(0))?;
    let mut head = Vec::new();
    file.take(LEGACY_MAGIC.len() as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    if head == LEGACY_MAGIC {
        legacy(file, bytes)
    } else if head.starts_with(b"PK") {
        archive(file, bytes)
    } else {
        Err(PickleError::NotTorch)
    }
}

fn archive(mut file: &File, bytes: u64) -> Result<Vec<(String, Entry)>> {
    let broken = |e: &dyn std::fmt::Display| PickleError::Archive(e.to_string());
    let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|e| broken(&e))?;
    let mut regions = BTreeMap::new();
    for number in 0..zip.len() {
        let entry = zip.by_index(number).map_err(|e| broken(&e))?;
        let name = entry.name().map_err(|e| broken(&e))?.into_owned();
        if entry.compression() != CompressionMethod::Stored {
            return Err(PickleError::Archive(format!(
                "{name} is compressed; torch.save never does that"
            )));
        }
        let region = entry.data_start().map(|start| Region { start, bytes: entry.size() });
        match region {
            Some(region)
                if region.start.checked_add(region.bytes).is_some_and(|end| end <= bytes) =>
            {
                regions.insert(name, region);
            }
            _ => return Err(PickleError::Archive(format!("{name} runs past the end of the file"))),
        }
    }
    let Some(root) =
        regions.keys().find_map(|name| name.strip_suffix("data.pkl").filter(|r| r.ends_with('/')))
    else {
        return Err(PickleError::Archive("it has no data.pkl".to_string()));
    };
    let mut part = |name: &str| -> Result<Option<std::io::Take<BufReader<&File>>>> {
        let Some(region) = regions.get(&format!("{root}{name}")) else { return Ok(None) };
        file.seek(SeekFrom::Start(region.start))?;
        Ok(Some(BufReader::new(file).take(region.bytes)))
    };
    if let Some(order) = part("byteorder")? {
        let mut text = String::new();
        order.take(16).read_to_string(&mut text)?;
        if text != "little" {
            return Err(PickleError::Archive(format!("byte order {text:?} is not little")));
        }
    }
    let Some(mut pickle) = part("data.pkl")? else {
        return Err(PickleError::Archive("it has no data.pkl".to_string()));
    };
    let object = machine::run(&mut pickle)?;
    place(&state_dict::tensors(&object)?, |key| regions.get(&format!("{root}data/{key}")).copied())
}

fn legacy(file: &File, bytes: u64) -> Result<Vec<(String, Entry)>> {
    let mut stream = BufReader::new(file);
    let mut at = 0;
    let mut next = || -> Result<_> {
        let object = machine::run(&mut stream)?;
        at += object.bytes;
        Ok(object)
    };
    let (_magic, version, system, object, keys) = (next()?, next()?, next()?, next()?, next()?);
    if *version.top() != Value::Int(1001) {
        return Err(PickleError::NotAStateDict { what: "a version other than 1001".to_string() });
    }
    if let Value::Dict(items) = system.top() {
        for (key, value) in items {
            let big = *system.get(*value) == Value::Bool(false);
            if big && *system.get(*key) == Value::Text("little_endian".to_string()) {
                return Err(PickleError::Archive("byte order is not little".to_string()));
            }
        }
    }
    let tensors = state_dict::tensors(&object)?;
    let storages: HashMap<&str, _> =
        tensors.values().map(|t| (t.storage.key.as_str(), &t.storage)).collect();
    let Value::List(ids) = keys.top() else {
        return Err(PickleError::NotAStateDict { what: "the list of storages".to_string() });
    };
    let mut regions = HashMap::new();
    for id in ids {
        let Value::Text(key) = keys.get(*id) else {
            return Err(PickleError::NotAStateDict { what: "the list of storages".to_string() });
        };
        // Without its type, the length of a storage that no tensor uses cannot be known; torch.save
        // writes none.
        let Some(storage) = storages.get(key.as_str()) else {
            return Err(PickleError::Archive(format!("no tensor uses storage {key}")));
        };
        let cut = || PickleError::Archive(format!("storage {key} runs past the end of the file"));
        stream.seek(SeekFrom::Start(at))?;
        let mut elements = [0; 8];
        stream.read_exact(&mut elements).map_err(|_| cut())?;
        let start = at + 8;
        let length = u64::from_le_bytes(elements).checked_mul(storage.stored.bytes());
        let end = length.and_then(|n| start.checked_add(n)).filter(|end| *end <= bytes);
        let end = end.ok_or_else(cut)?;
        regions.insert(key.clone(), Region { start, bytes: end - start });
        at = end;
    }
    place(&tensors, |key| regions.get(key).copied())
}

/// Gives every tensor its place in the file.
fn place(
    tensors: &BTreeMap<String, Tensor>,
    region: impl Fn(&str) -> Option<Region>,
) -> Result<Vec<(String, Entry)>> {
    let entry = |(name, tensor): (&String, &Tensor)| {
        let Some(Region { start, bytes }) = region(&tensor.storage.key) else {
            return Err(PickleError::Bounds {
                tensor: name.clone(),
                reason: format!("its storage {} is not in the file", tensor.storage.key),
            });
        };
        Ok((name.clone(), tensor.place(name, start, bytes)?))
    };
    tensors.iter().map(entry).collect()
}
