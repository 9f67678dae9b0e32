//! What a trained model becomes on disk.

pub mod huggingface;
