//! Tables on a terminal.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle,
};

use super::paragraph::columns;
use super::safe::safe_line;

/// A table: a line under the header, one under `groups` of rows, the first `left` columns to the
/// left, numbers to the right.
///
/// Where it is wider than the terminal its columns stand in several tables one below the other,
/// each with the first `left` columns again. Elsewhere than on a terminal all columns are beside
/// each other.
pub(crate) fn table(header: &[&str], left: usize, groups: &[Vec<Vec<String>>]) -> String {
    folded(&plain(header), left, &in_lines(groups), columns(), false)
}

/// A column: its name, and whether its numbers are set off.
#[derive(Clone, Copy)]
struct Head<'a> {
    name: &'a str,
    strong: bool,
}

fn plain<'a>(header: &[&'a str]) -> Vec<Head<'a>> {
    header.iter().map(|name| Head { name, strong: false }).collect()
}

/// Every cell in one line that is safe to show.
fn in_lines(groups: &[Vec<Vec<String>>]) -> Vec<Vec<Vec<String>>> {
    let row = |row: &Vec<String>| row.iter().map(|cell| safe_line(cell).into_owned()).collect();
    groups.iter().map(|group| group.iter().map(row).collect()).collect()
}

fn folded(
    header: &[Head<'_>],
    left: usize,
    groups: &[Vec<Vec<String>>],
    columns: usize,
    paints: bool,
) -> String {
    let text = whole(header, left, groups, None, false);
    if width_of(&text) <= columns {
        return if paints { whole(header, left, groups, None, true) } else { text };
    }
    if left >= header.len() {
        return whole(header, left, groups, Some(columns), paints);
    }
    let rows = || groups.iter().flatten();
    let widest = |at: usize| {
        let cells = rows().map(|row| row[at].chars().count());
        // Two spaces stand between columns.
        cells.chain([header[at].name.chars().count()]).max().unwrap_or_default() + 2
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
        let header: Vec<Head<'_>> = shown.iter().map(|&at| header[at]).collect();
        let pick = |row: &Vec<String>| shown.iter().map(|&at| row[at].clone()).collect();
        let groups: Vec<Vec<Vec<String>>> =
            groups.iter().map(|group| group.iter().map(pick).collect()).collect();
        trimmed(&whole(&header, left, &groups, None, paints))
    };
    parts.into_iter().map(part).collect::<Vec<_>>().join("\n\n")
}

/// The line under the header reaches one column beyond the cells; here that column may be the
/// terminal's last.
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
fn whole(
    header: &[Head<'_>],
    left: usize,
    groups: &[Vec<Vec<String>>],
    most: Option<usize>,
    paints: bool,
) -> String {
    let cell = |(at, text): (usize, &String)| match header[at].strong {
        true => Cell::new(text).fg(Color::Green),
        false => Cell::new(text),
    };
    let rule = LineStyle::none().fill('-').junction('-');
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(rule))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.iter().map(|head| Cell::new(head.name).add_attribute(Attribute::Bold)));
    if paints {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    for (number, group) in groups.iter().enumerate() {
        if number > 0 && (group.len() > 1 || groups[number - 1].len() > 1) {
            table.add_row(vec![String::new(); header.len()]);
        }
        table
            .add_rows(group.iter().map(|row| row.iter().enumerate().map(cell).collect::<Vec<_>>()));
    }
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        column.set_cell_alignment(if number < left {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    if let Some(most) = most {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(most).unwrap_or(u16::MAX));
    }
    table.trim_fmt()
}

/// As [`table`], but the columns named in `first_to_go` go first, in that order, for as long as it
/// is wider than the terminal. Elsewhere than on a terminal all columns stay.
pub(crate) fn fitting(
    header: &[&str],
    left: usize,
    groups: &[Vec<Vec<String>>],
    first_to_go: &[&str],
) -> String {
    let place = |name: &&str| header.iter().position(|column| column == name);
    let first_to_go: Vec<usize> = first_to_go.iter().filter_map(place).collect();
    fitting_at(header, left, groups, &first_to_go, None)
}

/// The same with the columns by their places; with `numbers`, the header and the numbers of these
/// columns are set off.
pub(crate) fn fitting_at(
    header: &[&str],
    left: usize,
    groups: &[Vec<Vec<String>>],
    first_to_go: &[usize],
    numbers: Option<&[usize]>,
) -> String {
    let strong = |at: usize| numbers.is_some_and(|numbers| numbers.contains(&at));
    let header: Vec<Head<'_>> =
        header.iter().enumerate().map(|(at, name)| Head { name, strong: strong(at) }).collect();
    fitted(&header, left, &in_lines(groups), first_to_go, columns(), numbers.is_some())
}

fn fitted(
    header: &[Head<'_>],
    left: usize,
    groups: &[Vec<Vec<String>>],
    first_to_go: &[usize],
    columns: usize,
    paints: bool,
) -> String {
    let without = |gone: &[usize]| {
        let stays: Vec<usize> = (0..header.len()).filter(|at| !gone.contains(at)).collect();
        let row = |row: &Vec<String>| stays.iter().map(|&at| row[at].clone()).collect();
        let groups: Vec<Vec<Vec<String>>> =
            groups.iter().map(|group| group.iter().map(row).collect()).collect();
        let header: Vec<Head<'_>> = stays.iter().map(|&at| header[at]).collect();
        (header, stays.iter().filter(|&&at| at < left).count(), groups)
    };
    for gone in 0..=first_to_go.len() {
        let (header, left, groups) = without(&first_to_go[..gone]);
        if gone == first_to_go.len()
            || width_of(&whole(&header, left, &groups, None, false)) <= columns
        {
            return folded(&header, left, &groups, columns, paints);
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_in_order_until_the_table_fits() {
        let groups =
            [vec![vec!["a".to_owned(), "1000".to_owned(), "22".to_owned(), "3".to_owned()]]];
        let fit = |columns| {
            fitted(&plain(&["run", "beta", "lr", "S"]), 1, &groups, &[2, 1], columns, false)
        };
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
        let fold =
            |columns| folded(&plain(&["run", "beta", "lr", "S"]), 1, &groups, columns, false);
        assert_eq!(fold(80).lines().count(), 4);
        assert_eq!(
            fold(13),
            "run  beta  lr\n-------------\na    1000  22\nb       1   2\n\nrun  S\n------\na    3\nb    4"
        );
        assert!(width_of(&fold(13)) <= 13);
        // Narrower than any two columns: one beside the first.
        assert_eq!(fold(8).matches("run").count(), 3);
        // Words break.
        let words = [vec![vec![
            "small".to_owned(),
            "a sweep that a machine with two cores does".to_owned(),
        ]]];
        let text = folded(&plain(&["preset", "what"]), 2, &words, 30, false);
        assert!(width_of(&text) <= 30 && text.lines().count() > 3, "{text}");
    }
}
