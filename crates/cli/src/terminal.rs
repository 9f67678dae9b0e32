//! What people read: messages, tables, numbers.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

mod safe;

pub(crate) use relscale_records::shell::quoted;
pub(crate) use safe::{safe, safe_json, safe_line};

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

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
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A word of ours for standard error in a style; plain where that is no terminal or `NO_COLOR` is set (<https://no-color.org>).
pub(crate) fn paint(word: &str, style: Style) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !has_bars() {
        return word.to_owned();
    }
    let code = match style {
        Style::Error => "1;31",
        Style::Warning => "1;33",
        Style::Strong => "1",
    };
    format!("\x1b[{code}m{word}\x1b[0m")
}

/// A line to standard error, made [`safe()`]. That nobody can read it is no reason to stop.
pub(crate) fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", safe(text));
}

/// As [`message`], after a word that is set off: `error:`, `warning:`.
pub(crate) fn titled(title: &str, style: Style, text: &str) {
    let _ = writeln!(io::stderr().lock(), "{} {}", paint(title, style), safe(text));
}

/// Text to standard output, made [`safe()`].
///
/// # Errors
/// The pipe is closed, the disk is full.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_whole(&safe(text))
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

/// A table: a line under the header, one under `groups` of rows, the first `left` columns to the left, numbers to the right.
///
/// Where it is wider than the terminal its columns stand in several tables one below the other, each with the first `left`
/// columns again. Elsewhere than on a terminal all columns are beside each other.
pub(crate) fn table(header: &[&str], left: usize, groups: &[Vec<Vec<String>>]) -> String {
    folded(header, left, &in_lines(groups), columns())
}

/// Every cell in one line that is safe to show.
fn in_lines(groups: &[Vec<Vec<String>>]) -> Vec<Vec<Vec<String>>> {
    let row = |row: &Vec<String>| row.iter().map(|cell| safe_line(cell).into_owned()).collect();
    groups.iter().map(|group| group.iter().map(row).collect()).collect()
}

/// Width of the terminal; without end where standard output is none. `COLUMNS` wins, as it does in shells.
fn columns() -> usize {
    let Some(columns) = Table::new().width() else { return usize::MAX };
    let wanted = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    wanted.filter(|columns| *columns > 0).unwrap_or(usize::from(columns))
}

fn folded(header: &[&str], left: usize, groups: &[Vec<Vec<String>>], columns: usize) -> String {
    let text = whole(header, left, groups, None);
    if width_of(&text) <= columns {
        return text;
    }
    if left >= header.len() {
        return whole(header, left, groups, Some(columns));
    }
    let rows = || groups.iter().flatten();
    let widest = |at: usize| {
        let cells = rows().map(|row| row[at].chars().count());
        // Two spaces stand between columns.
        cells.chain([header[at].chars().count()]).max().unwrap_or_default() + 2
    };
    let repeated: usize = (0..left).map(widest).sum();
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut used = usize::MAX;
    for at in left..header.len() {
        if used.saturating_add(widest(at)) > columns + 2 {
            parts.push((0..left).collect());
            used = repeated;
        }
        used += widest(at);
        if let Some(part) = parts.last_mut() {
            part.push(at);
        }
    }
    let part = |shown: Vec<usize>| {
        let header: Vec<&str> = shown.iter().map(|&at| header[at]).collect();
        let pick = |row: &Vec<String>| shown.iter().map(|&at| row[at].clone()).collect();
        let groups: Vec<Vec<Vec<String>>> =
            groups.iter().map(|group| group.iter().map(pick).collect()).collect();
        trimmed(&whole(&header, left, &groups, None))
    };
    parts.into_iter().map(part).collect::<Vec<_>>().join("\n\n")
}

/// The line under the header reaches one column beyond the cells; here that column may be the terminal's last.
fn trimmed(table: &str) -> String {
    let is_rule = |line: &&str| line.chars().all(|c| c == '-');
    let cells = table.lines().filter(|line| !is_rule(line)).map(|line| line.chars().count()).max();
    let cut = |line: &str| match cells {
        Some(cells) if !line.is_empty() && is_rule(&line) => "-".repeat(line.len().min(cells)),
        _ => line.to_owned(),
    };
    table.lines().map(cut).collect::<Vec<_>>().join("\n")
}

fn width_of(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or_default()
}

/// The table in one piece; cells are broken between words where it must be no wider than `most`.
fn whole(header: &[&str], left: usize, groups: &[Vec<Vec<String>>], most: Option<usize>) -> String {
    let rule = LineStyle::none().fill('-').junction('-');
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(rule))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.iter().map(ToString::to_string));
    for (number, group) in groups.iter().enumerate() {
        if number > 0 && (group.len() > 1 || groups[number - 1].len() > 1) {
            table.add_row(vec![String::new(); header.len()]);
        }
        table.add_rows(group.iter().cloned());
    }
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        column.set_cell_alignment(if number < left { CellAlignment::Left } else { CellAlignment::Right });
    }
    if let Some(most) = most {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(most).unwrap_or(u16::MAX));
    }
    table.trim_fmt()
}

/// As [`table`], but the columns named in `first_to_go` go first, in that order, for as long as it is wider than the terminal.
/// Elsewhere than on a terminal all columns stay.
pub(crate) fn fitting(
    header: &[&str],
    left: usize,
    groups: &[Vec<Vec<String>>],
    first_to_go: &[&str],
) -> String {
    fitted(header, left, &in_lines(groups), first_to_go, columns())
}

fn fitted(
    header: &[&str],
    left: usize,
    groups: &[Vec<Vec<String>>],
    first_to_go: &[&str],
    columns: usize,
) -> String {
    let wide = width_of(&whole(header, left, groups, None));
    let gone = first_to_go.first().and_then(|name| header.iter().position(|column| column == name));
    let Some(gone) = gone.filter(|_| wide > columns) else { return folded(header, left, groups, columns) };
    let without = |row: &Vec<String>| -> Vec<String> {
        row.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, cell)| cell.clone()).collect()
    };
    let groups: Vec<Vec<Vec<String>>> =
        groups.iter().map(|group| group.iter().map(without).collect()).collect();
    let header: Vec<&str> =
        header.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, name)| *name).collect();
    fitted(&header, left - usize::from(gone < left), &groups, &first_to_go[1..], columns)
}

/// A paragraph: `first` before its first line, as much room before the others. Broken between words where standard output is a
/// terminal; in one line elsewhere, for `grep`.
pub(crate) fn paragraph(first: &str, text: &str) -> String {
    match columns() {
        usize::MAX => format!("{first}{text}"),
        columns => wrapped(first, text, columns.clamp(40, 100)),
    }
}

fn wrapped(first: &str, text: &str, columns: usize) -> String {
    let indent = first.chars().count();
    let mut out = first.to_owned();
    let mut column = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > columns {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// A count with its digits in threes: `1 234 567`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// So many of something: `1 document`, `1 438 documents`.
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
        assert_eq!(
            ["0", "999", "1 000", "1 234 567"],
            [0, 999, 1_000, 1_234_567].map(count).each_ref().map(String::as_str)
        );
        assert_eq!([several(1, "token"), several(1_000, "token")], ["1 token", "1 000 tokens"]);
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
    fn columns_go_in_order_until_the_table_fits() {
        let groups = [vec![vec!["a".to_owned(), "1000".to_owned(), "22".to_owned(), "3".to_owned()]]];
        let fit = |columns| fitted(&["run", "beta", "lr", "S"], 1, &groups, &["lr", "beta"], columns);
        let header = |text: String| text.lines().next().unwrap_or_default().to_owned();
        assert_eq!(header(fit(80)), "run  beta  lr  S");
        assert_eq!(header(fit(13)), "run  beta  S");
        assert_eq!(header(fit(6)), "run  S");
        // Nothing more may go.
        assert_eq!(header(fit(1)), "run  S");
    }

    #[test]
    fn columns_that_do_not_fit_stand_below() {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let groups = [vec![row(["a", "1000", "22", "3"]), row(["b", "1", "2", "4"])]];
        let fold = |columns| folded(&["run", "beta", "lr", "S"], 1, &groups, columns);
        assert_eq!(fold(80).lines().count(), 4);
        assert_eq!(
            fold(13),
            "run  beta  lr\n-------------\na    1000  22\nb       1   2\n\nrun  S\n------\na    3\nb    4"
        );
        assert!(width_of(&fold(13)) <= 13);
        // Narrower than any two columns: one beside the first.
        assert_eq!(fold(8).matches("run").count(), 3);
        // Words break.
        let words = [vec![vec!["small".to_owned(), "a sweep that a machine with two cores does".to_owned()]]];
        let text = folded(&["preset", "what"], 2, &words, 30);
        assert!(width_of(&text) <= 30 && text.lines().count() > 3, "{text}");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("- ", "one two three", 9), "- one two\n  three");
        assert_eq!(wrapped("- ", "one two three", 10), "- one two\n  three");
        assert_eq!(wrapped("", "incomprehensible words", 6), "incomprehensible\nwords");
        assert_eq!(wrapped("note: ", "", 40), "note: ");
    }

    #[test]
    fn lists_end() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(some_of(&names[..1], 2), "a");
        assert_eq!(some_of(&names[..2], 2), "a and b");
        assert_eq!(some_of(&names, 2), "a, b and 1 more");
    }
}
