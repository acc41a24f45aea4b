//! Random rules: two attribute sets, effects of every policy, abilities with costs, cooldowns, charges, casts and
//! triggers, a calculation that rolls, one effect whose presence can be counted, and capability sets (`sets`).

use super::{dice::Dice, sets};
use std::sync::Arc;
use ugas_core::Rules;
use ugas_doc::{
    Ability, AbilityTask, Attribute, AttributeSet, Calculation, CalculationResult, ConditionalEffects, Effect,
    ExecutionPolicy, Magnitude, OnExpire, OnStack, ReplicationMode, StackBy, Stacking, Trigger,
};

pub(crate) const TAGS: [&str; 5] = ["State.Hot", "State.Cold", "State.Fast", "Team.Red", "Mood"];
pub(crate) const CUES: [&str; 2] = ["GameplayCue.Glow", "GameplayCue.Smoke"];
/// The duration of the counted effect.
pub(crate) const MARK_SECONDS: f64 = 0.7;

/// The rules and the names of what is random in them.
pub(crate) struct Made {
    pub(crate) rules: Arc<Rules>,
    pub(crate) attributes: Vec<String>,
    pub(crate) effects: Vec<String>,
    pub(crate) abilities: Vec<String>,
}

/// Creates random rules; with `set_dice` they also have random capability sets.
pub(crate) fn rules(dice: &mut Dice, set_dice: Option<&mut Dice>) -> Made {
    let mut core = AttributeSet::new("Core")
        .with(Attribute::new("Health", 1000.0).min(0.0).max(1000.0))
        .with(Attribute::new("Mana", 500.0).min(0.0).max(500.0))
        .with(Attribute::new("Mark", 0.0));
    let mut attributes = vec!["Health".to_owned(), "Mana".to_owned()];
    for i in 0..1 + dice.roll(4) {
        let name = format!("A{i}");
        core = core.with(attribute(dice, &name));
        attributes.push(name);
    }
    let mut item = AttributeSet::new("Item").with(Attribute::new("Armor", 20.0)).with(Attribute::new("Luck", 3.0));
    item.attributes[1].replication_mode = *dice.pick(&MODES);
    let effects: Vec<String> = (0..6 + dice.roll(7)).map(|i| format!("GE_{i}")).collect();
    let abilities: Vec<String> = (0..3 + dice.roll(5)).map(|i| format!("GA_{i}")).collect();
    let mut builder = Rules::builder()
        .add(core)
        .add(item)
        .add(
            Calculation::new("Calc_Hit")
                .bind("crit", "roll(0.5)")
                .result(CalculationResult::add("Health", "-5 - 10 * crit")),
        )
        .add(Effect::instant("GE_Cost").add("Mana", -3.0))
        .add(Effect::instant("GE_Roll").execute("Calc_Hit"))
        .add(Effect::infinite("GE_Worn").add("Armor", 7.0).grants("State.Worn"))
        .add(Effect::lasting("GE_Mark", MARK_SECONDS).add("Mark", 1.0))
        // No op of the server prevents it, so its prediction is confirmed.
        .add(Ability::new("GA_Mark").task(to_owner("GE_Mark")));
    for (i, name) in effects.iter().enumerate() {
        builder = builder.add(effect(dice, name, &attributes, &effects[i + 1..]));
    }
    for (i, name) in abilities.iter().enumerate() {
        let wait = format!("GE_Wait{i}");
        builder = builder.add(Effect::lasting(&wait, 0.1 + 0.2 * dice.roll(6) as f64).grants(format!("Cooldown.C{i}")));
        builder = builder.add(ability(dice, name, &wait, &effects));
    }
    if let Some(set_dice) = set_dice {
        builder = sets::add(set_dice, builder, &attributes);
    }
    Made { rules: builder.build().unwrap(), attributes, effects, abilities }
}

pub(crate) const MODES: [ReplicationMode; 3] =
    [ReplicationMode::All, ReplicationMode::OwnerOnly, ReplicationMode::None];

pub(crate) fn attribute(dice: &mut Dice, name: &str) -> Attribute {
    let mut a = match dice.roll(5) {
        0 => Attribute::derived(name, "Mana * 0.5 + 3"),
        1 => Attribute::new(name, 50.0).strongest_wins(),
        2 => Attribute::new(name, 80.0).min(0.0).max(100.0),
        _ => Attribute::new(name, 10.0),
    };
    a.replication_mode = *dice.pick(&MODES);
    a
}

fn to_owner(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect)
}

fn to_target(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

/// An effect that may cause only `later` ones.
pub(crate) fn effect(dice: &mut Dice, name: &str, attributes: &[String], later: &[String]) -> Effect {
    let length = *dice.pick(&[0.3, 0.75, 1.2, 2.0, 3.5]);
    let mut e = match dice.roll(10) {
        0..4 => Effect::instant(name),
        4..9 => Effect::lasting(name, length),
        _ => Effect::infinite(name),
    };
    for _ in 0..1 + dice.roll(2) {
        let of = dice.pick(attributes).clone();
        e = match dice.roll(6) {
            0 => e.multiply_in(of, 0.1, "Gear"),
            1 => e.multiply(of, -0.2),
            2 => e.add(of, Magnitude::attribute("Mana").times(0.01)),
            3 => e.add_post(of, 4.0),
            _ => e.add(of, dice.roll(21) as f64 - 10.0),
        };
    }
    let lasts = e.duration.is_some() || e.duration_policy != Effect::instant("").duration_policy;
    if lasts && dice.percent(35) {
        e = if dice.percent(50) { e.every(0.25) } else { e.every_and_now(0.4) };
    }
    if lasts && dice.percent(40) {
        e = e.grants(*dice.pick(&TAGS));
    }
    if dice.percent(25) {
        e = e.cue(*dice.pick(&CUES));
    }
    if lasts {
        match dice.roll(10) {
            0 => e.execution_policy = ExecutionPolicy::RunInSequence,
            1 => e.execution_policy = ExecutionPolicy::RunInMerge,
            2..5 => {
                e = e.stacking(Stacking {
                    by: *dice.pick(&[StackBy::Source, StackBy::Target]),
                    limit: Some(1 + dice.roll(4) as u32),
                    on_stack: *dice.pick(&[OnStack::RefreshDuration, OnStack::KeepDuration]),
                    on_expire: *dice.pick(&[OnExpire::ClearAll, OnExpire::RemoveOne]),
                    ..Stacking::default()
                });
            }
            5 => e.ongoing_blocked_tags.push((*dice.pick(&TAGS)).into()),
            _ => {}
        }
    }
    if dice.percent(12) {
        e.remove_effects_with_tags.push((*dice.pick(&TAGS)).into());
    }
    if dice.percent(12) {
        e.application_blocked_tags.push((*dice.pick(&TAGS)).into());
    }
    if !later.is_empty() && dice.percent(25) {
        let one = vec![dice.pick(later).clone()];
        e.effects = Some(match dice.roll(3) {
            0 => ConditionalEffects { on_applied: one, ..ConditionalEffects::default() },
            1 => ConditionalEffects { on_expired: one, ..ConditionalEffects::default() },
            _ => ConditionalEffects { on_removed: one, ..ConditionalEffects::default() },
        });
    }
    if e.stacking.is_some() || e.execution_policy == ExecutionPolicy::RunInMerge {
        // An application that would remove the instance it stacks on.
        e.remove_effects_with_tags.clear();
    }
    e
}

pub(crate) fn ability(dice: &mut Dice, name: &str, wait: &str, effects: &[String]) -> Ability {
    let mut a = Ability::new(name).tag("Ability.Random");
    if dice.percent(60) {
        a = a.cost("GE_Cost");
    }
    match dice.roll(4) {
        0 => a = a.charges(1 + dice.roll(3) as u32, 0.6),
        1 => a = a.gcd(0.4),
        _ => a = a.cooldown(wait),
    }
    if dice.percent(30) {
        a = a.owned(*dice.pick(&TAGS));
    }
    if dice.percent(20) {
        a = a.blocked(*dice.pick(&TAGS));
    }
    if dice.percent(25) {
        let wait = AbilityTask::new("WaitDelay").param("Duration", *dice.pick(&[0.05, 0.3, 0.8]));
        // Clients apply some of the effects themselves.
        a = a.task(effects.iter().step_by(2).fold(wait, |wait, effect| wait.client_effect(effect, 2, 1)));
    }
    for _ in 0..1 + dice.roll(2) {
        let effect = if dice.percent(20) { "GE_Roll".to_owned() } else { dice.pick(effects).clone() };
        a = a.task(if dice.percent(60) { to_owner(&effect) } else { to_target(&effect) });
    }
    if dice.percent(20) {
        a = a.cooldown(wait).trigger(match dice.roll(3) {
            0 => Trigger::tag_added(*dice.pick(&TAGS)),
            1 => Trigger::event("Event.Ping"),
            _ => Trigger::below("Health", 500.0),
        });
    }
    a
}
