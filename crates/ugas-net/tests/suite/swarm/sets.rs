//! Capability sets: random sets of every side, as documents and in code, and the random ops of the server on them.

use super::dice::Dice;
use super::make::{MODES, TAGS};
use super::play::{NAMES, Swarm};
use ugas_core::{
    AbilitySetId, BlockSource, CapabilityCall, CapabilityCx, CapabilityId, CapabilityState, CodedCapability,
    ControllerId, EffectKey, Op, RulesBuilder, SimTime,
};
use ugas_doc::{
    Attribute, AttributeSet, Capability, CapabilitySet, ControllerReplication, Doc, Effect, ReplicationMode, Resource,
    SetCapability, Side, TagRegistry,
};

/// The number of capability sets.
const SETS: usize = 5;
/// The number of classes that are documents.
const CLASSES: usize = 6;
/// The classes that are code.
const CODED: [&str; 2] = ["Pulse", "Gamble"];
/// The tags of entries. A block of the first one blocks all.
const ENTRY_TAGS: [&str; 4] = ["Capability.Any", "Capability.Any.Move", "Capability.Any.Mind", "Capability.Any.Rest"];

/// Counts its ticks. Every few ticks it restores mana, and sometimes it blocks others.
struct Pulse;
impl CodedCapability for Pulse {
    type State = u32;
    fn should_activate(&self, ticks: &u32, cx: &CapabilityCx<'_>) -> bool {
        ticks % 5 != 4 || cx.get(cx.rules().attribute("Mana").unwrap()) > Some(100.0)
    }
    fn should_deactivate(&self, ticks: &u32, _: &CapabilityCx<'_>) -> bool {
        ticks % 7 == 6
    }
    fn step(&self, ticks: &mut u32, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        *ticks += 1;
        let rest = cx.rules().tag(ENTRY_TAGS[3]).unwrap();
        match call {
            CapabilityCall::Tick { .. } if ticks.is_multiple_of(4) => {
                cx.apply_to_owner(cx.rules().effect("GE_Drip").unwrap());
            }
            CapabilityCall::Tick { .. } if *ticks % 4 == 1 => cx.block(rest),
            CapabilityCall::Tick { .. } => cx.unblock(rest),
            CapabilityCall::Setup | CapabilityCall::Activated | CapabilityCall::Deactivated | CapabilityCall::End => {}
        }
    }
}

/// Rolls in each tick. With luck it applies an effect, or changes its own interval.
struct Gamble;
impl CodedCapability for Gamble {
    type State = (u16, bool);
    fn step(&self, (wins, was_lucky): &mut (u16, bool), call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        if let CapabilityCall::Tick { .. } = call {
            *was_lucky = cx.random() < 0.25;
            if *was_lucky {
                *wins = wins.wrapping_add(1);
                cx.apply_to_owner(cx.rules().effect("GE_Drip").unwrap());
                cx.set_interval(cx.class(), SimTime::millis(50 * i64::from(*wins % 4)));
            }
        }
    }
}

fn class_name(at: usize) -> String {
    if at < CLASSES { format!("Class{at}") } else { CODED[at - CLASSES].to_owned() }
}

fn set_name(at: usize) -> String {
    format!("CS_{at}")
}

/// Adds the capability sets and what they need. The sets have the same names in all sessions.
pub(crate) fn add(dice: &mut Dice, mut builder: RulesBuilder, attributes: &[String]) -> RulesBuilder {
    builder = builder
        .add(TagRegistry::new(ENTRY_TAGS))
        .add(Resource::new("Rage", 10.0).max(100.0))
        .add(Effect::instant("GE_Drip").add("Mana", 2.0))
        .add(Effect::instant("GE_Spend").add("Mana", -4.0))
        .capability_code(CODED[0], Pulse)
        .capability_code(CODED[1], Gamble);
    for at in 0..3 {
        let mut charge = Attribute::new(format!("Charge{at}"), 5.0);
        charge.replication_mode = *dice.pick(&MODES);
        builder = builder.add(AttributeSet::new(format!("Data{at}")).with(charge));
    }
    for at in 0..CLASSES {
        let of = dice.pick(attributes).clone();
        let mut effect = Effect::infinite(format!("GE_While{at}")).add(of, 1.0 + at as f64);
        if dice.percent(50) {
            effect = effect.grants(*dice.pick(&TAGS));
        }
        builder = builder.add(effect).add(class(dice, at, attributes));
    }
    (0..SETS).fold(builder, |builder, at| builder.add(set(dice, at)))
}

fn class(dice: &mut Dice, at: usize, attributes: &[String]) -> Capability {
    let mut class = Capability::new(class_name(at));
    match dice.roll(5) {
        0 => class = class.query(*dice.pick(&TAGS)),
        1 => class = class.query(format!("!{}", dice.pick(&TAGS))),
        2 => class = class.when("Mana < 450").until("Mana > 480"),
        3 => class = class.when(format!("{} > 9", dice.pick(attributes))),
        _ => class = class.when("Rage > 30").until("Rage < 15"),
    }
    if dice.percent(50) {
        class = class.effect(format!("GE_While{at}"));
    }
    for kind in 0..4 {
        if dice.percent(30) {
            class = match kind {
                0 => class.on_activated("GE_Drip"),
                1 => class.on_deactivated("GE_Spend"),
                2 => class.on_tick("GE_Drip"),
                _ => class.blocks(*dice.pick(&ENTRY_TAGS[1..])),
            };
        }
    }
    class
}

pub(crate) fn set(dice: &mut Dice, at: usize) -> CapabilitySet {
    let mut set = CapabilitySet::new(set_name(at));
    set.replication_mode = *dice.pick(&MODES);
    if dice.percent(50) {
        set = set.data(format!("Data{}", dice.roll(3)));
    }
    for _ in 0..1 + dice.roll(4) {
        let class = class_name(dice.roll(CLASSES + CODED.len()));
        let mut entry = SetCapability::new(class).side(*dice.pick(&Side::ALL)).tag(*dice.pick(&ENTRY_TAGS));
        if dice.percent(40) {
            entry = entry.interval(*dice.pick(&[0.05, 0.1, 0.33]));
        }
        if dice.percent(25) {
            entry = entry.blocked_by(*dice.pick(&TAGS));
        }
        if dice.percent(10) {
            entry = entry.disabled();
        }
        if dice.percent(10) {
            entry = entry.never_ticks();
        }
        set = set.capability(entry);
    }
    set
}

impl Swarm {
    /// The server changes the capabilities of a controller, or a resource.
    pub(crate) fn capabilities_act(&mut self) {
        let seldom = (self.ticks(1.0) / 5).max(1) as usize;
        if !self.has_sets || self.set_dice.roll(seldom) != 0 {
            return;
        }
        let all: Vec<ControllerId> = self.heroes.iter().chain(&self.others).copied().collect();
        let (who, from) = (*self.set_dice.pick(&all), *self.set_dice.pick(&all));
        let Some((what, op)) = self.capability_op(who, from) else { return };
        // Some are refused: a set that the controller has already, a source that does not exist.
        if self.net.server_mut().sim_mut().run(op).is_ok() {
            self.tally.put(what, 1);
        }
    }

    fn capability_op(&mut self, who: ControllerId, from: ControllerId) -> Option<(&'static str, Op)> {
        let rules = self.made.rules.clone();
        let held = self.net.server().sim().capabilities(who).unwrap_or_default();
        let dice = &mut self.set_dice;
        let set: AbilitySetId = rules.ability_set(&set_name(dice.roll(SETS))).unwrap();
        let class: CapabilityId = rules.capability(&class_name(dice.roll(CLASSES + CODED.len()))).unwrap();
        let handle = (!held.is_empty()).then(|| dice.pick(&held).handle);
        let &tag = dice.pick(&ENTRY_TAGS);
        let tag = rules.find_tag(tag)?;
        let effects: Vec<EffectKey> =
            self.net.server().sim().effects(from).unwrap_or_default().iter().map(|e| e.key).collect();
        let source = match dice.roll(4) {
            0 => BlockSource::Controller(from),
            1 if !effects.is_empty() => BlockSource::Effect(*dice.pick(&effects)),
            _ => {
                let &name = dice.pick(&["Cutscene", "Menu"]);
                BlockSource::host(name)
            }
        };
        Some(match dice.roll(16) {
            0..4 => ("sets granted", Op::GrantSet { who, set }),
            4 | 5 => ("sets revoked", Op::RevokeSet { who, handle: handle? }),
            6 | 7 => ("blocks", Op::Block { who, tag, source }),
            8..10 => ("unblocks", Op::Unblock { who, tag, source }),
            10 | 11 => ("switches", Op::Enable { who, capability: class, on: dice.percent(60) }),
            12 | 13 => {
                let ticks = dice.percent(50).then(|| dice.percent(70));
                let interval = dice.percent(60).then(|| SimTime::millis(*dice.pick(&[0, 40, 150])));
                ("switches", Op::SetTick { who, capability: class, ticks, interval })
            }
            _ => {
                let (attribute, by) = (rules.attribute("Rage").unwrap(), dice.roll(61) as f64 - 30.0);
                let change = Op::ModifyResource { who, attribute, by, source: None, tags: Vec::new(), plain: false };
                ("changes of resources", change)
            }
        })
    }

    /// Returns another document about capabilities: a set with other entries, or a class with other conditions.
    pub(crate) fn changed_capability(&mut self) -> Option<Doc> {
        if !self.has_sets || !self.set_dice.percent(50) {
            return None;
        }
        let dice = &mut self.set_dice;
        Some(match dice.percent(60) {
            true => {
                let at = dice.roll(SETS);
                set(dice, at).into()
            }
            false => {
                let at = dice.roll(CLASSES);
                class(dice, at, &self.made.attributes).into()
            }
        })
    }

    /// Removes all capability sets and blocks, so that nothing stays active.
    pub(crate) fn revoke_sets(&mut self, who: ControllerId) {
        let sim = self.net.server_mut().sim_mut();
        let mut handles: Vec<u64> = sim.capabilities(who).unwrap_or_default().iter().map(|view| view.handle).collect();
        handles.dedup();
        for handle in handles {
            let _ = sim.run(Op::RevokeSet { who, handle });
        }
    }

    /// Counts the active capabilities of the server.
    pub(crate) fn count_capabilities(&mut self) {
        let sim = self.net.server().sim();
        let all = self.heroes.iter().chain(&self.others).flat_map(|&who| sim.capabilities(who).unwrap_or_default());
        let active = all.filter(|view| view.state == CapabilityState::Active).count();
        self.tally.put("active capabilities", active as u64);
    }

    /// Checks that every client knows which capabilities it may know of, in the same order.
    pub(crate) fn assert_capabilities_agree(&self) {
        let (seed, server) = (self.seed, self.net.server());
        for (name, &own) in NAMES.into_iter().zip(&self.heroes) {
            let client = self.net.client(name);
            for &who in self.heroes.iter().chain(&self.others) {
                if who != own && server.replication(who) == ControllerReplication::None {
                    continue;
                }
                let rules = server.sim().rules();
                let is_seen = |set| who == own || rules.set_replication(set) == ReplicationMode::All;
                let all = server.sim().capabilities(who).unwrap();
                let shown: Vec<_> = all.iter().filter(|c| is_seen(c.set)).map(|c| (c.set, c.class, c.side)).collect();
                let known = client.sim().capabilities(who).unwrap();
                let known: Vec<_> = known.iter().map(|c| (c.set, c.class, c.side)).collect();
                assert_eq!(known, shown, "seed {seed}: {name} about the capabilities of {who:?}");
            }
        }
    }
}
