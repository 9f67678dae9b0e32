//! Finding the parameters that fit best.
//!
//! | member | what |
//! |---|---|
//! | [`least_squares`] | a straight line in closed form |
//! | [`held_slope`] | a straight line whose slope is given |
//! | [`parabola`], [`plane`] | a parabola and a plane, likewise |
//! | [`correlated`] | a straight line through points whose errors go together |
//! | [`polynomial`] | polynomials by least squares or Huber's loss, with their minimum |
//! | [`straight`] | a test of a straight line against a bend, or two |
//! | [`bfgs`] | quasi-Newton descent for smooth functions of a few parameters |
//! | [`varpro`] | a curve that is linear in some of its parameters: grid, polish, confirmation |
//! | [`newton`] | damped Gauss-Newton in a box: the polish |
//! | [`nelder_mead`] | a simplex that knows no derivative: the second opinion |
//!
//! Invariants: no member reports success. Each returns the best point it has seen, which is never worse than
//! the best it was given, and [`varpro`] compares two methods that fail in different ways.

pub mod bfgs;
pub mod correlated;
mod dense;
pub mod held_slope;
pub mod least_squares;
pub mod nelder_mead;
pub mod newton;
pub mod parabola;
pub mod plane;
pub mod polynomial;
pub mod straight;
pub mod varpro;

pub(crate) use dense::{Symmetric, solve};
