//! Against the definition in f64, finite differences, and each other's tilings.

#![allow(clippy::needless_range_loop, reason = "the definition, index by index as it is written")]

use super::*;

use proptest::prelude::*;
use relscale_testkit::numbers::{check_gradient, numbers};

/// What the walk gives, or should.
struct Answer {
    losses: Losses,
    dx: Vec<f64>,
    dhead: Vec<f64>,
}

/// The definition, in f64, all logits at once.
fn naive(head: &Matrix, x: &[f32], targets: &[u32], factors: Factors) -> Answer {
    let width = head.columns;
    let (weight, z_loss) = (f64::from(factors.weight), f64::from(factors.z_loss));
    let mut answer = Answer {
        losses: Losses::default(),
        dx: vec![0.0; x.len()],
        dhead: vec![0.0; head.data.len()],
    };
    for ((x, dx), &target) in x.chunks(width).zip(answer.dx.chunks_mut(width)).zip(targets) {
        let z: Vec<f64> = (0..head.rows)
            .map(|v| head.row(v).iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum())
            .collect();
        let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let normaliser = z.iter().map(|z| (z - top).exp()).sum::<f64>().ln() + top;
        answer.losses.nll += normaliser - z[target as usize];
        answer.losses.squares += normaliser * normaliser;
        for v in 0..head.rows {
            let p = (z[v] - normaliser).exp();
            let aimed = if v == target as usize { 1.0 } else { 0.0 };
            let dz = weight * (p * (1.0 + 2.0 * z_loss * normaliser) - aimed);
            for i in 0..width {
                dx[i] += dz * f64::from(head.row(v)[i]);
                answer.dhead[v * width + i] += dz * f64::from(x[i]);
            }
        }
    }
    answer
}

/// The walk over the given tiles, into a `dx` of rubbish and on top of a `dhead` of ones.
fn walked(
    [rows, entries]: [usize; 2],
    head: &Matrix,
    x: &[f32],
    targets: &[u32],
    factors: Factors,
) -> Answer {
    let (mut dx, mut dhead) = (vec![f32::NAN; x.len()], Matrix::zeros(head.rows, head.columns));
    dhead.data.fill(1.0);
    let mut scratch = Scratch::in_tiles(rows, entries);
    let losses = forward_backward(head, x, targets, factors, &mut dx, &mut dhead, &mut scratch);
    Answer {
        losses,
        dx: dx.into_iter().map(f64::from).collect(),
        dhead: dhead.data.into_iter().map(|d| f64::from(d) - 1.0).collect(),
    }
}

#[track_caller]
fn check(got: &Answer, want: &Answer, tolerance: f64) {
    for (got, want) in
        [(got.losses.nll, want.losses.nll), (got.losses.squares, want.losses.squares)]
    {
        assert!((got - want).abs() < tolerance * want.abs().max(1.0), "{got} for {want}");
    }
    for (got, want) in [(&got.dx, &want.dx), (&got.dhead, &want.dhead)] {
        for (at, (got, want)) in got.iter().zip(want).enumerate() {
            assert!((got - want).abs() < tolerance * want.abs().max(1.0), "{at}: {got} for {want}");
        }
    }
}

fn some(rows: usize, vocabulary: usize, width: usize, scale: f32) -> (Matrix, Vec<f32>, Vec<u32>) {
    let mut data = numbers(vocabulary * width, 1);
    data.iter_mut().for_each(|w| *w *= scale);
    let targets = (0..rows).map(|n| (n * 7 % vocabulary) as u32).collect();
    (Matrix { rows: vocabulary, columns: width, data }, numbers(rows * width, 2), targets)
}

#[test]
fn gradients_agree_with_finite_differences_in_any_tiles() {
    let (head, x, targets) = some(5, 11, 4, 1.5);
    for z_loss in [0.0, 0.3] {
        let factors = Factors { weight: 0.5, z_loss };
        let loss = |x: &[f32], w: &[f32]| {
            let head = Matrix { data: w.to_vec(), ..head };
            let Losses { nll, squares } = naive(&head, x, &targets, factors).losses;
            0.5 * (nll + f64::from(z_loss) * squares)
        };
        for tile in [[5, 11], [2, 11], [5, 4], [3, 1]] {
            let got = walked(tile, &head, &x, &targets, factors);
            let f32s = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<_>>();
            check_gradient("x", &x, &f32s(&got.dx), |x| loss(x, &head.data));
            check_gradient("head", &head.data, &f32s(&got.dhead), |w| loss(&x, w));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_tiling_agrees_with_the_definition(
        rows in 1usize..70,
        vocabulary in 1usize..400,
        width in 1usize..20,
        r in 1usize..80,
        t in 1usize..500,
        // Up to logits of some hundreds: the largest of a row may stand in any tile, and the rest
        // may vanish beside it.
        scale in prop::sample::select(vec![1e-3f32, 1.0, 30.0]),
        z_loss in prop::sample::select(vec![0.0f32, 0.1]),
    ) {
        let (head, x, targets) = some(rows, vocabulary, width, scale);
        let factors = Factors { weight: 1.0 / rows as f32, z_loss };
        let got = walked([r, t], &head, &x, &targets, factors);
        // The gradients grow with the head, and the error of a logit with it.
        check(&got, &naive(&head, &x, &targets, factors), 1e-5 * f64::from(scale).max(1.0));
    }

    #[test]
    fn tiles_stay_in_their_budget_and_cover_the_vocabulary(rows in 1usize..100_000, vocabulary in 1usize..400_000) {
        let tiling = Tiling::new(rows, vocabulary);
        prop_assert!(tiling.rows >= 1 && tiling.rows <= rows && tiling.entries >= 1);
        prop_assert!(tiling.rows * tiling.entries <= tiling::BUDGET);
        let mut next = 0;
        for tile in tiling.tiles(vocabulary) {
            prop_assert!(tile.start == next && !tile.is_empty() && tile.len() <= tiling.entries);
            next = tile.end;
        }
        prop_assert_eq!(next, vocabulary);
    }
}

/// The one choice that a run meets, on both sides of the border: a head that fits into one tile,
/// and one that does not.
#[test]
fn the_chosen_tiles_agree_with_the_definition() {
    for (rows, vocabulary) in [(130, 700), (2, tiling::BUDGET / 2 + 5)] {
        let (head, x, targets) = some(rows, vocabulary, 3, 1.0);
        let factors = Factors { weight: 1.0 / rows as f32, z_loss: 1e-2 };
        let (mut dx, mut dhead) = (vec![0.0; x.len()], Matrix::zeros(vocabulary, 3));
        let mut scratch = Scratch::default();
        let losses =
            forward_backward(&head, &x, &targets, factors, &mut dx, &mut dhead, &mut scratch);
        let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
        let got = Answer { losses, dx: wide(dx), dhead: wide(dhead.data) };
        check(&got, &naive(&head, &x, &targets, factors), 1e-5);
        assert!(scratch.logits.capacity() <= tiling::BUDGET);
    }
}

/// A logit that is no number must reach the loss from any tile, whichever it meets there.
#[test]
fn what_is_not_finite_is_not_hidden() {
    for (broken, value) in
        [(0, f32::NAN), (6, f32::NAN), (19, f32::NAN), (6, f32::INFINITY), (19, f32::MAX)]
    {
        let (mut head, x, targets) = some(4, 20, 3, 1.0);
        head.data[broken * 3..broken * 3 + 3].fill(value);
        let factors = Factors { weight: 1.0, z_loss: 0.0 };
        // Logits of f32::MAX run over.
        let x: Vec<f32> = x.iter().map(|x| x.abs() * 4.0 + 1.0).collect();
        for entries in [20, 7, 1] {
            let got = walked([3, entries], &head, &x, &targets, factors);
            assert!(!got.losses.nll.is_finite(), "{value} in row {broken}, tiles of {entries}");
        }
    }
}
