//! Variables that programs share with the library.
use std::sync::atomic::AtomicI32;

/// The code of the last error.
#[unsafe(no_mangle)]
pub(crate) static ncerr: AtomicI32 = AtomicI32::new(0);

/// What is done about errors: they are printed, and end the program.
#[unsafe(no_mangle)]
pub(crate) static ncopts: AtomicI32 = AtomicI32::new(3);
