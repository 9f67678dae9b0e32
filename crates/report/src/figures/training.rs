//! The law over training: curves of checkpoints with their surface, exponents along training, and
//! the scatter of seeds beside the noise of the text.

use relscale_laws::{Quantity, TrainingFit, TrainingGroup, TrainingLaw};

use super::slot::{Figure, Kind, Made, Section, Slot};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, Key, Look, Mark, Marks, Panel, Sample, Series, Style};
use crate::results::Results;

/// How a figure of a group is made.
type OfGroup = for<'a> fn(&'a TrainingFit, &'a TrainingGroup) -> Made<'a>;

const FIGURES: [Kind<OfGroup>; 3] = [
    Kind { name: "training", title: "Errors over training", make: curves },
    Kind { name: "training-exponents", title: "Exponents over training", make: exponents },
    Kind { name: "training-noise", title: "Scatter of seeds and noise of the text", make: noise },
];

/// The k whose curves are drawn, as far as they were counted.
const DRAWN: [u32; 3] = [1, 10, 100];

/// A section a family on a distribution.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let groups = results.training.iter().flat_map(|found| {
        found.fit.groups.iter().map(move |group| {
            let heading = format!("Training of {} on {}", group.family, group.distribution);
            let file = format!("{}--{}--{}", found.file, group.family, group.distribution);
            let slots = FIGURES.iter().map(|kind| kind.slot((kind.make)(&found.fit, group)));
            Section::new(&heading, &file, slots.collect())
        })
    });
    groups.collect()
}

/// The slots of these figures where there is no such result.
pub(super) fn left_out() -> Vec<Slot<'static>> {
    let reason =
        "no training.json here: relscale training STUDY --models FILE makes it of checkpoints";
    FIGURES.iter().map(|kind| kind.slot(Err(reason.to_owned()))).collect()
}

/// The laws whose curves are drawn.
fn drawn(group: &TrainingGroup) -> Vec<&TrainingLaw> {
    let is = |law: &&TrainingLaw| match law.quantity {
        Quantity::CrossEntropy => true,
        Quantity::Rank { k } => DRAWN.contains(&k),
        _ => false,
    };
    group.laws.iter().filter(is).filter(|law| !law.points.is_empty()).collect()
}

/// A family and distribution in every row.
fn led(group: &TrainingGroup, frame: Frame) -> Frame {
    frame.led([("family", (&group.family).into()), ("distribution", (&group.distribution).into())])
}

fn curves<'a>(_: &'a TrainingFit, group: &'a TrainingGroup) -> Made<'a> {
    let laws = drawn(group);
    if laws.is_empty() {
        return Err("no checkpoint has an error at k = 1, 10 or 100".to_owned());
    }
    let numbers = Frame::stacked(laws.iter().map(|law| {
        let rows = Frame::from_rows(&law.points)
            .column("model", |point| &point.model)
            .column("run", |point| &point.run)
            .column("parameters", |point| point.parameters)
            .column("tokens", |point| point.tokens)
            .column("value", |point| point.value)
            .column("surface", |point| point.fitted);
        rows.frame().led([("quantity", law.quantity.symbol().into()), ("unit", (&law.unit).into())])
    }));
    let with_surface = laws.iter().filter(|law| law.surface.fit().is_some()).count();
    let title = format!("Errors of checkpoints against tokens, {}", group.family);
    let caption = format!(
        "Each mark is a checkpoint on {}, each colour a size; lines are the surface E + A S^-alpha + B D^-beta through all of them, where there \
         is one. Seen: {} sizes; a surface for {with_surface} of {} quantities. {}",
        group.distribution,
        group.sizes,
        laws.len(),
        group.verdict,
    );
    let symbols: Vec<(String, String)> =
        laws.iter().map(|law| (law.quantity.symbol(), law.unit.clone())).collect();
    Ok(Figure::new(title, caption, led(group, numbers), move |frame| {
        let rows = frame.rows();
        let panels = symbols.iter().map(|(symbol, unit)| {
            let rows = rows.matching("quantity", symbol);
            let x = Axis::amounts("D, tokens seen").closed(rows.numbers("tokens"));
            let y = Axis::log(format!("{symbol}, {unit}")).closed(rows.numbers("value"));
            Panel { heading: symbol.clone(), ..Panel::new(x, y, 240.0, by_size(&rows)) }
        });
        let legend = vec![Key::mark(Mark::Disc, Look::Filled, "checkpoint")];
        Drawing::wrapped(legend, panels.collect(), 2)
    }))
}

/// A series a size, the surface as its line.
fn by_size(rows: &Rows<'_>) -> Vec<Series> {
    let sizes = rows.by("parameters");
    let count = sizes.len();
    let of = |(at, rows): (usize, &Rows<'_>)| {
        let size = rows.first().and_then(|row| row.number("parameters")).unwrap_or_default();
        // Runs of one size have one surface.
        let first = rows.by("run").into_iter().next();
        let marks = Marks::at(rows, "tokens", "value", tip).all(Look::Filled);
        let series = Series::new(Style::step(at, count), "").shape(Mark::Disc).marks(marks);
        let series = match &first {
            Some(first) => series.line(first, "tokens", "surface"),
            None => series,
        };
        series.label(vec![format!("S = {}", format::quantity(size))])
    };
    sizes.iter().enumerate().map(of).collect()
}

fn tip(row: FrameRow<'_>) -> String {
    let [size, tokens] = ["parameters", "tokens"]
        .map(|column| row.number(column).map_or(String::new(), format::quantity));
    format!("{}\nS = {size}\nD = {tokens}\n{}", row.text("model"), row.significant("value"))
}

fn exponents<'a>(_: &'a TrainingFit, group: &'a TrainingGroup) -> Made<'a> {
    let laws: Vec<&TrainingLaw> =
        drawn(group).into_iter().filter(|law| law.split.along_size.slices.len() > 1).collect();
    if laws.is_empty() {
        return Err("no two numbers of tokens are shared by three sizes".to_owned());
    }
    let numbers = Frame::stacked(laws.iter().map(|law| {
        let rows = Frame::from_rows(&law.split.along_size.slices)
            .column("tokens", |slice| slice.fixed)
            .column("exponent", |slice| 0.0 - slice.slope)
            .column("checkpoints", |slice| slice.points)
            .column("r_squared", |slice| slice.r_squared);
        rows.frame().led([("quantity", law.quantity.symbol().into())])
    }));
    let title = format!("Exponents along size after as many tokens, {}", group.family);
    let caption = format!(
        "The exponent of each quantity along S through the checkpoints on {} that have seen as many tokens, three sizes at least. {}",
        group.distribution, group.verdict,
    );
    Ok(Figure::new(title, caption, led(group, numbers), |frame| {
        let rows = frame.rows();
        let quantities = rows.by("quantity");
        let count = quantities.len();
        let series = quantities.iter().enumerate().map(|(at, rows)| {
            let marks = Marks::at(rows, "tokens", "exponent", |row| {
                format!("{}\n{}", row.text("quantity"), row.significant("exponent"))
            });
            Series::new(Style::step(at, count), "")
                .shape(Mark::Disc)
                .label(vec![rows.text("quantity").to_owned()])
                .joined(marks.all(Look::Filled))
        });
        let x = Axis::amounts("D, tokens seen").closed(rows.numbers("tokens"));
        let y = Axis::linear("exponent along S").closed(rows.numbers("exponent"));
        Drawing::one(Vec::new(), Panel::new(x, y, 280.0, series.collect()))
    }))
}

fn noise<'a>(fit: &'a TrainingFit, group: &'a TrainingGroup) -> Made<'a> {
    let of_ranks = |law: &'a TrainingLaw| match (&law.quantity, &law.seeds) {
        (Quantity::Rank { k }, Some(seeds)) => Some((*k, seeds)),
        _ => None,
    };
    let seeds: Vec<_> = group.laws.iter().filter_map(of_ranks).collect();
    let Some((_, first)) = seeds.first() else {
        return Err(
            "no size has two runs after as many tokens, so seeds are not told apart".to_owned()
        );
    };
    let caption = format!(
        "Standard deviations of ln(-ln RBP_k) on {} after {} tokens: of {} runs of {} sizes that differ in their seed, the noise of their common \
         text taken off (bars are {} intervals), and of one run by the text.",
        group.distribution,
        format::quantity(first.tokens),
        first.runs,
        first.sizes,
        format::percent(fit.level),
    );
    let numbers = Frame::from_rows(seeds)
        .column("k", |(k, _)| k)
        .column("seeds", |(_, seeds)| seeds.deviation)
        .ends(["low", "high"], |(_, seeds)| seeds.ends.map(|[low, high]| (low, high)))
        .column("text", |(_, seeds)| seeds.text)
        .column("text_of_difference", |(_, seeds)| seeds.text_of_difference);
    let title = format!("Scatter of seeds and noise of the text, {}", group.family);
    Ok(Figure::new(title, caption, led(group, numbers.frame()), |frame| {
        let rows = frame.rows();
        let [of_seeds, of_text] = [0, 1].map(Style::for_corpus);
        let tip = |what: &'static str, column: &'static str| {
            move |row: FrameRow<'_>| {
                format!("k = {}\n{what} {}", row.text("k"), row.significant(column))
            }
        };
        let seeds = Marks::at(&rows, "k", "seeds", tip("seeds", "seeds")).error("low", "high");
        let text = Marks::at(&rows, "k", "text", tip("text", "text"));
        let series = vec![
            Series::new(of_seeds, "").shape(Mark::Disc).joined(seeds.all(Look::Filled)),
            Series::new(of_text, "").shape(Mark::Diamond).joined(text.all(Look::Hollow)),
        ];
        let legend = vec![
            Key::new(of_seeds, Sample::Mark(Mark::Disc, Look::Filled), "seeds"),
            Key::new(of_text, Sample::Mark(Mark::Diamond, Look::Hollow), "text"),
        ];
        let x = Axis::grid(rows.numbers("k"));
        let y = Axis::linear("standard deviation of the logarithm").holding([0.0]);
        Drawing::one(legend, Panel::new(x, y, 280.0, series))
    }))
}
