//! Runs `relscale_fuzz::targets::corpora::anthropic`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::corpora::anthropic(data));
