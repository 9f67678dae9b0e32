//! The tiles of the processor, by inline assembly: the intrinsics are not in stable Rust.
//!
//! A small product is one block of assembly, from the zeros (or the sums so far) in the registers
//! to their stores: the compiler knows nothing of what tiles hold between two blocks, and need not.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;

use super::super::shape::SIDE;
use super::super::small::{Ahead, Chains};
use super::super::{Dtype, Format, Kernels};
use super::steps;

/// Bytes of a line of a tile.
const LINE: u64 = 64;

/// Whether the processor has tiles of bf16, and the system lets this process use them. Asks the
/// system at the first call: without its permission the first instruction on tiles is a fault.
pub(in super::super) fn permitted() -> bool {
    static PERMITTED: OnceLock<bool> = OnceLock::new();
    *PERMITTED.get_or_init(|| {
        const LEAF: u32 = 7;
        // Bits of the leaf's EDX.
        const BF16: u32 = 1 << 22;
        const TILE: u32 = 1 << 24;
        // Linux: arch_prctl(ARCH_REQ_XCOMP_PERM, the number of the tiles' state).
        const REQUEST: i64 = 0x1023;
        const TILE_DATA: i64 = 18;
        // SAFETY: every x86-64 processor has the instruction.
        #[allow(unused_unsafe, reason = "safe from Rust 1.94 on")]
        let flags = unsafe { if __cpuid(0).eax >= LEAF { __cpuid_count(LEAF, 0).edx } else { 0 } };
        flags & (BF16 | TILE) == BF16 | TILE
            // SAFETY: the call takes two numbers and changes no memory of ours; a kernel that does
            // not know it, or has not enabled tiles, answers with an error.
            && unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST, TILE_DATA) } == 0
    })
}

thread_local! {
    /// How many products of this thread want tiles set up: one may be taken while the sums of
    /// another are handed on.
    static WANTED: Cell<usize> = const { Cell::new(0) };
}

/// Tiles that are set up for this thread, until the last of these is dropped.
pub(in super::super) struct Tiles {
    set_up: bool,
    /// It belongs to the thread that made it.
    _here: PhantomData<*const ()>,
}

/// What `LDTILECFG` reads.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_of_line: [u16; 16],
    lines: [u8; 16],
}

impl Tiles {
    /// Sets all eight registers up as 16 lines of 64 bytes, where the format works by them.
    pub(in super::super) fn for_format(format: Format) -> Self {
        let set_up = format.kernels() == Kernels::Amx;
        if set_up && WANTED.replace(WANTED.get() + 1) == 0 {
            let mut shapes = Shapes {
                palette: 1,
                start_row: 0,
                reserved: [0; 14],
                bytes_of_line: [0; 16],
                lines: [0; 16],
            };
            shapes.bytes_of_line[..8].fill(LINE as u16);
            shapes.lines[..8].fill(SIDE as u8);
            // SAFETY: the kernels are chosen only where tiles are permitted; the shapes are those
            // of the one palette that there is.
            unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const shapes, options(nostack)) };
        }
        Self { set_up, _here: PhantomData }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        if self.set_up && WANTED.replace(WANTED.get() - 1) == 1 {
            // SAFETY: nobody uses the registers between small products. Released, they cost a
            // switch of threads nothing, and let the core sleep as deep as before.
            unsafe { asm!("tilerelease", options(nostack, nomem)) };
        }
    }
}

macro_rules! operation {
    ((load $register:literal $panel:ident $at:literal)) => {
        concat!(
            "tileloadd tmm",
            $register,
            ", [{",
            stringify!($panel),
            "} + {line}*1 + ",
            $at,
            "]\n"
        )
    };
    ((dot $sums:literal $a:literal $b:literal)) => {
        concat!("tdpbf16ps tmm", $sums, ", tmm", $a, ", tmm", $b, "\n")
    };
    ((ahead)) => {
        "prefetcht1 [{next}]\nadd {next}, {pace}\n"
    };
    ((fetch $at:literal)) => {
        concat!(
            "prefetcht0 [{b} + ",
            $at,
            "]\n",
            "prefetcht0 [{b} + ",
            $at,
            " + 64]\n",
            "prefetcht0 [{b} + ",
            $at,
            " + 128]\n",
            "prefetcht0 [{b} + ",
            $at,
            " + 192]\n",
            "prefetcht0 [{b} + ",
            $at,
            " + 256]\n",
            "prefetcht0 [{b} + ",
            $at,
            " + 320]\n",
            "prefetcht0 [{b} + ",
            $at,
            " + 384]\n",
            "prefetcht0 [{b} + ",
            $at,
            " + 448]\n",
        )
    };
}

macro_rules! text {
    ([$of_a:literal $of_b:literal $ahead:literal] $($operation:tt)*) => {
        concat!(
            $(operation!($operation),)*
            "add {a}, ", $of_a, "\n",
            "add {b}, ", $of_b, "\n",
            "dec {steps}\n",
        )
    };
}

/// How many lines ahead a step asks for.
macro_rules! lines_ahead {
    ([$of_a:literal $of_b:literal $ahead:literal] $($operation:tt)*) => {
        $ahead
    };
}

/// A small product of a list of steps; `$low` where its sums are the upper rows alone.
macro_rules! product {
    ($name:ident, $low:tt) => {
        /// # Safety
        /// As [`Multiply`](super::super::small::Multiply).
        pub(super) unsafe fn $name(
            words: usize,
            a: *const u32,
            b: *const u32,
            c: *mut f32,
            stride: usize,
            resume: bool,
            ahead: Ahead,
        ) {
            let steps = words / SIDE;
            assert!(steps > 0 && words.is_multiple_of(SIDE), "whole steps of tiles");
            // What is wanted later is `ahead.pace` lines a step. A list has places for some; more
            // than that are asked for at once, before.
            const NUMBERS: usize = 16;
            const PLACES: usize = steps::$name!(lines_ahead);
            let (mut next, mut pace) = (b, 0);
            if ahead.pace > PLACES {
                for line in (0..ahead.pace * words).step_by(2 * NUMBERS) {
                    super::super::small::fetch(ahead.from.wrapping_add(line).cast());
                }
            } else if ahead.pace > 0 {
                (next, pace) = (ahead.from, 4 * NUMBERS * ahead.pace / PLACES);
            }
            // SAFETY: the tiles are set up, as the caller promises, and every address is within
            // what it promises: a step takes of the panels what its list says, and the sums are 32
            // (16 in a low panel) lines of 128 bytes. A prefetch may point anywhere.
            unsafe {
                asm!(
                    "test {resume}, {resume}",
                    "jnz 3f",
                    "tilezero tmm0",
                    "tilezero tmm1",
                    "tilezero tmm2",
                    "tilezero tmm3",
                    "jmp 2f",
                    "3:",
                    "tileloadd tmm0, [{c} + {apart}*1]",
                    "tileloadd tmm1, [{c} + {apart}*1 + 64]",
                    lower!($low, "tileloadd tmm2, [{lower} + {apart}*1]"),
                    lower!($low, "tileloadd tmm3, [{lower} + {apart}*1 + 64]"),
                    "2:",
                    steps::$name!(text),
                    "jnz 2b",
                    "tilestored [{c} + {apart}*1], tmm0",
                    "tilestored [{c} + {apart}*1 + 64], tmm1",
                    lower!($low, "tilestored [{lower} + {apart}*1], tmm2"),
                    lower!($low, "tilestored [{lower} + {apart}*1 + 64], tmm3"),
                    a = inout(reg) a => _,
                    b = inout(reg) b => _,
                    steps = inout(reg) steps => _,
                    next = inout(reg) next => _,
                    pace = in(reg) pace,
                    line = in(reg) LINE,
                    c = in(reg) c,
                    lower = in(reg) c.wrapping_add(SIDE * stride),
                    apart = in(reg) 4 * stride,
                    resume = in(reg) u64::from(resume),
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    };
}

/// What is left out where the lower rows take no part. (A comment: each operand must be named.)
macro_rules! lower {
    (false, $text:literal) => {
        $text
    };
    (true, $text:literal) => {
        "/* {lower} */"
    };
}

product!(by_bf16, false);
product!(by_bf16_low, true);
product!(by_f32, false);
product!(by_f32_low, true);

/// Products of tiles without memory, into four sums.
pub(super) fn chains(dtype: Dtype) -> Chains {
    fn round(steps: usize) -> f32 {
        // SAFETY: the kernels are chosen only where tiles are permitted.
        let _tiles = Tiles::for_format(Format { dtype: Dtype::Bf16, kernels: Kernels::Amx });
        // SAFETY: the registers are set up, and hold zeros.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "tilezero tmm4",
                "tilezero tmm5",
                "2:",
                "tdpbf16ps tmm0, tmm4, tmm5",
                "tdpbf16ps tmm1, tmm4, tmm5",
                "tdpbf16ps tmm2, tmm4, tmm5",
                "tdpbf16ps tmm3, tmm4, tmm5",
                "dec {steps}",
                "jnz 2b",
                steps = inout(reg) steps => _,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _,
                options(nostack, nomem),
            );
        }
        0.0
    }
    const STEPS: usize = 1 << 18;
    const OF_BF16: usize = 4 * SIDE * SIDE * 2 * SIDE;
    let products = if dtype == Dtype::F32 { 6 } else { 1 };
    // SAFETY: the format says that tiles are permitted.
    unsafe { Chains::new(round, STEPS, OF_BF16 / products) }
}
