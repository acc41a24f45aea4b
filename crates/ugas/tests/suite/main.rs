//! The integration tests of `ugas`, one module per subject. They are one program, because each test program is linked
//! separately, and linking took most of the build time.

mod case_code;
mod case_damage;
mod case_grid;
mod case_items;
mod case_sets;
mod cue;
mod cue_samples;
mod observe;
mod packs;
