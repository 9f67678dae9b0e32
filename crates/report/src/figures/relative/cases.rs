//! Several relative laws side by side: B's figure 1, three case studies in a row.

use relscale_laws::{Gap, GapLaw};

use super::{Comparison, gap, trend};
use crate::csv::{Cell, Table};
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::Drawing;

pub(super) const NAME: &str = "cases";
pub(super) const TITLE: &str = "Relative laws side by side";

/// Panels beside each other, and all that there can be.
const COLUMNS: usize = 3;
const MOST: usize = 9;

/// A panel each.
pub(super) struct Cases<'a> {
    panels: Vec<(Comparison<'a>, Vec<&'a Gap>)>,
}

impl<'a> Cases<'a> {
    pub(super) fn of(laws: Vec<Comparison<'a>>) -> Result<Self, LeftOut> {
        let panels: Vec<(Comparison<'a>, Vec<&Gap>)> = laws
            .into_iter()
            .map(|law| (law, law.gaps().collect::<Vec<_>>()))
            .filter(|(_, gaps)| !gaps.is_empty())
            .take(MOST)
            .collect();
        if panels.len() < 2 {
            let reason = "it takes two relative laws: relscale relative STUDY --baseline NAME ... --json STUDY/relative-NAME.json keeps a further one";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { panels })
    }
}

fn laws<'a>(gaps: &'a [&'a Gap]) -> impl Iterator<Item = (&'a str, &'a GapLaw)> + Clone {
    gaps.iter().filter_map(|gap| Some((gap.name.as_str(), gap.fit()?)))
}

/// What a panel is of: `domain, gold option` of `relative-mmlu`.
fn heading(of: &Comparison<'_>) -> String {
    let name = of.file.strip_prefix("relative-").map_or_else(|| of.many(), str::to_owned);
    let family = if of.one_of_several { format!(" ({})", of.family.name) } else { String::new() };
    format!("{name}{family}, to {}", of.fit.options.baseline)
}

impl Figure for Cases<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("{} relative laws side by side", self.panels.len())
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .panels
            .iter()
            .map(|(of, gaps)| {
                let told = trend::told(laws(gaps));
                let told = if told.is_empty() { "no law".to_owned() } else { told };
                format!("{} ({}): {told}", heading(of), of.fit.error)
            })
            .collect();
        format!(
            "The gap G of each treatment to its baseline against x, one panel a comparison; vertical axes span equally many decades, so equal slopes are \
             equal Δβ. Shaded regions lie beyond the data. Seen: {}.",
            seen.join(". ")
        )
    }

    fn numbers(&self) -> Table {
        let header: &[&str] = &[
            "case",
            "family",
            "treatment",
            "baseline",
            "error",
            "row",
            "model",
            "x",
            "baseline_error",
            "treatment_error",
            "gap",
            "low",
            "high",
            "fitted",
            "delta_beta",
            "trend",
            "left_out_because",
        ];
        debug_assert_eq!(header[1..], gap::HEADER);
        let rows = self.panels.iter().flat_map(|(of, gaps)| {
            gaps.iter()
                .flat_map(|one| gap::rows(of, one))
                .map(|row| [vec![Cell::text(of.file)], row].concat())
        });
        Table { header, rows: rows.collect() }
    }

    fn drawing(&self) -> Drawing {
        let mut panels: Vec<_> = self
            .panels
            .iter()
            .map(|(of, gaps)| {
                let mut panel = gap::panel(of, gaps, false, 260.0);
                panel.heading = heading(of);
                if of.named() {
                    panel.notes = laws(gaps)
                        .map(|(name, law)| {
                            let slope = format::fixed(law.delta_beta.value, 4);
                            (
                                of.style(name),
                                format!("{} {slope}, {}", format::shortened(name, 20), law.trend.name()),
                            )
                        })
                        .collect();
                }
                panel
            })
            .collect();
        let span = panels.iter().map(|panel| panel.y.span()).fold(0.0, f64::max);
        for panel in &mut panels {
            panel.y = panel.y.clone().widened(span);
        }
        let verdicts = self.panels.iter().flat_map(|(_, gaps)| laws(gaps)).map(|(_, law)| law.trend);
        let mut rows: Vec<Vec<_>> = Vec::new();
        for panel in panels {
            match rows.last_mut().filter(|row| row.len() < COLUMNS) {
                Some(row) => row.push(panel),
                None => rows.push(vec![panel]),
            }
        }
        Drawing { title: self.title(), legend: trend::legend(verdicts, false), rows }
    }
}
