//! Runs `relscale_fuzz::targets::corpora::ice`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::corpora::ice(data));
