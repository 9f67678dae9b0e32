//! Several relative laws side by side: B's figure 1, three case studies in a row.

use relscale_laws::Gap;

use super::{Comparison, gap, trend};
use crate::figures::slot::{Figure, Kind, Made, Values};
use crate::format;
use crate::frame::Frame;
use crate::plot::{Drawing, Panel};

/// How this figure is made.
type OfAll = for<'a> fn(Vec<Comparison<'a>>) -> Made<'a>;

pub(super) const FIGURE: Kind<OfAll> =
    Kind { name: "cases", title: "Relative laws side by side", make };

/// Panels beside each other, and all that there can be.
const COLUMNS: usize = 3;
const MOST: usize = 9;

/// A panel each.
fn make<'a>(laws: Vec<Comparison<'a>>) -> Made<'a> {
    let panels = laws.into_iter().map(|law| (law, law.gaps().collect::<Vec<_>>()));
    let panels: Vec<(Comparison<'a>, Vec<&'a Gap>)> =
        panels.filter(|(_, gaps)| !gaps.is_empty()).take(MOST).collect();
    if panels.len() < 2 {
        let reason = "it takes two relative laws: relscale relative STUDY --baseline NAME ... --json STUDY/relative-NAME.json keeps a further one";
        return Err(reason.to_owned());
    }
    let values = panels.iter().map(|(of, gaps)| {
        let told = trend::summary(gap::laws(gaps));
        let told = if told.is_empty() { "no law".to_owned() } else { told };
        [heading(of), of.fit.error.clone(), told]
    });
    let values = Values::new(["comparison", "error", "gaps"], values);
    let caption = String::from(
        "The gap G of each treatment to its baseline against x, one panel a comparison; vertical axes span equally many decades, so equal slopes are \
         equal Δβ. Shaded regions lie beyond the data.",
    );
    let numbers = Frame::stacked(panels.iter().flat_map(|(of, gaps)| {
        gaps.iter().map(|one| gap::frame(of, one).led([("case", of.file.into())]))
    }));
    let title = format!("{} relative laws side by side", panels.len());
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let mut drawn: Vec<Panel> =
            panels.iter().map(|(of, gaps)| panel(frame, of, gaps)).collect();
        Panel::equal_spans(&mut drawn);
        Drawing::wrapped(trend::legend(&frame.rows(), false), drawn, COLUMNS)
    })
    .with(values))
}

fn panel(frame: &Frame, of: &Comparison<'_>, gaps: &[&Gap]) -> Panel {
    let rows = frame.rows().matching("case", of.file).matching("family", &of.family.name);
    let note = |rows: &crate::frame::Rows<'_>| {
        let row = rows.with("delta_beta").first()?;
        let (name, slope) = (row.text("treatment"), format::fixed(row.number("delta_beta")?, 4));
        let note = format!("{} {slope}, {}", format::shortened(name, 20), row.text("trend"));
        Some((of.style(name), note))
    };
    Panel {
        heading: heading(of),
        notes: rows.by("treatment").iter().filter(|_| of.named()).filter_map(note).collect(),
        ..gap::panel(of, gaps, &rows, false, 260.0)
    }
}

/// What a panel is of: `domain, gold option` of `relative-mmlu`.
fn heading(of: &Comparison<'_>) -> String {
    let name = of.file.strip_prefix("relative-").map_or_else(|| of.many(), str::to_owned);
    let family = if of.one_of_several { format!(" ({})", of.family.name) } else { String::new() };
    format!("{name}{family}, to {}", of.fit.options.baseline)
}
