//! A global allocator that counts allocations and bytes, so that "zero allocations in a steady step" and "bytes per
//! controller" are measured. Only this module and `clock` need `unsafe`.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is forwarded to the system allocator unchanged; the counters do not use its memory.
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

/// Returns the number of bytes that are allocated and not freed.
pub(crate) fn live_bytes() -> usize {
    LIVE_BYTES.load(Relaxed)
}

/// Returns the number of allocations and reallocations since the program started.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.load(Relaxed)
}

/// Makes the system allocator keep the memory of earlier repetitions, so that the first run is not slowed down by page
/// faults. Freeing one large block raises the size from which the C library requests pages from the operating system
/// and returns them. With other allocators this function has no effect.
pub(crate) fn keep_memory_warm() {
    drop(std::hint::black_box(vec![1u8; 31 << 20]));
}
