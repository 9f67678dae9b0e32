//! Every head against the cases of `testdata/ranks` and against the reference on random rows.

use super::*;
use crate::kernels::{Choice, Dtype, Format, Input, Kernels, Order, Packed, TILE};
use crate::weights::Matrix;
use proptest::prelude::*;
use relscale_testkit::numbers::numbers;
use relscale_testkit::ranks::{Said, cases};

/// The heads under test: the reference, and the tiled one in every format that the processor has.
fn heads() -> Vec<(String, Option<Format>)> {
    let formats = [Dtype::F32, Dtype::Bf16].into_iter().flat_map(Format::all);
    let tiled = formats.map(|format| (format!("tiled, {format:?}"), Some(format)));
    [("reference".to_owned(), None)].into_iter().chain(tiled).collect()
}

fn tiled_by(
    format: Format,
    head: &Matrix,
    hidden: &[f32],
    targets: &[u32],
    vocabulary: &Vocabulary,
) -> Result<Vec<Option<Scored>>> {
    let mut input = Input::new(format);
    let width = head.columns;
    input.fill(hidden.len() / width, width, |i, out| {
        out.copy_from_slice(&hidden[i * width..(i + 1) * width])
    });
    tiled::score(&Packed::new(head, format, Order::Head), None, &input, targets, vocabulary, None)
}

/// The tiled head in f32 by the best kernels.
fn tiled(
    head: &Matrix,
    hidden: &[f32],
    targets: &[u32],
    vocabulary: &Vocabulary,
) -> Result<Vec<Option<Scored>>> {
    tiled_by(Format::new(Dtype::F32, Choice::Best), head, hidden, targets, vocabulary)
}

/// A head and a hidden row that yield exactly these logits in either type: three bf16 numbers sum
/// up to any f32. The fourth column keeps the row from being a special case of the product.
fn realise(logits: &[f32]) -> (Matrix, Vec<f32>) {
    let kept = |v: f32| half::bf16::from_f32(v).to_f32();
    let parts = |z: f32| {
        let first = kept(z);
        // Beyond the largest bf16 there is infinity, from which nothing can be taken.
        let first = if z.is_finite() && !first.is_finite() {
            f32::from_bits(z.to_bits() & 0xffff_0000)
        } else {
            first
        };
        if !z.is_finite() {
            return [first, 0.0, 0.0, 0.0];
        }
        let second = kept(z - first);
        [first, second, z - first - second, 0.0]
    };
    let data = logits.iter().flat_map(|z| parts(*z)).collect();
    (Matrix { rows: logits.len(), columns: 4, data }, vec![1.0, 1.0, 1.0, 0.0])
}

#[test]
fn cases_of_testdata() {
    for case in cases() {
        let logits = case.logits();
        let (head, hidden) = realise(&logits);
        let vocabulary = Vocabulary::only(logits.len(), |v| !case.left_out.contains(&v));
        // Products of bf16 by the processor take numbers below the smallest normal one for 0:
        // there, such logits are ties.
        let subnormal = logits.iter().any(|z| z.is_subnormal());
        let flushes = |format: &Format| {
            format.dtype() == Dtype::Bf16
                || matches!(format.kernels(), Kernels::Amx | Kernels::AmxModel)
        };
        for (name, format) in heads() {
            if subnormal && format.as_ref().is_some_and(flushes) {
                continue;
            }
            let (targets, known) = (&[case.target], &vocabulary);
            let got = match format {
                None => reference::score(&head, &hidden, targets, known)[0],
                Some(format) => tiled_by(format, &head, &hidden, targets, known).unwrap()[0],
            };
            let said = got.map(|Scored { rank, ties, nll, entropy, argmax }| Said {
                rank,
                ties,
                nll,
                entropy,
                argmax,
            });
            case.check(&name, said);
        }
    }
}

/// Compares the tiled head in every format of f32 with the reference; ranks may differ only by
/// entries within `slack` of the target.
fn compare(head: &Matrix, hidden: &[f32], targets: &[u32], vocabulary: &Vocabulary) {
    for format in Format::all(Dtype::F32) {
        compare_by(format, head, hidden, targets, vocabulary);
    }
}

fn compare_by(
    format: Format,
    head: &Matrix,
    hidden: &[f32],
    targets: &[u32],
    vocabulary: &Vocabulary,
) {
    let want = reference::score(head, hidden, targets, vocabulary);
    let got = tiled_by(format, head, hidden, targets, vocabulary).unwrap();
    for (n, (got, want)) in got.iter().zip(&want).enumerate() {
        let (got, want) = (got.unwrap(), want.unwrap());
        let h = &hidden[n * head.columns..(n + 1) * head.columns];
        let logit = |v: usize| -> f64 {
            head.row(v).iter().zip(h).map(|(w, h)| f64::from(*w) * f64::from(*h)).sum()
        };
        let aimed = logit(targets[n] as usize);
        let reach = |v: usize| {
            head.row(v).iter().zip(h).map(|(w, h)| f64::from((w * h).abs())).sum::<f64>()
        };
        let scale = reach(targets[n] as usize);
        // An f32 logit is good to about 1e-6 of the sum it came from, and nll and entropy cannot be
        // better.
        let rounding = 1e-6 * reach(want.argmax as usize).max(scale);
        assert!(
            (got.nll - want.nll).abs() < 1e-5 * want.nll.abs().max(1.0) + rounding as f32,
            "row {n}: {got:?} {want:?}"
        );
        assert!(
            (got.entropy - want.entropy).abs() < 1e-5 + rounding.min(1e-2) as f32,
            "row {n}: {got:?} {want:?}"
        );
        let close = (0..head.rows)
            .filter(|v| vocabulary.contains(*v as u32) && *v != targets[n] as usize)
            .filter(|v| (logit(*v) - aimed).abs() <= 1e-5 * scale.max(1e-30))
            .count() as u32;
        assert!(
            got.rank.abs_diff(want.rank) <= close,
            "row {n}: {got:?} {want:?}, {close} close entries"
        );
        assert!(got.rank >= 1 && got.rank as usize <= vocabulary.counted());
        assert!(got.rank > got.ties);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn tiled_agrees_with_the_reference(
        width in 1usize..40,
        vocabulary in 1usize..1400,
        rows in 1usize..300,
        scale in prop::sample::select(vec![1e-20f32, 1e-3, 1.0, 30.0, 1e15]),
        seed: u32,
        cut in 0usize..3,
    ) {
        let seed = u64::from(seed);
        let mut data = numbers(vocabulary * width, seed + 1);
        data.iter_mut().for_each(|w| *w *= scale);
        let head = Matrix { rows: vocabulary, columns: width, data };
        let hidden = numbers(rows * width, seed + 2);
        // Padding at the end and a hole in the middle.
        let known = Vocabulary::only(vocabulary, |v| match cut {
            0 => true,
            1 => (v as usize) < vocabulary.div_ceil(2),
            _ => v % 7 != 3,
        });
        let targets: Vec<u32> = numbers(rows, seed + 3)
            .iter()
            .map(|x| ((x * 0.5 + 0.5) * vocabulary as f32) as u32 % vocabulary as u32)
            .map(|t| if known.contains(t) { t } else { 0 })
            .collect();
        compare(&head, &hidden, &targets, &known);
    }
}

/// Logits that rise and fall from tile to tile by far more than an exponential can hold, and by
/// little: the sums are moved along.
#[test]
fn sums_follow_the_largest_logit_from_tile_to_tile() {
    // Whole tiles, so that the largest logit of the last can be the sums' reference.
    let rows = 7 * TILE;
    for (slope, turn) in [(0.3, 1344), (-0.3, 0), (0.02, 1344), (0.25, 700)] {
        let logit = |v: i32| slope * (700 - (v - turn).abs()) as f32;
        let head = Matrix { rows, columns: 1, data: (0..rows as i32).map(logit).collect() };
        for target in [0, 500, 699, 700, 1343] {
            compare(&head, &[1.0], &[target], &Vocabulary::all(rows));
        }
    }
}

/// Capped logits of several tiles, some far beyond the cap, some rows left out: nll and entropy are
/// those of the capped ones, and ranks those of either.
#[test]
fn a_cap_moves_nll_and_entropy_and_no_rank() {
    let (width, vocabulary, rows, cap) = (6, 5 * TILE + 40, 70, 5.0);
    let head = Matrix { rows: vocabulary, columns: width, data: numbers(vocabulary * width, 11) };
    let hidden: Vec<f32> = numbers(rows * width, 12).iter().map(|x| 8.0 * x).collect();
    let known = Vocabulary::only(vocabulary, |v| v % 5 != 2);
    let targets: Vec<u32> = (0..rows as u32).map(|n| n * 10).collect();
    let format = Format::new(Dtype::F32, Choice::Best);
    let mut input = Input::new(format);
    input.fill(rows, width, |i, out| out.copy_from_slice(&hidden[i * width..(i + 1) * width]));
    let packed = Packed::new(&head, format, Order::Head);
    let found = tiled::score(&packed, None, &input, &targets, &known, Some(cap)).unwrap();
    let plain = tiled::score(&packed, None, &input, &targets, &known, None).unwrap();
    for (n, (found, plain)) in found.iter().zip(plain).enumerate() {
        let x = &hidden[n * width..(n + 1) * width];
        let logit = |v: usize| {
            head.row(v).iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum::<f64>()
        };
        let capped = |v: usize| f64::from(cap) * (logit(v) / f64::from(cap)).tanh();
        let logits: Vec<f64> = (0..vocabulary).map(capped).collect();
        let want = reference::score_logits(&logits, targets[n], &known).unwrap();
        let (found, plain) = (found.unwrap(), plain.unwrap());
        assert_eq!((found.rank, found.ties, found.argmax), (plain.rank, plain.ties, plain.argmax));
        assert!(found.rank.abs_diff(want.rank) <= 1, "row {n}: {found:?} {want:?}");
        assert!((found.nll - want.nll).abs() < 2e-5, "row {n}: {found:?} {want:?}");
        assert!((found.entropy - want.entropy).abs() < 2e-5, "row {n}: {found:?} {want:?}");
    }
}

/// A bias for every row, over several tiles, with rows left out and a cap: what a head has whose
/// rows hold the bias as one more column, bit for bit where that column is added last.
#[test]
fn a_bias_moves_every_logit_and_ties_stay_exact() {
    let (width, vocabulary, rows) = (6, 3 * TILE + 40, 45);
    let mut data = numbers(vocabulary * width, 13);
    let mut bias: Vec<f32> = numbers(vocabulary, 14).iter().map(|b| 2.0 * b).collect();
    // Rows that are equal, with equal biases and with others.
    let (first, twin, other) = (5, 2 * TILE + 7, vocabulary - 1);
    for row in [twin, other] {
        data.copy_within(first * width..(first + 1) * width, row * width);
    }
    bias[twin] = bias[first];
    let head = Matrix { rows: vocabulary, columns: width, data };
    let hidden: Vec<f32> = numbers(rows * width, 15).iter().map(|x| 3.0 * x).collect();
    let known = Vocabulary::only(vocabulary, |v| v % 5 != 2 || v as usize == twin);
    let targets: Vec<u32> = (0..rows).map(|n| [first, twin, other, 10 * n][n % 4] as u32).collect();
    for (format, cap) in Format::all(Dtype::F32).flat_map(|f| [(f, None), (f, Some(4.0))]) {
        let mut input = Input::new(format);
        input.fill(rows, width, |i, out| out.copy_from_slice(&hidden[i * width..(i + 1) * width]));
        let packed = Packed::new(&head, format, Order::Head);
        let found = tiled::score(&packed, Some(&bias), &input, &targets, &known, cap).unwrap();
        for (n, found) in found.iter().enumerate() {
            let x = &hidden[n * width..(n + 1) * width];
            let logit = |v: usize| {
                let products =
                    head.row(v).iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x));
                let z = products.sum::<f64>() + f64::from(bias[v]);
                cap.map_or(z, |cap| f64::from(cap) * (z / f64::from(cap)).tanh())
            };
            let logits: Vec<f64> = (0..vocabulary).map(logit).collect();
            let want = reference::score_logits(&logits, targets[n], &known).unwrap();
            let found = found.unwrap();
            assert_eq!((found.rank, found.ties, found.argmax), (want.rank, want.ties, want.argmax));
            assert_eq!(found.ties, u32::from(n % 4 < 2), "{format:?}, row {n}");
            assert!((found.nll - want.nll).abs() < 2e-5, "row {n}: {found:?} {want:?}");
            assert!((found.entropy - want.entropy).abs() < 2e-5, "row {n}: {found:?} {want:?}");
        }
    }
}

#[test]
fn equal_rows_are_exact_ties_wherever_they_stand() {
    // Entries 0, 600 and 1300 of the vocabulary are the same row; so are 5 and 1399, in the cut-off
    // last tile.
    let (width, vocabulary, rows) = (96, 1400, 200);
    let mut data = numbers(vocabulary * width, 1);
    for (from, to) in [(0, 600), (0, 1300), (5, 1399)] {
        data.copy_within(from * width..(from + 1) * width, to * width);
    }
    let head = Matrix { rows: vocabulary, columns: width, data };
    let hidden = numbers(rows * width, 2);
    for (target, ties) in [(0, 2), (600, 2), (1300, 2), (5, 1), (1399, 1), (77, 0)] {
        let all = Vocabulary::all(vocabulary);
        for scored in tiled(&head, &hidden, &vec![target; rows], &all).unwrap() {
            assert_eq!(scored.unwrap().ties, ties, "target {target}");
        }
    }
}

#[test]
fn a_zero_head_gives_the_worst_rank() {
    let (vocabulary, rows) = (1111, 3);
    let head = Matrix::zeros(vocabulary, 8);
    for scored in
        tiled(&head, &numbers(rows * 8, 1), &[0, 5, 1110], &Vocabulary::all(vocabulary)).unwrap()
    {
        let scored = scored.unwrap();
        assert_eq!((scored.rank, scored.ties), (1111, 1110));
        assert!((f64::from(scored.nll) - 1111f64.ln()).abs() < 1e-6);
    }
}

/// A vocabulary of 300 000: the sums of exponentials must not lose their small terms (Megatron-LM
/// 2206).
#[test]
fn a_huge_vocabulary_keeps_its_digits() {
    let (width, vocabulary, rows) = (4, 300_000, 2);
    let head = Matrix { rows: vocabulary, columns: width, data: numbers(vocabulary * width, 3) };
    let hidden = numbers(rows * width, 4);
    let targets = [7, 299_999];
    let all = Vocabulary::all(vocabulary);
    let want = reference::score(&head, &hidden, &targets, &all);
    for (got, want) in tiled(&head, &hidden, &targets, &all).unwrap().iter().zip(want) {
        let (got, want) = (got.unwrap(), want.unwrap());
        assert!((got.nll - want.nll).abs() < 1e-5, "{got:?} {want:?}");
        assert!((got.entropy - want.entropy).abs() < 1e-5, "{got:?} {want:?}");
    }
    compare(&head, &hidden, &targets, &all);
}

#[test]
fn results_do_not_depend_on_the_rows_beside() {
    let (width, vocabulary, rows) = (48, 1000, 300);
    let head = Matrix { rows: vocabulary, columns: width, data: numbers(vocabulary * width, 1) };
    let hidden = numbers(rows * width, 2);
    let targets: Vec<u32> = (0..rows as u32).map(|n| n * 3).collect();
    let all = Vocabulary::all(vocabulary);
    let together = tiled(&head, &hidden, &targets, &all).unwrap();
    for n in [0, 127, 128, 255, 299] {
        let alone =
            tiled(&head, &hidden[n * width..(n + 1) * width], &targets[n..=n], &all).unwrap();
        assert_eq!(alone[0], together[n]);
    }
}

#[test]
fn targets_that_take_no_part_are_refused() {
    let head = Matrix::zeros(10, 2);
    let known = Vocabulary::only(10, |v| v < 8);
    assert_eq!(known.counted(), 8);
    for (target, words) in [(8, "no token of the tokenizer"), (10, "beyond the 10 rows")] {
        let error = tiled(&head, &[0.0; 2], &[target], &known).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
