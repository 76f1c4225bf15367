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
    /// The code of a failure; 0 for success, and for numbers that are not codes.
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

/// How C receives an answer, and the answer of a call that panicked: `Answer: raw type, type in C, conversion, answer;`.
macro_rules! returned_as {
    ($($answer:ty: $raw:ty, $c:literal, |$own:ident| $into:expr, $panicked:expr;)*) => {$(
        impl $crate::c_types::memory::CReturn for $answer {
            type Raw = $raw;
            fn c_type() -> String {
                $c.to_owned()
            }
            fn into_raw(self) -> Self::Raw {
                let $own = self;
                $into
            }
            fn panicked() -> Self {
                $panicked
            }
        }
    )*};
}

pub(crate) use returned_as;

returned_as! {
    c_int: c_int, "int", |number| number, 0;
    ConstText: *const c_char, "const char *", |text| text.0.as_ptr(), Self(c"");
    OwnedText: *mut c_char, "char *", |text| text.address(), Self(None);
    NoAnswer: (), "void", |_none| (), Self;
    LastErrorText: *const c_char, "const char *", |_last| crate::process::last_error::address(), Self;
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

/// Text that the caller frees; null if there is none.
#[derive(Debug)]
pub(crate) struct OwnedText(pub Option<Vec<u8>>);

impl OwnedText {
    fn address(self) -> *mut c_char {
        let address = self.0.and_then(|text| super::allocated_text(&text).ok());
        std::ptr::with_exposed_provenance_mut(address.unwrap_or(0))
    }
}

/// Nothing.
#[derive(Debug)]
pub(crate) struct NoAnswer;

/// The text of the last error of this thread.
#[derive(Debug)]
pub(crate) struct LastErrorText;
