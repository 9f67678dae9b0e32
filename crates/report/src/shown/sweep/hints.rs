//! Why budgets of a sweep have no minimum, and what would give them one.

use relscale_laws::{Along, Curve, IsoflopGroup, Outcome};
use relscale_records::digits;

use crate::shown::cell::Cell;
use crate::shown::place::{At, at};
use crate::shown::table::{Part, Role, Said};

/// Sizes of a budget without which it has no minimum and no line in the table.
pub(super) const SIZES: usize = 4;

/// Tolerances that are tried before one is hinted at.
const WIDER: [f64; 4] = [0.05, 0.1, 0.2, 0.3];

/// Why budgets have no minimum by the default curve, each reason once a budget.
pub(super) fn refusals(group: &At<'_, IsoflopGroup>) -> Vec<Part> {
    let mut lines: Vec<String> = Vec::new();
    let few = group.budgets.iter().filter(|budget| budget.size_count() < SIZES).count();
    if few > 0 {
        let budgets = if few == 1 { "1 budget".to_owned() } else { format!("{few} budgets") };
        let hint = wider(group).map_or(String::new(), |(tolerance, found)| {
            format!(
                "; if FLOPs scatter about their budgets, --budget-tolerance {tolerance} makes {found} with {SIZES} sizes of them"
            )
        });
        lines.push(format!("{budgets} with fewer than {SIZES} sizes: no minimum there{hint}"));
    }
    for budget in at!(group.budgets).each().filter(|budget| budget.size_count() >= SIZES) {
        for along in Along::ALL {
            let refused = budget.minimum(Curve::Cubic, along).map(|minimum| &minimum.outcome);
            if let Some(Outcome::Refused { reason }) = refused {
                let line = format!("{}: no minimum: {reason}", digits::given(budget.budget));
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
    }
    lines.into_iter().map(|line| Said::part(Role::Note, "", Cell::words(line))).collect()
}

/// The least tolerance by which more budgets have sizes enough for a minimum, and how many do then;
/// none where neighbours are of no help.
fn wider(group: &IsoflopGroup) -> Option<(f64, usize)> {
    let enough = |tolerance: f64| {
        let mut gathered: Vec<(f64, Vec<f64>)> = Vec::new();
        for budget in &group.budgets {
            let sizes = budget.sizes.iter().map(|size| size.params);
            match gathered
                .last_mut()
                .filter(|(first, _)| budget.budget <= *first * (1.0 + tolerance))
            {
                Some((_, there)) => there.extend(sizes),
                None => gathered.push((budget.budget, sizes.collect())),
            }
        }
        let different = |(_, mut sizes): (f64, Vec<f64>)| {
            sizes.sort_unstable_by(f64::total_cmp);
            sizes.chunk_by(|a, b| *b <= a * 1.001).count()
        };
        gathered.into_iter().filter(|of| different(of.clone()) >= SIZES).count()
    };
    let now = enough(0.0);
    WIDER
        .into_iter()
        .map(|tolerance| (tolerance, enough(tolerance)))
        .find(|(_, found)| *found > now)
}

/// `one`, `one and two`, `one, two and 3 more`.
pub(super) fn some_of(names: impl Iterator<Item = String>, most: usize) -> String {
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [head @ .., last] if names.len() <= most => format!("{} and {last}", head.join(", ")),
        _ => format!("{} and {} more", names[..most].join(", "), names.len() - most),
    }
}
