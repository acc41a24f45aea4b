//! A spec shared between whoever builds it and whoever applies it.

use std::sync::{Arc, Mutex, PoisonError};
use ugas_core::{EffectKey, KeyId, Refusal, Sim, Spec};

/// A cheap, shared handle to a [`Spec`]: clones see the same values, and what was applied already does not change.
///
/// ```
/// use ugas::prelude::*;
/// use ugas::core::KeyId;
/// let a = SpecHandle::new(Spec::new(EffectId(0), ControllerId(0)));
/// let b = a.clone();
/// b.set(KeyId(0), -30.0);
/// assert_eq!(a.value(KeyId(0)), Some(-30.0));
/// ```
#[derive(Clone, Debug)]
pub struct SpecHandle(Arc<Mutex<Spec>>);

impl SpecHandle {
    /// A handle to a new spec.
    pub fn new(spec: Spec) -> SpecHandle {
        SpecHandle(Arc::new(Mutex::new(spec)))
    }

    /// Sets a caller's value for every holder of the handle.
    pub fn set(&self, key: KeyId, value: f64) {
        self.with(|s| s.put(key, value));
    }

    /// A caller's value.
    pub fn value(&self, key: KeyId) -> Option<f64> {
        self.with(|s| s.value(key))
    }

    /// Applies the spec as it is now.
    pub fn apply(&self, sim: &mut Sim) -> Result<EffectKey, Refusal> {
        let spec = self.with(|s| s.clone());
        sim.apply(&spec)
    }

    /// Reads or changes the spec.
    pub fn with<R>(&self, f: impl FnOnce(&mut Spec) -> R) -> R {
        // A holder that panicked left a whole spec behind: every change is one assignment.
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
