//! The coded capabilities of the benchmark.

use super::TIRES_AFTER;
use std::sync::OnceLock;
use ugas_core::{AttributeId, CapabilityCall, CapabilityCx, CodedCapability, SimTime, Watches};

/// The id of an attribute, resolved at its first use.
#[derive(Default)]
struct Stamina(OnceLock<Option<AttributeId>>);

impl Stamina {
    fn read(&self, cx: &CapabilityCx<'_>) -> f64 {
        let id = *self.0.get_or_init(|| cx.rules().find_attribute("Stamina"));
        id.and_then(|id| cx.get(id)).unwrap_or(0.0)
    }
}

/// Walks while the actor has stamina. After some seconds, walking costs a point of stamina.
#[derive(Default)]
pub(super) struct Walk {
    stamina: Stamina,
}

impl CodedCapability for Walk {
    /// The time since the last cost.
    type State = SimTime;

    fn should_activate(&self, _: &SimTime, cx: &CapabilityCx<'_>) -> bool {
        self.stamina.read(cx) > 0.0
    }

    fn should_deactivate(&self, _: &SimTime, cx: &CapabilityCx<'_>) -> bool {
        self.stamina.read(cx) <= 0.0
    }

    fn step(&self, walked: &mut SimTime, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        match call {
            CapabilityCall::Tick { elapsed } => {
                *walked += elapsed;
                if *walked >= SimTime::seconds(TIRES_AFTER) {
                    *walked = SimTime::ZERO;
                    if let Some(tire) = cx.rules().find_effect("GE_Tire") {
                        cx.apply_to_owner(tire);
                    }
                }
            }
            CapabilityCall::Setup | CapabilityCall::Activated | CapabilityCall::Deactivated | CapabilityCall::End => {}
        }
    }
}

/// Is active while the stamina is high.
#[derive(Default)]
pub(super) struct Fresh {
    stamina: Stamina,
}

impl CodedCapability for Fresh {
    type State = ();

    fn should_activate(&self, _: &(), cx: &CapabilityCx<'_>) -> bool {
        self.stamina.read(cx) > 49.0
    }

    fn should_deactivate(&self, _: &(), cx: &CapabilityCx<'_>) -> bool {
        self.stamina.read(cx) <= 49.0
    }

    fn watches(&self) -> Option<Watches> {
        Some(Watches::new().attribute("Stamina"))
    }
}
