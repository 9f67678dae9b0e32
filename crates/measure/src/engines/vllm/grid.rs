//! What the most probable tokens of a few positions tell of a server's logits: whether they lie on
//! a grid of 16 bits, and how equal ones are counted.
//!
//! A server that multiplies the output head in bf16 hands out logits with 8 significant bits: near
//! 20 they lie 1/8 apart. Many tokens then share a logit that differ in f32, and a rank counts them
//! all (or none). Within a position, differences of logprobs are differences of logits, so the grid
//! shows in them, whether or not two are equal: every difference is a whole number of small steps.

use super::answers::Top;

/// Steps that are looked for, coarse to fine, in nats: a power of two each. Logits of bf16 are
/// whole multiples of 1/4096 from 1/32 upwards, those of f16 from 1/4 upwards.
const STEPS: [f64; 9] =
    [0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.0009765625, 0.000244140625];

/// How far from a whole number of steps a difference may be, in nats: logprobs are f32 themselves,
/// of size 10 or so.
const ROUNDING: f64 = 4e-6;

/// Share of the differences that must lie on a grid: small logits lie on a finer one.
const ON_GRID: f64 = 0.9;

/// What the lists show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    /// Neighbours that were compared.
    pub(super) neighbours: u64,
    /// Those of them with equal logprobs.
    pub(super) equal: u64,
    /// The coarsest step, in nats, of which nine differences in ten are a multiple; none for logits
    /// of 32 bits.
    pub(super) step: Option<f64>,
}

impl Grid {
    /// Looks at lists.
    pub(super) fn from_lists(tops: &[Top]) -> Self {
        let differences: Vec<f64> = tops
            .iter()
            .flat_map(|top| top.best.windows(2).map(|pair| pair[0].1 - pair[1].1))
            .filter(|difference| difference.is_finite())
            .collect();
        let equal = differences.iter().filter(|&&difference| difference == 0.0).count() as u64;
        // Equal logits lie on every grid, and two equal rows of a head of f32 are equal as well.
        let unequal: Vec<f64> = differences.iter().copied().filter(|&d| d > 0.0).collect();
        let on = |step: f64| {
            let whole = |d: &&f64| ((**d / step).round() * step - **d).abs() <= ROUNDING;
            unequal.iter().filter(whole).count() as f64 >= ON_GRID * unequal.len() as f64
        };
        // Few differences prove nothing, but that hardly any two of many differ does.
        let step = match unequal.len() {
            0..8 => (equal as usize > 4 * unequal.len()).then_some(STEPS[0]),
            _ => STEPS.into_iter().find(|&step| on(step)),
        };
        Self { neighbours: differences.len() as u64, equal, step }
    }

    /// Whether ranks are counted among logits that were rounded.
    pub(super) fn coarse(&self) -> bool {
        self.step.is_some()
    }

    /// Share of neighbours that are equal.
    pub(super) fn equal_share(&self) -> f64 {
        self.equal as f64 / self.neighbours.max(1) as f64
    }
}

/// Two tokens with equal logits, at a position whose most probable tokens are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tie {
    /// Index into the lists.
    pub(super) list: usize,
    /// One of the tokens.
    pub(super) token: u32,
    /// Tokens with a larger logit.
    pub(super) above: u32,
    /// Tokens with this logit.
    pub(super) equal: u32,
}

/// Ties that are whole in their list: a tie at its end may go on beyond it.
pub(super) fn ties(tops: &[Option<Top>]) -> Vec<Tie> {
    let mut found = Vec::new();
    for (list, top) in tops.iter().enumerate() {
        let Some(Top { best, .. }) = top else { continue };
        let mut first = 0;
        while first < best.len() {
            let equal = best[first..].iter().take_while(|b| b.1 == best[first].1).count();
            if equal > 1 && first + equal < best.len() {
                let token = best[first].0;
                // Lists are short.
                found.push(Tie { list, token, above: first as u32, equal: equal as u32 });
            }
            first += equal;
        }
    }
    found
}

/// How a server counts equal logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RankRule {
    /// `#{v : z[v] >= z_t}`.
    AtLeast,
    /// `#{v : z[v] > z_t} + 1`.
    GreaterPlusOne,
    /// No tie was met that would have told.
    Unknown,
}

impl RankRule {
    /// The rule by which a token of a known tie has `rank`; `None` when neither gives it.
    pub(super) fn from_tie(tie: &Tie, rank: u32) -> Option<Self> {
        if rank == tie.above + tie.equal {
            Some(Self::AtLeast)
        } else if rank == tie.above + 1 {
            Some(Self::GreaterPlusOne)
        } else {
            None
        }
    }

    /// As it is recorded.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::GreaterPlusOne => "> + 1",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::Entry;
    use super::*;

    fn top(logits: &[f64]) -> Top {
        let logsum = logits.iter().map(|z| z.exp()).sum::<f64>().ln();
        // As a server hands them out: in 32 bits.
        let best: Vec<(u32, f64)> = (0u32..)
            .zip(logits)
            .map(|(id, &z)| (id, f64::from((z as f32) - (logsum as f32))))
            .collect();
        Top { target: Entry { logprob: best[0].1, rank: 1 }, best }
    }

    /// Logits as a model might have them, descending.
    fn logits(seed: u64, offset: f64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut at = offset + next();
        (0..20)
            .map(|_| {
                at -= next() * 0.3;
                at
            })
            .collect()
    }

    fn bf16(z: f64) -> f64 {
        let bits = (z as f32).to_bits();
        let rounded = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff_0000;
        f64::from(f32::from_bits(rounded))
    }

    #[test]
    fn logits_of_16_bits_show_and_those_of_32_do_not() {
        for offset in [4.0, 11.0, 18.0, -30.0] {
            let plain: Vec<Top> = (1..9).map(|seed| top(&logits(seed, offset))).collect();
            let grid = Grid::from_lists(&plain);
            assert!(!grid.coarse() && grid.equal == 0, "{offset}: {grid:?}");
            let rounded: Vec<Top> = (1..9)
                .map(|seed| top(&logits(seed, offset).into_iter().map(bf16).collect::<Vec<_>>()))
                .collect();
            let grid = Grid::from_lists(&rounded);
            assert!(grid.coarse(), "{offset}: {grid:?}");
        }
    }

    /// A head may have equal rows (tokens that were never trained): a tie, and no grid.
    #[test]
    fn equal_rows_of_a_head_are_no_grid() {
        let with_ties: Vec<Top> = (1..9)
            .map(|seed| {
                let mut z = logits(seed, 11.0);
                z[4] = z[3];
                top(&z)
            })
            .collect();
        let grid = Grid::from_lists(&with_ties);
        assert!(!grid.coarse(), "{grid:?}");
        assert_eq!(grid.equal, 8);
        let found = ties(&with_ties.into_iter().map(Some).collect::<Vec<_>>());
        assert_eq!(found.len(), 8);
        assert_eq!(found[0], Tie { list: 0, token: 3, above: 3, equal: 2 });
        assert_eq!(RankRule::from_tie(&found[0], 5), Some(RankRule::AtLeast));
        assert_eq!(RankRule::from_tie(&found[0], 4), Some(RankRule::GreaterPlusOne));
        assert_eq!(RankRule::from_tie(&found[0], 3), None);
    }

    #[test]
    fn a_tie_that_may_go_on_beyond_its_list_tells_nothing() {
        let mut z = logits(3, 11.0);
        z[19] = z[18];
        assert!(ties(&[Some(top(&z)), None]).is_empty());
    }
}
