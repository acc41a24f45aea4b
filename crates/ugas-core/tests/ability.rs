//! Abilities: grants, checks, commit, end, cancel, triggers, validation, reads.

mod common;

use common::{apply, attribute, effect, get, go, kinds, set, spawn, tag};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, AbilityState, ActorId, Anchor, ControllerId, EffectFilter, FactKind, GrantId, Op, ParamId,
    Reason, Refusal, RemoveReason, Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, Target, TraceKind, Which,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect, GrantedAbilityEntry, GroupPolicy, Trigger};

/// Waits for something that never comes, so that the ability stays active.
fn waits() -> AbilityTask {
    AbilityTask::new("WaitDelay").param("Duration", 1000.0)
}

fn world() -> RulesBuilder {
    let mut sword = Effect::infinite("GE_Sword");
    sword.granted_abilities.push(GrantedAbilityEntry::new("GA_Bare"));
    let mut lesson = Effect::infinite("GE_Lesson");
    lesson
        .granted_abilities
        .push(GrantedAbilityEntry { remove_on_effect_removal: false, ..GrantedAbilityEntry::new("GA_Bare") });
    common::world()
        .add(Effect::instant("GE_Cost").add("Mana", -20.0))
        .add(Effect::lasting("GE_Cooldown", 5.0).grants("Cooldown.Bolt"))
        .add(Effect::lasting("GE_Silence", 3.0).grants("State.Silenced"))
        .add(Effect::infinite("GE_Stun").grants("State.Stunned.Magic"))
        .add(Effect::infinite("GE_Ice").grants("State.Grounded.Ice"))
        .add(Effect::instant("GE_Drain").add("Mana", -40.0))
        .add(Effect::instant("GE_Potion").add("Mana", 10.0))
        .add(Effect::instant("GE_Hit").add("Health", -99.0))
        .add(Effect::instant("GE_Last").add("Health", -1.0))
        .add(sword)
        .add(lesson)
        .add(Ability::new("GA_Bare").task(waits()))
        .add(
            Ability::new("GA_Bolt")
                .tag("Ability.Spell.Fire")
                .blocked("State.Silenced")
                .cancels("State.Stunned")
                .owned("State.Casting")
                .cost("GE_Cost")
                .cooldown("GE_Cooldown")
                .task(waits()),
        )
        .add(Ability::new("GA_Quick").tag("Ability.Spell").cost("GE_Cost"))
        .add(Ability::new("GA_Manual").manual().owned("State.Casting").cost("GE_Cost").task(waits()))
        .add(Ability::new("GA_Ward").tag("Ability.Ward").blocks("Ability.Spell").task(waits()))
        .add(Ability::new("GA_Dodge").cancels("Ability.Ward").requires("State.Grounded"))
        .add(Ability::new("GA_Ghost").while_dead().task(waits()))
        .add(Ability::new("GA_Many").multiple().task(waits()))
        .add(Ability::new("GA_Again").retriggered().task(waits()))
        .add(Ability::new("GA_Stance").group("Stance", GroupPolicy::Replaceable).task(waits()))
        .add(Ability::new("GA_Lock").group("Stance", GroupPolicy::Exclusive).task(waits()))
        .add(Ability::new("GA_Ask").validated("Server", Some(500)).cost("GE_Cost").task(waits()))
        .add(Ability::new("GA_Far").range(10.0).cost("GE_Cost"))
        .add(Ability::new("GA_Body").needs_avatar().task(waits()))
        .add(Ability::new("GA_Aura").passively().owned("State.Aura").blocked("State.Silenced"))
        .add(Ability::new("GA_Riposte").trigger(Trigger::event("Event.Parried")).task(waits()))
        .add(Ability::new("GA_Flinch").trigger(Trigger::tag_added("State.Silenced")).task(waits()))
        .add(Ability::new("GA_Shiver").trigger(Trigger::tag_present("State.Grounded")))
        .add(Ability::new("GA_Panic").trigger(Trigger::below("Health", 25.0)).task(waits()))
        .add(Ability::new("GA_Echo").trigger(Trigger::effect_applied("GE_Ice")).task(waits()))
        .add(Ability::new("GA_Strong").condition("level >= 2 && param.Charge > 0.5").task(waits()))
}

fn rules() -> Arc<Rules> {
    world().build().unwrap()
}

fn id(sim: &Sim, name: &str) -> AbilityId {
    sim.rules().ability(name).unwrap_or_else(|| panic!("no ability {name}"))
}

fn grant(sim: &mut Sim, who: ControllerId, name: &str) -> GrantId {
    let ability = id(sim, name);
    sim.grant(who, AbilityGrant::new(ability)).unwrap()
}

fn cast(sim: &mut Sim, who: ControllerId, name: &str) -> Result<ugas_core::ActivationKey, Refusal> {
    let ability = id(sim, name);
    sim.activate(who, ability, Target::None)
}

fn cancel(sim: &mut Sim, who: ControllerId, name: &str) {
    let ability = id(sim, name);
    sim.cancel(who, Which::Ability(ability)).unwrap();
}

/// A sim with one controller that has these abilities.
fn with(names: &[&str]) -> (Sim, ControllerId, Vec<GrantId>) {
    let (mut sim, who) = common::one(&rules());
    let grants = names.iter().map(|n| grant(&mut sim, who, n)).collect();
    kinds(&mut sim);
    (sim, who, grants)
}

fn has(sim: &Sim, who: ControllerId, name: &str) -> bool {
    sim.has_tag(who, tag(sim.rules(), name)).unwrap()
}

fn reasons(sim: &Sim, who: ControllerId, name: &str, target: Target) -> Vec<Reason> {
    let mut list = Vec::new();
    sim.why_not(who, Which::Ability(id(sim, name)), target, &mut list).unwrap();
    list
}

fn running(sim: &Sim, who: ControllerId) -> usize {
    sim.activations(who).unwrap().count()
}

fn ended(sim: &mut Sim) -> Vec<bool> {
    let cancelled = |k: FactKind| match k {
        FactKind::AbilityEnded { cancelled, .. } => Some(cancelled),
        _ => None,
    };
    kinds(sim).into_iter().filter_map(cancelled).collect()
}

// covers: UGAS-2-04 UGAS-4.5-09 UGAS-8.1-09
#[test]
fn a_grant_is_its_own_and_its_handle_is_unique() {
    let (mut sim, who, grants) = with(&["GA_Many"]);
    let three = sim.grant(who, AbilityGrant::new(id(&sim, "GA_Many")).level(3)).unwrap();
    assert_ne!(grants[0], three);
    let levels = |sim: &Sim| sim.grants(who).unwrap().iter().map(|g| g.level).collect::<Vec<_>>();
    assert_eq!(levels(&sim), [1, 3]);
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
fn what_cannot_be_paid_changes_nothing() {
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
}

// covers: UGAS-8.1-07 UGAS-8.4-01 UGAS-8.4-03 UGAS-8.5-02 UGAS-8.6-06 UGAS-8.6-07
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
    assert!(view.owned.is_some() && view.committed && view.state == AbilityState::Active);
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

// covers: UGAS-8.3-06 UGAS-8.5-03 UGAS-8.5-05 PEER-19
#[test]
fn a_cooldown_is_its_tag() {
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
    early.run(Op::RemoveMatching { who, filter }).unwrap();
    assert!(cast(&mut early, who, "GA_Bolt").is_ok());
    go(&mut sim, 5.0);
    assert_eq!(sim.cooldown(who, grants[0]).unwrap(), None);
    assert!(cast(&mut sim, who, "GA_Bolt").is_ok());
}

// covers: UGAS-8.3-02 UGAS-8.3-07 UGAS-8.1-06 UGAS-8.6-02
#[test]
fn the_first_reason_is_given_and_all_can_be_asked() {
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
    assert_eq!(kinds(&mut sim), [], "cancelling what does not run says nothing");
    cancel(&mut sim, who, "GA_Bare");
    assert_eq!(ended(&mut sim), [true]);
    go(&mut sim, 3.0);
    assert_eq!(reasons(&sim, who, "GA_Bolt", Target::None)[0].refusal.kind(), "Cost");
}

// covers: UGAS-8.1-02 UGAS-8.1-04 UGAS-8.1-05 UGAS-8.3-03 UGAS-8.6-04
#[test]
fn abilities_block_and_cancel_others_by_tag() {
    let (mut sim, who, _) = with(&["GA_Ward", "GA_Bolt", "GA_Dodge"]);
    cast(&mut sim, who, "GA_Ward").unwrap();
    let ward = id(&sim, "GA_Ward");
    assert_eq!(cast(&mut sim, who, "GA_Bolt"), Err(Refusal::BlockedByAbility { by: ward }));
    let grounded = tag(sim.rules(), "State.Grounded");
    assert_eq!(cast(&mut sim, who, "GA_Dodge"), Err(Refusal::RequiredTags { missing: grounded }));
    apply(&mut sim, "GE_Ice", who);
    kinds(&mut sim);
    cast(&mut sim, who, "GA_Dodge").unwrap();
    assert_eq!(ended(&mut sim), [true, false], "the ward is cancelled, the dodge is over");
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
fn death_ends_what_may_not_go_on() {
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
    // Who has no health is not dead.
    let rules = world().add(AttributeSet::new("Ghostly").with(Attribute::new("Will", 0.0))).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let ghost = sim.spawn(SpawnSpec::sets(vec![set(&rules, "Ghostly")])).unwrap();
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

// covers: UGAS-8.2-01 UGAS-8.2-03
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

// covers: NXT-8.8-01 NXT-8.8-02
#[test]
fn a_validation_is_awaited_before_anything_is_spent() {
    let (mut sim, who, grants) = with(&["GA_Ask"]);
    let ask = Which::Grant(grants[0]);
    cast(&mut sim, who, "GA_Ask").unwrap();
    assert_eq!(sim.ability_state(who, grants[0]).unwrap(), AbilityState::PendingConfirmation);
    assert_eq!((get(&sim, who, "Mana"), cast(&mut sim, who, "GA_Ask")), (50.0, Err(Refusal::Pending)));
    let mut passed = sim.clone();
    passed.validate(who, ask, true).unwrap();
    assert_eq!(passed.ability_state(who, grants[0]).unwrap(), AbilityState::Active);
    assert_eq!(get(&passed, who, "Mana"), 30.0);
    let mut poor = sim.clone();
    apply(&mut poor, "GE_Drain", who);
    poor.validate(who, ask, true).unwrap();
    assert_eq!((poor.ability_state(who, grants[0]).unwrap(), get(&poor, who, "Mana")), (AbilityState::Granted, 10.0));
    go(&mut sim, 0.5);
    assert_eq!(sim.ability_state(who, grants[0]).unwrap(), AbilityState::Granted);
    kinds(&mut sim);
    go(&mut sim, 0.6);
    sim.validate(who, ask, true).unwrap();
    assert_eq!((kinds(&mut sim), get(&sim, who, "Mana")), (vec![], 50.0), "too late");
}

// covers: NXT-17-03
#[test]
fn out_of_range_is_refused_without_cost() {
    let (mut sim, who, _) = with(&["GA_Far"]);
    let other = spawn(&mut sim);
    let at = |x: f64| Some(Anchor::at([x, 0.0, 0.0]));
    sim.run(Op::Move { who, anchor: at(0.0) }).unwrap();
    let far = id(&sim, "GA_Far");
    assert_eq!(sim.activate(who, far, Target::Controller(other)), Err(Refusal::NoTarget), "it is nowhere");
    sim.run(Op::Move { who: other, anchor: at(10.1) }).unwrap();
    let refused = sim.activate(who, far, Target::Controller(other));
    assert_eq!(refused, Err(Refusal::OutOfRange { distance: 10.1, max: 10.0 }));
    assert_eq!(get(&sim, who, "Mana"), 50.0);
    sim.run(Op::Move { who: other, anchor: at(10.0) }).unwrap();
    assert!(sim.activate(who, far, Target::Controller(other)).is_ok());
}

// covers: UGAS-4.3-05
#[test]
fn without_an_avatar_what_needs_one_ends() {
    let (mut sim, who, _) = with(&["GA_Body"]);
    assert_eq!(cast(&mut sim, who, "GA_Body"), Err(Refusal::NotInitialized));
    sim.run(Op::Possess { who, avatar: Some(ActorId(5)) }).unwrap();
    cast(&mut sim, who, "GA_Body").unwrap();
    sim.run(Op::Possess { who, avatar: Some(ActorId(6)) }).unwrap();
    kinds(&mut sim);
    assert_eq!(running(&sim, who), 1);
    sim.run(Op::Possess { who, avatar: None }).unwrap();
    assert_eq!((ended(&mut sim), running(&sim, who)), (vec![true], 0));
}

// covers: PEER-08
#[test]
fn triggers_of_every_kind() {
    let (mut sim, who, g) = with(&["GA_Riposte", "GA_Flinch", "GA_Shiver", "GA_Panic", "GA_Echo"]);
    let foe = spawn(&mut sim);
    let state = |sim: &Sim, i: usize| sim.ability_state(who, g[i]).unwrap();
    let mut event = ugas_core::EventData::new(tag(sim.rules(), "Event.Parried"), who);
    event.instigator = foe;
    sim.event(event).unwrap();
    assert_eq!(state(&sim, 0), AbilityState::Active);
    assert_eq!(sim.activations(who).unwrap().next().unwrap().target, Target::Controller(foe));
    apply(&mut sim, "GE_Silence", who);
    assert_eq!((state(&sim, 1), state(&sim, 2)), (AbilityState::Active, AbilityState::Granted));
    let ice = apply(&mut sim, "GE_Ice", who);
    assert_eq!((state(&sim, 2), state(&sim, 4)), (AbilityState::Active, AbilityState::Active));
    sim.remove(ice, -1).unwrap();
    assert_eq!((state(&sim, 2), state(&sim, 4)), (AbilityState::Granted, AbilityState::Active));
    assert_eq!(state(&sim, 3), AbilityState::Granted);
    apply(&mut sim, "GE_Hit", who);
    assert_eq!(state(&sim, 3), AbilityState::Active);
}

// covers: PEER-09
#[test]
fn passives_groups_and_retriggers() {
    let (mut sim, who, g) = with(&["GA_Aura", "GA_Stance", "GA_Lock", "GA_Again"]);
    assert_eq!(sim.ability_state(who, g[0]).unwrap(), AbilityState::Active, "right after the grant");
    assert!(has(&sim, who, "State.Aura"));
    sim.cancel(who, Which::Grant(g[0])).unwrap();
    apply(&mut sim, "GE_Silence", who);
    assert!(!has(&sim, who, "State.Aura"));
    go(&mut sim, 3.0);
    assert!(has(&sim, who, "State.Aura"), "back when nothing speaks against it");

    cast(&mut sim, who, "GA_Stance").unwrap();
    cast(&mut sim, who, "GA_Lock").unwrap();
    assert_eq!(sim.ability_state(who, g[1]).unwrap(), AbilityState::Granted);
    let lock = id(&sim, "GA_Lock");
    assert_eq!(cast(&mut sim, who, "GA_Stance"), Err(Refusal::Group { by: lock }));

    let first = cast(&mut sim, who, "GA_Again").unwrap();
    kinds(&mut sim);
    let second = cast(&mut sim, who, "GA_Again").unwrap();
    assert_ne!(first, second);
    assert_eq!(ended(&mut sim), [true]);

    let portable = sim.extract(who).unwrap();
    let back = sim.insert(&portable).unwrap();
    assert!(has(&sim, back, "State.Aura"), "and after a load");
    assert_eq!(sim.ability_state(back, g[0]).unwrap(), AbilityState::Active);
    apply(&mut sim, "GE_Hit", back);
    apply(&mut sim, "GE_Last", back);
    assert_eq!(running(&sim, back), 0, "what came back still hears of death");
}

// covers: UGAS-9.8-02 UGAS-9.8-03
#[test]
fn an_effect_takes_back_what_it_granted() {
    let (mut sim, who, _) = with(&[]);
    let sword = apply(&mut sim, "GE_Sword", who);
    cast(&mut sim, who, "GA_Bare").unwrap();
    kinds(&mut sim);
    sim.remove(sword, -1).unwrap();
    assert_eq!((ended(&mut sim), running(&sim, who)), (vec![true], 0));
    assert_eq!(cast(&mut sim, who, "GA_Bare"), Err(Refusal::NotGranted));
    let lesson = apply(&mut sim, "GE_Lesson", who);
    sim.remove(lesson, -1).unwrap();
    assert!(cast(&mut sim, who, "GA_Bare").is_ok());
}

// covers: UGAS-4.3-06 UGAS-B.1-06 UGAS-2-01 UGAS-4.1-03
#[test]
fn inactive_and_destroyed_controllers() {
    let (mut sim, who, g) = with(&["GA_Bolt"]);
    sim.run(Op::SetActive { who, active: false }).unwrap();
    assert_eq!(cast(&mut sim, who, "GA_Bolt"), Err(Refusal::Inactive));
    sim.run(Op::SetActive { who, active: true }).unwrap();
    cast(&mut sim, who, "GA_Bolt").unwrap();
    assert_eq!(sim.ability_state(who, g[0]).unwrap(), AbilityState::Active);
    apply(&mut sim, "GE_Ice", who);
    kinds(&mut sim);
    sim.despawn(who).unwrap();
    let log = kinds(&mut sim);
    let reason = |k: &FactKind| matches!(k, FactKind::EffectRemoved { reason: RemoveReason::Destroyed });
    let last = log.iter().rposition(reason).unwrap();
    let revoked = log.iter().position(|k| matches!(k, FactKind::Revoked { .. })).unwrap();
    let end = log.iter().position(|k| matches!(k, FactKind::AbilityEnded { .. })).unwrap();
    assert!(last < end && end < revoked, "{log:?}");
    assert_eq!(log.last(), Some(&FactKind::Despawned));
}

// covers: SAI-2.2-04
#[test]
fn the_castable_status_follows_every_change() {
    let (mut sim, who, g) = with(&["GA_Quick"]);
    let kind = |sim: &Sim| sim.castable(who, g[0]).unwrap().reason.map(|r| r.kind());
    assert_eq!(kind(&sim), None);
    cast(&mut sim, who, "GA_Quick").unwrap();
    cast(&mut sim, who, "GA_Quick").unwrap();
    assert_eq!((get(&sim, who, "Mana"), kind(&sim)), (10.0, Some("Cost")));
    cast(&mut sim, who, "GA_Quick").unwrap_err();
    assert_eq!(kind(&sim), Some("Cost"));
    apply(&mut sim, "GE_Potion", who);
    assert_eq!(kind(&sim), None);
}

// covers: UGAS-8.1-07
#[test]
fn an_ability_made_at_run_time_runs_and_travels() {
    let (mut sim, who, _) = with(&[]);
    let doc = Ability::new("GA_Made").owned("State.Casting").cost("GE_Cost").task(waits());
    let ugas_core::DefId::Ability(made) = sim.define(doc).unwrap() else { panic!("an ability") };
    sim.grant(who, AbilityGrant::new(made)).unwrap();
    let key = sim.activate(who, made, Target::None).unwrap();
    assert!(has(&sim, who, "State.Casting"));
    let mut there = Sim::new(sim.rules().clone(), SimConfig::default());
    there.define(Effect::infinite("GE_Other")).unwrap();
    let portable = sim.extract(who).unwrap();
    let back = there.insert(&portable).unwrap();
    let view = there.activations(back).unwrap().next().unwrap();
    assert_eq!((view.key, view.state), (key, AbilityState::Active));
    assert_ne!(view.ability, made, "renumbered");
    there.cancel(back, Which::Activation(key)).unwrap();
    assert!(!has(&there, back, "State.Casting"));
}
