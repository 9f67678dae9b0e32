//! Both laws from simulated ranks (fig. 8b of the paper): does a lognormal whose mu/sigma follows
//! its line give the exponents that were measured?

use relscale_laws::{Quantity, SimulatedLaw, Simulation};

use super::curve::S;
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::{Frame, FrameRow};
use crate::plot::{Axis, Drawing, Key, Look, Mark, Marks, Panel, Series, Style};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "simulation", title: "Both laws from simulated ranks", make };

/// The simulation of each corpus in the form that could be fitted to most models.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let corpora = family.groups.iter().filter_map(|(group, _)| {
        let simulations = &group.rank_distribution.as_ref()?.simulations;
        let simulation =
            simulations.iter().find(|simulation| drawn(simulation).next().is_some())?;
        Some((group.corpus.as_str(), simulation))
    });
    let corpora: Vec<(&'a str, &'a Simulation)> = corpora.collect();
    if corpora.is_empty() {
        let reason = "no lognormal whose mu/sigma follows a line over the models was there to draw ranks from";
        return Err(reason.to_owned());
    }
    let values = corpora.iter().flat_map(|(corpus, simulation)| {
        let form = format::form(&simulation.form);
        let form = format!("{form}, σ = {}", format::fixed(simulation.sigma, 2));
        drawn(simulation).map(move |law| {
            let [simulated, measured] = exponents(law);
            [(*corpus).to_owned(), form.clone(), symbol(law), simulated, measured]
        })
    });
    let head = ["corpus", "ranks drawn from", "law", "exponent", "measured"];
    let values = Values::new(head, values);
    let caption = String::from(
        "Ranks drawn from a lognormal whose μ/σ lies on its fitted line in ln S and whose σ is the same for all models: \
         full marks are the drawn values, lines the exact ones, outlines what was measured. Where outlines follow the \
         line, the family's ranks do what the lognormal says; the simulated cross entropy is that of a model that gives \
         each rank its own frequency.",
    );
    let numbers = Frame::stacked(corpora.iter().flat_map(|(corpus, simulation)| {
        drawn(simulation).map(|law| rows(family.name, corpus, &simulation.form, law))
    }));
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let mut legend: Vec<Key> = Vec::new();
        let mut panels = Vec::new();
        for (corpus, simulation) in &corpora {
            let of_corpus = frame.rows().matching("corpus", corpus);
            let mut all = Vec::new();
            for (at, law) in drawn(simulation).enumerate() {
                let style = Style::for_corpus(at);
                if legend.len() == at {
                    legend.push(Key::series(style, symbol(law)));
                }
                let rows = of_corpus.matching("quantity", &law.quantity.symbol());
                let marks = |what: &'static str, column: &'static str| {
                    let symbol = symbol(law);
                    Marks::at(&rows, S, column, move |row: FrameRow<'_>| {
                        let (model, value) = (row.text("model"), row.significant(column));
                        format!("{model} on {}\n{symbol} {what}: {value}", row.text("corpus"))
                    })
                };
                let series = || Series::new(style, corpus);
                all.push(series().line(&rows, S, "exact").marks(marks("simulated", "drawn")));
                all.push(series().marks(marks("measured", "measured").all(Look::Hollow)));
            }
            let panel = Panel::new(Axis::sizes(), Axis::log("nats"), 300.0, all);
            panels.push(Panel { heading: (*corpus).to_owned(), ..panel });
        }
        legend.push(Key::mark(Mark::Disc, Look::Hollow, "measured"));
        Drawing::new(legend, vec![panels])
    })
    .with(values))
}

/// The laws of a simulation that have points.
fn drawn(simulation: &Simulation) -> impl Iterator<Item = &SimulatedLaw> {
    simulation.laws.iter().filter(|law| !law.points.is_empty())
}

fn symbol(law: &SimulatedLaw) -> String {
    match law.quantity {
        Quantity::Rank { k } => format::rank_symbol(k),
        _ => "CE".to_owned(),
    }
}

/// The exponent of the simulated law, and that of the measured one.
fn exponents(law: &SimulatedLaw) -> [String; 2] {
    let value =
        |estimate: Option<f64>| estimate.map_or("none".to_owned(), |value| format::fixed(value, 3));
    [
        value(law.exponent.as_ref().map(|exponent| exponent.value)),
        value(law.measured_exponent.as_ref().map(|exponent| exponent.value)),
    ]
}

fn rows(family: &str, corpus: &str, form: &str, law: &SimulatedLaw) -> Frame {
    Frame::from_rows(&law.points)
        .column("model", |point| &point.model)
        .column(S, |point| point.parameters)
        .column("drawn", |point| point.drawn)
        .column("exact", |point| point.exact)
        .column("own_mu_and_sigma", |point| point.own)
        .column("measured", |point| point.measured)
        .column("simulated_exponent", |_| Some(law.exponent.as_ref()?.value))
        .column("measured_exponent", |_| Some(law.measured_exponent.as_ref()?.value))
        .frame()
        .led([
            ("family", family.into()),
            ("corpus", corpus.into()),
            ("form", form.into()),
            ("quantity", law.quantity.symbol().into()),
        ])
}
