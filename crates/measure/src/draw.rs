//! Which documents a limit of tokens takes: drawn from the whole corpus, or from the first on.

use relscale_records::provenance::{DrawProvenance, DrawRule};

/// The seed where nobody says one.
pub const SEED: u64 = 20_387;

/// Which documents a limit takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Draw {
    /// As the runs of the study took them that have this corpus and limit, so that a study is gone
    /// on with as it was begun; where there are none, drawn by [`SEED`], or the first of a corpus
    /// whose documents come in a drawn order already.
    #[default]
    AsBegun,
    /// Drawn by this seed.
    Seed(u64),
    /// From the first on.
    First,
}

/// The record of documents drawn by a seed.
pub(crate) fn by_seed(seed: u64) -> DrawProvenance {
    DrawProvenance { by: DrawRule::Sha256, seed }
}

/// The program's option that asks for it.
pub fn option(seed: Option<u64>) -> String {
    seed.map_or_else(|| "--first".to_owned(), |seed| format!("--seed={seed}"))
}
