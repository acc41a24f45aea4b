//! The packs have the names and numbers of the specification: defaults, bounds, registries and example controllers. The
//! test also lists what would be missing without this project's additions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_core::{BoundDef, Rules, Severity, Sim, SimConfig, SpawnSpec, Spec};
use ugas_data::{Loaded, read_packs};
use ugas_doc::{Category, Doc, Effect, TagRegistry};
use ugas_lab::load_pack;

const PACKS: [&str; 6] = ["action", "arena", "mmo", "racing", "rpg", "shooter"];

fn folder(pack: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(pack)
}

fn rules(pack: &str) -> Arc<Rules> {
    load_pack(folder(pack)).unwrap_or_else(|e| panic!("{pack}: {e:?}"))
}

/// The documents of a pack and of its required packs.
fn docs(pack: &str) -> Vec<Loaded> {
    let packs = read_packs([folder(pack)]).unwrap();
    packs.into_iter().flat_map(|p| p.documents.docs).collect()
}

/// The first registry of a pack's own `tags.yaml`.
fn registry(pack: &str) -> TagRegistry {
    let own = read_packs([folder(pack)]).unwrap().pop().unwrap();
    let registries = own.documents.docs.into_iter().filter_map(|d| match d.doc {
        Doc::TagRegistry(r) => Some(r),
        _ => None,
    });
    *registries.into_iter().next().unwrap()
}

use Category::{Meta, Resource, Statistic};

/// Name, default, category, lower bound, upper bound.
type Row = (&'static str, f64, Category, &'static str, &'static str);

fn bound(rules: &Rules, bound: BoundDef) -> String {
    match bound {
        BoundDef::Open => String::new(),
        BoundDef::Value(v) => v.to_string(),
        BoundDef::Attribute(a) => rules.attribute_name(a).unwrap().to_owned(),
    }
}

#[track_caller]
fn holds(pack: &str, set: &str, rows: &[Row]) {
    let rules = rules(pack);
    let found = rules.set_attributes(rules.set(set).unwrap()).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|a| {
            let name = rules.attribute_name(a.attribute).unwrap().to_owned();
            (name, a.default, a.category, bound(&rules, a.min), bound(&rules, a.max))
        })
        .collect();
    let wanted: Vec<_> =
        rows.iter().map(|(name, v, c, min, max)| ((*name).to_owned(), *v, *c, (*min).into(), (*max).into())).collect();
    assert_eq!(found, wanted);
}

// covers: UGAS-15.1-01, UGAS-PACK.ACT-01
#[test]
fn the_platformer_has_twelve_attributes() {
    let rows: [Row; 12] = [
        ("GravityScale", 1.0, Statistic, "", ""),
        ("JumpVelocity", 1200.0, Statistic, "", ""),
        ("AirControl", 0.65, Statistic, "0", "1"),
        ("HorizontalSpeed", 600.0, Statistic, "", ""),
        ("CoyoteTimeDuration", 0.15, Statistic, "", ""),
        ("JumpBufferDuration", 0.1, Statistic, "", ""),
        ("MaxJumpCount", 1.0, Statistic, "", ""),
        ("VerticalVelocity", 0.0, Meta, "", ""),
        ("Scale", 1.0, Statistic, "", ""),
        ("MaxHealth", 3.0, Statistic, "", ""),
        ("Health", 1.0, Resource, "0", "MaxHealth"),
        ("Lives", 3.0, Resource, "0", ""),
    ];
    holds("action", "PlatformerMovementSet", &rows);
}

// covers: UGAS-15.2-01, UGAS-PACK.RAC-01
#[test]
fn the_car_has_ten_attributes_and_tyres_get_no_hotter_than_150() {
    let rows: [Row; 10] = [
        ("EngineTorque", 400.0, Statistic, "", ""),
        ("MaxSpeed", 250.0, Statistic, "", ""),
        ("AeroDownforce", 100.0, Statistic, "", ""),
        ("TireGripMultiplier", 1.0, Statistic, "", ""),
        ("TireTemperature", 80.0, Statistic, "20", "150"),
        ("MaxBoost", 100.0, Statistic, "", ""),
        ("Boost", 100.0, Resource, "0", "MaxBoost"),
        ("EngineRPM", 0.0, Meta, "", ""),
        ("CurrentSpeed", 0.0, Meta, "", ""),
        ("AvailableTraction", 1.0, Meta, "", ""),
    ];
    holds("racing", "VehiclePerformanceSet", &rows);
    let rules = rules("racing");
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let car = sim.spawn(SpawnSpec::sets([rules.set("VehiclePerformanceSet").unwrap()])).unwrap();
    let heat = sim.define(Effect::instant("GE_Heat").add("TireTemperature", 100.0)).unwrap();
    let ugas_core::DefId::Effect(heat) = heat else { panic!("{heat:?}") };
    sim.apply(&Spec::new(heat, car)).unwrap();
    assert_eq!(sim.get(car, rules.attribute("TireTemperature").unwrap()), Ok(150.0));
}

// covers: UGAS-PACK.RPG-01
#[test]
fn the_hero_has_fourteen_attributes() {
    let rows: [Row; 14] = [
        ("Strength", 10.0, Statistic, "", ""),
        ("Dexterity", 10.0, Statistic, "", ""),
        ("Intelligence", 10.0, Statistic, "", ""),
        ("Vitality", 10.0, Statistic, "", ""),
        ("MaxHealth", 100.0, Statistic, "", ""),
        ("Health", 100.0, Resource, "0", "MaxHealth"),
        ("MaxMana", 50.0, Statistic, "", ""),
        ("Mana", 50.0, Resource, "0", "MaxMana"),
        ("WeaponDamage", 10.0, Statistic, "", ""),
        ("Armor", 0.0, Statistic, "", ""),
        ("CritChance", 0.05, Statistic, "0", "1"),
        ("CritDamage", 1.5, Statistic, "", ""),
        ("Level", 1.0, Meta, "", ""),
        ("Experience", 0.0, Resource, "0", ""),
    ];
    holds("rpg", "RPGCoreAttributes", &rows);
}

// covers: UGAS-PACK.SHO-01
#[test]
fn the_soldier_has_sixteen_attributes() {
    let rows: [Row; 16] = [
        ("MaxHealth", 100.0, Statistic, "", ""),
        ("Health", 100.0, Resource, "0", "MaxHealth"),
        ("MaxShield", 50.0, Statistic, "", ""),
        ("Shield", 50.0, Resource, "0", "MaxShield"),
        ("MoveSpeed", 600.0, Statistic, "", ""),
        ("WeaponDamage", 25.0, Statistic, "", ""),
        ("FireRate", 10.0, Statistic, "", ""),
        ("Spread", 2.0, Statistic, "", ""),
        ("HeadshotMultiplier", 2.0, Statistic, "", ""),
        ("EffectiveRange", 50.0, Statistic, "", ""),
        ("MagazineSize", 30.0, Statistic, "", ""),
        ("Ammo", 30.0, Resource, "0", "MagazineSize"),
        ("ReserveAmmo", 90.0, Resource, "0", ""),
        ("ReloadTime", 2.0, Statistic, "", ""),
        ("DistanceToTarget", 0.0, Meta, "", ""),
        ("EffectiveDamage", 0.0, Meta, "", ""),
    ];
    holds("shooter", "ShooterCombatSet", &rows);
}

// covers: UGAS-PACK.RAC-11, UGAS-PACK.RPG-09, UGAS-PACK.SHO-12
#[test]
fn registries_declare_the_tags_of_their_genre() {
    let table: [(&str, usize, &[&str]); 4] = [
        ("action", 12, &["Status.JumpBuffered", "DamageType.Pit"]),
        ("racing", 19, &["Surface.Ice", "Vehicle.Class.Formula", "Race.Status.FinalLap"]),
        ("rpg", 19, &["Class.Rogue", "Item.Rarity.Legendary"]),
        ("shooter", 24, &["Hitzone.Head", "Team.Hostile", "Immunity.Ballistic"]),
    ];
    for (pack, size, some) in table {
        let registry = registry(pack);
        assert_eq!(registry.tags.len(), size, "{pack}");
        for tag in some {
            assert!(registry.tags.iter().any(|t| t.tag == *tag), "{pack}: {tag}");
        }
        assert!(registry.tags.iter().all(|t| !t.allow_multiple), "{pack}");
    }
}

// covers: UGAS-PACK.RAC-08, UGAS-PACK.SHO-08
#[test]
fn modifiers_use_the_channels_of_the_specification() {
    for (pack, name, attribute, channel) in [
        ("racing", "GE_Biome_Asphalt", "TireGripMultiplier", "Surface"),
        ("racing", "GE_Biome_Mud", "TireGripMultiplier", "Surface"),
        ("shooter", "GE_ADS", "Spread", "Aim"),
        ("shooter", "GE_ADS", "MoveSpeed", "Aim"),
    ] {
        let docs = docs(pack);
        let effect = docs.iter().find_map(|l| match &l.doc {
            Doc::Effect(effect) if effect.name == name => Some(effect),
            _ => None,
        });
        let modifier = effect.unwrap_or_else(|| panic!("{name}")).modifiers.iter().find(|m| m.attribute == attribute);
        let found = modifier.unwrap_or_else(|| panic!("{name}: {attribute}")).channel.as_deref();
        assert_eq!(found, Some(channel), "{name}: {attribute}");
    }
}

// covers: UGAS-PACK.0-02
#[test]
fn packs_extend_the_core_tags_without_conflicts() {
    for pack in PACKS {
        let own = read_packs([folder(pack)]).unwrap().pop().unwrap();
        for loaded in &own.documents.docs {
            if let Doc::TagRegistry(registry) = &loaded.doc {
                for tag in ["State.Alive", "State.Combat", "State.Dead"] {
                    assert!(registry.tags.iter().all(|t| t.tag != tag), "{pack} declares {tag}");
                }
            }
        }
        let rules = rules(pack);
        assert!(rules.warnings().is_empty(), "{pack}: {:?}", rules.warnings());
        assert!(["State.Alive", "State.Combat", "State.Dead"].iter().all(|t| rules.is_declared(t)), "{pack}");
    }
}

// covers: UGAS-B.EX-06
#[test]
fn the_example_registry_has_eight_tags_and_one_allows_multiple_grants() {
    let registry = registry("core");
    let names: Vec<&str> = registry.tags.iter().map(|t| t.tag.as_str()).collect();
    let wanted = [
        "State.Alive",
        "State.Dead",
        "State.Combat",
        "State.Debuff.Stunned",
        "State.Debuff.Silenced",
        "State.Buff.Regenerating",
        "Ability.Magic.Fireball",
        "Ability.Offensive",
    ];
    assert_eq!(names, wanted);
    let twice: Vec<&str> = registry.tags.iter().filter(|t| t.allow_multiple).map(|t| t.tag.as_str()).collect();
    assert_eq!(twice, ["Ability.Offensive"]);
}

/// The effects that the specification names and does not give.
const SUPPLEMENT: [(&str, &[&str]); 4] = [
    ("action", &[]),
    ("racing", &["GE_NitroCost", "GE_NitroCooldown"]),
    ("rpg", &["GE_WhirlwindCost", "GE_WhirlwindCooldown"]),
    ("shooter", &["GE_FireCost", "GE_FireCooldown"]),
];

// covers: UGAS-PACK.0-01
#[test]
fn packs_load_without_warnings_and_miss_only_the_supplement_without_it() {
    for (pack, supplement) in SUPPLEMENT {
        assert!(rules(pack).warnings().is_empty(), "{pack}");
        let without = docs(pack).into_iter().filter(|d| !supplement.contains(&d.doc.name()));
        let builder = without.fold(Rules::builder(), |b, d| b.add_at(d.doc, d.origin));
        let errors: Vec<String> = match builder.build() {
            Ok(_) => Vec::new(),
            Err(e) => e.issues.into_iter().filter(|i| i.severity == Severity::Error).map(|i| i.message).collect(),
        };
        assert_eq!(errors.len(), supplement.len(), "{pack}: {errors:?}");
        for name in supplement {
            assert!(errors.iter().any(|e| e.contains(&format!("unknown effect {name}"))), "{pack}: {errors:?}");
        }
    }
}

// covers: UGAS-PACK.RPG-07
#[test]
fn the_barbarian_has_18_weapon_damage_and_whirlwind_at_level_five() {
    let rules = rules("rpg");
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::template(rules.template("Hero_Barbarian_01").unwrap())).unwrap();
    let get = |name: &str| sim.get(hero, rules.attribute(name).unwrap()).unwrap();
    assert!((get("WeaponDamage") - 18.0).abs() < 1e-9);
    assert_eq!((get("Strength"), get("MaxHealth"), get("Health"), get("Level")), (50.0, 200.0, 200.0, 5.0));
    let grants = sim.grants(hero).unwrap();
    let whirlwind = grants.iter().find(|g| rules.ability_name(g.ability) == Some("GA_Whirlwind")).unwrap();
    assert_eq!((whirlwind.level, whirlwind.input.and_then(|i| rules.input_name(i))), (5, Some("Ability1")));
    let mut mismatches = Vec::new();
    sim.take_diagnostics(&mut mismatches);
    assert!(mismatches.is_empty(), "{mismatches:?}");
}

// No worked controller states a value that its effects do not explain.
#[test]
fn the_stated_values_of_worked_controllers_match_the_computed_ones() {
    for (pack, hero) in [
        ("action", "Hero_Platformer_01"),
        ("arena", "Pyra"),
        ("arena", "Brann"),
        ("arena", "Colossus"),
        ("arena", "Imp"),
        ("racing", "Vehicle_SportCar_01"),
        ("rpg", "Hero_Barbarian_01"),
        ("shooter", "Soldier_FPS_01"),
    ] {
        let rules = rules(pack);
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        sim.spawn(SpawnSpec::template(rules.template(hero).unwrap())).unwrap();
        let mut mismatches = Vec::new();
        sim.take_diagnostics(&mut mismatches);
        assert!(mismatches.is_empty(), "{pack}: {mismatches:?}");
    }
}
