//! Runs `relscale_fuzz::targets::corpora::rows`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::corpora::rows(data));
