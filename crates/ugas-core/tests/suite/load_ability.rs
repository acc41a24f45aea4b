//! Building rules from abilities, ability sets, timelines and combat rules: every error code once, with the field and
//! the nearest name.

use crate::kit::world::load::{assert_issue, base, error, warning};
use ugas_core::{HookReads, Rules, RulesBuilder, TaskCategory};
use ugas_doc::{
    Ability, AbilitySet, AbilityTask, AnswerTarget, Attribute, AttributeSet, Cast, Charges, Combat, CombatRule, Effect,
    GlobalCooldown, Magnitude, Modify, ModifyOperation, SetAbility, Time, Timeline, Trigger, Value,
};

fn effects() -> RulesBuilder {
    base()
        .add(Effect::instant("GE_Cost").add("Health", -5.0))
        .add(Effect::lasting("GE_Cooldown", 5.0).grants("Cooldown.Spell").grants("State.Tired"))
        .add(Effect::infinite("GE_Aura"))
}

fn task(kind: &str) -> AbilityTask {
    AbilityTask::new(kind)
}

fn with(task: AbilityTask) -> RulesBuilder {
    effects().add(Ability::new("GA_Spell").task(task))
}

// covers: UGAS-8.1-01
#[test]
fn every_tag_list_is_readable_and_in_file_order() {
    let lists = |a: Ability, set: fn(Ability, &str) -> Ability| set(set(a, "Zeta.Two"), "Alpha.One");
    let a = Ability::new("GA_All");
    let a = lists(a, |a, t| a.tag(t));
    let a = lists(a, |a, t| a.blocked_by(t));
    let a = lists(a, |a, t| a.blocks(t));
    let a = lists(a, |a, t| a.cancels(t));
    let a = lists(a, |a, t| a.requires(t));
    let a = lists(a, |a, t| a.blocked(t));
    let a = lists(a, |a, t| a.owned(t));
    let rules = effects().add(a.cost("GE_Cost").cooldown("GE_Cooldown")).build().unwrap();
    let doc = rules.ability_doc(rules.ability("GA_All").unwrap()).unwrap();
    let t = &doc.tags;
    for list in [
        &t.ability_tags,
        &t.blocked_by_tags,
        &t.block_abilities_with_tags,
        &t.cancel_abilities_with_tags,
        &t.activation_required_tags,
        &t.activation_blocked_tags,
        &t.activation_owned_tags,
    ] {
        assert_eq!(list, &["Zeta.Two", "Alpha.One"]);
    }
    assert_eq!((doc.cost.as_deref(), doc.cooldown.as_deref()), (Some("GE_Cost"), Some("GE_Cooldown")));
}

// covers: UGAS-8.7-01
#[test]
fn an_ability_needs_only_a_name_and_unknown_references_are_errors() {
    assert!(Rules::builder().add(Ability::new("GA_Bare")).build().is_ok());
    let issue = error(with(AbilityTask::default()), "unknown-task");
    assert_issue(&issue, "GA_Spell", &["Tasks[0]", "the field Type is missing"]);
    let issue = error(effects().add(Ability::new("GA_A").cost("GE_Cst")), "unknown-effect");
    assert_issue(&issue, "GA_A", &["Cost: unknown effect GE_Cst", "did you mean GE_Cost?"]);
}

#[test]
fn owned_tags_become_a_generated_effect_of_the_ability() {
    let rules = effects().add(Ability::new("GA_Cast").owned("State.Casting")).build().unwrap();
    assert!(rules.find_effect("GE_OwnedTags_GA_Cast").is_some());
    let duplicate =
        effects().add(Ability::new("GA_Cast").owned("State.Casting")).add(Effect::instant("GE_OwnedTags_GA_Cast"));
    assert_issue(&error(duplicate, "duplicate-name"), "GA_Cast", &["GE_OwnedTags_GA_Cast", "ActivationOwnedTags"]);
}

#[test]
fn cost_and_cooldown_effects_are_checked() {
    let lasting = effects().add(Ability::new("GA_A").cost("GE_Aura"));
    assert_issue(&error(lasting, "bad-cost"), "GA_A", &["Cost", "GE_Aura", "Instant"]);
    let instant = effects().add(Ability::new("GA_A").cooldown("GE_Cost"));
    assert_issue(&error(instant, "bad-cooldown"), "GA_A", &["Cooldown", "HasDuration"]);
    let mut lucky = Effect::instant("GE_Lucky");
    lucky.application_chance = Some(Magnitude::value(0.5));
    let chance = effects().add(lucky).add(Ability::new("GA_A").cost("GE_Lucky"));
    assert_issue(&error(chance, "chance-on-commit"), "GA_A", &["Cost", "ApplicationChance"]);
    let silent = effects().add(Effect::lasting("GE_Silent", 1.0)).add(Ability::new("GA_A").cooldown("GE_Silent"));
    assert_issue(&warning(silent, "cooldown-without-tag"), "GA_A", &["GE_Silent"]);
}

#[test]
fn activation_checks_are_parsed_when_the_rules_are_built() {
    let ability = |a: fn(Ability) -> Ability| effects().add(a(Ability::new("GA_A")));
    assert_issue(&error(ability(|a| a.query("State.A & ")), "bad-query"), "GA_A", &["ActivationQuery", "column 11"]);
    assert_issue(
        &error(ability(|a| a.condition("Helth > 1")), "bad-expression"),
        "GA_A",
        &["ActivationCondition", "Health"],
    );
    assert_issue(
        &error(ability(|a| a.condition("event.Magnitude > 1")), "bad-expression"),
        "GA_A",
        &["is not available here"],
    );
    let known = |a| effects().add(a).can_activate("Rich", HookReads::Owner, |_| true);
    assert_issue(
        &error(known(Ability::new("GA_A").hook("Rick")), "unknown-hook"),
        "GA_A",
        &["CanActivate", "mean Rich?"],
    );
    assert!(
        known(Ability::new("GA_A").hook("Rich").condition("has_tag(target, State.Dead) && level > 1")).build().is_ok()
    );
    assert_issue(&error(ability(|a| a.range(-1.0)), "bad-range"), "GA_A", &["MaxRange is -1"]);
    assert_issue(
        &error(ability(|a| a.fixed("CastLenght")), "bad-static"),
        "GA_A",
        &["Static", "did you mean CastLength?"],
    );
    assert_issue(&error(ability(|a| a.group("", Default::default())), "missing-field"), "GA_A", &["ActivationGroup"]);
}

#[test]
fn a_trigger_has_exactly_one_form() {
    let trigger = |t| effects().add(Ability::new("GA_A").trigger(t));
    let two = Trigger { tag_added: Some("State.A".into()), ..Trigger::event("Event.A") };
    assert_issue(&error(trigger(two), "bad-trigger"), "GA_A", &["Triggers[0]", "exactly one"]);
    assert_issue(&error(trigger(Trigger::default()), "bad-trigger"), "GA_A", &["Triggers[0]"]);
    let both = Trigger { above: Some(1.0), ..Trigger::below("Health", 30.0) };
    assert_issue(&error(trigger(both), "bad-trigger"), "GA_A", &["Below or Above"]);
    let stray = Trigger { below: Some(1.0), ..Trigger::event("Event.A") };
    assert_issue(&error(trigger(stray), "bad-trigger"), "GA_A", &["only an Attribute trigger"]);
    assert_issue(&error(trigger(Trigger::effect_applied("GE_Aur")), "unknown-effect"), "GA_A", &["mean GE_Aura?"]);
    for good in [Trigger::above("Health", 1.0), Trigger::tag_present("State.A"), Trigger::effect_applied("GE_Aura")] {
        assert!(trigger(good).build().is_ok());
    }
}

#[test]
fn charges_casts_and_global_cooldowns_are_checked() {
    let ability = |a: Ability| effects().add(a);
    let none = Ability::new("GA_A").charges(0, 1.0);
    assert_issue(&error(ability(none), "bad-charges"), "GA_A", &["Charges.Max"]);
    let zero = Charges { max: 1, per_cooldown: Some(0), cooldown: 1.0, ..Charges::default() };
    let zero = Ability { charges: Some(zero), ..Ability::new("GA_A") };
    assert_issue(&error(ability(zero), "bad-charges"), "GA_A", &["PerCooldown"]);
    assert_issue(
        &error(ability(Ability::new("GA_A").charges(1, 0.0)), "bad-charges"),
        "GA_A",
        &["Charges.Cooldown", "above 0"],
    );
    assert_issue(&error(ability(Ability::new("GA_A").cast(1.0, 0)), "bad-cast"), "GA_A", &["Cast.Ticks"]);
    let endless = Cast { length: f64::INFINITY, ..Cast::default() };
    assert_issue(&error(ability(Ability::new("GA_A").cast_as(endless)), "bad-cast"), "GA_A", &["Cast.Length"]);
    let negative = GlobalCooldown { group: None, length: -1.0 };
    let negative = Ability { global_cooldown: Some(negative), ..Ability::new("GA_A") };
    assert_issue(&error(ability(negative), "bad-global-cooldown"), "GA_A", &["GlobalCooldown.Length is -1"]);
}

// Tasks ---------------------------------------------------------------------------------------------------------

#[test]
fn an_unknown_task_type_is_reported_with_the_nearest_name() {
    let issue = error(
        with(AbilityTask::parallel([task("WaitDelay").param("Duration", 1.0), task("WaitDely")])),
        "unknown-task",
    );
    assert_issue(&issue, "GA_Spell", &["Tasks[0].Tasks[1]", "WaitDely", "did you mean WaitDelay?"]);
}

#[test]
fn an_unknown_missing_or_wrong_parameter_is_reported_with_its_path() {
    let rejects = |t: AbilityTask, words: &[&str]| assert_issue(&error(with(t), "bad-param"), "GA_Spell", words);
    rejects(task("WaitDelay"), &["Tasks[0].Params.Duration", "missing; WaitDelay needs"]);
    rejects(
        task("WaitDelay").param("Duration", 1.0).param("Duraton", 1.0),
        &["Tasks[0].Params.Duraton", "mean Duration?"],
    );
    rejects(task("WaitDelay").param("Duration", true), &["Tasks[0].Params.Duration", "12f", "found true"]);
    rejects(task("WaitDelay").param("Duration", -1.0), &["Tasks[0].Params.Duration", "found -1"]);
    rejects(task("WaitDelay").param("Duration", "Helth / 2"), &["Tasks[0].Params.Duration", "did you mean Health?"]);
    rejects(task("CommitAbility").param("Now", true), &["Tasks[0].Params.Now", "has no parameters"]);
    rejects(task("RemoveEffectFromOwner"), &["either EffectClass or WithTags"]);
    rejects(
        task("SendEvent").param("EventTag", "Event.A").param("To", "Nobody"),
        &["Params.To", "Owner, Target, Targets"],
    );
    let threshold = task("WaitAttributeThreshold").param("Attribute", "Health").param("Value", 5.0);
    rejects(threshold, &["Params.Comparison", "LessThan"]);
    rejects(task("WaitForTarget").every(-1.0), &["Tasks[0].TickInterval", "found -1"]);
    rejects(task("SetParam").param("Name", "Charge").param("Value", "12f"), &["Params.Value", "number of frames"]);
    let apply = task("ApplyEffectToOwner").param("EffectClass", "GE_Aur");
    assert_issue(&error(with(apply), "unknown-effect"), "GA_Spell", &["Tasks[0].Params.EffectClass", "mean GE_Aura?"]);
}

#[test]
fn composite_tasks_accept_only_their_own_fields() {
    let rejects = |t: AbilityTask, words: &[&str]| assert_issue(&error(with(t), "bad-task"), "GA_Spell", words);
    let wait = || task("WaitDelay").param("Duration", 1.0);
    rejects(task("Repeat").task(wait()), &["Tasks[0].Count", "Repeat needs a number of repetitions"]);
    rejects(task("Branch").then(wait()), &["Tasks[0]", "either Query or When"]);
    rejects(wait().task(wait()), &["Tasks[0].Tasks", "WaitDelay has no Tasks"]);
    rejects(AbilityTask { count: Some(2), ..wait() }, &["Tasks[0].Count", "WaitDelay has no Count"]);
    rejects(wait().every(0.5), &["Tasks[0].TickInterval", "WaitDelay does not tick; remove TickInterval"]);
    rejects(task("CommitAbility").priority(3), &["Tasks[0].Priority", "CommitAbility does not tick; remove Priority"]);
    rejects(task("Sequence").task(wait()).priority(3), &["Tasks[0].Priority", "Sequence does not tick"]);
    rejects(task("Validate"), &["Tasks[0].Type", "reserved for AsyncValidation"]);
    let deep = (0..20).fold(wait(), |inner, _| AbilityTask::sequence([inner]));
    assert_issue(&error(with(deep), "too-long"), "GA_Spell", &["nest deeper than 16"]);
    let long = AbilityTask::sequence((0..1100).map(|_| wait()));
    assert_issue(&error(with(long), "too-long"), "GA_Spell", &["more than 1024 steps"]);
    let loops = AbilityTask::sequence((0..256).map(|_| AbilityTask::repeat(2, [task("CommitAbility")])));
    assert_issue(&error(with(loops), "too-long"), "GA_Spell", &["256 Repeats"]);
}

#[test]
fn instant_task_lists_cannot_contain_waits() {
    let wait = AbilityTask::race([task("WaitDelay").param("Duration", 1.0)]);
    let issue = error(effects().add(Ability::new("GA_A").on_cancel(wait)), "waits-in-list");
    assert_issue(&issue, "GA_A", &["OnCancel[0].Tasks[0]", "WaitDelay waits"]);
}

#[test]
fn every_task_type_builds_from_the_parameters_it_documents() {
    let e = |t: &str| task(t).param("EffectClass", "GE_Aura");
    let tag = |t: &str| task(t).param("Tag", "State.A");
    let input = |t: &str| task(t).param("InputID", "Jump");
    let list = vec![
        e("ApplyEffectToOwner").param("Level", 2.0).param("Duration", "12f").set_by_caller("Data.Power", "level * 2"),
        e("ApplyEffectToTarget").param("Stacks", "held + 1"),
        e("ApplyEffectToActorsInRadius")
            .param("Radius", 200.0)
            .param("IgnoreTargetsWithTag", "State.A")
            .param("MaxTargets", 3),
        e("RemoveEffectFromOwner").param("Stacks", 1),
        task("RemoveEffectFromTarget").param("WithTags", vec![Value::from("State.A")]),
        task("CommitAbility"),
        task("CancelAbility").param("WithTags", "Ability.Type"),
        task("SendEvent").param("EventTag", "Event.A").param("To", "Target").param("Magnitude", "event.Magnitude * 2"),
        task("SetParam").param("Name", "Charge").param("Value", "param.Charge + 1"),
        task("SetRestriction").param("Name", "Rooted").param("Active", false),
        task("SetTarget").param("Target", "Nearest").param("Radius", 9.0).param("IgnoreTargetsWithTag", "State.A"),
        task("ExecuteCue").param("Cue", "GameplayCue.A"),
        task("AddCue").param("Cue", "GameplayCue.A"),
        task("RemoveCue").param("Cue", "GameplayCue.A"),
        task("PlayMontage").param("MontageToPlay", "Anim_A").param("PlayRate", 1.5),
        task("SpawnProjectile").param("ProjectileClass", "P_A").param("Speed", 2000.0).param("Gravity", -980.0),
        task("Request").param("Name", "Shake").param("Anything", vec![Value::from(1.0)]),
        task("WaitDelay").param("Duration", Time::Frames(12)).param("TimeOut", 1.0).param("OnFail", "Cancel"),
        task("WaitGameTime").param("Time", 10.0),
        task("WaitGameplayEvent")
            .param("EventTag", "Event.A")
            .param("OnlyTriggerOnce", false)
            .task(task("CommitAbility")),
        tag("WaitTagAdded"),
        task("WaitTagRemoved").param("WaitTag", "State.A"),
        tag("WaitTagChanged"),
        task("WaitTagQuery").param("Query", "State.A & !State.B"),
        task("WaitAttributeChange").param("Attribute", "Health"),
        task("WaitAttributeThreshold").param("Attribute", "Health").param("Comparison", "LessThan").param("Value", 5.0),
        e("WaitEffectApplied"),
        e("WaitEffectRemoved"),
        task("WaitAbilityActivated").param("Ability", "GA_Spell"),
        task("WaitAbilityCommitted").param("WithTags", "Ability.Type"),
        task("WaitAbilityEnded").param("Ability", "GA_Spell"),
        input("WaitInputPressed"),
        task("WaitInputRelease"),
        task("WaitMontageEnded").param("Montage", "Anim_A"),
        task("WaitAnimationEvent").param("EventName", "Swing"),
        task("WaitTargetData").param("TargetingMethod", "HitscanTrace").param("MaxRange", 200.0),
        task("WaitOverlap").param("Radius", 2.0).param("Filter", "State.A").every(0.5).priority(3),
        task("WaitForTarget").param("MaxRange", 9.0),
        AbilityTask::when("found > 0 && has_tag(event, Event.A)")
            .then(task("CommitAbility"))
            .otherwise(task("EndAbility")),
        AbilityTask::query("State.A").then(task("CommitAbility")),
        AbilityTask::repeat(3, [AbilityTask::race([task("CommitAbility")])]),
        AbilityTask::parallel([AbilityTask::sequence([task("CommitAbility")])]),
        task("EndAbility").param("Cancelled", true),
    ];
    let used: Vec<String> = list.iter().map(|t| t.kind.clone()).chain(["Race".into(), "Sequence".into()]).collect();
    let ability = list.into_iter().fold(Ability::new("GA_Spell"), |a, t| a.task(t));
    let rules = effects().add(ability).build().unwrap();
    for (id, name, _) in rules.task_kinds() {
        // A validation is asked by AsyncValidation, not by a list.
        assert!(name == "Validate" || used.iter().any(|u| u == name), "{name} is not tried here");
        assert_eq!((rules.find_task_kind(name), rules.task_kind_name(id)), (Some(id), Some(name)));
    }
    assert_eq!(rules.param_name(ugas_core::ParamId::named("Charge")), Some("Charge"));
}

// covers: UGAS-10.3-01
#[test]
fn predefined_tasks_have_their_categories() {
    let rules = Rules::builder().build().unwrap();
    for (names, category) in [
        (["WaitDelay", "WaitGameTime"], TaskCategory::Temporal),
        (["WaitGameplayEvent", "WaitTagChanged"], TaskCategory::Event),
        (["WaitInputRelease", "WaitInputPressed"], TaskCategory::Input),
        (["WaitTagAdded", "WaitTagRemoved"], TaskCategory::State),
        (["WaitOverlap", "WaitForTarget"], TaskCategory::Spatial),
        (["WaitAnimationEvent", "WaitMontageEnded"], TaskCategory::Animation),
    ] {
        for name in names {
            assert_eq!(rules.task_category(name), Some(category), "{name}");
        }
    }
    assert_eq!(rules.task_category("WaitForever"), None);
}

// Sets and timelines --------------------------------------------------------------------------------------------

#[test]
fn the_references_of_an_ability_set_are_checked() {
    let set = || AbilitySet::new("AS_Sword");
    let all = || effects().add(Ability::new("GA_Strike"));
    let whole = set().attributes("Vitals").effect("GE_Aura").ability(SetAbility::new("GA_Strike").input("Weapon"));
    let rules = all().add(whole).build().unwrap();
    assert_eq!(rules.ability_set_name(rules.ability_set("AS_Sword").unwrap()), Some("AS_Sword"));
    assert!(rules.find_input("Weapon").is_some());
    assert_issue(
        &error(all().add(set().attributes("Vitls")), "unknown-set"),
        "AS_Sword",
        &["AttributeSets", "mean Vitals?"],
    );
    assert_issue(
        &error(all().add(set().effect("GE_Aur")), "unknown-effect"),
        "AS_Sword",
        &["Effects", "mean GE_Aura?"],
    );
    let misspelt = set().ability(SetAbility::new("GA_Strke"));
    assert_issue(&error(all().add(misspelt), "unknown-ability"), "AS_Sword", &["Abilities[0]", "mean GA_Strike?"]);
    let level = set().ability(SetAbility::new("GA_Strike").level(0));
    assert_issue(&error(all().add(level), "bad-level"), "AS_Sword", &["Abilities[0]", "level 0"]);
    assert_issue(&warning(all().add(set().effect("GE_Cost")), "instant-in-set"), "AS_Sword", &["GE_Cost"]);
    let mut hero = ugas_doc::Controller::new("Hero").set("Vitals");
    hero.ability_sets = vec!["AS_Swrd".into()];
    assert_issue(&error(all().add(set()).add(hero), "unknown-ability-set"), "Hero", &["AbilitySets", "mean AS_Sword?"]);
}

#[test]
fn a_timeline_is_checked_and_found_by_its_montage() {
    let all = || effects().add(Ability::new("GA_Fire"));
    let rejects = |t: Timeline, words: &[&str]| assert_issue(&error(all().add(t), "bad-timeline"), "TL_A", words);
    let tl = || Timeline::new("TL_A", Time::Frames(36));
    let answer = || tl().ability("GA_Fire").answer("WaitTargetData", 0.1, AnswerTarget::Nearest);
    let rules = all().add(answer().notify(0.3, "Event.Montage.Hit")).build().unwrap();
    assert!(rules.timeline_doc(rules.timeline("TL_A").unwrap()).is_some());
    rejects(Timeline::new("TL_A", 0.0), &["Length is not above 0"]);
    rejects(Timeline { frame_rate: Some(0), ..tl() }, &["FrameRate"]);
    rejects(tl().notify(2.0, "Event.A"), &["Notifies[0].At", "is after the Length"]);
    rejects(tl().notify(f64::NAN, "Event.A"), &["Notifies[0].At is NaN"]);
    rejects(tl().answer("WaitTargetData", 0.1, AnswerTarget::None), &["Answers", "the field Ability is missing"]);
    let misspelt = tl().ability("GA_Fire").answer("WaitTargetDat", 0.1, AnswerTarget::None);
    assert_issue(&error(all().add(misspelt), "unknown-task"), "TL_A", &["Answers[0].Task", "mean WaitTargetData?"]);
    let twice = all().add(tl()).add(Timeline::new("TL_B", 1.0).montage("TL_A"));
    assert_issue(&error(twice, "duplicate-montage"), "TL_B", &["TL_A"]);
    let twice = all().add(answer()).add(Timeline::new("TL_B", 1.0).ability("GA_Fire"));
    assert_issue(&error(twice, "duplicate-timeline"), "TL_B", &["TL_A"]);
}

// Combat --------------------------------------------------------------------------------------------------------

fn rule(on: &str) -> CombatRule {
    let modify = Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(0.9) };
    CombatRule { on: on.into(), modify: Some(modify), ..CombatRule::default() }
}

fn ruled(rule: CombatRule) -> RulesBuilder {
    base().add(Effect { rules: vec![rule], ..Effect::infinite("GE_Haste") })
}

#[test]
fn combat_rules_are_checked() {
    let rejects = |r: CombatRule, words: &[&str]| assert_issue(&error(ruled(r), "bad-rule"), "GE_Haste", words);
    assert!(ruled(rule("CastLength")).build().is_ok());
    assert!(ruled(rule("Event.Damage.Taken")).build().is_ok());
    rejects(rule("CastLenght"), &["Rules[0].On", "did you mean CastLength?"]);
    rejects(rule("AbilityUse"), &["Rules[0].Modify", "Restrict: true"]);
    rejects(CombatRule { restrict: true, ..rule("DamageTaken") }, &["both Modify and Restrict"]);
    rejects(CombatRule { modify: None, ..rule("DamageTaken") }, &["none of Modify, Restrict: true and Function"]);
    let add = Modify { operation: ModifyOperation::Add, value: None, factor: Some(0.9) };
    rejects(CombatRule { modify: Some(add), ..rule("DamageTaken") }, &["Add; write a finite Value"]);
    let fire = "has_tag(event, DamageType.Fire) && event.Direct";
    assert!(ruled(CombatRule { when: Some(fire.into()), ..rule("DamageTaken") }).build().is_ok());
    let misspelt = CombatRule { when: Some("event.Amont > 3".into()), ..rule("DamageTaken") };
    assert_issue(
        &error(ruled(misspelt), "bad-expression"),
        "GE_Haste",
        &["Rules[0].When", "did you mean event.Amount?"],
    );
    let instant = Effect { rules: vec![rule("CastLength")], ..Effect::instant("GE_Now") };
    assert_issue(&warning(base().add(instant), "unused-field"), "GE_Now", &["Rules"]);
}

// covers: SAI-1.1-07
#[test]
fn combat_values_needed_without_an_event_do_not_accept_when() {
    for on in ["MaxCharges", "ChargeCost", "ResourceCost", "ChargesPerCooldown"] {
        let rule = CombatRule { when: Some("Health > 5".into()), ..rule(on) };
        assert_issue(&error(ruled(rule), "conditional-value"), "GE_Haste", &["Rules[0].When", on]);
    }
}

#[test]
fn mitigation_and_absorb_references_are_checked() {
    let combat = Combat { mitigation: Some("Armr".into()), ..Combat::default() };
    let hit = Effect { combat: Some(combat), ..Effect::instant("GE_Hit").add("Health", -5.0) };
    let builder = base().add(hit).calc_fn("Armor", [], |cx| cx.give(1.0));
    assert_issue(&error(builder, "unknown-calculation"), "GE_Hit", &["Combat.Mitigation", "did you mean Armor?"]);
    let mut shield = Attribute::new("Shield", 50.0);
    shield.absorb = Some(ugas_doc::Absorb { before: "Helth".into(), order: 1 });
    let builder = base().add(AttributeSet::new("S").with(shield.clone()));
    assert_issue(&error(builder, "unknown-attribute"), "S", &["Shield: Absorb.Before", "did you mean Health?"]);
    shield.absorb = Some(ugas_doc::Absorb { before: "Shield".into(), order: 1 });
    assert_issue(&error(base().add(AttributeSet::new("S").with(shield)), "bad-absorb"), "S", &["Shield"]);
}

#[test]
fn rounding_on_the_wire_needs_a_range_and_bits() {
    let with = |min, max, bits| {
        let quantize = Some(ugas_doc::Quantize { min, max, bits });
        base().add(AttributeSet::new("S").with(Attribute { quantize, ..Attribute::new("Rage", 1.0) }))
    };
    for (min, max) in [(5.0, 5.0), (6.0, 5.0), (0.0, f64::NAN), (f64::MIN, f64::MAX)] {
        assert_issue(&error(with(min, max, 8), "bad-quantize"), "S", &["Rage: Quantize", "Min below Max"]);
    }
    for bits in [0, 33] {
        assert_issue(&error(with(0.0, 5.0, bits), "bad-quantize"), "S", &["Rage: Quantize", "1 to 32"]);
    }
    let rules = with(0.0, 5.0, 32).build().unwrap();
    let rage = &rules.set_attributes(rules.set("S").unwrap()).unwrap()[0];
    assert_eq!(rage.quantize.map(|q| q.bits), Some(32));
}

#[test]
fn names_keep_their_ids_across_rebuilds() {
    let first = effects().add(Ability::new("GA_A").owned("State.A")).add(AbilitySet::new("AS_A")).build().unwrap();
    let docs = || effects().after(first.clone()).add(Ability::new("GA_New")).add(AbilitySet::new("AS_New"));
    let rebuilt = docs().add(Ability::new("GA_A").owned("State.A")).add(AbilitySet::new("AS_A")).build().unwrap();
    assert_eq!(first.find_ability("GA_A"), rebuilt.find_ability("GA_A"));
    assert_eq!(first.find_effect("GE_OwnedTags_GA_A"), rebuilt.find_effect("GE_OwnedTags_GA_A"));
    assert_eq!(first.find_ability_set("AS_A"), rebuilt.find_ability_set("AS_A"));
    assert_eq!(first.task_kind("WaitDelay"), rebuilt.task_kind("WaitDelay"));
    let without = docs().build().unwrap();
    assert_eq!((without.find_ability("GA_A"), without.find_ability_set("AS_A")), (None, None));
    assert_eq!(without.find_effect("GE_OwnedTags_GA_A"), None);
}

/// The castable status remembers such a restriction; it may because nothing but the row's own effects decides it.
#[test]
fn a_conditional_restriction_of_ability_use_is_a_load_error() {
    let rule = CombatRule {
        on: "AbilityUse".into(),
        restrict: true,
        when: Some("source.Health > 1".into()),
        ..CombatRule::default()
    };
    let e = Effect { rules: vec![rule], ..Effect::infinite("GE_R") };
    let error = base().add(e).build().unwrap_err();
    assert!(error.to_string().contains("remove When"), "{error}");
}
