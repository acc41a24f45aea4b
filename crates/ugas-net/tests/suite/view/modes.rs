//! Replication modes: what observers receive on the wire, and what the masks allow the owner.

use super::rig::{Observer, Rig, moded, setters};
use crate::kit::{Game, Setup, builder};
use ugas_core::{EffectState, Op, Rules, Sim, SimTime, Spec};
use ugas_doc::{Attribute, AttributeSet, ControllerReplication, Effect, ReplicationMode};
use ugas_net::internals::view::{ProxyChange, ProxySnapshot};
use ugas_net::mask::{Mask, Recipient};
use ugas_net::types::Tick;

/// A controller with every visible kind of state in one mode, and the changes that an observer receives.
fn observed(mode: ControllerReplication) -> (Rig, ProxySnapshot, Vec<ProxyChange>) {
    let (mut rig, who) = Rig::with(&["Vitals", "Purse"], mode);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    rig.set(who, "A3", 400.0);
    rig.apply(who, "GE_Ward").unwrap();
    rig.apply(who, "GE_Hit").unwrap();
    rig.step();
    let changes = observer.look(&mut rig, who);
    let seen = observer.seen(who);
    assert_eq!(seen, rig.truth(who));
    (rig, seen, changes)
}

fn mask(rig: &Rig, mode: ControllerReplication, recipient: Recipient) -> Mask {
    Mask::new(&rig.rules, &[rig.set_id("Vitals"), rig.set_id("Purse")], mode, recipient)
}

fn is_of_attributes_or_effects(change: &ProxyChange) -> bool {
    matches!(change, ProxyChange::Attribute { .. } | ProxyChange::Effect(_) | ProxyChange::EffectRemoved(_))
}

fn assert_tags_and_cues(rig: &Rig, seen: &ProxySnapshot, changes: &[ProxyChange]) {
    let (tag, ward, hit) = ["State.Warded", "Cue.Ward", "Cue.Hit"].map(|t| rig.rules.tag(t).unwrap()).into();
    assert_eq!((&seen.tags[..], &seen.loops[..]), (&[tag][..], &[ward][..]));
    assert!(changes.contains(&ProxyChange::Tag { tag, added: true }));
    assert!(changes.contains(&ProxyChange::Loop { cue: ward, added: true }));
    assert!(changes.iter().any(|c| matches!(c, ProxyChange::Burst(b) if b.cue == hit)));
}

// covers: UGAS-13.2-01
#[test]
fn minimal_sends_only_tags_and_cues() {
    let (rig, seen, changes) = observed(ControllerReplication::Minimal);
    assert_tags_and_cues(&rig, &seen, &changes);
    assert!(!changes.iter().any(is_of_attributes_or_effects));
    assert!(seen.values.is_empty() && seen.effects.is_empty());
    let own = mask(&rig, ControllerReplication::Minimal, Recipient::Owner);
    assert!(own.tags && own.cues && !own.effects && own.attributes.count() == 0);
}

// covers: UGAS-13.2-02
#[test]
fn mixed_sends_attributes_and_effects_to_the_owner_only() {
    let (rig, seen, changes) = observed(ControllerReplication::Mixed);
    assert_tags_and_cues(&rig, &seen, &changes);
    assert!(!changes.iter().any(is_of_attributes_or_effects));
    assert!(seen.values.is_empty() && seen.effects.is_empty());
    let own = mask(&rig, ControllerReplication::Mixed, Recipient::Owner);
    assert!(own.tags && own.cues && own.effects && own.attributes.count() == 10);
}

// covers: UGAS-13.2-03
#[test]
fn full_sends_everything_to_all_clients() {
    let (rig, seen, changes) = observed(ControllerReplication::Full);
    assert_tags_and_cues(&rig, &seen, &changes);
    let who = rig.sim.controllers().next().unwrap();
    let value = |name: &str| seen.values.iter().find(|v| v.0 == rig.rules.attribute(name).unwrap()).unwrap().1;
    for name in ["A0", "A1", "A3", "Exact"] {
        let truth = rig.sim.get(who, rig.rules.attribute(name).unwrap()).unwrap();
        assert!((value(name) - truth).abs() <= 0.5, "{name}: {} is shown for {truth}", value(name));
    }
    assert_eq!(seen.values.len(), 9, "two of the eleven are hidden from observers");
    let keys: Vec<_> = rig.sim.effects(who).unwrap().iter().map(|e| (e.key, e.effect, e.level, e.stacks)).collect();
    assert_eq!(seen.effects.iter().map(|e| (e.key, e.effect, e.level, e.stacks)).collect::<Vec<_>>(), keys);
    assert_eq!((seen.effects[0].state, seen.effects[0].end), (EffectState::Active, SimTime::NEVER));
    let own = mask(&rig, ControllerReplication::Full, Recipient::Owner);
    assert!(own.tags && own.cues && own.effects && own.attributes.count() == 10);
}

// covers: UGAS-13.2-04
#[test]
fn none_sends_nothing() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::None);
    rig.apply(who, "GE_Ward").unwrap();
    rig.apply(who, "GE_Hit").unwrap();
    rig.place(who, [1.0, 2.0, 3.0]);
    rig.step();
    assert_eq!(rig.section(who, Tick(0)), None);
    assert!(rig.store.ids().is_empty() && rig.store.pose(who).is_none());
    assert!(
        [Recipient::Owner, Recipient::Observer].iter().all(|&e| mask(&rig, ControllerReplication::None, e).is_empty())
    );
}

// covers: UGAS-5.5-02
#[test]
fn attribute_modes_narrow_the_controller_mode() {
    let names = ["Nobody", "Owner", "Everybody"].map(String::from);
    let modes = [ReplicationMode::None, ReplicationMode::OwnerOnly, ReplicationMode::All];
    let of = |(name, mode): (&String, ReplicationMode)| moded(Attribute::new(name.clone(), 1.0), mode);
    let set = names.iter().zip(modes).map(of).fold(AttributeSet::new("S"), AttributeSet::with);
    let rules = setters(&names).into_iter().fold(Rules::builder().add(set), |b, e: Effect| b.add(e)).build().unwrap();
    let mut rig = Rig::new(rules);
    let who = rig.spawn(&["S"], ControllerReplication::Full);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    for name in &names {
        rig.set(who, name, 5.0);
    }
    rig.step();
    let open = rig.rules.attribute("Everybody").unwrap();
    let changes = observer.look(&mut rig, who);
    assert_eq!(changes, [ProxyChange::Attribute { attribute: open, old: Some(1.0), new: 5.0 }]);
    assert_eq!(observer.seen(who).values, [(open, 5.0)]);
    let seen = |recipient| Mask::new(&rig.rules, &[rig.set_id("S")], ControllerReplication::Full, recipient).attributes;
    assert_eq!(seen(Recipient::Owner).iter().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(seen(Recipient::Observer).iter().collect::<Vec<_>>(), [2]);
}

// covers: UGAS-5.5-02
#[test]
fn an_owner_receives_its_values_and_other_clients_only_the_open_ones() {
    let names = ["Nobody", "Owner", "Everybody"].map(String::from);
    let modes = [ReplicationMode::None, ReplicationMode::OwnerOnly, ReplicationMode::All];
    let of = |(name, mode): (&String, ReplicationMode)| moded(Attribute::new(name.clone(), 1.0), mode);
    let set = names.iter().zip(modes).map(of).fold(AttributeSet::new("S"), AttributeSet::with);
    let change = names.iter().fold(Effect::instant("GE_Change"), |e, name| e.add(name, 4.0));
    let mut g = Game::new(Setup { builder: builder().add(set).add(change), ben: true, ..Setup::default() });
    let (who, set, change) = (g.hero, g.rules.set("S").unwrap(), g.effect("GE_Change"));
    g.net.server_mut().sim_mut().run(Op::AddSet { who, set }).unwrap();
    g.net.server_mut().sim_mut().apply(&Spec::new(change, who)).unwrap();
    g.net.run(30);
    let attributes = names.map(|name| g.rules.attribute(&name).unwrap());
    let seen = |sim: &Sim| attributes.map(|attribute| sim.get(who, attribute) == Ok(5.0));
    assert_eq!(seen(g.net.server().sim()), [true; 3]);
    assert_eq!(seen(g.ana().sim()), [false, true, true]);
    assert_eq!(seen(g.net.client("Ben").sim()), [false, false, true]);
}

#[test]
fn a_mode_change_sends_a_full_section() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    rig.apply(who, "GE_Ward").unwrap();
    rig.step();
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    assert_eq!(observer.seen(who).effects.len(), 1);
    for mode in [ControllerReplication::Mixed, ControllerReplication::Full, ControllerReplication::Minimal] {
        rig.store.add(&rig.sim, who, mode, rig.tick.plus(1)).unwrap();
        rig.step();
        observer.look(&mut rig, who);
        assert_eq!(observer.seen(who), rig.truth(who), "{mode:?}");
    }
}
