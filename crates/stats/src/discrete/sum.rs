//! Sums of a smooth weight over all whole numbers of a range, for weights whose sums have no closed
//! form.
//!
//! A vocabulary has up to 152 000 entries and a fit asks for its normaliser some hundred times. So
//! the first terms are added one by one, until the weight changes by little from one number to the
//! next, and the rest is Euler and Maclaurin's in its midpoint form:
//!
//! ```text
//! sum_{m < j <= high} f(j) = I - [f'/24]  + [7 f'''/5760] - ...,   I = integral of f over (m + 1/2, high + 1/2),
//! ```
//!
//! the brackets being differences between the two ends. The integral is taken over `ln x` by Gauss
//! and Legendre on panels that are halved until halving changes nothing. Measured against
//! term-by-term sums in the tests: relative error below 1e-12.

use std::sync::LazyLock;

/// Terms that are always added one by one.
const FIRST: f64 = 128.0;

/// Abscissae and weights of the ten-point rule on (-1, 1), of which the negative half mirrors this
/// (Abramowitz and Stegun, table 25.4).
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_3),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// Logarithms of whole numbers, of the terms that are added one by one.
static LOGARITHMS: LazyLock<[f64; 1024]> =
    LazyLock::new(|| std::array::from_fn(|j| (j as f64).ln()));

fn logarithm(whole: f64) -> f64 {
    LOGARITHMS.get(whole as usize).copied().unwrap_or_else(|| whole.ln())
}

/// `ln sum_{low < j <= high} exp(ln_weight(j, ln j))` for whole `low < high`.
///
/// The weight must be defined for every real number from 1/2 below the first term on, with at most
/// one peak.
pub(super) fn ln_sum(ln_weight: &impl Fn(f64, f64) -> f64, low: f64, high: f64) -> f64 {
    if high - low <= 2.0 * FIRST {
        return ln_sum_of(ln_weight, low, high);
    }
    let shift = peak(ln_weight, low + 1.0, high);
    let weight = |x: f64| (ln_weight(x, x.ln()) - shift).exp();
    let (mut j, mut previous, mut previous_slope, mut sum) =
        (low, f64::NAN, f64::NAN, Sum::default());
    while j < high {
        j += 1.0;
        let term = ln_weight(j, logarithm(j)) - shift;
        sum.add(term.exp());
        let slope = term - previous;
        if j - low >= FIRST && slope.abs() < 0.03 && (slope - previous_slope).abs() < 1e-3 {
            break;
        }
        // Past its peak and this small, a weight has nothing more to give.
        if term < -60.0 && term < previous {
            return shift + sum.value().ln();
        }
        (previous, previous_slope) = (term, slope);
    }
    if j < high {
        let (from, to) = (j + 0.5, high + 0.5);
        let along = |t: f64| {
            let x = t.exp();
            (ln_weight(x, t) - shift).exp() * x
        };
        sum.add(integral(&along, from.ln(), to.ln()));
        let (first, third) = derivatives(&weight, from);
        let (first_end, third_end) = derivatives(&weight, to);
        sum.add((first - first_end) / 24.0 + 7.0 * (third_end - third) / 5760.0);
    }
    shift + sum.value().ln()
}

/// The same, term by term: the judge of [`ln_sum`], and right away for few terms.
pub(super) fn ln_sum_of(ln_weight: &impl Fn(f64, f64) -> f64, low: f64, high: f64) -> f64 {
    let terms: Vec<f64> =
        (low as u64 + 1..=high as u64).map(|j| ln_weight(j as f64, logarithm(j as f64))).collect();
    let shift = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = Sum::default();
    terms.iter().for_each(|term| sum.add((term - shift).exp()));
    shift + sum.value().ln()
}

/// A running sum that carries what each addition rounded away (Neumaier 1974).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(super) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() {
            self.sum - sum + term
        } else {
            term - sum + self.sum
        };
        self.sum = sum;
    }

    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

/// About the largest value of a weight with at most one peak: close enough for a shift of
/// logarithms.
fn peak(ln_weight: &impl Fn(f64, f64) -> f64, first: f64, last: f64) -> f64 {
    let step = (last / first).ln() / 48.0;
    (0..=48)
        .map(|i| {
            let ln_x = first.ln() + step * f64::from(i);
            ln_weight(ln_x.exp(), ln_x)
        })
        .fold(f64::NEG_INFINITY, f64::max)
}

/// First and third derivative by central differences. They correct the integral by a thousandth and
/// less, so a relative error of 1e-8 in them is none in the sum.
fn derivatives(weight: &impl Fn(f64) -> f64, x: f64) -> (f64, f64) {
    let h = 0.5;
    let one = weight(x + h) - weight(x - h);
    let two = weight(x + 2.0 * h) - weight(x - 2.0 * h);
    let three = weight(x + 3.0 * h) - weight(x - 3.0 * h);
    (
        (45.0 * one - 9.0 * two + three) / (60.0 * h),
        (-13.0 * one + 8.0 * two - three) / (8.0 * h * h * h),
    )
}

/// The integral of `f` from `low` to `high`.
fn integral(f: &impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let panels = ((high - low) / 0.75).ceil().max(1.0);
    let width = (high - low) / panels;
    let whole: Vec<f64> = (0..panels as usize)
        .map(|i| panel(f, low + width * i as f64, low + width * (i + 1) as f64))
        .collect();
    let scale = whole.iter().sum::<f64>();
    let mut sum = Sum::default();
    for (i, &value) in whole.iter().enumerate() {
        let (from, to) = (low + width * i as f64, low + width * (i + 1) as f64);
        sum.add(halved(f, from, to, value, scale, 12));
    }
    sum.value()
}

fn halved(f: &impl Fn(f64) -> f64, low: f64, high: f64, whole: f64, scale: f64, depth: u32) -> f64 {
    let middle = 0.5 * (low + high);
    let (left, right) = (panel(f, low, middle), panel(f, middle, high));
    let both = left + right;
    if depth == 0 || (both - whole).abs() <= 1e-13 * scale {
        return both;
    }
    halved(f, low, middle, left, scale, depth - 1)
        + halved(f, middle, high, right, scale, depth - 1)
}

fn panel(f: &impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    half * GAUSS.iter().map(|(x, w)| w * (f(middle - half * x) + f(middle + half * x))).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn compare(name: &str, ln_weight: &dyn Fn(f64) -> f64, low: f64, high: f64) {
        let of = |x: f64, _: f64| ln_weight(x);
        let (fast, judge) = (ln_sum(&of, low, high), ln_sum_of(&of, low, high));
        assert!((fast - judge).abs() < 1e-12, "{name}: {fast} against {judge}, {:e}", fast - judge);
    }

    #[test]
    fn every_weight_agrees_with_its_terms_added_one_by_one() {
        for high in [300.0, 5_000.0, 50_257.0, 152_064.0] {
            for s in [-2.0, 0.0, 0.7, 1.0, 1.4, 2.0, 5.0, 40.0] {
                compare(&format!("zeta {s}"), &|x| -s * x.ln(), 0.0, high);
                compare(&format!("zeta {s} from 700"), &|x| -s * x.ln(), 200.0, high);
            }
            for (s, q) in [(1.5, -0.4), (1.5, 3.0), (30.0, 400.0), (3.0, 1e5)] {
                compare(&format!("mandelbrot {s} {q}"), &|x| -s * (x + q).ln(), 0.0, high);
            }
            for (mu, sigma) in
                [(-65.19, 12.89), (0.8, 2.0), (5.0, 0.5), (7.0, 0.05), (11.0, 0.2), (7.0, 0.01)]
            {
                let weight = |x: f64| -x.ln() - 0.5 * ((x.ln() - mu) / sigma).powi(2);
                compare(&format!("lognormal {mu} {sigma}"), &weight, 0.0, high);
            }
            for (r, rate) in [(0.1, 1e-5), (0.5, 1e-3), (2.0, 0.02), (5.0, 0.3)] {
                let weight = |x: f64| (r - 1.0) * x.ln() - rate * x;
                compare(&format!("gamma {r} {rate}"), &weight, 0.0, high);
            }
        }
    }

    /// `mpmath 1.3, 30 digits: zeta(1.4) - zeta(1.4, 152065)`.
    #[test]
    fn a_zeta_sum_equals_the_hurwitz_difference() {
        let ours = ln_sum(&|_, ln_x| -1.4 * ln_x, 0.0, 152_064.0).exp();
        assert!((ours / ZETA - 1.0).abs() < 1e-13, "{ours}");
    }

    const ZETA: f64 = 3.084406115041746;
}
