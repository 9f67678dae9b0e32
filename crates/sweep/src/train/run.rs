//! One size of a family from the first step to the last.

use super::batches::Batches;
use super::curve::Point;
use super::schedule::Schedule;
use super::trainer::{Settings, Trainer};
use crate::error::{Error, Result};
use crate::recipes::{Recipe, Size};
use relscale_decoder::weights::Weights;

/// Steps between two points of the loss curve.
const POINT_STEPS: u32 = 25;

/// A finished run.
#[derive(Debug)]
pub struct Trained {
    /// The weights.
    pub weights: Weights,
    /// The loss curve.
    pub curve: Vec<Point>,
    /// Mean loss over the last tenth of the steps, nats a token.
    pub final_loss: f64,
    /// Times the text was passed over.
    pub passes: f64,
}

/// Trains one size on `stream`. `progress(step, loss)` is called after each step; training stops when it returns `false`.
///
/// # Errors
/// [`Error::TooLittleText`], [`Error::Untrainable`], [`Error::Diverged`], or [`Error::Cancelled`].
pub fn train(
    recipe: &Recipe,
    size: &Size,
    stream: &[u32],
    mut progress: impl FnMut(u32, f64) -> bool,
) -> Result<Trained> {
    let mut batches = Batches::new(stream, recipe.context, recipe.batch, recipe.seed)?;
    let settings = Settings {
        spec: recipe.spec(size),
        schedule: Schedule {
            peak: recipe.peak_learning_rate(size),
            steps: recipe.steps,
            warm_up: recipe.warm_up,
            decay: recipe.decay,
        },
        betas: recipe.betas,
        epsilon: recipe.epsilon,
        weight_decay: recipe.weight_decay,
        clip: recipe.clip,
        z_loss: 0.0,
    };
    let mut trainer = Trainer::new(settings, recipe.context, recipe.seed)?;
    let (mut curve, mut since, mut tail) = (Vec::new(), Vec::new(), Vec::new());
    for step in 1..=recipe.steps {
        let taken = trainer.step(batches.next_batch());
        let loss = taken.loss;
        if !taken.moved {
            return Err(Error::Diverged { model: size.name.to_owned(), step, loss });
        }
        since.push(loss);
        if step % POINT_STEPS == 0 || step == recipe.steps || step == 1 {
            curve.push(Point { step, loss: mean(&since), learning_rate: taken.learning_rate });
            since.clear();
        }
        if step > recipe.steps - recipe.steps.div_ceil(10) {
            tail.push(loss);
        }
        if !progress(step, loss) {
            return Err(Error::Cancelled { model: size.name.to_owned(), step });
        }
    }
    let weights = trainer.into_weights();
    Ok(Trained { weights, curve, final_loss: mean(&tail), passes: batches.passes(recipe.steps) })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> Recipe {
        let mut recipe = Recipe::named("small").unwrap();
        recipe.vocabulary = 32;
        recipe.context = 16;
        recipe.batch = 6;
        recipe.steps = 60;
        recipe
    }

    #[test]
    fn a_repeating_text_is_learnt_and_a_run_is_repeatable_on_any_number_of_threads() {
        let recipe = quick();
        let stream: Vec<u32> = (0..4000).map(|i| (i * i + i / 3) % 31).collect();
        let run = || train(&recipe, &recipe.sizes[2], &stream, |_, _| true).unwrap();
        let one = run();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let two = pool.install(run);
        assert_eq!(one.weights, two.weights);
        assert_eq!(one.curve, two.curve);
        let (first, last) = (one.curve[0].loss, one.final_loss);
        assert!((first - 32f64.ln()).abs() < 1.0, "{first}");
        assert!(last < 0.5 * first, "{first} -> {last}");
    }

    #[test]
    fn a_run_stops_when_asked() {
        let recipe = quick();
        let stream: Vec<u32> = (0..4000).map(|i| i % 31).collect();
        let error = train(&recipe, &recipe.sizes[0], &stream, |step, _| step < 3).unwrap_err();
        assert!(matches!(error, Error::Cancelled { step: 3, .. }), "{error}");
    }
}
