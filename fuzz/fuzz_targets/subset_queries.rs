#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ncirrus_fuzz::subset_queries(data));
