//! Numbers with the place from which they come.
//!
//! Every number of a result stands on the page as `<data value="..."
//! data-source="FILE#POINTER">text</data>`: the value as the file has it, the text as people read
//! it, FILE beside the page, POINTER by RFC 6901. Where an array stands at that place, the number
//! is its length; a `*` in the pointer takes all members, and their sum is meant; so is that of
//! places joined by ` + `. A sentence of a result carries its place in the same way, without a
//! value.
//!
//! The markup is written here, so what the template is given is already escaped: [`Html`].

use serde::Serialize;

use super::escape::escaped;
use super::typeset::typeset;
use crate::format::minus;
use crate::shown::{Cell, Number, Piece};

/// Escaped markup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Html(String);

impl Html {
    /// Text without numbers of a result.
    pub(super) fn text(text: &str) -> Self {
        Self(escaped(text))
    }

    /// A sentence of a result with its place.
    pub(super) fn source(place: &str, text: &Self) -> Self {
        Self(format!("<span data-source=\"{}\">{}</span>", escaped(place), text.0))
    }

    /// A number with its place.
    fn of_number(Number { value, place, text }: &Number) -> Self {
        let (place, text) = (escaped(place.as_str()), escaped(&minus(text.clone())));
        Self(format!("<data value=\"{value}\" data-source=\"{place}\">{text}</data>"))
    }

    /// A variance of two parts as a small stacked bar: the text's share, told beside it, and the
    /// models'.
    pub(super) fn parts(text_share: &Number) -> Self {
        let share = text_share.value.as_f64().unwrap_or_default().clamp(0.0, 1.0);
        let models = format!("{:.0} %", 100.0 * (1.0 - share));
        let words = format!(
            "of the variance of the exponent, {} is the text's and {models} the models'",
            text_share.text
        );
        let bar = format!(
            " <br><span class=\"parts\" role=\"img\" title=\"{words}\" aria-label=\"{words}\"><i style=\"width: {:.0}%\"></i></span>",
            100.0 * share
        );
        Self(format!("{bar}<small class=\"muted\">text {}</small>", Self::of_number(text_share).0))
    }

    /// Text after this.
    pub(super) fn then(mut self, text: &str) -> Self {
        self.0.push_str(&escaped(text));
        self
    }

    /// Markup after this.
    pub(super) fn with(mut self, other: &Self) -> Self {
        self.0.push_str(&other.0);
        self
    }
}

/// A cell of a table or a sentence: numbers with their places, sentences as in print.
impl From<&Cell> for Html {
    fn from(cell: &Cell) -> Self {
        let mut html = Self::default();
        for piece in cell.clone().in_line().pieces {
            match piece {
                Piece::Words(text) => html.0.push_str(&typeset(&text)),
                Piece::Sentence { text, place } => {
                    html.0.push_str(&Self::source(place.as_str(), &Self(typeset(&text))).0);
                }
                Piece::Number(number) => html.0.push_str(&Self::of_number(&number).0),
            }
        }
        html
    }
}

#[cfg(test)]
mod tests {
    use relscale_laws::{Estimate, Interval};

    use super::*;
    use crate::shown::At;

    #[test]
    fn a_number_carries_its_place() {
        let counts = vec![1_u64, 12_345];
        let cell = At::file("a/b.json", &counts).each().next_back().unwrap().count();
        assert_eq!(
            Html::from(&cell),
            Html("<data value=\"12345\" data-source=\"a/b.json#/1\">12,345</data>".into())
        );
    }

    #[test]
    fn an_estimate_is_three_numbers() {
        let interval =
            Interval::StudentT { low: -0.0981, high: 0.1104, level: 0.95, degrees_of_freedom: 5 };
        let estimate = Estimate { value: 0.1042, unit: "1".into(), standard_error: None, interval };
        let Html(html) = Html::from(&At::file("f", &estimate).estimate());
        assert_eq!(
            html,
            "<data value=\"0.1042\" data-source=\"f#/value\">0.1042</data> [<data value=\"-0.0981\" \
             data-source=\"f#/interval/low\">−0.0981</data>, <data value=\"0.1104\" \
             data-source=\"f#/interval/high\">0.1104</data>]"
        );
    }
}
