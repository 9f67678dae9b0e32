//! Misses by class of token: which tokens hold the tail at each k.
//!
//! Models of a family are added up: at large k each has few misses, and they are much the same
//! tokens.

use relscale_records::TokenClass;
use relscale_records::classes::ClassTally;
use relscale_stats::bootstrap::{Sample, Totals, UnitTable, totals};

use crate::intervals::percentiles;
use crate::options::FitOptions;
use crate::result::{ClassMisses, ClassReport, ClassShare, Estimate, MissesByClass};
use crate::table::Group;

/// Lift from which a class is said to hold the tail, and the share of misses that it must have.
/// Where the lift's interval reaches down to 1, the misses may be those of a few documents, and the
/// class is not named.
const NAMED: (f64, f64) = (2.0, 0.05);

/// The report, or nothing where rows were not streamed, or models were told apart by other classes.
pub(crate) fn report(group: &Group<'_>, options: &FitOptions) -> Option<ClassReport> {
    let tallies: Vec<&ClassTally> =
        group.runs.iter().map(|run| run.tally.classes.as_ref()).collect::<Option<_>>()?;
    let basis = tallies.first()?.basis;
    if tallies.iter().any(|tally| tally.basis != basis) {
        return None;
    }
    let at: Vec<Vec<usize>> = group
        .k
        .iter()
        .map(|k| tallies.iter().map(|tally| tally.k.binary_search(k).ok()).collect())
        .collect::<Option<_>>()?;
    let table = ClassCounts::new(&tallies, &at)?;
    let resampled = table.resampled(options);
    let all = table.total(0);
    if all == 0.0 {
        return None;
    }
    let classes = table.classes.iter().enumerate().map(|(column, &class)| {
        let tokens = table.of_class(0, column);
        ClassShare { class, tokens: tokens as u64, share: tokens / all }
    });
    let classes: Vec<ClassShare> = classes.collect();
    let by_k: Vec<MissesByClass> = group
        .k
        .iter()
        .enumerate()
        .filter(|(block, _)| table.total(1 + block) > 0.0)
        .map(|(block, &k)| MissesByClass {
            k,
            misses: table.total(1 + block) as u64,
            classes: classes
                .iter()
                .enumerate()
                .map(|(column, class)| ClassMisses {
                    class: class.class,
                    by_model: by_model(&tallies, &at[block], class.class),
                    share: table.estimate(&resampled, options.level, |totals| {
                        totals.of_class(1 + block, column) / totals.total(1 + block)
                    }),
                    lift: table.estimate(&resampled, options.level, |totals| {
                        let share = totals.of_class(1 + block, column) / totals.total(1 + block);
                        share / (totals.of_class(0, column) / totals.total(0))
                    }),
                })
                .collect(),
        })
        .collect();
    let note = (!basis.vocabulary).then(|| {
        "the study holds no vocabulary of this tokenizer, so tokens are classed by frequency alone; measuring \
         again with the same command adds it"
            .to_owned()
    });
    let verdict = verdict(&classes, &by_k, options.minimum_count);
    Some(ClassReport { text_tokens: basis.tokens, note, classes, by_k, verdict })
}

fn by_model(tallies: &[&ClassTally], at: &[usize], class: TokenClass) -> Vec<u64> {
    let misses = |(tally, &at): (&&ClassTally, &usize)| {
        tally.documents.iter().map(|document| u64::from(document.misses[at][class as usize])).sum()
    };
    tallies.iter().zip(at).map(misses).collect()
}

/// Counts of all models together, a row a document: a block of classes for the positions, then one
/// for the misses at each k.
struct ClassCounts {
    classes: Vec<TokenClass>,
    rows: Vec<f64>,
    totals: Vec<f64>,
}

/// One row of sums, over all documents or a resample of them.
#[derive(Clone, Copy)]
struct Sums<'a> {
    row: &'a [f64],
    classes: usize,
}

impl Sums<'_> {
    fn of_class(&self, block: usize, column: usize) -> f64 {
        self.row[block * self.classes + column]
    }

    fn total(&self, block: usize) -> f64 {
        self.row[block * self.classes..][..self.classes].iter().sum()
    }
}

impl ClassCounts {
    /// `at[k][model]`: where the model's tally has that k.
    fn new(tallies: &[&ClassTally], at: &[Vec<usize>]) -> Option<Self> {
        let occurs = |class: &TokenClass| {
            let mut documents = tallies.iter().flat_map(|tally| &tally.documents);
            documents.any(|document| document.tokens[*class as usize] > 0)
        };
        let classes: Vec<TokenClass> = TokenClass::ALL.into_iter().filter(occurs).collect();
        let width = (1 + at.len()) * classes.len();
        let documents = tallies.first()?.documents.len();
        // The guard compared the documents of the runs; these are of the same ones.
        if width == 0 || tallies.iter().any(|tally| tally.documents.len() != documents) {
            return None;
        }
        let mut rows = vec![0.0; documents * width];
        for (model, tally) in tallies.iter().enumerate() {
            for (row, document) in rows.chunks_exact_mut(width).zip(&tally.documents) {
                let misses = at.iter().map(|at| &document.misses[at[model]]);
                let blocks = std::iter::once(&document.tokens).chain(misses);
                for (block, counts) in row.chunks_exact_mut(classes.len()).zip(blocks) {
                    for (sum, &class) in block.iter_mut().zip(&classes) {
                        *sum += f64::from(counts[class as usize]);
                    }
                }
            }
        }
        let mut totals = vec![0.0; width];
        for row in rows.chunks_exact(width) {
            totals.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        Some(Self { classes, rows, totals })
    }

    fn sums<'a>(&self, row: &'a [f64]) -> Sums<'a> {
        Sums { row, classes: self.classes.len() }
    }

    fn of_class(&self, block: usize, column: usize) -> f64 {
        self.sums(&self.totals).of_class(block, column)
    }

    fn total(&self, block: usize) -> f64 {
        self.sums(&self.totals).total(block)
    }

    fn resampled(&self, options: &FitOptions) -> Result<Totals, String> {
        UnitTable::new(&self.rows, self.totals.len())
            .and_then(|table| totals(table, options.resamples, options.seed))
            .map_err(|refusal| format!("no error from the text sample: {refusal}"))
    }

    /// A statistic of the sums with its spread over resampled documents.
    fn estimate(
        &self,
        resampled: &Result<Totals, String>,
        level: f64,
        statistic: impl Fn(Sums<'_>) -> f64,
    ) -> Estimate {
        let sample = match resampled {
            Ok(totals) => Ok(Sample::new(totals.rows().map(|row| statistic(self.sums(row))))),
            Err(reason) => Err(reason.as_str()),
        };
        Estimate {
            value: statistic(self.sums(&self.totals)),
            unit: "1".to_owned(),
            standard_error: sample.as_ref().ok().and_then(|sample| sample.standard_error().ok()),
            interval: percentiles(&sample, level),
        }
    }
}

/// The classes that miss more often than others at the largest k with enough misses.
fn verdict(classes: &[ClassShare], by_k: &[MissesByClass], minimum: u64) -> String {
    let Some(tail) = by_k.iter().rev().find(|tail| tail.misses >= minimum) else {
        return format!("No k has {minimum} misses to tell classes of tokens by.");
    };
    let mut named: Vec<(&ClassMisses, &ClassShare)> = tail
        .classes
        .iter()
        .zip(classes)
        .filter(|(misses, _)| {
            let known = misses.lift.bounds().is_none_or(|(low, _)| low > 1.0);
            known && misses.lift.value >= NAMED.0 && misses.share.value >= NAMED.1
        })
        .collect();
    named.sort_by(|a, b| b.0.share.value.total_cmp(&a.0.share.value));
    let list: Vec<String> = named
        .into_iter()
        .map(|(misses, class)| {
            format!(
                "{} have {} of them but {} of the text ({:.1} times as often)",
                name(class.class),
                percent(misses.share.value),
                percent(class.share),
                misses.lift.value
            )
        })
        .collect();
    let at = format!("Of {} misses at k = {}, all models together,", tail.misses, tail.k);
    match list.as_slice() {
        [] => format!("{at} no class of tokens is known to have twice its share."),
        list => format!("{at} {}.", list.join("; ")),
    }
}

/// At least two digits, so that a small share is not told as none.
fn percent(share: f64) -> String {
    if share < 0.01 { format!("{:.2} %", 100.0 * share) } else { format!("{:.0} %", 100.0 * share) }
}

fn name(class: TokenClass) -> &'static str {
    match class {
        TokenClass::PaddingRow => "rows without a token",
        TokenClass::Special => "special tokens",
        TokenClass::Byte => "pieces of characters",
        TokenClass::Frequent => "frequent tokens (1 in 100 or more)",
        TokenClass::Common => "common tokens (1 in 1000 or more)",
        TokenClass::Uncommon => "uncommon tokens (1 in 10 000 or more)",
        TokenClass::Rare => "rare tokens (1 in 100 000 or more)",
        TokenClass::Rarest => "the rarest tokens (fewer than 1 in 100 000)",
        _ => "other tokens",
    }
}
