//! Numbers in blocks, as GGUF has them, as f32, by the arithmetic of ggml: each is one product, or
//! a product and a difference or sum, rounded once each.
//!
//! Source: `ggml-quants.c` of ggml, and `quants.py` of the gguf package, whose results are these
//! bit for bit. A half-precision number is written `d` where it scales, `m` where it shifts.

use half::f16;

/// Types whose numbers lie in blocks: so many whole numbers with their scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantised {
    /// 32 numbers of 4 bits, one scale.
    Q4_0,
    /// 32 of 4 bits, a scale and an offset.
    Q4_1,
    /// 32 of 5 bits, one scale.
    Q5_0,
    /// 32 of 5 bits, a scale and an offset.
    Q5_1,
    /// 32 of 8 bits, one scale.
    Q8_0,
    /// 256 of 2 bits, 16 scales and offsets of 4 bits.
    Q2K,
    /// 256 of 3 bits, 16 scales of 6 bits.
    Q3K,
    /// 256 of 4 bits, 8 scales and offsets of 6 bits.
    Q4K,
    /// 256 of 5 bits, 8 scales and offsets of 6 bits.
    Q5K,
    /// 256 of 6 bits, 16 scales of 8 bits.
    Q6K,
}

impl Quantised {
    /// The name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Q4_0 => "q4_0",
            Self::Q4_1 => "q4_1",
            Self::Q5_0 => "q5_0",
            Self::Q5_1 => "q5_1",
            Self::Q8_0 => "q8_0",
            Self::Q2K => "q2_k",
            Self::Q3K => "q3_k",
            Self::Q4K => "q4_k",
            Self::Q5K => "q5_k",
            Self::Q6K => "q6_k",
        }
    }

    /// Numbers of a block, and its bytes.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q2K => (256, 84),
            Self::Q3K => (256, 110),
            Self::Q4K => (256, 144),
            Self::Q5K => (256, 176),
            Self::Q6K => (256, 210),
        }
    }
}

impl Quantised {
    /// Writes the numbers of whole blocks.
    ///
    /// # Panics
    /// When `bytes` and `out` are not as many blocks.
    pub(super) fn dequantise(self, bytes: &[u8], out: &mut [f32]) {
        let (numbers, size) = self.block();
        assert!(
            out.len().is_multiple_of(numbers) && bytes.len() == out.len() / numbers * size,
            "{} bytes for {} numbers of {}",
            bytes.len(),
            out.len(),
            self.name()
        );
        let block: fn(&[u8], &mut [f32]) = match self {
            Self::Q4_0 => q4_0,
            Self::Q4_1 => q4_1,
            Self::Q5_0 => q5_0,
            Self::Q5_1 => q5_1,
            Self::Q8_0 => q8_0,
            Self::Q2K => q2_k,
            Self::Q3K => q3_k,
            Self::Q4K => q4_k,
            Self::Q5K => q5_k,
            Self::Q6K => q6_k,
        };
        for (bytes, out) in bytes.chunks_exact(size).zip(out.chunks_exact_mut(numbers)) {
            block(bytes, out);
        }
    }
}

/// The half-precision number at the beginning.
fn half(bytes: &[u8]) -> f32 {
    f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()
}

/// Four-bit numbers of 16 bytes: all low halves, then all high ones.
fn nibbles(bytes: &[u8], out: &mut [f32], number: impl Fn(usize, u8) -> f32) {
    let (low, high) = out.split_at_mut(16);
    for (at, byte) in bytes.iter().enumerate() {
        low[at] = number(at, byte & 15);
        high[at] = number(at + 16, byte >> 4);
    }
}

fn q4_0(bytes: &[u8], out: &mut [f32]) {
    let d = half(bytes);
    nibbles(&bytes[2..], out, |_, q| d * (f32::from(q) - 8.0));
}

fn q4_1(bytes: &[u8], out: &mut [f32]) {
    let (d, m) = (half(bytes), half(&bytes[2..]));
    nibbles(&bytes[4..], out, |_, q| d * f32::from(q) + m);
}

/// The fifth bits of 32 numbers, each in its place.
fn fifths(bytes: &[u8]) -> impl Fn(usize) -> u8 {
    let bits = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    move |at| u8::from(bits >> at & 1 == 1) << 4
}

fn q5_0(bytes: &[u8], out: &mut [f32]) {
    let (d, fifth) = (half(bytes), fifths(&bytes[2..]));
    nibbles(&bytes[6..], out, |at, q| d * (f32::from(q | fifth(at)) - 16.0));
}

fn q5_1(bytes: &[u8], out: &mut [f32]) {
    let (d, m, fifth) = (half(bytes), half(&bytes[2..]), fifths(&bytes[4..]));
    nibbles(&bytes[8..], out, |at, q| d * f32::from(q | fifth(at)) + m);
}

fn q8_0(bytes: &[u8], out: &mut [f32]) {
    let d = half(bytes);
    for (byte, out) in bytes[2..].iter().zip(out) {
        *out = d * f32::from(byte.cast_signed());
    }
}

/// 16 scales and offsets of four bits, 64 bytes of two-bit numbers, `d`, `m`.
fn q2_k(bytes: &[u8], out: &mut [f32]) {
    let (scales, quants) = bytes[..80].split_at(16);
    let (d, m) = (half(&bytes[80..]), half(&bytes[82..]));
    for (run, out) in out.chunks_exact_mut(16).enumerate() {
        let (scale, offset) = (d * f32::from(scales[run] & 15), m * f32::from(scales[run] >> 4));
        let (from, shift) = quarter(run);
        for (byte, out) in quants[from..from + 16].iter().zip(out) {
            *out = scale * f32::from(byte >> shift & 3) - offset;
        }
    }
}

/// Where the two-bit numbers of a run of 16 lie: 32 bytes hold 128 numbers, a quarter of them in
/// each pair of bits.
fn quarter(run: usize) -> (usize, usize) {
    (run / 8 * 32 + run % 2 * 16, run % 8 / 2 * 2)
}

/// 32 bytes of third bits (clear: 4 less), 64 of two-bit numbers, 16 scales of six bits, `d`.
fn q3_k(bytes: &[u8], out: &mut [f32]) {
    let (thirds, rest) = bytes.split_at(32);
    let (quants, rest) = rest.split_at(64);
    let d = half(&rest[12..]);
    for (run, out) in out.chunks_exact_mut(16).enumerate() {
        let low = rest[run % 8] >> (run / 8 * 4) & 15;
        let high = rest[8 + run % 4] >> (run / 4 * 2) & 3;
        let scale = d * (f32::from(low | high << 4) - 32.0);
        let (from, shift) = quarter(run);
        let (third, bit) = (run % 2 * 16, run / 2);
        let bytes = quants[from..from + 16].iter().zip(&thirds[third..third + 16]);
        for ((byte, third), out) in bytes.zip(out) {
            let less = if third >> bit & 1 == 1 { 0.0 } else { 4.0 };
            *out = scale * (f32::from(byte >> shift & 3) - less);
        }
    }
}

/// Scale and offset of run `at` of 8, six bits each, packed into 12 bytes.
fn six_bits(bytes: &[u8], at: usize) -> (f32, f32) {
    let (scale, offset) = match at {
        0..4 => (bytes[at] & 63, bytes[at + 4] & 63),
        _ => {
            (bytes[at + 4] & 15 | bytes[at - 4] >> 6 << 4, bytes[at + 4] >> 4 | bytes[at] >> 6 << 4)
        }
    };
    (f32::from(scale), f32::from(offset))
}

/// `d`, `m`, 8 scales and offsets, 128 bytes of four-bit numbers: 32 bytes hold two runs.
fn q4_k(bytes: &[u8], out: &mut [f32]) {
    let (d, m, quants) = (half(bytes), half(&bytes[2..]), &bytes[16..]);
    for (run, out) in out.chunks_exact_mut(32).enumerate() {
        let (scale, offset) = six_bits(&bytes[4..16], run);
        let (scale, offset) = (d * scale, m * offset);
        let shift = run % 2 * 4;
        for (byte, out) in quants[run / 2 * 32..].iter().zip(out) {
            *out = scale * f32::from(byte >> shift & 15) - offset;
        }
    }
}

/// As `q4_k`, with 32 bytes of fifth bits before the numbers, a bit a run.
fn q5_k(bytes: &[u8], out: &mut [f32]) {
    let (d, m) = (half(bytes), half(&bytes[2..]));
    let (fifths, quants) = bytes[16..].split_at(32);
    for (run, out) in out.chunks_exact_mut(32).enumerate() {
        let (scale, offset) = six_bits(&bytes[4..16], run);
        let (scale, offset) = (d * scale, m * offset);
        let shift = run % 2 * 4;
        for ((byte, fifth), out) in quants[run / 2 * 32..].iter().zip(fifths).zip(out) {
            let q = byte >> shift & 15 | (fifth >> run & 1) << 4;
            *out = scale * f32::from(q) - offset;
        }
    }
}

/// 128 bytes of four low bits, 64 of two high ones, 16 scales, `d`.
fn q6_k(bytes: &[u8], out: &mut [f32]) {
    let (low, rest) = bytes.split_at(128);
    let (high, rest) = rest.split_at(64);
    let d = half(&rest[16..]);
    for (run, out) in out.chunks_exact_mut(32).enumerate() {
        // Of each 128 numbers 64 bytes hold the low bits, 32 the high ones.
        let low = &low[run / 4 * 64 + run % 2 * 32..][..32];
        let high = &high[run / 4 * 32..][..32];
        let (low_shift, high_shift) = (run % 4 / 2 * 4, run % 4 * 2);
        for (at, out) in out.iter_mut().enumerate() {
            let scale = d * f32::from(rest[run * 2 + at / 16].cast_signed());
            let q = low[at] >> low_shift & 15 | (high[at] >> high_shift & 3) << 4;
            *out = scale * (f32::from(q) - 32.0);
        }
    }
}
