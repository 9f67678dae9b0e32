//! The verdicts: sentences with their numbers.

use relscale_records::digits;

use crate::result::{Direction, Estimate, Outcome, Plane, SizeTokens};

/// What a reader would be told who asks once.
pub(super) fn distribution(found: &SizeTokens, baseline: &str) -> String {
    let (name, split) = (&found.name, found.gap.as_ref().unwrap_or(&found.absolute));
    let what = match found.gap {
        Some(_) => format!("{name} against {baseline}: "),
        None => format!("{name} (baseline): "),
    };
    let quantity = if found.gap.is_some() { "the gap" } else { "the error" };
    let (size, tokens) = (&split.along_size, &split.along_tokens);
    match (&size.slope, &tokens.slope) {
        (Some(by_size), Some(by_tokens)) => {
            let finding = match (shown(by_size), shown(by_tokens)) {
                (true, true) => format!("both size and tokens move {quantity}"),
                (true, false) => format!("size moves {quantity}, and no effect of tokens is shown"),
                (false, true) => format!("tokens move {quantity}, and no effect of size is shown"),
                (false, false) => format!("neither size nor tokens are shown to move {quantity}"),
            };
            format!("{what}{finding}; {}, {}.", along("size", size), along("tokens", tokens))
        }
        (None, None) => format!("{what}{}.", plane_text(&split.plane)),
        (Some(_), None) => {
            format!(
                "{what}{}; tokens at fixed size are not known; {}.",
                along("size", size),
                plane_text(&split.plane)
            )
        }
        (None, Some(_)) => {
            format!(
                "{what}{}; size at fixed tokens is not known; {}.",
                along("tokens", tokens),
                plane_text(&split.plane)
            )
        }
    }
}

/// Both slopes at once, which need no slices.
fn plane_text(plane: &Outcome<Plane>) -> String {
    match plane {
        Outcome::Fitted(plane) => format!(
            "a plane over all checkpoints has slope {} along ln size and {} along ln tokens",
            slope(&plane.size),
            slope(&plane.tokens)
        ),
        Outcome::Refused { reason } => format!("no plane, {reason}"),
    }
}

/// Whether the interval excludes zero.
fn shown(slope: &Estimate) -> bool {
    slope.bounds().is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

/// `along size -0.0096 [-0.0135, -0.0057], in all 0.9648 times`.
fn along(what: &str, direction: &Direction) -> String {
    let (Some(found), Some(factor)) = (&direction.slope, direction.factor) else {
        return format!("nothing along {what}");
    };
    format!("along {what} {}, {} times over the range", slope(found), digits::number(factor))
}

fn slope(found: &Estimate) -> String {
    digits::estimate(found.value, found.bounds()).signed().to_string()
}
