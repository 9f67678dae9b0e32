//! The events of a measurement, as bars and lines.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use relscale_measure::{Event, Warning, draw};

use super::{Pace, Panel, PanelLine, say, warn};
use crate::inputs::Model;
use crate::terminal::{self, count, several, size};

/// Listens to a measurement.
pub(crate) struct Measuring {
    panel: Panel,
    work: Work,
    run: Option<ActiveRun>,
    runs_done: usize,
    /// Warnings that were given; most come again with every model.
    told: BTreeSet<String>,
    /// Options that were not given and that the study gave in their place.
    begun: BTreeSet<String>,
}

/// The run that is going on.
struct ActiveRun {
    title: String,
    model: String,
    started: Instant,
    already: u64,
    scored: u64,
    of: u64,
}

impl Measuring {
    /// For so many models over so many corpora.
    pub(crate) fn new(models: &[Model], corpora: usize) -> Self {
        let weights =
            models.iter().map(|model| (model.request.name.clone(), model.weight as f64)).collect();
        Self {
            panel: Panel::new(),
            work: Work {
                weights,
                corpora,
                tokens: BTreeMap::new(),
                finished: 0.0,
                fresh: 0.0,
                started: None,
            },
            run: None,
            runs_done: 0,
            told: BTreeSet::new(),
            begun: BTreeSet::new(),
        }
    }

    /// Takes note of an event.
    pub(crate) fn on_event(&mut self, event: Event) {
        match event {
            Event::CorpusRead { corpus, documents, items, bytes, tokens, whole, drawn } => {
                // A corpus of token ids has no bytes.
                let bytes =
                    if bytes > 0 { format!("{}, ", terminal::bytes(bytes)) } else { String::new() };
                let asked = if items > 0 {
                    format!(" ({})", several(items, "question"))
                } else {
                    String::new()
                };
                let tokens = several(tokens, "token");
                let tokens = match (drawn, whole) {
                    (Some(seed), true) => format!("{tokens}, drawn by seed {seed}"),
                    (Some(seed), false) => {
                        format!("of which {tokens} were read, of documents drawn by seed {seed}")
                    }
                    (None, true) => tokens,
                    (None, false) => format!("of which the first {tokens} were read"),
                };
                say(&format!(
                    "{corpus}: {}{asked}, {bytes}{tokens}",
                    several(documents, "document")
                ));
            }
            Event::ModelLoaded {
                model,
                non_embedding,
                total,
                unused_tensors,
                files_not_read,
                ..
            } => {
                say(&format!(
                    "{model}: {} non-embedding parameters, {} in all",
                    count(non_embedding),
                    count(total)
                ));
                if self.work.tokens.len() < self.work.corpora {
                    self.wait(&model);
                }
                if !files_not_read.is_empty() {
                    let names = terminal::some_of(&files_not_read, 4);
                    say(&format!("{model}: not read, since other files hold the weights: {names}"));
                }
                if !unused_tensors.is_empty() {
                    let names = terminal::some_of(&unused_tensors, 4);
                    self.warn(&format!(
                        "{model}: {} tensors of its files are not used: {names}",
                        unused_tensors.len()
                    ));
                }
            }
            Event::RunStarted { model, corpus, already, of, .. } => {
                self.start(model, corpus, already, of)
            }
            Event::Progress { scored, .. } => self.advance(scored),
            Event::RunFinished { model, corpus, totals, reused, .. } => {
                let of = totals.scored + totals.nonfinite;
                self.finish(&model, &corpus, of, reused);
            }
            Event::Warning(warning) => {
                if let Warning::AsBegun { seed, .. } = &warning {
                    self.begun.insert(draw::option(*seed));
                }
                self.warn(&warning.to_string());
            }
            _ => {}
        }
    }

    /// What has to be said beside what was said, to do the same without the study.
    pub(crate) fn begun(&self) -> Vec<&str> {
        self.begun.iter().map(String::as_str).collect()
    }

    /// Reading and tokenising the first text takes seconds in which nothing else moves.
    fn wait(&mut self, model: &str) {
        let piece = PanelLine {
            title: model.to_owned(),
            share: 0.0,
            figures: "reading the text".to_owned(),
        };
        let whole = PanelLine { title: "in all".to_owned(), share: 0.0, figures: String::new() };
        self.panel.show(&piece, &whole);
    }

    /// A warning, once.
    fn warn(&mut self, text: &str) {
        if self.told.insert(text.to_owned()) {
            warn(text);
        }
    }

    fn start(&mut self, model: String, corpus: String, already: u64, of: u64) {
        self.work.tokens.insert(corpus.clone(), of as f64);
        self.work.started.get_or_insert_with(Instant::now);
        if already > 0 {
            say(&format!(
                "{model} on {corpus}: goes on after {} of {} tokens",
                count(already),
                count(of)
            ));
        }
        let title = format!("{model} {corpus}");
        self.run =
            Some(ActiveRun { title, model, started: Instant::now(), already, scored: already, of });
        self.draw();
    }

    fn advance(&mut self, scored: u64) {
        if let Some(run) = &mut self.run {
            self.work.fresh +=
                self.work.weight(&run.model) * scored.saturating_sub(run.scored) as f64;
            run.scored = scored;
        }
        self.draw();
    }

    fn finish(&mut self, model: &str, corpus: &str, of: u64, reused: bool) {
        self.work.tokens.insert(corpus.to_owned(), of as f64);
        self.work.finished += self.work.weight(model) * of as f64;
        self.runs_done += 1;
        let how = match self.run.take().filter(|_| !reused) {
            Some(run) => {
                let pace = run.pace();
                let rate =
                    pace.rate().map(|rate| format!(", {} tokens/s", size(rate.round() as u64)));
                format!(
                    "{} tokens in {}{}",
                    count(of),
                    terminal::time(pace.elapsed),
                    rate.unwrap_or_default()
                )
            }
            None => format!("{} tokens, measured before", count(of)),
        };
        say(&format!("{model} on {corpus}: {how}"));
    }

    fn draw(&mut self) {
        let Some(run) = &self.run else { return };
        let pace = run.pace();
        let mut figures = format!("{} of {}", size(run.scored), size(run.of));
        if let Some(rate) = pace.rate() {
            figures.push_str(&format!(", {} tokens/s", size(rate.round() as u64)));
        }
        if let Some(left) = pace.time_left() {
            figures.push_str(&format!(", {left}"));
        }
        let piece = PanelLine {
            title: run.title.clone(),
            share: run.scored as f64 / run.of.max(1) as f64,
            figures,
        };
        let running = self.work.weight(&run.model) * run.scored as f64;
        let (share, pace) = self.work.whole(running);
        let mut figures = format!("{:.0} %", 100.0 * share);
        if let Some(left) = pace.time_left() {
            figures.push_str(&format!(", {left}"));
        }
        let runs = self.work.weights.len() * self.work.corpora;
        let title = format!("in all, run {} of {runs}", self.runs_done + 1);
        self.panel.show(&piece, &PanelLine { title, share, figures });
    }
}

impl ActiveRun {
    /// In tokens, since this start.
    fn pace(&self) -> Pace {
        Pace {
            done: (self.scored - self.already) as f64,
            left: self.of.saturating_sub(self.scored) as f64,
            elapsed: self.started.elapsed(),
        }
    }
}

/// The whole of the work, in tokens times bytes of weights: what a token costs grows with its
/// model.
struct Work {
    weights: BTreeMap<String, f64>,
    corpora: usize,
    /// Positions to score, by corpus, as far as they are known.
    tokens: BTreeMap<String, f64>,
    /// Work of finished runs, earlier starts included.
    finished: f64,
    /// Work of this start.
    fresh: f64,
    started: Option<Instant>,
}

impl Work {
    fn weight(&self, model: &str) -> f64 {
        self.weights.get(model).copied().unwrap_or(1.0)
    }

    /// Share done and pace of the whole, with so much done in the run that is going on. A corpus
    /// that was not read yet counts as the mean of the others.
    fn whole(&self, running: f64) -> (f64, Pace) {
        let known: f64 = self.tokens.values().sum();
        let tokens = known / self.tokens.len().max(1) as f64 * self.corpora as f64;
        let total = self.weights.values().sum::<f64>() * tokens;
        let done = self.finished + running;
        let elapsed = self.started.map(|started| started.elapsed()).unwrap_or_default();
        let share = if total > 0.0 { (done / total).min(1.0) } else { 0.0 };
        (share, Pace { done: self.fresh, left: total - done, elapsed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two models, the second three times as heavy, over two corpora: after the first model's runs
    /// a quarter is done.
    #[test]
    fn heavy_models_are_most_of_the_work() {
        let mut work = Work {
            weights: [("a".to_owned(), 10.0), ("b".to_owned(), 30.0)].into(),
            corpora: 2,
            tokens: [("x".to_owned(), 100.0)].into(),
            finished: 0.0,
            fresh: 0.0,
            started: None,
        };
        assert_eq!(work.whole(500.0).0, 500.0 / 8_000.0);
        work.tokens.insert("y".to_owned(), 300.0);
        work.finished = 10.0 * 400.0;
        let (share, pace) = work.whole(0.0);
        assert_eq!((share, pace.left), (0.25, 12_000.0));
    }
}
