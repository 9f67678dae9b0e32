//! Ranks in bins that widen: six a decade, as integers allow, so that a figure over five decades
//! needs thirty points.

use relscale_records::RankHistogram;

/// Bins of a decade.
const PER_DECADE: f64 = 6.0;

/// What falls into one bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    /// Smallest rank.
    pub(super) low: u32,
    /// Largest rank.
    pub(super) high: u32,
    pub(super) tokens: u64,
    pub(super) sum_nll: f64,
}

/// Cuts ranks 1 to `upper` at the integers nearest to `10^(i/6)`, and counts.
///
/// Ranks above `upper` are not counted: the caller has refused them.
pub(super) fn cut(ranks: &RankHistogram, upper: u32) -> Vec<Bin> {
    let mut bins: Vec<Bin> = Vec::new();
    let mut low = 1;
    for step in 1.. {
        let next = 10.0_f64.powf(f64::from(step) / PER_DECADE).round();
        let high = if next > f64::from(upper) { upper } else { next as u32 - 1 };
        if high >= low {
            bins.push(Bin { low, high, tokens: 0, sum_nll: 0.0 });
            low = high + 1;
        }
        if high >= upper {
            break;
        }
    }
    for rank in ranks.iter() {
        let at = bins.partition_point(|bin| bin.high < rank.rank);
        if let Some(bin) = bins.get_mut(at) {
            bin.tokens += rank.tokens;
            bin.sum_nll += rank.sum_nll;
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_tile_the_vocabulary_and_lose_no_token() {
        let mut ranks = RankHistogram::default();
        for rank in (1..=4096).step_by(7) {
            ranks.add(rank, 0.5);
        }
        for upper in [1, 2, 3, 10, 100, 4096, 50_257] {
            let bins = cut(&ranks, upper);
            assert_eq!((bins[0].low, bins[bins.len() - 1].high), (1, upper));
            assert!(bins.windows(2).all(|pair| pair[0].high + 1 == pair[1].low));
            let inside: u64 =
                ranks.iter().filter(|rank| rank.rank <= upper).map(|rank| rank.tokens).sum();
            assert_eq!(bins.iter().map(|bin| bin.tokens).sum::<u64>(), inside);
            assert!(bins.iter().all(|bin| bin.sum_nll == 0.5 * bin.tokens as f64));
        }
        assert!(cut(&ranks, 50_257).len() < 30);
        assert_eq!(cut(&ranks, 50_257)[0].high, 1, "rank 1 stands alone");
    }
}
