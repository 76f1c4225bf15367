//! What went wrong in the last call of a thread that failed.
use ncirrus::store::path_text;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char};
use std::io::Write;
use std::sync::OnceLock;

thread_local! {
    /// The text; empty before the first error.
    static TEXT: RefCell<CString> = RefCell::new(CString::default());
    /// The call that it makes, or made last.
    static CALL: LastCall = const { LastCall::none() };
    /// The file of the call that runs, where its words do not name one.
    static FILE: RefCell<String> = const { RefCell::new(String::new()) };
    /// Files that the call gave up.
    static GIVEN_UP: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A call of a thread. Every call writes it: it is one place, and each field is written alone, since a structure that is made first and
/// copied then takes longer than all else in the shortest calls.
#[derive(Debug)]
struct LastCall {
    function: Cell<&'static str>,
    /// Whether the text is of this call.
    has_text: Cell<bool>,
    /// Whether the file is.
    has_file: Cell<bool>,
}

impl LastCall {
    const fn none() -> Self {
        Self { function: Cell::new(""), has_text: Cell::new(false), has_file: Cell::new(false) }
    }
}

/// A call begins.
pub(crate) fn begin(function: &'static str) {
    CALL.with(|call| {
        call.function.set(function);
        call.has_text.set(false);
        call.has_file.set(false);
    });
}

/// The function that this thread called last.
pub(crate) fn function() -> &'static str {
    CALL.with(|call| call.function.get())
}

/// What went wrong, in the words of whoever noticed it.
pub(crate) fn set(text: &str) {
    let text = CString::new(shown(text)).unwrap_or_default();
    // A thread that ends has no text any more.
    let _ = TEXT.try_with(|place| *place.borrow_mut() = text);
    CALL.with(|call| call.has_text.set(true));
}

/// A text without NULs: those of a path mark bytes that are not UTF-8 (`path_text`).
fn shown(text: &str) -> String {
    text.replace('\0', "\\x")
}

/// Puts the file before what went wrong in the call that runs, if that does not name it.
pub(crate) fn about(file: &[u8]) {
    let file = shown(&path_text::of_bytes(file));
    let known = TEXT.try_with(|text| text.borrow().to_string_lossy().into_owned()).unwrap_or_default();
    if !CALL.with(|call| call.has_text.get()) {
        // The words of the code are found at the end.
        let _ = FILE.try_with(|place| file.trim().clone_into(&mut place.borrow_mut()));
        CALL.with(|call| call.has_file.set(true));
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
    let (has_text, has_file) = CALL.with(|call| (call.has_text.get(), call.has_file.get()));
    if !has_text {
        let file = if has_file { FILE.try_with(RefCell::take).unwrap_or_default() } else { String::new() };
        set(&if file.is_empty() { words() } else { format!("{file}: {}", words()) });
    }
    static IS_ON: OnceLock<bool> = OnceLock::new();
    if *IS_ON.get_or_init(|| std::env::var_os("NCIRRUS_ERRORS").is_some_and(|value| value == "1")) {
        // Without standard error there is no message.
        let _ = TEXT.try_with(|text| {
            writeln!(std::io::stderr(), "ncirrus: {function}: {} ({code})", text.borrow().to_string_lossy())
        });
    }
}

/// The address of the text, which is valid until the next call of this thread that fails.
pub(crate) fn address() -> *const c_char {
    const NONE: &CStr = c"";
    TEXT.try_with(|text| text.borrow().as_ptr()).unwrap_or(NONE.as_ptr())
}
