#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ncirrus_fuzz::served_paths(data));
