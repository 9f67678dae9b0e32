//! Runs `relscale_fuzz::targets::checkpoints::model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::checkpoints::model(data));
