//! `relscale sweep list`: what there is to train and to plan.

use relscale_decoder::count::ParameterCount;
use relscale_sweep::plan::presets::PRESETS;
use relscale_sweep::recipes::{Recipe, Size};

use serde::Serialize;

use crate::commands::json::{self, AsJson};
use crate::terminal::{self, count};

/// Everything, for machines.
#[derive(Serialize)]
struct Listed {
    recipes: Vec<Recipe>,
    presets: Vec<Preset>,
}

#[derive(Serialize)]
struct Preset {
    name: &'static str,
    what: &'static str,
}

/// Carries the command out.
///
/// # Errors
/// Standard output is closed.
pub(super) fn run(json: &AsJson) -> anyhow::Result<()> {
    let recipes = Recipe::NAMES.into_iter().map(Recipe::named).collect::<Result<Vec<_>, _>>()?;
    let presets = PRESETS.map(|(name, what)| Preset { name, what }).into();
    let listed = Listed { recipes, presets };
    json::hand_over(&listed, json.destination(), || show(&listed.recipes))
}

fn show(recipes: &[Recipe]) -> anyhow::Result<()> {
    let mut groups = Vec::new();
    for recipe in recipes {
        let row = |size: &Size| {
            let parameters = ParameterCount::from_spec(&recipe.spec(size));
            vec![
                recipe.name.to_owned(),
                size.name.to_owned(),
                count(parameters.non_embedding),
                count(parameters.total),
                size.width.to_string(),
                size.layers.to_string(),
                size.heads.to_string(),
                recipe.window.unwrap_or(recipe.context).to_string(),
                count(recipe.tokens() as u64),
            ]
        };
        groups.push(recipe.sizes.iter().map(row).collect());
    }
    let header =
        ["recipe", "size", "S", "parameters", "width", "layers", "heads", "window", "tokens"];
    terminal::print("families, for `relscale sweep train RECIPE`:")?;
    terminal::print(&terminal::table(&header, 2, &groups))?;
    terminal::print("\nIsoFLOP sweeps, for `relscale sweep plan --preset NAME`:")?;
    let rows = PRESETS.map(|(name, what)| vec![name.to_owned(), what.to_owned()]).to_vec();
    terminal::print(&terminal::table(&["preset", "what"], 2, &[rows]))
}
