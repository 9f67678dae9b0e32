//! Runs `relscale_fuzz::targets::checkpoints::gguf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::checkpoints::gguf(data));
