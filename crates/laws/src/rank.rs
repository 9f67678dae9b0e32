//! The rank law: `-ln RBP_k` against S (arXiv 2510.20387, eq. 4 and 5).
//!
//! `RBP_k` is the share of scored tokens whose rank is at most k; of bytes, words and spans the
//! share that is hit alike ([`Unit`]). Where every token hits, `-ln RBP_k` is 0 and has no
//! logarithm; where none does it is infinite: such points are left out and listed. Where only a few
//! miss (or hit) the point is kept, but its error is of the size of the whole effect, so no slope
//! is claimed: `Var(ln(-ln p))` is about `1/misses` near p = 1, before the likeness of tokens
//! inside documents.

use crate::options::FitOptions;
use crate::power_law::{self, Measured, Setting};
use crate::result::{Flag, FlagCode, Law, LeftOut, Point};
use crate::table::{Group, Sums, Unit};

/// `-ln(hits / tokens)` in nats, exact also where nearly all tokens hit.
pub(crate) fn minus_ln_rbp(hits: f64, tokens: f64) -> f64 {
    -(-(tokens - hits) / tokens).ln_1p()
}

/// The rank law of tokens at the k with index `at` of the group.
pub(crate) fn law(group: &Group<'_>, at: usize, options: &FitOptions) -> Law {
    law_of(Unit::Token, group, at, options)
}

/// The same of another unit, whose counts the group holds.
pub(crate) fn law_of(unit: Unit, group: &Group<'_>, at: usize, options: &FitOptions) -> Law {
    let k = group.k[at];
    let units = unit.plural();
    let quantity = unit.quantity(k);
    let share = quantity.symbol().trim_start_matches("-ln ").to_owned();
    let has = if unit == Unit::Token { "has rank <= " } else { "is a hit at k = " };
    let have = if unit == Unit::Token { "have rank <= " } else { "are hits at k = " };
    let mut measured = Vec::new();
    let mut left_out = Vec::new();
    for (model, run) in group.runs.iter().enumerate() {
        let sums = run.sums();
        let (hits, tokens) = (sums.hits[at], sums.tokens);
        let reason = if tokens == 0.0 {
            match unit {
                Unit::Token => "no token was scored".to_owned(),
                _ => format!("there are no {units} that were scored whole"),
            }
        } else if hits == 0.0 {
            format!("none of {tokens} {units} {has}{k}: {share} = 0, its -ln is infinite")
        } else if hits == tokens {
            format!(
                "all {tokens} {units} {have}{k}: {share} = 1, its -ln is 0 and has no logarithm"
            )
        } else {
            let statistic = |sums: Sums<'_>| minus_ln_rbp(sums.hits[at], sums.tokens);
            measured.push(Measured {
                model: run.tally.model.clone(),
                parameters: run.tally.non_embedding,
                tokens: tokens as u64,
                hits: Some(hits as u64),
                value: statistic(sums),
                replicates: group.replicates(model, statistic),
                left_out: group.left_out(model, statistic),
            });
            continue;
        };
        left_out.push(LeftOut::new(&run.tally.model, reason).at(run.tally.non_embedding as f64));
    }
    let setting = Setting { level: options.level, sizes: &group.sizes };
    power_law::law(quantity, setting, measured, left_out, |points| {
        let few = |code, what, verb, count: fn(&Point) -> Option<u64>| {
            let of = match unit {
                Unit::Token => format!("tokens of rank {verb} {k}"),
                _ => format!("{units} with {verb} {k}"),
            };
            few(points, &of, options.minimum_count, code, what, count)
        };
        let (above, within) = match unit {
            Unit::Token => ("above", "at most"),
            _ => ("a rank above", "all ranks at most"),
        };
        few(FlagCode::FewMisses, "misses", above, |point| point.misses)
            .into_iter()
            .chain(few(FlagCode::FewHits, "hits", within, |point| point.hits))
            .collect()
    })
}

/// A flag when some model has a count below `minimum`.
fn few(
    points: &[Point],
    of: &str,
    minimum: u64,
    code: FlagCode,
    what: &str,
    count: fn(&Point) -> Option<u64>,
) -> Option<Flag> {
    let short: Vec<String> = points
        .iter()
        .filter_map(|point| {
            let count = count(point)?;
            (count < minimum)
                .then(|| format!("{} {count} of {}", point.label, point.tokens.unwrap_or_default()))
        })
        .collect();
    (!short.is_empty()).then(|| {
        Flag::new(
            code,
            format!(
                "no slope is claimed: fewer than {minimum} {what} ({of}) for {}",
                short.join(", ")
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::minus_ln_rbp;

    #[test]
    fn one_miss_in_a_billion_keeps_its_digits() {
        assert_eq!(minus_ln_rbp(1e15 - 1.0, 1e15), 1e-15 + 5e-31);
        assert!((minus_ln_rbp(1.0, 4.0) - 4.0_f64.ln()).abs() < 1e-15);
    }
}
