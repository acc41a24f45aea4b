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
