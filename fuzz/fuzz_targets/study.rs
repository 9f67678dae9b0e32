//! Runs `relscale_fuzz::targets::records::study`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::records::study(data));
