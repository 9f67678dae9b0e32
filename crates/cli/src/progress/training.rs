//! The events of training a family, as bars and lines.

use std::collections::VecDeque;
use std::time::Instant;

use relscale_decoder::count::ParameterCount;
use relscale_sweep::recipes::{Recipe, Size};
use relscale_sweep::train::family::Event;

use super::{Pace, Panel, Row, say};
use crate::terminal::{self, count, size};

/// Steps over which the shown loss is a mean: a single batch's is mostly noise.
const LOSS_STEPS: usize = 25;

/// What a token costs beside the products with the parameters, as parameters that would cost the same (see
/// `inputs::BESIDE_WEIGHTS`).
const BESIDE_PARAMETERS: f64 = 5e5;

/// Listens to a trainer.
pub(crate) struct Training {
    panel: Panel,
    recipe: Recipe,
    /// Name and cost of each size to train.
    sizes: Vec<(&'static str, f64)>,
    /// Work of sizes that are done or kept, in steps times cost.
    finished: f64,
    /// Work of this start.
    fresh: f64,
    started: Option<Instant>,
    size_started: Option<Instant>,
    losses: VecDeque<f64>,
}

impl Training {
    /// For these sizes of a recipe.
    pub(crate) fn new(recipe: &Recipe, sizes: &[&Size]) -> Self {
        let weigh = |size: &&Size| {
            (size.name, BESIDE_PARAMETERS + ParameterCount::of(&recipe.spec(size)).total as f64)
        };
        Self {
            panel: Panel::new(),
            recipe: recipe.clone(),
            sizes: sizes.iter().map(weigh).collect(),
            finished: 0.0,
            fresh: 0.0,
            started: None,
            size_started: None,
            losses: VecDeque::new(),
        }
    }

    /// Takes note of an event.
    pub(crate) fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::Text { documents, tokens, bytes } => {
                say(&format!(
                    "training text: {} documents, {}, {} tokens\neach size sees {} of them, {:.2} passes",
                    count(*documents as u64),
                    terminal::bytes(*bytes as u64),
                    count(*tokens as u64),
                    count(self.recipe.tokens() as u64),
                    self.recipe.tokens() as f64 / (*tokens).max(1) as f64
                ));
                self.started = Some(Instant::now());
            }
            Event::Kept { size } => {
                say(&format!("{}: there already, kept", size.name));
                self.finished += self.weight(size) * f64::from(self.recipe.steps);
            }
            Event::Step { size, step, loss } => self.step(size, *step, *loss),
            Event::Written { size, final_loss } => {
                let took = self.size_started.take().map_or_else(Default::default, |at| at.elapsed());
                say(&format!(
                    "{}: loss {final_loss:.3} nats a token after {} steps, {}",
                    size.name,
                    count(self.recipe.steps.into()),
                    terminal::time(took)
                ));
                self.finished += self.weight(size) * f64::from(self.recipe.steps);
                self.losses.clear();
            }
            _ => {}
        }
    }

    fn weight(&self, size: &Size) -> f64 {
        self.sizes.iter().find(|(name, _)| *name == size.name).map_or(1.0, |(_, weight)| *weight)
    }

    fn step(&mut self, of: &Size, step: u32, loss: f64) {
        // The first event of a size comes at the end of its first step.
        let since = *self.size_started.get_or_insert_with(Instant::now);
        if self.losses.len() == LOSS_STEPS {
            self.losses.pop_front();
        }
        self.losses.push_back(loss);
        let loss = self.losses.iter().sum::<f64>() / self.losses.len() as f64;
        let weight = self.weight(of);
        self.fresh += weight;
        let (step, steps) = (f64::from(step), f64::from(self.recipe.steps));

        let tokens = (self.recipe.batch * self.recipe.context) as f64;
        let pace =
            Pace { done: (step - 1.0) * tokens, left: (steps - step) * tokens, elapsed: since.elapsed() };
        let mut figures = format!("loss {loss:.3}");
        if let Some(rate) = pace.rate() {
            figures.push_str(&format!(", {} tokens/s", size(rate.round() as u64)));
        }
        if let Some(left) = pace.time_left() {
            figures.push_str(&format!(", {left}"));
        }
        let title = format!("{} step {step} of {steps}", of.name);
        let piece = Row { title, share: step / steps, figures };

        let total: f64 = self.sizes.iter().map(|(_, weight)| weight * steps).sum();
        let done = self.finished + weight * step;
        let elapsed = self.started.map_or_else(Default::default, |at| at.elapsed());
        let pace = Pace { done: self.fresh, left: total - done, elapsed };
        let mut figures = format!("{:.0} %", 100.0 * done / total);
        if let Some(left) = pace.time_left() {
            figures.push_str(&format!(", {left}"));
        }
        self.panel.show(&piece, &Row { title: "in all".to_owned(), share: done / total, figures });
    }
}
