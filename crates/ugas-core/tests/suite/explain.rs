//! Explanations show how a value is computed; evaluating the lines of an explanation gives the same bits.

use crate::kit::Rng;
use crate::kit::world::World;
use ugas_core::{ControllerId, Explanation, ModifierState, Rules, Spec};
use ugas_doc::{Aggregation, Attribute, AttributeSet, Effect, Magnitude, Modifier, Operation, Origin, Stacking};

/// A world, its hero, and the smith who gave the hero the sword.
fn sword_world() -> (World, ControllerId, ControllerId) {
    let mut at = Origin::new("packs/arpg/effect_weapon_fire_sword.yaml", 2);
    at.modifier_lines = [7].into();
    let mut w = World::new(
        Rules::builder()
            .add(
                AttributeSet::new("Arpg")
                    .with(Attribute::new("Strength", 50.0))
                    .with(Attribute::new("WeaponDamage", 10.0).min(0.0)),
            )
            .add_at(
                Effect::infinite("GE_MainStat_Strength").multiply_in(
                    "WeaponDamage",
                    Magnitude::attribute("Strength").times(0.01),
                    "MainStat",
                ),
                Origin::new("packs/arpg/effect_main_stat.yaml", 4),
            )
            .add_at(Effect::infinite("GE_Weapon_FireSword").multiply_in("WeaponDamage", 0.2, "DamageBonuses"), at),
    );
    let (hero, smith) = (w.spawn("Arpg"), w.spawn("Arpg"));
    w.hit("GE_MainStat_Strength", hero, hero);
    let spec = w.spec("GE_Weapon_FireSword", hero).from(smith).level(3);
    w.sim.apply(&spec).unwrap();
    (w, hero, smith)
}

// covers: OWN-01
#[test]
fn the_explanation_of_the_fire_sword_lists_its_18_damage() {
    let (w, hero, smith) = sword_world();
    let e = w.sim.explain(hero, w.attr("WeaponDamage")).unwrap();
    assert_eq!(e.value, 18.0);
    assert_eq!(e.base, 10.0);
    let part = |channel: &str| e.channels.iter().find(|c| c.name.as_deref() == Some(channel)).unwrap();
    for (channel, factor, effect, file, line, level, by) in [
        ("MainStat", 1.5, "GE_MainStat_Strength", "packs/arpg/effect_main_stat.yaml", 4, 1, hero),
        ("DamageBonuses", 1.2, "GE_Weapon_FireSword", "packs/arpg/effect_weapon_fire_sword.yaml", 7, 3, smith),
    ] {
        let c = part(channel);
        assert_eq!(c.factor, factor);
        assert_eq!(c.lines.len(), 1);
        let l = &e.lines[c.lines[0]];
        assert_eq!((l.effect_name.as_str(), l.level, l.source), (effect, level, by));
        let origin = l.origin.as_ref().unwrap();
        assert_eq!((&*origin.file, origin.line), (file, line));
    }
    let follows = &e.lines[part("MainStat").lines[0]].follows;
    assert_eq!(follows.as_ref(), Some(&("Strength".to_owned(), 50.0)));
    let text = e.to_string();
    for wanted in
        ["× 1.5 (MainStat: GE_MainStat_Strength)", "× 1.2 (DamageBonuses: GE_Weapon_FireSword)", "sword.yaml:7"]
    {
        assert!(text.contains(wanted), "{wanted} is not in\n{text}");
    }
    assert!(e.short().starts_with("WeaponDamage 18 = 10 × "), "{}", e.short());
}

/// Computes the value from the lines of an explanation alone.
fn replay(e: &Explanation) -> f64 {
    let strongest = e.aggregation == Aggregation::StrongestMultiply;
    let least = if e.aggregation == Aggregation::NonNegative { 0.0 } else { f64::NEG_INFINITY };
    let counts = |op: Operation| e.lines.iter().filter(move |l| l.operation == op && l.state == ModifierState::Counts);
    let add = counts(Operation::Add).fold(0.0, |sum, l| sum + l.magnitude);
    let post = counts(Operation::AddPost).fold(0.0, |sum, l| sum + l.magnitude);
    let mut product = 1.0;
    let (mut channel, mut factor) = (None, 1.0_f64);
    for l in counts(Operation::Multiply) {
        if strongest || l.channel.is_none() || l.channel != channel {
            product *= factor.max(least);
            (channel, factor) = (l.channel.clone(), 1.0);
        }
        factor += l.magnitude;
    }
    product *= factor.max(least);
    let over = counts(Operation::Override).next().map(|l| l.magnitude);
    assert_eq!((add, post, over), (e.add, e.post, e.over), "{e}");
    let value = over.unwrap_or((e.base + add).max(least) * product + post);
    let (lo, hi) = e.bounds;
    value.min(hi).max(lo) + 0.0
}

fn random_effect(dice: &mut Rng, n: usize) -> Effect {
    let mut e = Effect::infinite(format!("GE_{n}")).priority(dice.below(3) as i32);
    for _ in 0..=dice.below(3) {
        let attribute = ["A", "B", "Strong", "Least"][dice.below(4)];
        // Overrides are rare, or little else would be seen.
        let kinds = if dice.below(6) == 0 { 5 } else { 4 };
        let op = [Operation::Add, Operation::Multiply, Operation::Multiply, Operation::AddPost, Operation::Override]
            [dice.below(kinds)];
        let magnitude = match dice.below(4) {
            0 => Magnitude::attribute("Power").times(dice.between(-0.3, 0.3)),
            _ => Magnitude::value(dice.between(-0.9, 1.7)),
        };
        let mut m = Modifier::new(attribute, op, magnitude);
        if op == Operation::Multiply && dice.below(3) > 0 {
            m = m.channel(["Gear", "Skill", "Aura"][dice.below(3)]);
        }
        if dice.below(5) == 0 {
            m = m.target_tag("State.Raging");
        }
        e = e.modify(m);
    }
    match dice.below(4) {
        0 => e.stacking(Stacking { limit: Some(5), ..Stacking::default() }),
        1 => {
            let mut held = e;
            held.ongoing_blocked_tags = vec!["State.Silenced".into()];
            held
        }
        _ => e,
    }
}

// covers: OWN-01
#[test]
fn recomputing_the_explained_lines_gives_the_value_bit_for_bit() {
    // The worked example first: 10 × 1.50 (MainStat) × 1.20 (DamageBonuses).
    let (w, hero, _) = sword_world();
    let e = w.sim.explain(hero, w.attr("WeaponDamage")).unwrap();
    assert_eq!((replay(&e), e.base, e.add, e.post, e.over), (18.0, 10.0, 0.0, 0.0, None));
    let mut named: Vec<(&str, f64, &str)> = e
        .channels
        .iter()
        .map(|c| (c.name.as_deref().unwrap_or(""), c.factor, e.lines[c.lines[0]].effect_name.as_str()))
        .collect();
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    assert_eq!(named, [("MainStat", 1.5, "GE_MainStat_Strength"), ("DamageBonuses", 1.2, "GE_Weapon_FireSword")]);
    for seed in 0..60 {
        let mut dice = Rng(seed);
        let mut builder = Rules::builder()
            .add(
                AttributeSet::new("S")
                    .with(Attribute::new("Power", 3.7))
                    .with(Attribute::new("Cap", 60.0))
                    .with(Attribute::new("A", 17.3))
                    .with(Attribute::new("B", 11.1).min(-5.0).max("Cap"))
                    .with(Attribute::new("Strong", 9.3).strongest_wins())
                    .with(Attribute::new("Least", 0.4).non_negative()),
            )
            .add(Effect::infinite("GE_Rage").grants("State.Raging").add("Power", 0.77))
            .add(Effect::infinite("GE_Silence").grants("State.Silenced"));
        for n in 0..8 {
            builder = builder.add(random_effect(&mut dice, n));
        }
        let mut w = World::new(builder);
        let who = w.spawn("S");
        for step in 0..40 {
            let effect = match dice.below(10) {
                8 => w.effect("GE_Rage"),
                9 => w.effect("GE_Silence"),
                n => w.effect(&format!("GE_{n}")),
            };
            let _ = w.sim.apply(&Spec::new(effect, who).from(who).stacks(1 + dice.below(2) as u32));
            let active = w.sim.effects(who).unwrap();
            if dice.below(3) == 0 && !active.is_empty() {
                w.sim.remove(active[dice.below(active.len())].key).unwrap();
            }
            for name in ["Power", "A", "B", "Strong", "Least"] {
                let attribute = w.attr(name);
                let (e, shown) = (w.sim.explain(who, attribute).unwrap(), w.sim.get(who, attribute).unwrap());
                let place = format!("seed {seed} step {step} {name}\n{e}");
                assert_eq!(e.value.to_bits(), shown.to_bits(), "explain and get differ: {place}");
                let replayed = replay(&e);
                assert_eq!(replayed.to_bits(), shown.to_bits(), "replayed {replayed}: {place}");
                let product = e.channels.iter().fold(1.0, |p, c| p * c.factor);
                assert!((product - e.product).abs() < 1e-9, "channels give {product}, not {}: {place}", e.product);
                assert_eq!(e.base, w.sim.base(who, attribute).unwrap(), "{place}");
                assert_eq!(e.bounds, w.sim.bounds(who, attribute).unwrap(), "{place}");
            }
        }
    }
}

#[test]
fn a_sum_and_a_factor_below_zero_are_explained_as_zero() {
    let mut w = World::new(
        Rules::builder()
            .add(AttributeSet::new("S").with(Attribute::new("Haste", 1.0).non_negative()))
            .add(Effect::infinite("GE_Slow").add("Haste", -5.0))
            .add(Effect::infinite("GE_Halt").multiply("Haste", -3.0))
            .add(Effect::infinite("GE_Bonus").modify(Modifier::new("Haste", Operation::AddPost, 0.5))),
    );
    let who = w.spawn("S");
    let slow = w.apply("GE_Slow", who);
    let e = w.sim.explain(who, w.attr("Haste")).unwrap();
    assert_eq!((e.value, e.add, e.bounds.0), (0.0, -5.0, 0.0));
    assert_eq!(e.short(), "Haste 0 = 0 (1 + -5 is below 0)");
    w.apply("GE_Bonus", who);
    assert_eq!(w.sim.get(who, w.attr("Haste")), Ok(0.5), "the sum counts as 0");
    w.sim.remove(slow).unwrap();
    w.apply("GE_Halt", who);
    let e = w.sim.explain(who, w.attr("Haste")).unwrap();
    assert_eq!((e.value, e.product, e.channels[0].factor), (0.5, 0.0, 0.0));
    assert!(e.to_string().contains("not negative"), "{e}");
}

#[test]
fn ignored_modifiers_are_explained_with_the_reason() {
    let mut held = Effect::infinite("GE_Held").add("A", 1.0);
    held.ongoing_required_tags = vec!["State.Raging".into()];
    let mut w = World::new(
        Rules::builder()
            .add(AttributeSet::new("S").with(Attribute::new("A", 10.0).max(50.0)))
            .add(Effect::infinite("GE_Rage").grants("State.Raging"))
            .add(held)
            .add(
                Effect::infinite("GE_Filtered")
                    .modify(Modifier::new("A", Operation::Add, 2.0).target_tag("State.Raging")),
            )
            .add(Effect::infinite("GE_Low").set("A", 70.0).priority(1))
            .add(Effect::infinite("GE_High").set("A", 80.0).priority(2)),
    );
    let who = w.spawn("S");
    for effect in ["GE_Held", "GE_Filtered", "GE_High", "GE_Low"] {
        w.apply(effect, who);
    }
    let e = w.sim.explain(who, w.attr("A")).unwrap();
    let state = |name: &str| e.lines.iter().find(|l| l.effect_name == name).unwrap().state;
    assert_eq!(state("GE_Held"), ModifierState::Inhibited);
    assert_eq!(state("GE_Filtered"), ModifierState::Filtered);
    assert_eq!(state("GE_Low"), ModifierState::Hidden);
    assert_eq!(state("GE_High"), ModifierState::Counts);
    assert_eq!((e.value, e.over, e.bounds.1), (50.0, Some(80.0), 50.0));
    assert_eq!(e.short(), "A 50 = 80 (override: GE_High), clamped between -inf and 50");
    w.apply("GE_Rage", who);
    let e = w.sim.explain(who, w.attr("A")).unwrap();
    assert!(e.lines.iter().filter(|l| l.operation == Operation::Add).all(|l| l.state == ModifierState::Counts));
    assert_eq!(e.add, 3.0);
}
