//! A matrix while it is still in its files: which rows lie where, and any few of them as f32.
//!
//! Weights are laid out for their products 32 rows at a time. So no matrix has to be in memory as a
//! whole before: its rows are read from the file where they are wanted, into a buffer that stays in
//! the cache. A matrix may be several tensors, one below the other, and its rows may be taken in
//! another order than they are stored in. Only where a row does not lie in one piece (a tensor
//! stored the other way round, a view that `torch.save` kept) is the tensor read first.
//!
//! Positioned reads rather than a mapping: from cached files they are as fast
//! (`docs/performance.md`), a file that is cut meanwhile is an error rather than a signal, and what
//! is read does not count as memory of the process.

use std::io;
use std::ops::Range;

use rayon::prelude::*;

use super::OpenFile;
use super::tensor::Entry;
use crate::error::Result;

/// A matrix in its files.
#[derive(Debug)]
pub struct Rows<'a> {
    columns: usize,
    parts: Vec<Part<'a>>,
    /// The rows in order, as runs of neighbours of one part.
    runs: Vec<Run>,
}

/// One tensor.
#[derive(Debug)]
struct Part<'a> {
    file: &'a OpenFile,
    entry: &'a Entry,
    strided: Option<Strided>,
}

/// A tensor whose rows do not lie in one piece, in memory.
#[derive(Debug)]
struct Strided {
    storage: Vec<f32>,
    /// Distance between neighbours in a column, and in a row.
    strides: [usize; 2],
}

#[derive(Debug, Clone)]
struct Run {
    /// Where in the matrix the run ends.
    end: usize,
    part: usize,
    /// Rows of the part.
    rows: Range<usize>,
}

/// Numbers that one thread reads at a time when all rows are wanted.
const PIECE: usize = 1 << 16;

impl<'a> Rows<'a> {
    /// The rows of a tensor `[rows, columns]`; `turned`: its columns.
    pub(super) fn new(
        file: &'a OpenFile,
        entry: &'a Entry,
        [mut rows, mut columns]: [usize; 2],
        turned: bool,
    ) -> io::Result<Self> {
        let mut strides =
            entry.strides.as_ref().map_or([columns, 1], |strides| [strides[0], strides[1]]);
        let in_one_piece = entry.strides.is_none() && !turned;
        let strided = if in_one_piece {
            None
        } else {
            let storage = entry.storage(&file.file, &strides)?;
            if turned {
                strides.reverse();
            }
            Some(Strided { storage, strides })
        };
        if turned {
            std::mem::swap(&mut rows, &mut columns);
        }
        let parts = vec![Part { file, entry, strided }];
        Ok(Self { columns, parts, runs: vec![Run { end: rows, part: 0, rows: 0..rows }] })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.runs.last().map_or(0, |run| run.end)
    }

    /// Numbers of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// This matrix with the rows of `other` below; both have as many columns.
    pub(crate) fn above(mut self, other: Self) -> Self {
        debug_assert_eq!(self.columns, other.columns, "matrices of two widths");
        let (rows, parts) = (self.rows(), self.parts.len());
        self.parts.extend(other.parts);
        let below = other.runs.into_iter();
        self.runs.extend(below.map(|run| Run {
            end: rows + run.end,
            part: parts + run.part,
            ..run
        }));
        self
    }

    /// These rows of one tensor in another order: run by run.
    pub(crate) fn in_order(mut self, order: impl Iterator<Item = Range<usize>>) -> Self {
        debug_assert_eq!(self.runs.len(), 1, "a matrix that was put in order before");
        let mut end = 0;
        let run = |rows: Range<usize>| {
            end += rows.len();
            Run { end, part: 0, rows }
        };
        self.runs = order.map(run).collect();
        self
    }

    /// Fills `out` with some of the rows, in f32 one after another (which is exact for f16 and
    /// bf16).
    ///
    /// # Errors
    /// As [`super::Checkpoint::read_into`].
    ///
    /// # Panics
    /// When there are no such rows, or `out` has another size.
    pub fn read(&self, rows: Range<usize>, mut out: &mut [f32]) -> Result<()> {
        assert!(rows.end <= self.rows() && out.len() == rows.len() * self.columns, "rows {rows:?}");
        let mut at = rows.start;
        let first = self.runs.partition_point(|run| run.end <= at);
        for run in &self.runs[first..] {
            if at >= rows.end {
                break;
            }
            let from = run.rows.start + (at - (run.end - run.rows.len()));
            let count = run.end.min(rows.end) - at;
            let (here, rest) = std::mem::take(&mut out).split_at_mut(count * self.columns);
            self.parts[run.part].read(from, self.columns, here)?;
            (at, out) = (at + count, rest);
        }
        Ok(())
    }

    /// All rows, read by all threads.
    ///
    /// # Errors
    /// As [`Rows::read`].
    pub fn all(&self) -> Result<Vec<f32>> {
        let mut out = vec![0.0; self.rows() * self.columns];
        let rows = self.piece();
        out.par_chunks_mut((rows * self.columns).max(1)).enumerate().try_for_each(
            |(number, out)| {
                let first = number * rows;
                self.read(first..first + out.len() / self.columns, out)
            },
        )?;
        Ok(out)
    }

    /// Whether `other`, of the same shape, has the same numbers, bit by bit.
    ///
    /// # Errors
    /// As [`Rows::read`].
    pub(crate) fn same(&self, other: &Self) -> Result<bool> {
        let step = self.piece();
        let pieces = (0..self.rows().div_ceil(step)).into_par_iter();
        let same = pieces.map(|number| {
            let rows = number * step..((number + 1) * step).min(self.rows());
            let mut numbers = [self, other].map(|_| vec![0.0; rows.len() * self.columns]);
            self.read(rows.clone(), &mut numbers[0])?;
            other.read(rows, &mut numbers[1])?;
            let [ours, theirs] = numbers;
            Ok(ours.iter().zip(&theirs).all(|(a, b)| a.to_bits() == b.to_bits()))
        });
        same.try_reduce(|| true, |a, b| Ok(a && b))
    }

    /// Rows that one thread reads at a time.
    fn piece(&self) -> usize {
        (PIECE / self.columns.max(1)).max(1)
    }
}

impl Part<'_> {
    /// Fills `out` with rows from `first` on.
    fn read(&self, first: usize, columns: usize, out: &mut [f32]) -> Result<()> {
        match &self.strided {
            Some(strided) => {
                strided.read(first, columns, out);
                Ok(())
            }
            None => {
                let read = self.entry.read_run(&self.file.file, first * columns, out);
                read.map_err(|source| self.file.failed(source))
            }
        }
    }
}

impl Strided {
    /// Fills `out` with rows from `first` on, in square tiles: whichever way the numbers lie, a
    /// line that was fetched is used up.
    fn read(&self, first: usize, columns: usize, out: &mut [f32]) {
        const SIDE: usize = 16;
        let [down, along] = self.strides;
        for (number, out) in out.chunks_mut((SIDE * columns).max(1)).enumerate() {
            let start = (first + number * SIDE) * down;
            for left in (0..columns).step_by(SIDE) {
                let width = SIDE.min(columns - left);
                for (row, out) in out.chunks_exact_mut(columns).enumerate() {
                    let start = start + row * down + left * along;
                    for (at, out) in out[left..left + width].iter_mut().enumerate() {
                        *out = self.storage[start + at * along];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Checkpoint;
    use safetensors::tensor::{Dtype, TensorView};

    /// A folder with `names`, matrices of so many rows of three numbers: 0, 1, 2 and so on through
    /// all of them.
    fn folder(rows: &[(&str, usize)]) -> tempfile::TempDir {
        let mut number = 0..;
        let tensors: Vec<(&str, usize, Vec<u8>)> = rows
            .iter()
            .map(|(name, rows)| {
                let numbers = number.by_ref().take(3 * rows);
                (*name, *rows, numbers.flat_map(|n| (n as f32).to_le_bytes()).collect())
            })
            .collect();
        let views = tensors.iter().map(|(name, rows, bytes)| {
            (*name, TensorView::new(Dtype::F32, vec![*rows, 3], bytes).unwrap())
        });
        let folder = tempfile::tempdir().unwrap();
        let bytes = safetensors::serialize(views, None).unwrap();
        std::fs::write(folder.path().join("model.safetensors"), bytes).unwrap();
        folder
    }

    /// Every stretch of rows, whichever runs and tensors it begins and ends in.
    fn check(rows: &Rows<'_>, wanted: &[f32]) {
        assert_eq!((rows.rows(), rows.columns()), (wanted.len() / 3, 3));
        for first in 0..=rows.rows() {
            for end in first..=rows.rows() {
                let mut out = vec![-1.0; 3 * (end - first)];
                rows.read(first..end, &mut out).unwrap();
                assert_eq!(out, wanted[3 * first..3 * end], "{first}..{end}");
            }
        }
        assert_eq!(rows.all().unwrap(), wanted);
    }

    #[test]
    fn tensors_below_one_another_and_rows_in_another_order() {
        let folder = folder(&[("a", 4), ("b", 1), ("c", 5)]);
        let checkpoint = Checkpoint::open(folder.path()).unwrap();
        let rows = |name| checkpoint.rows(name).unwrap();
        let all: Vec<f32> = (0..30).map(|n| n as f32).collect();
        check(&rows("a").above(rows("b")).above(rows("c")), &all);
        check(&rows("c").above(rows("a")), &[&all[15..], &all[..12]].concat());
        let order = [3..5, 0..1, 1..3];
        let sorted = [&all[24..30], &all[15..18], &all[18..24]].concat();
        check(&rows("c").in_order(order.into_iter()), &sorted);
    }

    #[test]
    fn the_same_numbers_are_the_same_bits() {
        let folder = folder(&[("a", 4), ("b", 4)]);
        let checkpoint = Checkpoint::open(folder.path()).unwrap();
        let rows = |name| checkpoint.rows(name).unwrap();
        assert!(rows("a").same(&rows("a")).unwrap());
        assert!(!rows("a").same(&rows("b")).unwrap());
    }
}
