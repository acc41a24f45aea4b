//! The integration tests of `ugas-lab`, one module per subject. They are one program, because each test program is
//! linked separately, and linking took most of the build time.

mod capabilities;
mod check_packs;
mod docs;
mod docs_tasks;
mod economy;
#[path = "../../../ugas-data/tests/suite/kit/folder.rs"]
mod folder;
mod mmo_links;
mod model;
mod namespaces;
mod packs;
mod packs_input;
mod packs_numbers;
mod packs_synctest;
mod packs_texts;
mod parts;
mod places;
mod rollback;
mod runner;
mod scenarios;
