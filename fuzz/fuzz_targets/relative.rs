//! Runs `relscale_fuzz::targets::tables::relative`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::tables::relative(data));
