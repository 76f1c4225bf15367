//! Documents of DMR++.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ncirrus_fuzz::dmrpp(data));
