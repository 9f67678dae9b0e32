//! The table of tokens right in a row, of `relscale fit`.

use relscale_laws::{EmergenceAtK, GroupFit, Outcome, SequencePoint, SequencesOfLength, StudyFit};

use super::title;
use crate::terminal;

/// A row for each k and N: p measured, what independence and a first-order chain say of the largest model, how many
/// independent tokens the N count as, and the size of p = 0.5. In brackets: not claimed.
pub(super) fn table(laws: &StudyFit) -> String {
    let header = [
        "distribution",
        "k",
        "N",
        "p, smallest",
        "p, largest",
        "RBP^N",
        "chain",
        "N counts as",
        "S for p = 0.5",
        "decades beyond",
    ];
    let groups: Vec<Vec<Vec<String>>> =
        laws.groups.iter().map(|group| rows(title(laws, group), group)).collect();
    terminal::table(&header, 1, &groups)
}

/// The rows of one family on one corpus; its name stands in the first.
fn rows(title: String, group: &GroupFit) -> Vec<Vec<String>> {
    let mut title = Some(title);
    let by_k = group.emergence.iter().flat_map(|emergence| &emergence.by_k);
    by_k.flat_map(|at_k| at_k.lengths.iter().map(move |length| (at_k, length)))
        .map(|(at_k, length)| row(title.take().unwrap_or_default(), at_k, length))
        .collect()
}

fn row(title: String, at_k: &EmergenceAtK, length: &SequencesOfLength) -> Vec<String> {
    let (smallest, largest) = (length.points.first(), length.points.last());
    let measured = |point: Option<&SequencePoint>| {
        let p = point.and_then(|point| Some((point.probability.as_ref()?.value, point.claimed)));
        p.map_or("-".to_owned(), |(p, claimed)| bracketed(share(p), claimed))
    };
    let predicted = |p: Option<f64>| p.map_or("-".to_owned(), share);
    let (size, decades) = match &length.half {
        Outcome::Refused { .. } => ("-".to_owned(), "-".to_owned()),
        Outcome::Fitted(half) => (
            bracketed(format!("{:.1e}", half.parameters.value), half.claimed),
            if half.decades_beyond == 0.0 {
                "inside".to_owned()
            } else {
                format!("{:+.1}", half.decades_beyond)
            },
        ),
    };
    let effective = largest.and_then(|point| point.effective_length.as_ref());
    vec![
        title,
        at_k.k.to_string(),
        length.length.to_string(),
        measured(smallest),
        measured(largest),
        predicted(largest.and_then(|point| point.independent)),
        predicted(largest.and_then(|point| point.markov)),
        effective.map_or("-".to_owned(), |tokens| format!("{:.1}", tokens.value)),
        size,
        decades,
    ]
}

fn bracketed(text: String, claimed: bool) -> String {
    if claimed { text } else { format!("({text})") }
}

/// A probability: three decimals, or a power of ten where they would show nothing.
fn share(p: f64) -> String {
    if p > 0.0 && p < 0.0005 { format!("{p:.0e}") } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn small_shares_stay_visible() {
        assert_eq!(
            [0.0, 1e-9, 0.00049, 0.0005, 0.25, 1.0].map(share),
            ["0.000", "1e-9", "5e-4", "0.001", "0.250", "1.000"]
        );
    }
}
