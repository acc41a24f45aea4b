//! The integration tests of `ugas-cli` for commands that end by themselves, one module per subject. They are one
//! program, because each test program is linked separately. Tests of commands that run until they are stopped
//! (`machines`, `studio`, `watch`) wait in real time. They are separate programs, so that other tests do not run at the
//! same time.

mod book;
mod cli;
mod editor;
mod init;
mod messages;
mod pack_files;
