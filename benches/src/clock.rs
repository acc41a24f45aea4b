//! The CPU time of this thread, which a busy machine disturbs far less than wall time. Platforms without a thread clock
//! use wall time.
#![allow(unsafe_code)]

/// Returns the nanoseconds of CPU time that this thread has used.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) fn nanoseconds() -> u64 {
    #[repr(C)]
    struct TimeSpec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
    }
    const THREAD_CPU_TIME: i32 = 3;
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the structure has the layout of `timespec` on 64-bit Linux and lives for the whole call.
    let result = unsafe { clock_gettime(THREAD_CPU_TIME, &mut time) };
    assert_eq!(result, 0, "the thread's CPU clock always exists on Linux");
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// Returns the nanoseconds since the first call.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
#[allow(clippy::disallowed_methods)]
pub(crate) fn nanoseconds() -> u64 {
    use std::{sync::OnceLock, time::Instant};
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
