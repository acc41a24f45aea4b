//! The backend of the studio as a wasm module, which runs the demo in a browser without a server. The module exports
//! six functions whose parameters and results are numbers.
//!
//! The module and its caller exchange text through two buffers in the module's memory. The caller writes a text at the
//! address that `input_buffer` returns, calls `ask` or `scenario`, and reads the answer at the address that
//! `output_buffer` returns. The functions take no pointers, so a caller cannot make the module read or write outside
//! these buffers.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]
#![allow(unsafe_code, reason = "exporting a function to the browser needs the unsafe attribute no_mangle")]

use std::cell::RefCell;
use ugas_studio::Backend;
use ugas_studio::session::Session;

/// The maximum length of an input in bytes, equal to the limit of the studio's web server.
const MAX_REQUEST: usize = 4 * 1024 * 1024;

#[derive(Default)]
struct Module {
    backend: Option<Backend>,
    input: Vec<u8>,
    output: String,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

fn with<T>(run: impl FnOnce(&mut Module) -> T) -> T {
    MODULE.with(|module| run(&mut module.borrow_mut()))
}

impl Module {
    fn text(&self, length: usize) -> String {
        String::from_utf8_lossy(self.input.get(..length).unwrap_or_default()).into_owned()
    }
}

/// Starts a new duel with this seed. Returns 1 on success and 0 on failure.
#[unsafe(no_mangle)]
pub extern "C" fn open(seed: u32) -> u32 {
    with(|module| {
        module.backend = Backend::new(Box::new(Session::duel), u64::from(seed)).ok();
        u32::from(module.backend.is_some())
    })
}

/// Resizes the input buffer to `length` bytes, at most 4 MiB, clears it, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn input_buffer(length: usize) -> *const u8 {
    with(|module| {
        module.input.clear();
        module.input.resize(length.min(MAX_REQUEST), 0);
        module.input.as_ptr()
    })
}

/// Advances the world by `millis` milliseconds of real time.
#[unsafe(no_mangle)]
pub extern "C" fn advance(millis: f64) {
    with(|module| {
        if let Some(backend) = &mut module.backend {
            backend.advance(millis, &mut || 0.0);
        }
    });
}

/// Answers the request in the first `length` bytes of the input buffer. Returns the length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn ask(length: usize) -> usize {
    with(|module| {
        let request = module.text(length);
        module.output = match &mut module.backend {
            Some(backend) => backend.answer(&request),
            None => r#"{"error":"no world is open; call open first"}"#.to_owned(),
        };
        module.output.len()
    })
}

/// Runs every scenario in a YAML text. Returns one line for each scenario: `holds` if all expectations are met or
/// `fails` otherwise, then the final state hash and the name of the scenario.
///
/// ```
/// let text = "Scenario: Nothing happens\nActors: {}\nTimeline: [{At: 1, Do: []}]\n";
/// let line = ugas_playground::outcomes(text);
/// assert!(line.starts_with("holds ") && line.ends_with(" Nothing happens"), "{line}");
/// ```
pub fn outcomes(text: &str) -> String {
    let results = ugas_lab::run_str("scenario.yaml", text);
    let lines = results.reports.iter().map(|report| {
        let holds = report.failures.is_empty() && report.errors.is_empty();
        format!("{} {:016x} {}", if holds { "holds" } else { "fails" }, report.hash, report.scenario)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Runs the scenarios in the first `length` bytes of the input buffer with [`outcomes`]. Returns the length of the
/// answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn scenario(length: usize) -> usize {
    with(|module| {
        module.output = outcomes(&module.text(length));
        module.output.len()
    })
}

/// Returns the address of the buffer that contains the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn output_buffer() -> *const u8 {
    with(|module| module.output.as_ptr())
}
