//! The distribution of ranks, and what it says of the two laws.
//!
//! | room | what |
//! |---|---|
//! | [`lognormal`] | the two lognormals on ranks 1 to the vocabulary |
//! | [`appendix_b`] | the paper's closed forms beside exact sums |

pub mod appendix_b;
pub mod lognormal;
