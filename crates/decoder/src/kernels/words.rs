//! A buffer of 32-bit words that begins on a cache line, and on large pages where it is large.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Bytes of a cache line: no vector of weights straddles two of them.
const LINE: usize = 64;

/// Bytes of a large page. Without them a walk over the head of a large vocabulary misses the table
/// of pages every 4 KB, which costs up to a quarter of the speed on a virtual machine.
const LARGE_PAGE: usize = 2 << 20;

/// What allocators align to by themselves. Asked for more they cannot use that memory fresh from
/// the system is zero already, and write every byte of it.
const ALIGNED_ANYWAY: usize = 16;

/// Words, zero at first.
#[derive(Debug)]
pub(super) struct Words {
    start: NonNull<u32>,
    /// Words that are in use.
    len: usize,
    /// Words that there is room for; 0 without memory.
    room: usize,
    /// What was allocated; `start` is the first line or page in it.
    memory: NonNull<u8>,
}

// SAFETY: it owns its memory alone, like a `Vec`.
unsafe impl Send for Words {}
// SAFETY: shared, it can only be read.
unsafe impl Sync for Words {}

impl Words {
    /// `len` zeros. Many of them take no time: the system makes each page when it is first written,
    /// for the thread that writes it.
    pub(super) fn zeros(len: usize) -> Self {
        if len == 0 {
            return Self::default();
        }
        let (layout, align) = Self::layout(len);
        // SAFETY: the layout has a size, since `len` is not 0.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
        // SAFETY: the layout has room for `len` words after as many bytes as are left out at its
        // beginning, fewer than `align`.
        let start = unsafe { memory.add(memory.as_ptr().align_offset(align)) };
        if align == LARGE_PAGE {
            use_large_pages(start.as_ptr(), 4 * len);
        }
        Self { start: start.cast(), len, room: len, memory }
    }

    /// What to allocate for `len` words, and what they are aligned to in it.
    fn layout(len: usize) -> (Layout, usize) {
        let bytes = len.saturating_mul(4);
        let align = if bytes >= 2 * LARGE_PAGE { LARGE_PAGE } else { LINE };
        let layout = Layout::from_size_align(bytes.saturating_add(align), ALIGNED_ANYWAY);
        (layout.expect("a buffer smaller than the address space"), align)
    }

    /// Makes room for `len` words. What they hold is left open: numbers of before, or zeros.
    pub(super) fn resize(&mut self, len: usize) {
        if len > self.room {
            // Twice as much at least, so that a buffer that grows step by step is not made anew at
            // each.
            *self = Self::zeros(len.max(2 * self.room));
        }
        self.len = len;
    }

    pub(super) fn as_slice(&self) -> &[u32] {
        // SAFETY: `start` points to at least `len` words, zero at first, or dangles when `len` is
        // 0.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u32] {
        // SAFETY: as in `as_slice`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Words {
    /// The words as f32.
    pub(super) fn as_floats(&self) -> &[f32] {
        let words = self.as_slice();
        // SAFETY: f32 has size and alignment of u32, and every pattern of bits is one.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
    }

    /// The words as f32, to write results in.
    pub(super) fn as_mut_floats(&mut self) -> &mut [f32] {
        let words = self.as_mut_slice();
        // SAFETY: as in `as_floats`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
    }
}

/// f32 in the same manner: for activations between products.
#[derive(Debug, Clone, Default)]
pub struct Numbers(Words);

impl Numbers {
    /// Makes room for `len` numbers. What they hold is left open: numbers of before, or zeros.
    pub fn resize(&mut self, len: usize) {
        self.0.resize(len);
    }
}

impl std::ops::Deref for Numbers {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.0.as_floats()
    }
}

impl std::ops::DerefMut for Numbers {
    fn deref_mut(&mut self) -> &mut [f32] {
        self.0.as_mut_floats()
    }
}

impl Default for Words {
    fn default() -> Self {
        Self { start: NonNull::dangling(), len: 0, room: 0, memory: NonNull::dangling() }
    }
}

impl Clone for Words {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.as_mut_slice().copy_from_slice(self.as_slice());
        copy
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if self.room > 0 {
            // SAFETY: allocated in `zeros` with this layout, which `room` still tells.
            unsafe { dealloc(self.memory.as_ptr(), Self::layout(self.room).0) };
        }
    }
}

/// Asks for large pages; a wish, which may be left unfulfilled.
#[cfg(target_os = "linux")]
fn use_large_pages(start: *mut u8, bytes: usize) {
    // SAFETY: the range was just allocated, and the advice changes none of its contents.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn use_large_pages(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_aligned_and_keep_what_is_written() {
        for len in [0, 1, 17, LARGE_PAGE / 2, LARGE_PAGE] {
            let mut words = Words::zeros(len);
            assert!(words.as_slice().iter().all(|w| *w == 0) && words.as_slice().len() == len);
            let align = if 4 * len >= 2 * LARGE_PAGE { LARGE_PAGE } else { LINE };
            assert!(len == 0 || (words.as_slice().as_ptr() as usize).is_multiple_of(align));
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
