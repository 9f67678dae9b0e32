//! Drawing units again and adding up their columns.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use crate::error::StatsError;

/// Sums of each unit: `units × columns`, row-major, a unit a row.
#[derive(Debug, Clone, Copy)]
pub struct UnitTable<'a> {
    values: &'a [f64],
    columns: usize,
}

impl<'a> UnitTable<'a> {
    /// A table of `values.len() / columns` units.
    ///
    /// # Errors
    /// Fewer than two units; a length that is no multiple of `columns`; a NaN or infinite entry.
    pub fn new(values: &'a [f64], columns: usize) -> Result<Self, StatsError> {
        let units = values.len().checked_div(columns).unwrap_or(0);
        if units < 2 {
            return Err(StatsError::TooFewUnits { units });
        }
        if units * columns != values.len() {
            return Err(StatsError::Lengths {
                left: "unit table",
                left_length: values.len(),
                right: "whole rows",
                right_length: units * columns,
            });
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(StatsError::NonFinite { what: "unit table", index, value: values[index] });
        }
        Ok(Self { values, columns })
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.values.len() / self.columns
    }
}

/// Column totals of every resample: `resamples × columns`, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Totals {
    values: Vec<f64>,
    columns: usize,
}

impl Totals {
    /// The column totals of each resample in turn.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns)
    }
}

/// How often each unit is drawn in one resample; the counts sum to their number.
///
/// Resample `r` of seed `s` is the r-th stream of ChaCha8 with that seed, so it is the same
/// whatever the number of resamples asked for, on every machine.
pub fn multiplicities(seed: u64, resample: u64, counts: &mut [u32]) {
    let units = counts.len() as u32;
    counts.fill(0);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(resample);
    for _ in 0..units {
        counts[below(units, &mut random) as usize] += 1;
    }
}

/// How often each unit is drawn in one resample when units are drawn within strata: as many of each
/// as it has, so that none is ever lost. A stratum lists positions in `counts`; what no stratum
/// lists is drawn once.
///
/// Streams as in [`multiplicities`].
pub fn multiplicities_within(strata: &[Vec<usize>], seed: u64, resample: u64, counts: &mut [u32]) {
    counts.fill(1);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(resample);
    for stratum in strata {
        for &unit in stratum {
            counts[unit] = 0;
        }
        for _ in stratum {
            counts[stratum[below(stratum.len() as u32, &mut random) as usize]] += 1;
        }
    }
}

/// A random sign for each entry: Rademacher's weights of the wild bootstrap, streams as in
/// [`multiplicities`].
pub fn signs(seed: u64, resample: u64, signs: &mut [f64]) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(resample);
    for chunk in signs.chunks_mut(32) {
        let bits = random.next_u32();
        for (at, sign) in chunk.iter_mut().enumerate() {
            *sign = if bits >> at & 1 == 1 { 1.0 } else { -1.0 };
        }
    }
}

/// A uniform number below `bound`, without bias: the high half of a 32 × 32 bit product, drawn
/// again in the rare case that the low half falls into the incomplete stretch (Lemire 2019, arXiv
/// 1805.10941).
fn below(bound: u32, random: &mut impl Rng) -> u32 {
    loop {
        let product = u64::from(random.next_u32()) * u64::from(bound);
        let low = product as u32;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 32) as u32;
        }
    }
}

/// Resamples that share one walk over the table: rows stay in cache for all of them.
const BLOCK: usize = 8;

/// Column totals of `resamples` draws of the units of `table`.
///
/// Cost: `0.63 × resamples × units × columns` multiply-adds; units are added in their order, so the
/// totals are the same bits on every machine.
///
/// # Errors
/// Fewer than two resamples; more than `u32::MAX` units.
pub fn totals(table: UnitTable<'_>, resamples: u32, seed: u64) -> Result<Totals, StatsError> {
    let units = table.units();
    if resamples < 2 {
        return Err(StatsError::TooFewReplicates { replicates: resamples as usize });
    }
    if u32::try_from(units).is_err() {
        return Err(StatsError::Overflow { what: "number of units" });
    }
    let columns = table.columns;
    let packed = Packed::new(table);
    let width = packed.members.len();
    let known = draws(units, resamples, seed);
    let mut values = vec![0.0; resamples as usize * columns];
    let mut sums = vec![0.0; BLOCK * width];
    let mut drawn = vec![0_u32; if known.is_some() { 0 } else { BLOCK * units }];
    for (block, totals) in values.chunks_mut(BLOCK * columns).enumerate() {
        let lanes = totals.len() / columns;
        let counts = match &known {
            Some(known) => &known[block * BLOCK * units..][..lanes * units],
            None => {
                for (lane, counts) in drawn.chunks_exact_mut(units).take(lanes).enumerate() {
                    multiplicities(seed, (block * BLOCK + lane) as u64, counts);
                }
                &drawn[..lanes * units]
            }
        };
        sums.fill(0.0);
        for (unit, row) in packed.values.chunks_exact(width).enumerate() {
            for (sum, counts) in sums.chunks_exact_mut(width).zip(counts.chunks_exact(units)) {
                let count = counts[unit];
                if count > 0 {
                    let count = f64::from(count);
                    for (sum, value) in sum.iter_mut().zip(row) {
                        *sum += count * value;
                    }
                }
            }
        }
        for (totals, sums) in totals.chunks_exact_mut(columns).zip(sums.chunks_exact(width)) {
            packed.unpack(sums, totals);
        }
    }
    Ok(Totals { values, columns })
}

/// Whole numbers up to here are exact.
const EXACT_BITS: u32 = 53;

/// Columns of whole numbers whose sums are small share a column, each in some bits of it: sums of
/// such a column are exact, and so are the parts.
struct Packed {
    /// `units × members.len()`, row-major.
    values: Vec<f64>,
    /// The columns that each of these holds, from its lowest bits on, with the bits of each; a
    /// column by itself has none.
    members: Vec<Vec<(usize, u32)>>,
}

impl Packed {
    fn new(table: UnitTable<'_>) -> Self {
        let UnitTable { values, columns } = table;
        let mut largest = vec![Some(0.0_f64); columns];
        for row in values.chunks_exact(columns) {
            for (largest, value) in largest.iter_mut().zip(row) {
                let whole = *value >= 0.0 && value.fract() == 0.0;
                *largest = largest.filter(|_| whole).map(|largest| largest.max(*value));
            }
        }
        let bits = |column: usize| {
            let most = largest[column]? * table.units() as f64;
            (most < f64::from(1 << 26)).then(|| u64::BITS - (most as u64).leading_zeros())
        };
        let mut members: Vec<Vec<(usize, u32)>> = Vec::new();
        let mut open: Vec<(usize, u32)> = Vec::new();
        for column in 0..columns {
            let Some(bits) = bits(column) else {
                members.push(vec![(column, 0)]);
                continue;
            };
            if open.iter().map(|(_, bits)| bits).sum::<u32>() + bits > EXACT_BITS {
                members.push(std::mem::take(&mut open));
            }
            open.push((column, bits));
        }
        members.extend((!open.is_empty()).then_some(open));
        let mut packed = Vec::with_capacity(table.units() * members.len());
        for row in values.chunks_exact(columns) {
            packed.extend(members.iter().map(|members| match members[..] {
                [(column, _)] => row[column],
                _ => {
                    let above = members.iter().rev();
                    above.fold(0, |sum, &(column, bits)| sum << bits | row[column] as u64) as f64
                }
            }));
        }
        Self { values: packed, members }
    }

    fn unpack(&self, sums: &[f64], totals: &mut [f64]) {
        for (members, sum) in self.members.iter().zip(sums) {
            if let [(column, _)] = members[..] {
                totals[column] = *sum;
                continue;
            }
            let mut rest = *sum as u64;
            for &(column, bits) in members {
                totals[column] = (rest & ((1 << bits) - 1)) as f64;
                rest >>= bits;
            }
        }
    }
}

/// Counts of all resamples together that are remembered, at most.
const REMEMBERED: usize = 1 << 22;

/// Draws that are remembered.
const SETS: usize = 4;

/// What a set of draws was drawn by: units, resamples, seed.
type Drawn = ((usize, u32, u64), Arc<Vec<u32>>);

/// How often each unit is drawn, resample after resample; `None` where they are too many to keep.
///
/// All models of a study are measured on the same units, so the last draws are remembered; what is
/// remembered is what would be drawn again.
fn draws(units: usize, resamples: u32, seed: u64) -> Option<Arc<Vec<u32>>> {
    static MEMORY: Mutex<VecDeque<Drawn>> = Mutex::new(VecDeque::new());
    let all = units.checked_mul(resamples as usize).filter(|all| *all <= REMEMBERED)?;
    let key = (units, resamples, seed);
    let find = |memory: &VecDeque<Drawn>| {
        memory.iter().find(|(known, _)| *known == key).map(|(_, drawn)| Arc::clone(drawn))
    };
    // Drawn with the door shut: those who wait want the same.
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = find(&memory) {
        return Some(known);
    }
    let mut counts = vec![0; all];
    for (resample, counts) in counts.chunks_exact_mut(units).enumerate() {
        multiplicities(seed, resample as u64, counts);
    }
    if memory.len() == SETS {
        memory.pop_front();
    }
    memory.push_back((key, Arc::new(counts)));
    find(&memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_those_of_each_column_by_itself() {
        // Whole numbers small and large, fractions, nothing at all: 60 units.
        let column = |at: usize, unit: usize| match at {
            0..9 => ((unit * 37 + at * 11) % 1000) as f64,
            9 => 1e15 + unit as f64,
            10 => 0.1 * unit as f64,
            11 => 0.0,
            12 => -1.0,
            _ => (unit * unit) as f64,
        };
        let table: Vec<f64> =
            (0..60).flat_map(|unit| (0..14).map(move |at| column(at, unit))).collect();
        let found = totals(UnitTable::new(&table, 14).unwrap(), 50, 9).unwrap();
        let mut counts = [0; 60];
        for (resample, row) in found.rows().enumerate() {
            multiplicities(9, resample as u64, &mut counts);
            for (at, total) in row.iter().enumerate() {
                let drawn = counts.iter().enumerate().filter(|(_, count)| **count > 0);
                let expected = drawn
                    .fold(0.0, |sum, (unit, count)| sum + f64::from(*count) * column(at, unit));
                assert_eq!(*total, expected, "column {at}");
            }
        }
    }

    #[test]
    fn a_resample_draws_as_many_units_as_there_are() {
        let mut counts = [0; 37];
        for resample in 0..100 {
            multiplicities(5, resample, &mut counts);
            assert_eq!(counts.iter().sum::<u32>(), 37);
        }
    }

    #[test]
    fn no_stratum_is_ever_lost() {
        let strata = [vec![0, 3, 6], vec![1, 2], vec![5]];
        let mut counts = [0; 8];
        let mut drawn = [0_u32; 8];
        for resample in 0..6_000 {
            multiplicities_within(&strata, 5, resample, &mut counts);
            for stratum in &strata {
                assert_eq!(
                    stratum.iter().map(|&unit| counts[unit]).sum::<u32>() as usize,
                    stratum.len()
                );
            }
            drawn.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        assert_eq!(
            (drawn[4], drawn[5], drawn[7]),
            (6_000, 6_000, 6_000),
            "alone, or in no stratum"
        );
        // Binomial with 6000 times 3 draws of 1/3 (or 2 of 1/2): four standard deviations are 253
        // (or 219).
        assert!([0, 3, 6].iter().all(|&unit| drawn[unit].abs_diff(6_000) < 253), "{drawn:?}");
        assert!([1, 2].iter().all(|&unit| drawn[unit].abs_diff(6_000) < 219), "{drawn:?}");
    }

    #[test]
    fn signs_are_even_and_repeatable() {
        let mut sum = 0.0;
        let mut drawn = [0.0; 41];
        for resample in 0..2_000 {
            signs(3, resample, &mut drawn);
            assert!(drawn.iter().all(|sign| sign.abs() == 1.0));
            sum += drawn.iter().sum::<f64>();
        }
        // 82 000 signs: four standard deviations are 1145.
        assert!(sum.abs() < 1145.0, "{sum}");
        let again = drawn;
        signs(3, 1_999, &mut drawn);
        assert_eq!(again, drawn);
    }

    #[test]
    fn every_unit_is_drawn_equally_often() {
        let mut counts = [0; 10];
        let mut drawn = [0_u32; 10];
        for resample in 0..20_000 {
            multiplicities(1, resample, &mut counts);
            drawn.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        // Chi-squared with 9 degrees of freedom: 27.9 is exceeded once in a thousand.
        let chi: f64 =
            drawn.iter().map(|&count| (f64::from(count) - 20_000.0).powi(2) / 20_000.0).sum();
        assert!(chi < 27.9, "{drawn:?}");
    }

    #[test]
    fn totals_equal_counts_times_rows_and_do_not_depend_on_how_many_are_drawn() {
        let rows: Vec<f64> = (0..7).flat_map(|i| [f64::from(i), 1.0]).collect();
        let table = UnitTable::new(&rows, 2).unwrap();
        let few = totals(table, 3, 9).unwrap();
        let many = totals(table, 21, 9).unwrap();
        assert_eq!(&many.values[..6], &few.values[..]);
        let mut counts = [0; 7];
        for (resample, row) in many.rows().enumerate() {
            multiplicities(9, resample as u64, &mut counts);
            let expected: u32 = counts.iter().zip(0..).map(|(count, i)| count * i).sum();
            assert_eq!(row, [f64::from(expected), 7.0]);
        }
        assert_ne!(totals(table, 3, 10).unwrap(), few);
    }

    #[test]
    fn tables_that_cannot_be_resampled_are_refused() {
        assert!(matches!(UnitTable::new(&[1.0], 1), Err(StatsError::TooFewUnits { units: 1 })));
        assert!(matches!(UnitTable::new(&[1.0], 0), Err(StatsError::TooFewUnits { units: 0 })));
        assert!(matches!(UnitTable::new(&[1.0; 5], 2), Err(StatsError::Lengths { .. })));
        assert!(matches!(
            UnitTable::new(&[1.0, f64::INFINITY], 1),
            Err(StatsError::NonFinite { index: 1, .. })
        ));
        let table = UnitTable::new(&[1.0, 2.0], 1).unwrap();
        assert!(totals(table, 1, 0).is_err());
    }
}
