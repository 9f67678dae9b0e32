//! The rank histogram with the fitted densities (fig. 8c of the paper), log-log.

use relscale_laws::{ModelRanks, RankBin, RankFit};

use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, End, Guide, Key, Line, Num, Panel, Sample, Series, Style};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "ranks", title: "The distribution of ranks, with fitted densities", make };

/// Forms that are drawn beside the best one, by the name that `laws.json` gives them: those that
/// the paper speaks of.
const FORMS: [(&str, &str); 3] = [
    ("lognormal", "lognormal"),
    ("point_mass", "point masses (Appendix B)"),
    ("zeta", "power law (zeta)"),
];

/// The farthest ratio of measured to fitted that is drawn, and its inverse.
const FARTHEST: f64 = 10.0;

/// What the best form is called in the legend; its name stands above each panel.
const BEST: &str = "best form";

/// The smallest and the largest model on each corpus.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let counted = family.groups.iter().filter_map(|(group, _)| {
        let models = &group.rank_distribution.as_ref()?.models;
        Some((group.corpus.as_str(), models.as_slice()))
    });
    let counted: Vec<(&'a str, &'a [ModelRanks])> = counted.collect();
    let largest = counted.iter().filter_map(|(corpus, models)| Some((*corpus, models.last()?)));
    let smallest = counted.iter().filter_map(|(corpus, models)| match models {
        [first, .., _] => Some((*corpus, first)),
        _ => None,
    });
    let panels: Vec<(&'a str, &'a ModelRanks)> = smallest.chain(largest).collect();
    if panels.is_empty() {
        return Err(
            "ranks were not counted, or none of their distributions could be fitted".to_owned()
        );
    }
    let values = panels.iter().filter_map(|(corpus, ranks)| {
        let best = ranks.fits.first()?;
        let lognormal = ranks.fit("lognormal").map(|fit| format::significant(fit.aic_difference));
        Some([
            (*corpus).to_owned(),
            ranks.model.clone(),
            format::form(&best.form),
            format::fixed(best.ks, 3),
            lognormal.unwrap_or_default(),
        ])
    });
    let values = Values::new(
        ["corpus", "model", "best by AIC", "its KS distance", "AIC of the lognormal less the best"],
        values,
    );
    let caption = format!(
        "Share of tokens at one rank, by rank: bars as measured, the line the best of the forms. Below, measured over \
         fitted for each form: flat at 1 where a form is right. Bins widen with the rank. Forms are fitted by maximum \
         likelihood and truncated at the vocabulary. In the upper panels a straight line would be a power law, a \
         parabola a lognormal. Ratios beyond {FARTHEST} leave the axes."
    );
    let numbers =
        Frame::stacked(panels.iter().map(|(corpus, ranks)| rows(family.name, corpus, ranks)));
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let mut legend = vec![Key::new(Style::for_corpus(0), Sample::Band, "measured")];
        let drawn = panels.iter().map(|(corpus, ranks)| {
            let rows = frame.rows().matching("corpus", corpus).matching("model", &ranks.model);
            for (_, name, style, line) in shown(&rows) {
                let key = Key::new(style, Sample::Line(line), name);
                if !legend.contains(&key) {
                    legend.push(key);
                }
            }
            (shares(&rows), ratios(&rows))
        });
        let drawn: Vec<(Panel, Panel)> = drawn.collect();
        let columns = if panels.len() > 1 { drawn.len().div_ceil(2) } else { 1 };
        let mut rows: Vec<Vec<Panel>> = Vec::new();
        for (at, (above, below)) in drawn.into_iter().enumerate() {
            if at % columns == 0 {
                rows.extend([Vec::new(), Vec::new()]);
            }
            if let [.., upper, lower] = rows.as_mut_slice() {
                upper.push(above);
                lower.push(below);
            }
        }
        Drawing::new(legend, rows).paired()
    })
    .with(values))
}

fn rows(family: &str, corpus: &str, ranks: &ModelRanks) -> Frame {
    let rows = ranks.bins.iter().flat_map(|bin| {
        ranks.fits.iter().enumerate().map(move |(at, fit)| (bin, fit, bin.fitted.get(at).copied()))
    });
    // Probability of one rank of the bin, on average over the bin.
    let density = |probability: f64, bin: &RankBin| probability / f64::from(bin.width());
    let observed = |bin: &RankBin| {
        (bin.tokens > 0).then(|| density(bin.tokens as f64 / ranks.tokens as f64, bin))
    };
    Frame::from_rows::<(&RankBin, &RankFit, Option<f64>)>(rows)
        .column("lowest_rank", |(bin, ..)| bin.low)
        .column("highest_rank", |(bin, ..)| bin.high)
        .column("tokens", |(bin, ..)| bin.tokens)
        .column("share_per_rank", |(bin, ..)| observed(bin))
        .column("form", |(_, fit, _)| &fit.form)
        .column("fitted_share_per_rank", |(bin, _, fitted)| {
            fitted.map(|fitted| density(fitted, bin))
        })
        .frame()
        .led([
            ("family", family.into()),
            ("corpus", corpus.into()),
            ("model", (&ranks.model).into()),
            ("non_embedding_parameters", ranks.parameters.into()),
        ])
}

/// The forms that are drawn of a model: those of the paper, and the best one, which comes first in
/// the table. Name of the form, text, style and line.
fn shown<'f>(rows: &Rows<'f>) -> Vec<(&'f str, &'static str, Style, Line)> {
    let styles = [
        (Style::for_corpus(1), Line::Solid),
        (Style::for_corpus(2), Line::Dashed),
        (Style::for_corpus(3), Line::DashDot),
    ];
    let there: Vec<&str> = rows.by("form").iter().map(|rows| rows.text("form")).collect();
    let mut shown: Vec<_> = FORMS
        .iter()
        .zip(styles)
        .filter(|((form, _), _)| there.contains(form))
        .map(|((form, text), (style, line))| (*form, *text, style, line))
        .collect();
    if let Some(best) = there.first().filter(|best| FORMS.iter().all(|(form, _)| form != *best)) {
        shown.push((best, BEST, Style::NEUTRAL, Line::Dotted));
    }
    shown
}

/// Where a bin stands on the axis of ranks.
fn middle() -> Num {
    Num::made(["lowest_rank", "highest_rank"], |[low, high]| (low * high).sqrt())
}

/// What was measured, under the form that fits best.
fn shares(rows: &Rows<'_>) -> Panel {
    let (corpus, best) = (rows.text("corpus"), rows.text("form"));
    // Half a rank beyond the ends of a bin, lest a bin of one rank have no width.
    let from = Num::made(["lowest_rank"], |[low]| low - 0.5);
    let to = Num::made(["highest_rank"], |[high]| high + 0.5);
    let tip = |row: FrameRow<'_>| {
        format!(
            "{} on {}\nranks {} to {}: {} tokens\nshare per rank {}",
            row.text("model"),
            row.text("corpus"),
            row.plain("lowest_rank"),
            row.plain("highest_rank"),
            row.count("tokens"),
            row.significant("share_per_rank")
        )
    };
    // Each bin has a row for each form.
    let bins = rows.matching("form", best);
    let mut series = vec![Series::new(Style::for_corpus(0), corpus).bars(
        &bins,
        [from, to],
        "share_per_rank",
        tip,
    )];
    // A form that gives next to nothing to the tail may leave the axes by the foot.
    let foot = bins.range("share_per_rank").0 / 5.0;
    let drawn = shown(rows).into_iter().filter(|(form, ..)| *form == best);
    for (_, _, style, line) in drawn {
        let above = bins.only(|row| row.number("fitted_share_per_rank") >= Some(foot));
        let series_of = Series::new(style, corpus).stroke(line);
        series.push(series_of.line(&above, middle(), "fitted_share_per_rank"));
    }
    let heading = [corpus, rows.text("model")].map(|name| format::shortened(name, 20)).join(", ");
    let note = format!("best by AIC: {}", format::form(best));
    Panel {
        heading,
        notes: if rows.is_empty() { vec![] } else { vec![(Style::NEUTRAL, note)] },
        ..Panel::new(
            Axis::log("rank R").untitled(),
            Axis::log("share per rank").holding([foot]),
            170.0,
            series,
        )
    }
}

/// Measured over fitted, a line a form: 1 where the form is right.
fn ratios(rows: &Rows<'_>) -> Panel {
    let corpus = rows.text("corpus");
    let ratio = || {
        Num::made(["share_per_rank", "fitted_share_per_rank"], |[measured, fitted]| {
            measured / fitted
        })
    };
    // Where a form gives next to nothing its line leaves the axes.
    let drawn = rows.only(|row| {
        row.number("share_per_rank") > Some(0.0) && row.number("fitted_share_per_rank") > Some(0.0)
    });
    let series = shown(rows).into_iter().map(|(form, _, style, line)| {
        let rows = drawn.matching("form", form);
        Series::new(style, corpus).stroke(line).line(&rows, middle(), ratio())
    });
    let series: Vec<Series> = series.collect();
    let heights = series.iter().flat_map(Series::heights);
    let heights: Vec<f64> = heights.map(|at| at.clamp(1.0 / FARTHEST, FARTHEST)).collect();
    let ends = drawn.numbers("highest_rank").into_iter().map(|high| high + 0.5);
    Panel {
        apart: false,
        guides: vec![Guide::level(1.0, "", End::Left)],
        ..Panel::new(
            Axis::log("rank R").holding(ends).holding([0.5]),
            Axis::log("measured / fitted").closed(heights).holding([0.5, 2.0]),
            130.0,
            series,
        )
    }
}
