//! A drawing with everything that a drawing can have, in every style.

use super::series::{Bar, Point};
use super::*;

fn everything() -> Drawing {
    let style = Style::for_corpus(1);
    let point = |x: f64, look| Point {
        bar: Some((0.5 / x, 2.0 / x)),
        look,
        ..Point::new(x, 1.0 / x, format!("at {x}"))
    };
    let sizes = [1.0, 10.0, 100.0];
    let fitted = Series {
        path: sizes.map(|x| (x, 1.0 / x)).to_vec(),
        beyond: vec![(100.0, 0.01), (200.0, 0.005)],
        band: sizes.map(|x| (x, 0.8 / x, 1.2 / x)).to_vec(),
        label: vec![
            "a \"name\" <of> text".to_owned(),
            "α 0.104 [0.098, 0.110]".to_owned(),
            "R² 0.9".to_owned(),
        ],
        points: vec![
            point(1.0, Look::Filled),
            point(10.0, Look::Hollow),
            point(100.0, Look::HeldOut),
        ],
        ..Series::new(style, "a \"name\"")
    };
    let bars = Series {
        bars: vec![Bar { from: 1.0, to: 10.0, value: 0.5, tip: "bar".to_owned() }],
        ..Series::new(Style::for_corpus(0), "")
    };
    let panel = Panel {
        heading: "heading".to_owned(),
        shades: vec![Shade::above(30.0, "beyond the data")],
        guides: vec![
            Guide::level(0.1, "level", End::Left),
            Guide::Upright { at: 3.0, text: "upright".to_owned() },
        ],
        ..Panel::new(
            Axis::sizes().closed(sizes),
            Axis::log("y").closed([0.005, 2.0]),
            200.0,
            vec![fitted, bars],
        )
    };
    let key = |sample| Key::new(style, sample, "key");
    let (x, z) = (Axis::sizes().closed(sizes), Axis::linear("z").closed([0.0, 1.0]));
    let other = Panel::new(x, z, 200.0, Vec::new());
    Drawing {
        title: "all".to_owned(),
        legend: vec![
            key(Sample::Band),
            key(Sample::Line(Line::Dotted)),
            key(Sample::Mark(Mark::Wedge, Look::HeldOut)),
            key(Sample::Series(Line::DashDot, Mark::Triangle)),
        ],
        rows: vec![vec![panel, other]],
        together: 1,
    }
}

/// The numbers of an attribute that is met in a drawing.
fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
    let start = format!(" {attribute}=\"");
    svg.split(&start).skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
}

#[test]
fn every_part_is_drawn_inside_the_canvas() {
    for style in FigureStyle::ALL {
        let svg = svg(&everything(), style);
        assert!(svg.starts_with("<svg role=\"img\" aria-label=\"all\" viewBox=\"0 0 "), "{style}");
        for text in [
            "heading",
            "level",
            "upright",
            "<title>at 100</title>",
            "<title>bar</title>",
            "α 0.104 [0.098, 0.110]",
        ] {
            assert!(svg.contains(text), "{style}: {text}");
        }
        assert!(svg.contains("data-whose=\"a &quot;name&quot;\""), "{style}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{style}");
        let width = style.width();
        for at in
            [numbers(&svg, "x"), numbers(&svg, "x1"), numbers(&svg, "x2"), numbers(&svg, "cx")]
                .concat()
        {
            assert!((0.0..=width).contains(&at), "{style}: {at} is outside");
        }
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count(), "{style}");
    }
}

#[test]
fn panels_stand_above_each_other_in_a_column_and_the_file_has_its_width() {
    let (column, page) =
        (svg(&everything(), FigureStyle::Column), svg(&everything(), FigureStyle::Page));
    assert!(column.contains("width=\"3.35in\""));
    assert!(page.contains("width=\"900\""));
    let height = |svg: &str| {
        svg.split("viewBox=\"0 0 ")
            .nth(1)
            .and_then(|rest| rest.split([' ', '"']).nth(1)?.parse().ok())
    };
    let (column, page): (Option<f64>, Option<f64>) = (height(&column), height(&page));
    assert!(column > page.map(|height| height + 60.0), "{column:?} {page:?}");
}

#[test]
fn a_band_lies_behind_the_line_and_the_line_behind_the_marks() {
    let svg = svg(&everything(), FigureStyle::Page);
    let at = |what: &str| svg.find(what).unwrap_or_else(|| panic!("no {what}"));
    // The band is the only area of the series' colour; the line the only one two pixels wide after
    // the legend.
    let band = at("fill=\"#d55e00\" fill-opacity=\"0.16\"");
    let line = svg.rfind("stroke-width=\"2\"").unwrap();
    assert!(band < line && line < at("<title>at 1</title>"));
}
