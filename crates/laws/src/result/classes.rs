//! Which tokens hold the tail: misses by class of token.

use relscale_records::TokenClass;
use serde::{Deserialize, Serialize};

use super::Estimate;

/// Misses of all models of a group by class of token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassReport {
    /// Positions of the text in which the frequency of tokens was counted.
    pub text_tokens: u64,
    /// Why kinds of tokens (special, byte, padding row) are not told apart; absent where they are.
    pub note: Option<String>,
    /// The classes that occur.
    pub classes: Vec<ClassShare>,
    /// Misses at each k of the group at which any model misses, k ascending.
    pub by_k: Vec<MissesByClass>,
    /// Which classes hold the tail, in words.
    pub verdict: String,
}

/// How much of the text a class makes up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassShare {
    /// The class.
    pub class: TokenClass,
    /// Scored positions of this class, all models together.
    pub tokens: u64,
    /// Of all scored positions.
    pub share: f64,
}

/// Misses at one k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissesByClass {
    /// Ranks above this miss.
    pub k: u32,
    /// Misses of all models together.
    pub misses: u64,
    /// One entry a class that occurs, in the order of [`ClassReport::classes`].
    pub classes: Vec<ClassMisses>,
}

/// The misses of one class at one k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassMisses {
    /// The class.
    pub class: TokenClass,
    /// Misses of each model, in the order of the group's models.
    pub by_model: Vec<u64>,
    /// Share of the misses of all models that this class has.
    pub share: Estimate,
    /// That share by the class's share of positions: 1 = it misses as often as any token, 10 = ten
    /// times as often.
    pub lift: Estimate,
}
