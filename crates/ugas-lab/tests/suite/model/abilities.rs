//! Random abilities, task lists, ability sets and combat rules.

use super::generate::{CUES, Documents, KEYS, Rng};
use ugas_doc::{
    Ability, AbilitySet, AbilityTask, Cast, Charges, Combat, CombatKind, CombatRule, CombatStyle, CommitPolicy,
    DurationPolicy, Effect, GlobalCooldown, GroupPolicy, Magnitude, Modify, ModifyOperation, OnTargetLost, SetAbility,
    Trigger, Value,
};

pub(crate) const INPUTS: &[&str] = &["Fire", "Jump"];
pub(crate) const EVENTS: &[&str] = &["Event.A", "Event.A.Sub", "Event.B", "Event.Damage.Taken", "Event.Damage.Dealt"];
pub(crate) const KINDS: &[&str] = &["Ability.Spell", "Ability.Spell.Fire", "Ability.Melee"];
pub(crate) const MORE_TAGS: &[&str] = &["Cooldown.A", "Cooldown.B", "State.Moving", "Busy.A", "Busy.B"];

/// The names that the tasks of an ability may use.
struct Names<'a> {
    attributes: &'a [String],
    effects: Vec<String>,
    abilities: &'a [String],
}

/// Abilities, their costs and cooldowns, and ability sets.
pub(crate) fn add(rng: &mut Rng, docs: &mut Documents, names: &[String]) {
    let near: Vec<String> =
        docs.sets[0].attributes.iter().filter(|a| a.derived_from.is_none()).map(|a| a.name.clone()).collect();
    for i in 0..2 {
        docs.effects.push(cost(rng, &format!("GE_Cost{i}"), &near));
        docs.effects.push(cooldown(rng, &format!("GE_Cool{i}"), i));
    }
    let effects = docs.effects.iter().map(|e| e.name.clone()).collect();
    let known = Names { attributes: &near, effects, abilities: names };
    docs.abilities = names.iter().map(|name| ability(rng, name, &known)).collect();
    for i in 0..2 {
        let mut set = AbilitySet::new(format!("AS_{i}"));
        if docs.sets.len() > 1 && rng.percent(40) {
            set.attribute_sets.push(docs.sets[1].name.clone());
        }
        let lasting: Vec<&Effect> =
            docs.effects.iter().filter(|e| e.duration_policy != DurationPolicy::Instant).collect();
        for _ in 0..rng.below(3) {
            if !lasting.is_empty() {
                set.effects.push(rng.pick(&lasting).name.clone());
            }
        }
        for _ in 0..rng.below(3) {
            let mut a = SetAbility::new(rng.pick(names)).level(rng.range(1, 3) as u32);
            a.input_id = rng.percent(40).then(|| INPUTS[0].to_owned());
            set.abilities.push(a);
        }
        docs.ability_sets.push(set);
    }
}

fn cost(rng: &mut Rng, name: &str, near: &[String]) -> Effect {
    let mut e = Effect::instant(name);
    for _ in 0..rng.range(1, 2) {
        let magnitude = if rng.percent(80) {
            Magnitude::value(-rng.number(0, 6))
        } else {
            Magnitude::attribute(rng.pick(near)).of_target().times(-0.1)
        };
        e = e.add(rng.pick(near), magnitude);
    }
    e.application_blocked_tags = rng.tags(10, 1);
    e.granted_tags = rng.tags(10, 1);
    e
}

fn cooldown(rng: &mut Rng, name: &str, i: usize) -> Effect {
    let mut e = Effect::lasting(name, *rng.pick(&[0.3, 0.5, 1.0, 2.0]));
    e.granted_tags = rng.tags(30, 1);
    if rng.percent(80) {
        e.granted_tags.push(["Cooldown.A", "Cooldown.B"][i].to_owned());
    }
    e.application_blocked_tags = rng.tags(8, 1);
    e
}

fn kinds(rng: &mut Rng, percent: usize) -> Vec<String> {
    if rng.percent(percent) { vec![(*rng.pick(KINDS)).to_owned()] } else { Vec::new() }
}

fn ability(rng: &mut Rng, name: &str, known: &Names<'_>) -> Ability {
    let mut a = Ability::new(name);
    a.tags.ability_tags = kinds(rng, 70);
    a.tags.blocked_by_tags = rng.tags(6, 1);
    a.tags.block_abilities_with_tags = kinds(rng, 12);
    a.tags.cancel_abilities_with_tags = rng.tags(15, 1);
    a.tags.cancel_abilities_with_tags.extend(kinds(rng, 12));
    a.tags.activation_required_tags = rng.tags(4, 1);
    a.tags.activation_blocked_tags = rng.tags(6, 1);
    a.tags.activation_owned_tags = rng.tags(15, 2);
    if rng.percent(20) {
        a.tags.activation_owned_tags.push((*rng.pick(&["Busy.A", "Busy.B"])).to_owned());
    }
    a.source_required_tags = rng.tags(4, 1);
    a.target_required_tags = rng.tags(4, 1);
    a.target_blocked_tags = rng.tags(6, 1);
    if rng.percent(30) {
        a.cost = Some(format!("GE_Cost{}", rng.below(2)));
    }
    if rng.percent(35) {
        a.cooldown = Some(format!("GE_Cool{}", rng.below(2)));
    }
    if rng.percent(10) {
        let (x, y) = (rng.tag(), rng.tag());
        let query = match rng.below(3) {
            0 => format!("{x} | !{y}"),
            1 => format!("!({x} & {y})"),
            _ => format!("{x} | {y}"),
        };
        a.activation_query = Some(query);
    }
    if rng.percent(10) {
        let x = rng.pick(known.attributes).clone();
        let tag = rng.tag();
        a.activation_condition = Some(match rng.below(4) {
            0 => format!("{x} > 5"),
            1 => format!("level < 3 || target.{x} > 4"),
            2 => format!("!has_tag(self, {tag}) && source.{x} < 60"),
            _ => format!("param.Power > 1 || has_tag(target, {tag})"),
        });
    }
    if rng.aside(2).percent(5) {
        a.activation_condition = Some("level > 2 || distance() < 4".to_owned());
    }
    if rng.percent(20) {
        a = a.group("Body", *rng.pick(&[GroupPolicy::Exclusive, GroupPolicy::Replaceable, GroupPolicy::Independent]));
    }
    a.avatar_dependent = rng.percent(6);
    a.allow_multiple_instances = rng.percent(12);
    a.retrigger = rng.percent(10);
    a.castable_while_dead = rng.percent(20);
    a.passive = rng.percent(10);
    if rng.percent(8) {
        a = a.validated("Entitlement", rng.percent(50).then_some(500));
    }
    if rng.percent(16) {
        a.max_range = Some(3.0);
    }
    a.held_activation = rng.percent(15);
    if rng.percent(40) {
        triggers(rng, &mut a, known);
    }
    timers(rng, &mut a);
    a.tasks = (0..rng.range(1, 5)).map(|_| task(rng, known, 0)).collect();
    if rng.percent(15) {
        a.commit_policy = CommitPolicy::Manual;
        let at = rng.below(a.tasks.len() + 1);
        a.tasks.insert(at, AbilityTask::new("CommitAbility"));
    }
    if rng.percent(25) {
        a.on_cancel = vec![action(rng, known)];
    }
    if a.cast.is_some() && rng.percent(60) || rng.percent(5) {
        a.on_tick = vec![action(rng, known)];
    }
    if a.cast.is_some() && rng.percent(40) {
        a.on_interrupt = vec![action(rng, known)];
    }
    a
}

fn triggers(rng: &mut Rng, a: &mut Ability, known: &Names<'_>) {
    for _ in 0..rng.range(1, 2) {
        let x = rng.pick(known.attributes).clone();
        a.triggers.push(match rng.below(8) {
            0 => Trigger::event(*rng.pick(EVENTS)),
            1 => Trigger::tag_added(rng.tag()),
            2 => Trigger::tag_present(rng.tag()),
            3..5 => Trigger::below(x, rng.number(5, 50)),
            5..7 => Trigger::above(x, rng.number(5, 60)),
            _ => Trigger::effect_applied(rng.pick(&known.effects)),
        });
    }
    if rng.aside(1).percent(30) {
        a.triggers.push(Trigger::died());
        a.castable_while_dead = true;
    }
    // What sets itself off again must come to rest.
    if rng.percent(90) {
        a.cooldown = Some(format!("GE_Cool{}", rng.below(2)));
    }
}

fn timers(rng: &mut Rng, a: &mut Ability) {
    if rng.percent(15) {
        let group = rng.percent(30).then(|| "Other".to_owned());
        a.global_cooldown = Some(GlobalCooldown { group, length: *rng.pick(&[0.0, 0.5, 1.5]) });
    }
    if rng.percent(15) {
        a.charges = Some(Charges {
            max: rng.range(1, 3) as u32,
            cost: rng.percent(30).then(|| rng.below(3) as u32),
            per_cooldown: rng.percent(30).then_some(2),
            cooldown: *rng.pick(&[0.5, 1.0, 2.0]),
            predict_length: None,
        });
    }
    if rng.percent(15) {
        let mut aside = rng.aside(3);
        let on_target_lost = *aside.pick(&[OnTargetLost::Continue, OnTargetLost::Cancel, OnTargetLost::Complete]);
        let reaches = on_target_lost != OnTargetLost::Continue && aside.percent(60);
        a.cast = Some(Cast {
            length: *rng.pick(&[0.0, 0.5, 1.0, 2.0]),
            ticks: rng.percent(60).then(|| rng.range(1, 3) as u32),
            initial_tick: rng.percent(30),
            cancel_on_release: rng.percent(30),
            cancel_on_input: false,
            interruptible: rng.percent(30).then_some(false),
            while_moving: rng.percent(40).then_some(false),
            on_target_lost,
            max_range: reaches.then(|| a.max_range.unwrap_or(2.0) + 2.0),
            predict_length: None,
            // The model has no clients.
            tick_data: ugas_doc::TickData::Latest,
        });
    }
    for word in ["CastLength", "Cooldown", "Cost", "MaxCharges"] {
        if rng.percent(5) {
            a.static_values.push(word.to_owned());
        }
    }
}

fn list(rng: &mut Rng, known: &Names<'_>, depth: usize, most: usize) -> Vec<AbilityTask> {
    (0..rng.below(most + 1)).map(|_| task(rng, known, depth)).collect()
}

fn task(rng: &mut Rng, known: &Names<'_>, depth: usize) -> AbilityTask {
    match rng.below(100) {
        0..30 => action(rng, known),
        30..70 => wait(rng, known, depth),
        _ if depth >= 2 => wait(rng, known, depth),
        70..80 => AbilityTask::parallel((0..rng.range(1, 4)).map(|_| task(rng, known, depth + 1)).collect::<Vec<_>>()),
        80..90 => AbilityTask::race((0..rng.range(1, 3)).map(|_| task(rng, known, depth + 1)).collect::<Vec<_>>()),
        90..93 => AbilityTask::sequence(list(rng, known, depth + 1, 2)),
        93..96 => AbilityTask::repeat(rng.below(4) as u32, list(rng, known, depth + 1, 2)),
        _ => {
            let test = match rng.below(3) {
                0 => AbilityTask::query(format!("{} | {}", rng.tag(), rng.tag())),
                1 => AbilityTask::when(format!("{} > 10", rng.pick(known.attributes))),
                _ => AbilityTask::when("event.Magnitude > 1 || found > 0 || held > 0.2".to_owned()),
            };
            let mut test = test.then(task(rng, known, depth + 1));
            if rng.percent(60) {
                test = test.otherwise(task(rng, known, depth + 1));
            }
            test
        }
    }
}

fn number(rng: &mut Rng, known: &Names<'_>) -> Value {
    match rng.below(10) {
        0 => Value::Text(format!("{} / 10", rng.pick(known.attributes))),
        1 => Value::Text("level * 2".into()),
        2 => Value::Text("event.Magnitude + 1".into()),
        3 => Value::Text("held + found".into()),
        4 => Value::Text(format!("target.{} * 0.5", rng.pick(known.attributes))),
        5 => Value::Text("param.Power".into()),
        _ => Value::Number(rng.number(-3, 8)),
    }
}

/// One effect by name, or several by tag.
fn effects(rng: &mut Rng, t: AbilityTask, known: &Names<'_>) -> AbilityTask {
    if rng.percent(60) {
        t.param("EffectClass", rng.pick(&known.effects).as_str())
    } else {
        t.param("WithTags", Value::List(vec![Value::Text(rng.tag())]))
    }
}

fn others(rng: &mut Rng, t: AbilityTask, known: &Names<'_>) -> AbilityTask {
    if rng.percent(50) {
        t.param("Ability", rng.pick(known.abilities).as_str())
    } else {
        t.param("WithTags", Value::List(vec![Value::Text((*rng.pick(KINDS)).to_owned())]))
    }
}

fn apply(rng: &mut Rng, kind: &str, known: &Names<'_>) -> AbilityTask {
    let mut t = AbilityTask::new(kind).param("EffectClass", rng.pick(&known.effects).as_str());
    if rng.percent(20) {
        t = t.param("Level", number(rng, known));
    }
    if rng.percent(15) {
        t = t.param("Stacks", number(rng, known));
    }
    if rng.percent(15) {
        t = t.param("Duration", *rng.pick(&[0.0, 0.5, 2.0]));
    }
    if rng.percent(40) {
        t = t.set_by_caller(*rng.pick(KEYS), number(rng, known));
    }
    t
}

/// A task that never waits.
fn action(rng: &mut Rng, known: &Names<'_>) -> AbilityTask {
    let new = AbilityTask::new;
    match rng.below(100) {
        0..26 => apply(rng, "ApplyEffectToOwner", known),
        26..42 => apply(rng, "ApplyEffectToTarget", known),
        42..46 => {
            let mut t = apply(rng, "ApplyEffectToActorsInRadius", known).param("Radius", 4.0);
            if rng.percent(40) {
                t = t.param("IgnoreTargetsWithTag", rng.tag().as_str());
            }
            if rng.percent(40) {
                t = t.param("MaxTargets", 1.0);
            }
            t
        }
        46..54 => {
            let kind = *rng.pick(&["RemoveEffectFromOwner", "RemoveEffectFromTarget"]);
            let t = effects(rng, new(kind), known);
            if rng.percent(30) { t.param("Stacks", 1.0) } else { t }
        }
        54..57 => new("CommitAbility"),
        57..60 => new("EndAbility").param("Cancelled", rng.percent(50)),
        60..64 => others(rng, new("CancelAbility"), known),
        64..76 => {
            let t = new("SendEvent").param("EventTag", *rng.pick(&EVENTS[..3]));
            let t = t.param("To", *rng.pick(&["Owner", "Target", "Targets"]));
            if rng.percent(60) { t.param("Magnitude", number(rng, known)) } else { t }
        }
        76..78 => {
            let mut t =
                new("SetTarget").param("Target", *rng.pick(&["Nearest", "Nearest", "Owner", "Instigator", "Nobody"]));
            if rng.percent(40) {
                t = t.param("Radius", *rng.pick(&[2.0, 4.0]));
            }
            if rng.percent(40) {
                t = t.param("IgnoreTargetsWithTag", rng.tag().as_str());
            }
            t
        }
        78..80 => new("SetParam").param("Name", "Power").param("Value", number(rng, known)),
        80..84 => new("SetRestriction").param("Name", "Locked").param("Active", rng.percent(50)),
        84..88 => new("ExecuteCue").param("Cue", *rng.pick(CUES)),
        88..92 => new("AddCue").param("Cue", *rng.pick(CUES)),
        92..95 => new("RemoveCue").param("Cue", *rng.pick(CUES)),
        95..97 => new("PlayMontage").param("MontageToPlay", "Swing"),
        97..98 => new("SpawnProjectile").param("ProjectileClass", "Arrow").param("Speed", 20.0),
        _ => new("Request").param("Name", "Shake").param("Strength", 2.0),
    }
}

fn wait(rng: &mut Rng, known: &Names<'_>, depth: usize) -> AbilityTask {
    let new = AbilityTask::new;
    let once = |rng: &mut Rng, t: AbilityTask| if rng.percent(30) { t.param("OnlyTriggerOnce", false) } else { t };
    let mut t = match rng.below(100) {
        0..18 => {
            let duration = match rng.below(10) {
                0 => Value::Text("6f".into()),
                1 => Value::Text(format!("{} / 20", rng.pick(known.attributes))),
                _ => Value::Number(*rng.pick(&[0.0, 0.1, 0.25, 0.5, 1.0, 1.0])),
            };
            new("WaitDelay").param("Duration", duration)
        }
        18..22 => new("WaitGameTime").param("Time", *rng.pick(&[0.5, 2.0, 5.0, 9.0])),
        22..32 => {
            let t = new("WaitGameplayEvent").param("EventTag", *rng.pick(EVENTS));
            let mut t = once(rng, t);
            if depth < 2 && rng.percent(40) {
                t.tasks = vec![if rng.percent(50) { action(rng, known) } else { wait(rng, known, 2) }];
            }
            t
        }
        32..37 => new("WaitTagAdded").param("Tag", rng.tag().as_str()),
        37..41 => new("WaitTagRemoved").param("Tag", rng.tag().as_str()),
        41..48 => {
            let t = new("WaitTagChanged").param("Tag", rng.tag().as_str());
            once(rng, t)
        }
        48..52 => new("WaitTagQuery").param("Query", format!("{} & !{}", rng.tag(), rng.tag()).as_str()),
        52..57 => {
            let t = new("WaitAttributeChange").param("Attribute", rng.pick(known.attributes).as_str());
            once(rng, t)
        }
        57..62 => new("WaitAttributeThreshold")
            .param("Attribute", rng.pick(known.attributes).as_str())
            .param("Comparison", *rng.pick(&["LessThan", "LessEqual", "Greater", "GreaterEqual"]))
            .param("Value", number(rng, known)),
        62..67 => effects(rng, new("WaitEffectApplied"), known),
        67..71 => effects(rng, new("WaitEffectRemoved"), known),
        71..75 => others(rng, new("WaitAbilityActivated"), known),
        75..78 => others(rng, new("WaitAbilityCommitted"), known),
        78..82 => others(rng, new("WaitAbilityEnded"), known),
        82..85 => new("WaitInputPressed").param("InputID", *rng.pick(INPUTS)),
        85..88 => new("WaitInputRelease").param("InputID", *rng.pick(INPUTS)),
        88..90 => new("WaitInputRelease"),
        90..92 => new("WaitMontageEnded"),
        92..94 => new("WaitAnimationEvent").param("EventName", "Hit"),
        94..96 => new("WaitTargetData").param("TargetingMethod", "Cursor").param("MaxRange", 5.0),
        96..98 => new("WaitForTarget").param("MaxRange", 5.0),
        _ => new("WaitOverlap").param("Radius", 3.0),
    };
    if rng.percent(15) {
        t = t.param("TimeOut", *rng.pick(&[0.2, 0.5, 3.0]));
    }
    if rng.percent(15) {
        t = t.param("OnFail", *rng.pick(&["Continue", "End", "Cancel"]));
    }
    t
}

/// What makes an effect combat, and what rules it brings.
pub(crate) fn combat(rng: &mut Rng, e: &mut Effect, attributes: &[String], abilities: &[String]) {
    let writes = e.duration_policy == DurationPolicy::Instant || e.period.is_some();
    if writes && rng.percent(25) {
        e.combat = Some(Combat {
            kind: *rng.pick(&[CombatKind::Damage, CombatKind::Damage, CombatKind::Healing, CombatKind::Threat]),
            style: *rng.pick(&[CombatStyle::Direct, CombatStyle::Periodic, CombatStyle::Area]),
            school: rng.percent(50).then(|| "Dmg.Fire".to_owned()),
            mitigation: rng.percent(25).then(|| super::damage::ARMOR.to_owned()),
        });
    }
    if e.duration_policy == DurationPolicy::Instant || !rng.percent(18) {
        return;
    }
    for _ in 0..rng.range(1, 2) {
        let on = *rng.pick(&[
            "CastLength",
            "GlobalCooldown",
            "CooldownLength",
            "ResourceCost",
            "MaxCharges",
            "MaxCharges",
            "MaxCharges",
            "ChargeCost",
            "ChargesPerCooldown",
            "DamageDone",
            "DamageTaken",
            "DamageTaken",
            "HealingDone",
            "HealingTaken",
            "Threat",
            "AbilityUse",
            "Interrupt",
            "BuffApplied",
        ]);
        let mut rule = CombatRule { on: on.into(), stacks: rng.percent(50), ..CombatRule::default() };
        if rng.percent(30) {
            rule.abilities = vec![rng.pick(abilities).clone()];
        }
        if rng.percent(30) {
            rule.ability_tags = kinds(rng, 100);
        }
        let event = ["DamageDone", "DamageTaken", "HealingDone", "HealingTaken", "Threat"].contains(&on);
        if event && rng.percent(20) {
            rule.attribute = Some(rng.pick(attributes).clone());
        }
        if (event || on == "BuffApplied") && rng.percent(40) {
            rule.when = Some(match rng.below(4) {
                0 => format!("has_tag(event, {})", rng.tag()),
                1 => "event.Amount > 5 && !event.Direct".to_owned(),
                2 => format!("source.{} > 5", rng.pick(attributes)),
                _ => format!("has_tag(target, {}) || stacks > 1", rng.tag()),
            });
        }
        let permission = ["AbilityUse", "Interrupt", "BuffApplied"].contains(&on);
        if permission || event && rng.percent(15) {
            rule.restrict = true;
            rule.stacks = false;
            // A restriction stops the whole event; one of an attribute is a load error.
            rule.attribute = None;
        } else if rng.percent(50) {
            rule.modify = Some(Modify {
                operation: ModifyOperation::Add,
                value: Some(*rng.pick(&[-1.0, -0.5, 0.5, 1.0, 2.0])),
                factor: None,
            });
        } else {
            rule.modify = Some(Modify {
                operation: ModifyOperation::Multiply,
                value: None,
                factor: Some(*rng.pick(&[0.0, 0.5, 0.9, 1.25, 2.0])),
            });
        }
        e.rules.push(rule);
    }
}
