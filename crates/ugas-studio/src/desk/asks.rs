//! What a page may ask, as it is written in JSON.

use crate::stage::Input;
use serde::Deserialize;
use serde_json::Value;
use ugas_data::{Step, SymbolKind};

/// A question, by its subject.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// About the world and its time.
    World(Ask),
    /// About the documents.
    Data(AskData),
}

impl Asked {
    /// Reads a question.
    pub(crate) fn read(request: &str) -> Result<Asked, String> {
        #[derive(Deserialize)]
        struct Head {
            ask: String,
        }
        let read = || {
            let head: Head = serde_json::from_str(request)?;
            match DATA.contains(&head.ask.as_str()) {
                true => serde_json::from_str(request).map(Asked::Data),
                false => serde_json::from_str(request).map(Asked::World),
            }
        };
        read().map_err(|error: serde_json::Error| format!("this is no request: {error}"))
    }
}

/// The questions about the documents.
const DATA: [&str; 9] = ["files", "file", "check", "definitions", "definition", "schema", "form", "set", "save"];

/// How things are, and what happened since.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct AskFrame {
    /// The number of the last thing that was heard of.
    #[serde(default)]
    pub(crate) since: u64,
    /// Whose details: the client's name (none for the server) and the actor's.
    #[serde(default)]
    pub(crate) watch: Vec<(Option<String>, String)>,
    /// Only actors of this debug category.
    #[serde(default)]
    pub(crate) category: Option<String>,
    /// Only what happened to these, and whoever died: in a crowd more happens than anybody reads.
    #[serde(default)]
    pub(crate) about: Option<Vec<String>>,
}

/// What a page asks of the world.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Ask {
    /// What there is to know once. Whoever opens a duel sees a fight.
    Hello {
        #[serde(default)]
        opens: bool,
    },
    Frame(AskFrame),
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
    Fork,
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
    Chain {
        serial: u64,
    },
    /// What happened until the moment shown, the newest of it; about these, or everybody.
    Past {
        #[serde(default)]
        about: Option<Vec<String>>,
    },
    Figures,
    Moment,
    /// A world from its beginning, or at a moment of it; what is not said is as it was opened.
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

/// What a page asks about the documents.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum AskData {
    /// The names of the files.
    Files,
    /// One of them, and whether it can be saved.
    File { name: String },
    /// What is wrong with a text.
    Check { file: String, text: String },
    /// Everything that is defined, and what uses what.
    Definitions,
    /// One definition with its numbers.
    Definition {
        kind: SymbolKind,
        name: String,
        #[serde(default = "one")]
        level: u32,
    },
    /// The schema of a kind of document.
    Schema { kind: String },
    /// The documents of a text as values, with their places.
    Form { text: String },
    /// A text with one value set, or taken out.
    Set {
        text: String,
        document: usize,
        way: Vec<Step>,
        #[serde(default)]
        value: Option<Value>,
    },
    /// A text goes to the disk, in place of the one with the mark, and into the running world.
    Save { file: String, text: String, mark: String },
}

fn one() -> u32 {
    1
}
