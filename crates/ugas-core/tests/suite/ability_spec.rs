//! Grants and activations: handles, owned tags, causes, positions, reads for a HUD, and what ability code cannot
//! change.

use crate::kit::abilities::{cast, ended, grant, has, id, running, waits, with, world};
use crate::kit::{self, apply, effect, facts, get, go, kinds, spawn, tag};
use std::sync::{Arc, Mutex};
use ugas_core::{
    AbilityCx, AbilityGrant, AbilityState, ActorId, Anchor, CauseWhat, CodedAbility, CustomTask, DiagnosticKind,
    FactKind, InputId, LifecycleStep, Next, Op, ParamId, Progression, ReadError, Refusal, Resume, Sim, SimConfig, Spec,
    TagId, Target, TaskCx, TraceKind, Which,
};
use ugas_doc::{Ability, AbilityTask, Effect, GroupPolicy};

// covers: UGAS-8.1-09
#[test]
fn a_grant_can_be_read_and_has_its_owned_tags_only_while_active() {
    let rules = world().add(Ability::new("GA_Fire").owned("State.Casting").task(waits())).build().unwrap();
    let (mut sim, who) = kit::one(&rules);
    let input = InputId(7);
    let ability = id(&sim, "GA_Fire");
    let handle = sim.grant(who, AbilityGrant { ability, level: 3, input: Some(input) }).unwrap();
    let charge = ParamId::named("Charge");
    sim.set_param(who, handle, charge, 0.7).unwrap();
    let view = |sim: &Sim| {
        let g = sim.grants(who).unwrap()[0];
        let running = sim.activations(who).unwrap().find(|a| a.grant == handle);
        (g.ability, g.level, g.input, g.id, running.map(|a| a.owned))
    };
    assert_eq!(view(&sim), (ability, 3, Some(input), handle, None), "inactive: no handle");
    assert_eq!(sim.param(who, handle, charge).unwrap(), Some(0.7));
    for cancelled in [false, true] {
        cast(&mut sim, who, "GA_Fire").unwrap();
        let owned = view(&sim).4.unwrap().expect("active: a handle");
        let held = sim.effect(owned).unwrap();
        assert_eq!((held.effect, held.remaining), (rules.effect("GE_OwnedTags_GA_Fire").unwrap(), None));
        assert!(has(&sim, who, "State.Casting"));
        if cancelled { sim.cancel(who, Which::Grant(handle)) } else { sim.end(who, Which::Grant(handle)) }.unwrap();
        assert_eq!(view(&sim).4, None, "cleared");
        assert!(sim.effect(owned).is_err() && !has(&sim, who, "State.Casting"));
    }
}

/// Notes its ends.
struct Notes(Arc<Mutex<Vec<bool>>>);
impl CodedAbility for Notes {
    type State = ();
    fn resume(&self, _: &mut (), why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        if let Resume::End { cancelled } = why {
            self.0.lock().unwrap().push(cancelled);
        }
        Next::Event(cx.rules().tag("Event.Parried").unwrap())
    }
}

// covers: UGAS-8.2-03
#[test]
fn revoking_an_active_ability_first_cancels_it_and_its_tasks_once() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let coded = Ability::new("GA_Coded").owned("State.Casting").task(waits());
    let rules = world().add(coded).ability_code("GA_Coded", Notes(ends.clone())).build().unwrap();
    let (mut sim, who) = kit::one(&rules);
    let handle = grant(&mut sim, who, "GA_Coded");
    cast(&mut sim, who, "GA_Coded").unwrap();
    assert_eq!(sim.tasks(who).unwrap().len(), 1);
    kinds(&mut sim);
    sim.revoke(who, Which::Grant(handle)).unwrap();
    let log = kinds(&mut sim);
    let at = |test: &dyn Fn(&FactKind) -> bool| log.iter().position(test).unwrap();
    let end = at(&|k| matches!(k, FactKind::AbilityEnded { cancelled: true, .. }));
    let task = at(&|k| matches!(k, FactKind::TaskEnded { result: ugas_core::TaskResult::Cancelled, .. }));
    let gone = at(&|k| matches!(k, FactKind::Revoked { .. }));
    assert!(end < task && task < gone, "{log:?}");
    assert_eq!(*ends.lock().unwrap(), [true], "exactly once");
    assert!(sim.tasks(who).unwrap().is_empty() && !has(&sim, who, "State.Casting"));
    assert_eq!(sim.ability_state(who, handle).unwrap(), AbilityState::NotGranted);
    assert_eq!(sim.activate_which(who, Which::Grant(handle), Target::None), Err(Refusal::NotGranted));
    assert_eq!(sim.param(who, handle, ParamId::named("Charge")), Err(ReadError::StaleHandle));
    go(&mut sim, 2000.0);
    assert_eq!(*ends.lock().unwrap(), [true]);
}

// covers: UGAS-2-03
#[test]
fn an_effect_knows_its_target_its_hit_and_its_cause() {
    let answer = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Answer");
    let ga = Ability::new("GA_Answer").trigger(ugas_doc::Trigger::effect_applied("GE_A"));
    let wait = AbilityTask::new("WaitTargetData").param("TargetingMethod", "Trace");
    let rules = world()
        .add(Effect::infinite("GE_A"))
        .add(Effect::lasting("GE_Answer", 9.0).grants("State.Answered"))
        .add(ga.task(wait).task(answer))
        .build()
        .unwrap();
    let (mut sim, who) = kit::one(&rules);
    let foe = spawn(&mut sim);
    sim.run(Op::Possess { who: foe, avatar: Some(ActorId(42)) }).unwrap();
    grant(&mut sim, who, "GA_Answer");
    sim.apply(&Spec::new(effect(&rules, "GE_A"), who).from(foe)).unwrap();
    let key = sim.tasks(who).unwrap()[0].key;
    let hit = ugas_core::Hit { position: Some([1.0, 2.0, 3.0]), distance: Some(4.0), tags: Vec::new() };
    let found = ugas_core::Answer { targets: vec![foe], hit: Some(hit.clone()), ..Default::default() };
    sim.complete(key, found).unwrap();
    let answer = effect(&rules, "GE_Answer");
    let applied = facts(&mut sim).into_iter().find(|f| f.effect == answer && f.who == foe).unwrap();
    assert_eq!((applied.who, applied.source, sim.avatar(applied.who).unwrap()), (foe, who, Some(ActorId(42))));
    let spec = sim.spec_of(applied.key).unwrap();
    assert_eq!((spec.target, spec.source, spec.ability), (foe, who, id(&sim, "GA_Answer")));
    assert_eq!(spec.extra.unwrap().hit, Some(hit));
    // From the effect to the ability, from the ability to effect A.
    let chain: Vec<CauseWhat> = sim.chain(applied.link).iter().map(|l| l.what).collect();
    let place =
        |what: CauseWhat| chain.iter().position(|c| *c == what).unwrap_or_else(|| panic!("{what:?}: {chain:?}"));
    let a = place(CauseWhat::Applied(effect(&rules, "GE_A")));
    let ability = place(CauseWhat::Activated(id(&sim, "GA_Answer")));
    assert_eq!(place(CauseWhat::Applied(answer)), 0);
    assert!(ability < a, "{chain:?}");
}

// covers: UGAS-4.2-04
#[test]
fn the_avatar_gives_the_position_and_without_it_no_target_is_found() {
    let blast = AbilityTask::new("ApplyEffectToActorsInRadius").param("Radius", 200.0);
    let ga = Ability::new("GA_Blast").task(blast.param("EffectClass", "GE_Last"));
    let rules = world().add(ga).build().unwrap();
    let (mut sim, who) = kit::one(&rules);
    let foe = spawn(&mut sim);
    grant(&mut sim, who, "GA_Blast");
    let put = |sim: &mut Sim, who, x: f64| {
        sim.run(Op::Move { who, anchor: Some(Anchor::at([x, 0.0, 0.0])) }).unwrap();
    };
    sim.run(Op::Possess { who, avatar: Some(ActorId(1)) }).unwrap();
    put(&mut sim, who, 0.0);
    put(&mut sim, foe, 100.0);
    cast(&mut sim, who, "GA_Blast").unwrap();
    assert_eq!(get(&sim, foe, "Health"), 99.0);
    // Another avatar has another position: the old position is not used.
    sim.run(Op::Possess { who, avatar: Some(ActorId(2)) }).unwrap();
    put(&mut sim, who, 1000.0);
    cast(&mut sim, who, "GA_Blast").unwrap();
    assert_eq!(get(&sim, foe, "Health"), 99.0);
    put(&mut sim, who, 50.0);
    sim.take_diagnostics(&mut Vec::new());
    sim.run(Op::Possess { who, avatar: None }).unwrap();
    assert_eq!(sim.anchor(who).unwrap(), None);
    cast(&mut sim, who, "GA_Blast").unwrap();
    assert_eq!(get(&sim, foe, "Health"), 99.0);
    let mut diagnostics = Vec::new();
    sim.take_diagnostics(&mut diagnostics);
    assert_eq!(diagnostics.iter().map(|d| (d.who, d.kind)).collect::<Vec<_>>(), [(who, DiagnosticKind::MissingTarget)]);
}

#[test]
fn destruction_removes_effects_then_abilities_then_subscriptions() {
    let mut sim = Sim::new(kit::abilities::rules(), SimConfig { trace: true, ..SimConfig::default() });
    let who = spawn(&mut sim);
    grant(&mut sim, who, "GA_Bare");
    cast(&mut sim, who, "GA_Bare").unwrap();
    apply(&mut sim, "GE_Ice", who);
    apply(&mut sim, "GE_Stun", who);
    sim.take_trace(&mut Vec::new());
    sim.despawn(who).unwrap();
    let mut trace = Vec::new();
    sim.take_trace(&mut trace);
    let steps: Vec<LifecycleStep> = trace
        .iter()
        .filter_map(|t| match t.kind {
            TraceKind::Lifecycle(step) => Some(step),
            _ => None,
        })
        .collect();
    use LifecycleStep::{AbilitiesRevoked, EffectsRemoved, ReplicationEnded, SubscriptionsCleared};
    assert_eq!(steps, [EffectsRemoved, AbilitiesRevoked, SubscriptionsCleared, ReplicationEnded]);
}

/// The result of a method that does not exist.
#[derive(Debug, PartialEq)]
struct Missing;

/// Methods to change tags that ability code must not have. An inherent method would take precedence and would not
/// return [`Missing`], so this file would not compile.
trait NoTagMethods {
    fn add_tag(&self, _: TagId) -> Missing {
        Missing
    }
    fn remove_tag(&self, _: TagId) -> Missing {
        Missing
    }
    fn clear(&self) -> Missing {
        Missing
    }
    fn clear_tags(&self) -> Missing {
        Missing
    }
    fn set_tag(&self, _: TagId) -> Missing {
        Missing
    }
    fn tags_mut(&self) -> Missing {
        Missing
    }
}
impl NoTagMethods for AbilityCx<'_> {}
impl NoTagMethods for TaskCx<'_> {}

struct Thief;
impl CodedAbility for Thief {
    type State = ();
    fn resume(&self, _: &mut (), _: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        let tag = cx.rules().tag("State.Aura").unwrap();
        assert!(!cx.has(tag) && cx.has(cx.rules().tag("State.Silenced").unwrap()), "it reads");
        let tried: [Missing; 6] =
            [cx.add_tag(tag), cx.remove_tag(tag), cx.clear(), cx.clear_tags(), cx.set_tag(tag), cx.tags_mut()];
        assert!(tried.iter().all(|m| *m == Missing));
        Next::End
    }
}
impl CustomTask for Thief {
    type State = ();
    fn activate(&self, _: &mut (), cx: &TaskCx<'_>) -> Progression {
        let tag = cx.rules().tag("State.Silenced").unwrap();
        assert!(cx.has(tag), "it reads");
        let tried: [Missing; 6] =
            [cx.add_tag(tag), cx.remove_tag(tag), cx.clear(), cx.clear_tags(), cx.set_tag(tag), cx.tags_mut()];
        assert!(tried.iter().all(|m| *m == Missing));
        Progression::Complete(0.0)
    }
}

// covers: UGAS-3.1-03
#[test]
fn ability_code_reads_tags_and_has_no_method_to_change_them() {
    let ga = Ability::new("GA_Thief").task(AbilityTask::new("Thief"));
    let rules = world().add(ga).ability_code("GA_Thief", Thief).task("Thief", Thief).build().unwrap();
    let (mut sim, who) = kit::one(&rules);
    grant(&mut sim, who, "GA_Thief");
    apply(&mut sim, "GE_Silence", who);
    kinds(&mut sim);
    cast(&mut sim, who, "GA_Thief").unwrap();
    assert!(!kinds(&mut sim).iter().any(|k| matches!(k, FactKind::TagChanged { .. })));
    assert!(has(&sim, who, "State.Silenced") && !has(&sim, who, "State.Aura"));
}

// covers: PEER-09
#[test]
fn target_requirements_groups_retriggers_held_inputs_and_passives_work_together() {
    let rules = world()
        .add(Effect::infinite("GE_Marked").grants("State.Marked"))
        .add(Effect::lasting("GE_Busy", 1.0).grants("State.Busy"))
        .add(Ability::new("GA_Smite").source_requires("State.Grounded").target_requires("State.Marked"))
        .add(Ability::new("GA_Spare").target_blocked("State.Marked"))
        .add(Ability::new("GA_Other").group("Free", GroupPolicy::Independent).task(waits()))
        .add(Ability::new("GA_Free").group("Free", GroupPolicy::Independent).task(waits()))
        .add(Ability::new("GA_Held").held().blocked("State.Busy").task(waits()))
        .build()
        .unwrap();
    let (mut sim, who) = kit::one(&rules);
    let foe = spawn(&mut sim);
    let aim = Target::Controller(foe);
    for name in ["GA_Smite", "GA_Spare", "GA_Stance", "GA_Lock", "GA_Again", "GA_Other", "GA_Free"] {
        grant(&mut sim, who, name);
    }
    let [smite, spare] = ["GA_Smite", "GA_Spare"].map(|n| id(&sim, n));
    let (grounded, marked) = (tag(&rules, "State.Grounded"), tag(&rules, "State.Marked"));
    assert_eq!(sim.activate(who, smite, aim), Err(Refusal::SourceTags { tag: grounded }));
    apply(&mut sim, "GE_Ice", who);
    assert_eq!(sim.activate(who, smite, aim), Err(Refusal::TargetTags { tag: marked }));
    assert!(sim.activate(who, spare, aim).is_ok());
    apply(&mut sim, "GE_Marked", foe);
    assert!(sim.activate(who, smite, aim).is_ok());
    assert_eq!(sim.activate(who, spare, aim), Err(Refusal::TargetTags { tag: marked }));

    // Groups: an exclusive ability replaces a replaceable one and cannot be replaced; independent ones are not
    // affected.
    kinds(&mut sim);
    cast(&mut sim, who, "GA_Stance").unwrap();
    cast(&mut sim, who, "GA_Lock").unwrap();
    assert_eq!(ended(&mut sim), [true]);
    assert_eq!(cast(&mut sim, who, "GA_Stance"), Err(Refusal::Group { by: id(&sim, "GA_Lock") }));
    cast(&mut sim, who, "GA_Other").unwrap();
    cast(&mut sim, who, "GA_Free").unwrap();
    assert_eq!(running(&sim, who), 3);

    // Retrigger: one instance, begun anew.
    let first = cast(&mut sim, who, "GA_Again").unwrap();
    let second = cast(&mut sim, who, "GA_Again").unwrap();
    assert_ne!(first, second);
    assert_eq!((ended(&mut sim), running(&sim, who)), (vec![true], 4));

    // Held: it starts as soon as it may while the input is down, and not after.
    let fire = InputId(3);
    let held = sim.grant(who, AbilityGrant { ability: id(&sim, "GA_Held"), level: 1, input: Some(fire) }).unwrap();
    let state = |sim: &Sim| sim.ability_state(who, held).unwrap();
    apply(&mut sim, "GE_Busy", who);
    let mut let_go = sim.clone();
    for sim in [&mut sim, &mut let_go] {
        let _ = sim.press(who, fire, Target::None);
        assert_eq!(state(sim), AbilityState::Granted);
    }
    let_go.release(who, fire).unwrap();
    go(&mut sim, 1.1);
    go(&mut let_go, 1.1);
    assert_eq!((state(&sim), state(&let_go)), (AbilityState::Active, AbilityState::Granted));

    // Passive: active right after the grant, and after a load.
    let aura = grant(&mut sim, who, "GA_Aura");
    assert_eq!(sim.ability_state(who, aura).unwrap(), AbilityState::Active);
    assert!(has(&sim, who, "State.Aura"));
    let portable = sim.extract(who).unwrap();
    let back = sim.insert(&portable).unwrap();
    assert_eq!(sim.ability_state(back, aura).unwrap(), AbilityState::Active);
    assert!(has(&sim, back, "State.Aura"));
}

// covers: UGAS-4.3-05
#[test]
fn an_ability_that_needs_an_avatar_stays_active_with_a_new_one() {
    let (mut sim, who, _) = with(&["GA_Body"]);
    sim.run(Op::Possess { who, avatar: Some(ActorId(5)) }).unwrap();
    cast(&mut sim, who, "GA_Body").unwrap();
    sim.run(Op::Possess { who, avatar: Some(ActorId(6)) }).unwrap();
    assert_eq!(running(&sim, who), 1);
    sim.run(Op::Possess { who, avatar: None }).unwrap();
    assert_eq!((ended(&mut sim), cast(&mut sim, who, "GA_Body")), (vec![true], Err(Refusal::NotInitialized)));
}
