//! The engine against servers that are not there: recorded answers, and a model that is a formula
//! behind a server with every fault that was met in the field.

mod fake;
mod faults;
mod recorded;
mod study;
