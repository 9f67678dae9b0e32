//! Finding the parameters that fit best.

pub mod correlated;
pub mod least_squares;
