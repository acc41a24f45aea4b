//! Names with a namespace when rules are built, in error positions, in lints and in editors; also the order of patches.

use std::path::Path;
use ugas_data::{Diagnostic, Project, Severity, SymbolKind, language};

fn errors(project: &Project) -> Vec<Diagnostic> {
    project.check().into_iter().filter(|f| f.severity == Severity::Error).collect()
}

fn messages(project: &Project) -> Vec<String> {
    errors(project).iter().map(|f| format!("{}:{}:{} {}: {}", f.file, f.line, f.column, f.id, f.message)).collect()
}

/// The shipped packs that require `core`, each in its own namespace, with one pack that requires them all.
fn shipped() -> Project {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs");
    let mut project = Project::default();
    for pack in ["core", "rpg", "shooter", "racing", "action"] {
        let mut files: Vec<_> = std::fs::read_dir(root.join(pack)).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "yaml")) {
            let name = file.file_name().unwrap().to_str().unwrap();
            let mut text = std::fs::read_to_string(file).unwrap();
            if name == "pack.yaml" && pack != "core" {
                text.push_str(&format!("Namespace: {pack}\n"));
            }
            project.put(format!("packs/{pack}/{name}"), text);
        }
    }
    project.put("packs/all/pack.yaml", "Name: all\nRequires: [rpg, shooter, racing, action]\n");
    project.put("packs/all/curve.yaml", "Kind: curve\nName: C_All\nPoints: [{X: 1, Y: 1}]\n");
    project
}

#[test]
fn every_name_of_the_shipped_packs_works_in_a_namespace() {
    let project = shipped();
    let counts =
        |f: &Diagnostic| f.severity != Severity::Info && f.file.contains("packs/") && !f.file.contains("/all/");
    let found: Vec<Diagnostic> = project.check().into_iter().filter(counts).collect();
    assert_eq!(found, [], "packs that are valid without namespaces are valid with them");
    let set = project.sets().into_iter().find(|s| s.folder.as_deref() == Some("packs/all".as_ref())).unwrap();
    let (rules, issues) = project.build(&set);
    let rules = rules.unwrap_or_else(|| panic!("{issues:?}"));
    for name in ["rpg::Health", "shooter::Health", "action::Health"] {
        assert!(rules.find_attribute(name).is_some(), "{name}");
    }
    // Nothing is left outside: each name that is not a tag belongs to a pack, but for those the runtime makes.
    let plain = rules.effect_list().map(|(_, name)| name).filter(|n| !n.contains("::") && *n != "GE_Initial_Tags");
    assert_eq!(plain.collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(rules.effect_list().count() > 20);
}

/// Two packs; `b` requires `a` and uses its names.
fn two(b: &str) -> Project {
    let mut project = Project::default();
    project.put("p/a/pack.yaml", "Name: a\nNamespace: a\n");
    project.put(
        "p/a/a.yaml",
        "Kind: attribute_set\nName: Vitals\nAttributes:\n  - {Name: MaxHealth, DefaultBaseValue: 10}\n  - {Name: Health, \
         DefaultBaseValue: 10, Clamping: {Min: 0, Max: MaxHealth}}\n---\nKind: gameplay_effect\nName: GE_Hit\n\
         DurationPolicy: Instant\nModifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -1}}]\n",
    );
    project.put("p/b/pack.yaml", "Name: b\nNamespace: b\nRequires: [a]\n");
    project.put("p/b/b.yaml", b);
    project
}

#[test]
fn errors_are_reported_at_their_location_with_the_names_of_the_pack() {
    let effect = "Kind: gameplay_effect\nName: GE_It\nDurationPolicy: Instant\n";
    let b = format!(
        "{effect}ApplicationCondition: \"a::Health > 1 && a::Helth > Speed && Sped < 1\"\n---\n\
         Kind: attribute_set\nName: Own\nAttributes: [{{Name: Speed, DefaultBaseValue: 1}}]\n---\n\
         Kind: gameplay_ability\nName: GA_It\nCost: GE_Itt\nCooldown: a::GE_Hti\nActivationCondition: \"Speed > 0 && Speed > Sped\"\n"
    );
    let project = two(&b);
    assert_eq!(
        messages(&project),
        [
            "p/b/b.yaml:4:41 bad-expression: GE_It: ApplicationCondition: column 18: unknown attribute a::Helth",
            "p/b/b.yaml:12:7 unknown-effect: GA_It: Cost: unknown effect GE_Itt",
            "p/b/b.yaml:13:11 unknown-effect: GA_It: Cooldown: unknown effect a::GE_Hti",
            "p/b/b.yaml:14:44 bad-expression: GA_It: ActivationCondition: column 22: unknown attribute Sped",
        ]
    );
    let helps: Vec<_> = errors(&project).into_iter().map(|f| f.help.unwrap_or_default()).collect();
    let meant = ["a::Health", "GE_It", "a::GE_Hit", "Speed"];
    assert_eq!(helps, meant.map(|m| format!("did you mean {m}?")));
}

#[test]
fn short_names_of_another_pack_are_unknown() {
    let project = two("Kind: gameplay_ability\nName: GA_It\nCost: GE_Hit\n");
    let found = messages(&project);
    assert_eq!(found, ["p/b/b.yaml:3:7 unknown-effect: GA_It: Cost: unknown effect GE_Hit"]);
    assert_eq!(errors(&project)[0].help.as_deref(), Some("did you mean a::GE_Hit?"));
}

#[test]
fn editors_follow_names_through_namespaces() {
    let b = "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\n---\n\
             Kind: gameplay_ability\nName: GA_It\nCost: GE_Hit\nCooldown: a::GE_Hit\nActivationCondition: \"a::Health > 1\"\n";
    let project = two(b);
    let (here, there): (&Path, &Path) = ("p/b/b.yaml".as_ref(), "p/a/a.yaml".as_ref());
    let at = |word: &str| b.find(word).unwrap() + 1;
    let name = |at| language::name_at(&project, here, at).unwrap().name;
    assert_eq!((name(at("GE_Hit\nCool")), name(at("a::GE_Hit"))), ("b::GE_Hit".to_owned(), "a::GE_Hit".to_owned()));
    let defined = |name: &str| language::definitions(&project, here, SymbolKind::Effect, name)[0].path.clone();
    assert_eq!((defined("a::GE_Hit").as_path(), defined("b::GE_Hit").as_path()), (there, here));
    assert_eq!(language::references(&project, here, SymbolKind::Effect, "a::GE_Hit").len(), 2);

    // Each reference keeps its form: short in its own pack, qualified elsewhere.
    let source = &project.sources().iter().find(|s| s.path == there).unwrap().text;
    let rename = language::rename(&project, there, source.find("GE_Hit").unwrap() + 1, "GE_Blow").unwrap();
    let texts = |path: &Path| rename.edits[path].iter().map(|e| e.text.as_str()).collect::<Vec<_>>();
    assert_eq!((texts(there), texts(here)), (vec!["GE_Blow"], vec!["a::GE_Blow"]));
    let rename = language::rename(&project, here, at("a::Health"), "a::Life").unwrap();
    assert_eq!(rename.edits[here][0].text, "a::Life");
    assert_eq!(rename.edits[there].iter().map(|e| e.text.as_str()).collect::<Vec<_>>(), ["Life", "Life"]);
    assert!(language::rename(&project, here, at("a::Health"), "b::Life").is_err());

    let offered = |word: &str| {
        let found = language::complete(&project, here, b.find(word).unwrap() + word.len());
        found.into_iter().map(|c| c.text).collect::<Vec<_>>()
    };
    assert_eq!(offered("Cost: GE_"), ["GE_Hit", "a::GE_Hit"]);
    assert_eq!(offered("Cooldown: a::GE"), ["GE_Hit", "a::GE_Hit"]);
    let hover = language::hover(&project, here, at("a::GE_Hit")).unwrap();
    assert!(hover.text.contains("a::GE_Hit") && hover.text.contains("instant"), "{}", hover.text);
    assert_eq!(language::show(&project, "GE_Hit", 1).len(), 2);
    assert!(language::show(&project, "a::GE_Hit", 1)[0].contains("p/b/b.yaml:8 Cooldown of GA_It"));
}

#[test]
fn a_patch_belongs_to_its_pack_and_editors_follow_it() {
    let b = "Kind: gameplay_effect\nName: GE_More\nDurationPolicy: Instant\n---\n\
             Kind: patch\nTarget: a::GE_Hit\nSet:\n  Effects.OnExecuted: [GE_More, a::GE_Hit]\n  EffectTags: [Damage.More]\n";
    let project = two(b);
    assert_eq!(messages(&project), Vec::<String>::new());
    let set = project.sets().into_iter().find(|s| s.folder.as_deref() == Some("p/b".as_ref())).unwrap();
    let rules = project.build(&set).0.unwrap();
    let origin = rules.effect_origin(rules.effect("a::GE_Hit").unwrap()).unwrap();
    let fields: Vec<String> = origin.patches.iter().map(ToString::to_string).collect();
    assert_eq!(fields, ["Effects.OnExecuted patched by p/b/b.yaml:8", "EffectTags patched by p/b/b.yaml:9"]);
    let uses = language::references(&project, "p/b/b.yaml".as_ref(), SymbolKind::Effect, "a::GE_Hit");
    assert_eq!(uses.len(), 3, "the definition, the target and the value");
    let rename = language::rename(&project, "p/b/b.yaml".as_ref(), b.find("GE_More").unwrap(), "GE_Even").unwrap();
    assert_eq!(rename.edits[Path::new("p/b/b.yaml")].len(), 2);
}

fn patched(packs: &[(&str, &str)]) -> Project {
    let mut project = two("Kind: curve\nName: C_B\nPoints: [{X: 1, Y: 1}]\n");
    for (name, requires) in packs {
        project.put(format!("p/{name}/pack.yaml"), format!("Name: {name}\nRequires: [{requires}]\n"));
        let text = format!("Kind: patch\nTarget: a::GE_Hit\nSet:\n  Modifiers[0].Magnitude.Value: -{}\n", name.len());
        project.put(format!("p/{name}/patch.yaml"), text);
    }
    project
}

fn damage(project: &Project, pack: &str) -> String {
    let set = project.sets().into_iter().find(|s| s.folder.as_deref() == Some(Path::new("p").join(pack).as_path()));
    let rules = project.build(&set.unwrap()).0.unwrap();
    rules.fill_text("{a::GE_Hit.a::Health}", 1).text
}

#[test]
fn patches_apply_in_the_order_packs_require_each_other() {
    let project = patched(&[("zz", "a"), ("yyy", "zz"), ("xxxx", "yyy, a")]);
    assert_eq!(messages(&project), Vec::<String>::new());
    assert_eq!([damage(&project, "zz"), damage(&project, "yyy"), damage(&project, "xxxx")], ["2", "3", "4"]);
    assert_eq!(damage(&project, "a"), "1", "a patched pack does not refer to the patch");
}

#[test]
fn two_patches_of_a_field_without_an_order_are_a_finding() {
    let mut project = patched(&[("zz", "a"), ("yyy", "a")]);
    assert_eq!(messages(&project), Vec::<String>::new(), "no pack has both");
    project.put("p/both/pack.yaml", "Name: both\nRequires: [zz, yyy]\n");
    project.put("p/both/curve.yaml", "Kind: curve\nName: C_Both\nPoints: [{X: 1, Y: 1}]\n");
    assert_eq!(
        messages(&project),
        [
            "p/yyy/patch.yaml:4:3 patch-conflict: Modifiers[0].Magnitude.Value of a::GE_Hit is also patched at p/zz/patch.yaml:4"
        ]
    );
}

#[test]
fn an_invalid_namespace_is_reported() {
    let mut project = Project::default();
    project.put("p/a/pack.yaml", "Name: a\nNamespace: my pack\n");
    assert_eq!(
        messages(&project),
        ["p/a/pack.yaml:2:12 invalid: Namespace: \"my pack\" is invalid: start with a letter and use letters, \
          digits and _"]
    );
}
