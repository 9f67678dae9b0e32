//! Shapes of law, a form a file.

pub mod power;
