//! Runs `relscale_fuzz::targets::results::laws`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::results::laws(data));
