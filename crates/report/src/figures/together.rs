//! Cross entropy and `-ln RBP_1` on the same axes (fig. 8a of the paper): do the two laws run in parallel?

use super::curve::{self, Curve};
use super::{Family, Figure, LeftOut};
use crate::csv::Table;
use crate::format;
use crate::plot::{Axis, Drawing, Key, Line, Panel, Sample, Style};

const NAME: &str = "together";

/// Both laws of each corpus.
pub(super) struct Together<'a> {
    k: u32,
    rank: Vec<Curve<'a>>,
    cross_entropy: Vec<Curve<'a>>,
    /// Corpus and `alpha - beta` where both are known.
    differences: Vec<(&'a str, String)>,
}

impl<'a> Together<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let left = || {
            let reason = "no model has a point in both laws";
            LeftOut::because(NAME, "Cross entropy and −ln RBP₁ against model size", reason)
        };
        let k = *family.grid().first().ok_or_else(left)?;
        let rank = Curve::of_rank(family, k);
        let cross_entropy = Curve::of_cross_entropy(family);
        let differences = family
            .groups
            .iter()
            .filter_map(|(group, _)| {
                let difference = group.greedy_minus_cross_entropy.as_ref()?;
                Some((group.corpus.as_str(), format::estimate(difference)))
            })
            .collect();
        let there = !rank.is_empty() && !cross_entropy.is_empty();
        if there { Ok(Self { k, rank, cross_entropy, differences }) } else { Err(left()) }
    }

    fn curves(&self) -> Vec<Curve<'_>> {
        self.rank.iter().chain(&self.cross_entropy).copied().collect()
    }
}

impl Figure for Together<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("Cross entropy and {} against model size", format::rank_symbol(self.k))
    }

    fn caption(&self) -> String {
        let differences: Vec<String> =
            self.differences.iter().map(|(corpus, text)| format!("{text} on {corpus}")).collect();
        let difference = if differences.is_empty() {
            String::new()
        } else {
            format!(
                " α − β, from the ratio of the two at each model: {}. The paper finds the two exponents nearly equal.",
                format::list(&differences)
            )
        };
        format!(
            "Both laws on one pair of axes: parallel lines have equal exponents. Above, dashed: cross entropy (CE, mean \
             negative log-likelihood, exponent β); below, solid: {} (exponent α). {}{difference}",
            format::rank_symbol(self.k),
            curve::summary(&self.cross_entropy, "β"),
        )
    }

    fn numbers(&self) -> Table {
        curve::table(&self.curves())
    }

    fn drawing(&self) -> Drawing {
        let curves = self.curves();
        let label = |curve: &Curve<'_>, what: &str| {
            let corpus = format::shortened(curve.corpus, 18);
            vec![format!("{corpus}, {what}"), curve.fit_text()]
        };
        let symbol = format::rank_symbol(self.k);
        let series = self
            .cross_entropy
            .iter()
            .map(|curve| curve.series(Line::Dashed, label(curve, "CE")))
            .chain(self.rank.iter().map(|curve| curve.series(Line::Solid, label(curve, &symbol))));
        let key = |line, text| Key { style: Style::NEUTRAL, sample: Sample::Line(line), text };
        let x = Axis::sizes(curves.iter().flat_map(Curve::reach));
        let y = Axis::log("nats".to_owned(), curves.iter().flat_map(Curve::heights));
        Drawing {
            title: self.title(),
            legend: vec![
                key(Line::Dashed, "CE (nats per token)".to_owned()),
                key(Line::Solid, format!("{} (nats)", format::rank_symbol(self.k))),
            ],
            rows: vec![vec![Panel {
                shades: curve::shades(&curves),
                series: series.collect(),
                ..Panel::of(x, y, 400.0)
            }]],
        }
    }
}
