//! Plane and surface through checkpoints, and how they miss others.

use relscale_stats::StatsError;
use relscale_stats::optimise::plane;
use relscale_stats::surface::{Search, Surface, SurfaceFit, project};

use super::checkpoints::Checkpoint;

/// The surface through checkpoints, from `near` where there is one.
pub(super) fn surface(
    checkpoints: &[Checkpoint<'_>],
    near: Option<Surface>,
) -> Result<SurfaceFit, StatsError> {
    let column = |of: fn(&Checkpoint<'_>) -> f64| checkpoints.iter().map(of).collect::<Vec<f64>>();
    let (size, tokens) = (column(|one| one.size), column(|one| one.tokens));
    let search = Search { from: near, ..Search::default() };
    project(&size, &tokens, &column(|one| one.error()), search)
}

/// The plane through the logarithms, as a prediction.
pub(super) fn plane_of(
    checkpoints: &[Checkpoint<'_>],
) -> Option<impl Fn(&Checkpoint<'_>) -> f64 + use<>> {
    let log = |of: fn(&Checkpoint<'_>) -> f64| {
        checkpoints.iter().map(|one| of(one).ln()).collect::<Vec<f64>>()
    };
    let (size, tokens, error) =
        (log(|one| one.size), log(|one| one.tokens), log(|one| one.error()));
    let fit = plane::fit(&size, &tokens, &error).ok()?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // Through the means, as every plane of least squares.
    let centre = [mean(&size), mean(&tokens), mean(&error)];
    Some(move |one: &Checkpoint<'_>| {
        let along = fit.slopes[0] * (one.size.ln() - centre[0])
            + fit.slopes[1] * (one.tokens.ln() - centre[1]);
        (centre[2] + along).exp()
    })
}

/// Mean of |ln(predicted / found)|; none where a prediction is no error.
pub(super) fn misses<'c, 'a: 'c>(
    checkpoints: impl IntoIterator<Item = &'c Checkpoint<'a>>,
    predicted: impl Fn(&Checkpoint<'_>) -> f64,
) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for one in checkpoints {
        sum += (predicted(one) / one.error()).ln().abs();
        count += 1.0;
    }
    Some(sum / count).filter(|mean: &f64| mean.is_finite())
}
