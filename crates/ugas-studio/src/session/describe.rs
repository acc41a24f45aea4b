//! Descriptions of inputs, for the list of inputs that can be undone.

use super::{Action, Input};

impl Input {
    /// Describes the input as an imperative, such as `apply GE_Burn to Pyra`.
    ///
    /// ```
    /// use ugas_studio::session::{Action, Input};
    /// let act = Action::Remove { effect: "GE_Burn".into(), from: "Pyra".into() };
    /// assert_eq!(Input::Action(act).describe(), "remove GE_Burn from Pyra");
    /// ```
    pub fn describe(&self) -> String {
        match self {
            Input::Link { client, round_trip, loss } => {
                let whose = client.as_deref().map_or_else(|| "every link".to_owned(), |c| format!("the link of {c}"));
                format!("set {whose} to {round_trip} ms round trip and {:.0} % loss", loss * 100.0)
            }
            Input::Edit { file, .. } => format!("change {file}"),
            Input::Files { texts, .. } => {
                let names: Vec<&str> = texts.keys().map(String::as_str).collect();
                format!("load {} from disk", names.join(", "))
            }
            Input::Action(act) => act.describe(),
            Input::Keys(keys) if keys.leave => "return the hero to the AI".to_owned(),
            Input::Keys(keys) if !keys.inputs.is_empty() => format!("hold {}", keys.inputs.join(", ")),
            Input::Keys(keys) if keys.x != 0.0 || keys.z != 0.0 => "walk".to_owned(),
            Input::Keys(_) => "release all keys".to_owned(),
            Input::Join { client, owns } if owns.is_empty() => format!("join as {client}"),
            Input::Join { client, owns } => format!("join as {client}, owner of {}", owns.join(", ")),
            Input::Leave { client } => format!("disconnect {client}"),
            Input::Resume => "resume from here".to_owned(),
        }
    }
}

impl Action {
    fn describe(&self) -> String {
        match self {
            Action::Apply { effect, to, .. } => format!("apply {effect} to {to}"),
            Action::Remove { effect, from } => format!("remove {effect} from {from}"),
            Action::Activate { ability, who, .. } => format!("activate {ability} of {who}"),
            Action::Cancel { ability, who } => format!("cancel {ability} of {who}"),
            Action::Press { input, who, .. } => format!("press {input} of {who}"),
            Action::Release { input, who } => format!("release {input} of {who}"),
            Action::Event { tag, who, .. } => format!("send {tag} to {who}"),
            Action::Move { who, .. } => format!("move {who}"),
            Action::AddSet { set, who } => format!("add {set} to {who}"),
            Action::RemoveSet { set, who } => format!("remove {set} from {who}"),
            Action::Block { tag, who } => format!("block {tag} of {who}"),
            Action::Unblock { tag, who } => format!("unblock {tag} of {who}"),
            Action::Enable { class, who, on: true } => format!("switch on {class} of {who}"),
            Action::Enable { class, who, on: false } => format!("switch off {class} of {who}"),
            Action::Set { who, attribute, value } => format!("set {attribute} of {who} to {value}"),
        }
    }
}
