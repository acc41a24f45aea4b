//! Every scenario of the repository, through the public harness.

use std::path::Path;

#[test]
fn every_scenario_of_the_repository_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    ugas_lab::check_folder(folder).assert_ok();
}
