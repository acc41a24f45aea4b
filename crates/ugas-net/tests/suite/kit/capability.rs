//! Shared by the tests of capabilities over the network: a coded capability that calls a function, and its rules.

use super::builder;
use std::sync::Arc;
use ugas_core::{
    CapabilityCall, CapabilityCx, CapabilityId, CapabilityState, CapabilityView, CodedCapability, RulesBuilder,
};
use ugas_doc::{Capability, CapabilitySet, Effect, SetCapability, Side};

/// Returns the state of a capability on a machine.
pub(crate) fn state_in(views: &[CapabilityView], class: CapabilityId) -> CapabilityState {
    views.iter().find(|view| view.class == class).map_or(CapabilityState::NotHeld, |view| view.state)
}

/// A function that a probe calls at each step.
type Run = dyn Fn(CapabilityCall, &mut CapabilityCx<'_>) + Send + Sync;

/// Calls a function at each step.
#[derive(Clone)]
struct Probe(Arc<Run>);
impl CodedCapability for Probe {
    type State = u32;
    fn step(&self, _: &mut u32, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        (self.0)(call, cx);
    }
}

/// The rules of the small game with the set `CS_Probe`: a capability with this code and a neighbor, both of this side.
pub(crate) fn probed(
    side: Side,
    run: impl Fn(CapabilityCall, &mut CapabilityCx<'_>) + Send + Sync + 'static,
) -> RulesBuilder {
    let entry = |class: &str| SetCapability::new(class).side(side).tag(format!("Capability.{class}"));
    builder()
        .add(Effect::instant("GE_Drip").add("Mana", -1.0))
        .add(Effect::infinite("GE_Flag").grants("State.Flag"))
        .add(Capability::new("Neighbor"))
        .add(CapabilitySet::new("CS_Probe").capability(entry("Probe")).capability(entry("Neighbor")))
        .capability_code("Probe", Probe(Arc::new(run)))
}
