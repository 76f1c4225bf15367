//! Files of references in Parquet.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ncirrus_fuzz::reference_records(data));
