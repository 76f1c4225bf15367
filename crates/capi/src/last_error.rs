//! What went wrong in the last call of a thread that failed.
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char};
use std::io::Write;
use std::sync::OnceLock;

thread_local! {
    /// The text; empty before the first error.
    static TEXT: RefCell<CString> = RefCell::new(CString::default());
    /// Whether it is of the call that runs.
    static IS_NEW: Cell<bool> = const { Cell::new(false) };
}

/// A call begins.
pub(crate) fn begin() {
    // A thread that ends has no errors any more.
    let _ = IS_NEW.try_with(|is_new| is_new.set(false));
}

/// What went wrong, in the words of whoever noticed it.
pub(crate) fn set(text: &str) {
    let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
    let _ = TEXT.try_with(|place| *place.borrow_mut() = text);
    let _ = IS_NEW.try_with(|is_new| is_new.set(true));
}

/// A call failed: without other words, those of its code. With `NCIRRUS_ERRORS=1` in the environment they are written to standard
/// error, because a code says little.
pub(crate) fn end(function: &str, code: i32, words: impl FnOnce() -> String) {
    if !IS_NEW.try_with(Cell::get).unwrap_or(true) {
        set(&words());
    }
    static IS_ON: OnceLock<bool> = OnceLock::new();
    if *IS_ON.get_or_init(|| std::env::var_os("NCIRRUS_ERRORS").is_some_and(|value| value == "1")) {
        // Without standard error nobody is told.
        let _ = TEXT.try_with(|text| {
            writeln!(std::io::stderr(), "ncirrus: {function}: {} ({code})", text.borrow().to_string_lossy())
        });
    }
}

/// The address of the text, which stands until the next call of this thread that fails.
pub(crate) fn address() -> *const c_char {
    const NONE: &CStr = c"";
    TEXT.try_with(|text| text.borrow().as_ptr()).unwrap_or(NONE.as_ptr())
}
