//! Runs `relscale_fuzz::targets::tables::manifest`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::tables::manifest(data));
