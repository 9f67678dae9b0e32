//! `relscale sweep`: families by recipe, and IsoFLOP sweeps.

mod collect;
mod fit;
mod list;
mod plan;
mod train;

use std::sync::atomic::AtomicBool;

use clap::Subcommand;

use super::json::AsJson;

/// Plan IsoFLOP sweeps, train families of models, collect runs, fit optima, or list the recipes.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  relscale sweep list\n  relscale sweep plan --preset marin --budgets 1e18,3e18\n  relscale sweep train small --out assets/family"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The recipes of families with their sizes, and the presets of sweeps; window: how many tokens
    /// attention looks back, in every block
    List(AsJson),
    Plan(plan::Arguments),
    Collect(collect::Arguments),
    Train(train::Arguments),
    Fit(Box<fit::Arguments>),
}

/// Carries the command out.
///
/// # Errors
/// Those of the command that was asked for.
pub(super) fn run(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    match &arguments.what {
        What::List(json) => list::run(json),
        What::Plan(arguments) => plan::run(arguments, cancel),
        What::Collect(arguments) => collect::run(arguments),
        What::Train(arguments) => train::run(arguments, cancel),
        What::Fit(arguments) => fit::run(arguments),
    }
}
