//! The rank histogram with the fitted densities (fig. 8c of the paper), log-log.

use relscale_laws::{ModelRanks, RankBin};

use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Bar, Drawing, Key, Line, Panel, Sample, Series, Style};

const NAME: &str = "ranks";
const TITLE: &str = "The distribution of ranks, with fitted densities";
/// Forms that are drawn beside the best one, by the name that `laws.json` gives them: those that the paper speaks of.
const FORMS: [(&str, &str); 3] =
    [("lognormal", "lognormal"), ("point_mass", "point masses (Appendix B)"), ("zeta", "power law (zeta)")];

/// What the best form is called in the legend; its name stands above each panel.
const BEST: &str = "best form";

/// The smallest and the largest model on each corpus.
pub(super) struct Ranks<'a> {
    family: &'a str,
    panels: Vec<(&'a str, &'a ModelRanks)>,
}

impl<'a> Ranks<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let counted = || {
            family.groups.iter().filter_map(|(group, _)| {
                let models = &group.rank_distribution.as_ref()?.models;
                Some((group.corpus.as_str(), models.as_slice()))
            })
        };
        let largest = counted().filter_map(|(corpus, models)| Some((corpus, models.last()?)));
        let smallest = counted().filter_map(|(corpus, models)| match models {
            [first, .., _] => Some((corpus, first)),
            _ => None,
        });
        let panels: Vec<_> = smallest.chain(largest).collect();
        if panels.is_empty() {
            let reason = "ranks were not counted, or none of their distributions could be fitted";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { family: family.name, panels })
    }
}

/// The forms that are drawn of a model: the best one first. Place among its fits, text, style and line.
fn shown(ranks: &ModelRanks) -> Vec<(usize, String, Style, Line)> {
    let styles = [(Style::of(1), Line::Solid), (Style::of(2), Line::Dashed), (Style::of(3), Line::DashDot)];
    let mut shown: Vec<(usize, String, Style, Line)> = FORMS
        .iter()
        .zip(styles)
        .filter_map(|((form, name), (style, line))| {
            let at = ranks.fits.iter().position(|fit| fit.form == *form)?;
            Some((at, (*name).to_owned(), style, line))
        })
        .collect();
    if let Some(best) = ranks.fits.first()
        && !FORMS.iter().any(|(form, _)| *form == best.form)
    {
        shown.push((0, BEST.to_owned(), Style::NEUTRAL, Line::Dotted));
    }
    shown
}

/// Probability of one rank of the bin, on average over the bin.
fn density(probability: f64, bin: &RankBin) -> f64 {
    probability / f64::from(bin.width())
}

/// Where a bin is drawn: half a rank beyond its ends, lest a bin of one rank have no width.
fn ends(bin: &RankBin) -> (f64, f64) {
    (f64::from(bin.low) - 0.5, f64::from(bin.high) + 0.5)
}

fn observed(ranks: &ModelRanks, bin: &RankBin) -> Option<f64> {
    (bin.tokens > 0).then(|| density(bin.tokens as f64 / ranks.tokens as f64, bin))
}

impl Figure for Ranks<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .panels
            .iter()
            .filter_map(|(corpus, ranks)| {
                let best = ranks.fits.first()?;
                let lognormal = ranks.fit("lognormal").filter(|_| best.form != "lognormal");
                let behind = lognormal.map_or(String::new(), |fit| {
                    format!(", the lognormal {} behind", format::significant(fit.aic_difference))
                });
                Some(format!(
                    "{} on {corpus}: {}{behind} (KS distance {})",
                    ranks.model,
                    best.form.replace('_', " "),
                    format::fixed(best.ks, 3)
                ))
            })
            .collect();
        format!(
            "Share of tokens at one rank, by rank, both logarithmic; bins widen with the rank. Bars are measured, lines are \
             forms fitted by maximum likelihood and truncated at the vocabulary. A straight line would be a power law, a \
             parabola a lognormal. Best by AIC: {}.",
            seen.join("; ")
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for (corpus, ranks) in &self.panels {
            for bin in &ranks.bins {
                for (at, fit) in ranks.fits.iter().enumerate() {
                    rows.push(vec![
                        Cell::text(self.family),
                        Cell::text(corpus),
                        Cell::text(&ranks.model),
                        Cell::Count(ranks.parameters),
                        Cell::Count(u64::from(bin.low)),
                        Cell::Count(u64::from(bin.high)),
                        Cell::Count(bin.tokens),
                        observed(ranks, bin).into(),
                        Cell::text(&fit.form),
                        bin.fitted.get(at).map(|probability| density(*probability, bin)).into(),
                    ]);
                }
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "model",
                "non_embedding_parameters",
                "lowest_rank",
                "highest_rank",
                "tokens",
                "share_per_rank",
                "form",
                "fitted_share_per_rank",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let mut legend: Vec<Key> =
            vec![Key { style: Style::of(0), sample: Sample::Band, text: "measured".to_owned() }];
        let mut panels = Vec::new();
        for (corpus, ranks) in &self.panels {
            let bars: Vec<Bar> = ranks
                .bins
                .iter()
                .filter_map(|bin| {
                    let value = observed(ranks, bin)?;
                    let (from, to) = ends(bin);
                    let tip = format!(
                        "{} on {corpus}\nranks {} to {}: {} tokens\nshare per rank {}",
                        ranks.model,
                        bin.low,
                        bin.high,
                        format::count(bin.tokens),
                        format::significant(value)
                    );
                    Some(Bar { from, to, value, tip })
                })
                .collect();
            // A form that gives next to nothing to the tail may leave the axes by the foot.
            let foot = bars.iter().map(|bar| bar.value).fold(f64::INFINITY, f64::min) / 5.0;
            let mut heights: Vec<f64> = bars.iter().map(|bar| bar.value).chain([foot]).collect();
            let mut series = vec![Series { bars, ..Series::of(Style::of(0), corpus) }];
            for (at, name, style, line) in shown(ranks) {
                let path: Vec<(f64, f64)> = ranks
                    .bins
                    .iter()
                    .filter_map(|bin| {
                        let value = density(*bin.fitted.get(at)?, bin);
                        let middle = (f64::from(bin.low) * f64::from(bin.high)).sqrt();
                        (value >= foot).then_some((middle, value))
                    })
                    .collect();
                heights.extend(path.iter().map(|(_, y)| *y));
                if !legend.iter().any(|key| key.text == name) {
                    legend.push(Key { style, sample: Sample::Line(line), text: name });
                }
                series.push(Series { path, line, ..Series::of(style, corpus) });
            }
            let best = ranks.fits.first().map(|fit| format!("best by AIC: {}", fit.form.replace('_', " ")));
            let places = ranks.bins.iter().flat_map(|bin| <[f64; 2]>::from(ends(bin)));
            panels.push(Panel {
                heading: format!(
                    "{}, {}",
                    format::shortened(corpus, 20),
                    format::shortened(&ranks.model, 20)
                ),
                notes: best.map(|best| (Style::NEUTRAL, best)).into_iter().collect(),
                series,
                ..Panel::of(
                    Axis::log("rank R".to_owned(), places),
                    Axis::log("share of tokens per rank".to_owned(), heights),
                    260.0,
                )
            });
        }
        let half = panels.len().div_ceil(2);
        let second = panels.split_off(if self.panels.len() > 1 { half } else { panels.len() });
        let rows = [panels, second].into_iter().filter(|row| !row.is_empty()).collect();
        Drawing { title: self.title(), legend, rows }
    }
}
