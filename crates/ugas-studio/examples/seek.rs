//! Measures a recording: `cargo run --release -p ugas-studio --example seek`.
//!
//! Records ten minutes of the duel at 60 ticks per second, seeks to random ticks, and prints the memory of the recording and
//! the time of a seek.
#![allow(clippy::disallowed_methods, reason = "it measures, and nothing below it reads a clock")]

use std::time::Instant;
use ugas_studio::recording::Recording;
use ugas_studio::session::Session;

const TICKS: u32 = 10 * 60 * 60;

/// Returns the resident memory of the process, where the operating system reports it.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

fn main() -> Result<(), String> {
    let mut recording = Recording::new(Session::duel(7)?);
    let (before, begun) = (memory(), Instant::now());
    (0..TICKS).for_each(|_| recording.step());
    let step = begun.elapsed().as_secs_f64() * 1e6 / f64::from(TICKS);
    println!("recorded {TICKS} ticks, {step:.0} µs per tick with recording, {} keyframes", recording.keyframes());
    if let (Some(before), Some(after)) = (before, memory()) {
        println!("memory of the recording: {:.1} MB", after.saturating_sub(before) as f64 / 1e6);
    }
    let mut costs: Vec<f64> = Vec::new();
    let mut seed = 0x9E37_79B9_u64;
    for _ in 0..400 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let tick = (seed >> 33) as u32 % TICKS;
        let begun = Instant::now();
        recording.seek(tick);
        costs.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    costs.sort_by(f64::total_cmp);
    let share = |part: f64| costs[((costs.len() - 1) as f64 * part) as usize];
    println!("seek: median {:.1} ms, 99th percentile {:.1} ms, maximum {:.1} ms", share(0.5), share(0.99), share(1.0));
    Ok(())
}
