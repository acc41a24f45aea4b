//! What a seat needs to know about the sim: which actions are active for a controller. [`Liveness`] is implemented for
//! `Sim`; a host whose rules run elsewhere, or a test, can implement it too.

use serde::{Deserialize, Serialize};
use ugas_core::{AxisValue, ControllerId, InputId, Liveness as LivenessOfAction, Op, Sim, TagId, Target};

/// Whether an action acts now.
///
/// ```
/// use ugas_input::{ActionLife, Activity};
/// assert_eq!(ActionLife::ALWAYS.activity, Activity::Active);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// The action acts.
    Active,
    /// No active action set contains the action.
    Asleep,
    /// A tag below `Input.Blocked` suppresses the action.
    Suppressed(TagId),
}

/// Whether an action acts now, and by which action set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionLife {
    /// The number of the action set that handles the action; `None` if the action is in no set.
    pub set: Option<u32>,
    /// Whether the action acts.
    pub activity: Activity,
}

impl ActionLife {
    /// An action that is in no set: it always acts, with all its bindings.
    pub const ALWAYS: ActionLife = ActionLife { set: None, activity: Activity::Active };
}

/// The knowledge of a seat about the rules and the state of a controller.
pub trait Liveness {
    /// Returns a number that changes if the ids of names change.
    fn rules_key(&self) -> u64;
    /// Returns the id of an action, or `None` if the rules do not know it.
    fn find_input(&self, name: &str) -> Option<InputId>;
    /// Returns the number of an action set.
    fn find_action_set(&self, name: &str) -> Option<u32>;
    /// Returns the id of a tag.
    fn find_tag(&self, name: &str) -> Option<TagId>;
    /// Returns whether an action acts for a controller.
    fn action_life(&self, who: ControllerId, input: InputId) -> ActionLife;
    /// Returns whether a controller has a tag or a descendant of it.
    fn has_tag(&self, who: ControllerId, tag: TagId) -> bool;
}

impl Liveness for Sim {
    fn rules_key(&self) -> u64 {
        self.rules().fingerprint()
    }

    fn find_input(&self, name: &str) -> Option<InputId> {
        self.rules().find_input(name)
    }

    fn find_action_set(&self, name: &str) -> Option<u32> {
        self.rules().find_action_set(name).map(|set| set.0)
    }

    fn find_tag(&self, name: &str) -> Option<TagId> {
        self.rules().find_tag(name)
    }

    fn action_life(&self, who: ControllerId, input: InputId) -> ActionLife {
        match self.action(who, input).map(|action| action.liveness) {
            Ok(LivenessOfAction::Live { set }) => ActionLife { set: set.map(|set| set.0), activity: Activity::Active },
            Ok(LivenessOfAction::Suppressed { tag }) => ActionLife { set: None, activity: Activity::Suppressed(tag) },
            // A controller that does not exist has no live action.
            Ok(LivenessOfAction::Asleep { .. }) | Err(_) => ActionLife { set: None, activity: Activity::Asleep },
        }
    }

    fn has_tag(&self, who: ControllerId, tag: TagId) -> bool {
        Sim::has_tag(self, who, tag).unwrap_or(false)
    }
}

/// What a seat tells the sim about an action of its controller.
///
/// ```
/// use ugas_core::{ControllerId, InputId, Op};
/// use ugas_input::Intent;
/// let release = Intent::Release { input: InputId(2) };
/// assert_eq!(release.op(ControllerId(7)), Op::Release { who: ControllerId(7), input: InputId(2) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Intent {
    /// The action is pressed.
    Press {
        /// The action.
        input: InputId,
        /// What the player aims at.
        target: Target,
    },
    /// The action is released.
    Release {
        /// The action.
        input: InputId,
    },
    /// The value of an axis changed.
    Axis {
        /// The action.
        input: InputId,
        /// The new value.
        value: AxisValue,
    },
    /// The action, or every action, is up without a release: the window lost its focus or the device is gone.
    LetGo {
        /// The action; `None` is every action.
        input: Option<InputId>,
    },
}

impl Intent {
    /// Returns the op of the intent for a controller.
    pub fn op(self, who: ControllerId) -> Op {
        match self {
            Intent::Press { input, target } => Op::Press { who, input, target },
            Intent::Release { input } => Op::Release { who, input },
            Intent::Axis { input, value } => Op::Axis { who, input, value },
            Intent::LetGo { input } => Op::LetGo { who, input },
        }
    }

    /// Returns the action; `None` is every action.
    pub fn input(self) -> Option<InputId> {
        match self {
            Intent::Press { input, .. } | Intent::Release { input } | Intent::Axis { input, .. } => Some(input),
            Intent::LetGo { input } => input,
        }
    }
}
