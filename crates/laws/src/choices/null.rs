//! The gold shuffled over the items of a group, with the options' scores as they are.
//!
//! What remains of a measure then is no knowledge: that options can be copied from the prompt, that
//! a letter is liked. For a sum `T = sum_i a(i, pi(i))` over a random permutation `pi`, with
//! `a(i, j)` the measure of item i under the gold of item j, `E T = sum_ij a_ij / n` and
//! `Var T = sum_ij d_ij^2 / (n - 1)`, `d_ij = a_ij - a_i. - a_.j + a_..` (Hoeffding 1951), so
//! nothing need be drawn. Golds go by the names of options, and only between items with the same
//! names.

use std::collections::BTreeMap;

use super::panel::Panel;
use crate::choice_measure::ChoiceMeasure;

/// A sum, or a mean, over all permutations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Shuffled {
    pub(super) expected: f64,
    pub(super) variance: f64,
}

impl Shuffled {
    /// Adds `weight` times another that is permuted by itself.
    pub(super) fn add(&mut self, other: &Self, weight: f64) {
        self.expected += weight * other.expected;
        self.variance += weight * weight * other.variance;
    }
}

/// Sums over the items of one group: `models × measures`.
pub(super) fn shuffled(
    panel: &Panel<'_>,
    items: &[usize],
    measures: &[ChoiceMeasure],
) -> Vec<Shuffled> {
    let mut strata: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
    for &at in items {
        let mut names: Vec<&str> =
            panel.items[at].options.iter().map(|option| option.name.as_str()).collect();
        names.sort_unstable();
        strata.entry(names).or_default().push(at);
    }
    let mut sums = vec![Shuffled::default(); panel.models.len() * measures.len()];
    for stratum in strata.values() {
        // The names of the gold options, and how many items have these.
        let mut golds: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        for &at in stratum {
            *golds.entry(gold_names(panel, at)).or_default() += 1;
        }
        let golds: Vec<(Vec<&str>, f64)> =
            golds.into_iter().map(|(names, count)| (names, count as f64)).collect();
        let places: Vec<Vec<Vec<usize>>> =
            stratum.iter().map(|&at| places(panel, at, &golds)).collect();
        for (model, scores) in panel.models.iter().enumerate() {
            for (number, &measure) in measures.iter().enumerate() {
                let values = stratum.iter().zip(&places).map(|(&at, places)| -> Vec<f64> {
                    places.iter().map(|gold| scores.scores[at].measure(measure, gold)).collect()
                });
                let counts: Vec<f64> = golds.iter().map(|(_, count)| *count).collect();
                let of_stratum = over_permutations(&values.collect::<Vec<_>>(), &counts);
                sums[model * measures.len() + number].add(&of_stratum, 1.0);
            }
        }
    }
    sums
}

fn gold_names<'a>(panel: &'a Panel<'_>, at: usize) -> Vec<&'a str> {
    let item = &panel.items[at];
    let mut names: Vec<&str> =
        item.gold.iter().map(|&gold| item.options[gold].name.as_str()).collect();
    names.sort_unstable();
    names
}

/// For each set of names, where those options stand in an item.
fn places(panel: &Panel<'_>, at: usize, golds: &[(Vec<&str>, f64)]) -> Vec<Vec<usize>> {
    let options = &panel.items[at].options;
    let place = |name: &&str| options.iter().position(|option| option.name == **name);
    golds.iter().map(|(names, _)| names.iter().filter_map(place).collect()).collect()
}

/// `values[i][p]`: item i under gold p, which `counts[p]` items have.
fn over_permutations(values: &[Vec<f64>], counts: &[f64]) -> Shuffled {
    let n = values.len() as f64;
    let weighted =
        |row: &[f64]| row.iter().zip(counts).map(|(value, count)| value * count).sum::<f64>() / n;
    let of_item: Vec<f64> = values.iter().map(|row| weighted(row)).collect();
    let of_gold: Vec<f64> =
        (0..counts.len()).map(|gold| values.iter().map(|row| row[gold]).sum::<f64>() / n).collect();
    let of_all = of_item.iter().sum::<f64>() / n;
    let squares: f64 = values
        .iter()
        .zip(&of_item)
        .map(|(row, mean)| {
            let deviation = |(gold, value): (usize, &f64)| {
                counts[gold] * (value - mean - of_gold[gold] + of_all).powi(2)
            };
            row.iter().enumerate().map(deviation).sum::<f64>()
        })
        .sum();
    Shuffled {
        expected: of_item.iter().sum(),
        variance: if values.len() > 1 { squares / (n - 1.0) } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All permutations of five items with three golds, one by one.
    #[test]
    fn mean_and_variance_are_those_of_all_permutations() {
        let values = vec![
            vec![1.0, 0.2, 0.0],
            vec![0.3, 0.9, 0.4],
            vec![0.8, 0.1, 0.7],
            vec![0.0, 0.5, 1.1],
            vec![2.0, 0.6, 0.3],
        ];
        let golds = [0, 0, 1, 2, 1];
        let mut sums = Vec::new();
        permute(&mut (0..5).collect::<Vec<usize>>(), 0, &mut |order| {
            sums.push(
                order.iter().enumerate().map(|(item, &of)| values[item][golds[of]]).sum::<f64>(),
            );
        });
        assert_eq!(sums.len(), 120);
        let mean = sums.iter().sum::<f64>() / 120.0;
        let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / 120.0;
        let found = over_permutations(&values, &[2.0, 2.0, 1.0]);
        assert!((found.expected - mean).abs() < 1e-12, "{} {mean}", found.expected);
        assert!((found.variance - variance).abs() < 1e-12, "{} {variance}", found.variance);
        // One item cannot be shuffled.
        assert_eq!(
            over_permutations(&[vec![0.4]], &[1.0]),
            Shuffled { expected: 0.4, variance: 0.0 }
        );
    }

    fn permute(order: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
        if from == order.len() {
            return visit(order);
        }
        for at in from..order.len() {
            order.swap(from, at);
            permute(order, from + 1, visit);
            order.swap(from, at);
        }
    }
}
