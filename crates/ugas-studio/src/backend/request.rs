//! The requests that pages send as JSON.

use crate::session::{Action, Input};
use serde::Deserialize;
use serde_json::Value;
use ugas_data::{Step, SymbolKind};

/// A request from a page, grouped by subject.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// A request about the world and the recording.
    World(WorldRequest),
    /// A request about the documents.
    Data(DataRequest),
}

impl Request {
    /// Parses a request.
    pub(crate) fn read(request: &str) -> Result<Request, String> {
        #[derive(Deserialize)]
        struct Head {
            ask: String,
        }
        let read = || {
            let head: Head = serde_json::from_str(request)?;
            match DATA.contains(&head.ask.as_str()) {
                true => serde_json::from_str(request).map(Request::Data),
                false => serde_json::from_str(request).map(Request::World),
            }
        };
        read().map_err(|error: serde_json::Error| format!("invalid request: {error}"))
    }
}

/// The names of requests about documents.
const DATA: [&str; 8] = ["files", "file", "check", "definitions", "definition", "form", "set", "save"];

/// Request for the state and the events since the last frame.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct FrameRequest {
    /// The serial number of the last event that the page has.
    #[serde(default)]
    pub(crate) since: u64,
    /// Actors whose details the frame includes, each with its client (`None` for the server).
    #[serde(default)]
    pub(crate) watch: Vec<(Option<String>, String)>,
    /// The debug category of the actors to include; all actors if missing.
    #[serde(default)]
    pub(crate) category: Option<String>,
    /// The actors whose events to include, in addition to all deaths; all events if missing.
    #[serde(default)]
    pub(crate) about: Option<Vec<String>>,
}

/// A request about the world.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum WorldRequest {
    /// Request for the data that a page needs once. If `opens` is true, a running duel first skips its first four
    /// seconds and any time in which a fighter is dead.
    Hello {
        #[serde(default)]
        opens: bool,
    },
    Frame(FrameRequest),
    Play,
    Pause,
    Step {
        #[serde(default = "one")]
        ticks: u32,
    },
    Speed {
        times: f64,
    },
    Seek {
        tick: u32,
    },
    Resume,
    Undo {
        #[serde(default)]
        with: Option<usize>,
    },
    Put {
        input: Input,
    },
    Explain {
        #[serde(default)]
        side: Option<String>,
        who: String,
        attribute: String,
    },
    /// Request for the reasons why a capability is not active on the server or on a client.
    WhyNot {
        #[serde(default)]
        side: Option<String>,
        who: String,
        capability: String,
    },
    /// Request for a preview of an action on the server or on a client. The world does not change.
    Preview {
        #[serde(default)]
        side: Option<String>,
        action: Action,
    },
    Causes {
        serial: u64,
    },
    /// Request for the newest events up to the current tick, of the actors in `about` or of all actors.
    History {
        #[serde(default)]
        about: Option<Vec<String>>,
    },
    Figures,
    Permalink,
    /// Opens a new session and runs it to a tick with the given inputs. A missing seed or scenario is taken from the
    /// current session.
    Open {
        #[serde(default)]
        seed: Option<u64>,
        #[serde(default)]
        scenario: Option<String>,
        #[serde(default)]
        tick: u32,
        #[serde(default)]
        inputs: Vec<(u32, Input)>,
    },
}

/// A request about the documents.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum DataRequest {
    /// Request for the names of the files.
    Files,
    /// Request for the text of one file, and whether the file can be saved.
    File { name: String },
    /// Request for the errors and warnings of a text.
    Check { file: String, text: String },
    /// Request for all definitions with their references.
    Definitions,
    /// Request for one definition with its description and its values at a level.
    Definition {
        kind: SymbolKind,
        name: String,
        #[serde(default = "one")]
        level: u32,
    },
    /// Request for the documents of a text as values, with the location of each value.
    Form { text: String },
    /// Request for a text in which one value is set or removed.
    Set {
        text: String,
        document: usize,
        path: Vec<Step>,
        #[serde(default)]
        value: Option<Value>,
    },
    /// Saves a text if the file on disk still has the hash `hash`, and applies the text to the running world.
    Save { file: String, text: String, hash: String },
}

fn one() -> u32 {
    1
}
