//! Where one tensor lies in its file, and its numbers as f32.

use std::io;

use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};
use rayon::prelude::*;

use super::blocks::Quantised;
use super::shared::SharedFile;

/// How numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// Blocks of a GGUF file.
    Quantised(Quantised),
    /// A type that is listed but never read: its name and the bytes of one element (0 where a byte
    /// holds several).
    Other(&'static str, u8),
}

impl StoredType {
    /// `f32`, `f16`, `bf16`, `q4_0` and so on, or the name in the file's own words.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Quantised(kind) => kind.name(),
            Self::Other(name, _) => name,
        }
    }

    /// Whether [`super::Checkpoint::read_into`] reads it.
    pub fn readable(self) -> bool {
        !matches!(self, Self::Other(..))
    }

    /// Bytes of one element; 0 where they lie in blocks.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Quantised(_) => 0,
            Self::Other(_, bytes) => bytes.into(),
        }
    }
}

/// One tensor in one file. The reader of the directory has checked that all of it lies inside the
/// file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) stored: StoredType,
    pub(super) shape: Vec<usize>,
    /// Byte of the first element in the file.
    pub(super) start: u64,
    /// Distance between neighbours along each axis, in elements; `None` when row-major without
    /// gaps.
    pub(super) strides: Option<Vec<usize>>,
}

/// Elements of a tensor that one thread reads at a time.
const PART: usize = 1 << 16;

/// Elements that are widened at a time, on the stack.
const NARROW: usize = 1 << 12;

impl Entry {
    /// Elements of the tensor.
    pub(super) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Appends all elements, row-major.
    pub(super) fn read_into(&self, file: &SharedFile, out: &mut Vec<f32>) -> io::Result<()> {
        let elements = self.elements();
        if elements == 0 {
            return Ok(());
        }
        let Some(strides) = &self.strides else {
            return self.append(file, elements, out);
        };
        let storage = self.storage(file, strides)?;
        out.reserve(elements);
        gather(&storage, &self.shape, strides, out);
        Ok(())
    }

    /// Everything from the first element of a tensor with these strides to its last, as it lies in
    /// the file.
    pub(super) fn storage(&self, file: &SharedFile, strides: &[usize]) -> io::Result<Vec<f32>> {
        let mut storage = Vec::new();
        if self.elements() > 0 {
            self.append(file, extent(&self.shape, strides), &mut storage)?;
        }
        Ok(storage)
    }

    /// Appends the first `count` elements of the file's run, read by all threads, each a part of
    /// its own.
    fn append(&self, file: &SharedFile, count: usize, out: &mut Vec<f32>) -> io::Result<()> {
        let before = out.len();
        if before == 0 && out.capacity() < count {
            // Fresh zeros come from the system, which makes each page when it is first written: by
            // the thread that reads it.
            *out = vec![0.0; count];
        } else {
            out.resize(before + count, 0.0);
        }
        let parts = out[before..].par_chunks_mut(PART).enumerate();
        parts.try_for_each(|(number, part)| self.read_run(file, number * PART, part))
    }

    /// Fills `out` with neighbours in the file, from element `first` on.
    pub(super) fn read_run(
        &self,
        file: &SharedFile,
        first: usize,
        out: &mut [f32],
    ) -> io::Result<()> {
        let start = self.start + first as u64 * self.stored.bytes();
        match self.stored {
            StoredType::F32 => {
                file.read_exact_at(bytemuck::cast_slice_mut(out), start)?;
                // Nothing, where numbers lie in memory as in the file.
                out.iter_mut().for_each(|v| *v = f32::from_bits(u32::from_le(v.to_bits())));
            }
            // The slice conversions use the processor's own instruction where it has one.
            StoredType::F16 => widen(file, start, out, |bits, out| {
                bits.reinterpret_cast::<f16>().convert_to_f32_slice(out);
            })?,
            StoredType::Bf16 => widen(file, start, out, |bits, out| {
                bits.reinterpret_cast::<bf16>().convert_to_f32_slice(out);
            })?,
            StoredType::Quantised(kind) => dequantise(file, self.start, kind, first, out)?,
            StoredType::Other(..) => unreachable!("the checkpoint refuses other types"),
        }
        Ok(())
    }
}

/// Fills `out` with numbers of whole blocks, from number `first` of those that begin at byte
/// `start`. Rows are whole blocks, and so are the parts of [`Entry::append`].
fn dequantise(
    file: &SharedFile,
    start: u64,
    kind: Quantised,
    first: usize,
    out: &mut [f32],
) -> io::Result<()> {
    let (numbers, size) = kind.block();
    let mut at = start + (first / numbers * size) as u64;
    // No type takes more bytes than f16 would.
    let mut buffer = [0; 2 * NARROW];
    for out in out.chunks_mut(NARROW) {
        let bytes = &mut buffer[..out.len() / numbers * size];
        file.read_exact_at(bytes, at)?;
        kind.dequantise(bytes, out);
        at += bytes.len() as u64;
    }
    Ok(())
}

/// Fills `out` with numbers of two bytes from byte `start` on.
fn widen(
    file: &SharedFile,
    mut start: u64,
    out: &mut [f32],
    convert: impl Fn(&[u16], &mut [f32]),
) -> io::Result<()> {
    let mut bits = [0_u16; NARROW];
    for out in out.chunks_mut(NARROW) {
        let bits = &mut bits[..out.len()];
        file.read_exact_at(bytemuck::cast_slice_mut(bits), start)?;
        bits.iter_mut().for_each(|b| *b = u16::from_le(*b));
        convert(bits, out);
        start += 2 * out.len() as u64;
    }
    Ok(())
}

/// Elements from the first to the last that a strided tensor touches; the sizes are known to fit a
/// file.
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

    /// Every element of a tensor that several threads read, from an odd byte on and after others.
    #[test]
    fn a_large_tensor_is_read_by_parts() {
        let count = 5 * PART + 12_345;
        let number = |i: usize| bf16::from_f32((i % 251) as f32);
        let mut bytes = vec![7u8; 3];
        bytes.extend((0..count).flat_map(|i| number(i).to_le_bytes()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tensor");
        std::fs::write(&path, &bytes).unwrap();
        let file = SharedFile::new(std::fs::File::open(&path).unwrap());
        let entry = Entry { stored: StoredType::Bf16, shape: vec![count], start: 3, strides: None };
        for before in [0, 2] {
            let mut out = vec![0.5; before];
            entry.read_into(&file, &mut out).unwrap();
            assert_eq!(out.len(), before + count);
            assert!(out[..before].iter().all(|&x| x == 0.5));
            assert!(out[before..].iter().enumerate().all(|(i, &x)| x == number(i).to_f32()));
        }
        let cut = Entry { start: 4, ..entry };
        assert!(cut.read_into(&file, &mut Vec::new()).is_err());
    }

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
