//! What people read: messages, tables, numbers.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

mod paragraph;
mod safe;
mod shown;
mod table;

pub(crate) use paragraph::paragraph;
pub(crate) use relscale_records::digits::count;
pub(crate) use relscale_records::shell::quoted;
use relscale_report::shown::Shown;
pub(crate) use safe::{safe, safe_json, safe_line};
pub(crate) use table::{fitting, table};

/// How much is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Loudness {
    /// Errors, and JSON that was asked for.
    Quiet,
    /// What a reader of ten seconds takes home.
    #[default]
    Short,
    /// Everything that is known.
    Verbose,
}

static LOUDNESS: RwLock<Loudness> = RwLock::new(Loudness::Short);

/// Sets how much is said from now on.
pub(crate) fn set_loudness(loudness: Loudness) {
    *LOUDNESS.write().unwrap_or_else(PoisonError::into_inner) = loudness;
}

/// How much is said.
pub(crate) fn loudness() -> Loudness {
    *LOUDNESS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a command leads others, so that none of them says what comes next.
static LEADS: AtomicBool = AtomicBool::new(false);

/// From now on a command leads others, or leads them no more.
pub(crate) fn lead(leads: bool) {
    LEADS.store(leads, Ordering::Relaxed);
}

/// Which command comes next, without the program's name: a line that can be pasted.
pub(crate) fn next(command: &str) {
    if !LEADS.load(Ordering::Relaxed) {
        message(&format!("next: relscale {command}"));
    }
}

fn is_quiet() -> bool {
    loudness() == Loudness::Quiet
}

/// How a word is set off, where the terminal can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The word `error:`.
    Error,
    /// The word `warning:`.
    Warning,
    /// Other words that begin a line.
    Strong,
}

/// Whether standard error is a terminal on which bars can be drawn.
pub(crate) fn has_bars() -> bool {
    !is_quiet() && can_paint(&io::stderr())
}

/// Whether this is a terminal that obeys more than letters.
fn can_paint(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A word of ours for standard error in a style; plain where that is no terminal or `NO_COLOR` is
/// set (<https://no-color.org>).
pub(crate) fn paint(word: &str, style: Style) -> String {
    match can_paint(&io::stderr()) && wants_colour() {
        true => painted(word, style),
        false => word.to_owned(),
    }
}

fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether results on standard output are painted.
fn paints_results() -> bool {
    can_paint(&io::stdout()) && wants_colour()
}

fn painted(word: &str, style: Style) -> String {
    let code = match style {
        Style::Error => "1;31",
        Style::Warning => "1;33",
        Style::Strong => "1",
    };
    format!("\x1b[{code}m{word}\x1b[0m")
}

/// A line to standard error, made [`safe()`]. That nobody can read it is no reason to stop.
pub(crate) fn message(text: &str) {
    if !is_quiet() {
        complaint(text);
    }
}

/// As [`message`], also where nothing but errors is wanted.
pub(crate) fn complaint(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", safe(text));
}

/// As [`message`], after a word that is set off: `error:`, `warning:`.
pub(crate) fn titled(title: &str, style: Style, text: &str) {
    if is_quiet() && style == Style::Warning {
        return;
    }
    let _ = writeln!(io::stderr().lock(), "{} {}", paint(title, style), safe(text));
}

/// Text to standard output, made [`safe()`].
///
/// # Errors
/// The pipe is closed, the disk is full.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_safe(&safe(text))
}

/// A result to standard output: its tables and sentences, set off where the terminal can.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_result(result: &Shown) -> anyhow::Result<()> {
    print_safe(&shown::shown(result, paints_results()))
}

fn print_safe(text: &str) -> anyhow::Result<()> {
    if is_quiet() { Ok(()) } else { print_whole(text) }
}

/// JSON to standard output, as JSON writes what is not safe.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_json(text: &str) -> anyhow::Result<()> {
    print_whole(&safe_json(text))
}

fn print_whole(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// So many of something: `1 document`, `1,438 documents`.
pub(crate) fn several(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A size in three digits: `2.19M`, `83.0k`, `950`.
pub(crate) fn size(n: u64) -> String {
    let (value, unit) = match n {
        0..1_000 => return n.to_string(),
        1_000..1_000_000 => (n as f64 / 1e3, "k"),
        1_000_000..1_000_000_000 => (n as f64 / 1e6, "M"),
        _ => (n as f64 / 1e9, "B"),
    };
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{unit}")
}

/// An amount of data: `362 B`, `9.35 MB`.
pub(crate) fn bytes(n: u64) -> String {
    let text = size(n);
    let (number, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    format!("{number} {}B", if unit == "B" { "G" } else { unit })
}

/// A span of time: `42 s`, `3:05`, `2:10:00`.
pub(crate) fn time(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60),
    }
}

/// `one`, `one and two`, `one, two and 3 more`.
pub(crate) fn some_of(names: &[String], most: usize) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        _ if names.len() <= most => {
            format!("{} and {}", names[..names.len() - 1].join(", "), names[names.len() - 1])
        }
        _ => format!("{} and {} more", names[..most].join(", "), names.len() - most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!([several(1, "token"), several(1_000, "token")], ["1 token", "1,000 tokens"]);
        let sizes = [7, 950, 1_000, 9_994, 9_996, 83_000, 260_032, 2_190_000, 12_000_000_000];
        assert_eq!(
            sizes.map(size),
            ["7", "950", "1.00k", "9.99k", "10.0k", "83.0k", "260k", "2.19M", "12.0B"]
        );
        assert_eq!([362, 9_350_000, 2_000_000_000].map(bytes), ["362 B", "9.35 MB", "2.00 GB"]);
        let spans = [0, 59, 60, 3_599, 7_801].map(Duration::from_secs);
        assert_eq!(spans.map(time), ["0 s", "59 s", "1:00", "59:59", "2:10:01"]);
    }

    #[test]
    fn lists_end() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(some_of(&names[..1], 2), "a");
        assert_eq!(some_of(&names[..2], 2), "a and b");
        assert_eq!(some_of(&names, 2), "a, b and 1 more");
    }
}
