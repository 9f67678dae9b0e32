//! Both laws from simulated ranks (fig. 8b of the paper): does a lognormal whose mu/sigma follows its line give the exponents
//! that were measured?

use relscale_laws::{Quantity, SimulatedLaw, SimulatedPoint, Simulation};

use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, Key, Line, Look, Mark, Panel, Point, Sample, Series, Style};

const NAME: &str = "simulation";
const TITLE: &str = "Both laws from simulated ranks";

/// The simulation of each corpus in the form that could be fitted to most models.
pub(super) struct Simulated<'a> {
    family: &'a str,
    corpora: Vec<(&'a str, &'a Simulation)>,
}

impl<'a> Simulated<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let corpora: Vec<_> = family
            .groups
            .iter()
            .filter_map(|(group, _)| {
                let simulations = &group.rank_distribution.as_ref()?.simulations;
                let simulation = simulations.iter().find(|simulation| !drawn(simulation).is_empty())?;
                Some((group.corpus.as_str(), simulation))
            })
            .collect();
        if corpora.is_empty() {
            let reason =
                "no lognormal whose mu/sigma follows a line over the models was there to draw ranks from";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { family: family.name, corpora })
    }
}

/// The laws of a simulation that have points.
fn drawn(simulation: &Simulation) -> Vec<&SimulatedLaw> {
    simulation.laws.iter().filter(|law| !law.points.is_empty()).collect()
}

fn symbol(law: &SimulatedLaw) -> String {
    match law.quantity {
        Quantity::Rank { k } => format::rank_symbol(k),
        _ => "CE".to_owned(),
    }
}

/// Marks and lines of one law: drawn values as marks, the exact ones as a line, measured ones as outlines.
fn series(law: &SimulatedLaw, style: Style, corpus: &str) -> [Series; 2] {
    let size = |point: &SimulatedPoint| point.parameters as f64;
    let tip = |point: &SimulatedPoint, what: &str, value: f64| {
        format!("{} on {corpus}\n{} {what}: {}", point.model, symbol(law), format::significant(value))
    };
    let simulated = Series {
        path: law.points.iter().map(|point| (size(point), point.exact)).collect(),
        points: law
            .points
            .iter()
            .map(|point| Point::of(size(point), point.drawn, tip(point, "simulated", point.drawn)))
            .collect(),
        ..Series::of(style, corpus)
    };
    let measured = Series {
        points: law
            .points
            .iter()
            .filter_map(|point| {
                let value = point.measured?;
                let look = Look::Hollow;
                Some(Point { look, ..Point::of(size(point), value, tip(point, "measured", value)) })
            })
            .collect(),
        ..Series::of(style, corpus)
    };
    [simulated, measured]
}

/// `−ln RBP₁: 0.088, measured 0.080`.
fn exponents(law: &SimulatedLaw) -> String {
    let value = |estimate: Option<f64>| estimate.map_or("none".to_owned(), |value| format::fixed(value, 3));
    format!(
        "{}: {}, measured {}",
        symbol(law),
        value(law.exponent.as_ref().map(|exponent| exponent.value)),
        value(law.measured_exponent.as_ref().map(|exponent| exponent.value))
    )
}

impl Figure for Simulated<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .corpora
            .iter()
            .map(|(corpus, simulation)| {
                let laws: Vec<String> = drawn(simulation).into_iter().map(exponents).collect();
                format!(
                    "{corpus} ({}, σ = {}): {}",
                    simulation.form,
                    format::fixed(simulation.sigma, 2),
                    laws.join("; ")
                )
            })
            .collect();
        format!(
            "Ranks drawn from a lognormal whose μ/σ lies on its fitted line in ln S and whose σ is the same for all models: \
             full marks are the drawn values, lines the exact ones, outlines what was measured. Where outlines follow the \
             line, the family's ranks do what the lognormal says; the simulated cross entropy is that of a model that gives \
             each rank its own frequency. Exponents: {}.",
            seen.join(". ")
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for (corpus, simulation) in &self.corpora {
            for law in drawn(simulation) {
                for point in &law.points {
                    rows.push(vec![
                        Cell::text(self.family),
                        Cell::text(corpus),
                        Cell::text(&simulation.form),
                        Cell::Text(law.quantity.symbol()),
                        Cell::text(&point.model),
                        Cell::Count(point.parameters),
                        Cell::Number(point.drawn),
                        Cell::Number(point.exact),
                        Cell::Number(point.own),
                        point.measured.into(),
                        law.exponent.as_ref().map(|exponent| exponent.value).into(),
                        law.measured_exponent.as_ref().map(|exponent| exponent.value).into(),
                    ]);
                }
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "form",
                "quantity",
                "model",
                "non_embedding_parameters",
                "drawn",
                "exact",
                "own_mu_and_sigma",
                "measured",
                "simulated_exponent",
                "measured_exponent",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let mut legend: Vec<Key> = Vec::new();
        let mut panels = Vec::new();
        for (corpus, simulation) in &self.corpora {
            let laws = drawn(simulation);
            let mut all = Vec::new();
            for (at, law) in laws.iter().enumerate() {
                let style = Style::of(at);
                if !legend.iter().any(|key| key.text == symbol(law)) {
                    let sample = Sample::Series(Line::Solid, style.mark());
                    legend.push(Key { style, sample, text: symbol(law) });
                }
                all.extend(series(law, style, corpus));
            }
            let points = || all.iter().flat_map(|series| &series.points);
            let lines = all.iter().flat_map(|series| &series.path).map(|(_, y)| *y);
            let heights: Vec<f64> = points().map(|point| point.y).chain(lines).collect();
            panels.push(Panel {
                heading: (*corpus).to_owned(),
                ..Panel::of(
                    Axis::sizes(points().map(|point| point.x)),
                    Axis::log("nats".to_owned(), heights),
                    300.0,
                )
            });
            if let Some(panel) = panels.last_mut() {
                panel.series = all;
            }
        }
        legend.push(Key {
            style: Style::NEUTRAL,
            sample: Sample::Mark(Mark::Disc, Look::Hollow),
            text: "measured".to_owned(),
        });
        Drawing { title: self.title(), legend, rows: vec![panels] }
    }
}
