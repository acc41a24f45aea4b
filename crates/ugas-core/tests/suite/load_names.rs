//! Errors and warnings for names, tags and sets when rules are built, and ids that stay the same after a rebuild.

use crate::kit::world::load::{assert_issue, base, error, vitals, warning};
use std::sync::Arc;
use ugas_core::{Rules, RulesBuilder, Sim, SimConfig};
use ugas_doc::{
    Ability, Attribute, AttributeSet, Controller, Curve, Effect, Magnitude, Modifier, Operation, Origin, TagEntry,
    TagRegistry,
};

// Names and sets ------------------------------------------------------------------------------------------------

#[test]
fn a_cycle_of_attributes_names_both() {
    let set = AttributeSet::new("S").with(Attribute::new("A", 1.0).max("B")).with(Attribute::new("B", 1.0).max("A"));
    let issue = error(Rules::builder().add(set), "cycle");
    assert_issue(&issue, "S", &["A", "B", "depend on themselves"]);
    let set = AttributeSet::new("S").with(Attribute::derived("A", "B + 1")).with(Attribute::derived("B", "A + 1"));
    assert_issue(&error(Rules::builder().add(set), "cycle"), "S", &["A", "B"]);
    let set = AttributeSet::new("S").with(Attribute::new("A", 1.0).max("A"));
    assert_issue(&error(Rules::builder().add(set), "cycle"), "S", &["A → A"]);
}

#[test]
fn a_cycle_of_sets_is_reported() {
    let builder = Rules::builder()
        .add(AttributeSet::new("One").needs("Two").with(Attribute::new("A", 1.0)))
        .add(AttributeSet::new("Two").needs("One").with(Attribute::new("B", 1.0)));
    let failed = builder.build().unwrap_err();
    let issue = failed.issues.iter().find(|i| i.code == "cycle").unwrap();
    assert!(issue.message.contains("depend on each other"), "{issue}");
    assert!(["One", "Two"].iter().all(|s| issue.to_string().contains(s)), "names both sets: {issue}");
}

#[test]
fn a_duplicate_name_is_reported() {
    assert_issue(&error(base().add(vitals()), "duplicate-name"), "Vitals", &["attribute_set"]);
    let hit = || Effect::instant("GE_Hit").add("Health", -5.0);
    assert_issue(&error(base().add(hit()).add(hit()), "duplicate-name"), "GE_Hit", &["gameplay_effect"]);
    let twice = AttributeSet::new("S").with(Attribute::new("A", 1.0)).with(Attribute::new("A", 2.0));
    assert_issue(&error(Rules::builder().add(twice), "duplicate-name"), "S", &["A twice"]);
    let calc = |b: RulesBuilder| b.calc_fn("ExecCalc_Hit", [], |_| {});
    assert_issue(&error(calc(calc(base())), "duplicate-name"), "ExecCalc_Hit", &["calculator"]);
    let old = calc(base()).build().unwrap();
    assert_issue(&error(calc(calc(base().after(old))), "duplicate-name"), "ExecCalc_Hit", &["calculator"]);
}

#[test]
fn an_invalid_tag_is_reported_with_the_valid_form() {
    for bad in ["state.alive", "State..Alive", "State.Debuff.", "State_Alive", "", "State.1"] {
        let issue = error(base().add(Effect::infinite("GE_T").grants(bad)), "bad-tag");
        assert_issue(&issue, "GE_T", &[bad, "State.Debuff"]);
    }
    let issue = error(base().add(TagRegistry::new(["alive"])), "bad-tag");
    assert!(issue.message.contains("alive"), "{issue}");
}

#[test]
fn an_undeclared_tag_is_a_warning_with_the_nearest_name() {
    let registry = TagRegistry::new(["State.Debuff.Stunned"]);
    let builder = base().add(registry).add(Effect::infinite("GE_Stun").grants("State.Debuff.Stuned"));
    let issue = warning(builder, "undeclared-tag");
    assert_issue(&issue, "GE_Stun", &["State.Debuff.Stuned", "did you mean State.Debuff.Stunned?"]);
}

#[test]
fn deep_parent_conflicting_and_misnamed_tags_are_warnings() {
    let deep = TagRegistry::new(["A.B.C.D.E.F"]);
    let issue = warning(base().add(deep), "tag-depth");
    assert_issue(&issue, "A.B.C.D.E.F", &["6 levels"]);
    let registry = || TagRegistry::new(["State.Debuff", "State.Debuff.Stunned", "Fx.Fire", "GameplayCue.Fire"]);
    let issue = warning(base().add(registry()).add(Effect::infinite("GE_D").grants("State.Debuff")), "parent-granted");
    assert_issue(&issue, "GE_D", &["State.Debuff", "State.Debuff.Stunned"]);
    let issue = warning(base().add(registry()).add(Effect::infinite("GE_C").cue("Fx.Fire")), "cue-prefix");
    assert_issue(&issue, "GE_C", &["Fx.Fire", "GameplayCue."]);
    let quiet = base().add(registry()).add(Effect::infinite("GE_C").cue("GameplayCue.Fire")).build().unwrap();
    assert!(quiet.warnings().is_empty(), "{:?}", quiet.warnings());
    let twice = TagRegistry { tags: vec![TagEntry { allow_multiple: true, ..TagEntry::new("State.Debuff") }] };
    let issue = warning(base().add(registry()).add(twice), "tag-conflict");
    assert!(issue.message.contains("State.Debuff") && issue.message.contains("AllowMultiple"), "{issue}");
}

#[test]
fn empty_sets_and_controllers_are_errors() {
    assert_issue(&error(Rules::builder().add(AttributeSet::new("S")), "empty-set"), "S", &["no attributes"]);
    assert_issue(&error(base().add(Controller::new("Hero")), "no-sets"), "Hero", &["no attribute sets"]);
}

// As a whole ----------------------------------------------------------------------------------------------------

#[test]
fn all_errors_are_reported_at_once_with_file_and_line() {
    let failed = base()
        .add_at(Effect::instant("GE_A").add("Helth", 1.0).add("Manna", 1.0), Origin::new("packs/a.yaml", 3))
        .add_at(Effect::infinite("GE_B").every(-1.0), Origin::new("packs/b.yaml", 9))
        .build()
        .unwrap_err();
    assert_eq!(failed.issues.len(), 3, "{failed}");
    let text = failed.to_string();
    assert!(text.contains("packs/a.yaml:3: error[unknown-attribute]: GE_A: Modifiers[0]"), "{text}");
    assert!(text.contains("packs/b.yaml:9: error[bad-period]: GE_B"), "{text}");
}

fn first_rules() -> Arc<Rules> {
    base()
        .add(TagRegistry::new(["State.Alive", "State.Dead", "Team.Red"]))
        .add(Curve::new("C_Damage", [(1.0, 10.0)]))
        .add(Ability::new("GA_Hit"))
        .add(Effect::infinite("GE_Aura").add("Health", 5.0).grants("Team.Red"))
        .add(Effect::instant("GE_Hit").add("Health", Magnitude::set_by_caller("Data.Damage")))
        .add(Controller::new("Hero").set("Vitals"))
        .build()
        .unwrap()
}

#[test]
fn ids_stay_the_same_when_rules_are_built_on_older_ones() {
    let old = first_rules();
    // A tag in the middle of the registry, an effect before the others, and one effect less.
    let new = Rules::builder()
        .after(old.clone())
        .add(AttributeSet::new("Early").with(Attribute::new("Armor", 0.0)))
        .add(vitals())
        .add(TagRegistry::new(["State.Alive", "State.Afraid", "State.Dead", "Team.Red"]))
        .add(Curve::new("C_Armor", [(1.0, 1.0)]))
        .add(Curve::new("C_Damage", [(1.0, 10.0)]))
        .add(Ability::new("GA_Early"))
        .add(Ability::new("GA_Hit"))
        .add(Effect::infinite("GE_Early").add("Armor", 5.0))
        .add(Effect::instant("GE_Hit").add("Health", Magnitude::set_by_caller("Data.Damage")))
        .add(Controller::new("Early").set("Early"))
        .add(Controller::new("Hero").set("Vitals"))
        .build()
        .unwrap();
    for tag in ["State", "State.Alive", "State.Dead", "Team.Red"] {
        assert_eq!(old.find_tag(tag), new.find_tag(tag), "{tag}");
        assert_eq!(new.tag_name(old.tag(tag).unwrap()), Some(tag));
    }
    for name in ["Health", "MaxHealth"] {
        assert_eq!(old.find_attribute(name), new.find_attribute(name));
    }
    assert_eq!(old.find_set("Vitals"), new.find_set("Vitals"));
    assert_eq!(old.find_effect("GE_Hit"), new.find_effect("GE_Hit"));
    assert_eq!(old.find_ability("GA_Hit"), new.find_ability("GA_Hit"));
    assert_eq!(old.find_curve("C_Damage"), new.find_curve("C_Damage"));
    assert_eq!(old.find_key("Data.Damage"), new.find_key("Data.Damage"));
    assert_eq!(old.find_template("Hero"), new.find_template("Hero"));
    // The tree is the new one although the ids are old: presence of a parent follows the middle tag too.
    let (afraid, state) = (new.tag("State.Afraid").unwrap(), new.tag("State").unwrap());
    assert!(new.tag_is_under(afraid, state));
    // A removed definition is a tombstone: its id is not reused, and applying it is a typed refusal.
    let removed = old.effect("GE_Aura").unwrap();
    assert_eq!(new.find_effect("GE_Aura"), None);
    let mut sim = Sim::new(new.clone(), SimConfig::default());
    let hero = sim.spawn(ugas_core::SpawnSpec::template(new.template("Hero").unwrap())).unwrap();
    let refused = sim.apply(&ugas_core::Spec::new(removed, hero)).unwrap_err();
    assert_eq!(refused.kind(), "UnknownName");
}

#[test]
fn a_name_without_a_document_is_unknown_to_new_rules() {
    let old = first_rules();
    let after = || base().after(old.clone());
    let mut then = Effect::lasting("GE_Bomb", 1.0);
    then.effects.get_or_insert_default().on_expired = vec!["GE_Aura".into()];
    assert_issue(&error(after().add(then), "unknown-effect"), "GE_Bomb", &["GE_Aura"]);
    let curved = Effect::instant("GE_C").add("Health", Magnitude::curve("C_Damage"));
    assert_issue(&error(after().add(curved), "unknown-curve"), "GE_C", &["C_Damage"]);
    let hero = Controller::new("Hero").set("Vitals").ability("GA_Hit");
    assert_issue(&error(after().add(hero), "unknown-ability"), "Hero", &["GA_Hit"]);
    let only = AttributeSet::new("Vitals").with(Attribute::new("Health", 1.0));
    let stale = Effect::infinite("GE_Max").add("MaxHealth", 1.0);
    assert_issue(
        &error(Rules::builder().after(old).add(only).add(stale), "unknown-attribute"),
        "GE_Max",
        &["MaxHealth"],
    );
}

#[test]
fn reading_an_attribute_that_no_set_has_does_not_define_it() {
    let builder = base()
        .add(Effect::instant("GE_Hit").modify(Modifier::new("Helth", Operation::Add, -5.0)).execute("ExecCalc_Slip"))
        .calc_fn("ExecCalc_Slip", [ugas_core::Read::target("Helth")], |_| {});
    assert_issue(&error(builder, "unknown-attribute"), "GE_Hit", &["Helth", "did you mean Health?"]);
}
