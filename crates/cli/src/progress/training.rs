//! The events of training, of a family's sizes or of a sweep's runs, as bars and lines.

use std::collections::VecDeque;
use std::time::Instant;

use relscale_decoder::count::ParameterCount;
use relscale_sweep::plan::{Plan, PlannedRun};
use relscale_sweep::recipes::{Recipe, Size};
use relscale_sweep::train::family;
use relscale_sweep::train::sweep::carry_out::RunEvent;
use relscale_sweep::train::sweep::{self, Status};

use super::{Pace, Panel, PanelLine, say};
use crate::terminal::{self, count, size};

/// Steps over which the shown loss is a mean: a single batch's is mostly noise.
const LOSS_STEPS: usize = 25;

/// What a token costs beside the products with the parameters, as parameters that would cost the
/// same (see `inputs::BESIDE_WEIGHTS`).
const BESIDE_PARAMETERS: f64 = 5e5;

/// One model to train.
struct Piece {
    name: String,
    steps: u32,
    /// Tokens of one step.
    tokens: f64,
    /// What a step costs, in no unit.
    weight: f64,
}

impl Piece {
    fn new(name: &str, parameters: u64, steps: u32, tokens: usize) -> Self {
        let tokens = tokens as f64;
        let weight = tokens * (BESIDE_PARAMETERS + parameters as f64);
        Self { name: name.to_owned(), steps, tokens, weight }
    }
}

/// Listens to a trainer.
pub(crate) struct Training {
    panel: Panel,
    pieces: Vec<Piece>,
    /// Work of this start.
    fresh: f64,
    started: Option<Instant>,
    /// When the piece on its way took its first step here, and which step that was.
    piece_started: Option<(Instant, u32)>,
    losses: VecDeque<f64>,
}

impl Training {
    fn new(pieces: Vec<Piece>) -> Self {
        Self {
            panel: Panel::new(),
            pieces,
            fresh: 0.0,
            started: None,
            piece_started: None,
            losses: VecDeque::new(),
        }
    }

    /// For these sizes of a recipe.
    pub(crate) fn for_family(recipe: &Recipe, sizes: &[&Size]) -> Self {
        let tokens = recipe.batch * recipe.context;
        let piece = |size: &&Size| {
            Piece::new(
                size.name,
                ParameterCount::from_spec(&recipe.spec(size)).total,
                recipe.steps,
                tokens,
            )
        };
        Self::new(sizes.iter().map(piece).collect())
    }

    /// For the runs of a plan.
    pub(crate) fn for_plan(plan: &Plan) -> Self {
        let piece = |run: &PlannedRun| {
            let tokens = run.batch * run.architecture.sequence;
            Piece::new(&run.name, run.parameters.non_embedding_and_head, run.steps, tokens)
        };
        Self::new(plan.runs.iter().map(piece).collect())
    }

    /// Takes note of an event of a family.
    pub(crate) fn hear_family(&mut self, recipe: &Recipe, event: &family::Event<'_>) {
        match event {
            family::Event::Text { documents, tokens, bytes } => {
                text(*documents, *bytes, *tokens);
                say(&format!(
                    "each size sees {} of them, {:.2} passes",
                    count(recipe.tokens() as u64),
                    recipe.tokens() as f64 / (*tokens).max(1) as f64
                ));
            }
            family::Event::Kept { size } => {
                say(&format!("{}: there already, kept", size.name));
                self.end();
            }
            family::Event::Step { size, step, loss } => self.step(size.name, *step, *loss),
            family::Event::Written { size, final_loss } => {
                let took = self.took();
                say(&format!(
                    "{}: loss {final_loss:.3} nats a token after {} steps, {took}",
                    size.name,
                    count(recipe.steps.into()),
                ));
                self.end();
            }
            _ => {}
        }
    }

    /// Takes note of an event of a sweep.
    pub(crate) fn hear_sweep(&mut self, event: &sweep::Event<'_>) {
        match event {
            sweep::Event::Kept(run, record) => {
                say(&format!("{}: {} already, kept", run.name, record.status.name()));
                self.end();
            }
            sweep::Event::Run(run, RunEvent::Resumed(step)) => {
                say(&format!("{}: goes on after step {}", run.name, count((*step).into())));
            }
            sweep::Event::Run(run, RunEvent::Step(step, loss)) => {
                self.step(&run.name, *step, *loss)
            }
            sweep::Event::Ended(run, record) => {
                let took = self.took();
                match (record.status, record.held_out_loss) {
                    (Status::Diverged, _) => {
                        let why = record.note.as_deref().unwrap_or("no reason is known");
                        say(&format!("{}: diverged, given up: {why}; the others go on", run.name));
                    }
                    (_, loss) => say(&format!(
                        "{}: held-out loss {:.4} nats a token after {} steps, {took}",
                        run.name,
                        loss.unwrap_or(f64::NAN),
                        count(run.steps.into()),
                    )),
                }
                self.end();
            }
            _ => {}
        }
    }

    /// How long the piece on its way has taken here.
    fn took(&self) -> String {
        terminal::time(self.piece_started.map_or_else(Default::default, |(at, _)| at.elapsed()))
    }

    /// A piece is done, or was.
    fn end(&mut self) {
        self.piece_started = None;
        self.losses.clear();
    }

    fn step(&mut self, name: &str, step: u32, loss: f64) {
        let Some(piece) = self.pieces.iter().find(|piece| piece.name == name) else { return };
        // The first event of a piece comes at the end of its first step here.
        let (since, first) = *self.piece_started.get_or_insert_with(|| (Instant::now(), step));
        let started = *self.started.get_or_insert_with(Instant::now);
        if self.losses.len() == LOSS_STEPS {
            self.losses.pop_front();
        }
        self.losses.push_back(loss);
        let loss = self.losses.iter().sum::<f64>() / self.losses.len() as f64;
        self.fresh += piece.weight;
        let (here, steps) = (f64::from(step - first), f64::from(piece.steps));
        let left = f64::from(piece.steps - step) * piece.tokens;
        let pace = Pace { done: here * piece.tokens, left, elapsed: since.elapsed() };
        let mut figures = format!("loss {loss:.3}");
        if let Some(rate) = pace.rate() {
            figures.push_str(&format!(", {} tokens/s", size(rate.round() as u64)));
        }
        if let Some(left) = pace.time_left() {
            figures.push_str(&format!(", {left}"));
        }
        let title = format!("{name} step {step} of {steps}");
        let row = PanelLine { title, share: f64::from(step) / steps, figures };

        let total: f64 =
            self.pieces.iter().map(|piece| piece.weight * f64::from(piece.steps)).sum();
        let before = self.pieces.iter().take_while(|piece| piece.name != name);
        let done = before.map(|piece| piece.weight * f64::from(piece.steps)).sum::<f64>()
            + piece.weight * f64::from(step);
        let pace = Pace { done: self.fresh, left: total - done, elapsed: started.elapsed() };
        let mut figures = format!("{:.0} %", 100.0 * done / total);
        if let Some(left) = pace.time_left() {
            figures.push_str(&format!(", {left}"));
        }
        self.panel
            .show(&row, &PanelLine { title: "in all".to_owned(), share: done / total, figures });
    }
}

/// Says what is trained on.
pub(crate) fn text(documents: usize, bytes: usize, tokens: usize) {
    say(&format!(
        "training text: {}, {}, {} tokens",
        terminal::several(documents as u64, "document"),
        terminal::bytes(bytes as u64),
        count(tokens as u64),
    ));
}
