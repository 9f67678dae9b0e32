//! Runs `relscale_fuzz::targets::checkpoints::pickle`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::checkpoints::pickle(data));
