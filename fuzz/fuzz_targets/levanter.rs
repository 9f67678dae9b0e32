//! Runs `relscale_fuzz::targets::logs::levanter`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::logs::levanter(data));
