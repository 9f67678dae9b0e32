//! R² against k (fig. 6a of the paper): up to which k a power law describes the family.

use relscale_laws::PowerLaw;

use super::by_k::{self, FitsByK};
use super::{Family, Figure, Kind, Made, OfFamily};
use crate::format;
use crate::frame::FrameRow;
use crate::plot::{Axis, Drawing, End, Guide, Marks, Panel};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "fit-by-k", title: "R² of the rank law against k", make };

/// What the paper reports for k below 1000.
const PAPER: f64 = 0.9;

/// R² of each rank law of three models or more.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    // Two points lie on their line whatever they are.
    let corpora = FitsByK::from_family(family, |fit| fit.points > 2 && fit.r_squared.is_some())
        .ok_or("it needs laws of three models or more at two k or more")?;
    let numbers = by_k::selection(&corpora)
        .column("r_squared", |(.., fit)| fit.r_squared)
        .column("models", |(.., fit)| fit.points)
        .column("slope_claimed", |(.., fit)| fit.claimed)
        .frame();
    let family = family.clone();
    Ok(Figure::new(FIGURE.title, caption(&corpora), numbers, move |frame| {
        let rows = frame.rows();
        let tip = |row: FrameRow<'_>| {
            let r_squared = format::r_squared(row.number("r_squared"));
            format!("{}\nk = {}\nR² {r_squared}", row.text("corpus"), row.plain("k"))
        };
        let series = by_k::series(&family, &rows, |rows| Marks::at(rows, "k", "r_squared", tip));
        // The yardstick only where it does not squeeze what there is to see.
        let near = rows.numbers("r_squared").iter().any(|&r| r < PAPER + 0.03);
        let guide =
            || Guide::level(PAPER, format!("{PAPER}, the paper's bound for k < 1000"), End::Left);
        let y = Axis::linear("R² (log-log)").holding([1.0]).holding(near.then_some(PAPER - 0.015));
        let panel = Panel::new(Axis::grid(rows.numbers("k")), y, 260.0, series);
        Drawing::one(vec![], Panel { guides: near.then(guide).into_iter().collect(), ..panel })
    }))
}

fn caption(corpora: &[FitsByK<'_>]) -> String {
    // Corpora by the largest k up to which every fit is good.
    let mut ends: Vec<(Option<u32>, Vec<String>)> = Vec::new();
    for corpus in corpora {
        let good = |fit: &PowerLaw| fit.claimed && fit.r_squared.is_some_and(|r| r > PAPER);
        let end = corpus.fits.iter().take_while(|(_, fit)| good(fit)).last().map(|(k, _)| *k);
        let name = corpus.corpus.to_owned();
        match ends.iter_mut().find(|(known, _)| *known == end) {
            Some((_, corpora)) => corpora.push(name),
            None => ends.push((end, vec![name])),
        }
    }
    let seen = ends.iter().map(|(end, corpora)| match end {
        Some(k) => {
            let k = format::count(u64::from(*k));
            format!(
                "a slope is claimed with R² above {PAPER} up to k = {k} on {}",
                format::list(corpora)
            )
        }
        None => {
            format!("no slope with R² above {PAPER} at the first k on {}", format::list(corpora))
        }
    });
    let seen: Vec<String> = seen.collect();
    let hollow = by_k::all(corpora).any(|fit| !fit.claimed);
    format!(
        "The share of the variance of ln(−ln RBP) over models that the fitted line explains: 1 is a perfect power law. \
         The paper reports more than {PAPER} for k below 1000.{} Seen: {}.",
        if hollow { " Hollow marks: too few misses or hits to claim a slope." } else { "" },
        seen.join("; ")
    )
}
