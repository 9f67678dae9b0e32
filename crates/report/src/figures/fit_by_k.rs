//! R² against k (fig. 6a of the paper): up to which k a power law describes the family.

use relscale_laws::PowerLaw;

use super::by_k::{self, FitsByK};
use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Look, Panel, Point, Series};

const NAME: &str = "fit-by-k";
const TITLE: &str = "R² of the rank law against k";

/// R² of each rank law of three models or more.
pub(super) struct FitByK<'a> {
    corpora: Vec<FitsByK<'a>>,
}

/// What the paper reports for k below 1000.
const PAPER: f64 = 0.9;

impl<'a> FitByK<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        // Two points lie on their line whatever they are.
        let corpora = FitsByK::of(family, |fit| fit.points > 2 && fit.r_squared.is_some());
        if by_k::grid(&corpora).len() < 2 {
            let reason = "it needs laws of three models or more at two k or more";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { corpora })
    }
}

impl Figure for FitByK<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        // Corpora by the largest k up to which every fit is good.
        let mut ends: Vec<(Option<u32>, Vec<String>)> = Vec::new();
        for corpus in &self.corpora {
            let good = |fit: &PowerLaw| fit.claimed && fit.r_squared.is_some_and(|r| r > PAPER);
            let end = corpus.fits.iter().take_while(|(_, fit)| good(fit)).last().map(|(k, _)| *k);
            let name = corpus.corpus.to_owned();
            match ends.iter_mut().find(|(known, _)| *known == end) {
                Some((_, corpora)) => corpora.push(name),
                None => ends.push((end, vec![name])),
            }
        }
        let seen: Vec<String> = ends
            .iter()
            .map(|(end, corpora)| match end {
                Some(k) => {
                    let k = format::count(u64::from(*k));
                    format!(
                        "a slope is claimed with R² above {PAPER} up to k = {k} on {}",
                        format::list(corpora)
                    )
                }
                None => format!("no slope with R² above {PAPER} at the first k on {}", format::list(corpora)),
            })
            .collect();
        let hollow = self.corpora.iter().any(|corpus| corpus.fits.iter().any(|(_, fit)| !fit.claimed));
        format!(
            "The share of the variance of ln(−ln RBP) over models that the fitted line explains: 1 is a perfect power law. \
             The paper reports more than {PAPER} for k below 1000.{} Seen: {}.",
            if hollow { " Hollow marks: too few misses or hits to claim a slope." } else { "" },
            seen.join("; ")
        )
    }

    fn numbers(&self) -> Table {
        let rows = self.corpora.iter().flat_map(|corpus| {
            corpus.fits.iter().map(|(k, fit)| {
                vec![
                    Cell::text(corpus.family),
                    Cell::text(corpus.corpus),
                    Cell::Count(u64::from(*k)),
                    fit.r_squared.into(),
                    Cell::Count(u64::from(fit.points)),
                    Cell::Flag(fit.claimed),
                ]
            })
        });
        Table {
            header: &["family", "corpus", "k", "r_squared", "models", "slope_claimed"],
            rows: rows.collect(),
        }
    }

    fn drawing(&self) -> Drawing {
        let series: Vec<Series> = self
            .corpora
            .iter()
            .map(|corpus| {
                let points: Vec<Point> = corpus
                    .fits
                    .iter()
                    .filter_map(|(k, fit)| {
                        let tip =
                            format!("{}\nk = {k}\nR² {}", corpus.corpus, format::r_squared(fit.r_squared));
                        let look = Look::claimed(fit.claimed);
                        Some(Point { look, ..Point::of(f64::from(*k), fit.r_squared?, tip) })
                    })
                    .collect();
                let label = vec![corpus.corpus.to_owned()];
                Series { label, ..Series::joined(corpus.style, corpus.corpus, points) }
            })
            .collect();
        let heights: Vec<f64> =
            series.iter().flat_map(|series| series.points.iter().map(|point| point.y)).chain([1.0]).collect();
        // The yardstick only where it does not squeeze what there is to see.
        let near = heights.iter().any(|&r| r < PAPER + 0.03);
        let guides = if near {
            vec![Guide::Level {
                at: PAPER,
                text: format!("{PAPER}, the paper's bound for k < 1000"),
                end: End::Left,
            }]
        } else {
            Vec::new()
        };
        let x = Axis::grid(&by_k::grid(&self.corpora));
        let y =
            Axis::linear("R² (log-log)".to_owned(), heights.into_iter().chain(near.then_some(PAPER - 0.015)));
        Drawing {
            title: self.title(),
            legend: Vec::new(),
            rows: vec![vec![Panel { guides, series, ..Panel::of(x, y, 260.0) }]],
        }
    }
}
