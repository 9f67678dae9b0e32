//! Runs `relscale_fuzz::targets::logs::training`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::logs::training(data));
