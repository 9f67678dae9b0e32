//! Numbers that look random, and the judge of a gradient.

/// `len` numbers in `[-1, 1)`, the same for the same seed.
pub fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    })
    .take(len)
    .collect()
}

/// Compares a gradient with central differences of `loss` (in f64), element by element.
pub fn check_gradient(name: &str, x: &[f32], gradient: &[f32], loss: impl Fn(&[f32]) -> f64) {
    let mut at = x.to_vec();
    for i in 0..x.len() {
        let step = 4e-3;
        at[i] = x[i] + step;
        let (above, high) = (loss(&at), f64::from(at[i]));
        at[i] = x[i] - step;
        let (below, low) = (loss(&at), f64::from(at[i]));
        at[i] = x[i];
        let want = (above - below) / (high - low);
        let got = f64::from(gradient[i]);
        assert!(
            (got - want).abs() < 1e-3 * want.abs().max(0.3),
            "{name}[{i}]: {got} against {want}"
        );
    }
}
