//! Lives of a run: one that was killed and started again from an earlier step logs steps twice, and
//! what it logged beyond that step in the life that was given up is no part of it.
//!
//! A log is written in the order of time, so that a step that goes back begins a life. A table need
//! not be: it may stand last step first, sorted as text, or in no order at all, and then its steps
//! are sorted.

use std::cmp::Ordering;

use super::logged::{Entry, Logged};

/// Numbers of one step, by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) step: Option<f64>,
    pub(super) numbers: Vec<(String, f64)>,
}

/// In what order steps come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// That of a table, which may have been sorted.
    Rows,
    /// That of the time: one file of events of several. Tags of one file may overtake each other by
    /// a step, and only where a file that is not the first goes back is a new life sure.
    Events {
        /// Whether there were files before.
        again: bool,
    },
}

/// Adds steps to what a run has logged.
pub(super) fn add(logged: &mut Logged, mut steps: Vec<Step>, written: Written) {
    if written == Written::Rows
        && let Some(how) = sorted(&mut steps)
    {
        logged.notes.push(how.to_owned());
    }
    let mut sure = written != Written::Events { again: false };
    for Step { step, numbers } in steps {
        let goes_back = |logged: &Logged, name: &str| {
            let last = logged.numbers.get(name).and_then(|series| series.last());
            last.is_some_and(|last| last.step > step)
        };
        let Some(at) = step.filter(|step| step.is_finite()) else {
            numbers.iter().for_each(|(name, value)| logged.add(name, None, *value));
            continue;
        };
        if sure && numbers.iter().any(|(name, _)| goes_back(logged, name)) {
            let gone = give_up(logged, at);
            logged.notes.push(format!(
                "started again from step {at}: {gone} numbers of later steps, logged before, belong to a life that was given up"
            ));
            sure = written == Written::Rows;
        }
        for (name, value) in &numbers {
            // Of one step the later number counts, as where a run was started again.
            let series = logged.numbers.entry(name.clone()).or_default();
            if series.last().is_some_and(|last| last.step >= Some(at)) {
                series.retain(|entry| entry.step < Some(at));
            }
            series.push(Entry { step: Some(at), value: *value });
        }
    }
}

/// Drops what was logged from a step on. Says how many numbers that were.
fn give_up(logged: &mut Logged, step: f64) -> usize {
    let mut gone = 0;
    for series in logged.numbers.values_mut() {
        let before = series.len();
        series.retain(|entry| entry.step < Some(step));
        gone += before - series.len();
    }
    logged.unread.retain(|_, (at, _)| *at < Some(step));
    logged.numbers.retain(|_, series| !series.is_empty());
    gone
}

/// Sorts rows that somebody has put into another order than that of their steps; says which that
/// was.
fn sorted(rows: &mut [Step]) -> Option<&'static str> {
    let mut steps: Vec<f64> =
        rows.iter().filter_map(|row| row.step).filter(|step| step.is_finite()).collect();
    steps.dedup();
    let falls = steps.windows(2).filter(|pair| pair[1] < pair[0]).count();
    if falls == 0 {
        return None;
    }
    if falls + 1 == steps.len() {
        rows.reverse();
        return Some("the rows stand last step first");
    }
    let mut different = steps.clone();
    different.sort_by(f64::total_cmp);
    different.dedup();
    if different.len() < steps.len() {
        // Steps that come twice are those of two lives.
        return None;
    }
    let as_text = |pair: &[f64]| pair[0].to_string().cmp(&pair[1].to_string());
    let all = |order: Ordering| steps.windows(2).all(|pair| as_text(pair) == order);
    let how = if all(Ordering::Less) || all(Ordering::Greater) {
        "the rows are sorted by the digits of their steps"
    } else if falls > 1 && 4 * falls > steps.len() {
        "the rows stand in no order of their steps"
    } else {
        return None;
    };
    rows.sort_by(|a, b| {
        a.step.unwrap_or(f64::NEG_INFINITY).total_cmp(&b.step.unwrap_or(f64::NEG_INFINITY))
    });
    Some(how)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of a series and its numbers, which are 100 less the place of the row.
    fn kept(steps: &[u32], written: Written) -> (Vec<f64>, f64, String) {
        let mut logged = Logged::new("run");
        let row = |(at, step): (usize, &u32)| Step {
            step: Some(f64::from(*step)),
            numbers: vec![("loss".to_owned(), 100.0 - at as f64)],
        };
        add(&mut logged, steps.iter().enumerate().map(row).collect(), written);
        let series = &logged.numbers["loss"];
        let steps = series.iter().filter_map(|entry| entry.step).collect();
        (steps, series.last().unwrap().value, logged.notes.join("; "))
    }

    #[test]
    fn the_last_step_is_the_largest_whatever_the_order_of_the_rows() {
        for (steps, last, note) in [
            (&[1, 500, 1000][..], 98.0, ""),
            (&[1000, 500, 1], 100.0, "last step first"),
            (&[1000, 1000, 500, 500, 1, 1], 100.0, "last step first"),
            (&[1000, 500], 100.0, "last step first"),
            (&[1, 1000, 500], 99.0, "digits"),
            (&[1, 10, 100, 2, 20, 3], 98.0, "digits"),
            (&[300, 100, 400, 200, 500, 50], 96.0, "no order"),
        ] {
            let (kept, value, notes) = kept(steps, Written::Rows);
            assert!(kept.is_sorted() && notes.contains(note), "{steps:?}: {kept:?}, {notes}");
            assert_eq!((value, notes.is_empty()), (last, note.is_empty()), "{steps:?}");
        }
    }

    #[test]
    fn what_a_life_that_was_given_up_logged_does_not_count() {
        let (steps, last, note) = kept(&[100, 200, 300, 200, 250], Written::Rows);
        assert_eq!((steps, last), (vec![100.0, 200.0, 250.0], 96.0));
        assert!(note.contains("started again from step 200: 2 numbers"), "{note}");
        let (steps, ..) = kept(&[100, 200, 300, 400, 250, 350, 450], Written::Rows);
        assert_eq!(steps, [100.0, 200.0, 250.0, 350.0, 450.0]);
        // A metric that the new life has not logged yet is of the old one.
        let mut logged = Logged::new("run");
        let step = |step: f64, name: &str| Step {
            step: Some(step),
            numbers: vec![(name.to_owned(), step)],
        };
        let steps =
            [step(1.0, "t"), step(9.0, "eval"), step(9.0, "t"), step(5.0, "t"), step(6.0, "t")];
        add(&mut logged, steps.to_vec(), Written::Rows);
        assert!(!logged.numbers.contains_key("eval") && logged.last_step() == Some(6.0));
        // Two metrics that are written one after the other for the same steps are no lives.
        let mut logged = Logged::new("run");
        let steps = [step(1.0, "t"), step(2.0, "t"), step(1.0, "eval"), step(2.0, "eval")];
        add(&mut logged, steps.to_vec(), Written::Rows);
        assert_eq!((logged.numbers["t"].len(), logged.numbers["eval"].len()), (2, 2));
    }

    #[test]
    fn tags_of_one_event_file_may_overtake_each_other() {
        let mut logged = Logged::new("run");
        let step = |step: f64, name: &str| Step {
            step: Some(step),
            numbers: vec![(name.to_owned(), step)],
        };
        let steps = [step(9.0, "a"), step(10.0, "eval"), step(8.0, "a")];
        add(&mut logged, steps.to_vec(), Written::Events { again: false });
        assert_eq!((logged.numbers["a"].len(), logged.numbers["eval"].len()), (1, 1));
        add(&mut logged, vec![step(7.0, "a")], Written::Events { again: true });
        assert!(!logged.numbers.contains_key("eval"));
    }
}
