//! Finding the parameters that fit best.
//!
//! | member | what |
//! |---|---|
//! | [`linear`] | linear least squares: weights, errors that go together, coefficients that are given |
//! | [`least_squares`] | a straight line |
//! | [`student`] | Student t intervals for a straight line |
//! | [`held_slope`] | a straight line whose slope is given |
//! | [`plane`] | a plane |
//! | [`correlated`] | a straight line through points whose errors go together |
//! | [`polynomial`] | polynomials by least squares or Huber's loss, with their minimum |
//! | [`ridge`] | linear least squares with a penalty, for more columns than points bear |
//! | [`search`](mod@search) | one search for all fits without a closed form: grid, polish, second method, confirmation |
//! | [`bfgs`] | quasi-Newton descent for smooth functions of a few parameters |
//! | [`varpro`] | a curve that is linear in some of its parameters |
//! | [`newton`] | damped Gauss-Newton in a box: the polish |
//! | [`nelder_mead`] | a simplex that knows no derivative: the second opinion |
//!
//! Invariants: no member reports success. Each returns the best point it has seen, which is never
//! worse than the best it was given, and [`search`](mod@search) compares two methods that fail in
//! different ways.

pub mod bfgs;
pub mod correlated;
mod dense;
pub mod held_slope;
pub mod least_squares;
pub mod linear;
mod minimum;
pub mod nelder_mead;
pub mod newton;
pub mod plane;
pub mod polynomial;
pub mod ridge;
pub mod search;
pub mod student;
pub mod varpro;

pub use minimum::{Bound, Minimum};

pub(crate) use dense::{Symmetric, dot, orthonormal, remainder, solve, subtract, unit};
