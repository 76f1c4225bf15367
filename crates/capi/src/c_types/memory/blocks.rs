//! Blocks of `malloc`, which programs free with `free`. They are passed on as addresses: numbers in the images of structures
//! that are copied to the caller.
use super::In;
use crate::c_types::codes::{Code, NC_ENOMEM, NC_ERANGE, Outcome};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

// SAFETY: the functions of C's standard library, by their prototypes there.
unsafe extern "C" {
    fn malloc(len: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

/// The address of a new block with these bytes; 0 for none.
///
/// # Errors
/// `NC_ENOMEM`.
pub(crate) fn allocated(bytes: &[u8]) -> Outcome<usize> {
    if bytes.is_empty() {
        return Ok(0);
    }
    // SAFETY: a block of that many bytes is new memory, which overlaps nothing; it is checked before it is filled.
    let block = unsafe {
        let block = malloc(bytes.len());
        if block.is_null() {
            return Err(Code(NC_ENOMEM));
        }
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.cast(), bytes.len());
        block
    };
    Ok(block.expose_provenance())
}

/// The address of a new block with a text and its NUL.
///
/// # Errors
/// `NC_ENOMEM`; `NC_ERANGE` for a text that holds NUL, which C would take for its end.
pub(crate) fn allocated_text(text: &[u8]) -> Outcome<usize> {
    let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut bytes = text.get(..end).unwrap_or_default().to_vec();
    if bytes.contains(&0) {
        return Err(Code(NC_ERANGE));
    }
    bytes.push(0);
    allocated(&bytes)
}

/// Frees a block whose address a program passed; 0 is ignored.
pub(crate) fn free_address(address: usize) {
    // SAFETY: the addresses come from structures that programs pass to be freed: blocks of `malloc`, as the reference's
    // documentation requires, or 0, which `free` ignores.
    unsafe { free(std::ptr::with_exposed_provenance_mut(address)) };
}

/// The address that the bytes of a pointer hold.
pub(crate) fn address_in(bytes: &[u8]) -> usize {
    let mut address = [0; size_of::<usize>()];
    let len = bytes.len().min(address.len());
    address[..len].copy_from_slice(&bytes[..len]);
    usize::from_ne_bytes(address)
}

/// A block of the program that a structure refers to: the elements of a vlen, or a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CBlock(usize);

impl CBlock {
    /// The block whose address is in the first bytes of an image.
    pub(crate) fn at(image: &[u8]) -> Self {
        Self(address_in(image))
    }

    /// Its address.
    pub(crate) fn address(self) -> usize {
        self.0
    }

    /// The first `len` bytes.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn bytes(&self, len: usize) -> Outcome<Vec<u8>> {
        In::at_address(self.0).read(len).map(<[u8]>::to_vec)
    }

    /// The text in the block; `None` for a null pointer.
    pub(crate) fn text(self) -> Option<Vec<u8>> {
        let pointer: *const c_char = std::ptr::with_exposed_provenance(self.0);
        // SAFETY: a structure of the program holds the address of a text that ends with a NUL, or null.
        let text = unsafe { <super::CText as super::CArgument>::from_raw(pointer) };
        text.bytes().ok().map(<[u8]>::to_vec)
    }
}

// SAFETY: as above.
unsafe extern "C" {
    fn strerror(number: c_int) -> *const c_char;
}

/// What the system calls one of its error numbers.
pub(crate) fn system_text(number: c_int) -> *const c_char {
    // SAFETY: any number is allowed; the text belongs to the system.
    unsafe { strerror(number) }
}

/// A function of HDF5 that answers its version in three numbers.
#[cfg(target_os = "linux")]
type Hdf5Version = unsafe extern "C" fn(*mut u32, *mut u32, *mut u32) -> c_int;

// SAFETY: as above; of POSIX.
#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The version of the HDF5 library that the process has besides; `None` without one.
#[cfg(target_os = "linux")]
pub(crate) fn other_hdf5_version() -> Option<[u32; 3]> {
    // `RTLD_NEXT`: the libraries that come after this one.
    let next = std::ptr::without_provenance_mut(usize::MAX);
    // SAFETY: the name ends with a NUL.
    let found = unsafe { dlsym(next, c"H5get_libversion".as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: this is the type of the function of that name in every version of HDF5.
    let version = unsafe { std::mem::transmute::<*mut c_void, Hdf5Version>(found) };
    let [mut major, mut minor, mut release] = [0; 3];
    // SAFETY: the places are those of three numbers.
    let code = unsafe { version(&raw mut major, &raw mut minor, &raw mut release) };
    (code >= 0).then_some([major, minor, release])
}

/// The version of the HDF5 library that the process has besides; it is not asked for here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn other_hdf5_version() -> Option<[u32; 3]> {
    None
}

// SAFETY: as above.
unsafe extern "C" {
    fn atexit(act: extern "C" fn()) -> c_int;
}

/// What is to be done when the program ends.
static AT_EXIT: std::sync::OnceLock<fn()> = std::sync::OnceLock::new();

/// Whether the system was asked to call [`leave`].
static IS_EXIT_AWAITED: AtomicBool = AtomicBool::new(false);

/// Calls a function when the program ends in order.
pub(crate) fn at_exit(act: fn()) {
    if AT_EXIT.set(act).is_ok() {
        await_exit();
    }
}

/// The system calls the last one first that asked: the library asks when it is loaded, so that all functions of `atexit` and
/// destructors of the program still find its files open.
#[cfg(all(target_os = "linux", not(miri)))]
#[used]
// SAFETY: the section is that of functions that are called at this time, and this is one.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = await_exit;

extern "C" fn await_exit() {
    if !IS_EXIT_AWAITED.swap(true, Ordering::AcqRel) {
        // SAFETY: the function lives as long as the program and lets no panic out. Without room for it nothing is called.
        let _ = unsafe { atexit(leave) };
    }
}

/// Acts in a thread of its own: what the ending one keeps for itself is gone already.
extern "C" fn leave() {
    if let Some(act) = AT_EXIT.get()
        && let Ok(thread) = std::thread::Builder::new().spawn(act)
    {
        let _ = thread.join();
    }
}

// SAFETY: as above; of POSIX.
#[cfg(unix)]
unsafe extern "C" {
    fn pthread_atfork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> c_int;
}

/// What is to be done before a fork, after it, and after it in the child.
#[cfg(unix)]
static AT_FORK: std::sync::OnceLock<[fn(); 3]> = std::sync::OnceLock::new();

/// Calls functions when the process is forked: before it, after it, and after it in the child.
#[cfg(unix)]
pub(crate) fn at_fork(before: fn(), parent: fn(), child: fn()) {
    if AT_FORK.set([before, parent, child]).is_ok() {
        // SAFETY: the functions live as long as the library, which is not unloaded, and let no panic out.
        let _ = unsafe { pthread_atfork(before_fork, after_fork, in_child) };
    }
}

/// No process is forked here.
#[cfg(not(unix))]
pub(crate) fn at_fork(_: fn(), _: fn(), _: fn()) {}

#[cfg(unix)]
extern "C" fn before_fork() {
    act_at_fork(0);
}

#[cfg(unix)]
extern "C" fn after_fork() {
    act_at_fork(1);
}

#[cfg(unix)]
extern "C" fn in_child() {
    act_at_fork(2);
}

#[cfg(unix)]
fn act_at_fork(which: usize) {
    if let Some(act) = AT_FORK.get().and_then(|acts| acts.get(which)) {
        // Without it the child may wait for threads that it does not have; there is no call to return an error.
        let _ = std::panic::catch_unwind(act);
    }
}

/// Memory of a program that is read in place, until the last of what has it is dropped.
#[derive(Debug)]
pub(crate) struct LentBlock {
    address: usize,
    len: usize,
    lending: Lending,
}

impl LentBlock {
    /// The first `len` bytes of a block, which the program keeps until it closes what is in them.
    pub(crate) fn new(address: usize, len: usize, lending: &Lending) -> Self {
        Self { address, len, lending: lending.clone() }
    }
}

impl Drop for LentBlock {
    fn drop(&mut self) {
        *self.lending.is_returned() = true;
        self.lending.0.changed.notify_all();
    }
}

/// Whether a [`LentBlock`] can still be read: by threads of the session too, which read ahead.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lending(Arc<LendingState>);

#[derive(Debug, Default)]
struct LendingState {
    is_returned: Mutex<bool>,
    changed: Condvar,
}

impl Lending {
    fn is_returned(&self) -> MutexGuard<'_, bool> {
        self.0.is_returned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nothing reads the block any more.
    pub(crate) fn wait_for_return(&self) {
        let waited = self.0.changed.wait_while(self.is_returned(), |is_returned| !*is_returned);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl AsRef<[u8]> for LentBlock {
    fn as_ref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the program passed a block of this length to `nc_open_mem`, whose documentation asks it to keep the block
        // unchanged until the file is closed.
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(self.address), self.len) }
    }
}
