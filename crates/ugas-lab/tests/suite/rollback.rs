//! Every scenario of the repository, cut after every verb, at every fact and between any two: rolled back, restored or
//! moved, it continues equally.

use std::path::Path;
use ugas_lab::{files_at, load_file};

#[test]
fn every_scenario_of_the_repository_continues_equally_after_any_rollback() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let (mut cuts, mut others, mut asleep) = (0, 0, 0);
    for file in files_at(folder).unwrap() {
        // A session of several machines is not cut: each of them is cut by its own tests.
        for scenario in load_file(&file).unwrap().iter().filter(|s| s.network.is_none()) {
            let report = scenario.test_rollback().unwrap();
            assert!(report.differences.is_empty(), "{}: {:#?}", file.display(), report.differences);
            cuts += report.cuts;
            others += report.others;
            asleep += report.asleep.len();
        }
    }
    println!("{cuts} cuts, {others} others restored, {asleep} kinds of sleeping tasks");
    assert!(
        cuts > 3_000 && others > 0 && asleep > 50,
        "{cuts} cuts, {others} others restored, {asleep} kinds of sleeping tasks"
    );
}
