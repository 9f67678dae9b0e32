//! The slopes against a number that each distribution has: does the gap close faster where there is
//! more of something?
//!
//! Each slope is `beta_baseline - beta_treatment`, so an error of the baseline's slope is common to
//! all and does not touch a correlation. Errors of the treatments' own slopes weaken it: a true
//! relation is at least as strong as it is found.

use std::path::{Path, PathBuf};

use relscale_stats::StatsError;
use relscale_stats::correlation::{Correlation, pearson, spearman};

use super::verdicts;
use crate::error::LawsError;
use crate::result::{
    CorrelationEstimate, CovariateLink, CovariatePair, Estimate, Gap, Interval, LeftOut,
};
use crate::tables::{TableError, rows_of};

/// A number for each of some distributions.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariates {
    path: PathBuf,
    column: String,
    values: Vec<(String, f64)>,
}

impl Covariates {
    /// Reads a table (.csv, .tsv, .jsonl, .parquet): column `key` names the distribution, column
    /// `value` is its number. A row without a number says that it is not known.
    ///
    /// # Errors
    /// [`LawsError::Table`]: a file that cannot be read, a column that is not there, a value that
    /// is no number, a distribution that is there twice.
    pub fn read(path: &Path, key: &str, value: &str) -> Result<Self, LawsError> {
        let rows = rows_of(path, |name| name == key || name == value)?;
        let (key_at, value_at) = (rows.column(key)?, rows.column(value)?);
        let mut values: Vec<(String, f64)> = Vec::new();
        for row in &rows.rows {
            let name = rows.name(row, key_at)?;
            let number = match rows.number(row, value_at) {
                Ok(number) => number,
                Err(TableError::Missing { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            if values.iter().any(|(there, _)| *there == name) {
                return Err(rows.refuse(row, key_at, "a name that no earlier row has").into());
            }
            values.push((name, number));
        }
        Ok(Self { path: path.to_owned(), column: value.to_owned(), values })
    }

    /// The file, as it was named.
    pub(super) fn file(&self) -> String {
        self.path.display().to_string()
    }

    fn value(&self, distribution: &str) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == distribution).map(|(_, value)| *value)
    }
}

/// Joins the slopes of all gaps with their covariates.
pub(super) fn link(table: &Covariates, gaps: &[Gap], level: f64) -> CovariateLink {
    let mut pairs = Vec::new();
    let mut left_out = Vec::new();
    for gap in gaps {
        let reason = match (gap.fit(), table.value(&gap.name)) {
            (Some(law), Some(covariate)) => {
                let treatment = gap.name.clone();
                pairs.push(CovariatePair {
                    treatment,
                    covariate,
                    delta_beta: law.delta_beta.value,
                });
                continue;
            }
            (None, _) => "it has no slope".to_owned(),
            (_, None) => format!("no row of {} has a number for it", table.file()),
        };
        left_out.push(LeftOut::new(gap.name.clone(), reason));
    }
    let x: Vec<f64> = pairs.iter().map(|pair| pair.covariate).collect();
    let y: Vec<f64> = pairs.iter().map(|pair| pair.delta_beta).collect();
    let (straight, ranked) = (pearson(&x, &y, level), spearman(&x, &y, level));
    CovariateLink {
        column: table.column.clone(),
        verdict: sentence(&table.column, straight.as_ref(), ranked.as_ref().ok(), level),
        pearson: straight.ok().map(|found| estimate(found, level)),
        spearman: ranked.ok().map(|found| estimate(found, level)),
        pairs,
        left_out,
    }
}

fn estimate(found: Correlation, level: f64) -> CorrelationEstimate {
    let interval = match found.interval {
        Some((low, high)) => Interval::FisherZ { low, high, level, pairs: found.pairs as u32 },
        None => Interval::None {
            reason: if found.pairs < 4 {
                "three pairs have no interval"
            } else {
                "a perfect correlation has none"
            }
            .to_owned(),
        },
    };
    CorrelationEstimate {
        estimate: Estimate {
            value: found.value,
            unit: "1".to_owned(),
            standard_error: None,
            interval,
        },
        p_value: found.p_value,
    }
}

fn sentence(
    column: &str,
    straight: Result<&Correlation, &StatsError>,
    ranked: Option<&Correlation>,
    level: f64,
) -> String {
    let described = |found: &Correlation| {
        let ends = found.interval.map_or("no interval".to_owned(), |(low, high)| {
            format!("in [{low:+.2}, {high:+.2}] at {} %", 100.0 * level)
        });
        format!("{:+.2} ({ends}; p = {})", found.value, verdicts::q(found.p_value))
    };
    match straight {
        Err(refusal) => format!("No correlation of delta_beta with {column}: {refusal}."),
        Ok(found) => format!(
            "Over {} distributions delta_beta and {column} have Pearson's r {}{}.",
            found.pairs,
            described(found),
            ranked
                .map_or(String::new(), |ranked| format!(", Spearman's rho {}", described(ranked)))
        ),
    }
}
