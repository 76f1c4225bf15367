//! What functions answer.
use crate::c_types::codes::{Code, NC_EINTERNAL, Outcome};
use std::ffi::{CStr, c_char, c_int};

/// What a C function answers.
pub(crate) trait CReturn {
    /// How C receives it.
    type Raw;
    /// Whether calls that answer it can fail.
    const CAN_FAIL: bool = true;
    /// Its type in C.
    fn c_type() -> String;
    /// What C receives.
    fn into_raw(self) -> Self::Raw;
    /// The answer of a call that panicked.
    fn panicked() -> Self;
    /// The code of a failure; 0 for success, and where numbers are no codes.
    fn code(&self) -> c_int {
        0
    }
}

impl CReturn for Outcome<()> {
    type Raw = c_int;
    fn c_type() -> String {
        "int".to_owned()
    }
    fn into_raw(self) -> c_int {
        self.map_or_else(|code| code.0, |()| 0)
    }
    fn panicked() -> Self {
        Err(Code(NC_EINTERNAL))
    }
    fn code(&self) -> c_int {
        self.as_ref().map_or_else(|code| code.0, |()| 0)
    }
}

/// Any number.
impl CReturn for c_int {
    type Raw = Self;
    fn c_type() -> String {
        "int".to_owned()
    }
    fn into_raw(self) -> c_int {
        self
    }
    fn panicked() -> Self {
        0
    }
}

/// A size.
impl CReturn for usize {
    type Raw = Self;
    const CAN_FAIL: bool = false;
    fn c_type() -> String {
        "size_t".to_owned()
    }
    fn into_raw(self) -> Self {
        self
    }
    fn panicked() -> Self {
        0
    }
}

/// Text that lives as long as the program.
#[derive(Debug)]
pub(crate) struct ConstText(pub &'static CStr);

impl CReturn for ConstText {
    type Raw = *const c_char;
    fn c_type() -> String {
        "const char *".to_owned()
    }
    fn into_raw(self) -> *const c_char {
        self.0.as_ptr()
    }
    fn panicked() -> Self {
        Self(c"")
    }
}

/// Text that the caller frees; null if there is none.
#[derive(Debug)]
pub(crate) struct OwnedText(pub Option<Vec<u8>>);

impl CReturn for OwnedText {
    type Raw = *mut c_char;
    fn c_type() -> String {
        "char *".to_owned()
    }
    fn into_raw(self) -> *mut c_char {
        let address = self.0.and_then(|text| super::allocated_text(&text).ok());
        std::ptr::with_exposed_provenance_mut(address.unwrap_or(0))
    }
    fn panicked() -> Self {
        Self(None)
    }
}

/// Nothing.
#[derive(Debug)]
pub(crate) struct NoAnswer;

impl CReturn for NoAnswer {
    type Raw = ();
    fn c_type() -> String {
        "void".to_owned()
    }
    fn into_raw(self) {}
    fn panicked() -> Self {
        Self
    }
}

/// The text of the last error of this thread.
#[derive(Debug)]
pub(crate) struct LastErrorText;

impl CReturn for LastErrorText {
    type Raw = *const c_char;
    fn c_type() -> String {
        "const char *".to_owned()
    }
    fn into_raw(self) -> *const c_char {
        crate::process::last_error::address()
    }
    fn panicked() -> Self {
        Self
    }
}
