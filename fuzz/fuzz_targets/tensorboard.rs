//! Runs `relscale_fuzz::targets::logs::tensorboard`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::logs::tensorboard(data));
