//! A crowd of busy controllers: effects of every kind in flight, and scripts of ops.

use super::World;
use crate::kit::Rng;
use ugas_core::{ControllerId, Op, OpId, Rate, Read, Rules, RulesBuilder, SimTime, Spec};
use ugas_doc::{
    Ability, Attribute, AttributeSet, ConditionalEffects, Effect, ExecutionPolicy, GrantedAbilityEntry, Magnitude,
    OnExpire, PeriodInhibition, Stacking, TagRegistry,
};

/// Effects of every kind that has something in flight.
pub(crate) fn busy() -> RulesBuilder {
    let mut sword = Effect::lasting("GE_Sword", 20.0).multiply_in("Damage", 0.25, "Gear").cue("GameplayCue.Glow");
    sword.granted_abilities = vec![GrantedAbilityEntry::new("GA_Slash")];
    let mut bomb = Effect::lasting("GE_Bomb", 3.0).grants("State.Fused");
    bomb.effects = Some(ConditionalEffects { on_expired: vec!["GE_Blast".into()], ..ConditionalEffects::default() });
    let mut held = Effect::lasting("GE_Held", 30.0).every(0.7).add("Gold", 1.0).add("Damage", 2.0);
    held.ongoing_blocked_tags = vec!["State.Fused".into()];
    held.period_inhibition = PeriodInhibition::CatchUp;
    let mut luck = Effect::instant("GE_Luck").add("Gold", 1.0);
    luck.application_chance = Some(0.5.into());
    Rules::builder()
        .add(
            AttributeSet::new("Hero")
                .with(Attribute::new("MaxHealth", 100.0))
                .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"))
                .with(Attribute::new("Power", 10.0))
                .with(Attribute::new("Damage", 10.0))
                .with(Attribute::new("Gold", 0.0))
                .with(Attribute::derived("Might", "Power * 2 + Damage")),
        )
        .add(TagRegistry::new(["State.Fused", "State.Buff.Fast", "GameplayCue.Glow", "Hit.Critical"]))
        .add(Ability::new("GA_Slash"))
        .add(sword)
        .add(bomb)
        .add(held)
        .add(luck)
        .add(Effect::instant("GE_Blast").add("Health", -7.0))
        .add(Effect::lasting("GE_Poison", 9.0).every(1.5).add("Health", -2.0).execute("ExecCalc_Roll"))
        .add(Effect::lasting("GE_Turn", 2.0).add("Power", 1.0).policy(ExecutionPolicy::RunInSequence))
        .add(
            Effect::lasting("GE_Fast", 6.0)
                .add("Power", 3.0)
                .grants("State.Buff.Fast")
                .policy(ExecutionPolicy::RunInMerge),
        )
        .add(Effect::lasting("GE_Stack", 4.0).add("Power", 0.5).stacking(Stacking {
            limit: Some(4),
            on_expire: OnExpire::RemoveOne,
            ..Stacking::default()
        }))
        .add(Effect::lasting("GE_Live", 25.0).add("Damage", Magnitude::attribute("Power").times(0.5)))
        .add(Effect::infinite("GE_Surge").add("Power", 5.0))
        .calc_fn("ExecCalc_Roll", [Read::source("Power").on_application(), Read::target("Damage")], |cx| {
            let lost = cx.random() * cx.source("Power") * 0.1 + cx.target("Damage") * 0.01;
            cx.add("Health", -lost);
            if cx.roll(0.3) {
                cx.tag_context("Hit.Critical");
            }
        })
}

pub(crate) const NAMES: [&str; 10] =
    ["GE_Sword", "GE_Bomb", "GE_Held", "GE_Luck", "GE_Blast", "GE_Poison", "GE_Turn", "GE_Fast", "GE_Stack", "GE_Live"];

/// A script: for each step when, and which op.
pub(crate) fn script(
    w: &World,
    dice: &mut Rng,
    who: ControllerId,
    from: ControllerId,
    from_ms: i64,
    steps: usize,
) -> Vec<(SimTime, Op)> {
    let mut at = from_ms;
    (0..steps)
        .map(|_| {
            at += dice.below(400) as i64;
            let name = NAMES[dice.below(NAMES.len())];
            let source = if dice.below(2) == 0 { who } else { from };
            let op = match dice.below(12) {
                0 => Op::SetRate { who, rate: Rate::new([0.5, 1.0, 2.0][dice.below(3)]).unwrap() },
                1 => Op::RemoveMatching {
                    who,
                    filter: ugas_core::EffectFilter { effect: Some(w.effect(name)), ..Default::default() },
                },
                _ => Op::Apply(Spec::new(w.effect(name), who).from(source)),
            };
            (SimTime::millis(at), op)
        })
        .collect()
}

pub(crate) fn run_script(w: &mut World, script: &[(SimTime, Op)], shift: SimTime, until: SimTime) {
    for (n, (at, op)) in script.iter().enumerate() {
        w.sim.advance_to(*at + shift);
        let _ = w.sim.run_as(OpId::new(9, n as u32, 0), op);
    }
    w.sim.advance_to(until + shift);
}

/// A world with a crowd around one hero, all of them busy.
pub(crate) fn crowd(seed: u64) -> (World, ControllerId, ControllerId) {
    let mut w = World::seeded(busy(), seed);
    let (friend, hero) = (w.spawn("Hero"), w.spawn("Hero"));
    for _ in 0..3 {
        w.spawn("Hero");
    }
    let mut dice = Rng(seed ^ 77);
    for who in [0, 1, 2, 3, 4].map(ControllerId) {
        for _ in 0..6 {
            let spec = w.spec(NAMES[dice.below(NAMES.len())], who).from(who);
            let _ = w.sim.apply(&spec);
        }
    }
    w.to(1.0);
    (w, hero, friend)
}

/// Every live modifier of `Power` must show half of what its source shows now.
pub(crate) fn assert_live_modifiers_follow(w: &World, all: &[ControllerId]) {
    for &who in all.iter().filter(|c| w.sim.exists(**c)) {
        let e = w.sim.explain(who, w.attr("Power")).unwrap();
        assert_eq!(e.value, w.get(who, "Power"), "{e}");
        for line in &e.lines {
            assert_eq!(line.follows.as_ref().map(|f| f.1 * 0.5), Some(line.magnitude), "of {who:?}: {e}");
        }
    }
}
