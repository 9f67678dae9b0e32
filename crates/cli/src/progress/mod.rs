//! How far the work is: two bars on a terminal, plain lines at a calm pace elsewhere.
//!
//! * [`Panel`] draws; it knows neither models nor training.
//! * [`fetching`], [`measuring`] and [`training`] turn what is told of downloads, of a session or
//!   of a trainer into what the panel shows.
//!
//! Everything goes to standard error. Bars have no colours, so `NO_COLOR` has nothing to take away.

pub(crate) mod fetching;
pub(crate) mod measuring;
pub(crate) mod training;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::terminal::{self, Style, safe_line};

/// Between two plain lines.
const PACE: Duration = Duration::from_secs(10);

/// Steps of a bar: finer than any terminal is wide.
const STEPS: u64 = 10_000;

/// The bars on the screen, for whoever has to write a line while they are there: Ctrl-C comes on a
/// thread of its own.
static BARS: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// A line that stays, above the bars where there are any.
pub(crate) fn say(text: &str) {
    match &*BARS.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(bars) => bars.suspend(|| terminal::message(text)),
        None => terminal::message(text),
    }
}

/// A warning that stays, as [`say`].
pub(crate) fn warn(text: &str) {
    let warn = || terminal::titled("warning:", Style::Warning, text);
    match &*BARS.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(bars) => bars.suspend(warn),
        None => warn(),
    }
}

/// One line of the panel.
pub(crate) struct PanelLine {
    /// What is going on.
    pub(crate) title: String,
    /// How much of it is done, 0 to 1.
    pub(crate) share: f64,
    /// Figures: how fast, how long still.
    pub(crate) figures: String,
}

/// Where progress is shown: one at a time.
pub(crate) struct Panel {
    bars: Option<[ProgressBar; 2]>,
    last_line: Instant,
}

impl Panel {
    /// A panel that shows nothing yet.
    pub(crate) fn new() -> Self {
        Self { bars: None, last_line: Instant::now() }
    }

    /// Shows the present piece of work and the whole.
    pub(crate) fn show(&mut self, piece: &PanelLine, whole: &PanelLine) {
        if terminal::has_bars() {
            let bars = self.bars.get_or_insert_with(open);
            for (bar, row) in bars.iter().zip([piece, whole]) {
                bar.set_prefix(safe_line(&row.title).into_owned());
                bar.set_message(safe_line(&row.figures).into_owned());
                bar.set_position((row.share.clamp(0.0, 1.0) * STEPS as f64) as u64);
            }
        } else if self.last_line.elapsed() >= PACE {
            self.last_line = Instant::now();
            say(&format!("{}: {}; {}: {}", piece.title, piece.figures, whole.title, whole.figures));
        }
    }
}

impl Drop for Panel {
    /// Takes the bars away; what was said stays.
    fn drop(&mut self) {
        if let Some(bars) = self.bars.take() {
            bars.iter().for_each(ProgressBar::finish_and_clear);
            *BARS.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

fn open() -> [ProgressBar; 2] {
    let all = MultiProgress::new();
    let style = ProgressStyle::with_template("{prefix:26!} [{bar:9}] {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    let bars = [(); 2].map(|()| all.add(ProgressBar::new(STEPS).with_style(style.clone())));
    *BARS.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
    bars
}

/// How much is done, how fast it goes, and when it will end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// What was done since `started`.
    pub(crate) done: f64,
    /// What is left to do.
    pub(crate) left: f64,
    /// Since the start.
    pub(crate) elapsed: Duration,
}

impl Pace {
    /// Units a second; `None` before there is anything to go by.
    pub(crate) fn rate(self) -> Option<f64> {
        let seconds = self.elapsed.as_secs_f64();
        (seconds > 0.0 && self.done > 0.0).then(|| self.done / seconds)
    }

    /// `1:05 left`; `None` while nobody can know.
    pub(crate) fn time_left(self) -> Option<String> {
        let seconds = self.left.max(0.0) / self.rate()?;
        // Beyond a month nobody counts seconds.
        let span =
            Duration::try_from_secs_f64(seconds).ok().filter(|span| span.as_secs() < 2_678_400)?;
        Some(format!("{} left", terminal::time(span)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_from_the_pace() {
        let pace = Pace { done: 100.0, left: 650.0, elapsed: Duration::from_secs(10) };
        assert_eq!(pace.rate(), Some(10.0));
        assert_eq!(pace.time_left().as_deref(), Some("1:05 left"));
        assert_eq!(Pace { done: 0.0, ..pace }.time_left(), None);
        assert_eq!(Pace { left: 1e300, ..pace }.time_left(), None);
    }
}
