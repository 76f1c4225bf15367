//! What went wrong in the last call of a thread that failed.
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char};
use std::io::Write;
use std::sync::OnceLock;

thread_local! {
    /// The text; empty before the first error.
    static TEXT: RefCell<CString> = RefCell::new(CString::default());
    /// Whether it is of the call that runs.
    static IS_NEW: Cell<bool> = const { Cell::new(false) };
    /// The function that was called last.
    static FUNCTION: Cell<&'static str> = const { Cell::new("") };
    /// The file of the call that runs, where its words do not name one.
    static FILE: RefCell<String> = const { RefCell::new(String::new()) };
    /// Files that the call gave up.
    static GIVEN_UP: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A call begins.
pub(crate) fn begin(function: &'static str) {
    // A thread that ends has no errors any more.
    let _ = IS_NEW.try_with(|is_new| is_new.set(false));
    let _ = FILE.try_with(|file| file.borrow_mut().clear());
    let _ = FUNCTION.try_with(|place| place.set(function));
}

/// The function that this thread called last.
pub(crate) fn function() -> &'static str {
    FUNCTION.try_with(Cell::get).unwrap_or_default()
}

/// What went wrong, in the words of whoever noticed it.
pub(crate) fn set(text: &str) {
    let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
    let _ = TEXT.try_with(|place| *place.borrow_mut() = text);
    let _ = IS_NEW.try_with(|is_new| is_new.set(true));
}

/// Puts the file before what went wrong in the call that runs, if that does not name it.
pub(crate) fn about(file: &[u8]) {
    let file = String::from_utf8_lossy(file);
    let known = TEXT.try_with(|text| text.borrow().to_string_lossy().into_owned()).unwrap_or_default();
    let is_new = IS_NEW.try_with(Cell::get).unwrap_or_default();
    if !is_new {
        // The words of the code are found at the end.
        let _ = FILE.try_with(|place| file.trim().clone_into(&mut place.borrow_mut()));
    } else if !known.contains(file.trim()) {
        set(&format!("{}: {known}", file.trim()));
    }
}

/// The call panicked while it had a file.
pub(crate) fn give_up(file: &str) {
    let _ = GIVEN_UP.try_with(|files| {
        let mut files = files.borrow_mut();
        if !file.is_empty() && files.iter().all(|known| known != file) {
            files.push(file.to_owned());
        }
    });
}

/// The call panicked: with which files, and what was said.
pub(crate) fn set_panic(function: &str, panic: &(dyn Any + Send)) {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    let files = GIVEN_UP.try_with(RefCell::take).unwrap_or_default();
    let fault = format!("internal error in {function}: {said}");
    if files.is_empty() {
        return set(&fault);
    }
    let files = files.join(" and ");
    set(&format!("{files}: {fault}; given up, and answers nothing but nc_close and nc_abort any more"));
}

/// A call failed: without other words, those of its code. With `NCIRRUS_ERRORS=1` in the environment they are written to standard
/// error, because a code says little.
pub(crate) fn end(function: &str, code: i32, words: impl FnOnce() -> String) {
    if !IS_NEW.try_with(Cell::get).unwrap_or(true) {
        let file = FILE.try_with(RefCell::take).unwrap_or_default();
        set(&if file.is_empty() { words() } else { format!("{file}: {}", words()) });
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
