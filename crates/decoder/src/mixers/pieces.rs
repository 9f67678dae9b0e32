//! Pieces of channels: sequence by sequence, piece by piece, `[T, d]` each.

use crate::kernels::scan::LANES;

/// One piece of one sequence.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// The sequence's first row.
    pub(super) first: usize,
    /// `T`.
    pub(super) length: usize,
    /// Which one of the sequence.
    pub(super) number: usize,
    /// `[T, d]`.
    pub(super) rows: &'a mut [f32],
}

/// Cuts a buffer of `width` channels into the pieces of its sequences, of `d` channels each; the
/// last has what is left.
pub(super) fn pieces<'a>(
    lengths: &[usize],
    data: &'a mut [f32],
    width: usize,
    d: usize,
) -> Vec<Piece<'a>> {
    let mut pieces = Vec::with_capacity(lengths.len() * width.div_ceil(d));
    let (mut rest, mut first) = (data, 0);
    for &length in lengths.iter().filter(|length| **length > 0) {
        let (own, after) = std::mem::take(&mut rest).split_at_mut(length * width);
        rest = after;
        let own = own.chunks_mut(length * d).enumerate();
        pieces.extend(own.map(|(number, rows)| Piece { first, length, number, rows }));
        first += length;
    }
    pieces
}

/// The most channels of a piece, where all of these numbers of channels are whole pieces: 16, or a
/// power of two below.
pub(super) fn width(channels: &[usize]) -> usize {
    let bits = channels.iter().fold(LANES, |bits, channels| bits | channels);
    1 << bits.trailing_zeros()
}

/// Where in a sequence's buffer of `width` channels a number lies.
pub(super) fn place(width: usize, length: usize, row: usize, channel: usize, d: usize) -> usize {
    let piece = channel / d;
    piece * length * d + row * d.min(width - piece * d) + channel % d
}

/// Row `row` of a sequence, counted from its first: `out` takes its numbers from `pieces`, those of
/// the sequence from one on.
pub(super) fn gather(pieces: &[f32], length: usize, row: usize, d: usize, out: &mut [f32]) {
    for (number, out) in out.chunks_exact_mut(d).enumerate() {
        out.copy_from_slice(&pieces[(number * length + row) * d..][..d]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_wide_as_all_channels_allow() {
        assert_eq!(width(&[1536]), 16);
        assert_eq!(width(&[64, 24]), 8);
        assert_eq!(width(&[48, 7]), 1);
    }

    #[test]
    fn every_number_is_in_one_piece_and_comes_back() {
        let mut data: Vec<f32> = (0..5 * 8).map(|i| i as f32).collect();
        let all = data.clone();
        let found = pieces(&[2, 0, 3], &mut data, 8, 4);
        let told: Vec<_> = found.iter().map(|p| (p.first, p.length, p.number, p.rows[0])).collect();
        assert_eq!(told, [(0, 2, 0, 0.0), (0, 2, 1, 8.0), (2, 3, 0, 16.0), (2, 3, 1, 28.0)]);
        assert_eq!([place(7, 3, 2, 5, 4), place(7, 3, 2, 3, 4)], [12 + 6 + 1, 8 + 3]);
        let mut row = [0.0; 8];
        gather(&all[16..], 3, 1, 4, &mut row);
        assert_eq!(row, [20.0, 21.0, 22.0, 23.0, 32.0, 33.0, 34.0, 35.0]);
    }
}
