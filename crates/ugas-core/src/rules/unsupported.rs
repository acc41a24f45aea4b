//! Fields and values that a document may contain but that the runtime does not implement. Each of them is a load error
//! with a reason, so that no field is silently ignored. An entry is removed when its behaviour is implemented.

use super::compile::Compiler;
use ugas_doc::{Ability, Controller, Effect, InputAction, Timeline, TriggerBehavior};

impl Compiler<'_> {
    fn unsupported(&mut self, field: &str, why: &str) {
        self.error("unsupported-field", format!("{field} is not supported yet: {why}"));
    }

    pub(crate) fn refuse_in_effect(&mut self, doc: &Effect) {
        if doc.area.is_some() {
            self.unsupported("Area", "an effect acts on one target; remove Area and apply the effect to each target");
        }
    }

    pub(crate) fn refuse_in_ability(&mut self, doc: &Ability) {
        if doc.automatic {
            let why = "a held input does not activate an ability repeatedly; remove Automatic and send Press again";
            self.unsupported("Automatic", why);
        }
    }

    pub(crate) fn refuse_in_timeline(&mut self, doc: &Timeline) {
        if doc.attack.is_some() {
            self.unsupported("Attack", "a timeline is found by its Montage or its Ability; remove Attack");
        }
        if !doc.windows.is_empty() {
            self.unsupported("Windows", "time windows are not played; remove Windows and send events with Notifies");
        }
        if !doc.sockets.is_empty() {
            self.unsupported("Sockets", "the runtime does not read the positions of sockets; remove Sockets");
        }
    }

    pub(crate) fn refuse_in_controller(&mut self, doc: &Controller) {
        if doc.team.is_some() {
            self.unsupported(
                "Team",
                "the runtime does not compare teams; remove Team and write a team tag into OwnedTags",
            );
        }
    }

    /// Rejects trigger behaviors that would change the time of an activation, because a press activates an ability
    /// immediately. `WhileHeld` is accepted because the specification's packs use it; the host sends the repeated
    /// presses.
    pub(crate) fn refuse_in_input_action(&mut self, doc: &InputAction) {
        let (trigger, why) = match doc.trigger_behavior {
            TriggerBehavior::OnPressed | TriggerBehavior::WhileHeld => return,
            TriggerBehavior::OnReleased => (
                "OnReleased",
                "a release does not activate an ability; write OnPressed and use the task WaitInputRelease",
            ),
            TriggerBehavior::OnTap => {
                ("OnTap", "taps are not recognised; write OnPressed, recognise them in the host and send Press")
            }
            TriggerBehavior::OnDoubleTap => (
                "OnDoubleTap",
                "double taps are not recognised; write OnPressed, recognise them in the host and send Press",
            ),
        };
        self.unsupported(&format!("TriggerBehavior {trigger}"), why);
    }
}
