//! The mappings of the packs.

use crate::kit::{Rig, near};
use std::path::Path;
use ugas_doc::{Doc, Platform};

fn docs(pack: &str) -> Vec<Doc> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(pack);
    let own = ugas_data::read_packs([folder]).unwrap().pop().unwrap();
    own.documents.docs.into_iter().map(|doc| doc.doc).collect()
}

fn rig(pack: &str, platform: Platform) -> Rig {
    Rig::of(&docs(pack), &[platform])
}

#[test]
fn every_pack_compiles_on_each_of_its_platforms_and_binds_every_action() {
    for pack in ["action", "arena", "mmo", "racing", "rpg", "shooter"] {
        let docs = docs(pack);
        let mut platforms: Vec<Platform> = Vec::new();
        for doc in &docs {
            if let Doc::InputMapping(mapping) = doc {
                platforms.extend(mapping.platform);
            }
        }
        for platform in platforms {
            let rig = Rig::of(&docs, &[platform]);
            for (_, action) in rig.controls.actions() {
                assert!(!rig.controls.bindings_for(action).is_empty(), "{pack} {platform:?} {action}");
            }
        }
    }
}

// covers: UGAS-PACK.ACT-09
#[test]
fn in_the_platformer_one_key_walks_down_and_pounds_in_the_air() {
    let docs = docs("action");
    let set = docs.iter().find_map(|doc| if let Doc::InputActionSet(set) = doc { Some(set) } else { None }).unwrap();
    assert_eq!((set.name.as_str(), set.actions.join(" ")), ("OnFoot", "Move Jump GroundPound".to_owned()));
    assert_eq!(set.activation_tags.required_tags, ["State.Alive"]);
    let buffer = set.input_buffer.as_ref().unwrap().buffer();
    assert_eq!((buffer.enabled, buffer.buffer_window, buffer.max_buffer_size), (true, 0.15, 3));

    let mut rig = Rig::of(&docs, &[Platform::PC]);
    assert!(rig.press("Key.S", 1).step(16).is_empty(), "on the ground");
    assert_eq!(rig.values("Move"), [[0.0, -1.0, 0.0]]);
    rig.release("Key.S", 20).step(32);
    rig.world.owned.insert("State.InAir".into());
    assert_eq!(rig.press("Key.S", 40).step(48), ["40 Press GroundPound"]);
    assert_eq!(rig.values("Move"), [[0.0, -1.0, 0.0]]);
    assert_eq!(rig.press("Key.Space", 50).step(64), ["50 Press Jump"]);

    let mut rig = Rig::of(&docs, &[Platform::Console]);
    rig.world.owned.insert("State.InAir".into());
    rig.event("Gamepad.LeftStick.X", 1, [0.1, 0.0, 0.0]).event("Gamepad.LeftTrigger", 2, [1.0, 0.0, 0.0]);
    assert_eq!(rig.press("Gamepad.FaceBottom", 3).step(16), ["2 Press GroundPound", "3 Press Jump"]);
    assert!(rig.values("Move").is_empty(), "within the dead zone");
}

// covers: UGAS-PACK.RAC-10
#[test]
fn the_racer_has_dead_zones_and_an_s_curve() {
    let mut rig = rig("racing", Platform::Console);
    assert_eq!(rig.controls.bindings().len(), 6);
    let settings = rig.controls.settings();
    assert!(settings.iter().all(|setting| setting.modifier != "TriggerDeadzone"));
    assert!(settings.iter().any(|setting| setting.modifier == "StickDeadzone" && setting.value == 0.15.into()));
    rig.event("Gamepad.RightTrigger", 1, [0.03, 0.0, 0.0]).step(16);
    assert!(rig.values("Throttle").is_empty());
    rig.event("Gamepad.RightTrigger", 20, [0.99, 0.0, 0.0]).step(32);
    assert_eq!(rig.values("Throttle"), [[1.0, 0.0, 0.0]]);
    let mut steer = |at: i64, x: f64| {
        rig.event("Gamepad.LeftStick.X", at, [x, 0.0, 0.0]).step(at + 10);
        *rig.values("Steer").last().unwrap()
    };
    // Half of the way after the dead zone from 0.15 to 0.95 is 0.55.
    assert!(near(steer(40, 0.55), [0.5, 0.0, 0.0]));
    assert!(near(steer(60, -0.55), [-0.5, 0.0, 0.0]));
    let (right, left) = (steer(80, 0.35), steer(100, -0.35));
    assert!(right[0] > 0.0 && right[0] < 0.25 && right[0] == -left[0], "{right:?} {left:?}");
}

// covers: UGAS-PACK.SHO-11
#[test]
fn the_shooter_has_thresholds_curves_and_a_mouse() {
    let docs = docs("shooter");
    let actions = docs.iter().filter(|doc| matches!(doc, Doc::InputAction(_))).count();
    let set = docs.iter().find_map(|doc| if let Doc::InputActionSet(set) = doc { Some(set) } else { None }).unwrap();
    let buffer = set.input_buffer.as_ref().unwrap().buffer();
    assert_eq!((actions, buffer.buffer_window, buffer.max_buffer_size), (9, 0.12, 2));
    let mut pad = Rig::of(&docs, &[Platform::Console]);
    pad.event("Gamepad.RightTrigger", 1, [0.4, 0.0, 0.0]);
    assert!(pad.step(16).is_empty());
    pad.event("Gamepad.RightTrigger", 20, [0.6, 0.0, 0.0]);
    assert_eq!(pad.step(32), ["20 Press Fire"]);
    pad.event("Gamepad.RightStick.X", 40, [0.5, 0.0, 0.0]).step(48);
    let (look, linear) = (pad.values("Look")[0][0], (0.5 - 0.15) / (0.95 - 0.15));
    assert!(look > 0.0 && look < linear, "{look}");
    pad.event("Gamepad.LeftStick", 50, [1.0, 1.0, 0.0]).step(64);
    assert!(near(pad.values("Move")[0], [0.707, 0.707, 0.0]));
    let mut mouse = Rig::of(&docs, &[Platform::PC]);
    mouse.controls.set("MouseSensitivity", "Multiplier", 2.0.into()).unwrap();
    mouse.event("Mouse.Axis.X", 1, [3.0, 0.0, 0.0]).step(16);
    assert_eq!(mouse.values("Look"), [[6.0, 0.0, 0.0]]);
}

// covers: UGAS-B.EX-05
#[test]
fn the_example_mapping_binds_nine_actions() {
    let docs = docs("shooter");
    let mut rig = Rig::of(&docs, &[Platform::PC]);
    let all = "Move Look Fire Aim Reload Jump Sprint Interact CycleWeapon";
    assert_eq!(rig.controls.actions().count(), 9);
    let is_pc =
        |mapping: &ugas_doc::InputMapping| mapping.platform == Some(Platform::PC) && mapping.bindings.len() == 9;
    assert!(docs.iter().any(|doc| matches!(doc, Doc::InputMapping(mapping) if is_pc(mapping))));
    let mut inputs = Vec::new();
    for action in all.split(' ') {
        let infos = rig.controls.bindings_for(action);
        assert!(!infos.is_empty(), "{action}");
        inputs.extend(infos.into_iter().flat_map(|info| info.inputs).map(|input| input.input));
    }
    inputs.sort();
    let expected = "Key.A Key.D Key.E Key.LeftShift Key.R Key.S Key.Space Key.W Mouse.Axis.X Mouse.Axis.Y \
        Mouse.LeftButton Mouse.RightButton Mouse.Scroll";
    assert_eq!(inputs, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(rig.press("Key.E", 1).step(16), ["1 Press Interact"]);
}
