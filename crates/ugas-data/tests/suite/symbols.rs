//! Names in documents: which are defined, which are referred to, and exactly where.

use ugas_data::{KindName, SymbolKind, kind_of, mentions, read_trees};

fn of(text: &str) -> Vec<(SymbolKind, String, bool)> {
    let tree = &read_trees("a.yaml", text).unwrap()[0];
    let KindName::Known(kind) = kind_of("a.yaml", tree).unwrap() else { panic!("unsupported") };
    let found = mentions(kind, tree, text);
    for m in &found {
        assert_eq!(m.span.of(text), Some(m.name.as_str()), "{m:?}");
    }
    found.into_iter().map(|m| (m.kind, m.name, m.definition)).collect()
}

fn has(found: &[(SymbolKind, String, bool)], kind: SymbolKind, name: &str, definition: bool) {
    assert!(found.contains(&(kind, name.to_owned(), definition)), "{kind} {name} is not in {found:?}");
}

#[test]
fn an_ability_mentions_effects_tags_and_inputs_at_any_depth() {
    let found = of(
        "Kind: gameplay_ability\nName: GA_A\nCost: GE_Cost\nCharges: {Max: 2, Cost: 1, Cooldown: 8}\nTags: {AbilityTags: [A.B]}\n\
                    Triggers: [{Event: Event.Hit}, {Attribute: Health, Below: 30}]\nTasks:\n- Type: Branch\n  When: \"self.Health > level && has_tag(target, State.Dead)\"\n\
                    \x20 Then: [{Type: ApplyEffectToOwner, Params: {EffectClass: \"GE_Heal\"}}]\n- {Type: WaitInputRelease, Params: {InputID: Aim}}\nActivationQuery: \"State.A | !State.B\"\n",
    );
    use SymbolKind::{Ability, Attribute, Effect, InputAction, Tag};
    has(&found, Ability, "GA_A", true);
    has(&found, Effect, "GE_Cost", false);
    has(&found, Effect, "GE_Heal", false);
    has(&found, InputAction, "Aim", false);
    for tag in ["A.B", "Event.Hit", "State.Dead", "State.A", "State.B"] {
        has(&found, Tag, tag, false);
    }
    has(&found, Attribute, "Health", false);
    assert_eq!(found.iter().filter(|f| f.0 == Effect).count(), 2, "charges hold numbers, not effects: {found:?}");
    assert_eq!(found.iter().filter(|f| f.0 == Attribute).count(), 2, "{found:?}");
}

#[test]
fn sets_define_attributes_and_bounds_refer_to_them() {
    let found = of(
        "Kind: attribute_set\nName: Vitals\nAttributes:\n- {Name: MaxHealth, DefaultBaseValue: 100}\n- {Name: Health, DefaultBaseValue: 100, Clamping: {Min: 0, Max: MaxHealth}}\n\
                    - {Name: Toughness, DefaultBaseValue: 0, DerivedFrom: {Expression: Health * (1 + min(MaxHealth, 5) / 100)}}\n",
    );
    has(&found, SymbolKind::AttributeSet, "Vitals", true);
    has(&found, SymbolKind::Attribute, "Health", true);
    assert_eq!(found.iter().filter(|f| f.1 == "MaxHealth" && !f.2).count(), 2, "{found:?}");
    assert_eq!(found.iter().filter(|f| f.1 == "Health" && !f.2).count(), 1, "{found:?}");
}

#[test]
fn a_calculation_refers_to_attributes_tags_and_curves() {
    let found = of(
        "Kind: calculation\nName: E\nCapture: {Source: {Attack: OnExecution}}\nLet:\n- {raw: \"source.Attack * curve(C_Falloff, hit.distance) * params.Scale\"}\n\
                    - {zone: \"if(has_tag(hit, Hitzone.Head), source.Crit, 1)\"}\nResults: [{Attribute: Health, Operation: Add, Value: \"-raw * zone\"}]\n",
    );
    has(&found, SymbolKind::Curve, "C_Falloff", false);
    has(&found, SymbolKind::Tag, "Hitzone.Head", false);
    has(&found, SymbolKind::Attribute, "Crit", false);
    has(&found, SymbolKind::Attribute, "Health", false);
    assert_eq!(found.iter().filter(|f| f.1 == "Attack").count(), 2, "{found:?}");
    assert!(
        !found.iter().any(|f| ["raw", "zone", "Scale", "params.Scale", "distance"].contains(&f.1.as_str())),
        "{found:?}"
    );
}

#[test]
fn capabilities_and_their_sets_mention_classes_sets_effects_tags_and_attributes() {
    use SymbolKind::{AttributeSet, Capability, CapabilitySet, Effect, Tag};
    let found = of(
        "Kind: capability\nName: Regen\nQuery: \"!State.Combat\"\nWhen: Stamina < 30 && has_tag(self, State.Calm)\n\
                    Until: Stamina > Limit\nEffects: [GE_A]\nOnActivated: [GE_B]\nOnDeactivated: [GE_C]\nOnTick: [GE_D]\nBlock: [Capability.Move]\n",
    );
    has(&found, Capability, "Regen", true);
    ["GE_A", "GE_B", "GE_C", "GE_D"].iter().for_each(|effect| has(&found, Effect, effect, false));
    ["State.Combat", "State.Calm", "Capability.Move"].iter().for_each(|tag| has(&found, Tag, tag, false));
    ["Stamina", "Limit"].iter().for_each(|attribute| has(&found, SymbolKind::Attribute, attribute, false));
    let entry = "Capabilities: [{Class: Regen, Tags: [Capability.Rest], BlockedBy: State.Stunned}]\n";
    let set = of(&format!("Kind: capability_set\nName: CS_A\nSets: [CS_B]\nDataComponents: [Body]\n{entry}"));
    has(&set, CapabilitySet, "CS_A", true);
    has(&set, CapabilitySet, "CS_B", false);
    has(&set, AttributeSet, "Body", false);
    for found in [set, of(&format!("Kind: ability_set\nName: AS_A\n{entry}"))] {
        has(&found, Capability, "Regen", false);
        ["Capability.Rest", "State.Stunned"].iter().for_each(|tag| has(&found, Tag, tag, false));
    }
    let found = of("Kind: gameplay_controller\nOwnerActor: {ActorID: A}\nCapabilities: {Sets: [CS_A]}\n");
    has(&found, CapabilitySet, "CS_A", false);
}
