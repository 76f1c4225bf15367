//! The end of the first thread of a process, as by `pthread_exit`: its other threads go on.
use std::ffi::{c_int, c_uint, c_void};

// SAFETY: the functions of POSIX, by their prototypes on Linux, where a key is a number.
unsafe extern "C" {
    fn pthread_key_create(key: *mut c_uint, act: extern "C" fn(*mut c_void)) -> c_int;
    fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
}

#[used]
// SAFETY: the section is that of functions that are called when the library is loaded, and this is one.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = await_end;

/// The value that the first thread has for its key. The system calls the key's function at the end of a thread that has one, and
/// not when the process ends.
static MARK: u8 = 0;

extern "C" fn await_end() {
    if nix::unistd::gettid() != nix::unistd::getpid() {
        return;
    }
    let mut key = 0;
    // SAFETY: the place is that of a key; the function lives as long as the program and lets no panic out.
    let code = unsafe { pthread_key_create(&raw mut key, end) };
    if code == 0 {
        // SAFETY: the key is one, and its value is only compared to null.
        let _ = unsafe { pthread_setspecific(key, (&raw const MARK).cast()) };
    }
}

extern "C" fn end(_: *mut c_void) {
    crate::process::last_thread::watch();
}
