#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cuzk_fuzz::r1cs(bytes);
});
