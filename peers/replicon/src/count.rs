//! A counting allocator and the thread's CPU clock, as the project's own bench has them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is handed to the system allocator unchanged; the counter touches no memory it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Allocations and reallocations since the program started.
pub fn allocations() -> usize {
    ALLOCATIONS.load(Relaxed)
}

/// Nanoseconds of CPU time this thread has used.
pub fn nanoseconds() -> u64 {
    #[repr(C)]
    struct TimeSpec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
    }
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the structure has the layout of `timespec` on 64-bit Linux and lives for the whole call.
    let result = unsafe { clock_gettime(3, &mut time) };
    assert_eq!(result, 0, "the thread's CPU clock always exists on Linux");
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}
