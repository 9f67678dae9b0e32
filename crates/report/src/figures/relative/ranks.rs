//! delta_beta of the gaps of `-ln RBP_k` against k: the relative law of ranks, which neither paper
//! has.

use relscale_laws::{RankGap, RanksOfGap, Trend};

use super::{Comparison, OfComparison, slope, trend};
use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, End, Guide, Marks, Panel, Series};

pub(super) const FIGURE: Kind<OfComparison> =
    Kind { name: "gap-by-k", title: "The slopes of the gaps of −ln RBP against k", make };

/// The gaps that have slopes at several k.
fn make<'a>(of: Comparison<'a>) -> Made<'a> {
    let ranks = of.family.ranks.as_ref().ok_or(
        "no slopes by k are saved: relscale relative STUDY makes them of documents with ranks, not of tables or of questions with options",
    )?;
    let gaps: Vec<&RanksOfGap> = ranks.gaps.iter().filter(|gap| !gap.at.is_empty()).collect();
    if gaps.is_empty() {
        return Err("no gap of -ln RBP_k has a slope at any k".to_owned());
    }
    let left_out = if gaps.iter().any(|gap| !gap.left_out.is_empty()) {
        " A k at which a model misses nothing is left out."
    } else {
        ""
    };
    let few = if gaps.iter().flat_map(|gap| &gap.at).any(|at| !at.claimed()) {
        " A dot in outline is also where some model has too few misses or hits for a slope to be claimed."
    } else {
        ""
    };
    let baseline = &of.fit.options.baseline;
    let caption = format!(
        "The relative law of ranks: at each k the slope of ln G on ln x, G being −ln RBP of the treatment over that of {baseline}. Above 0 the gap widens at this \
         k. Bars are {} intervals (Student t); neighbouring k share most of their hits, so they err together. Marks tell the verdict of each k.{few}{left_out} \
         Seen: {}",
        format::percent(of.fit.options.level),
        ranks.verdict
    );
    let title = format!("Δβ of −ln RBP to {baseline} by {}, against k", of.one());
    let numbers = Frame::stacked(gaps.iter().map(|gap| rows(&of, gap)));
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let rows = frame.rows();
        let series =
            rows.by("treatment").into_iter().flat_map(|rows| series(&of, &rows.with("delta_beta")));
        let y = Axis::linear("Δβ, slope of ln G on ln x").holding([0.0]);
        let grid = Axis::grid(rows.with("delta_beta").numbers("k"));
        let panel = Panel::new(grid, y, 320.0, series.collect());
        let guides = vec![Guide::level(0.0, "0: parallel", End::Right)];
        Drawing::one(trend::legend(&rows, false), Panel { guides, ..panel })
    }))
}

fn rows(of: &Comparison<'_>, gap: &RanksOfGap) -> Frame {
    let there = Frame::from_rows(&gap.at)
        .column("k", |at| at.k)
        .column("delta_beta", |at| at.delta_beta.value)
        .ends(["low", "high"], |at| at.delta_beta.bounds())
        .column("standard_error_of_text", |at| at.delta_beta_sampling.standard_error)
        .column("gap_at_smallest", |at| at.ends.0)
        .column("gap_at_largest", |at| at.ends.1)
        .column("models", |at| at.models)
        .column("difference_q", |at| Some(at.tests?.difference_q))
        .column("equivalence_q", |at| Some(at.tests?.equivalence_q))
        .column("trend", |at| at.trend.name())
        .column("slope_claimed", RankGap::claimed);
    let missing = Frame::from_rows(&gap.left_out)
        .column("k", |(k, _)| *k)
        .column("left_out_because", |(_, reason)| reason);
    Frame::stacked([there.frame(), missing.frame()]).led([
        ("family", (&of.family.name).into()),
        ("treatment", (&gap.treatment).into()),
        ("baseline", (&of.fit.options.baseline).into()),
    ])
}

/// The line of a treatment, then its marks: a series has one, and verdicts differ by k.
fn series(of: &Comparison<'_>, rows: &Rows<'_>) -> Vec<Series> {
    let treatment = rows.text("treatment");
    let series = || Series::new(of.style(treatment), treatment);
    let label = if of.named() { vec![treatment.to_owned()] } else { vec![] };
    let tip = |row: FrameRow<'_>| {
        let claim = if row.flag("slope_claimed") {
            row.text("trend")
        } else {
            "too few misses or hits to claim a slope"
        };
        format!("{treatment}\nk = {}\nΔβ {}\n{claim}", row.plain("k"), slope(row))
    };
    let mut line = series().line(rows, "k", "delta_beta").label(label);
    let mut all = Vec::new();
    for rows in rows.by("k") {
        let verdict = rows.first().map_or(Trend::Undecided, trend::verdict);
        let marks = Marks::at(&rows, "k", "delta_beta", tip).error("low", "high");
        all.push(series().shape(trend::mark(verdict)).marks(marks.all(trend::look(verdict))));
        // The label has the mark of the point that it leads to.
        line = line.shape(trend::mark(verdict));
    }
    all.insert(0, line);
    all
}
