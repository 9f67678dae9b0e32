//! What is fetched from the Hub, as bars and lines.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use relscale_measure::hub::HubEvent;
use relscale_measure::hub::event::HubListener;

use super::{Pace, Panel, PanelLine, say, warn};
use crate::terminal::{self, several};

/// A download that is going on.
struct Going {
    panel: Panel,
    started: Instant,
    /// Bytes that were there before.
    already: Option<u64>,
}

/// Listens to the Hub.
pub(crate) fn listener() -> HubListener {
    let going: Mutex<Option<Going>> = Mutex::new(None);
    Arc::new(move |event| {
        let mut going = going.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            HubEvent::Fetching { what, files, bytes, cache } => {
                say(&format!(
                    "{what}: fetching {} ({}) into {}",
                    several(files as u64, "file"),
                    terminal::bytes(bytes),
                    cache.display()
                ));
                *going =
                    Some(Going { panel: Panel::new(), started: Instant::now(), already: None });
            }
            HubEvent::Came { file, done, of, all_done, all_of } => {
                if let Some(going) = going.as_mut() {
                    going.show(file, [done, of], [all_done, all_of]);
                }
            }
            HubEvent::Fetched { what } => {
                if let Some(going) = going.take() {
                    let time = terminal::time(going.started.elapsed());
                    drop(going);
                    say(&format!("{what}: fetched in {time}"));
                }
            }
            HubEvent::Again { url, reason, wait } => {
                warn(&format!("{url}: {reason}; again in {:.1} s", wait.as_secs_f64()));
            }
            HubEvent::Waits { file } => {
                say(&format!("{file}: another process fetches it; waiting for that"));
            }
            HubEvent::Unchecked { file } => {
                warn(&format!(
                    "{file}: the Hub gives no hash of it, so its size alone was checked"
                ));
            }
            HubEvent::Partial { what, files } => warn(&format!(
                "{what}: the Hub was not asked which files there are; the {} of the cache {} taken",
                several(files as u64, "file"),
                if files == 1 { "is" } else { "are" }
            )),
            _ => {}
        }
    })
}

impl Going {
    fn show(&mut self, file: &str, [done, of]: [u64; 2], [all_done, all_of]: [u64; 2]) {
        let already = *self.already.get_or_insert(all_done);
        let pace = Pace {
            done: all_done.saturating_sub(already) as f64,
            left: all_of.saturating_sub(all_done) as f64,
            elapsed: self.started.elapsed(),
        };
        let share = |done: u64, of: u64| done as f64 / of.max(1) as f64;
        let figures = format!("{} of {}", terminal::bytes(done), terminal::bytes(of));
        let piece = PanelLine { title: file.to_owned(), share: share(done, of), figures };
        let mut figures = format!("{:.0} %", 100.0 * share(all_done, all_of));
        if let Some(rate) = pace.rate() {
            figures.push_str(&format!(", {}/s", terminal::bytes(rate.round() as u64)));
        }
        if let Some(left) = pace.time_left() {
            figures.push_str(&format!(", {left}"));
        }
        let title = "fetching, in all".to_owned();
        self.panel.show(&piece, &PanelLine { title, share: share(all_done, all_of), figures });
    }
}
