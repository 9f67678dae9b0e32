//! In which tiles the logits are computed: the one place where the memory they take is weighed
//! against the fourth product.
//!
//! A block of rows whose logits fit into the buffer together costs three products. But the fewer
//! rows a block has, the more often the head is read, packed and added to for the same work, and a
//! large vocabulary leaves few. Processor time of 1024 rows, together over that in tiles of 1024 x
//! 1024 (`record/2026-11-28-training-head.md`):
//!
//! | `V` | rows that fit | `E` = 128 | `E` = 512 |
//! |---|---|---|---|
//! | 4096 | 256 | 0.89 | 0.87 |
//! | 8192 | 128 | 0.92 | 0.99 |
//! | 12000 | 87 | 1.03 | 1.12 |
//! | 16384 | 64 | 1.10 | 1.21 |
//! | 50257 | 20 | 1.86 | 2.32 |
//!
//! So blocks that fit are taken down to 128 rows, and tiles beyond.

use std::ops::Range;

/// Logits that exist together, 4 MB of them, whatever the rows and the vocabulary.
pub(super) const BUDGET: usize = 1 << 20;

/// Most rows of a block; a tile of so many is square.
const MOST_ROWS: usize = 1024;

/// Fewest rows whose logits are computed together where there are more rows than that.
const FEWEST_ROWS: usize = 128;

/// Tiles are cut at multiples of this, so that rows of logits start where vectors do.
const ENTRIES: usize = 16;

/// Rows by entries of the vocabulary of one tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    /// `R`: rows of a block; the last has fewer.
    pub(super) rows: usize,
    /// `T`: entries of a tile; the last has fewer.
    pub(super) entries: usize,
}

impl Tiling {
    /// The tiles of `rows` rows over a vocabulary; neither is 0.
    pub(super) fn new(rows: usize, vocabulary: usize) -> Self {
        let together = BUDGET / vocabulary;
        if together >= rows.min(FEWEST_ROWS) {
            return Self { rows: even(rows, together.min(MOST_ROWS)), entries: vocabulary };
        }
        let rows = even(rows, MOST_ROWS);
        let most = BUDGET / rows / ENTRIES * ENTRIES;
        let entries = even(vocabulary, most).next_multiple_of(ENTRIES);
        Self { rows, entries }
    }

    /// The tiles of a vocabulary, first to last.
    pub(super) fn tiles(self, vocabulary: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
        (0..vocabulary.div_ceil(self.entries))
            .map(move |tile| tile * self.entries..((tile + 1) * self.entries).min(vocabulary))
    }
}

/// The size of the parts when `all` is cut into as few as hold at most `most` each, as evenly as
/// can be.
fn even(all: usize, most: usize) -> usize {
    all.div_ceil(all.div_ceil(most))
}
