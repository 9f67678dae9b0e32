//! The distribution of ranks, and what it says of the two laws.
//!
//! | room | what |
//! |---|---|
//! | `group` | the entrance: all models of a family on a corpus |
//! | `model` | one model's ranks: every form fitted, set against the others, and set beside what was measured |
//! | `compare` | Vuong's test over documents |
//! | `errors` | standard errors of parameters over documents |
//! | `documents` | how much a sum over tokens varies when other documents are drawn |
//! | `identify` | the profile of mu: can mu and sigma be told apart? |
//! | `calibration` | the entropy of ranks against the cross entropy |
//! | `bins` | ranks in bins that widen |
//! | `ratio` | mu/sigma against size: hypothesis 2 of the paper |
//! | `simulation` | both laws from drawn ranks: figure 8b of the paper |
//! | [`appendix_b`] | the paper's closed forms beside exact sums |
//!
//! Invariants: every form is a distribution on ranks 1 to &#124;V&#124; and is fitted to the same
//! counts, so their likelihoods compare. Models are fitted on several threads; the result does not
//! depend on how many.

pub mod appendix_b;
mod bins;
mod calibration;
mod compare;
mod documents;
mod errors;
mod group;
mod identify;
mod model;
mod ratio;
mod simulation;

use relscale_stats::discrete::Kind;

pub(crate) use group::fit_group;

/// The name of a form in sentences.
fn title(form: &str) -> &str {
    Kind::ALL.into_iter().find(|kind| kind.name() == form).map_or(form, |kind| kind.title())
}

/// The forms with a mu and a sigma: a lognormal variable rounded up, and the paper's point masses.
const LOGNORMALS: [Kind; 2] = [Kind::Lognormal, Kind::PointMass];
