//! An active effect of a remote actor.

use super::marks::Item;
use ugas_core::{EffectId, EffectKey, EffectState, EffectView, SimTime};

/// An active or queued effect of a remote actor. Times are absolute, so that the passing of time causes no updates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProxyEffect {
    /// Its key.
    pub key: EffectKey,
    /// Its definition.
    pub effect: EffectId,
    /// Its level.
    pub level: u32,
    /// Its number of stacks.
    pub stacks: u32,
    /// Its state.
    pub state: EffectState,
    /// When it started; [`SimTime::NEVER`] if it is queued or its controller's clock is paused.
    pub start: SimTime,
    /// When it ends; [`SimTime::NEVER`] if it does not end, is queued or its controller's clock is paused.
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
