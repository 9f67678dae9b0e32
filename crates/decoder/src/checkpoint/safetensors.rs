//! The directory of one safetensors file: 8 bytes of header length, a JSON header, then the
//! numbers.
//!
//! The `safetensors` crate parses and checks the header (no holes, no overlaps, sizes that follow
//! from shape and type); its reader wants the whole file in memory or mapped, so the numbers are
//! read here, tensor by tensor.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::Metadata;

use super::tensor::{Entry, StoredType};
use crate::error::{Error, Result};

/// Headers above this are refused, as the format's reference reader does.
const MAX_HEADER: u64 = 100_000_000;

/// All tensors of the file; `bytes` is its length.
pub(super) fn directory(path: &Path, mut file: &File, bytes: u64) -> Result<Vec<(String, Entry)>> {
    let broken = |reason: String| Error::Checkpoint { path: path.to_path_buf(), reason };
    let read = |source| Error::Read { path: path.to_path_buf(), source };
    if bytes < 8 {
        return Err(broken(format!("{bytes} bytes are no safetensors file. Fetch it again")));
    }
    file.seek(SeekFrom::Start(0)).map_err(read)?;
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(read)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER || length > bytes - 8 {
        return Err(broken(format!(
            "the header claims {length} bytes in a file of {bytes}: cut, or not a safetensors file. Fetch it again"
        )));
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header).map_err(read)?;
    let metadata: Metadata = serde_json::from_slice(&header)
        .map_err(|e| broken(format!("the header is malformed ({e}). Fetch the file again")))?;
    let data = 8 + length;
    let claimed = data.checked_add(metadata.data_len() as u64);
    if claimed != Some(bytes) {
        return Err(broken(format!(
            "{bytes} bytes, but the header describes {}: cut while fetching or writing. Fetch it again",
            claimed.map_or("more than any file".to_string(), |n| n.to_string())
        )));
    }
    let entries = metadata.tensors().into_iter().map(|(name, info)| {
        let entry = Entry {
            stored: stored_type(info.dtype),
            shape: info.shape.clone(),
            start: data + info.data_offsets.0 as u64,
            strides: None,
        };
        (name, entry)
    });
    Ok(entries.collect())
}

fn stored_type(dtype: Dtype) -> StoredType {
    match dtype {
        Dtype::F32 => StoredType::F32,
        Dtype::F16 => StoredType::F16,
        Dtype::BF16 => StoredType::Bf16,
        Dtype::F64 => StoredType::Other("f64", 8),
        Dtype::I64 => StoredType::Other("i64", 8),
        Dtype::U64 => StoredType::Other("u64", 8),
        Dtype::C64 => StoredType::Other("c64", 8),
        Dtype::I32 => StoredType::Other("i32", 4),
        Dtype::U32 => StoredType::Other("u32", 4),
        Dtype::I16 => StoredType::Other("i16", 2),
        Dtype::U16 => StoredType::Other("u16", 2),
        Dtype::I8 => StoredType::Other("i8", 1),
        Dtype::U8 => StoredType::Other("u8", 1),
        Dtype::BOOL => StoredType::Other("bool", 1),
        Dtype::F8_E5M2 => StoredType::Other("f8_e5m2", 1),
        Dtype::F8_E4M3 => StoredType::Other("f8_e4m3", 1),
        _ => StoredType::Other("a type narrower than 8 bits or newer than this reader", 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;
    use std::time::{Duration, Instant};

    /// A header of many tensors costs as much as it is long. (Were it the square, this would take
    /// hours.)
    #[test]
    fn a_header_of_many_empty_tensors_is_read_in_one_go() {
        const TENSORS: usize = 300_000;
        let mut header = String::from("{");
        for number in 0..TENSORS {
            let comma = if number > 0 { "," } else { "" };
            write!(
                header,
                "{comma}\"t.{number}\":{{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}"
            )
            .unwrap();
        }
        header.push('}');
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
        std::fs::write(&path, &bytes).unwrap();
        let begun = Instant::now();
        let tensors = directory(&path, &File::open(&path).unwrap(), bytes.len() as u64).unwrap();
        assert_eq!(tensors.len(), TENSORS);
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }
}
