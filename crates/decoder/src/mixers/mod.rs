//! Blocks whose tokens are mixed by a recurrence, in the forward pass.
//!
//! | file | what |
//! |---|---|
//! | `state_space` | a selective state space behind a convolution: Mamba, Falcon Mamba, Mamba 2 |
//! | `time_mix` | time and channel mixing: RWKV-4 |
//! | `wkv` | the recurrence of time mixing |
//! | `convolution` | that convolution |
//! | `select` | its time steps, `B` and `C` |
//! | `layout` | what it works in |
//! | `pieces` | how channels lie between products, and how they are dealt out to threads |
//!
//! **Layout.** Between two products the channels of a sequence lie in pieces of at most 16, each
//! `[T, d]`: tokens one after another, channels side by side, so that a thread reads a piece from
//! front to back with the state of its channels in registers.
//!
//! **Invariant**: every piece of every sequence begins with a state of zeros; nothing passes from
//! one sequence to another.

mod convolution;
pub mod layout;
mod pieces;
mod select;
pub mod state_space;
pub mod time_mix;
mod wkv;
