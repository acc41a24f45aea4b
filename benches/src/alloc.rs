//! A global allocator that counts, so that "zero allocations in a steady step" and "bytes per controller" are
//! measured and not estimated. With the clock it is the only module that needs `unsafe`.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is handed to the system allocator unchanged; the counters touch no memory it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size(), Relaxed);
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size(), Relaxed);
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        LIVE_BYTES.fetch_add(new_size, Relaxed);
        LIVE_BYTES.fetch_sub(layout.size(), Relaxed);
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Bytes handed out and not yet returned.
pub(crate) fn live_bytes() -> usize {
    LIVE_BYTES.load(Relaxed)
}

/// Allocations and reallocations since the program started.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.load(Relaxed)
}

/// Makes the system allocator keep the memory of earlier repetitions, so that the page faults of a first touch are
/// not attributed to the first run: freeing one large block raises the sizes from which the C library asks the
/// operating system for fresh pages and gives them back. Where the allocator works otherwise this does nothing.
pub(crate) fn keep_memory_warm() {
    drop(std::hint::black_box(vec![1u8; 31 << 20]));
}
