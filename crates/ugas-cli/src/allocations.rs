//! Counts allocations per thread. The studio shows the number of allocations in the last tick of the session, which
//! should be 0 after warm-up.
#![allow(unsafe_code, reason = "an allocator is an unsafe trait; every call is forwarded to the system allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns how many allocations this thread has made.
pub(crate) fn allocations() -> u64 {
    COUNT.with(Cell::get)
}

/// Counts one allocation, unless the thread is ending.
fn count() {
    let _ = COUNT.try_with(|count| count.set(count.get().wrapping_add(1)));
}

// SAFETY: every call is forwarded to the system allocator unchanged; the counter neither allocates nor drops memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}
