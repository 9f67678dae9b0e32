//! How the best size, the best number of tokens and the least loss grow with the budget.

use relscale_laws::{
    Along, Curve, Estimate, IsoflopFit, IsoflopGroup, MethodOptimum, OptimumPath, PathLaw,
};

use super::{OfGroup, flops, params};
use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, Key, Line, Look, Marks, Panel, Sample, Series, Shade, Style};

pub(super) const FIGURE: Kind<OfGroup> = Kind {
    name: "optima",
    title: "The best size, the best number of tokens and the least loss of each budget",
    make,
};

/// What a panel is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Params,
    Tokens,
    Loss,
}

impl Quantity {
    const ALL: [Self; 3] = [Self::Params, Self::Tokens, Self::Loss];

    fn name(self) -> &'static str {
        match self {
            Self::Params => "params",
            Self::Tokens => "tokens",
            Self::Loss => "loss",
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Params => "N*",
            Self::Tokens => "D*",
            Self::Loss => "loss",
        }
    }

    fn law(self, path: &OptimumPath) -> Option<&PathLaw> {
        match self {
            Self::Params => path.params.fit(),
            Self::Tokens => path.tokens.fit(),
            Self::Loss => path.loss.fit(),
        }
    }

    fn estimate(self, method: &MethodOptimum) -> &Estimate {
        match self {
            Self::Params => &method.params,
            Self::Tokens => &method.tokens,
            Self::Loss => &method.loss,
        }
    }
}

/// The optima of one group.
fn make<'a>(fit: &'a IsoflopFit, group: &'a IsoflopGroup) -> Made<'a> {
    if Quantity::ALL.iter().all(|quantity| minima(group, Curve::Cubic, *quantity).len() < 2) {
        return Err("it takes two budgets with a minimum that runs bracket".to_owned());
    }
    let ahead = group.ahead.iter().filter(|ahead| ahead.decades_beyond != 0.0);
    let verdicts: Vec<&str> = ahead.map(|ahead| ahead.verdict.as_str()).collect();
    let further = if verdicts.is_empty() {
        String::new()
    } else {
        let told = verdicts.join(" ");
        format!(
            " Dotted outlines on the shaded side: what each method says of a budget beyond the runs. {told}"
        )
    };
    let caption = format!(
        "The minima of the curves of each budget, by cubics and by parabolas, with their laws A C^a; the least loss is that along tokens. Parabolas are \
         biased where loss curves are not symmetric. Seen: {}{further}",
        group.verdict
    );
    let numbers = Frame::stacked(Quantity::ALL.map(|quantity| rows(group, quantity)));
    let title = format!("The optima of each budget, {}", group.name);
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let rows = frame.rows();
        let curves = [Curve::Cubic, Curve::Parabola].map(|curve| {
            let style = style(curve.name());
            let sample = Sample::Series(line(curve), style.mark());
            Key::new(style, sample, format!("by {}s", curve.name()))
        });
        let others = beyond(group, &rows).by("method").into_iter().map(|rows| rows.text("method"));
        let others = others.filter(|method| Curve::ALL.iter().all(|curve| curve.name() != *method));
        let others = others.map(|method| {
            let style = style(method);
            let sample = Sample::Mark(style.mark(), Look::HeldOut);
            Key::new(style, sample, format!("by the surface, {method}"))
        });
        let panels = Quantity::ALL.map(|quantity| panel(fit, group, &rows, quantity));
        Drawing::new(curves.into_iter().chain(others).collect(), vec![panels.into_iter().collect()])
    }))
}

/// Budgets with their minima by one curve. The least loss is that along tokens, as in the law of
/// it.
fn minima(group: &IsoflopGroup, curve: Curve, quantity: Quantity) -> Vec<(f64, f64)> {
    let along = if quantity == Quantity::Params { Along::Params } else { Along::Tokens };
    let found = |budget: &relscale_laws::IsoflopBudget| {
        let (at, loss) = budget.minimum(curve, along)?.found()?;
        Some((budget.budget, if quantity == Quantity::Loss { loss } else { at }))
    };
    group.budgets.iter().filter_map(found).collect()
}

/// Smallest and largest budget with a minimum, and the largest that is asked about.
fn range(group: &IsoflopGroup) -> (f64, f64, f64) {
    let measured = Quantity::ALL.iter().flat_map(|quantity| minima(group, Curve::Cubic, *quantity));
    let (low, high) =
        measured.fold((f64::INFINITY, 0.0_f64), |(low, high), (c, _)| (low.min(c), high.max(c)));
    (low, high, group.ahead.iter().map(|ahead| ahead.budget).fold(high, f64::max))
}

/// What a row says: its kind, the method, a budget with a value and its interval, or a law.
type Entry<'a> =
    (&'static str, &'a str, Option<f64>, Option<f64>, Option<(f64, f64)>, Option<&'a PathLaw>);

/// Minima, laws, what methods say of further budgets, and the ends of the lines that are drawn of
/// the laws.
fn rows(group: &IsoflopGroup, quantity: Quantity) -> Frame {
    let mut rows: Vec<Entry<'_>> = Vec::new();
    for curve in Curve::ALL {
        let found = minima(group, curve, quantity).into_iter();
        rows.extend(found.map(|(budget, value)| {
            ("minimum", curve.name(), Some(budget), Some(value), None, None)
        }));
    }
    let paths =
        || group.paths.iter().filter_map(|path| Some((path.curve.name(), quantity.law(path)?)));
    rows.extend(paths().map(|(curve, law)| ("law", curve, None, None, None, Some(law))));
    for ahead in &group.ahead {
        rows.extend(ahead.methods.iter().map(|method| -> Entry<'_> {
            let estimate = quantity.estimate(method);
            let value = Some(estimate.value);
            ("ahead", &method.method, Some(ahead.budget), value, estimate.bounds(), None)
        }));
    }
    let (low, _, farthest) = range(group);
    for (curve, law) in paths() {
        let end = |budget| ("line", curve, Some(budget), Some(law.at(budget)), None, None);
        rows.extend([low, farthest].map(end));
    }
    Frame::from_rows(rows)
        .column("group", |_| &group.name)
        .column("quantity", |_| quantity.name())
        .column("row", |(row, ..)| row)
        .column("method", |(_, method, ..)| method)
        .column("budget", |(_, _, budget, ..)| budget)
        .column("value", |(_, _, _, value, ..)| value)
        .ends(["low", "high"], |(.., ends, _)| ends)
        .column("exponent", |(.., law)| Some(law?.exponent.value))
        .ends(["exponent_low", "exponent_high"], |(.., law)| law?.exponent.bounds())
        .column("prefactor", |(.., law)| Some(law?.prefactor.value))
        .column("r_squared", |(.., law)| law?.r_squared)
        .frame()
}

/// What methods say of budgets outside those of the runs.
fn beyond<'f>(group: &IsoflopGroup, rows: &Rows<'f>) -> Rows<'f> {
    let ahead = group.ahead.iter().filter(|ahead| ahead.decades_beyond != 0.0);
    let budgets: Vec<f64> = ahead.map(|ahead| ahead.budget).collect();
    rows.matching("row", "ahead")
        .only(|row| row.number("budget").is_some_and(|at| budgets.contains(&at)))
}

fn panel(fit: &IsoflopFit, group: &IsoflopGroup, rows: &Rows<'_>, quantity: Quantity) -> Panel {
    let rows = rows.matching("quantity", quantity.name());
    let symbol = quantity.symbol();
    let told = |row: FrameRow<'_>, by: &str, value: String| {
        let budget = format::quantity(row.number("budget").unwrap_or_default());
        format!("{symbol} by {by}{} at C = {budget}\n{value}", row.text("method"))
    };
    let series = [Curve::Parabola, Curve::Cubic].map(|curve| {
        let rows = rows.matching("method", curve.name());
        let tip = |row: FrameRow<'_>| told(row, "the ", row.significant("value"));
        Series::new(style(curve.name()), "")
            .stroke(line(curve))
            .line(&rows.matching("row", "line"), "budget", "value")
            .marks(Marks::at(&rows.matching("row", "minimum"), "budget", "value", tip))
    });
    let ahead = beyond(group, &rows);
    let ahead_of = ahead.by("budget").into_iter().flat_map(|rows| rows.by("method")).map(|rows| {
        let marks = Marks::at(&rows, "budget", "value", |row| told(row, "", with_ends(row)));
        Series::new(style(rows.text("method")), "")
            .marks(marks.error("low", "high").all(Look::HeldOut))
    });
    let title = match quantity {
        Quantity::Params => params(&fit.params).replacen('N', "N*", 1),
        Quantity::Tokens => "D*, tokens".to_owned(),
        Quantity::Loss => "least loss".to_owned(),
    };
    let y = if quantity == Quantity::Loss { Axis::log(title) } else { Axis::amounts(title) };
    let laws = group.paths.iter().filter_map(|path| Some((path.curve, quantity.law(path)?)));
    let notes = laws.map(|(curve, law)| {
        (style(curve.name()), format!("{symbol} ∝ Cᵃ, a {}", format::estimate(&law.exponent)))
    });
    let (low, high, farthest) = range(group);
    Panel {
        notes: notes.collect(),
        shades: if farthest > high { vec![Shade::above(high, "")] } else { Vec::new() },
        ..Panel::new(
            Axis::amounts(flops(&fit.flops)).closed([low, farthest]),
            y,
            260.0,
            series.into_iter().chain(ahead_of).collect(),
        )
    }
}

fn line(curve: Curve) -> Line {
    if curve == Curve::Cubic { Line::Solid } else { Line::Dashed }
}

/// The colour of a method.
fn style(method: &str) -> Style {
    match method {
        "cubic" => Style::for_corpus(0),
        "parabola" => Style::for_corpus(1),
        "variable projection" => Style::for_corpus(2),
        _ => Style::for_corpus(3),
    }
}

/// A value of any size with its interval.
fn with_ends(row: FrameRow<'_>) -> String {
    let value = row.significant("value");
    match row.ends(["low", "high"]) {
        Some((low, high)) => {
            format!("{value} [{}, {}]", format::significant(low), format::significant(high))
        }
        None => format!("{value} (no interval)"),
    }
}
