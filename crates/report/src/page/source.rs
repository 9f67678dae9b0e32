//! Numbers with the place from which they come.
//!
//! Every number of a result stands on the page as `<data value="..." data-source="FILE#POINTER">text</data>`: the value as the
//! file has it, the text as people read it, FILE beside the page, POINTER by RFC 6901. Where an array stands at that
//! place, the number is its length; a `*` in the pointer takes all members, and their sum is meant; so is that of places
//! joined by ` + `. A sentence of a result carries its place in the same way, without a value.
//!
//! The markup is written here, so what the template is given is already escaped: [`Html`].

use std::fmt::{Display, Write as _};

use relscale_laws::Estimate;
use serde::Serialize;

use super::typeset::typeset;
use crate::format;

/// Escaped markup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Html(String);

impl Html {
    /// Text without numbers of a result.
    pub(super) fn text(text: &str) -> Self {
        Self(escaped(text))
    }

    /// Pieces in a row.
    pub(super) fn join(pieces: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let pieces: Vec<String> = pieces.into_iter().map(|piece| piece.0).collect();
        Self(pieces.join(&escaped(between)))
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

/// A place in a file of the study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Place(String);

impl Place {
    /// The whole of a file.
    pub(super) fn file(name: &str) -> Self {
        Self(format!("{name}#"))
    }

    /// A member or an entry of what is here.
    pub(super) fn at(&self, step: impl Display) -> Self {
        let step = step.to_string().replace('~', "~0").replace('/', "~1");
        Self(format!("{}/{step}", self.0))
    }

    /// The sum of what is at this place and at another.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self(format!("{} + {}", self.0, other.0))
    }

    /// A count, its digits in threes.
    pub(super) fn count(&self, value: u64) -> Html {
        self.number(value, &format::count(value))
    }

    /// A number as `text` shows it.
    pub(super) fn number(&self, value: impl Display, text: &str) -> Html {
        let mut html = String::with_capacity(self.0.len() + 64);
        let place = escaped(&self.0);
        let text = escaped(text);
        // Writing to a string does not fail.
        let _ = write!(html, "<data value=\"{value}\" data-source=\"{place}\">{text}</data>");
        Html(html)
    }

    /// A variance of two parts as a small stacked bar: the text's share, told beside it, and the models'.
    pub(super) fn parts(&self, text_share: f64) -> Html {
        let (text, models) = (format::share(text_share), format::share(1.0 - text_share));
        let width = 100.0 * text_share.clamp(0.0, 1.0);
        let words = format!("of the variance of the exponent, {text} is the text's and {models} the models'");
        let bar = format!(
            "<span class=\"parts\" role=\"img\" title=\"{words}\" aria-label=\"{words}\"><i style=\"width: {width:.0}%\"></i></span>"
        );
        Html(format!("{bar}<small class=\"muted\">text {}</small>", self.number(text_share, &text).0))
    }

    /// An estimate that is here: value and interval, or that there is none.
    pub(super) fn estimate(&self, estimate: &Estimate) -> Html {
        let places = format::places(estimate.bounds());
        self.bounded(estimate, |value| format::fixed(value, places))
    }

    /// The same with four digits, for numbers of any size.
    pub(super) fn significant(&self, estimate: &Estimate) -> Html {
        self.bounded(estimate, format::significant)
    }

    fn bounded(&self, estimate: &Estimate, text: impl Fn(f64) -> String) -> Html {
        let value = self.at("value").number(estimate.value, &text(estimate.value));
        let Some((low, high)) = estimate.bounds() else { return value.then(" (no interval)") };
        let interval = self.at("interval");
        let ends = [("low", low), ("high", high)].map(|(end, at)| interval.at(end).number(at, &text(at)));
        value.then(" [").with(&Html::join(ends, ", ")).then("]")
    }

    /// An estimate with its standard error.
    pub(super) fn with_error(&self, estimate: &Estimate) -> Html {
        let (value, error) = (estimate.value, estimate.standard_error);
        let text = format::with_error(value, error);
        match (text.split_once(" ± "), error) {
            (Some((first, second)), Some(error)) => {
                let value = self.at("value").number(value, first);
                value.then(" ± ").with(&self.at("standard_error").number(error, second))
            }
            _ => self.at("value").number(value, &text),
        }
    }

    /// A sentence that is here.
    pub(super) fn said(&self, text: &str) -> Html {
        Html(format!("<span data-source=\"{}\">{}</span>", escaped(&self.0), typeset(text)))
    }
}

/// Text as markup.
pub(super) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#x27;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use relscale_laws::Interval;

    use super::*;

    #[test]
    fn a_number_carries_its_place() {
        let place = Place::file("laws.json").at("groups").at(0).at("a/b");
        assert_eq!(
            place.count(12_345),
            Html("<data value=\"12345\" data-source=\"laws.json#/groups/0/a~1b\">12,345</data>".into())
        );
    }

    #[test]
    fn an_estimate_is_three_numbers() {
        let interval = Interval::StudentT { low: 0.0981, high: 0.1104, level: 0.95, degrees_of_freedom: 5 };
        let estimate = Estimate { value: 0.1042, unit: "1".into(), standard_error: None, interval };
        let Html(html) = Place::file("f").estimate(&estimate);
        assert_eq!(
            html,
            "<data value=\"0.1042\" data-source=\"f#/value\">0.1042</data> [<data value=\"0.0981\" \
             data-source=\"f#/interval/low\">0.0981</data>, <data value=\"0.1104\" \
             data-source=\"f#/interval/high\">0.1104</data>]"
        );
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(Html::text("<b>&\"'"), Html("&lt;b&gt;&amp;&quot;&#x27;".into()));
    }
}
