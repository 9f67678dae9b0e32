//! Finding the parameters that fit best.

pub mod least_squares;
