//! The specification's calculations as Rust code, under its names.

use ugas_core::{Calc, Read, RulesBuilder};
use ugas_doc::{Attribute, AttributeSet};

/// `attack × (1 − e / (e + 100))` with `e = max(0, armor − pen)`.
pub(crate) fn physical_damage(builder: RulesBuilder) -> RulesBuilder {
    let reads = [Read::source("AttackPower"), Read::source("ArmorPenetration"), Read::target("Armor")];
    builder.calc_fn("ExecCalc_PhysicalDamage", reads, |cx| {
        let effective = (cx.target("Armor") - cx.source("ArmorPenetration")).max(0.0);
        let damage = cx.source("AttackPower") * (1.0 - effective / (effective + 100.0));
        cx.add("Health", -damage);
    })
}

/// Flat and percentage penetration, critical hits and damage reduction.
pub(crate) fn armor_penetration(builder: RulesBuilder) -> RulesBuilder {
    let reads = [
        Read::source("AttackPower"),
        Read::source("FlatPenetration"),
        Read::source("PercentPenetration"),
        Read::source("CriticalChance"),
        Read::source("CriticalDamage"),
        Read::target("Armor"),
        Read::target("DamageReduction"),
    ];
    builder.calc_fn("ExecCalc_ArmorPenetration", reads, |cx| {
        let flat = (cx.target("Armor") - cx.source("FlatPenetration")).max(0.0);
        let armor = flat * (1.0 - cx.source("PercentPenetration"));
        let mut damage = cx.source("AttackPower") * (1.0 - armor / (armor + 100.0));
        let rolled = cx.random();
        if rolled < cx.source("CriticalChance") {
            damage *= cx.source("CriticalDamage");
            cx.tag_context("Hit.Critical");
        }
        damage *= 1.0 - cx.target("DamageReduction");
        cx.add("Health", -damage);
        cx.set("LastRoll", rolled);
    })
}

/// The sets the damage calculations read and write.
pub(crate) fn combat_set() -> AttributeSet {
    let zero = |name: &str| Attribute::new(name, 0.0);
    AttributeSet::new("Combat")
        .with(Attribute::new("Health", 1000.0).min(0.0))
        .with(zero("AttackPower"))
        .with(zero("ArmorPenetration"))
        .with(zero("FlatPenetration"))
        .with(zero("PercentPenetration"))
        .with(zero("CriticalChance"))
        .with(Attribute::new("CriticalDamage", 2.0))
        .with(zero("Armor"))
        .with(zero("DamageReduction"))
        .with(zero("LastRoll"))
}

/// How well tyres hold at a temperature.
pub(crate) fn temperature_factor(temperature: f64) -> f64 {
    match temperature {
        t if t < 80.0 => 0.7 + t / 80.0 * 0.3,
        t if t <= 100.0 => 1.0,
        t => 1.0 - (t - 100.0) / 50.0 * 0.3,
    }
}

/// Grip, downforce and temperature give the traction there is.
pub(crate) fn vehicle_traction(builder: RulesBuilder) -> RulesBuilder {
    let reads = ["TireGrip", "Downforce", "CurrentSpeed", "TireTemperature"].map(Read::target);
    builder.calc_fn("ExecCalc_VehicleTraction", reads, |cx| {
        let speed = cx.target("CurrentSpeed");
        let pressed = 1.0 + cx.target("Downforce") * speed * speed / 100_000.0;
        let traction = cx.target("TireGrip") * pressed * temperature_factor(cx.target("TireTemperature"));
        cx.set("AvailableTraction", traction);
    })
}

pub(crate) fn vehicle_set() -> AttributeSet {
    ["TireGrip", "Downforce", "CurrentSpeed", "TireTemperature", "AvailableTraction"]
        .into_iter()
        .fold(AttributeSet::new("Vehicle"), |set, name| set.with(Attribute::new(name, 0.0)))
}

/// Weapon damage, a fifth more against the vulnerable.
pub(crate) fn arpg_damage(builder: RulesBuilder) -> RulesBuilder {
    builder.calc_fn("ExecCalc_ARPGDamage", [Read::source("WeaponDamage")], |cx| {
        let bonus = if cx.target_has("Status.Vulnerable") { 0.2 } else { 0.0 };
        let damage = cx.source("WeaponDamage") * (1.0 + bonus);
        cx.add("Health", -damage);
    })
}

/// Reloading and hits of the shooter pack.
pub(crate) fn shooter(builder: RulesBuilder) -> RulesBuilder {
    let reads = ["MagazineSize", "Ammo", "ReserveAmmo"].map(Read::target);
    let builder = builder.calc_fn("ExecCalc_MagazineReload", reads, |cx| {
        let moved = (cx.target("MagazineSize") - cx.target("Ammo")).min(cx.target("ReserveAmmo"));
        cx.add("Ammo", moved);
        cx.add("ReserveAmmo", -moved);
    });
    let reads = [
        Read::source("WeaponDamage"),
        Read::source("EffectiveRange"),
        Read::source("HeadshotMultiplier"),
        Read::target("Shield"),
    ];
    builder.calc_fn("ExecCalc_HitResolution", reads, hit_resolution)
}

fn hit_resolution(cx: &mut Calc<'_>) {
    let range = cx.source("EffectiveRange");
    let beyond = (cx.hit().and_then(|h| h.distance).unwrap_or(0.0) - range).max(0.0);
    let falloff = (1.0 - beyond / range).max(0.0);
    let zone = if cx.hit_has("Hitzone.Head") { cx.source("HeadshotMultiplier") } else { 1.0 };
    let immune = if cx.target_has("Immunity.Ballistic") { 0.0 } else { 1.0 };
    let damage = cx.source("WeaponDamage") * falloff * zone * immune;
    let absorbed = damage.min(cx.target("Shield"));
    cx.set("EffectiveDamage", damage);
    cx.add("Shield", -absorbed);
    cx.add("Health", absorbed - damage);
}

pub(crate) fn shooter_set() -> AttributeSet {
    AttributeSet::new("Shooter")
        .with(Attribute::new("Health", 100.0).min(0.0))
        .with(Attribute::new("Shield", 0.0).min(0.0))
        .with(Attribute::new("WeaponDamage", 25.0))
        .with(Attribute::new("EffectiveRange", 50.0))
        .with(Attribute::new("HeadshotMultiplier", 2.0))
        .with(Attribute::new("MagazineSize", 30.0))
        .with(Attribute::new("Ammo", 30.0).min(0.0))
        .with(Attribute::new("ReserveAmmo", 90.0).min(0.0))
        .with(Attribute::new("EffectiveDamage", 0.0))
}
