//! The limits of one input: seconds of processor time and bytes of memory, counted and not estimated.
//!
//! libFuzzer's own limits look at the wall clock and at everything the process holds, its corpus included; on a busy
//! machine they find what is not there. These look at what the code under test did with one input.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Longest time one input may take.
pub const SECONDS: f64 = 1.0;
/// Most memory one input may have at a time.
pub const BYTES: usize = 256 << 20;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn take(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    if live > PEAK.load(Relaxed) {
        PEAK.store(live, Relaxed);
    }
}

// SAFETY: every call is handed to the system allocator unchanged; the counters touch no memory it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Both blocks may exist while one is copied into the other.
        take(new_size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Processor time of this thread.
fn spent() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the one structure it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What one input cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Seconds of processor time.
    pub seconds: f64,
    /// The most bytes it had at a time.
    pub bytes: usize,
}

/// Runs a body and measures it.
pub fn measure(body: fn(&[u8]), bytes: &[u8]) -> Cost {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let begun = spent();
    body(bytes);
    let seconds = (spent() - begun).as_secs_f64();
    Cost { seconds, bytes: PEAK.load(Relaxed).saturating_sub(before) }
}

/// Runs a body; panics if it breaks a limit.
pub fn hold(body: fn(&[u8]), bytes: &[u8]) {
    let cost = measure(body, bytes);
    assert!(cost.seconds <= SECONDS, "an input of {} bytes took {:.2} s", bytes.len(), cost.seconds);
    assert!(cost.bytes <= BYTES, "an input of {} bytes took {} MiB", bytes.len(), cost.bytes >> 20);
}
