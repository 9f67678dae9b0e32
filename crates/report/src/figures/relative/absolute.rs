//! E against x for each distribution: B's figures of absolute laws (MMLU domains, varieties of
//! English, clusters of risk).

use relscale_laws::Law;

use super::{Comparison, OfComparison, capital};
use crate::figures::curve::log_bar;
use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow};
use crate::plot::{Axis, Drawing, Marks, Panel, Series};

pub(super) const FIGURE: Kind<OfComparison> =
    Kind { name: "absolute", title: "The error of each distribution", make };

/// All distributions with a point.
fn make<'a>(of: Comparison<'a>) -> Made<'a> {
    let laws: Vec<&Law> = of.family.absolute.iter().filter(|law| !law.points.is_empty()).collect();
    if laws.is_empty() {
        return Err("no model has an error above zero".to_owned());
    }
    let title = format!("{} by {}, against {}", capital(&of.fit.error), of.one(), of.x());
    let numbers = Frame::stacked(laws.iter().map(|law| rows(&of, law)));
    let caption = caption(&of, &laws);
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let tip = |row: FrameRow<'_>| {
            let ends = row.ends(["low_95", "high_95"]);
            let ends = ends.map_or(String::new(), |(low, high)| {
                format!(" [{}, {}]", format::significant(low), format::significant(high))
            });
            format!(
                "{} on {}\nx = {}\nE = {}{ends} {}",
                row.text("model"),
                row.text("distribution"),
                format::quantity(row.number("x").unwrap_or_default()),
                row.significant("value"),
                row.text("unit")
            )
        };
        let series = laws.iter().map(|law| {
            let rows = frame.rows().matching("distribution", &law.name);
            Series::new(of.style(&law.name), &law.name)
                .line(&rows, "x", "fitted")
                .marks(Marks::at(&rows, "x", "value", tip).error("low_95", "high_95"))
                .label(if of.named() { label(law) } else { vec![] })
        });
        Drawing::one(vec![], Panel::new(of.axis(), Axis::log(of.error()), 380.0, series.collect()))
    }))
}

fn rows(of: &Comparison<'_>, law: &Law) -> Frame {
    let points = Frame::from_rows(&law.points)
        .column("model", |point| &point.label)
        .column("x", |point| point.x)
        .column("value", |point| point.value)
        .ends(["low_95", "high_95"], |point| log_bar(point.value, point.log_standard_error))
        .column("fitted", |point| point.fitted)
        .column("beta", |_| Some(law.fit()?.exponent.value))
        .ends(["beta_low", "beta_high"], |_| law.fit()?.exponent.bounds());
    let missing = Frame::from_rows(&law.left_out)
        .column("model", |left| &left.label)
        .column("left_out_because", |left| &left.reason);
    Frame::stacked([points.frame(), missing.frame()]).led([
        ("family", (&of.family.name).into()),
        ("distribution", (&law.name).into()),
        ("error", (&of.fit.error).into()),
        ("unit", (&of.fit.unit).into()),
    ])
}

fn label(law: &Law) -> Vec<String> {
    let fit = law.fit();
    let beta =
        fit.map_or("no fit".to_owned(), |fit| format!("β {}", format::estimate(&fit.exponent)));
    let r_squared =
        fit.and_then(|fit| fit.r_squared).map(|r| format!("R² {}", format::r_squared(Some(r))));
    [Some(law.name.clone()), Some(beta), r_squared].into_iter().flatten().collect()
}

fn caption(of: &Comparison<'_>, laws: &[&Law]) -> String {
    let mut slopes: Vec<(&str, f64)> = laws
        .iter()
        .filter_map(|law| Some((law.name.as_str(), law.fit()?.exponent.value)))
        .collect();
    slopes.sort_by(|a, b| a.1.total_cmp(&b.1));
    let told = |(name, beta): &(&str, f64)| format!("{} ({name})", format::fixed(*beta, 4));
    let seen = match slopes.as_slice() {
        [] => "No law is fitted.".to_owned(),
        [(name, beta)] => format!("Seen: β {} on {name}.", format::fixed(*beta, 4)),
        [least, .., most] => format!("Seen: β from {} to {}.", told(least), told(most)),
    };
    let bars = if laws
        .iter()
        .flat_map(|law| &law.points)
        .any(|point| point.log_standard_error.is_some())
    {
        " Error bars span 95 % by resampling documents."
    } else {
        ""
    };
    format!(
        "E = α x^−β of each of {} {}, x = {}; each mark is a model, the lines are least squares on these logarithmic axes.{bars} {seen}",
        laws.len(),
        of.many(),
        of.fit.x,
    )
}
