//! The extrapolation audit: the larger models as fits to the smallest ones predict them.

use relscale_laws::{HeldOut, Law, PowerLaw};

use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Key, Line, Look, Panel, Point, Sample, Series, Style};

const NAME: &str = "audit";
const TITLE: &str = "Larger models predicted from smaller ones";

/// Most fits in a panel.
const MOST: usize = 6;

/// One law of one corpus with its audit.
struct Audited<'a> {
    corpus: &'a str,
    law: &'a Law,
    fit: &'a PowerLaw,
}

/// A row for the first rank law, one for the cross entropy.
pub(super) struct Audit<'a> {
    family: &'a str,
    rows: Vec<Vec<Audited<'a>>>,
}

impl<'a> Audit<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let audited = |corpus: &'a str, law: Option<&'a Law>| {
            let law = law?;
            let fit = law.fit().filter(|fit| fit.audit.iter().any(|step| !step.predictions.is_empty()))?;
            Some(Audited { corpus, law, fit })
        };
        let rank =
            family.groups.iter().filter_map(|(group, _)| audited(&group.corpus, group.rank_laws.first()));
        let entropy = family
            .groups
            .iter()
            .filter_map(|(group, _)| audited(&group.corpus, Some(&group.cross_entropy_law)));
        let rows: Vec<Vec<_>> =
            [rank.collect(), entropy.collect()].into_iter().filter(|row: &Vec<_>| !row.is_empty()).collect();
        if rows.is_empty() {
            let reason = "it needs at least four models with a point: three for a fit, one to predict";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { family: family.name, rows })
    }

    fn all(&self) -> impl Iterator<Item = &Audited<'a>> {
        self.rows.iter().flatten()
    }

    /// The m that are drawn, ascending: all, or some from the first to the last where there are too many to tell apart. The
    /// table has all of them.
    fn drawn(&self) -> Vec<u32> {
        let mut fitted: Vec<u32> =
            self.all().flat_map(|audited| audited.fit.audit.iter().map(|step| step.fitted_points)).collect();
        fitted.sort_unstable();
        fitted.dedup();
        thinned(&fitted)
    }
}

/// All, or [`MOST`] of them from the first to the last.
fn thinned(fitted: &[u32]) -> Vec<u32> {
    let last = fitted.len().saturating_sub(1);
    if last < MOST {
        return fitted.to_vec();
    }
    (0..MOST).map(|at| fitted[at * last / (MOST - 1)]).collect()
}

/// The relative error of a prediction, with its interval, in per cent of what was measured.
fn error(held: &HeldOut) -> (f64, Option<(f64, f64)>) {
    let percent = |predicted: f64| 100.0 * (predicted / held.observed - 1.0);
    let bounds = held.predicted.bounds().map(|(low, high)| (percent(low), percent(high)));
    (100.0 * held.relative_error, bounds)
}

impl Audited<'_> {
    fn series(&self, fitted: &[u32]) -> Vec<Series> {
        self.fit
            .audit
            .iter()
            .filter_map(|step| Some((step, fitted.iter().position(|m| *m == step.fitted_points)?)))
            .map(|(step, at)| {
                let points = step.predictions.iter().map(|held| {
                    let (error, bar) = error(held);
                    let tip = format!(
                        "{} on {}\nfrom the {} smallest models: {}\nmeasured: {}",
                        held.label,
                        self.corpus,
                        step.fitted_points,
                        format::estimate(&held.predicted),
                        format::significant(held.observed),
                    );
                    let look = if held.covered == Some(false) { Look::Hollow } else { Look::Filled };
                    Point { bar, look, ..Point::of(held.x, error, tip) }
                });
                Series::joined(Style::step(at, fitted.len()), self.corpus, points.collect())
            })
            .collect()
    }

    fn symbol(&self) -> String {
        self.law.k().map_or("CE".to_owned(), format::rank_symbol)
    }
}

impl Figure for Audit<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .all()
            .filter_map(|audited| {
                let held = || audited.fit.audit.iter().flat_map(|step| &step.predictions);
                let judged = held().filter_map(|held| held.covered);
                let (inside, all) =
                    judged.fold((0, 0), |(inside, all), covered| (inside + u32::from(covered), all + 1));
                let farthest = audited.fit.audit.first()?.predictions.last()?;
                Some(format!(
                    "{} on {}: {inside} of {all} inside; the largest from the {} smallest, off by {} %",
                    audited.symbol(),
                    audited.corpus,
                    audited.fit.audit.first()?.fitted_points,
                    format::fixed(error(farthest).0, 1),
                ))
            })
            .collect();
        format!(
            "For each m, the law fitted to the m smallest models predicts all larger ones: by how much the prediction is off, \
             with its interval (Student t, of one new model). Hollow marks: the measured value, at 0, lies outside. Early \
             fits are uncertain and later ones should not be further off. Seen: {}.",
            seen.join("; ")
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for audited in self.all() {
            for step in &audited.fit.audit {
                for held in &step.predictions {
                    let bounds = held.predicted.bounds();
                    rows.push(vec![
                        Cell::text(self.family),
                        Cell::text(audited.corpus),
                        Cell::Text(audited.law.quantity.symbol()),
                        Cell::Count(u64::from(step.fitted_points)),
                        Cell::Number(step.exponent),
                        Cell::text(&held.label),
                        Cell::Count(held.x as u64),
                        Cell::Number(held.observed),
                        Cell::Number(held.predicted.value),
                        bounds.map(|(low, _)| low).into(),
                        bounds.map(|(_, high)| high).into(),
                        Cell::Number(held.relative_error),
                        held.covered.map_or(Cell::Empty, Cell::Flag),
                    ]);
                }
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "quantity",
                "fitted_models",
                "exponent",
                "model",
                "non_embedding_parameters",
                "observed",
                "predicted",
                "low",
                "high",
                "relative_error",
                "covered",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let fitted = self.drawn();
        let panel = |audited: &Audited<'_>| {
            let series = audited.series(&fitted);
            let points = || series.iter().flat_map(|series| &series.points);
            // Three models give an interval with one degree of freedom: its ends leave the axes.
            let most = points().map(|point| point.y.abs()).fold(0.0, f64::max);
            let ends = points().flat_map(|point| point.bar.map_or([point.y, point.y], <[f64; 2]>::from));
            let heights: Vec<f64> = ends.map(|end| end.clamp(-4.0 * most, 4.0 * most)).chain([0.0]).collect();
            // Room for marks that are set beside each other at the ends.
            let x = Axis::sizes(points().map(|point| point.x));
            let span = x.span();
            Panel {
                heading: format!("{}, {}", audited.symbol(), format::shortened(audited.corpus, 24)),
                guides: vec![Guide::Level { at: 0.0, text: String::new(), end: End::Left }],
                series,
                ..Panel::of(
                    x.widened(1.1 * span),
                    Axis::linear("predicted / measured − 1, %".to_owned(), heights),
                    220.0,
                )
            }
        };
        let keys = fitted.iter().enumerate().map(|(at, m)| {
            let style = Style::step(at, fitted.len());
            Key {
                style,
                sample: Sample::Series(Line::Solid, style.mark()),
                text: format!("from the {m} smallest"),
            }
        });
        Drawing {
            title: self.title(),
            legend: keys.collect(),
            rows: self.rows.iter().map(|row| row.iter().map(panel).collect()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::thinned;

    #[test]
    fn of_many_fits_the_first_the_last_and_some_between_are_drawn() {
        assert_eq!(thinned(&[3, 4, 5, 6]), [3, 4, 5, 6]);
        assert_eq!(thinned(&(3..=22).collect::<Vec<_>>()), [3, 6, 10, 14, 18, 22]);
        assert!(thinned(&[]).is_empty());
    }
}
