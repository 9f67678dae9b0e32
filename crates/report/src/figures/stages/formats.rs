//! How predictable each group's loss is, and its accuracy: B's figure 3, where the groups are
//! formats of a prompt.

use relscale_laws::{StagesFit, StagesGroup};

use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, End, Guide, Key, Look, Mark, Marks, Num, Panel, Series, Style};

pub(super) const FIGURE: Kind<()> =
    Kind { name: "formats", title: "Predictability and accuracy by group", make: () };

/// Height of a row in pixels, and of the frame beside them.
const ROW: f64 = 30.0;
const FRAME: f64 = 30.0;

/// R² of the loss, of all points and of each predicted from the others.
const WHOLE: &str = "quadratic_r_squared";
const LEFT_OUT: &str = "quadratic_left_out_r_squared";

/// Two groups or more.
pub(super) fn make(fit: &StagesFit) -> Made<'_> {
    if fit.groups.len() < 2 {
        let reason = "it compares groups, and there is one: relscale stages ... --group format makes one of each format";
        return Err(reason.to_owned());
    }
    let found = fit.groups.iter().map(|group| (group, &group.predictability));
    let mut known: Vec<(f64, &str)> = found
        .clone()
        .filter_map(|(group, found)| Some((found.quadratic?, group.name.as_str())))
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let told = |(r, name): &(f64, &str)| format!("{} ({name})", format::r_squared(Some(*r)));
    let seen = match known.as_slice() {
        [] => "no group has the four points that a parabola leaves a residual of".to_owned(),
        [(r, name)] => format!("R² {} of {name}", format::r_squared(Some(*r))),
        [least, .., most] => format!("R² from {} to {}", told(least), told(most)),
    };
    let caption = format!(
        "Left: the share of the variation of the loss that a parabola in ln x explains; outlines, with each point predicted from all others (below 0 when their \
         mean would predict better). Right: accuracy against x, in the same colours. A format is of use when its loss is predictable and its accuracy leaves chance. \
         Seen: {seen}."
    );
    let title = format!("Predictability of {} and {} by group", fit.loss, fit.accuracy);
    let numbers = Frame::stacked(fit.groups.iter().map(rows));
    Ok(Figure::new(title, caption, numbers, |frame| {
        let key = |look, text| Key::mark(Mark::Disc, look, text);
        let legend = vec![
            key(Look::Filled, "of all points"),
            key(Look::Hollow, "each point predicted from the others"),
            key(Look::HeldOut, "held out"),
        ];
        let rows = frame.rows();
        Drawing::new(legend, vec![vec![predictability(&rows), accuracy(fit, &rows)]])
    }))
}

/// The group, then its points.
fn rows(group: &StagesGroup) -> Frame {
    let whole = Frame::from_rows([&group.predictability])
        .column("row", |_| "group")
        .empty("model")
        .empty("x")
        .empty("loss")
        // That at the largest x.
        .column("accuracy", |_| group.points.last().map(|point| point.accuracy))
        .empty("held_out")
        .column(WHOLE, |found| found.quadratic)
        .column(LEFT_OUT, |found| found.quadratic_left_out)
        .column("power_r_squared", |found| found.power)
        .column("power_left_out_r_squared", |found| found.power_left_out);
    let points = Frame::from_rows(&group.points)
        .column("row", |_| "point")
        .column("model", |point| &point.label)
        .column("x", |point| point.x)
        .column("loss", |point| point.loss)
        .column("accuracy", |point| point.accuracy)
        .column("held_out", |point| point.held_out);
    Frame::stacked([whole.frame(), points.frame()]).led([("group", (&group.name).into())])
}

fn height(rows: &Rows<'_>) -> f64 {
    FRAME + ROW * rows.by("group").len() as f64
}

fn predictability(rows: &Rows<'_>) -> Panel {
    let groups = rows.matching("row", "group");
    let names: Vec<String> = groups.iter().map(|row| row.text("group").to_owned()).collect();
    let series = groups.by("group").into_iter().enumerate().flat_map(|(at, rows)| {
        let of = |column: &'static str, what: &str, look| {
            let tip = |row: FrameRow<'_>| {
                format!("{}\n{what}: R² {}", row.text("group"), row.significant(column))
            };
            let marks = Marks::at(&rows, column, Num::row("group", &names, 0.0), tip).all(look);
            Series::new(Style::for_corpus(at), rows.text("group")).shape(Mark::Disc).marks(marks)
        };
        [
            of(LEFT_OUT, "each point predicted from the others", Look::Hollow),
            of(WHOLE, "parabola of the loss in ln x", Look::Filled),
        ]
    });
    // One group without any predictability would press all others against 1.
    let shown =
        groups.numbers(LEFT_OUT).into_iter().map(|r| r.max(-0.5)).chain(groups.numbers(WHOLE));
    let x = Axis::linear("R² of the loss on compute").closed(shown).holding([1.0]);
    Panel {
        heading: "Predictability".to_owned(),
        guides: vec![Guide::upright(1.0)],
        ..Panel::new(x, Axis::rows(&names), height(rows), series.collect())
    }
}

fn accuracy(fit: &StagesFit, rows: &Rows<'_>) -> Panel {
    let tip = |row: FrameRow<'_>| {
        let x = format::quantity(row.number("x").unwrap_or_default());
        let (model, group) = (row.text("model"), row.text("group"));
        format!("{model}, {group}\nx = {x}\naccuracy {}", row.significant("accuracy"))
    };
    let look = |row: FrameRow<'_>| if row.flag("held_out") { Look::HeldOut } else { Look::Filled };
    let series =
        rows.matching("row", "point").by("group").into_iter().enumerate().map(|(at, rows)| {
            let marks = Marks::at(&rows, "x", "accuracy", tip).look(look);
            let series = Series::new(Style::for_corpus(at), rows.text("group")).shape(Mark::Disc);
            // Models of one x stand above each other; a line through them would say nothing.
            let one_each = rows.numbers("x").windows(2).all(|pair| pair[0] < pair[1]);
            if one_each { series.joined(marks) } else { series.marks(marks) }
        });
    let y = Axis::linear("accuracy").holding(fit.chance);
    let guides = fit.chance.map(|at| Guide::level(at, "chance", End::Right));
    Panel {
        heading: "Accuracy".to_owned(),
        guides: guides.into_iter().collect(),
        ..Panel::new(Axis::amounts(&fit.x), y, height(rows), series.collect())
    }
}
