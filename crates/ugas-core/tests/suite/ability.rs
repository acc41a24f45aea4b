//! Abilities: grants, checks, commit, end, cancel.

use crate::kit::abilities::{cancel, cast, ended, grant, has, id, reasons, rules, running, with, world};
use crate::kit::{self, apply, attribute, effect, get, go, kinds, set, spawn, tag};
use ugas_core::{
    AbilityGrant, AbilityState, ControllerId, EffectFilter, EffectUpdate, FactKind, Op, ParamId, Read, Refusal, Sim,
    SimConfig, SimTime, SpawnSpec, Target, TraceKind, Which,
};
use ugas_doc::{Ability, Attribute, AttributeSet, Effect};

/// The result of a calculation is part of the cost.
#[test]
fn a_calculated_cost_must_be_affordable() {
    let rules = world()
        .add(Effect::instant("GE_Toll").add("Health", -1.0).execute("ExecCalc_Toll"))
        .calc_fn("ExecCalc_Toll", [Read::source("MaxMana")], |cx| {
            let toll = cx.source("MaxMana") * 0.4;
            cx.add("Mana", -toll);
        })
        .add(Ability::new("GA_Toll").cost("GE_Toll"))
        .build()
        .unwrap();
    let (mut sim, who) = kit::one(&rules);
    grant(&mut sim, who, "GA_Toll");
    cast(&mut sim, who, "GA_Toll").unwrap();
    cast(&mut sim, who, "GA_Toll").unwrap();
    let (attribute, before) = (rules.attribute("Mana").unwrap(), sim.row_hash(who).unwrap());
    let refusal = Refusal::Cost { attribute, have: 10.0, need: 20.0 };
    assert_eq!(cast(&mut sim, who, "GA_Toll"), Err(refusal));
    assert_eq!(reasons(&sim, who, "GA_Toll", Target::None)[0].refusal, refusal);
    assert_eq!(sim.row_hash(who).unwrap(), before);
}

// covers: UGAS-2-04 UGAS-4.5-09
#[test]
fn each_grant_has_its_own_level_and_a_unique_handle() {
    let (mut sim, who, grants) = with(&["GA_Many"]);
    let three = sim.grant(who, AbilityGrant::new(id(&sim, "GA_Many")).level(3)).unwrap();
    assert_ne!(grants[0], three);
    let levels = |sim: &Sim| sim.grants(who).unwrap().iter().map(|g| g.level).collect::<Vec<_>>();
    assert_eq!(levels(&sim), [1, 3]);
    assert!(sim.grants(who).unwrap().iter().all(|g| g.input.is_none()), "no input without a request");
    sim.set_level(who, three, 7).unwrap();
    assert_eq!(levels(&sim), [1, 7]);
    assert_eq!(sim.set_level(who, three, 0), Err(Refusal::BadValue { what: ugas_core::BadValue::Level }));
    assert_eq!(sim.ability_state(who, three).unwrap(), AbilityState::Granted);
}

// covers: UGAS-8.1-10
#[test]
fn parameters_belong_to_one_grant() {
    let (mut sim, who, grants) = with(&["GA_Strong", "GA_Strong"]);
    let charge = ParamId::named("Charge");
    sim.set_param(who, grants[0], charge, 0.7).unwrap();
    assert_eq!(sim.param(who, grants[0], charge).unwrap(), Some(0.7));
    assert_eq!(sim.param(who, grants[1], charge).unwrap(), None);
    assert_eq!(sim.activate_which(who, Which::Grant(grants[0]), Target::None), Err(Refusal::Condition));
    sim.set_level(who, grants[0], 2).unwrap();
    assert!(sim.activate_which(who, Which::Grant(grants[0]), Target::None).is_ok());
    assert!(sim.set_param(who, grants[0], charge, f64::NAN).is_err());
}

// covers: UGAS-4.5-10 UGAS-8.3-01 UGAS-8.2-02 SAI-2-01 SAI-2.2-02
#[test]
fn unknown_revoked_and_foreign_handles_activate_nothing() {
    let (mut sim, who, grants) = with(&["GA_Quick"]);
    let other = spawn(&mut sim);
    let quick = id(&sim, "GA_Quick");
    assert_eq!(sim.activate(other, quick, Target::None), Err(Refusal::NotGranted));
    assert_eq!(sim.activate_which(other, Which::Grant(grants[0]), Target::None), Err(Refusal::NotGranted));
    assert!(cast(&mut sim, who, "GA_Quick").is_ok());
    assert!(cast(&mut sim, who, "GA_Quick").is_ok(), "after its end it can be activated again");
    sim.revoke(who, Which::Grant(grants[0])).unwrap();
    assert_eq!(sim.activate_which(who, Which::Grant(grants[0]), Target::None), Err(Refusal::NotGranted));
    assert_eq!(sim.ability_state(who, grants[0]).unwrap(), AbilityState::NotGranted);
    assert!(sim.grants(who).unwrap().is_empty());
    assert_eq!(sim.activate(ControllerId(999), quick, Target::None), Err(Refusal::StaleHandle));
}

// covers: UGAS-3.3-02 UGAS-8.3-05 UGAS-8.5-01
#[test]
fn an_unaffordable_activation_changes_nothing() {
    let (mut sim, who, _) = with(&["GA_Quick"]);
    apply(&mut sim, "GE_Drain", who);
    kinds(&mut sim);
    let before = sim.row_hash(who).unwrap();
    let refused = cast(&mut sim, who, "GA_Quick").unwrap_err();
    let mana = attribute(sim.rules(), "Mana");
    assert_eq!(refused, Refusal::Cost { attribute: mana, have: 10.0, need: 20.0 });
    assert_eq!(kinds(&mut sim), []);
    assert_eq!(get(&sim, who, "Mana"), 10.0);
    assert_eq!(sim.row_hash(who).unwrap(), before);
    let (mut sim, who, _) = with(&["GA_Quick"]);
    sim.apply(&ugas_core::Spec::new(effect(sim.rules(), "GE_Cost"), who)).unwrap();
    assert_eq!(get(&sim, who, "Mana"), 30.0);
    assert!(cast(&mut sim, who, "GA_Quick").is_ok());
    assert_eq!(get(&sim, who, "Mana"), 10.0);
    apply(&mut sim, "GE_Potion", who);
    assert!(cast(&mut sim, who, "GA_Quick").is_ok(), "exactly enough is enough");
    assert_eq!(get(&sim, who, "Mana"), 0.0);
}

// covers: UGAS-8.1-07 UGAS-8.4-01 UGAS-8.4-03 UGAS-8.6-06 UGAS-8.6-07
#[test]
fn commit_and_cancel_in_order_without_refund() {
    let (mut sim, who, grants) = with(&["GA_Bolt", "GA_Bare"]);
    cast(&mut sim, who, "GA_Bolt").unwrap();
    let log = kinds(&mut sim);
    let at = |test: &dyn Fn(&FactKind) -> bool| log.iter().position(test).unwrap();
    let cost = at(&|k| matches!(k, FactKind::AttributeChanged { .. }));
    let cooled = tag(sim.rules(), "Cooldown.Bolt");
    let casting = tag(sim.rules(), "State.Casting");
    let cooldown = at(&|k| matches!(k, FactKind::TagChanged { tag, .. } if *tag == cooled));
    let owned = at(&|k| matches!(k, FactKind::TagChanged { tag, .. } if *tag == casting));
    let active = at(&|k| matches!(k, FactKind::AbilityActivated { .. }));
    assert!(cost < cooldown && cooldown < owned && owned < active, "{log:?}");
    let view = sim.activations(who).unwrap().next().unwrap();
    assert!(view.committed && view.state == AbilityState::Active);
    let owned = sim.effect(view.owned.unwrap()).unwrap();
    assert_eq!((owned.remaining, owned.total), (None, None), "the effect is infinite");
    let owner = sim.rules().effect("GE_OwnedTags_GA_Bolt").unwrap();
    let owned_effects = |sim: &Sim| sim.effects(who).unwrap().iter().filter(|e| e.effect == owner).count();
    assert_eq!(owned_effects(&sim), 1);

    sim.cancel(who, Which::Grant(grants[0])).unwrap();
    let log = kinds(&mut sim);
    let gone = log.iter().position(|k| matches!(k, FactKind::TagChanged { added: false, .. })).unwrap();
    let end = log.iter().position(|k| matches!(k, FactKind::AbilityEnded { cancelled: true, .. })).unwrap();
    assert!(gone < end, "{log:?}");
    assert!(log[end..].iter().any(|k| matches!(k, FactKind::TaskEnded { .. })), "tasks last: {log:?}");
    assert!(!has(&sim, who, "State.Casting") && has(&sim, who, "Cooldown.Bolt"));
    assert_eq!((owned_effects(&sim), running(&sim, who), get(&sim, who, "Mana")), (0, 0, 30.0));

    cast(&mut sim, who, "GA_Bare").unwrap();
    let view = sim.activations(who).unwrap().next().unwrap();
    assert_eq!(view.owned, None);
    assert_eq!(sim.effects(who).unwrap().len(), 1, "only the cooldown");
}

// covers: UGAS-8.3-06 UGAS-8.5-02 UGAS-8.5-03 UGAS-8.5-05
#[test]
fn a_cooldown_lasts_as_long_as_its_tag() {
    let (mut sim, who, grants) = with(&["GA_Bolt"]);
    cast(&mut sim, who, "GA_Bolt").unwrap();
    cancel(&mut sim, who, "GA_Bolt");
    go(&mut sim, 1.5);
    let timer = sim.cooldown(who, grants[0]).unwrap().unwrap();
    assert_eq!((timer.remaining, timer.total, timer.fraction()), (SimTime::seconds(3.5), SimTime::seconds(5.0), 0.7));
    let cooled = tag(sim.rules(), "Cooldown.Bolt");
    let refused = Refusal::Cooldown { tag: cooled, left: SimTime::seconds(3.5) };
    assert_eq!(cast(&mut sim, who, "GA_Bolt"), Err(refused));
    let castable = sim.castable(who, grants[0]).unwrap();
    assert_eq!((castable.reason, castable.ready_at), (Some(refused), Some(SimTime::seconds(5.0))));
    let mut early = sim.clone();
    let filter = EffectFilter { with_any_tag: vec![cooled], ..EffectFilter::default() };
    early.run(Op::RemoveMatching { who, filter: filter.clone() }).unwrap();
    assert!(cast(&mut early, who, "GA_Bolt").is_ok());
    let mut shorter = sim.clone();
    let key = shorter.query(who, &filter).unwrap()[0];
    shorter.run(Op::Change { key, change: EffectUpdate::Remaining(SimTime::seconds(0.5)) }).unwrap();
    let left = SimTime::seconds(0.5);
    assert_eq!(cast(&mut shorter, who, "GA_Bolt"), Err(Refusal::Cooldown { tag: cooled, left }));
    go(&mut shorter, 2.0);
    assert!(cast(&mut shorter, who, "GA_Bolt").is_ok(), "over when the shortened effect is");
    assert!(has(&sim, who, "Cooldown.Bolt"));
    go(&mut sim, 5.0);
    assert!(!has(&sim, who, "Cooldown.Bolt"));
    assert_eq!(sim.cooldown(who, grants[0]).unwrap(), None);
    assert!(cast(&mut sim, who, "GA_Bolt").is_ok());
}

// covers: UGAS-8.3-02 UGAS-8.3-07 UGAS-8.1-06 UGAS-8.6-02
#[test]
fn activate_returns_the_first_reason_and_why_not_lists_all() {
    let (mut sim, who, _) = with(&["GA_Bolt", "GA_Many", "GA_Bare"]);
    let first = cast(&mut sim, who, "GA_Bare").unwrap();
    assert_eq!(cast(&mut sim, who, "GA_Bare"), Err(Refusal::AlreadyActive { by: first }));
    cast(&mut sim, who, "GA_Many").unwrap();
    cast(&mut sim, who, "GA_Many").unwrap();
    assert_eq!(running(&sim, who), 3);
    apply(&mut sim, "GE_Drain", who);
    apply(&mut sim, "GE_Silence", who);
    let silenced = tag(sim.rules(), "State.Silenced");
    assert_eq!(cast(&mut sim, who, "GA_Bolt"), Err(Refusal::BlockedTags { found: silenced }));
    let all: Vec<_> = reasons(&sim, who, "GA_Bolt", Target::None).iter().map(|r| r.refusal.kind()).collect();
    assert_eq!(all, ["BlockedTags", "Cost"]);
    kinds(&mut sim);
    cancel(&mut sim, who, "GA_Bolt");
    assert_eq!(kinds(&mut sim), [], "cancelling an inactive ability emits nothing");
    cancel(&mut sim, who, "GA_Bare");
    assert_eq!(ended(&mut sim), [true]);
    go(&mut sim, 3.0);
    assert_eq!(reasons(&sim, who, "GA_Bolt", Target::None)[0].refusal.kind(), "Cost");
}

// covers: UGAS-8.1-02 UGAS-8.1-04 UGAS-8.1-05 UGAS-8.3-03 UGAS-8.6-04
#[test]
fn abilities_block_and_cancel_others_by_tag() {
    let (mut sim, who, _) = with(&["GA_Ward", "GA_Bolt", "GA_Dodge", "GA_Bare"]);
    cast(&mut sim, who, "GA_Bare").unwrap();
    cast(&mut sim, who, "GA_Ward").unwrap();
    let ward = id(&sim, "GA_Ward");
    assert_eq!(cast(&mut sim, who, "GA_Bolt"), Err(Refusal::BlockedByAbility { by: ward }));
    let grounded = tag(sim.rules(), "State.Grounded");
    assert_eq!(cast(&mut sim, who, "GA_Dodge"), Err(Refusal::RequiredTags { missing: grounded }));
    apply(&mut sim, "GE_Ice", who);
    kinds(&mut sim);
    cast(&mut sim, who, "GA_Dodge").unwrap();
    assert_eq!(ended(&mut sim), [true, false], "the ward is cancelled, the dodge is over");
    assert_eq!(running(&sim, who), 1, "an ability without the tags stays active");
    assert!(cast(&mut sim, who, "GA_Bolt").is_ok());
}

// covers: UGAS-8.6-03
#[test]
fn a_tag_on_the_owner_cancels() {
    let (mut sim, who, _) = with(&["GA_Bolt", "GA_Bare"]);
    cast(&mut sim, who, "GA_Bolt").unwrap();
    cast(&mut sim, who, "GA_Bare").unwrap();
    kinds(&mut sim);
    apply(&mut sim, "GE_Stun", who);
    assert_eq!((ended(&mut sim), running(&sim, who)), (vec![true], 1));
}

// covers: UGAS-8.6-05 SAI-2.2-03
#[test]
fn death_cancels_abilities_that_require_a_living_owner() {
    let (mut sim, who, _) = with(&["GA_Bare", "GA_Ghost"]);
    cast(&mut sim, who, "GA_Bare").unwrap();
    cast(&mut sim, who, "GA_Ghost").unwrap();
    apply(&mut sim, "GE_Hit", who);
    assert_eq!((get(&sim, who, "Health"), running(&sim, who)), (1.0, 2));
    kinds(&mut sim);
    apply(&mut sim, "GE_Last", who);
    assert_eq!((ended(&mut sim), running(&sim, who)), (vec![true], 1));
    let health = attribute(sim.rules(), "Health");
    assert_eq!(cast(&mut sim, who, "GA_Bare"), Err(Refusal::Dead { attribute: health }));
    cancel(&mut sim, who, "GA_Ghost");
    assert!(cast(&mut sim, who, "GA_Ghost").is_ok());
    // An actor without the attribute Health is not dead.
    let rules = world().add(AttributeSet::new("Ghostly").with(Attribute::new("Will", 0.0))).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let ghost = sim.spawn(SpawnSpec::sets([set(&rules, "Ghostly")])).unwrap();
    grant(&mut sim, ghost, "GA_Bare");
    assert!(cast(&mut sim, ghost, "GA_Bare").is_ok());
}

// covers: UGAS-8.4-04
#[test]
fn a_manual_commit_that_fails_cancels_and_spends_nothing() {
    let (mut sim, who, grants) = with(&["GA_Manual"]);
    cast(&mut sim, who, "GA_Manual").unwrap();
    assert_eq!(get(&sim, who, "Mana"), 50.0);
    apply(&mut sim, "GE_Drain", who);
    kinds(&mut sim);
    assert_eq!(sim.commit(who, Which::Grant(grants[0])).unwrap_err().kind(), "Cost");
    assert_eq!((ended(&mut sim), get(&sim, who, "Mana")), (vec![true], 10.0));
    let (mut sim, who, grants) = with(&["GA_Manual"]);
    cast(&mut sim, who, "GA_Manual").unwrap();
    sim.commit(who, Which::Grant(grants[0])).unwrap();
    sim.commit(who, Which::Grant(grants[0])).unwrap();
    assert_eq!((get(&sim, who, "Mana"), has(&sim, who, "State.Casting")), (30.0, true), "once");
}

// covers: UGAS-8.2-01
#[test]
fn the_trace_shows_every_state() {
    let mut sim = Sim::new(rules(), SimConfig { trace: true, ..SimConfig::default() });
    let who = spawn(&mut sim);
    let g = grant(&mut sim, who, "GA_Bare");
    cast(&mut sim, who, "GA_Bare").unwrap();
    cast(&mut sim, who, "GA_Bare").unwrap_err();
    sim.revoke(who, Which::Grant(g)).unwrap();
    let mut trace = Vec::new();
    sim.take_trace(&mut trace);
    let states: Vec<AbilityState> = trace
        .iter()
        .filter_map(|t| match t.kind {
            TraceKind::Ability { to, .. } => Some(to),
            _ => None,
        })
        .collect();
    use AbilityState::{Activating, Active, Ending, Granted, NotGranted};
    assert_eq!(states, [Granted, Activating, Active, Activating, Granted, Ending, Granted, NotGranted]);
    assert!(trace.iter().any(|t| matches!(t.kind, TraceKind::AbilityRefused { .. })));
    assert_eq!(ended(&mut sim), [true]);
}
