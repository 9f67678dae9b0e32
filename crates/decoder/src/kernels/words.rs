//! A buffer of 32-bit words that begins on a cache line.

/// Words of one cache line.
const LINE: usize = 16;

/// One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u32; LINE]);

/// Words on whole cache lines, so that no vector of weights straddles two of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    lines: Vec<Line>,
    len: usize,
}

impl Words {
    /// `len` zeros.
    pub(super) fn zeros(len: usize) -> Self {
        Self { lines: vec![Line([0; LINE]); len.div_ceil(LINE)], len }
    }

    /// Makes room for `len` words. What they hold is left open: numbers of before, or zeros.
    pub(super) fn resize(&mut self, len: usize) {
        self.lines.resize(len.div_ceil(LINE), Line([0; LINE]));
        self.len = len;
    }

    pub(super) fn as_slice(&self) -> &[u32] {
        // SAFETY: `lines` holds at least `len` words without gaps (`Line` is 64 bytes, aligned to 64), any of which is valid.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u32] {
        // SAFETY: as in `as_slice`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
