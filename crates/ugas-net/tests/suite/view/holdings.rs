//! Capability sets of a remote actor that are swapped often.

use super::rig::{Observer, Rig};
use ugas_core::{ControllerId, Rules};
use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, ControllerReplication, SetCapability};
use ugas_net::internals::view::HORIZON;

/// An actor with this many capability sets, which are all swapped in each tick.
struct Swapper {
    rig: Rig,
    who: ControllerId,
    handles: Vec<u64>,
}

impl Swapper {
    fn new(count: usize) -> Swapper {
        let mut rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)));
        rules = rules.add(Capability::new("Glow"));
        for at in 0..count {
            rules = rules.add(CapabilitySet::new(format!("CS_{at}")).capability(SetCapability::new("Glow")));
        }
        let mut rig = Rig::new(rules.build().unwrap());
        let who = rig.spawn(&["Vitals"], ControllerReplication::Full);
        Swapper { rig, who, handles: vec![0; count] }
    }

    /// Removes all sets and adds them again, with new handles.
    fn swap(&mut self) {
        let Swapper { rig, who, handles } = self;
        for (at, handle) in handles.iter_mut().enumerate() {
            // Nothing is held before the first tick.
            let _ = rig.sim.revoke_set(*who, *handle);
            *handle = rig.sim.grant_set(*who, rig.rules.ability_set(&format!("CS_{at}")).unwrap()).unwrap();
        }
        rig.step();
    }

    fn assert_seen(&self, observer: &Observer) {
        let seen = observer.seen(self.who);
        assert_eq!(seen.clone().renumbered(), self.rig.truth(self.who).renumbered());
        assert!(seen.holdings.len() >= self.handles.len(), "{:?}", seen.holdings);
    }
}

#[test]
fn an_observer_follows_an_actor_that_swaps_many_sets_in_each_tick() {
    let mut swapper = Swapper::new(15);
    let mut observer = Observer::new(&swapper.rig);
    for _ in 0..2 * HORIZON {
        swapper.swap();
        observer.look(&mut swapper.rig, swapper.who);
    }
    swapper.assert_seen(&observer);
}

#[test]
fn an_observer_without_updates_for_some_seconds_receives_all_swapped_sets() {
    let mut swapper = Swapper::new(3);
    let mut observer = Observer::new(&swapper.rig);
    swapper.swap();
    observer.look(&mut swapper.rig, swapper.who);
    for _ in 0..200 {
        swapper.swap();
    }
    observer.look(&mut swapper.rig, swapper.who);
    swapper.assert_seen(&observer);
}
