//! Runs `relscale_fuzz::targets::checkpoints::config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::checkpoints::config(data));
