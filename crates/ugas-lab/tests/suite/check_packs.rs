//! `check` on a folder of packs: each pack is checked with its required packs.

use crate::folder::Folder;
use std::path::Path;
use ugas_data::Diagnostic;
use ugas_lab::check_path;

impl Folder {
    fn check(&self) -> Vec<Diagnostic> {
        check_path(&self.0).unwrap()
    }
}

const CORE: (&str, &str) = ("core/pack.yaml", "Name: core\nSpecification: v1.0.0-draft.3\n");
const TAGS: (&str, &str) = ("core/tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Alive}]\n");
const ONE: (&str, &str) = ("one/pack.yaml", "Name: one\nSpecification: v1.0.0-draft.3\nRequires: [core]\n");
const EFFECT: &str = "Kind: gameplay_effect\nName: GE_It\nDurationPolicy: Infinite\nGrantedTags: [State.Alive]\n";

#[test]
fn independent_packs_may_use_the_same_names() {
    let two = ("two/pack.yaml", "Name: two\nSpecification: v1.0.0-draft.3\nRequires: [core]\n");
    let files = [CORE, TAGS, ONE, ("one/effects.yaml", EFFECT), two, ("two/effects.yaml", EFFECT)];
    assert_eq!(Folder::new("apart", &files).check(), []);
}

#[test]
fn a_tag_of_a_pack_that_is_not_required_is_not_declared() {
    let lone = ("one/pack.yaml", "Name: one\nSpecification: v1.0.0-draft.3\n");
    let found = Folder::new("lone", &[CORE, TAGS, lone, ("one/effects.yaml", EFFECT)]).check();
    let found: Vec<_> = found.iter().map(|f| (f.id.as_str(), f.line)).collect();
    assert_eq!(found, [("undeclared-tag", 4)]);
}

#[test]
fn an_error_in_a_shared_required_pack_is_reported_once() {
    let broken = ("core/tags.yaml", "Kind: gameplay_tag\nTagz: []\n");
    let two = ("two/pack.yaml", "Name: two\nSpecification: v1.0.0-draft.3\nRequires: [core]\n");
    let files = [CORE, broken, ONE, ("one/effects.yaml", EFFECT), two, ("two/effects.yaml", EFFECT)];
    let found = Folder::new("once", &files).check();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(Path::new(&*found[0].file).ends_with("core/tags.yaml"));
    assert_eq!((found[0].line, found[0].column), (2, 1));
}

#[test]
fn a_missing_pack_is_reported_at_the_pack_that_requires_it() {
    let found = Folder::new("missing", &[ONE, ("one/effects.yaml", EFFECT)]).check();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].file.ends_with("pack.yaml") && found[0].message.contains("the pack core does not exist"));
}
