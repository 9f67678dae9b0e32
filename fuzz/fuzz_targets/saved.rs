//! Runs `relscale_fuzz::targets::results::saved`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::results::saved(data));
