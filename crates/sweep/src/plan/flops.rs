//! What a token costs: products counted exactly, as Levanter's `lm_flops_per_token` counts them.

use super::architecture::Architecture;

/// Floating-point operations of the forward pass for one token; a multiply-add is two.
///
/// `L (6 C F + 2 C (H + 2 G) D + 2 H D C + 4 K H D + 3 K H) + 2 C V`, where `K` is the sequence, or
/// the attention window where that is shorter: three products of the MLP, queries/keys/values, the
/// output, scores and their weighted sum over **all** `K` positions (not the causal half), three
/// operations a score for the softmax, and the head. The look-up of the embedding, norms and
/// activations count nothing. Training is taken as three times the forward pass
/// ([`relscale_records::units::Flops::to`]).
///
/// Source: stanford-crfm/levanter, `utils/flop_utils.py` (dense, gated case), by which the runs of
/// arXiv 2510.24626 were budgeted.
pub fn forward_per_token(model: &Architecture) -> f64 {
    let f = |size: usize| size as f64;
    let (c, keys) = (f(model.width), f(model.span()));
    let (heads, width) = (f(model.heads), f(model.head_width));
    let mlp = 6.0 * c * f(model.hidden);
    let qkv = 2.0 * c * (heads * width + 2.0 * f(model.kv_heads) * width);
    let output = 2.0 * heads * width * c;
    let attention = 4.0 * keys * heads * width + 3.0 * keys * heads;
    f(model.layers) * (mlp + qkv + output + attention) + 2.0 * c * f(model.vocabulary)
}

#[cfg(test)]
mod tests {
    use super::super::architecture::tests::small;
    use super::*;

    /// By hand: C = 8, F = 24, H = 2, G = 1, D = 4, V = 50, 3 blocks, 16 positions.
    #[test]
    fn a_token_costs_what_the_sum_says() {
        let block = 6 * 8 * 24 + 2 * 8 * (8 + 8) + 2 * 8 * 8 + 4 * 16 * 8 + 3 * 16 * 2;
        let head = 2 * 8 * 50;
        assert_eq!(forward_per_token(&small()), f64::from(3 * block + head));
    }

    #[test]
    fn a_window_makes_attention_cheaper_and_a_wide_one_changes_nothing() {
        let windowed =
            |window| forward_per_token(&Architecture { window: Some(window), ..small() });
        assert_eq!(
            forward_per_token(&small()) - windowed(4),
            f64::from(3 * (4 * 12 * 8 + 3 * 12 * 2))
        );
        assert_eq!(windowed(99), forward_per_token(&small()));
    }
}
