//! The demo in the browser itself: the desk of the studio behind six functions of plain numbers.
//!
//! A page that needs no server is the shortest way from curiosity to a running world, and the proof that the runtime is the
//! same wherever it runs. Text goes in and out through two buffers in the module's memory: whoever calls asks for `room`,
//! writes there, calls, and reads what `said` points at. No pointer comes in from outside, so nothing here can be made to
//! read or write anywhere else.
#![allow(unsafe_code, reason = "a name that the browser can call is an attribute that counts as unsafe")]

use std::cell::RefCell;
use ugas_studio::Desk;
use ugas_studio::stage::Stage;

/// The longest text that is taken in: as much as the studio's server takes.
const MOST: usize = 4 * 1024 * 1024;

#[derive(Default)]
struct Module {
    desk: Option<Desk>,
    heard: Vec<u8>,
    said: String,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

fn with<T>(run: impl FnOnce(&mut Module) -> T) -> T {
    MODULE.with(|module| run(&mut module.borrow_mut()))
}

impl Module {
    fn text(&self, length: usize) -> String {
        String::from_utf8_lossy(self.heard.get(..length).unwrap_or_default()).into_owned()
    }
}

/// A desk with the duel of a seed; 1 if there is one now.
#[unsafe(no_mangle)]
pub extern "C" fn open(seed: u32) -> u32 {
    with(|module| {
        module.desk = Desk::new(Box::new(Stage::duel), u64::from(seed)).ok();
        u32::from(module.desk.is_some())
    })
}

/// Where so many bytes may be written; nothing is taken in above four MiB.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *const u8 {
    with(|module| {
        module.heard.clear();
        module.heard.resize(length.min(MOST), 0);
        module.heard.as_ptr()
    })
}

/// So many milliseconds have passed.
#[unsafe(no_mangle)]
pub extern "C" fn advance(millis: f64) {
    with(|module| {
        if let Some(desk) = &mut module.desk {
            desk.advance(millis, &mut || 0.0);
        }
    });
}

/// Asks the desk what was written into the room; the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask(length: usize) -> usize {
    with(|module| {
        let question = module.text(length);
        module.said = match &mut module.desk {
            Some(desk) => desk.answer(&question),
            None => r#"{"error":"there is no world yet"}"#.to_owned(),
        };
        module.said.len()
    })
}

/// What becomes of the scenarios of a text, a line for each: whether it holds, the hash at its end, its name.
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

/// Runs a scenario whose text was written into the room; the answer says whether it holds, and the hash at its end.
#[unsafe(no_mangle)]
pub extern "C" fn scenario(length: usize) -> usize {
    with(|module| {
        module.said = outcomes(&module.text(length));
        module.said.len()
    })
}

/// Where the last answer lies.
#[unsafe(no_mangle)]
pub extern "C" fn said() -> *const u8 {
    with(|module| module.said.as_ptr())
}
