//! The limits for one input: measured CPU time and bytes of memory.
//!
//! The limits of libFuzzer use wall time and the memory of the whole process, including its corpus, and report false
//! failures on a busy machine. These limits measure only the code under test.

use crate::body::Body;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The maximum CPU time of one step in seconds.
pub const SECONDS: f64 = 1.0;
/// The maximum memory at one time in bytes.
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

// SAFETY: every call is passed to the system allocator unchanged; the counters do not use its memory.
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

/// Returns the CPU time of this thread.
fn spent() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the one structure it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The cost of one step with an input.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The name of the step.
    pub what: &'static str,
    /// The seconds of CPU time.
    pub seconds: f64,
    /// The maximum number of bytes at one time, including earlier allocations.
    pub bytes: usize,
}

impl Cost {
    /// Returns whether the cost is within the limits.
    pub fn is_held(&self) -> bool {
        self.seconds <= SECONDS && self.bytes <= BYTES
    }
}

/// Runs a body and reports the cost of each step.
pub fn measure(body: Body, bytes: &[u8], report: &mut dyn FnMut(Cost)) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut begun = spent();
    let mut done = |what: &'static str| {
        let seconds = (spent() - begun).as_secs_f64();
        report(Cost { what, seconds, bytes: PEAK.load(Relaxed).saturating_sub(before) });
        PEAK.store(LIVE.load(Relaxed), Relaxed);
        begun = spent();
    };
    body(bytes, &mut done);
    done("");
}

/// Runs a body; panics if a step exceeds a limit.
pub fn hold(body: Body, bytes: &[u8]) {
    measure(body, bytes, &mut |cost| {
        let Cost { what, seconds, bytes: most } = cost;
        assert!(cost.is_held(), "{what}: {} bytes took {seconds:.2} s and {} MiB", bytes.len(), most >> 20);
    });
}
