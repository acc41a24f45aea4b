//! The integration tests of `ugas-cli` that run commands to their end, one module per subject, in one program: each program
//! is linked on its own. Tests of commands that run until they are stopped (`machines`, `studio`, `watch`) wait in real time,
//! so they are programs of their own that do not share the processor with other tests.

mod book;
mod cli;
mod editor;
mod init;
mod messages;
mod pack_files;
