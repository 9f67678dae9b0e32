//! Sentences of the laws, written for terminals, as they look in print.
//!
//! `-ln RBP_10 falls as S^-0.12` becomes −ln RBP with a subscript and S with a superscript. The
//! words stay the same; the text is escaped first, so a name that is part of a sentence stays text.

use minijinja::Value;

use super::escape::escaped;

/// The filter `typeset` of the template.
pub(super) fn filter(text: String) -> Value {
    Value::from_safe_string(typeset(&text))
}

pub(super) fn typeset(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some((width, markup)) = mathematics(rest) {
            html.push_str(&markup);
            rest = &rest[width..];
            continue;
        }
        html.push_str(&escaped(next.encode_utf8(&mut [0; 4])));
        rest = &rest[next.len_utf8()..];
    }
    html
}

/// Names of quantities as terminals have them, and in print.
const WORDS: &[(&str, &str)] = &[
    ("RBP_k", "RBP<sub>k</sub>"),
    ("delta_beta", "δ<sub>β</sub>"),
    ("S^-alpha", "S<sup>−α</sup>"),
    ("A C^a", "A C<sup>a</sup>"),
    ("zipf mandelbrot", "Zipf–Mandelbrot"),
    ("zipf_mandelbrot", "Zipf–Mandelbrot"),
    ("yule simon", "Yule–Simon"),
    ("yule_simon", "Yule–Simon"),
    ("log logistic", "log-logistic"),
    ("log_logistic", "log-logistic"),
    ("point_mass", "point masses"),
    ("mu/sigma", "μ/σ"),
    ("chi²", "χ²"),
];

/// A piece of mathematics at the start of `text`: its length in bytes and its markup.
fn mathematics(text: &str) -> Option<(usize, String)> {
    if let Some(after) = text.strip_prefix("-ln ") {
        // The minus sign and a space that does not break.
        return Some((text.len() - after.len(), "−ln&nbsp;".to_owned()));
    }
    if text.starts_with("[-") {
        return Some(("[-".len(), "[−".to_owned()));
    }
    for (word, markup) in WORDS {
        if text.starts_with(word) {
            return Some((word.len(), (*markup).to_owned()));
        }
    }
    if let Some(after) = text.strip_prefix("RBP_") {
        let width = after.bytes().take_while(u8::is_ascii_digit).count();
        return (width > 0)
            .then(|| ("RBP_".len() + width, format!("RBP<sub>{}</sub>", &after[..width])));
    }
    if let Some(after) = text.strip_prefix("RBP^") {
        let width = after.bytes().take_while(u8::is_ascii_digit).count();
        return (width > 0)
            .then(|| ("RBP^".len() + width, format!("RBP<sup>{}</sup>", &after[..width])));
    }
    let after = text.strip_prefix("S^")?;
    let sign = usize::from(after.starts_with('-'));
    let number = after[sign..].bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    // A full stop at the end belongs to the sentence.
    let width = sign + after[sign..sign + number].trim_end_matches('.').len();
    (width > sign)
        .then(|| ("S^".len() + width, format!("S<sup>{}</sup>", after[..width].replace('-', "−"))))
}

#[cfg(test)]
mod tests {
    use super::typeset;

    #[test]
    fn laws_look_like_laws() {
        assert_eq!(
            typeset("-ln RBP_10 falls as S^-0.117, R² 0.999"),
            "−ln&nbsp;RBP<sub>10</sub> falls as S<sup>−0.117</sup>, R² 0.999"
        );
        assert_eq!(typeset("goes as S^0.02."), "goes as S<sup>0.02</sup>.");
        assert_eq!(typeset("as RBP^10 says"), "as RBP<sup>10</sup> says");
    }

    #[test]
    fn quantities_have_their_letters() {
        assert_eq!(
            typeset("delta_beta of -ln RBP_k; mu/sigma, chi² 3"),
            "δ<sub>β</sub> of −ln&nbsp;RBP<sub>k</sub>; μ/σ, χ² 3"
        );
    }

    #[test]
    fn negative_ends_have_a_minus() {
        assert_eq!(typeset("in [-0.231, 0.439]"), "in [−0.231, 0.439]");
    }

    #[test]
    fn names_stay_text() {
        assert_eq!(typeset("<b>&\"'"), "&lt;b&gt;&amp;&quot;&#x27;");
        assert_eq!(typeset("RBP_x S^y -lny é"), "RBP_x S^y -lny é");
    }
}
