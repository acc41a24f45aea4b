//! Hostile input: stale keys, unknown ids, numbers that are none, endless chains and loops, every limit reached. What
//! comes back is a typed refusal or a diagnostic; nothing panics, hangs or grows without bound.

mod chains;
mod damage;
mod hits;
mod ids;
mod limits;
mod loops;
mod numbers;
mod resources;
mod triggers;
