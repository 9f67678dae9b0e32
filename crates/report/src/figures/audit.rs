//! The extrapolation audit: the larger models as fits to the smallest ones predict them.

use relscale_laws::{AuditStep, HeldOut, Law, PowerLaw};

use super::curve::{self, S};
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, End, Guide, Key, Look, Marks, Num, Panel, Series, Style};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "audit", title: "Larger models predicted from smaller ones", make };

/// Most fits in a panel.
const MOST: usize = 6;

/// One law of one corpus with its audit.
#[derive(Clone, Copy)]
struct Audited<'a> {
    corpus: &'a str,
    law: &'a Law,
    fit: &'a PowerLaw,
}

/// A row for the first rank law, one for the cross entropy.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let audited = |corpus: &'a str, law: Option<&'a Law>| {
        let law = law?;
        let fit =
            law.fit().filter(|fit| fit.audit.iter().any(|step| !step.predictions.is_empty()))?;
        Some(Audited { corpus, law, fit })
    };
    let groups = || family.groups.iter();
    let rank = groups().filter_map(|(group, _)| audited(&group.corpus, group.rank_laws.first()));
    let entropy =
        groups().filter_map(|(group, _)| audited(&group.corpus, Some(&group.cross_entropy_law)));
    let mut rows: Vec<Vec<Audited<'a>>> = vec![rank.collect(), entropy.collect()];
    rows.retain(|row| !row.is_empty());
    if rows.is_empty() {
        return Err("it needs at least four models with a point: three for a fit, one to predict"
            .to_owned());
    }
    let values = rows.iter().flatten().filter_map(Audited::coverage);
    let head = ["corpus", "law", "inside", "the largest predicted from", "off by"];
    let values = Values::new(head, values);
    let caption = String::from(
        "For each m, the law fitted to the m smallest models predicts all larger ones: by how much the prediction is off, \
         with its interval (Student t, of one new model). Hollow marks: the measured value, at 0, lies outside. Early \
         fits are uncertain and later ones should not be further off.",
    );
    Ok(Figure::new(
        FIGURE.title,
        caption,
        numbers(family.name, rows.iter().flatten()),
        move |frame| {
            let all = frame.rows();
            let mut fitted = all.numbers("fitted_models");
            fitted.sort_by(f64::total_cmp);
            fitted.dedup();
            let fitted = thinned(&fitted);
            let keys = fitted.iter().enumerate().map(|(at, m)| {
                Key::series(Style::step(at, fitted.len()), format!("from the {m} smallest"))
            });
            let panels = rows
                .iter()
                .map(|row| row.iter().map(|audited| audited.panel(&all, &fitted)).collect());
            Drawing::new(keys.collect(), panels.collect())
        },
    )
    .with(values))
}

/// All, or [`MOST`] of them from the first to the last where there are too many to tell apart. The
/// table has all.
fn thinned<T: Copy>(fitted: &[T]) -> Vec<T> {
    let last = fitted.len().saturating_sub(1);
    if last < MOST {
        return fitted.to_vec();
    }
    (0..MOST).map(|at| fitted[at * last / (MOST - 1)]).collect()
}

fn numbers<'c, 'a: 'c>(family: &str, all: impl Iterator<Item = &'c Audited<'a>>) -> Frame {
    let steps = all.flat_map(|audited| audited.fit.audit.iter().map(move |step| (*audited, step)));
    let rows = steps
        .flat_map(|(audited, step)| step.predictions.iter().map(move |held| (audited, step, held)));
    Frame::from_rows::<(Audited<'a>, &'a AuditStep, &'a HeldOut)>(rows)
        .column("family", |_| family)
        .column("corpus", |(audited, ..)| audited.corpus)
        .column("quantity", |(audited, ..)| audited.law.quantity.symbol())
        .column("fitted_models", |(_, step, _)| step.fitted_points)
        .column("exponent", |(_, step, _)| step.exponent)
        .column("model", |(.., held)| &held.label)
        .column(S, |(.., held)| held.x as u64)
        .column("observed", |(.., held)| held.observed)
        .column("predicted", |(.., held)| held.predicted.value)
        .ends(["low", "high"], |(.., held)| held.predicted.bounds())
        .column("relative_error", |(.., held)| held.relative_error)
        .column("covered", |(.., held)| held.covered)
        .frame()
}

fn tip(row: FrameRow<'_>) -> String {
    format!(
        "{} on {}\nfrom the {} smallest models: {}\nmeasured: {}",
        row.text("model"),
        row.text("corpus"),
        row.plain("fitted_models"),
        row.estimate(["predicted", "low", "high"]),
        row.significant("observed"),
    )
}

impl Audited<'_> {
    fn coverage(&self) -> Option<[String; 5]> {
        let held = self.fit.audit.iter().flat_map(|step| &step.predictions);
        let judged: Vec<bool> = held.filter_map(|held| held.covered).collect();
        let inside = judged.iter().filter(|covered| **covered).count();
        let first = self.fit.audit.first()?;
        Some([
            self.corpus.to_owned(),
            curve::symbol(self.law),
            format!("{inside} of {}", judged.len()),
            format!("the {} smallest", first.fitted_points),
            format!("{} %", format::fixed(100.0 * first.predictions.last()?.relative_error, 1)),
        ])
    }

    /// Relative errors of predictions with their intervals, in per cent of what was measured.
    fn panel(&self, rows: &Rows<'_>, fitted: &[f64]) -> Panel {
        let rows =
            rows.matching("corpus", self.corpus).matching("quantity", &self.law.quantity.symbol());
        let error = || Num::made(["relative_error"], |[error]| 100.0 * error);
        let end =
            |end| Num::made([end, "observed"], |[end, observed]| 100.0 * (end / observed - 1.0));
        let look =
            |row: FrameRow<'_>| if row.denied("covered") { Look::Hollow } else { Look::Filled };
        let series = fitted.iter().enumerate().map(|(at, m)| {
            let rows = rows.only(|row| row.number("fitted_models") == Some(*m));
            let marks = Marks::at(&rows, S, error(), tip).error(end("low"), end("high")).look(look);
            Series::new(Style::step(at, fitted.len()), self.corpus).joined(marks)
        });
        let series: Vec<Series> = series.filter(|series| !series.is_bare()).collect();
        // Three models give an interval with one degree of freedom: its ends leave the axes.
        let most = 4.0 * series.iter().flat_map(Series::marked).map(f64::abs).fold(0.0, f64::max);
        let heights =
            series.iter().flat_map(Series::heights).map(|height| height.clamp(-most, most));
        let y = Axis::linear("predicted / measured − 1, %").closed(heights).holding([0.0]);
        let corpus = format::shortened(self.corpus, 24);
        Panel {
            heading: format!("{}, {corpus}", curve::symbol(self.law)),
            guides: vec![Guide::level(0.0, "", End::Left)],
            // Room for marks that are set beside each other at the ends.
            ..Panel::new(Axis::sizes().stretched(1.1), y, 220.0, series)
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
        assert!(thinned::<u32>(&[]).is_empty());
    }
}
