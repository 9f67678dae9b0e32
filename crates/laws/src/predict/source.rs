//! Which law answers a question.

use relscale_stats::interval::open_form::OpenForm;

use crate::line::Fit;
use crate::result::{Basis, Estimate, Flag, FlagCode, GroupFit, Law, Predicted};
use crate::series;

/// A law, and how its quantity L becomes what was asked for.
pub(crate) struct Source<'a> {
    pub(crate) law: &'a Law,
    pub(crate) basis: Basis,
    /// The line through the law's points.
    pub(crate) fit: Fit,
    /// The same points with the form left open.
    pub(crate) open: OpenForm,
    /// S of the points.
    pub(crate) sizes: Vec<f64>,
    /// L of the points.
    pub(crate) values: Vec<f64>,
    /// N where tokens are taken to be independent, else 1.
    factor: f64,
    /// Whether the quantity is `exp(-factor L)`; else it is L.
    chance: bool,
    /// What must be said of this choice of law.
    pub(crate) flags: Vec<Flag>,
}

impl<'a> Source<'a> {
    /// The law that answers.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) fn from_group(group: &'a GroupFit, quantity: Predicted) -> Result<Self, String> {
        match quantity {
            Predicted::Rbp { k } => Self::new(rank_law(group, k)?, Basis::Law, 1.0, true),
            Predicted::CrossEntropy => Self::new(&group.cross_entropy_law, Basis::Law, 1.0, false),
            Predicted::Sequence { length, k } => match counted(group, length, k) {
                Ok(law) => Self::new(law, Basis::CountedWindows, 1.0, true),
                Err(reason) => {
                    let mut source = Self::independent(group, length, k)?;
                    source.flags.insert(
                        0,
                        Flag::new(
                            FlagCode::Independence,
                            format!(
                                "{reason}: RBP_{k}^{length} is used, as if tokens were independent, which understates the \
                                 chance where hits cluster"
                            ),
                        ),
                    );
                    Ok(source)
                }
            },
        }
    }

    /// `RBP_k^N` of the law of single tokens.
    ///
    /// # Errors
    /// There is no such law.
    pub(crate) fn independent(group: &'a GroupFit, length: u32, k: u32) -> Result<Self, String> {
        Self::new(rank_law(group, k)?, Basis::Independence, f64::from(length), true)
    }

    fn new(law: &'a Law, basis: Basis, factor: f64, chance: bool) -> Result<Self, String> {
        let (sizes, values) = series::numbers(&law.points);
        let no_law = || law.verdict.trim_end_matches('.').to_owned();
        let fit = Fit::new(&sizes, &values, law.text.as_ref());
        let fit = fit.ok().filter(|_| law.fit().is_some()).ok_or_else(no_law)?;
        let shared = law.text.as_ref().and_then(crate::result::TextNoise::shared);
        let open = OpenForm::fit(&sizes, &values, shared.as_ref()).map_err(|_| no_law())?;
        // What makes the line itself doubtful; doubts about single points stay with the law.
        let grave = [
            FlagCode::FewMisses,
            FlagCode::FewHits,
            FlagCode::NotFalling,
            FlagCode::NoInterval,
            FlagCode::LackOfFit,
        ];
        let flags = law.flags.iter().filter(|flag| grave.contains(&flag.code)).cloned().collect();
        Ok(Self { law, basis, fit, open, sizes, values, factor, chance, flags })
    }

    /// What was asked for, from L.
    pub(crate) fn reading(&self, level: f64) -> f64 {
        if self.chance { (-self.factor * level).exp() } else { level }
    }

    /// L, from what was asked for.
    pub(crate) fn level_of(&self, value: f64) -> f64 {
        if self.chance { -value.ln() / self.factor } else { value }
    }

    /// An estimate of L as one of what was asked for: its error to first order, its ends in order.
    pub(crate) fn read(&self, estimate: Estimate, unit: &str) -> Estimate {
        let slope = if self.chance { self.factor * self.reading(estimate.value) } else { 1.0 };
        let mut interval = estimate.interval;
        let turned = self.chance;
        if let Some((low, high)) = interval.bounds().filter(|_| turned) {
            // A chance falls where L rises.
            interval.each_end(|end| self.reading(if end == low { high } else { low }));
        }
        Estimate {
            value: self.reading(estimate.value),
            unit: unit.to_owned(),
            standard_error: estimate
                .standard_error
                .map(|error| slope * error)
                .filter(|error| error.is_finite()),
            interval,
        }
    }
}

fn rank_law(group: &GroupFit, k: u32) -> Result<&Law, String> {
    group.rank_law(k).ok_or_else(|| {
        let fitted: Vec<String> =
            group.rank_laws.iter().filter_map(Law::k).map(|k| k.to_string()).collect();
        format!("k = {k} was not fitted; fitted are {}", fitted.join(", "))
    })
}

/// The law of counted windows, when it may be claimed.
fn counted(group: &GroupFit, length: u32, k: u32) -> Result<&Law, String> {
    let at_k = group.emergence.as_ref().and_then(|emergence| emergence.at(k));
    let found = at_k.and_then(|at| at.lengths.iter().find(|windows| windows.length == length));
    let Some(found) = found else {
        return Err(format!(
            "windows of {length} tokens at k = {k} were not counted (`relscale fit --emergence-k {k} --emergence-n {length}` does)"
        ));
    };
    match found.law.fit() {
        Some(fit) if fit.claimed => Ok(&found.law),
        _ => Err(format!(
            "counted windows give no law ({})",
            found.law.verdict.trim_end_matches('.')
        )),
    }
}
