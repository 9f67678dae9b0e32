//! The methods' numbers beside one another.
//!
//! Two methods agree on a quantity where their intervals meet. All see the same runs, so that they
//! meet says less than it would of two experiments; that they do not is worth a look.

use crate::result::{
    Agreement, Curve, Estimate, IsoflopSurface, Judged, LossForm, MethodOptimum, MethodValue,
    OptimumPath,
};

/// N*, D* and the loss of one budget. A loss by a power law without a floor counts among the
/// budgets only, for `beyond` them it is known to be too low.
pub(super) fn optima(methods: &[MethodOptimum], beyond: bool) -> Vec<Agreement> {
    let all = |of: fn(&MethodOptimum) -> &Estimate| -> Vec<(&str, &Estimate)> {
        methods.iter().map(|method| (method.method.as_str(), of(method))).collect()
    };
    let has_loss = |method: &&MethodOptimum| !(beyond && method.loss_form == LossForm::Power);
    let losses: Vec<(&str, &Estimate)> = methods
        .iter()
        .filter(has_loss)
        .map(|method| (method.method.as_str(), &method.loss))
        .collect();
    [
        compare("N*", &all(|method| &method.params)),
        compare("D*", &all(|method| &method.tokens)),
        compare("loss", &losses),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Exponents of N* and D*.
pub(super) fn exponents(paths: &[OptimumPath], surfaces: &[IsoflopSurface]) -> Vec<Agreement> {
    let mut sizes: Vec<(&str, &Estimate)> = Vec::new();
    let mut tokens: Vec<(&str, &Estimate)> = Vec::new();
    for path in paths {
        let name = Curve::name(path.curve);
        sizes.extend(path.params.fit().map(|law| (name, &law.exponent)));
        tokens.extend(path.tokens.fit().map(|law| (name, &law.exponent)));
    }
    for surface in surfaces {
        sizes.extend(surface.law().map(|law| (surface.method.name(), &law.size_exponent)));
        tokens.extend(surface.law().map(|law| (surface.method.name(), &law.tokens_exponent)));
    }
    [compare("a of N*", &sizes), compare("a of D*", &tokens)].into_iter().flatten().collect()
}

/// One quantity; `None` where fewer than two methods tell it.
fn compare(quantity: &str, of: &[(&str, &Estimate)]) -> Option<Agreement> {
    if of.len() < 2 {
        return None;
    }
    let value = |(method, estimate): &(&str, &Estimate)| MethodValue {
        method: (*method).to_owned(),
        value: estimate.value,
    };
    let by_value = |a: &&(&str, &Estimate), b: &&(&str, &Estimate)| a.1.value.total_cmp(&b.1.value);
    let bounds: Vec<(&str, (f64, f64))> =
        of.iter().filter_map(|(method, estimate)| Some((*method, estimate.bounds()?))).collect();
    let mut pairs = Vec::new();
    for (at, (left, a)) in bounds.iter().enumerate() {
        let apart = bounds[at + 1..].iter().filter(|(_, b)| a.1 < b.0 || b.1 < a.0);
        pairs.extend(apart.map(|(right, _)| ((*left).to_owned(), (*right).to_owned())));
    }
    let outcome = match (bounds.len(), pairs.is_empty()) {
        (0 | 1, _) => Judged::NotJudged,
        (_, true) => Judged::Within,
        (_, false) => Judged::Apart { pairs },
    };
    Some(Agreement {
        quantity: quantity.to_owned(),
        smallest: value(of.iter().min_by(by_value)?),
        largest: value(of.iter().max_by(by_value)?),
        outcome,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Interval;

    fn estimate(value: f64, half: Option<f64>) -> Estimate {
        let interval = match half {
            None => Interval::None { reason: "none".to_owned() },
            Some(half) => Interval::RunBootstrap {
                low: value - half,
                high: value + half,
                level: 0.95,
                resamples: 9,
            },
        };
        Estimate { value, unit: "1".to_owned(), standard_error: None, interval }
    }

    #[test]
    fn intervals_that_do_not_meet_are_named() {
        let (a, b, c) =
            (estimate(1.0, Some(0.2)), estimate(1.3, Some(0.2)), estimate(1.6, Some(0.05)));
        let found = compare("N*", &[("a", &a), ("b", &b), ("c", &c)]).unwrap();
        let pair = |left: &str, right: &str| (left.to_owned(), right.to_owned());
        assert_eq!(found.outcome, Judged::Apart { pairs: vec![pair("a", "c"), pair("b", "c")] });
        assert_eq!((found.smallest.method.as_str(), found.largest.value), ("a", 1.6));
        assert_eq!(compare("N*", &[("a", &a), ("b", &b)]).unwrap().outcome, Judged::Within);
    }

    #[test]
    fn without_intervals_nothing_is_judged() {
        let (a, b) = (estimate(1.0, Some(0.2)), estimate(9.0, None));
        assert_eq!(compare("N*", &[("a", &a), ("b", &b)]).unwrap().outcome, Judged::NotJudged);
        assert!(compare("N*", &[("a", &a)]).is_none());
    }
}
