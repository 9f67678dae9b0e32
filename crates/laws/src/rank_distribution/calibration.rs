//! Is the entropy of the rank distribution the cross entropy, as Appendix B has it?
//!
//! Only if the model gives probability f_k to each token of rank k, f_k being how often rank k
//! occurs. By rank, that is mean nll against `-ln f_k`. In sum, a calibrated model's cross entropy
//! is the entropy of ranks *given the context*, so it lies below that of ranks alone by what the
//! context tells about the rank.

use relscale_records::RankHistogram;

use crate::result::Calibration;

/// Mean nll against the entropy of the observed ranks. `None` without a token.
pub(super) fn compute(ranks: &RankHistogram) -> Option<Calibration> {
    let tokens = ranks.tokens() as f64;
    if tokens == 0.0 {
        return None;
    }
    let cross_entropy = ranks.iter().map(|rank| rank.sum_nll).sum::<f64>() / tokens;
    let share = |count: u64| count as f64 / tokens;
    let plug_in: f64 = ranks.iter().map(|rank| -share(rank.tokens) * share(rank.tokens).ln()).sum();
    let rank_entropy = plug_in + (ranks.distinct() as f64 - 1.0) / (2.0 * tokens);
    let difference = rank_entropy - cross_entropy;
    let words = format!(
        "the ranks alone have an entropy of {rank_entropy:.3} nats, {:.3} {} than the cross entropy of {cross_entropy:.3}",
        difference.abs(),
        if difference >= 0.0 { "more" } else { "less" }
    );
    Some(Calibration { cross_entropy, rank_entropy, difference, words })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_gives_each_rank_its_frequency_has_no_difference() {
        // Ranks 1 and 2, half of the tokens each, both with probability 1/2.
        let mut ranks = RankHistogram::default();
        for i in 0..100_000 {
            ranks.add(1 + i % 2, std::f32::consts::LN_2);
        }
        let found = compute(&ranks).unwrap();
        assert!((found.cross_entropy - std::f64::consts::LN_2).abs() < 1e-7);
        assert!((found.difference - 1.0 / 200_000.0).abs() < 1e-7, "{found:?}");
        assert!(compute(&RankHistogram::default()).is_none());
    }

    #[test]
    fn a_model_that_knows_where_it_is_sure_lies_below() {
        // Half of the positions are sure of rank 1; the others spread over two ranks evenly.
        let mut ranks = RankHistogram::default();
        for _ in 0..1000 {
            ranks.add(1, 0.0);
            ranks.add(1, 0.0);
            ranks.add(1, std::f32::consts::LN_2);
            ranks.add(2, std::f32::consts::LN_2);
        }
        let found = compute(&ranks).unwrap();
        let entropy = -(0.75 * 0.75_f64.ln() + 0.25 * 0.25_f64.ln());
        assert!((found.rank_entropy - entropy).abs() < 2e-4);
        assert!(found.difference > 0.2 && found.words.contains("more than"), "{}", found.words);
    }
}
