//! The rank law at k = 10, 50, 100 (fig. 4 of the paper), or at the nearest k of the grid.

use super::curve::{self, Curve};
use super::{Family, Figure, LeftOut};
use crate::csv::Table;
use crate::format;
use crate::plot::{Axis, Drawing, Key, Line, Panel, Sample};

const NAME: &str = "head";

/// The k of the paper's figure.
const WANTED: [u32; 3] = [10, 50, 100];

/// One panel a k.
pub(super) struct Head<'a> {
    panels: Vec<(u32, Vec<Curve<'a>>)>,
}

impl<'a> Head<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let panels: Vec<_> = nearest(&family.grid())
            .into_iter()
            .map(|k| (k, Curve::of_rank(family, k)))
            .filter(|(_, curves)| !curves.is_empty())
            .collect();
        if panels.is_empty() {
            let reason = format!("beyond the smallest k {}", curve::NO_POINT);
            return Err(LeftOut::because(NAME, "−ln RBP against model size for k = 10, 50 and 100", reason));
        }
        Ok(Self { panels })
    }

    fn curves(&self) -> Vec<Curve<'_>> {
        self.panels.iter().flat_map(|(_, curves)| curves.iter().copied()).collect()
    }
}

/// The members of the grid, beyond its first, that are nearest to 10, 50 and 100 by ratio, each once.
pub(super) fn nearest(grid: &[u32]) -> Vec<u32> {
    let rest = grid.get(1..).unwrap_or_default();
    let mut found: Vec<u32> = WANTED
        .iter()
        .filter_map(|&wanted| {
            let distance = |k: u32| (f64::from(k) / f64::from(wanted)).ln().abs();
            rest.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

impl Figure for Head<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        let ks: Vec<String> = self.panels.iter().map(|(k, _)| k.to_string()).collect();
        format!("−ln RBP against model size for k = {}", format::list(&ks))
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .panels
            .iter()
            .map(|(k, curves)| format!("k = {k}: {}", curve::summary(curves, "α").replace("Seen: ", "")))
            .collect();
        format!(
            "How often the right token is among the first k. The vertical axes span equally many decades, so equal \
             slopes are equal exponents. {}{}",
            curve::how_to_read(&self.curves()),
            seen.join(" ")
        )
    }

    fn numbers(&self) -> Table {
        curve::table(&self.curves())
    }

    fn drawing(&self) -> Drawing {
        let axes: Vec<Axis> = self
            .panels
            .iter()
            .map(|(k, curves)| {
                let title = format!("{} (nats)", format::rank_symbol(*k));
                Axis::log(title, curves.iter().flat_map(Curve::heights))
            })
            .collect();
        let span = axes.iter().map(Axis::span).fold(0.0, f64::max);
        let panel = |((k, curves), axis): (&(u32, Vec<Curve<'_>>), Axis)| Panel {
            heading: format!("k = {}", format::count(u64::from(*k))),
            notes: curves.iter().map(|curve| (curve.style, curve.fit_text())).collect(),
            shades: curve::shades(curves),
            series: curves.iter().map(|curve| curve.series(Line::Solid, vec![])).collect(),
            ..Panel::of(Axis::sizes(curves.iter().flat_map(Curve::reach)), axis.widened(span), 280.0)
        };
        Drawing {
            title: self.title(),
            legend: legend(&self.curves()),
            rows: vec![self.panels.iter().zip(axes).map(panel).collect()],
        }
    }
}

/// One key a corpus.
pub(super) fn legend(curves: &[Curve<'_>]) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for curve in curves {
        if !keys.iter().any(|key| key.text == curve.corpus) {
            keys.push(Key {
                style: curve.style,
                sample: Sample::Series(Line::Solid, curve.style.mark()),
                text: curve.corpus.to_owned(),
            });
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_k_of_the_grid() {
        assert_eq!(nearest(&[1, 2, 5, 10, 20, 50, 100, 200]), [10, 50, 100]);
        assert_eq!(nearest(&[1, 8, 64]), [8, 64]);
        assert_eq!(nearest(&[1, 2]), [2]);
        assert!(nearest(&[1]).is_empty());
        assert!(nearest(&[]).is_empty());
    }
}
