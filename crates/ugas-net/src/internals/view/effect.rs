//! An active or queued effect of a remote actor.

use super::marks::Item;
use ugas_core::{EffectId, EffectKey, EffectState, EffectView, SimTime};

/// An active or queued effect of a remote actor. Times are absolute, so that the passing of time causes no updates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProxyEffect {
    /// The key of the effect.
    pub key: EffectKey,
    /// The definition of the effect.
    pub effect: EffectId,
    /// The level of the effect.
    pub level: u32,
    /// The number of stacks.
    pub stacks: u32,
    /// The state of the effect.
    pub state: EffectState,
    /// When the effect started; [`SimTime::NEVER`] if the effect is queued or the clock of its controller is paused.
    pub start: SimTime,
    /// When the effect ends; [`SimTime::NEVER`] if the effect has no end, is queued, or the clock of its controller is
    /// paused.
    pub end: SimTime,
}

impl From<EffectView> for ProxyEffect {
    fn from(view: EffectView) -> ProxyEffect {
        let EffectView { key, effect, level, stacks, state, span: (start, end), .. } = view;
        ProxyEffect { key, effect, level, stacks, state, start, end }
    }
}

impl Item for ProxyEffect {
    type Key = EffectKey;
    fn key(&self) -> EffectKey {
        self.key
    }
}
