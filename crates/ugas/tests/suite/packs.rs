//! A game loads a pack of the repository in one call and runs it without code of its own.

use std::path::Path;
use ugas::core::{Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Target};

fn load(pack: &str) -> std::sync::Arc<Rules> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(pack);
    ugas::load_folder(folder, Rules::builder()).unwrap()
}

#[test]
fn every_pack_loads_with_its_required_packs_and_needs_no_host_code() {
    for pack in ["core", "action", "arena", "racing", "rpg", "shooter"] {
        let rules = load(pack);
        assert!(rules.warnings().is_empty(), "{pack}: {:?}", rules.warnings());
        assert!(rules.is_declared("State.Alive"), "{pack}");
    }
}

#[test]
fn a_shot_uses_ammo_and_drains_the_shield_of_the_target() {
    let rules = load("shooter");
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let soldier = sim.spawn(SpawnSpec::template(rules.template("Soldier_FPS_01").unwrap())).unwrap();
    let set = rules.set("ShooterCombatSet").unwrap();
    let foe = sim.spawn(SpawnSpec::sets([set]).tag(rules.tag("Team.Hostile").unwrap())).unwrap();
    let input = rules.input("Fire").unwrap();
    sim.run(Op::Press { who: soldier, input, target: Target::Controller(foe) }).unwrap();
    assert!(sim.advance_to(SimTime::frames(1, 60)).finished);
    let get = |who, name: &str| sim.get(who, rules.attribute(name).unwrap()).unwrap();
    // One round of thirty; 25 points, all of them the shield's.
    assert_eq!((get(soldier, "Ammo"), get(foe, "Shield"), get(foe, "Health")), (29.0, 25.0, 100.0));
}
