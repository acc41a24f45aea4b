//! The packs' texts for players: every placeholder has a value, and it equals the rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_core::{Rules, Sim, SimConfig, SpawnSpec};
use ugas_data::language::{Tooltip, tooltip};
use ugas_data::read_packs;
use ugas_doc::Doc;
use ugas_lab::load_pack;

const PACKS: [&str; 6] = ["action", "arena", "mmo", "racing", "rpg", "shooter"];

fn folder(pack: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(pack)
}

/// A pack's own documents.
fn docs(pack: &str) -> Vec<Doc> {
    let own = read_packs([folder(pack)]).unwrap().pop().unwrap();
    own.documents.docs.into_iter().map(|d| d.doc).collect()
}

fn tip(rules: &Rules, pack: &str, name: &str, level: u32) -> Tooltip {
    let doc = docs(pack).into_iter().find(|d| d.name() == name).unwrap();
    tooltip(rules, &doc, level).unwrap()
}

/// The text of a document for a controller of the pack that has a value for every placeholder, if any.
fn filled_for_any_controller(rules: &Arc<Rules>, docs: &[Doc], text: &str) -> Option<String> {
    let heroes = docs.iter().filter_map(|d| match d {
        Doc::Controller(c) => rules.find_template(&c.owner_actor.actor_id),
        _ => None,
    });
    let mut filled = heroes.map(|hero| {
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let owner = sim.spawn(SpawnSpec::template(hero)).unwrap();
        sim.fill_text(text, 1, owner)
    });
    filled.find(|f| f.missing.is_empty()).map(|f| f.text)
}

#[test]
fn every_placeholder_in_a_text_of_every_pack_has_a_value() {
    for pack in PACKS {
        let rules = load_pack(folder(pack)).unwrap();
        let docs = docs(pack);
        let mut numbers = 0;
        for doc in &docs {
            let Some(tip) = tooltip(&rules, doc, 1) else {
                assert!(!matches!(doc, Doc::Ability(_)), "{pack}: {} has no text", doc.name());
                continue;
            };
            numbers += tip.filled.values.len() + tip.filled.missing.len();
            let is_filled =
                tip.filled.missing.is_empty() || filled_for_any_controller(&rules, &docs, &tip.filled.text).is_some();
            assert!(is_filled, "{pack}: {}: no value for {:?}", tip.key, tip.filled.missing);
        }
        assert!(numbers >= 5, "{pack}: {numbers} numbers in its texts");
    }
}

// covers: PEER-20
#[test]
fn a_text_has_the_numbers_of_a_level_and_a_key_for_its_translations() {
    let rules = load_pack(folder("arena")).unwrap();
    let first = tip(&rules, "arena", "GA_Fireball", 1);
    assert_eq!(first.key, "GA_Fireball.Description");
    assert_eq!(first.filled.text, "Deals 40 damage, then 5 per second for 4 seconds; costs 30 mana");
    let second = tip(&rules, "arena", "GA_Fireball", 2);
    assert_eq!(second.filled.text, "Deals 50 damage, then 5 per second for 4 seconds; costs 30 mana");
    assert_eq!(second.filled.values[0], ("GE_Fireball.Health".to_owned(), 50.0));
    // What depends on who uses it: might, blade and no luck.
    let docs = docs("arena");
    let strike = tip(&rules, "arena", "GA_Strike", 1);
    assert_eq!(strike.filled.missing, ["GE_Strike.Health"]);
    let of = |who: &str| {
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let owner = sim.spawn(SpawnSpec::template(rules.template(who).unwrap())).unwrap();
        let text = |name: &str| match docs.iter().find(|d| d.name() == name) {
            Some(Doc::Ability(a)) => a.metadata.clone().unwrap().description.unwrap(),
            _ => panic!("no ability {name}"),
        };
        (sim.fill_text(&text("GA_Strike"), 1, owner).text, sim.fill_text(&text("GA_Firebolt"), 1, owner).text)
    };
    assert_eq!(of("Brann").0, "Deals 18 damage");
    assert!(of("Pyra").1.starts_with("Deals 20 damage, 50 % more"), "{}", of("Pyra").1);
}
