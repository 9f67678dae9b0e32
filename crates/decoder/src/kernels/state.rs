//! A block of the state of a recurrence, and what the tokens that pass over it bring along.

/// Channels of a block.
pub const LANES: usize = 16;

/// Numbers of state of a block.
pub const STATES: usize = 16;

/// A number for each place of a block: `[state][channel]`.
pub type Block = [[f32; LANES]; STATES];

/// Sums over the state are kept in so many parts, each of every fourth number.
pub(super) const PARTS: usize = 4;

/// What some tokens bring along, one after another.
#[derive(Debug, Clone, Copy)]
pub struct Tokens<'a> {
    /// Channels: [`LANES`], or a power of two below.
    pub channels: usize,
    /// `[T, channels]`.
    pub x: &'a [f32],
    /// `B`, `[T][STATES]`, the same for all channels.
    pub b: &'a [[f32; STATES]],
    /// `C`, likewise.
    pub c: &'a [[f32; STATES]],
}

impl Tokens<'_> {
    pub(super) fn check(&self, tokens: usize, steps: usize) {
        assert!(
            self.channels.is_power_of_two() && self.channels <= LANES,
            "{} channels in a block",
            self.channels
        );
        assert!(
            self.x.len() == tokens * self.channels
                && steps == self.x.len()
                && self.b.len() == tokens
                && self.c.len() == tokens,
            "what the tokens bring along has other lengths than they"
        );
    }
}
