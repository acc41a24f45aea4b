//! Unit tests of compiled abilities, timelines, tasks, combat effects and pools.

use super::*;
use crate::task::TaskKind;
use crate::{RUNTIME_BIT, SimTime};
use ugas_doc::{
    AbilityTask, Absorb, AnswerTarget, Attribute, AttributeSet, Combat, CombatRule, Effect, Modify, Timeline, Value,
};

fn docs() -> RulesBuilder {
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0).min(0.0)))
        .add(Effect::lasting("GE_Cooldown", 5.0).grants("Cooldown.Spell").grants("State.Tired"))
        .add(Effect::lasting("GE_Loose", 5.0).grants("State.Tired"))
}

fn wait(seconds: f64) -> AbilityTask {
    AbilityTask::new("WaitDelay").param("Duration", seconds)
}

fn built(builder: RulesBuilder, name: &str) -> Arc<AbilityDef> {
    let rules = builder.build().unwrap();
    rules.ability_def(rules.ability(name).unwrap()).unwrap().clone()
}

/// Returns one letter per instruction with its jump target.
fn listing(def: &AbilityDef) -> String {
    let words = def.program.code.iter().map(|inst| match inst {
        Inst::Task(task) => task.path.to_string(),
        Inst::Jump(to) => format!("jump {to}"),
        Inst::Branch { otherwise, .. } => format!("else {otherwise}"),
        Inst::Loop { reg, count, end } => format!("loop {reg} x{count} {end}"),
        Inst::Repeat { reg, back } => format!("again {reg} {back}"),
        Inst::Fork { race, starts, join } => format!("fork {race} {starts:?} {join}"),
        Inst::End => "end".to_owned(),
    });
    words.collect::<Vec<String>>().join("; ")
}

#[test]
fn task_lists_compile_to_one_program() {
    let ability = Ability::new("GA_A")
        .task(AbilityTask::parallel([wait(1.0), AbilityTask::sequence([wait(2.0), wait(3.0)])]))
        .task(AbilityTask::when("level > 1").then(wait(4.0)).otherwise(wait(5.0)))
        .on_cancel(AbilityTask::new("CommitAbility"));
    let def = built(docs().add(ability), "GA_A");
    assert_eq!(
        listing(&def),
        "fork false [1, 3] 6; Tasks[0].Tasks[0]; end; Tasks[0].Tasks[1].Tasks[0]; Tasks[0].Tasks[1].Tasks[1]; end; \
         else 9; Tasks[1].Then[0]; jump 10; Tasks[1].Else[0]; end; OnCancel[0]; end"
    );
    assert_eq!((def.program.entry.main, def.program.entry.cancel[0], def.program.entry.tick[0]), (0, 11, NO_PC));

    let body = AbilityTask::new("WaitGameplayEvent").param("EventTag", "Event.Hit").task(wait(1.0));
    let ability = Ability::new("GA_A").task(AbilityTask::repeat(3, [body])).task(AbilityTask::repeat(0, []));
    let def = built(docs().add(ability), "GA_A");
    assert_eq!(
        listing(&def),
        "loop 0 x3 6; Tasks[0].Tasks[0]; jump 5; Tasks[0].Tasks[0].Tasks[0]; end; again 0 1; loop 1 x0 8; again 1 7; end"
    );
    assert_eq!(def.program.regs, 2);
    let wait = &def.program.task(1).expect("a wait at 1").kind;
    assert_eq!((wait.body(), wait.repeats()), (3, false));
    assert_eq!(*def.program.at(500), Inst::End);
}

#[test]
fn cooldown_tags_are_those_below_cooldown_or_all() {
    let tags = |effect: &str| {
        let rules = docs().add(Ability::new("GA_A").cooldown(effect)).build().unwrap();
        let def = rules.ability_def(rules.ability("GA_A").unwrap()).unwrap();
        let names = def.cooldown_tags.iter().map(|&t| rules.tag_name(t).unwrap().to_owned());
        names.collect::<Vec<String>>()
    };
    assert_eq!(tags("GE_Cooldown"), ["Cooldown.Spell"]);
    assert_eq!(tags("GE_Loose"), ["State.Tired"]);
}

#[test]
fn timelines_are_linked_when_the_rules_are_built() {
    let line = Timeline::new("TL_Fire", 1.0)
        .montage("Anim_Fire")
        .ability("GA_Fire")
        .notify(0.6, "Event.B")
        .notify(0.3, "Event.A")
        .answer("WaitTargetData", 0.1, AnswerTarget::Nearest)
        .answer("WaitTargetData", 0.2, AnswerTarget::None);
    let aim = || AbilityTask::new("WaitTargetData").param("TargetingMethod", "Trace");
    let play = AbilityTask::new("PlayMontage").param("MontageToPlay", "Anim_Fire");
    let fire = Ability::new("GA_Fire").task(play).task(aim()).task(aim()).task(aim());
    let rules = docs().add(line).add(fire).add(Ability::new("GA_Other").task(aim())).build().unwrap();
    let def = rules.ability_def(rules.ability("GA_Fire").unwrap()).unwrap();
    let line = rules.find_timeline("TL_Fire");
    assert!(matches!(&def.program.task(0).unwrap().kind, kind if kind.timeline() == line));
    let after = |pc: u16| def.program.task(pc).unwrap().answer.as_ref().unwrap().after;
    assert_eq!([after(1), after(2), after(3)], [0.1, 0.2, 0.2].map(SimTime::seconds));
    let notifies = &rules.timeline_def(line.unwrap()).unwrap().notifies;
    assert_eq!(notifies.iter().map(|n| &*n.name).collect::<Vec<_>>(), ["Event.A", "Event.B"]);
    let other = rules.ability_def(rules.ability("GA_Other").unwrap()).unwrap();
    assert_eq!(other.program.task(0).unwrap().answer, None);
}

#[test]
fn numbers_are_values_frames_or_expressions() {
    let first = |value: Value| {
        let task = AbilityTask::new("WaitDelay").param("Duration", value);
        let def = built(docs().add(Ability::new("GA_A").task(task)), "GA_A");
        match &def.program.task(0).unwrap().kind {
            TaskKind::WaitDelay(wait) => wait.duration.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(first(Value::from(1.5)), Num::Value(1.5));
    assert_eq!(first(Value::from("12f")), Num::Frames(12));
    assert!(matches!(first(Value::from("Health / 100")), Num::Expr(_)));
}

#[test]
fn ticking_tasks_have_intervals_and_priorities() {
    let overlap = AbilityTask::new("WaitOverlap");
    let target = AbilityTask::new("WaitForTarget").every(0.5).priority(3);
    let def = built(docs().add(Ability::new("GA_A").task(overlap).task(target).task(wait(1.0))), "GA_A");
    let of = |pc: u16| def.program.task(pc).map(|t| (t.interval, t.priority)).unwrap();
    assert_eq!(of(0), (Some(SimTime::seconds(0.1)), 0));
    assert_eq!(of(1), (Some(SimTime::seconds(0.5)), 3));
    assert_eq!(of(2), (None, 0));
}

#[test]
fn parameters_are_encoded_as_bytes() {
    let list = |numbers: &[f64]| Value::List(numbers.iter().map(|n| Value::Number(*n)).collect());
    let task = AbilityTask::new("Request")
        .param("A", true)
        .param("B", "é")
        .param("C", list(&[1.0, 2.0, 3.0]))
        .param("D", list(&[4.0]));
    let mut expected = vec![1, 0, b'A', 1, 1, 1, 0, b'B', 3, 2, 0, 0, 0, 0xc3, 0xa9, 1, 0, b'C', 4];
    [1.0f64, 2.0, 3.0].iter().for_each(|n| expected.extend(n.to_le_bytes()));
    expected.extend([3, 0, b'D', b'.', b'0', 2]);
    expected.extend(4.0f64.to_le_bytes());
    assert_eq!(*task::encode_params(&task.params), *expected);
}

#[test]
fn a_runtime_ability_carries_its_owned_tags() {
    let rules = docs().build().unwrap();
    let number = RUNTIME_BIT | 4;
    let doc = Ability::new("GA_New").owned("State.Tired").cooldown("GE_Cooldown").task(wait(1.0));
    let made = compile_ability(&rules, &doc, number).unwrap();
    assert_eq!(made.ability.id, AbilityId(number));
    assert_eq!(made.ability.owned, Some(EffectId(number)));
    assert_eq!(made.owned.unwrap().granted_tags.len(), 1);
    let bare = compile_ability(&rules, &Ability::new("GA_Bare"), number).unwrap();
    assert!(bare.owned.is_none() && bare.ability.owned.is_none());
    let unknown = compile_ability(&rules, &Ability::new("GA_Bad").requires("State.Tird"), number);
    assert!(unknown.err().unwrap().to_string().contains("did you mean State.Tired?"));
}

#[test]
fn combat_effects_do_not_use_the_fast_path() {
    let plain = || Effect::instant("GE_Hit").add("Health", -5.0);
    let simple = |e: Effect| {
        let rules = docs().add(e).build().unwrap();
        let def = rules.effect_def(rules.effect("GE_Hit").unwrap()).unwrap();
        (def.simple, def.plain_write.is_some())
    };
    assert_eq!(simple(plain()), (true, true));
    assert_eq!(simple(Effect { combat: Some(Combat::default()), ..plain() }), (false, false));
    let beat =
        Effect { combat: Some(Combat::default()), ..Effect::lasting("GE_Hit", 5.0).every(1.0).add("Health", -1.0) };
    assert_eq!(simple(beat), (false, false));
    let modify = Modify { value: Some(1.0), ..Modify::default() };
    let rule = CombatRule { on: "CastLength".into(), modify: Some(modify), ..CombatRule::default() };
    assert!(!simple(Effect { rules: vec![rule], ..Effect::infinite("GE_Hit") }).0);
}

#[test]
fn the_pools_of_an_attribute_are_sorted_by_order() {
    let pool = |name: &str, order: i32| Attribute {
        absorb: Some(Absorb { before: "Health".into(), order }),
        ..Attribute::new(name, 50.0)
    };
    let set = AttributeSet::new("Pools").with(pool("Late", 20)).with(pool("Early", 10)).with(pool("Same", 20));
    let rules = docs().add(set).build().unwrap();
    let sets = [rules.set("Vitals").unwrap(), rules.set("Pools").unwrap()];
    let layout = Layout::build(&rules, &sets, 100).unwrap();
    let names = |of: &str| {
        let slot = layout.slot(rules.attribute(of).unwrap()).unwrap();
        let names = layout.slots[slot].pools.iter().map(|&s| rules.attribute_name(layout.slots[s as usize].attribute));
        names.flatten().map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(names("Health"), ["Early", "Late", "Same"]);
    assert!(names("Early").is_empty());
}
