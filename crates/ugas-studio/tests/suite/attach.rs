//! A studio attached to a game that runs its own world.
#![cfg(feature = "serve")]

use crate::kit::{Socket, port_of};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use ugas_core::{Facts, Sim, SimConfig, SimTime, SpawnSpec};
use ugas_studio::attach::{AttachConfig, Attached};
use ugas_studio::{Library, arena};

/// A game with one hero of the arena, and an attached studio.
fn game() -> (Sim, Attached) {
    let library = Library::new(arena::project(), Some("arena".as_ref())).unwrap();
    let rules = library.rules().clone();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let mut config = AttachConfig { token: "the-right-one-for-this-test".into(), ..AttachConfig::default() };
    for name in ["Pyra", "Brann"] {
        let who = sim.spawn(SpawnSpec::template(rules.template(name).unwrap())).unwrap();
        config.names.set(who, name);
        config.names.set_category(who, if name == "Pyra" { "mages" } else { "knights" });
    }
    (sim, Attached::open(config).unwrap())
}

fn ask(studio: &mut Attached, sim: &mut Sim, question: Value) -> Value {
    serde_json::from_str(&studio.answer(sim, &question.to_string(), &mut |sim, order| order.run(sim))).unwrap()
}

fn step(studio: &mut Attached, sim: &mut Sim, ticks: i64) {
    let mut facts = Facts::default();
    for _ in 0..ticks {
        sim.advance_to(sim.now() + SimTime::frames(1, 60));
        sim.take_facts(&mut facts);
        studio.tick(sim, &facts, &mut |sim, order| order.run(sim));
    }
}

#[test]
fn the_pages_show_the_world_of_the_game() {
    let (mut sim, mut studio) = game();
    step(&mut studio, &mut sim, 30);
    let hello = ask(&mut studio, &mut sim, json!({ "ask": "hello" }));
    assert_eq!((&hello["attached"], &hello["categories"]), (&json!(true), &json!(["knights", "mages"])));
    assert!(hello["effects"].as_array().unwrap().contains(&json!("GE_Burn")));
    let frame = ask(&mut studio, &mut sim, json!({ "ask": "frame", "watch": [[null, "Pyra"]], "category": "mages" }));
    assert_eq!((&frame["tick"], frame["hash"].as_str()), (&json!(30), Some(format!("{:016x}", sim.hash()).as_str())));
    let actors = frame["sides"][0]["actors"].as_array().unwrap();
    assert_eq!((actors.len(), &actors[0]["name"]), (1, &json!("Pyra")));
    let abilities = frame["details"][0]["detail"]["abilities"].as_array().unwrap();
    assert!(abilities.iter().any(|a| a["name"] == "GA_Fireball"), "{abilities:?}");
    let why = ask(&mut studio, &mut sim, json!({ "ask": "explain", "who": "Brann", "attribute": "AttackPower" }));
    assert!(why["text"].as_str().unwrap().starts_with("18 = 10 × 1.50"), "{why}");
    let figures = ask(&mut studio, &mut sim, json!({ "ask": "figures" }));
    assert_eq!(figures["controllers"], 2);
}

#[test]
fn commands_are_passed_to_the_game() {
    let (mut sim, mut studio) = game();
    let put = |act: Value| json!({ "ask": "put", "input": { "Action": act } });
    let burn = put(json!({ "Apply": { "effect": "GE_Burn", "to": "Brann", "by": "Pyra" } }));
    assert_eq!(ask(&mut studio, &mut sim, burn.clone())["error"], Value::Null);
    step(&mut studio, &mut sim, 70);
    let events = ask(&mut studio, &mut sim, json!({ "ask": "frame" }))["events"].clone();
    let hurt = events.as_array().unwrap().iter().find(|n| n["kind"] == "Damage").unwrap_or_else(|| panic!("{events}"));
    let chain = ask(&mut studio, &mut sim, json!({ "ask": "causes", "serial": hurt["serial"] }));
    assert!(chain.as_array().unwrap().iter().any(|s| s["text"] == "GE_Burn was applied"), "{chain}");
    // Why an ability cannot be activated comes with the details.
    ask(&mut studio, &mut sim, put(json!({ "Set": { "who": "Pyra", "attribute": "Mana", "value": 5.0 } })));
    let frame = ask(&mut studio, &mut sim, json!({ "ask": "frame", "watch": [[null, "Pyra"]] }));
    let abilities = frame["details"][0]["detail"]["abilities"].as_array().unwrap().clone();
    let fireball = abilities.iter().find(|a| a["name"] == "GA_Fireball").unwrap();
    assert_eq!(fireball["reasons"][0]["kind"], "Cost", "{fireball}");
    // A game that rejects a command stays unchanged, and the page receives the error.
    let before = sim.hash();
    let mut asked = Vec::new();
    let answer = studio.answer(&mut sim, &burn.to_string(), &mut |_, order| {
        asked.push(format!("{order:?}"));
        Err("not in a ranked match".to_owned())
    });
    assert_eq!(answer, r#"{"error":"not in a ranked match"}"#);
    assert!(asked.len() == 1 && asked[0].starts_with("Action("), "{asked:?}");
    assert_eq!(sim.hash(), before);
    let unknown = put(json!({ "Apply": { "effect": "GE_Burm", "to": "Brann" } }));
    assert_eq!(ask(&mut studio, &mut sim, unknown)["error"], "unknown effect 'GE_Burm'; did you mean 'GE_Burn'?");
}

#[test]
fn the_game_controls_its_own_time() {
    let (mut sim, mut studio) = game();
    step(&mut studio, &mut sim, 5);
    for question in [json!({ "ask": "seek", "tick": 1 }), json!({ "ask": "undo" }), json!({ "ask": "open", "seed": 1 })]
    {
        let answer = ask(&mut studio, &mut sim, question);
        assert!(answer["error"].as_str().unwrap().contains("no recording"), "{answer}");
    }
    let mut orders = Vec::new();
    for question in [r#"{"ask":"pause"}"#, r#"{"ask":"step"}"#, r#"{"ask":"speed","times":2}"#, r#"{"ask":"play"}"#] {
        studio.answer(&mut sim, question, &mut |_, order| {
            orders.push(order);
            Ok(())
        });
    }
    let names: Vec<String> = orders.iter().map(|o| format!("{o:?}")).collect();
    assert_eq!(names, ["Pause(true)", "Step(1)", "Speed(2.0)", "Pause(false)"]);
    assert!(matches!(orders.remove(0).run(&mut sim), Err(e) if e == "this game does not support pause, step or speed"));
}

/// Returns a studio attached to a game whose documents are in a folder, and the names of the files.
fn attach_folder(folder: &std::path::Path, sim: &mut Sim) -> (Attached, Value) {
    let token = "the-right-one-for-this-test".into();
    let config = AttachConfig { token, documents: Some(folder.to_path_buf()), ..AttachConfig::default() };
    let mut studio = Attached::open(config).unwrap();
    let files = ask(&mut studio, sim, json!({ "ask": "files" }));
    (studio, files)
}

#[test]
fn documents_are_edited_and_saved_while_the_game_runs() {
    let folder = std::env::temp_dir().join(format!("ugas-studio-attach-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}] # full\n";
    std::fs::write(folder.join("vitals.yaml"), text).unwrap();
    let (project, _) = ugas_data::Project::open_readable(&folder);
    let library = Library::new(project, None).unwrap();
    let rules = library.rules().clone();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let (mut studio, files) = attach_folder(&folder, &mut sim);
    let file = ask(&mut studio, &mut sim, json!({ "ask": "file", "name": files[0] }));
    let new = text.replace("100", "150");
    let save = json!({ "ask": "save", "file": files[0], "text": new, "hash": file["hash"] });
    let saved = ask(&mut studio, &mut sim, save);
    assert_eq!(saved["error"], Value::Null, "{saved}");
    assert_eq!(std::fs::read_to_string(folder.join("vitals.yaml")).unwrap(), new);
    assert_eq!(sim.get(hero, rules.attribute("Health").unwrap()).unwrap(), 150.0);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_saved_by_another_program_is_shown_and_marked_as_not_loaded() {
    let folder = std::env::temp_dir().join(format!("ugas-attach-watch-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = |health: u32| {
        format!("Kind: attribute_set\nName: Vitals\nAttributes: [{{Name: Health, DefaultBaseValue: {health}}}]\n")
    };
    let path = folder.join("vitals.yaml");
    std::fs::write(&path, text(100)).unwrap();
    let library = |folder: &std::path::Path| Library::new(ugas_data::Project::open(folder).unwrap(), None).unwrap();
    let mut sim = Sim::new(library(&folder).rules().clone(), SimConfig::default());
    let (mut studio, files) = attach_folder(&folder, &mut sim);
    let after_reload = |sim: &mut Sim, studio: &mut Attached, wanted: &str| {
        // The operating system may take long to report the change.
        for _ in 0..600 {
            step(studio, sim, 1);
            let file = ask(studio, sim, json!({ "ask": "file", "name": files[0] }));
            if file["text"] == wanted {
                let frame = ask(studio, sim, json!({ "ask": "frame" }));
                return (frame["notice"].clone(), frame["reloads"].as_u64().unwrap(), file["hash"].clone());
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("the page still shows the old text");
    };
    std::fs::write(&path, text(150)).unwrap();
    let (notice, reloads, hash) = after_reload(&mut sim, &mut studio, &text(150));
    assert!(notice.as_str().unwrap().contains("vitals.yaml"), "{notice}");
    assert!(notice.as_str().unwrap().ends_with("the game has not loaded the change"), "{notice}");
    assert_eq!(reloads, 1, "pages are notified to reload");
    // The game loads it.
    sim.reload(library(&folder).rules().clone()).unwrap();
    step(&mut studio, &mut sim, 1);
    assert_eq!(ask(&mut studio, &mut sim, json!({ "ask": "frame" }))["notice"], Value::Null);
    // The shown text can be saved again, valid or not.
    let save = json!({ "ask": "save", "file": files[0], "text": text(170), "hash": hash });
    assert_eq!(ask(&mut studio, &mut sim, save)["error"], Value::Null);
    std::fs::write(&path, "Kind: [").unwrap();
    let (notice, _, _) = after_reload(&mut sim, &mut studio, "Kind: [");
    assert!(notice.as_str().unwrap().ends_with("the game has not loaded the change"), "{notice}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_page_is_answered_between_two_frames() {
    let (mut sim, mut studio) = game();
    let port = port_of(studio.address());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let page = scope.spawn(|| {
            let answer = Socket::open(port, "the-right-one-for-this-test").ask(r#"{"ask":"frame"}"#);
            done.store(true, Ordering::SeqCst);
            answer
        });
        while !done.load(Ordering::SeqCst) {
            step(&mut studio, &mut sim, 1);
            std::thread::yield_now();
        }
        assert!(page.join().unwrap().unwrap().contains("\"Pyra\""));
    });
}
