//! What a block with a state space works in, and how it lies there.

use super::pieces::width;
use crate::kernels::Numbers;
use crate::spec::{Selection, StateSpace};

/// What the blocks work in.
#[derive(Debug, Default)]
pub struct Buffers {
    /// What the first map leaves: pieces.
    pub(super) input: Numbers,
    /// Time steps: pieces; or, with heads, of each head of a sequence its time steps, then its
    /// decays.
    pub(super) steps: Numbers,
    /// `[N, R + 2 S]`.
    pub(super) selected: Numbers,
    /// `B` of each group of a sequence, then `C`: pieces of 16 numbers, those beyond `S` 0.
    pub(super) shared: Numbers,
}

/// The sequences of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Sequences<'a> {
    /// Tokens of each.
    pub lengths: &'a [usize],
    /// Of each row: the row at which its sequence begins, and that sequence's length.
    pub places: &'a [(usize, usize)],
}

/// How what the first map leaves lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Channels of a piece.
    pub(super) d: usize,
    /// All channels.
    pub(super) width: usize,
    /// The first channel of what is convolved, the state space's own first.
    pub(super) hidden: usize,
    /// The first channel of the gate.
    pub(super) gate: usize,
}

impl Layout {
    pub(super) fn new(mixer: &StateSpace) -> Self {
        let (i, all) = (mixer.inner, mixer.input_widths().iter().sum());
        match mixer.selection {
            Selection::Channels { .. } => Self { d: width(&[i]), width: all, hidden: 0, gate: i },
            Selection::Heads { heads, groups, .. } => {
                let d = width(&[i / heads, groups * mixer.state]);
                Self { d, width: all, hidden: i, gate: 0 }
            }
        }
    }
}
