//! Means over items, groups and distributions, and the same over items drawn again.
//!
//! Items are drawn within their group, so that every group keeps its size; one draw serves all
//! models and measures. Losses: mean over items of a group, then over the groups of a distribution,
//! each group alike. Accuracies: share of all items.

use relscale_records::provenance::sha256_bytes;
use relscale_stats::bootstrap::{self, Sample, Totals, UnitTable};

use super::null::{self, Shuffled};
use super::panel::{FormatItems, Panel};
use crate::choice_measure::ChoiceMeasure;

/// How items are drawn again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) resamples: u32,
    pub(crate) seed: u64,
}

/// The means of one set of items: a cell, one of its groups, or all items of a format.
pub(crate) struct Means {
    /// How its items were asked; empty when nothing says.
    pub(crate) format: String,
    /// The distribution; `None` for all items of the format.
    pub(crate) distribution: Option<String>,
    /// The group; `None` for all of the distribution.
    pub(crate) group: Option<String>,
    pub(crate) items: usize,
    /// Accuracy of one who picks blindly.
    pub(crate) chance: f64,
    /// `models × measures`, in the order of the panel and of the measures asked for.
    pub(crate) values: Vec<f64>,
    /// Their spread over items drawn again.
    pub(crate) replicates: Result<Replicates, String>,
    /// `models × measures`, with the gold shuffled.
    pub(super) shuffled: Vec<Shuffled>,
}

/// Values over items drawn again: `resamples × columns`.
pub(crate) struct Replicates {
    values: Vec<f64>,
    columns: usize,
}

impl Replicates {
    /// One column, in the order of the resamples.
    pub(crate) fn column(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().skip(column).step_by(self.columns).copied()
    }

    /// One column, sorted.
    pub(super) fn sample(&self, column: usize) -> Sample {
        Sample::new(self.column(column))
    }
}

/// One group, before it enters a mean.
struct Group {
    name: String,
    items: usize,
    /// Sum over items of the chance to be right by a blind pick.
    chance: f64,
    /// Sums over items: `models × measures`.
    sums: Vec<f64>,
    /// The same over items drawn again.
    drawn: Result<Totals, String>,
    shuffled: Vec<Shuffled>,
}

impl Means {
    /// Number of items.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// Means of every distribution of a panel, each followed by its groups when `groups`, and of
    /// all items of a format where it has several distributions.
    pub(crate) fn from_panel(
        panel: &Panel<'_>,
        measures: &[ChoiceMeasure],
        draw: Draw,
        groups: bool,
    ) -> Vec<Self> {
        let mut means = Vec::new();
        let cells = panel.cells();
        for of_format in cells.chunk_by(|a, b| a.format == b.format) {
            let format = of_format[0].format;
            let mut all: Vec<Group> = Vec::new();
            for cell in of_format {
                let of_cell = Group::of_cell(panel, cell, measures, draw);
                let distribution = Some(cell.distribution);
                means.push(Self::over(&of_cell, measures, draw, (format, distribution, None)));
                if groups {
                    means.extend(of_cell.iter().map(|group| {
                        let name = (format, distribution, Some(group.name.as_str()));
                        Self::over(std::slice::from_ref(group), measures, draw, name)
                    }));
                }
                all.extend(of_cell);
            }
            if of_format.len() > 1 {
                means.push(Self::over(&all, measures, draw, (format, None, None)));
            }
        }
        means
    }

    fn over(
        groups: &[Group],
        measures: &[ChoiceMeasure],
        draw: Draw,
        (format, distribution, group): (&str, Option<&str>, Option<&str>),
    ) -> Self {
        let items: usize = groups.iter().map(|group| group.items).sum();
        let columns = groups.first().map_or(0, |group| group.sums.len());
        // Weight of a sum of a group: over all items for an accuracy, over its own items and then
        // over groups for a loss.
        let weight =
            |group: &Group, column: usize| match measures[column % measures.len()].is_accuracy() {
                true => 1.0 / items as f64,
                false => 1.0 / (group.items * groups.len()) as f64,
            };
        let mut values = vec![0.0; columns];
        let mut shuffled = vec![Shuffled::default(); columns];
        for group in groups {
            for column in 0..columns {
                values[column] += weight(group, column) * group.sums[column];
                shuffled[column].add(&group.shuffled[column], weight(group, column));
            }
        }
        let replicates = (|| {
            let mut replicates = vec![0.0; draw.resamples as usize * columns];
            for group in groups {
                let rows = group.drawn.as_ref().map_err(Clone::clone)?.rows();
                for (into, row) in replicates.chunks_exact_mut(columns).zip(rows) {
                    for (column, (into, sum)) in into.iter_mut().zip(row).enumerate() {
                        *into += weight(group, column) * sum;
                    }
                }
            }
            Ok(Replicates { values: replicates, columns })
        })();
        Self {
            format: format.to_owned(),
            distribution: distribution.map(str::to_owned),
            group: group.map(str::to_owned),
            items,
            chance: groups.iter().map(|group| group.chance).sum::<f64>() / items as f64,
            values,
            replicates,
            shuffled,
        }
    }
}

impl Group {
    fn of_cell(
        panel: &Panel<'_>,
        cell: &FormatItems<'_>,
        measures: &[ChoiceMeasure],
        draw: Draw,
    ) -> Vec<Self> {
        let of_group =
            |(name, items): (&&str, &Vec<usize>)| Self::new(panel, name, items, measures, draw);
        cell.groups.iter().map(of_group).collect()
    }

    fn new(
        panel: &Panel<'_>,
        name: &str,
        items: &[usize],
        measures: &[ChoiceMeasure],
        draw: Draw,
    ) -> Self {
        let columns = panel.models.len() * measures.len();
        let mut table = Vec::with_capacity(items.len() * columns);
        for &at in items {
            let gold = &panel.items[at].gold;
            for model in &panel.models {
                table.extend(
                    measures.iter().map(|measure| model.scores[at].measure(*measure, gold)),
                );
            }
        }
        let mut sums = vec![0.0; columns];
        for row in table.chunks_exact(columns) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        let chance =
            |at: &usize| panel.items[*at].gold.len() as f64 / panel.items[*at].options.len() as f64;
        Self {
            name: name.to_owned(),
            items: items.len(),
            chance: items.iter().map(chance).sum(),
            sums,
            drawn: UnitTable::new(&table, columns)
                .and_then(|table| {
                    bootstrap::totals(table, draw.resamples, seed(panel, items, draw.seed))
                })
                .map_err(|refusal| {
                    format!("no error from the sample of items of `{name}`: {refusal}")
                }),
            shuffled: null::shuffled(panel, items, measures),
        }
    }
}

/// A seed for each set of items: another for others, the same for the same, whatever they are
/// called.
fn seed(panel: &Panel<'_>, items: &[usize], seed: u64) -> u64 {
    let documents = items.iter().flat_map(|&at| panel.items[at].options[0].document.to_le_bytes());
    let bytes: Vec<u8> = panel.documents_key.bytes().chain(documents).collect();
    seed ^ u64::from_str_radix(&sha256_bytes(&bytes)[..16], 16).unwrap_or(0)
}
