//! The calculations that the shipped packs name, as host code. A host that plays these packs registers the same ones;
//! any other name gets a stand-in, so that a scenario runs without the game it belongs to.

use ugas_core::{Calc, Read, RulesBuilder};

/// The calculations of the shipped packs.
///
/// ```
/// assert!(ugas_lab::CALCULATIONS.contains(&"ExecCalc_VehicleTraction"));
/// ```
pub const CALCULATIONS: [&str; 4] =
    ["ExecCalc_HitResolution", "ExecCalc_MagazineReload", "ExecCalc_VehicleTraction", "MMC_ShotInterval"];

/// Registers one of [`CALCULATIONS`] in a host's own rules; another name leaves the builder as it is.
///
/// ```
/// use ugas_core::Rules;
/// use ugas_doc::{Attribute, AttributeSet};
/// let gun = AttributeSet::new("Gun").with(Attribute::new("FireRate", 10.0));
/// let rules = ugas_lab::with_calculation(Rules::builder().add(gun), "MMC_ShotInterval").build().unwrap();
/// assert!(rules.calculator("MMC_ShotInterval").is_some());
/// ```
pub fn with_calculation(builder: RulesBuilder, name: &str) -> RulesBuilder {
    match name {
        "ExecCalc_HitResolution" => {
            let reads = [
                Read::source("WeaponDamage"),
                Read::source("EffectiveRange"),
                Read::source("HeadshotMultiplier"),
                Read::target("Shield"),
            ];
            builder.calc_fn(name, reads, hit_resolution)
        }
        "ExecCalc_MagazineReload" => {
            builder.calc_fn(name, ["MagazineSize", "Ammo", "ReserveAmmo"].map(Read::target), magazine_reload)
        }
        "ExecCalc_VehicleTraction" => {
            let reads = ["TireGripMultiplier", "AeroDownforce", "CurrentSpeed", "TireTemperature"];
            builder.calc_fn(name, reads.map(Read::target), vehicle_traction)
        }
        "MMC_ShotInterval" => builder.calc_fn(name, [Read::target("FireRate")], shot_interval),
        _ => builder,
    }
}

/// What stands under a name that host code provides: the calculation of a shipped pack, or nothing read and 0 given.
pub(crate) fn provide(builder: RulesBuilder, name: &str) -> RulesBuilder {
    if CALCULATIONS.contains(&name) {
        with_calculation(builder, name)
    } else {
        builder.calc_fn(name, [], |cx| cx.give(0.0))
    }
}

/// Full damage up to the effective range, none at twice that; the head counts more, the own side and the immune take
/// nothing; what the shield does not take goes to health.
fn hit_resolution(cx: &mut Calc<'_>) {
    let range = cx.source("EffectiveRange");
    let beyond = (cx.hit().and_then(|h| h.distance).unwrap_or(0.0) - range).max(0.0);
    let falloff = if beyond > 0.0 { (1.0 - beyond / range).max(0.0) } else { 1.0 };
    let zone = if cx.hit_has("Hitzone.Head") { cx.source("HeadshotMultiplier") } else { 1.0 };
    let same_side = ["Team.Friendly", "Team.Hostile"].into_iter().any(|t| cx.source_has(t) && cx.target_has(t));
    let spared = same_side || cx.target_has("Immunity.Ballistic");
    let damage = if spared { 0.0 } else { cx.source("WeaponDamage") * falloff * zone };
    let absorbed = damage.min(cx.target("Shield"));
    cx.set("EffectiveDamage", damage);
    cx.add("Shield", -absorbed);
    cx.add("Health", absorbed - damage);
}

/// As many rounds as fit and as there are.
fn magazine_reload(cx: &mut Calc<'_>) {
    let fit = cx.target("MagazineSize") - cx.target("Ammo");
    let moved = fit.min(cx.target("ReserveAmmo")).max(0.0);
    cx.add("Ammo", moved);
    cx.add("ReserveAmmo", -moved);
}

/// Grip, pressed on the road by downforce with the square of the speed, at the tyres' temperature.
fn vehicle_traction(cx: &mut Calc<'_>) {
    let speed = cx.target("CurrentSpeed");
    let pressed = 1.0 + cx.target("AeroDownforce") * speed * speed / 100_000.0;
    let traction = cx.target("TireGripMultiplier") * pressed * warmth(cx.target("TireTemperature"));
    cx.set("AvailableTraction", traction);
}

/// How well tyres hold at a temperature: best from 80 to 100 degrees.
fn warmth(temperature: f64) -> f64 {
    match temperature {
        t if t < 80.0 => 0.7 + t / 80.0 * 0.3,
        t if t <= 100.0 => 1.0,
        t => 1.0 - (t - 100.0) / 50.0 * 0.3,
    }
}

/// Seconds between two shots; a weapon that does not fire has none.
fn shot_interval(cx: &mut Calc<'_>) {
    let rate = cx.target("FireRate");
    cx.give(if rate > 0.0 { 1.0 / rate } else { 0.0 });
}
