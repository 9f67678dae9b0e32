//! The rank histogram with the fitted densities (fig. 8c of the paper), log-log.

use relscale_laws::{ModelRanks, RankBin, RankFit};

use super::{Family, Figure, Kind, Made, OfFamily};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, Key, Line, Num, Panel, Sample, Series, Style};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "ranks", title: "The distribution of ranks, with fitted densities", make };

/// Forms that are drawn beside the best one, by the name that `laws.json` gives them: those that
/// the paper speaks of.
const FORMS: [(&str, &str); 3] = [
    ("lognormal", "lognormal"),
    ("point_mass", "point masses (Appendix B)"),
    ("zeta", "power law (zeta)"),
];

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
    let seen = panels.iter().filter_map(|(corpus, ranks)| {
        let best = ranks.fits.first()?;
        let lognormal = ranks.fit("lognormal").filter(|_| best.form != "lognormal");
        let behind = lognormal.map_or(String::new(), |fit| {
            format!(", the lognormal {} behind", format::significant(fit.aic_difference))
        });
        let (form, ks) = (best.form.replace('_', " "), format::fixed(best.ks, 3));
        Some(format!("{} on {corpus}: {form}{behind} (KS distance {ks})", ranks.model))
    });
    let caption = format!(
        "Share of tokens at one rank, by rank, both logarithmic; bins widen with the rank. Bars are measured, lines are \
         forms fitted by maximum likelihood and truncated at the vocabulary. A straight line would be a power law, a \
         parabola a lognormal. Best by AIC: {}.",
        seen.collect::<Vec<_>>().join("; ")
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
            panel(&rows)
        });
        let drawn: Vec<Panel> = drawn.collect();
        let columns = if panels.len() > 1 { drawn.len().div_ceil(2) } else { 1 };
        Drawing::wrapped(legend, drawn, columns)
    }))
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

fn panel(rows: &Rows<'_>) -> Panel {
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
    for (form, _, style, line) in shown(rows) {
        let above = rows
            .matching("form", form)
            .only(|row| row.number("fitted_share_per_rank") >= Some(foot));
        let middle = Num::made(["lowest_rank", "highest_rank"], |[low, high]| (low * high).sqrt());
        let series_of = Series::new(style, corpus).stroke(line);
        series.push(series_of.line(&above, middle, "fitted_share_per_rank"));
    }
    let heading = [corpus, rows.text("model")].map(|name| format::shortened(name, 20)).join(", ");
    let note = format!("best by AIC: {}", best.replace('_', " "));
    Panel {
        heading,
        notes: if rows.is_empty() { vec![] } else { vec![(Style::NEUTRAL, note)] },
        ..Panel::new(
            Axis::log("rank R"),
            Axis::log("share of tokens per rank").holding([foot]),
            260.0,
            series,
        )
    }
}
