//! mu/sigma against S (fig. 8d of the paper): hypothesis 2, that it is a straight line in ln S.

use relscale_laws::RatioLaw;

use super::curve::{BAR, S};
use super::{Family, Figure, Kind, Made, OfFamily};
use crate::format;
use crate::frame::{Frame, FrameRow};
use crate::plot::{Axis, Drawing, Marks, Num, Panel, Series};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "mu-sigma", title: "μ/σ of the lognormal against model size", make };

/// A panel for each lognormal form.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    // By form, in the order in which they are met.
    let mut forms: Vec<(&'a str, Vec<(&'a str, &'a RatioLaw)>)> = Vec::new();
    for (group, _) in &family.groups {
        let laws = group.rank_distribution.as_ref().map_or(&[][..], |ranks| &ranks.ratio_laws);
        for law in laws.iter().filter(|law| !law.points.is_empty()) {
            match forms.iter_mut().find(|(form, _)| *form == law.form) {
                Some((_, known)) => known.push((&group.corpus, law)),
                None => forms.push((&law.form, vec![(&group.corpus, law)])),
            }
        }
    }
    if forms.is_empty() {
        return Err(
            "ranks were not counted, or μ and σ could not be told apart for any model".to_owned()
        );
    }
    let all = || forms.iter().flat_map(|(_, laws)| laws);
    let left = match all().map(|(_, law)| law.left_out.len()).sum() {
        0 => String::new(),
        1 => " One model has no such number and is left out.".to_owned(),
        more => format!(
            " {more} models have no such number (the fit ran into a limit of the form, or μ and σ cannot be told apart) \
             and are left out."
        ),
    };
    let seen: Vec<&str> = all().map(|(_, law)| law.verdict.as_str()).collect();
    let caption = format!(
        "Mean over standard deviation of ln R of the lognormal that was fitted to each model's ranks; the paper's second \
         hypothesis is a straight line on this axis of log S. Bars span 95 % over documents.{left} {}",
        seen.join(" ")
    );
    let numbers = Frame::stacked(all().map(|(corpus, law)| rows(family.name, corpus, law)));
    let family = family.clone();
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let panels = forms.iter().map(|(form, laws)| vec![panel(&family, frame, form, laws)]);
        Drawing::new(vec![], panels.collect())
    }))
}

fn rows(family: &str, corpus: &str, law: &RatioLaw) -> Frame {
    let points = Frame::from_rows(&law.points)
        .column("model", |point| &point.model)
        .column(S, |point| point.parameters)
        .column("mu", |point| point.mu)
        .column("sigma", |point| point.sigma)
        .column("ratio", |point| point.ratio)
        .column("standard_error", |point| point.standard_error)
        .column("fitted", |point| Some(law.line.as_ref()?.at(point.parameters as f64)));
    let left_out = Frame::from_rows(&law.left_out)
        .column("model", |left| &left.label)
        .column(S, |left| left.x.unwrap_or_default() as u64)
        .column("left_out_because", |left| &left.reason);
    let head = [("family", family.into()), ("corpus", corpus.into()), ("form", (&law.form).into())];
    Frame::stacked([points.frame(), left_out.frame()]).led(head)
}

fn panel(family: &Family<'_>, frame: &Frame, form: &str, laws: &[(&str, &RatioLaw)]) -> Panel {
    let columns = ["ratio", "standard_error"];
    let low = || Num::made(columns, |[ratio, error]| ratio - BAR * error);
    let high = || Num::made(columns, |[ratio, error]| ratio + BAR * error);
    let tip = |row: FrameRow<'_>| {
        let fixed =
            |column| row.number(column).map_or(String::new(), |value| format::fixed(value, 3));
        let ratio = row.number("ratio").unwrap_or_default();
        format!(
            "{} on {}\nμ = {}, σ = {}\nμ/σ = {}",
            row.text("model"),
            row.text("corpus"),
            fixed("mu"),
            fixed("sigma"),
            format::with_error(ratio, row.number("standard_error"))
        )
    };
    let series = laws.iter().map(|(corpus, law)| {
        let rows = frame.rows().matching("form", form).matching("corpus", corpus);
        Series::new(family.style(corpus), corpus)
            .label(label(corpus, law))
            .line(&rows, S, "fitted")
            .marks(Marks::at(&rows, S, "ratio", tip).error(low(), high()))
    });
    Panel {
        heading: match form {
            "point_mass" => format::form(form),
            form => format!("{}, cut into whole ranks", format::form(form)),
        },
        ..Panel::new(Axis::sizes(), Axis::linear("μ/σ"), 260.0, series.collect())
    }
}

fn label(corpus: &str, law: &RatioLaw) -> Vec<String> {
    let line = law.line.as_ref();
    let slope = line.map_or("no line".to_owned(), |line| {
        format!("slope {} per unit of ln S", format::estimate(&line.slope))
    });
    let line = line.filter(|_| law.points.len() > 2);
    let r_squared = line.map(|line| format!("R² {}", format::r_squared(line.r_squared)));
    [Some(corpus.to_owned()), Some(slope), r_squared].into_iter().flatten().collect()
}
