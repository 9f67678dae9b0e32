//! For development only: what tests of several crates need and no product should carry.
//!
//! * [`book`]: the documents, their blocks, and the commands in these.
//! * [`hub`]: a Hugging Face Hub on this machine, and the host that its large files lie on.
//! * [`data`]: published numbers, texts of others, and the word for a test that is skipped.
//! * [`model`]: a tiny Llama folder with random weights, to run.
//! * [`tokenizer`]: its byte-level tokenizer of about three hundred entries.
//! * [`ranks`]: the cases of `testdata/ranks`, which every head, engine and kernel faces, and a
//!   model whose logits are given.
//! * [`numbers`]: numbers that look random, and gradients against finite differences.
//! * [`server`]: a server on this machine that answers as a test says, faults included.
//! * [`vllm`]: a model that is a formula behind such a server, in the shapes of vLLM.
//! * [`study`]: a study whose ranks follow a law that one knows, to fit.
//!
//! Everything follows from a seed or from nothing at all, so that a test sees the same on every
//! machine. Functions panic where a test would have to: no caller can do better.

#![forbid(unsafe_code)]

pub mod book;
pub mod data;
pub mod hub;
pub mod model;
pub mod numbers;
pub mod ranks;
pub mod server;
pub mod study;
pub mod tokenizer;
pub mod vllm;

pub use model::{TinyModel, tiny_model};
pub use server::{Answer, Received, StubServer};
pub use study::{MadeUpFamily, made_up_study};
