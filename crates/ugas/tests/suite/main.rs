//! The integration tests of `ugas`, one module per subject, in one program: each program is linked on its own, and
//! linking many of them took most of the time that building the tests took.

mod case_code;
mod case_damage;
mod case_grid;
mod case_items;
mod case_sets;
mod cue;
mod cue_samples;
mod observe;
mod packs;
