//! Tables of IsoFLOP sweeps on known surfaces, and what is asked of their fits.

use std::fs;

use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::{IsoflopFit, IsoflopGroup, LawsError, SurfaceLaw, SurfaceMethod};
use relscale_stats::surface::Surface;

/// Budgets of a made-up sweep.
pub(crate) const BUDGETS: [f64; 5] = [1e17, 1e18, 1e19, 1e20, 1e21];

/// Chinchilla's published surface (Hoffmann et al. 2022).
pub(crate) fn chinchilla() -> Surface {
    Surface::from_formula([1.69, 406.4, 410.7, 0.34, 0.28], 1.0, 1.0)
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

/// A table of a sweep: for each budget, sizes spaced evenly in the logarithm about `centre` decades
/// beside the optimum, `width` decades in all.
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
            table +=
                &format!("b{budget:e}-{at},{budget:e},{n:e},{d:e},{loss:e},train,non-embedding\n");
        }
    }
    table
}

/// Where the runs of a made-up sweep lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Design {
    /// Budgets from 1e17 (three: 1e18) to 1e21 FLOPs (three: 1e20), evenly in the logarithm.
    pub(crate) budgets: usize,
    pub(crate) sizes: usize,
    /// Decades from the smallest to the largest size.
    pub(crate) width: f64,
    /// Decades of their centre beside the optimum.
    pub(crate) centre: f64,
    /// Runs of each size.
    pub(crate) seeds: usize,
    /// So many below the optimum only, and one above.
    pub(crate) uneven: bool,
}

impl Design {
    pub(crate) const PLAIN: Self =
        Self { budgets: 5, sizes: 9, width: 1.4, centre: 0.0, seeds: 1, uneven: false };

    pub(crate) fn budgets(self) -> Vec<f64> {
        let (low, high) = if self.budgets == 3 { (18.0, 20.0) } else { (17.0, 21.0) };
        let step = (high - low) / (self.budgets - 1) as f64;
        (0..self.budgets).map(|at| 10_f64.powf(low + step * at as f64)).collect()
    }
}

/// A table of such a sweep.
pub(crate) fn seeded(surface: &Surface, design: Design, mut noise: impl FnMut() -> f64) -> String {
    let mut table = "run,budget,params,tokens,loss,flops_convention,params_convention\n".to_owned();
    for budget in design.budgets() {
        let (best, _) = surface.optimum(budget / 6.0);
        for at in 0..design.sizes {
            let decades =
                design.centre + design.width * (at as f64 / (design.sizes - 1) as f64 - 0.5);
            let n = best * 10_f64.powf(decades);
            let d = budget / 6.0 / n;
            let seeds = if design.uneven && n >= best { 1 } else { design.seeds };
            for seed in 0..seeds {
                let loss = surface.at(n, d) * (1.0 + noise());
                table += &format!(
                    "b{budget:e}-{at}-{seed},{budget:e},{n:e},{d:e},{loss:e},train,non-embedding\n"
                );
            }
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
