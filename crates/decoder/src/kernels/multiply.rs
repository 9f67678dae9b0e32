//! Products of [`Packed`] weights and [`Input`] activations, tile by tile: what becomes of a tile
//! is up to the caller, while it is still in the cache. So bias, activation, residual and the rank
//! head cost no walk through memory of their own.
//!
//! A **tile** is [`TILE`] outputs wide and a group of rows high; tiles are dealt out to threads,
//! all groups of one tile after another, so that its weights stay in the cache.

use super::packed::{Order, TILE};
use super::small::{self, Ahead};
use super::{Dtype, Format, Input, MIN_ROWS, Numbers, Packed, View, amx, input, product};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of activations in a tile, about: their sums take 172 KB. Half as many lose 2 %, a quarter
/// more win nothing.
const GROUP: usize = 224;
const _: () = assert!(GROUP >= MIN_ROWS);

/// Outputs of so many numbers, 4 MB, are written past the caches: they would only push out what is
/// in use there, and be read again from afar anyhow. 5 % of a product. The hidden activations of an
/// MLP, which the next product reads at once, win nothing by it.
const FAR: usize = 1 << 20;

/// Numbers that the sums of a tile of `panels` panels of rows take.
fn size(format: Format, panels: usize) -> usize {
    (panels * format.rows()).max(MIN_ROWS) * TILE
}

/// A shared slice of which every thread writes other parts.
struct Parts<T>(*mut T, usize);

// SAFETY: it is only a place and a length; `Parts::part` says what its users owe.
unsafe impl<T: Send> Sync for Parts<T> {}

impl<T> Parts<T> {
    fn new(slice: &mut [T]) -> Self {
        Self(slice.as_mut_ptr(), slice.len())
    }

    /// One part.
    ///
    /// # Safety
    /// The slice that this was made of is still borrowed, and no other part that overlaps this one
    /// is in use.
    #[allow(clippy::mut_from_ref, reason = "the parts are disjoint, as the caller promises")]
    unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.1, "a part lies beyond its slice");
        // SAFETY: inside the slice, and by the caller's promise exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
    }
}

/// Writing past the caches.
#[cfg(target_arch = "x86_64")]
mod far {
    use super::super::avx512;
    pub(super) use avx512::settle;

    /// Copies `sums` to `out`, past the caches where that lies on whole cache lines.
    pub(super) fn put(out: &mut [f32], sums: &[f32]) {
        assert!(
            out.len() == sums.len() && is_x86_feature_detected!("avx512f"),
            "only for kernels by hand"
        );
        if out.as_ptr().cast::<u8>().align_offset(64) == 0 {
            // SAFETY: the processor has the feature; `out` lies on a line and is as long as `sums`.
            unsafe { avx512::stream(sums, out.as_mut_ptr()) };
        } else {
            out.copy_from_slice(sums);
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod far {
    pub(super) fn put(out: &mut [f32], sums: &[f32]) {
        out.copy_from_slice(sums);
    }

    pub(super) fn settle() {}
}

/// Bytes of activations that stay in the second-level cache beside weights and sums.
const NEAR: usize = 1 << 20;

/// Numbers of 32 bits in what [`small::fetch`] asks for.
const TWO_LINES: usize = 32;

/// One tile for some panels of rows.
struct Task {
    tile: usize,
    panels: Range<usize>,
    /// The tile that will be wanted next.
    next: usize,
}

impl Packed {
    /// Outputs that one tile leaves: half of its places when gate and up meet in it.
    fn kept(&self) -> usize {
        if self.order == Order::Gated { TILE / 2 } else { TILE }
    }

    /// Width of what the product leaves: `O`, or `O / 2` when gate and up meet.
    fn width(&self) -> usize {
        if self.order == Order::Gated { self.outputs / 2 } else { self.outputs }
    }

    /// `x W^T`, handed on in segments of rows: `each(first, sums, out)` turns the sums of one row
    /// into its outputs `first..first + out.len()` of `out` `[N, width]`. Without gate `sums` has
    /// the length of `out`; with it, it is a whole tile, gate sums first.
    ///
    /// # Panics
    /// When the shapes or formats of weights and input differ, or `out` is too short.
    pub fn multiply(
        &self,
        input: &Input,
        out: &mut [f32],
        each: impl Fn(usize, &mut [f32], &mut [f32]) + Sync,
    ) {
        let (width, kept) = (self.width(), self.kept());
        assert!(out.len() >= input.rows() * width, "no room for {} rows of {width}", input.rows());
        let out = Parts::new(out);
        self.tiles(input, |tile, first_row, sums| {
            let first = tile * kept;
            let end = (first + kept).min(width);
            let used = if self.order == Order::Gated { TILE } else { end - first };
            for (row, sums) in (first_row..input.rows()).zip(sums.chunks_exact_mut(TILE)) {
                // SAFETY: `out` is borrowed by this function, and this tile alone owns these
                // outputs of this row.
                let out = unsafe { out.part(row * width + first..row * width + end) };
                each(first, &mut sums[..used], out);
            }
        });
    }

    /// As [`Packed::multiply`], with the outputs head by head: rows belong to sequences of these
    /// lengths, one after another, and sequence by sequence `out` holds heads of `d` outputs,
    /// `[T, d]` each; the last head has what is left. `each(first, sums)` leaves the outputs in
    /// place of the sums.
    ///
    /// # Panics
    /// As [`Packed::multiply`]; when the lengths do not add up to the rows; with a gate.
    pub fn multiply_heads(
        &self,
        input: &Input,
        lengths: &[usize],
        d: usize,
        out: &mut [f32],
        each: impl Fn(usize, &mut [f32]) + Sync,
    ) {
        let width = self.width();
        assert!(self.order != Order::Gated && d > 0, "outputs are no heads of {d}");
        let (whole, lost) = (width - width % d, (d - width % d) % d);
        assert_eq!(lengths.iter().sum::<usize>(), input.rows(), "lengths of sequences");
        assert!(out.len() >= input.rows() * width, "no room for {} rows of {width}", input.rows());
        // Row by row: where its first head's outputs lie, and how far those of the next head are
        // from them.
        let mut places = Vec::with_capacity(input.rows());
        for &length in lengths {
            let start = places.len() * width;
            places.extend((0..length).map(|t| (start + t * d, length * d, t * lost)));
        }
        let at = |row: usize, column: usize| {
            let (start, apart, lost) = places[row];
            let place = start + column / d * apart + column % d;
            if column < whole { place } else { place - lost }
        };
        let rows = input.rows();
        let far = self.format.streams() && out.len() >= FAR;
        let out = Parts::new(out);
        self.tiles(input, |tile, first_row, sums| {
            let end = ((tile + 1) * TILE).min(width);
            for (row, sums) in (first_row..rows).zip(sums.chunks_exact_mut(TILE)) {
                let mut first = tile * TILE;
                each(first, &mut sums[..end - first]);
                while first < end {
                    let count = (d - first % d).min(end - first);
                    let start = at(row, first);
                    // SAFETY: `out` is borrowed by this function; `at` gives every output of every
                    // row its own place, and this tile alone owns these outputs of this row.
                    let out = unsafe { out.part(start..start + count) };
                    let from = first - tile * TILE;
                    let sums = &sums[from..from + count];
                    if far {
                        far::put(out, sums)
                    } else {
                        out.copy_from_slice(sums)
                    };
                    first += count;
                }
            }
            if far {
                far::settle();
            }
        });
    }

    /// As [`Packed::multiply`], with the outputs laid out at once for the next product:
    /// `each(first, sums)` leaves them at the front of `sums`, as many as there are ([`TILE`], half
    /// of it with a gate, fewer in the last tile).
    ///
    /// # Panics
    /// As [`Packed::multiply`].
    pub fn multiply_into(
        &self,
        input: &Input,
        next: &mut Input,
        each: impl Fn(usize, &mut [f32]) + Sync,
    ) {
        let (width, kept) = (self.width(), self.kept());
        next.shape(input.rows(), width);
        let (rows, format) = (input.rows(), self.format);
        let (height, panel) = (format.rows(), format.input_size(format.words(width)));
        let by_hand = format.by_hand();
        let (words, dense) = if by_hand {
            (Parts::new(next.words_mut()), Parts::new(&mut []))
        } else {
            (Parts::new(&mut []), Parts::new(next.dense_mut()))
        };
        self.tiles(input, |tile, first_row, sums| {
            let first = tile * kept;
            let count = kept.min(width - first);
            for (row, sums) in (first_row..rows).zip(sums.chunks_exact_mut(TILE)) {
                let used = if self.order == Order::Gated { TILE } else { count };
                each(first, &mut sums[..used]);
                if !by_hand {
                    // SAFETY: `next` is borrowed by this function, and this tile alone owns these
                    // numbers of this row.
                    let out =
                        unsafe { dense.part(row * width + first..row * width + first + count) };
                    out.copy_from_slice(&sums[..count]);
                    if format.dtype == Dtype::Bf16 {
                        out.iter_mut().for_each(|v| *v = super::rounded(*v));
                    }
                }
            }
            if by_hand {
                let here = height.min(rows - first_row);
                // `kept` is a multiple of what a step of the inner dimension takes.
                let start = first_row / height * panel + format.input_size(format.words(first));
                let taken = format.input_size(format.words(count));
                // SAFETY: as above: this tile alone owns these words of this panel.
                let out = unsafe { words.part(start..start + taken) };
                input::pack(format, &sums[..here * TILE], TILE, count, out);
            }
        });
    }

    /// All tiles, dealt out to threads: `each(tile, first row, sums)` for every panel of rows, as
    /// soon as its sums are whole.
    fn tiles(&self, input: &Input, each: impl Fn(usize, usize, &mut [f32]) + Sync) {
        self.check(input);
        let panels = input.panels();
        // Fewer rows in a tile where there are few tiles, so that no thread is left without.
        let tiles = self.places().div_ceil(TILE);
        let shares = (4 * rayon::current_num_threads()).div_ceil(tiles.max(1));
        let group = panels.div_ceil(shares).clamp(1, GROUP.div_ceil(self.format.rows()));
        // All about as large, so that no thread waits for another's last one.
        let groups = panels.div_ceil(group);
        let group = panels.div_ceil(groups.max(1)).max(1);
        (0..tiles * groups).into_par_iter().for_each_init(
            || {
                let mut sums = Numbers::default();
                sums.resize(size(self.format, group));
                sums
            },
            |sums, task| {
                let (tile, first) = (task / groups, task % groups * group);
                let end = (first + group).min(panels);
                // The next task is the same tile of other rows, until they are at an end.
                let next = if end < panels { tile } else { tile + 1 };
                let task = Task { tile, panels: first..end, next };
                self.tile(input, task, sums, |row, sums| each(tile, row, sums));
            },
        );
    }

    /// The tiles of some rows, in order of outputs, on this thread: `each(first output, row, sums)`
    /// for a panel of rows from `row` on (14, 6 or 32, fewer in the last), whose sums begin every
    /// [`TILE`] numbers; in the last tile there are fewer than that.
    pub fn walk(
        &self,
        input: &Input,
        rows: Range<usize>,
        sums: &mut Numbers,
        mut each: impl FnMut(usize, usize, &mut [f32]),
    ) {
        self.check(input);
        let height = self.format.rows();
        assert!(
            rows.start.is_multiple_of(height) && rows.end <= input.rows(),
            "rows do not begin with a panel"
        );
        let panels = rows.start / height..rows.end.div_ceil(height);
        sums.resize(size(self.format, panels.len()));
        for tile in 0..self.places().div_ceil(TILE) {
            let each = |row: usize, sums: &mut [f32]| {
                let here = height.min(rows.end - row);
                each(tile * TILE, row, &mut sums[..here * TILE]);
            };
            let task = Task { tile, panels: panels.clone(), next: tile + 1 };
            self.tile(input, task, sums, each);
        }
    }

    /// Splits rows for [`Packed::walk`]: whole panels, at most `most` rows each, about as many for
    /// every thread.
    pub fn shares(&self, rows: usize, most: usize) -> Vec<Range<usize>> {
        let height = self.format.rows();
        let panels = rows.div_ceil(height);
        let threads = rayon::current_num_threads();
        let rounds = panels.div_ceil(threads * (most / height).max(1)).max(1);
        let each = panels.div_ceil(rounds * threads).max(1) * height;
        (0..rows).step_by(each).map(|first| first..(first + each).min(rows)).collect()
    }

    fn check(&self, input: &Input) {
        assert!(self.order != Order::Table, "a table takes part in no product");
        assert_eq!(self.inputs, input.columns(), "inner sizes of a product differ");
        assert_eq!(self.format, input.format(), "formats of a product differ");
    }

    /// The sums of one task, in `sums`; `each(first row, sums)` is told of each panel.
    fn tile(
        &self,
        input: &Input,
        task: Task,
        sums: &mut [f32],
        each: impl FnMut(usize, &mut [f32]),
    ) {
        if self.format.by_hand() {
            self.tile_by_hand(input, task, sums, each);
        } else {
            self.tile_by_gemm(input, task, sums, each);
        }
    }

    fn tile_by_gemm(
        &self,
        input: &Input,
        Task { tile, panels, .. }: Task,
        sums: &mut [f32],
        mut each: impl FnMut(usize, &mut [f32]),
    ) {
        let weights = self.dense_places();
        let (first, last) =
            (tile * TILE, ((tile + 1) * TILE).min(weights.len() / self.inputs.max(1)));
        let height = self.format.rows();
        let rows = (panels.len() * height).max(MIN_ROWS);
        let x =
            View::dense(&input.dense()[panels.start * height * self.inputs..], rows, self.inputs);
        let w = View::dense(&weights[first * self.inputs..], last - first, self.inputs);
        product(sums, TILE, x, w.transposed(), false);
        for (panel, sums) in panels.zip(sums.chunks_exact_mut(height * TILE)) {
            each(panel * height, sums);
        }
    }

    fn tile_by_hand(
        &self,
        input: &Input,
        Task { tile, panels, next }: Task,
        sums: &mut [f32],
        mut each: impl FnMut(usize, &mut [f32]),
    ) {
        let format = self.format;
        let (words, height, width) = (format.words(self.inputs), format.rows(), format.panel());
        let (a, b) = (input.words(), self.panel_words());
        assert!(a.len() >= panels.end * format.input_size(words));
        assert!(sums.len() >= panels.len() * height * TILE);
        if words == 0 {
            for panel in panels.clone() {
                sums.fill(0.0);
                each(panel * height, &mut sums[..height * TILE]);
            }
        }
        let _tiles = amx::Tiles::for_format(format);
        let blocks = words.div_ceil(format.block());
        // Whether the activations of all panels fill a cache.
        let far = 4 * panels.len() * format.input_size(words) > NEAR;
        for number in 0..blocks {
            let block = self.block(tile, number);
            assert!(block.start + block.panels * block.size <= b.len());
            // Weights are read from main memory once and then used by all rows: the first to use
            // them would wait.
            let following = match (number + 1 < blocks, next * TILE < self.places()) {
                (true, _) => Some(self.block(tile, number + 1)),
                (false, true) => Some(self.block(next, 0)),
                (false, false) => None,
            };
            let calls = panels.len() * block.panels;
            let mut ahead = following.map_or(Ahead::nothing(b.as_ptr()), |next| Ahead {
                from: b.as_ptr().wrapping_add(next.start),
                pace: (next.panels * next.size).div_ceil(calls * block.taken),
            });
            // A panel of weights meets this many panels of activations before the next one does.
            let together = if format.by_tiles() { 2 } else { 1 };
            for start in panels.clone().step_by(together) {
                let group = start..(start + together).min(panels.end);
                for p in 0..block.panels {
                    for panel in group.clone() {
                        let i = panel - panels.start;
                        let from = panel * format.input_size(words);
                        let a = a[from + format.input_size(block.first)..].as_ptr();
                        if far {
                            // The next panel of activations, a part before each product with this
                            // one.
                            let coming = a.wrapping_add(together * format.input_size(words));
                            let pieces =
                                format.input_size(block.taken).div_ceil(TWO_LINES * block.panels);
                            for piece in p * pieces..(p + 1) * pieces {
                                small::fetch(coming.wrapping_add(piece * TWO_LINES).cast());
                            }
                        }
                        let multiply = format.multiply(input.rows() - panel * height);
                        // SAFETY: the format says that the processor has what the kernels need,
                        // and tiles are set up. The slices were found long enough just now: `a`
                        // has the block within its panel, `b` the panel of the block, and `sums`
                        // at most rows `i * height..` of TILE numbers, of which `width` from `p *
                        // width` on are written.
                        unsafe {
                            multiply(
                                block.taken,
                                a,
                                b.as_ptr().add(block.start + p * block.size),
                                sums.as_mut_ptr().add(i * height * TILE + p * width),
                                TILE,
                                number > 0,
                                ahead,
                            );
                        }
                        ahead.from = ahead.from.wrapping_add(ahead.pace * block.taken);
                    }
                }
                if number + 1 == blocks {
                    // At once: the sums are near, and what is written drains while the next panel
                    // is multiplied.
                    for panel in group {
                        let i = panel - panels.start;
                        each(panel * height, &mut sums[i * height * TILE..(i + 1) * height * TILE]);
                    }
                }
            }
        }
    }

    /// For each row of the input the sum at the output that is asked for, `ids[i]` for row `i`,
    /// with the very bits that [`Packed::walk`] yields there.
    ///
    /// # Panics
    /// Unless the matrix is [`Order::Head`] and there is an id below `O` for every row.
    pub fn aimed(&self, input: &Input, ids: &[u32]) -> Vec<f32> {
        self.check(input);
        assert!(
            self.order == Order::Head && ids.len() == input.rows(),
            "one id for every row of a head"
        );
        assert!(ids.iter().all(|id| (*id as usize) < self.outputs), "an id is beyond the outputs");
        let by_hand = self.format.by_hand();
        let portion = if by_hand { self.format.rows() } else { MIN_ROWS };
        ids.par_chunks(portion)
            .enumerate()
            .flat_map_iter(|(number, ids)| {
                if by_hand {
                    self.aimed_by_hand(input, number, ids)
                } else {
                    self.aimed_by_gemm(input, number, ids)
                }
            })
            .collect()
    }

    /// The diagonal of a product with the wanted rows gathered beside each other.
    fn aimed_by_gemm(&self, input: &Input, portion: usize, ids: &[u32]) -> Vec<f32> {
        let (weights, columns) = (self.dense_places(), self.inputs);
        let mut gathered = vec![0.0; MIN_ROWS * columns];
        for (slot, &id) in gathered.chunks_exact_mut(columns.max(1)).zip(ids) {
            slot.copy_from_slice(&weights[id as usize * columns..][..columns]);
        }
        let mut square = vec![0.0; MIN_ROWS * MIN_ROWS];
        let x = View::dense(&input.dense()[portion * MIN_ROWS * columns..], MIN_ROWS, columns);
        product(
            &mut square,
            MIN_ROWS,
            x,
            View::dense(&gathered, MIN_ROWS, columns).transposed(),
            false,
        );
        (0..ids.len()).map(|i| square[i * MIN_ROWS + i]).collect()
    }

    /// The diagonal of a small product with the wanted rows gathered in one panel.
    fn aimed_by_hand(&self, input: &Input, panel: usize, ids: &[u32]) -> Vec<f32> {
        let format = self.format;
        let (words, width) = (format.words(self.inputs), format.panel());
        let (a, b) = (input.words(), self.panel_words());
        let multiply = format.multiply(format.rows());
        let most = format.block().min(words);
        let mut gathered = super::words::Words::zeros(format.weight_size(most));
        let mut square = vec![0.0; format.rows() * width];
        let _tiles = amx::Tiles::for_format(format);
        for number in 0..words.div_ceil(format.block()) {
            let blocks: Vec<_> =
                ids.iter().map(|&id| self.block(id as usize / TILE, number)).collect();
            let Some(&block) = blocks.first() else { break };
            let out = gathered.as_mut_slice();
            // Side by side, so that the memory works for all of them at once.
            for word in 0..block.taken {
                for (i, (&id, block)) in ids.iter().zip(&blocks).enumerate() {
                    let from = block.place(format, id as usize % TILE, word);
                    let to = format.weight_at(word, i);
                    for part in (0..format.parts()).map(|part| part * format.part_step()) {
                        out[to + part] = b[from + part];
                    }
                }
            }
            let at = panel * format.input_size(words) + format.input_size(block.first);
            let a = &a[at..][..format.input_size(block.taken)];
            // SAFETY: the format says that the processor has what the kernels need, and tiles are
            // set up; `a`, `out` and `square` have the sizes asked for.
            unsafe {
                multiply(
                    block.taken,
                    a.as_ptr(),
                    out.as_ptr(),
                    square.as_mut_ptr(),
                    width,
                    number > 0,
                    Ahead::nothing(out.as_ptr()),
                );
            }
        }
        (0..ids.len()).map(|i| square[i * width + i]).collect()
    }
}
