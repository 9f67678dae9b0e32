//! What the gradient is taken of, and what is told of it.

/// What the gradient is taken of: `weight (nll + z_loss squares)`, in the words of [`Losses`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// Factor of all; one over the tokens of a step, for a mean.
    pub weight: f32,
    /// Factor of the z-loss beside the cross entropy; 0 leaves it out.
    pub z_loss: f32,
}

/// Sums over the rows, not weighted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Losses {
    /// Negative log-likelihoods of the targets, nats.
    pub nll: f64,
    /// Squares of the softmax's log normaliser, `(ln sum_v exp z[v])²`: the z-loss, a pull of the
    /// normaliser towards 1 (Chowdhery et al. 2022, section 5).
    pub squares: f64,
}
