//! Runs `relscale_fuzz::targets::corpora::held_out`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::corpora::held_out(data));
