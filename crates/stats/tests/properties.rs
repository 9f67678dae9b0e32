//! What must hold for any data.

use proptest::prelude::*;
use relscale_stats::forms::power;
use relscale_stats::optimise::least_squares::{line, weighted_line};

/// Points with distinct x over a few decades and values that scatter about a falling law.
fn family() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (3_usize..12, -0.5..0.8_f64, 0.1..10.0_f64).prop_flat_map(|(points, alpha, scale)| {
        prop::collection::vec((0.5..3.0_f64, -0.2..0.2_f64), points).prop_map(move |steps| {
            let mut ln_x = 8.0;
            steps
                .into_iter()
                .map(|(step, noise)| {
                    ln_x += step;
                    (ln_x.exp(), scale * (noise - alpha * ln_x).exp())
                })
                .unzip()
        })
    })
}

proptest! {
    #[test]
    fn units_change_the_prefactor_alone((x, y) in family(), unit_x in 1e-9..1e9_f64, unit_y in 1e-9..1e9_f64) {
        let fit = power::fit(&x, &y).unwrap();
        let other_x: Vec<f64> = x.iter().map(|x| x * unit_x).collect();
        let other_y: Vec<f64> = y.iter().map(|y| y * unit_y).collect();
        let other = power::fit(&other_x, &other_y).unwrap();
        let width = fit.line.slope_standard_error().unwrap();
        prop_assert!((fit.exponent() - other.exponent()).abs() < 1e-9 * (1.0 + width));
        prop_assert!((fit.line.r_squared.unwrap() - other.line.r_squared.unwrap()).abs() < 1e-9);
        prop_assert!((other.at(x[0] * unit_x) / (fit.at(x[0]) * unit_y) - 1.0).abs() < 1e-9);
        let (a, b) = (fit.exponent_interval(0.95).unwrap(), other.exponent_interval(0.95).unwrap());
        prop_assert!((a.low - b.low).abs() + (a.high - b.high).abs() < 1e-9 * (1.0 + width));
    }

    #[test]
    fn residuals_are_orthogonal_and_leverages_sum_to_two((x, y) in family()) {
        let (x, y): (Vec<f64>, Vec<f64>) = (x.iter().map(|x| x.ln()).collect(), y);
        let fit = line(&x, &y).unwrap();
        let size: f64 = y.iter().map(|y| y.abs()).sum();
        prop_assert!(fit.residuals.iter().sum::<f64>().abs() < 1e-12 * size);
        let along: f64 = fit.residuals.iter().zip(&x).map(|(e, x)| e * (x - fit.centre_x)).sum();
        prop_assert!(along.abs() < 1e-11 * size);
        prop_assert!((fit.leverage.iter().sum::<f64>() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn left_out_errors_equal_refits((x, y) in family()) {
        let x: Vec<f64> = x.iter().map(|x| x.ln()).collect();
        let fit = line(&x, &y).unwrap();
        let size: f64 = y.iter().map(|y| y.abs()).sum();
        for point in 0..x.len() {
            let (mut rest_x, mut rest_y) = (x.clone(), y.clone());
            rest_x.remove(point);
            rest_y.remove(point);
            let refit = line(&rest_x, &rest_y).unwrap();
            let error = y[point] - refit.at(x[point]);
            prop_assert!((error - fit.left_out_errors[point].unwrap()).abs() < 1e-9 * (size + error.abs()));
        }
    }

    #[test]
    fn whole_weights_are_repeated_points((x, y) in family(), seed in 0_u32..1000) {
        let x: Vec<f64> = x.iter().map(|x| x.ln()).collect();
        let times: Vec<u32> = (0..x.len() as u32).map(|i| 1 + (seed * 7 + i * 13) % 4).collect();
        let weights: Vec<f64> = times.iter().map(|&n| f64::from(n)).collect();
        let weighted = weighted_line(&x, &y, &weights).unwrap();
        let repeat = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(&times).flat_map(|(v, &n)| std::iter::repeat_n(*v, n as usize)).collect()
        };
        let repeated = line(&repeat(&x), &repeat(&y)).unwrap();
        let size: f64 = y.iter().map(|y| y.abs()).sum();
        prop_assert!((weighted.slope - repeated.slope).abs() < 1e-10 * size);
        prop_assert!((weighted.residual_sum_of_squares - repeated.residual_sum_of_squares).abs() < 1e-10 * size * size);
        prop_assert!((weighted.r_squared.unwrap() - repeated.r_squared.unwrap()).abs() < 1e-9);
    }

    #[test]
    fn a_fit_is_finite_or_refused(
        x in prop::collection::vec(any::<f64>(), 0..6),
        y in prop::collection::vec(any::<f64>(), 0..6),
    ) {
        if let Ok(fit) = line(&x, &y) {
            prop_assert!(fit.slope.is_finite() && fit.intercept.is_finite());
            prop_assert!(fit.residuals.iter().chain(&fit.leverage).all(|value| value.is_finite()));
            prop_assert!(fit.r_squared.is_none_or(|r| (0.0..=1.0).contains(&r)));
            prop_assert!(fit.slope_standard_error().is_none_or(f64::is_finite));
        }
    }
}
