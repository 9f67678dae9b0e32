//! One item under one model.

use std::f64::consts::LN_2;

use crate::choice_measure::ChoiceMeasure;

/// What a model says of one option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OptionScore {
    /// Sum of its tokens' log-probabilities, nats.
    pub(super) log_probability: f64,
    /// Its bytes, at least 1.
    pub(super) bytes: f64,
    /// Its scored tokens.
    pub(super) tokens: f64,
}

/// A model's view of one item, with what does not depend on which option is gold worked out once.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ItemScore {
    /// For each option: `ll`, bits per byte, and the share of credit by sum, bytes, tokens.
    options: Vec<Scored>,
}

/// One option with what follows from its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) score: OptionScore,
    pub(super) bits_per_byte: f64,
    /// Credit as the chosen option by sum, by bytes, by tokens: 1 where it is chosen alone, a share
    /// where options tie, else 0.
    pub(super) credit: [f64; 3],
}

impl ItemScore {
    pub(super) fn new(options: &[OptionScore]) -> Self {
        let scores: [Vec<f64>; 3] = [
            options.iter().map(|option| option.log_probability).collect(),
            options.iter().map(|option| option.log_probability / option.bytes).collect(),
            options.iter().map(|option| option.log_probability / option.tokens).collect(),
        ];
        let credits = scores.each_ref().map(|scores| credit(scores));
        let scored: Vec<Scored> = options
            .iter()
            .enumerate()
            .map(|(at, option)| Scored {
                score: *option,
                bits_per_byte: -option.log_probability / option.bytes / LN_2,
                credit: credits.each_ref().map(|credit| credit[at]),
            })
            .collect();
        Self { options: scored }
    }

    /// A measure when the options at `gold` are the right ones; there is at least one.
    pub(super) fn measure(&self, measure: ChoiceMeasure, gold: &[usize]) -> f64 {
        let golds = || gold.iter().filter_map(|&at| self.options.get(at));
        let likeliest = || {
            golds()
                .max_by(|a, b| a.score.log_probability.total_cmp(&b.score.log_probability))
                .copied()
        };
        let credit = |by: usize| golds().map(|option| option.credit[by]).sum::<f64>();
        match measure {
            ChoiceMeasure::GoldNll => {
                likeliest().map_or(f64::NAN, |option| -option.score.log_probability)
            }
            ChoiceMeasure::GoldBpb => likeliest().map_or(f64::NAN, |option| option.bits_per_byte),
            ChoiceMeasure::ChoiceNll => {
                self.minus_ln_share(gold, |option| option.score.log_probability)
            }
            ChoiceMeasure::ChoiceNllBytes => {
                self.minus_ln_share(gold, |option| -option.bits_per_byte)
            }
            ChoiceMeasure::Accuracy => credit(0),
            ChoiceMeasure::AccuracyBytes => credit(1),
            ChoiceMeasure::AccuracyTokens => credit(2),
        }
    }

    /// `-ln` of the gold options' share, from the odds against them: all less gold would lose every
    /// digit of a loss near 0.
    fn minus_ln_share(&self, gold: &[usize], logarithm: impl Fn(&Scored) -> f64 + Copy) -> f64 {
        let of = |wanted: bool| {
            let options = self.options.iter().enumerate();
            log_sum_exp(
                options
                    .filter(move |(at, _)| gold.contains(at) == wanted)
                    .map(move |(_, option)| logarithm(option)),
            )
        };
        let against = of(false) - of(true);
        // ln(1 + e^x) without overflow.
        against.max(0.0) + (-against.abs()).exp().ln_1p()
    }

    /// The options, in the order of the item.
    pub(super) fn options(&self) -> &[Scored] {
        &self.options
    }

    /// Whether the largest sum is shared.
    pub(super) fn is_tied(&self) -> bool {
        self.options.iter().any(|option| option.credit[0] > 0.0 && option.credit[0] < 1.0)
    }
}

/// 1 for the largest score; options that tie share it.
fn credit(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ties = scores.iter().filter(|score| **score == largest).count() as f64;
    scores.iter().map(|score| if *score == largest { 1.0 / ties } else { 0.0 }).collect()
}

fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + values.map(|value| (value - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn option(log_probability: f64, bytes: f64, tokens: f64) -> OptionScore {
        OptionScore { log_probability, bytes, tokens }
    }

    /// A right option that is 1e20 times as likely as the other has a loss of 1e-20, not 0, and one
    /// as unlikely a finite one.
    #[test]
    fn a_choice_that_is_all_but_sure_keeps_its_digits() {
        let odds = 20.0 * 10_f64.ln();
        let item = ItemScore::new(&[option(-1.0, 1.0, 1.0), option(-1.0 - odds, 1.0, 1.0)]);
        assert!((item.measure(ChoiceMeasure::ChoiceNll, &[0]) / 1e-20 - 1.0).abs() < 1e-12);
        assert!((item.measure(ChoiceMeasure::ChoiceNll, &[1]) - odds).abs() < 1e-12);
        let far = ItemScore::new(&[option(-3000.0, 2.0, 1.0), option(-1.0, 2.0, 1.0)]);
        assert_eq!(far.measure(ChoiceMeasure::ChoiceNll, &[0]), 2999.0);
    }

    /// Worked out by hand: three options, each preferred by another score.
    #[test]
    fn every_measure_of_one_item() {
        let options = [option(-2.0, 1.0, 1.0), option(-6.0, 12.0, 2.0), option(-7.0, 8.0, 7.0)];
        let item = ItemScore::new(&options);
        let of = |measure, gold: &[usize]| item.measure(measure, gold);
        assert_eq!([0, 1, 2].map(|gold| of(ChoiceMeasure::Accuracy, &[gold])), [1.0, 0.0, 0.0]);
        assert_eq!(
            [0, 1, 2].map(|gold| of(ChoiceMeasure::AccuracyBytes, &[gold])),
            [0.0, 1.0, 0.0]
        );
        assert_eq!(
            [0, 1, 2].map(|gold| of(ChoiceMeasure::AccuracyTokens, &[gold])),
            [0.0, 0.0, 1.0]
        );
        assert_eq!(of(ChoiceMeasure::GoldNll, &[1]), 6.0);
        assert!((of(ChoiceMeasure::GoldBpb, &[1]) - 0.5 / LN_2).abs() < 1e-15);
        let total: f64 = [-2.0_f64, -6.0, -7.0].iter().map(|ll| ll.exp()).sum();
        assert!(
            (of(ChoiceMeasure::ChoiceNll, &[1]) - (total / (-6.0_f64).exp()).ln()).abs() < 1e-12
        );
        let bits = [2.0 / LN_2, 0.5 / LN_2, 0.875 / LN_2];
        let total: f64 = bits.iter().map(|bpb| (-bpb).exp()).sum();
        assert!((of(ChoiceMeasure::ChoiceNllBytes, &[2]) - (total.ln() + bits[2])).abs() < 1e-12);
        // Two golds: either is right; the loss is that of the likelier.
        assert_eq!(of(ChoiceMeasure::Accuracy, &[0, 1]), 1.0);
        assert_eq!(of(ChoiceMeasure::GoldNll, &[1, 2]), 6.0);
        let both = ((-6.0_f64).exp() + (-7.0_f64).exp()).ln();
        let all = ((-2.0_f64).exp() + both.exp()).ln();
        assert!((of(ChoiceMeasure::ChoiceNll, &[1, 2]) - (all - both)).abs() < 1e-12);
    }

    #[test]
    fn ties_share_the_credit() {
        let item = ItemScore::new(&[
            option(-1.0, 1.0, 1.0),
            option(-1.0, 1.0, 1.0),
            option(-3.0, 1.0, 1.0),
        ]);
        assert!(item.is_tied());
        assert_eq!(
            [0, 1, 2].map(|gold| item.measure(ChoiceMeasure::Accuracy, &[gold])),
            [0.5, 0.5, 0.0]
        );
        assert_eq!(item.measure(ChoiceMeasure::Accuracy, &[0, 1]), 1.0);
        assert!(!ItemScore::new(&[option(-1.0, 1.0, 1.0), option(-2.0, 1.0, 1.0)]).is_tied());
    }

    /// Answers of long texts: probabilities far below the smallest number.
    #[test]
    fn improbable_options_are_compared_by_logarithms() {
        let item = ItemScore::new(&[option(-2_000.0, 10.0, 5.0), option(-2_001.0, 10.0, 5.0)]);
        let expected = (1.0 + (-1.0_f64).exp()).ln();
        assert!((item.measure(ChoiceMeasure::ChoiceNll, &[0]) - expected).abs() < 1e-9);
        assert!((item.measure(ChoiceMeasure::ChoiceNll, &[1]) - expected - 1.0).abs() < 1e-9);
    }

    proptest! {
        /// What all options share (a longer prompt, a colder model) changes no choice and no
        /// probability among them.
        #[test]
        fn a_common_factor_changes_no_choice(scores in prop::collection::vec(-50.0..-0.01_f64, 2..6), shift in -500.0..0.0_f64) {
            let with = |shift: f64| ItemScore::new(&scores.iter().map(|ll| option(ll + shift, 7.0, 3.0)).collect::<Vec<_>>());
            let (plain, moved) = (with(0.0), with(shift));
            for gold in 0..scores.len() {
                let nll = |item: &ItemScore| item.measure(ChoiceMeasure::ChoiceNll, &[gold]);
                prop_assert!((nll(&plain) - nll(&moved)).abs() < 1e-9);
            }
            let sum: f64 = (0..scores.len()).map(|gold| (-plain.measure(ChoiceMeasure::ChoiceNll, &[gold])).exp()).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
            let credit: f64 = (0..scores.len()).map(|gold| plain.measure(ChoiceMeasure::Accuracy, &[gold])).sum();
            prop_assert!((credit - 1.0).abs() < 1e-12);
        }

        /// The order in which options stand says nothing.
        #[test]
        fn options_may_stand_in_any_order(scores in prop::collection::vec((-50.0..-0.01_f64, 1u32..40, 1u32..9), 2..6)) {
            let options: Vec<OptionScore> =
                scores.iter().map(|&(ll, b, t)| option(ll, f64::from(b), f64::from(t))).collect();
            let turned: Vec<OptionScore> = options.iter().rev().copied().collect();
            let (a, b) = (ItemScore::new(&options), ItemScore::new(&turned));
            for measure in ChoiceMeasure::ALL {
                for gold in 0..options.len() {
                    let (x, y) = (a.measure(measure, &[gold]), b.measure(measure, &[options.len() - 1 - gold]));
                    prop_assert!((x - y).abs() <= 1e-12 * x.abs().max(1.0), "{measure:?}: {x} {y}");
                }
            }
        }
    }
}
