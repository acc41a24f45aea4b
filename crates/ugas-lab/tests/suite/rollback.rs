//! Every scenario of the repository, interrupted after every verb, at every fact and between any two: rolled back,
//! restored or moved, it continues equally.

use std::path::Path;
use ugas_lab::{files_at, load_file};

#[test]
fn every_scenario_of_the_repository_continues_equally_after_any_rollback() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let (mut interruptions, mut others, mut waiting) = (0, 0, 0);
    for file in files_at(folder).unwrap() {
        // A session of several machines is not interrupted: each machine is interrupted by its own tests.
        for scenario in load_file(&file).unwrap().iter().filter(|s| s.network.is_none()) {
            let report = scenario.test_rollback().unwrap();
            assert!(report.differences.is_empty(), "{}: {:#?}", file.display(), report.differences);
            interruptions += report.interruptions;
            others += report.others;
            waiting += report.waiting_tasks.len();
        }
    }
    println!("{interruptions} interruptions, {others} others restored, {waiting} kinds of waiting tasks");
    assert!(
        interruptions > 3_000 && others > 0 && waiting > 50,
        "{interruptions} interruptions, {others} others restored, {waiting} kinds of waiting tasks"
    );
}

/// The scenarios about stats, resources and capabilities, interrupted at every frame too.
#[test]
fn every_scenario_of_capabilities_and_resources_continues_equally_after_a_rollback_at_every_frame() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let (mut scenarios, mut interruptions, mut moves) = (0, 0, 0);
    for part in ["capabilities", "resources", "stats", "cookbook/mana.yaml", "cookbook/turret.yaml", "packs/mmo.yaml"] {
        for file in files_at(folder.join(part)).unwrap() {
            for scenario in load_file(&file).unwrap().iter().filter(|s| s.network.is_none()) {
                let report = scenario.test_rollback_at_every_frame().unwrap();
                assert!(report.differences.is_empty(), "{}: {:#?}", file.display(), report.differences);
                (scenarios, interruptions) = (scenarios + 1, interruptions + report.interruptions);
                moves += report.moves;
            }
        }
    }
    println!("{scenarios} scenarios, {interruptions} interruptions, {moves} moves");
    assert!(scenarios > 30 && interruptions > 10_000 && moves > 10_000, "{scenarios} {interruptions} {moves}");
}
