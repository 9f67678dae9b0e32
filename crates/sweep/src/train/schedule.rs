//! Learning rate by step: up in a line, level, down in a line to 0 (warm-up, stable, decay).

/// The shape of a schedule; a checked form of a recipe's shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Highest learning rate.
    pub peak: f64,
    /// Steps in all.
    pub steps: u32,
    /// Share of the steps to rise over.
    pub warm_up: f64,
    /// Share of the steps to fall over, at the end.
    pub decay: f64,
}

impl Schedule {
    /// Learning rate of `step`, counted from 1. The last step still moves: it is at
    /// `1 / (decay * steps)` of the peak.
    pub fn at(&self, step: u32) -> f64 {
        let (step, steps) = (f64::from(step), f64::from(self.steps));
        let rise = (step / (self.warm_up * steps).max(1.0)).min(1.0);
        let fall = ((steps + 1.0 - step) / (self.decay * steps).max(1.0)).min(1.0);
        self.peak * rise.min(fall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rises_stays_and_falls() {
        let schedule = Schedule { peak: 2.0, steps: 100, warm_up: 0.1, decay: 0.2 };
        let at: Vec<f64> = [1, 5, 10, 50, 81, 91, 100].map(|step| schedule.at(step)).to_vec();
        assert_eq!(at, [0.2, 1.0, 2.0, 2.0, 2.0, 1.0, 0.1]);
    }
}
