//! Counts what a program allocates.
#![expect(unsafe_code, reason = "an allocator that counts")]
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// Allocations and their bytes since the start.
static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

struct CountingAllocator;

fn note(byte_len: usize) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(byte_len as u64, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the rules of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        note(len);
        // SAFETY: the caller keeps the rules of `realloc`.
        unsafe { System.realloc(place, layout, len) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the rules of `dealloc`.
        unsafe { System.dealloc(place, layout) }
    }
}

/// How many allocations a call makes, and of how many bytes.
pub(crate) fn counted(call: impl FnOnce()) -> [u64; 2] {
    let now = || [&COUNT, &BYTES].map(|counter| counter.load(Ordering::Relaxed));
    let before = now();
    call();
    let after = now();
    [after[0] - before[0], after[1] - before[1]]
}
