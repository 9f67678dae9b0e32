//! Where one tensor lies in its file, and its numbers as f32.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// How numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// A type that is listed but never read: its name and the bytes of one element (0 where a byte holds several).
    Other(&'static str, u8),
}

impl StoredType {
    /// `f32`, `f16`, `bf16`, or the name in the file's own words.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Other(name, _) => name,
        }
    }

    /// Whether [`super::Checkpoint::read_into`] reads it.
    pub fn readable(self) -> bool {
        !matches!(self, Self::Other(..))
    }

    /// Bytes of one element.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Other(_, bytes) => bytes.into(),
        }
    }
}

/// One tensor in one file. The reader of the directory has checked that all of it lies inside the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) stored: StoredType,
    pub(super) shape: Vec<usize>,
    /// Byte of the first element in the file.
    pub(super) start: u64,
    /// Distance between neighbours along each axis, in elements; `None` when row-major without gaps.
    pub(super) strides: Option<Vec<usize>>,
}

/// Bytes read at once.
const CHUNK: usize = 1 << 18;

impl Entry {
    /// Elements of the tensor.
    pub(super) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Appends all elements, row-major.
    pub(super) fn read_into(&self, mut file: &File, out: &mut Vec<f32>) -> io::Result<()> {
        let elements = self.elements();
        if elements == 0 {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.start))?;
        let Some(strides) = &self.strides else {
            return self.read_run(file, elements, out);
        };
        let mut storage = Vec::new();
        self.read_run(file, extent(&self.shape, strides), &mut storage)?;
        out.reserve(elements);
        gather(&storage, &self.shape, strides, out);
        Ok(())
    }

    /// Appends `count` neighbouring elements from where the file stands.
    fn read_run(&self, mut file: &File, count: usize, out: &mut Vec<f32>) -> io::Result<()> {
        let first = out.len();
        out.resize(first + count, 0.0);
        let mut rest = &mut out[first..];
        let size = self.stored.bytes() as usize;
        let mut buffer = vec![0_u8; CHUNK.min(count * size)];
        while !rest.is_empty() {
            let n = rest.len().min(CHUNK / size);
            let (now, later) = rest.split_at_mut(n);
            let bytes = &mut buffer[..n * size];
            file.read_exact(bytes)?;
            self.widen(bytes, now);
            rest = later;
        }
        Ok(())
    }

    /// Little-endian bytes to f32.
    fn widen(&self, bytes: &[u8], out: &mut [f32]) {
        let pairs = || bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
        match self.stored {
            StoredType::F32 => {
                for (value, b) in out.iter_mut().zip(bytes.chunks_exact(4)) {
                    *value = f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
                }
            }
            // The slice conversions use the processor's own instruction where it has one.
            StoredType::F16 => {
                pairs().map(f16::from_bits).collect::<Vec<_>>().convert_to_f32_slice(out);
            }
            StoredType::Bf16 => {
                pairs().map(bf16::from_bits).collect::<Vec<_>>().convert_to_f32_slice(out);
            }
            StoredType::Other(..) => unreachable!("Checkpoint::read_into refuses other types"),
        }
    }
}

/// Elements from the first to the last that a strided tensor touches; the sizes are known to fit a file.
pub(super) fn extent(shape: &[usize], strides: &[usize]) -> usize {
    1 + shape.iter().zip(strides).map(|(n, s)| (n - 1) * s).sum::<usize>()
}

/// Whether `strides` are those of a row-major tensor; axes of one element do not matter.
pub(super) fn row_major(shape: &[usize], strides: &[usize]) -> bool {
    let mut expected = 1;
    shape.iter().zip(strides).rev().all(|(n, s)| {
        let fits = *n == 1 || *s == expected;
        expected *= n;
        fits
    })
}

/// Appends the elements of a strided tensor, row-major: an odometer over all axes.
fn gather(storage: &[f32], shape: &[usize], strides: &[usize], out: &mut Vec<f32>) {
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    loop {
        out.push(storage[at]);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_and_offset_tensors_are_gathered() {
        // 0 1 2 / 3 4 5 stored column-major: 0 3 1 4 2 5
        let storage = [0.0, 3.0, 1.0, 4.0, 2.0, 5.0];
        let mut out = Vec::new();
        gather(&storage, &[2, 3], &[1, 2], &mut out);
        assert_eq!(out, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(extent(&[2, 3], &[1, 2]), 6);
        assert!(!row_major(&[2, 3], &[1, 2]));
        assert!(row_major(&[2, 1, 3], &[3, 77, 1]));
        assert!(row_major(&[], &[]));
    }
}
