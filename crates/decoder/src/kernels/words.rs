//! A buffer of 32-bit words that begins on a cache line, and on large pages where it is large.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Bytes of a cache line: no vector of weights straddles two of them.
const LINE: usize = 64;

/// Bytes of a large page. Without them a walk over the head of a large vocabulary misses the table of pages every 4 KB, which costs
/// up to a quarter of the speed on a virtual machine.
const LARGE_PAGE: usize = 2 << 20;

/// Words, zero at first.
#[derive(Debug)]
pub(super) struct Words {
    start: NonNull<u32>,
    /// Words that are in use.
    len: usize,
    /// Words that there is room for; 0 without memory.
    room: usize,
}

// SAFETY: it owns its memory alone, like a `Vec`.
unsafe impl Send for Words {}
// SAFETY: shared, it can only be read.
unsafe impl Sync for Words {}

impl Words {
    /// `len` zeros.
    pub(super) fn zeros(len: usize) -> Self {
        if len == 0 {
            return Self::default();
        }
        let layout = Self::layout(len);
        // SAFETY: the layout has a size, since `len` is not 0.
        let start = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(start.cast::<u32>()) else { handle_alloc_error(layout) };
        use_large_pages(start.as_ptr().cast(), layout);
        // SAFETY: `layout` has room for `len` words, which nobody else knows of yet.
        unsafe { start.as_ptr().write_bytes(0, len) };
        Self { start, len, room: len }
    }

    fn layout(len: usize) -> Layout {
        let bytes = len.saturating_mul(4);
        let align = if bytes >= 2 * LARGE_PAGE { LARGE_PAGE } else { LINE };
        Layout::from_size_align(bytes, align).expect("a buffer smaller than the address space")
    }

    /// Makes room for `len` words. What they hold is left open: numbers of before, or zeros.
    pub(super) fn resize(&mut self, len: usize) {
        if len > self.room {
            // Twice as much at least, so that a buffer that grows step by step is not made anew at each.
            *self = Self::zeros(len.max(2 * self.room));
        }
        self.len = len;
    }

    pub(super) fn as_slice(&self) -> &[u32] {
        // SAFETY: `start` points to at least `len` words, written once, or dangles when `len` is 0.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u32] {
        // SAFETY: as in `as_slice`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Default for Words {
    fn default() -> Self {
        Self { start: NonNull::dangling(), len: 0, room: 0 }
    }
}

impl Clone for Words {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.as_mut_slice().copy_from_slice(self.as_slice());
        copy
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if self.room > 0 {
            // SAFETY: allocated in `zeros` with this layout, which `room` still tells.
            unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.room)) };
        }
    }
}

/// Asks for large pages; a wish, which may be left unfulfilled.
#[cfg(target_os = "linux")]
fn use_large_pages(start: *mut u8, layout: Layout) {
    if layout.align() == LARGE_PAGE {
        // SAFETY: the range was just allocated, and the advice changes none of its contents.
        unsafe { libc::madvise(start.cast(), layout.size(), libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn use_large_pages(_: *mut u8, _: Layout) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_aligned_and_keep_what_is_written() {
        for len in [0, 1, 17, LARGE_PAGE / 2, LARGE_PAGE] {
            let mut words = Words::zeros(len);
            assert!(words.as_slice().iter().all(|w| *w == 0) && words.as_slice().len() == len);
            assert!(len == 0 || (words.as_slice().as_ptr() as usize).is_multiple_of(LINE));
            words.as_mut_slice().iter_mut().enumerate().for_each(|(i, w)| *w = i as u32);
            let mut copy = words.clone();
            drop(words);
            copy.resize(len / 2);
            copy.resize(len);
            assert!(copy.as_slice().iter().enumerate().all(|(i, w)| *w == i as u32));
            copy.resize(len + 5);
            assert_eq!(copy.as_slice().len(), len + 5);
        }
    }
}
