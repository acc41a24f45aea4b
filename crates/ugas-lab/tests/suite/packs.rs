//! The packs of the repository: every ability runs from the press of its input to its end, can be cancelled at any
//! time, and every pack has the numbers of the specification.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use ugas_core::{Fact, FactKind, Rules};
use ugas_doc::{AbilityTask, Doc};
use ugas_lab::{RunOptions, Scenario, load_file, load_pack};

const PACKS: [&str; 6] = ["action", "arena", "mmo", "racing", "rpg", "shooter"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Those of the pack's file, and of files that begin with its name and a hyphen.
fn scenarios(pack: &str) -> Vec<Scenario> {
    let folder = root().join("scenarios/packs");
    let files = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let of = |name: &str| name.strip_prefix(pack).is_some_and(|rest| rest.starts_with(['.', '-']));
    let files: BTreeSet<String> = files.filter(|name| of(name)).collect();
    files.iter().flat_map(|f| load_file(folder.join(f)).expect("scenarios of the pack")).collect()
}

fn rules(pack: &str) -> std::sync::Arc<Rules> {
    load_pack(root().join("packs").join(pack)).unwrap_or_else(|e| panic!("{pack}: {e:?}"))
}

/// The abilities that a pack binds to an input; others start by themselves.
fn bound(pack: &str) -> BTreeSet<String> {
    let own = ugas_data::read_packs([root().join("packs").join(pack)]).unwrap().pop().unwrap();
    let mut bound = BTreeSet::new();
    for loaded in own.documents.docs {
        match loaded.doc {
            Doc::Controller(c) => {
                let grants = c.granted_abilities.iter().filter(|g| g.input_id.is_some());
                bound.extend(grants.map(|g| g.ability_class.clone()));
            }
            Doc::AbilitySet(s) => {
                bound.extend(s.abilities.iter().filter(|a| a.input_id.is_some()).map(|a| a.ability.clone()));
            }
            _ => {}
        }
    }
    bound
}

/// What became of each ability in one run: whether one ended by itself, one that a press had started among them, and
/// how many are still running.
#[derive(Default)]
struct Seen {
    ended: bool,
    pressed_and_ended: bool,
    running: i32,
}

/// An activation counts as pressed if the press of its grant's input caused it.
fn follow(facts: &[Fact], rules: &Rules, seen: &mut BTreeMap<String, Seen>) {
    let mut pressed = BTreeSet::new();
    for fact in facts {
        match fact.kind {
            FactKind::AbilityActivated { ability, activation, .. } => {
                let name = rules.ability_name(ability).unwrap_or_default().to_owned();
                seen.entry(name).or_default().running += 1;
                let is_press = |f: &&Fact| matches!(f.kind, FactKind::Input { pressed: true, .. });
                if facts.iter().filter(is_press).any(|f| f.root == fact.root && f.who == fact.who) {
                    pressed.insert(format!("{activation:?}"));
                }
            }
            FactKind::AbilityEnded { ability, activation, cancelled, .. } => {
                let name = rules.ability_name(ability).unwrap_or_default().to_owned();
                let seen = seen.entry(name).or_default();
                seen.running -= 1;
                seen.ended |= !cancelled;
                seen.pressed_and_ended |= !cancelled && pressed.contains(&format!("{activation:?}"));
            }
            _ => {}
        }
    }
}

/// Task types of a list, those inside others included.
fn types(tasks: &[AbilityTask], into: &mut BTreeSet<String>) {
    for task in tasks {
        into.insert(task.kind.clone());
        [&task.tasks, &task.then, &task.r#else].into_iter().for_each(|list| types(list, into));
    }
}

// covers: UGAS-PACK.0-03
#[test]
fn every_ability_of_every_pack_is_activated_in_a_scenario_and_ends() {
    let (mut abilities, mut used) = (0, BTreeSet::new());
    for pack in PACKS {
        let mut done = BTreeSet::new();
        let rules = rules(pack);
        let bound = bound(pack);
        for scenario in scenarios(pack) {
            let report = scenario.run_with(RunOptions { keep_facts: true, ..RunOptions::default() });
            assert!(report.passed(), "{pack}: {:?} {:?}", report.errors, report.failures);
            let mut seen = BTreeMap::new();
            follow(&report.facts, &scenario.rules().unwrap(), &mut seen);
            for (name, seen) in seen {
                let passive = rules.find_ability(&name).and_then(|id| rules.ability_doc(id)).is_some_and(|a| a.passive);
                assert!(seen.running == 0 || passive, "{pack}: {name} is stuck at the end of {:?}", report.scenario);
                // A passive ability stays active.
                if seen.pressed_and_ended || (seen.ended && !bound.contains(&name)) || passive {
                    done.insert(name);
                }
            }
        }
        let missing: Vec<&str> = rules.ability_list().map(|(_, n)| n).filter(|n| !done.contains(*n)).collect();
        assert!(missing.is_empty(), "{pack}: no scenario presses and ends {missing:?}");
        for (id, _) in rules.ability_list() {
            abilities += 1;
            types(&rules.ability_doc(id).unwrap().tasks, &mut used);
        }
    }
    // The nine of the specification, three of this project, those of the arena and of the boss fight.
    assert_eq!(abilities, 12 + 18 + 9);
    for kind in [
        "ApplyEffectToOwner",
        "RemoveEffectFromOwner",
        "ApplyEffectToTarget",
        "ApplyEffectToActorsInRadius",
        "WaitTargetData",
    ] {
        assert!(used.contains(kind), "{kind}");
    }
}

#[test]
fn every_ability_of_every_pack_survives_rollback_restore_and_move_at_any_time() {
    let (mut interruptions, mut rollbacks, mut restores, mut moves) = (0, 0, 0, 0);
    for pack in PACKS {
        let mut waiting = BTreeSet::new();
        for scenario in scenarios(pack) {
            let report = scenario.test_rollback().unwrap();
            assert!(report.differences.is_empty(), "{pack}: {:#?}", report.differences);
            interruptions += report.interruptions;
            rollbacks += report.rollbacks;
            restores += report.restores;
            moves += report.moves;
            waiting.extend(report.waiting_tasks);
        }
        let rules = rules(pack);
        for (id, name) in rules.ability_list() {
            let mut wanted = BTreeSet::new();
            types(&rules.ability_doc(id).unwrap().tasks, &mut wanted);
            for kind in wanted.into_iter().filter(|k| k.starts_with("Wait")) {
                assert!(
                    waiting.contains(&(name.to_owned(), kind.clone())),
                    "{pack}: no interruption in {kind} of {name}"
                );
            }
        }
    }
    println!("{interruptions} interruptions, {rollbacks} rollbacks, {restores} restores, {moves} moves");
    assert!(interruptions > 300 && rollbacks > 10 * interruptions && restores > interruptions && moves > interruptions);
}
