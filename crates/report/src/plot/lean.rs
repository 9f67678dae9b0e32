//! The same SVG in fewer bytes: a page holds every figure twice.

/// Attributes that are places on the canvas.
const PLACES: [&str; 9] = ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r"];

/// Places to a tenth of a pixel; kuva writes some of them with all digits of a float.
pub(super) fn rounded(svg: &str) -> String {
    let mut lean = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find("=\"") {
        let (before, value) = (&rest[..at], &rest[at + 2..]);
        lean.push_str(before);
        lean.push_str("=\"");
        rest = value;
        // A name is behind a space; in a text there is no quotation mark that is not escaped.
        let name = before.rsplit(' ').next().unwrap_or_default();
        let Some(end) = value.find('"').filter(|_| PLACES.contains(&name)) else { continue };
        if let Ok(place) = value[..end].parse::<f64>() {
            lean.push_str(&((10.0 * place).round() / 10.0).to_string());
            rest = &value[end..];
        }
    }
    lean + rest
}

/// Without what a resting pointer is told: for screens that are touched.
pub(crate) fn untold(svg: &str) -> String {
    let mut lean = String::with_capacity(svg.len());
    let mut rest = svg;
    // What is told has its angle brackets escaped.
    while let Some((before, (_, after))) = rest
        .split_once("<title>")
        .and_then(|(before, told)| Some((before, told.split_once("</title>")?)))
    {
        lean.push_str(before);
        rest = after;
    }
    (lean + rest).replace("<g class=\"tt\">", "<g>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_rounded_and_nothing_else_is() {
        let svg = "<g data-whose=\"a x=&quot;0.12345\"><text x=\"169.39000000000001\" y=\"12\">0.12345</text>\
                   <line x1=\"0.04\" stroke-width=\"1.25\" /></g>";
        let lean = rounded(svg);
        let wanted = "<g data-whose=\"a x=&quot;0.12345\"><text x=\"169.4\" y=\"12\">0.12345</text>\
                      <line x1=\"0\" stroke-width=\"1.25\" /></g>";
        assert_eq!(lean, wanted);
        assert_eq!(rounded(""), "");
    }

    #[test]
    fn what_is_told_goes_and_the_mark_stays() {
        let svg = "<g class=\"tt\"><title>a &lt;b&gt;\nc</title><circle /></g><g><title>d";
        assert_eq!(untold(svg), "<g><circle /></g><g><title>d");
    }
}
