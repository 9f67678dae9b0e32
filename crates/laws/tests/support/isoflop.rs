//! Tables of IsoFLOP sweeps on known surfaces, and what is asked of their fits.

use std::fs;
use std::path::{Path, PathBuf};

use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::{IsoflopFit, IsoflopGroup, LawsError, SurfaceLaw, SurfaceMethod};
use relscale_stats::surface::Surface;

/// Budgets of a made-up sweep.
pub(crate) const BUDGETS: [f64; 5] = [1e17, 1e18, 1e19, 1e20, 1e21];

/// Chinchilla's published surface (Hoffmann et al. 2022).
pub(crate) fn chinchilla() -> Surface {
    Surface::of_formula([1.69, 406.4, 410.7, 0.34, 0.28], 1.0, 1.0)
}

/// A file of the data for checks, when it is there.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    #[allow(clippy::print_stdout, reason = "says which tests were skipped")]
    if !path.exists() {
        println!("skipped: no {}", path.display());
        return None;
    }
    Some(path)
}

pub(crate) fn options() -> IsoflopOptions {
    IsoflopOptions { resamples: 20, ..IsoflopOptions::default() }
}

pub(crate) fn surface(group: &IsoflopGroup, method: SurfaceMethod) -> &SurfaceLaw {
    group.surfaces.iter().find(|surface| surface.method == method).unwrap().law().unwrap()
}

pub(crate) fn close(ours: f64, theirs: f64, relative: f64) {
    assert!((ours / theirs - 1.0).abs() <= relative, "{ours} instead of {theirs}");
}

/// A table of a sweep: for each budget, sizes spaced evenly in the logarithm about `centre` decades beside the optimum, `width` decades in all.
pub(crate) fn sweep(
    surface: &Surface,
    budgets: &[f64],
    sizes: usize,
    width: f64,
    centre: f64,
    mut noise: impl FnMut() -> f64,
) -> String {
    let mut table = "run,budget,params,tokens,loss,flops_convention,params_convention\n".to_owned();
    for budget in budgets {
        let (best, _) = surface.optimum(budget / 6.0);
        for at in 0..sizes {
            let decades = centre + width * (at as f64 / (sizes - 1) as f64 - 0.5);
            let n = best * 10_f64.powf(decades);
            let d = budget / 6.0 / n;
            let loss = surface.at(n, d) * (1.0 + noise());
            table += &format!("b{budget:e}-{at},{budget:e},{n:e},{d:e},{loss:e},train,non-embedding\n");
        }
    }
    table
}

pub(crate) fn fitted(table: &str, options: &IsoflopOptions) -> Result<IsoflopFit, LawsError> {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runs.csv");
    fs::write(&path, table).unwrap();
    fit_isoflop(&path, options)
}
