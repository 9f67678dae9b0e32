//! Rows of runs that did not end as planned: crashed, killed, diverged, still going on. What they
//! log is no result.

use relscale_records::Status;

use super::rows::{Row, Rows};

/// Where a table says how its runs ended.
pub(crate) struct Endings {
    columns: Vec<usize>,
    note: Option<usize>,
}

impl Endings {
    /// The columns that say it, but for those in `used`, which the fit takes for something else. A
    /// column in which no word is known as an end is about something else: a `state` may be one of
    /// the United States.
    pub(crate) fn from_rows(rows: &Rows, used: &[&str]) -> Self {
        let known =
            |at: usize| rows.rows.iter().any(|row| Status::named(&rows.text(row, at)).is_some());
        let columns = (0..rows.columns.len()).filter(|&at| {
            let name = rows.columns[at].as_str();
            Status::is_column(name) && !used.contains(&name) && known(at)
        });
        let note = rows.columns.iter().position(|name| name == "note");
        Self { columns: columns.collect(), note }
    }

    /// Why a row takes no part; `None` where its run finished, or nothing says how it ended.
    pub(crate) fn reason(&self, rows: &Rows, row: &Row) -> Option<String> {
        self.columns.iter().filter(|at| !rows.is_empty(row, **at)).find_map(|&at| {
            let word = rows.text(row, at);
            let reason = match Status::named(&word) {
                Some(Status::Finished) => return None,
                Some(_) => word,
                None => {
                    format!("its {} is `{word}`, which is not known as finished", rows.columns[at])
                }
            };
            let note = self.note.filter(|at| !rows.is_empty(row, *at)).map(|at| rows.text(row, at));
            Some(note.map_or(reason.clone(), |note| format!("{reason}: {note}")))
        })
    }
}
