//! A handle to a spec, shared between the code that builds the spec and the code that applies it.

use std::sync::{Arc, Mutex, PoisonError};
use ugas_core::{EffectKey, KeyId, Refusal, Sim, Spec};

/// A shared handle to a [`Spec`], cheap to clone. All clones refer to the same spec. Changing the spec does not affect
/// earlier applications.
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
    /// Creates a handle to a spec.
    pub fn new(spec: Spec) -> SpecHandle {
        SpecHandle(Arc::new(Mutex::new(spec)))
    }

    /// Sets a set-by-caller value. All clones of the handle share the value.
    pub fn set(&self, key: KeyId, value: f64) {
        self.with(|s| s.put(key, value));
    }

    /// Returns a set-by-caller value.
    pub fn value(&self, key: KeyId) -> Option<f64> {
        self.with(|s| s.value(key))
    }

    /// Applies the spec with its current values.
    pub fn apply(&self, sim: &mut Sim) -> Result<EffectKey, Refusal> {
        let spec = self.with(|s| s.clone());
        sim.apply(&spec)
    }

    /// Calls a function that reads or changes the spec.
    pub fn with<R>(&self, f: impl FnOnce(&mut Spec) -> R) -> R {
        // If a holder panicked, the spec is still consistent, because every change is one assignment.
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
