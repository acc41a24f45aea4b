//! The queries of editors as pure functions: completion, hover, definitions, references and renames.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use ugas_core::{Sim, SimConfig, SpawnSpec};
use ugas_data::language::{self, CompletionKind};
use ugas_data::{Mention, Project, Severity, SymbolKind, mentions, to_yaml};
use ugas_doc::Doc;

fn packs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(name)
}

/// A project of one text; `|` marks the cursor and is taken out.
fn at(text: &str) -> (Project, usize) {
    let cursor = text.find('|').expect("a cursor");
    let mut project = Project::default();
    project.put("a.yaml", text.replacen('|', "", 1));
    (project, cursor)
}

fn completed(text: &str) -> Vec<String> {
    let (project, cursor) = at(text);
    language::complete(&project, Path::new("a.yaml"), cursor).into_iter().map(|c| c.text).collect()
}

const WORLD: &str = "Kind: gameplay_tag\nTags: [{Tag: State.Dead}, {Tag: State.Hurt}]\n---\n\
                     Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}, {Name: Power, DefaultBaseValue: 3}]\n---\n\
                     Kind: curve\nName: C_Up\nPoints: [{X: 1, Y: 1}]\n---\n";

fn in_world(text: &str) -> Vec<String> {
    completed(&format!("{WORLD}{text}"))
}

// covers: OWN-09
#[test]
fn names_are_completed_where_a_key_refers_to_them() {
    let head = "Kind: gameplay_effect\nName: GE_It\nDurationPolicy: Infinite\n";
    assert_eq!(in_world(&format!("{head}GrantedTags: [Sta|]\n")), ["State.Dead", "State.Hurt"]);
    assert_eq!(in_world(&format!("{head}GrantedTags:\n  - State.|\n")), ["State.Dead", "State.Hurt"]);
    assert_eq!(in_world(&format!("{head}GrantedTags: [State.|\nPriority: 1\n")), ["State.Dead", "State.Hurt"]);
    assert_eq!(in_world(&format!("{head}Modifiers:\n  - Attribute: |\n")), ["Health", "Power"]);
    assert_eq!(in_world(&format!("{head}Duration: {{Type: ScalableFloat, Curve: |}}\n")), ["C_Up"]);
    assert_eq!(
        in_world(
            "Kind: gameplay_ability\nName: GA_It\nCost: |\n---\nKind: gameplay_effect\nName: GE_Cost\nDurationPolicy: Instant\n"
        ),
        ["GE_Cost"]
    );
    assert_eq!(in_world("Kind: calculation\nName: C_It\nValue: \"source.Po| * 2\"\n"), ["Health", "Power"]);
    assert_eq!(
        in_world("Kind: calculation\nName: C_It\nValue: \"if(has_tag(target, St|), 1, 0)\"\n"),
        ["State.Dead", "State.Hurt"]
    );
    assert_eq!(in_world("Kind: calculation\nName: C_It\nValue: \"curve(|, level)\"\n"), ["C_Up"]);
}

#[test]
fn a_completion_replaces_only_the_word_at_the_cursor() {
    let text = format!("{WORLD}Kind: calculation\nName: C_It\nValue: \"source.Po|w * 2\"\n");
    let (project, cursor) = at(&text);
    let found = language::complete(&project, Path::new("a.yaml"), cursor);
    let plain = text.replacen('|', "", 1);
    assert_eq!(found[0].replace.of(&plain), Some("Pow"));
    assert_eq!(found[0].kind, CompletionKind::Name(SymbolKind::Attribute));
}

#[test]
fn fields_and_enum_values_are_completed_from_the_schema() {
    let head = "Kind: gameplay_effect\nName: GE_It\nDurationPolicy: Infinite\n";
    let fields = completed(&format!("{head}Mod|\n"));
    assert!(fields.contains(&"Modifiers".to_owned()) && fields.contains(&"GrantedTags".to_owned()), "{fields:?}");
    assert!(!fields.contains(&"Name".to_owned()), "{fields:?}");
    let nested = completed(&format!("{head}Modifiers:\n  - Attribute: Health\n    Oper|\n"));
    assert!(nested.contains(&"Operation".to_owned()) && !nested.contains(&"Attribute".to_owned()), "{nested:?}");
    let flow = completed(&format!("{head}Duration: {{Type: ScalableFloat, Val|}}\n"));
    assert!(flow.contains(&"Curve".to_owned()) && !flow.contains(&"Type".to_owned()), "{flow:?}");
    let words = completed(&format!("{head}Modifiers:\n  - {{Attribute: Health, Operation: |}}\n"));
    assert_eq!(words, ["Add", "AddPost", "Multiply", "Override"]);
    let policies = completed("Kind: gameplay_effect\nName: GE_It\nDurationPolicy: |\n");
    assert_eq!(policies, ["HasDuration", "Infinite", "Instant"]);
    assert!(completed("Kind: gam|\n").contains(&"gameplay_effect".to_owned()));
    let tasks = completed("Kind: gameplay_ability\nName: GA_It\nTasks:\n  - Type: Wait|\n");
    assert!(tasks.contains(&"WaitGameplayEvent".to_owned()), "{tasks:?}");
}

#[test]
fn no_completion_and_no_panic_where_nothing_fits() {
    for text in ["|", "Kind: gameplay_effect\nName: GE_|\n", "# a comment |\n", "{[|", "- |\n- a", "ö: |ü\n", "a: \"|"]
    {
        let _ = completed(text);
    }
    let project = Project::default();
    assert_eq!(language::complete(&project, Path::new("nowhere.yaml"), 7), []);
    let (project, _) = at("Kind: curve|");
    assert_eq!(language::complete(&project, Path::new("a.yaml"), 4000), []);
    assert_eq!(language::hover(&project, Path::new("a.yaml"), 4000), None);
}

// covers: OWN-09
#[test]
fn hover_shows_the_value_that_the_runtime_computes() {
    let project = Project::open(packs("rpg")).unwrap();
    let path = packs("rpg").join("controllers.yaml");
    let text = project.sources().iter().find(|s| s.path == path).unwrap().text.clone();
    let hover = language::hover(&project, &path, text.find("WeaponDamage, BaseValue").unwrap()).unwrap();
    assert!(hover.text.contains("WeaponDamage 18.0"), "{}", hover.text);
    assert_eq!(hover.span.of(&text), Some("WeaponDamage"));
    // Another sword, another number: nothing is taken from the document's own CurrentValue.
    let mut changed = project.clone();
    let effects = packs("rpg").join("effects.yaml");
    let other =
        project.sources().iter().find(|s| s.path == effects).unwrap().text.replace("Value: 0.2}", "Value: 0.4}");
    changed.put(effects.clone(), other);
    let hover = language::hover(&changed, &path, text.find("WeaponDamage, BaseValue").unwrap()).unwrap();
    assert!(hover.text.contains("WeaponDamage 21.0"), "{}", hover.text);
    let source = project.sources().iter().find(|s| s.path == effects).unwrap();
    let hover = language::hover(&project, &effects, source.text.find("GE_Weapon_FireSword").unwrap()).unwrap();
    assert!(hover.text.contains("WeaponDamage × 1 + 0.2 in DamageBonuses"), "{}", hover.text);
}

#[test]
fn the_same_name_in_another_pack_is_another_symbol() {
    let project = Project::open(packs("")).unwrap();
    let path = packs("").join("rpg/effects.yaml");
    let found = language::references(&project, &path, SymbolKind::Attribute, "WeaponDamage");
    assert!(found.len() >= 4);
    assert!(found.iter().all(|p| p.path.starts_with(packs("").join("rpg"))), "{found:?}");
    // A tag that all packs take from core is one thing in all of them.
    let tags = packs("").join("core/tags.yaml");
    let found = language::references(&project, &tags, SymbolKind::Tag, "State.Alive");
    assert!(
        ["rpg", "shooter"].iter().all(|p| found.iter().any(|f| f.path.starts_with(packs("").join(p)))),
        "{found:?}"
    );
}

/// All documents as they are understood, line by line. Maps may be in another order under another name.
fn meaning(project: &Project) -> Vec<String> {
    let docs = project.sources().iter().flat_map(|s| &s.docs).filter_map(|d| d.loaded.as_ref());
    let mut lines: Vec<String> =
        docs.flat_map(|l| to_yaml(&l.doc).lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.sort();
    lines
}

/// Every number of every controller, from the smallest.
fn values(project: &Project) -> Vec<f64> {
    let mut all = Vec::new();
    for set in project.sets() {
        let (Some(rules), _) = project.build(&set) else { panic!("the rules build") };
        for (_, d) in project.docs(&set) {
            let Some(Doc::Controller(c)) = d.loaded.as_ref().map(|l| &l.doc) else { continue };
            let mut sim = Sim::new(rules.clone(), SimConfig::default());
            let template = rules.template(&c.owner_actor.actor_id).unwrap();
            let who = sim.spawn(SpawnSpec::template(template)).unwrap();
            all.extend(sim.attributes(who).unwrap().into_iter().map(|a| sim.get(who, a).unwrap()));
        }
    }
    all.sort_by(f64::total_cmp);
    all
}

fn errors(project: &Project) -> usize {
    project.check().iter().filter(|f| f.severity == Severity::Error).count()
}

fn defined(project: &Project) -> Vec<(PathBuf, Mention)> {
    let mut found = Vec::new();
    for source in project.sources() {
        for d in &source.docs {
            let Some(kind) = d.kind else { continue };
            let names = mentions(kind, &d.tree, &source.text).into_iter().filter(|m| m.definition);
            found.extend(names.map(|m| (source.path.clone(), m)));
        }
    }
    found
}

/// Tags that the runtime looks for by name.
const KNOWN: [&str; 3] = ["Event.Damage.Dealt", "Event.Damage.Taken", "State.Moving"];

// covers: OWN-09
#[test]
fn renaming_any_definition_of_a_pack_keeps_its_rules() {
    let project = Project::open(packs("rpg")).unwrap();
    let findings = errors(&project);
    let (before, numbers) = (meaning(&project), values(&project));
    let mut kinds = BTreeMap::new();
    for (path, m) in defined(&project) {
        let home = m.name.split('.').next().filter(|_| m.kind == SymbolKind::Tag);
        let new = &home.map_or("Zq_Renamed".to_owned(), |home| format!("{home}.Zq.Renamed"));
        let rename = match language::rename(&project, &path, m.span.start as usize, new) {
            Err(e) if KNOWN.contains(&m.name.as_str()) => {
                assert_eq!(e.to_string(), format!("the runtime uses the tag {} by name; choose another tag", m.name));
                continue;
            }
            other => other.unwrap_or_else(|e| panic!("{} {}: {e}", m.kind, m.name)),
        };
        let after = rename.applied(&project);
        assert_eq!(errors(&after), findings, "{} {}", m.kind, m.name);
        let mut back: Vec<String> = meaning(&after).iter().map(|line| line.replace(new, &m.name)).collect();
        back.sort();
        assert_eq!(back, before, "{} {}", m.kind, m.name);
        assert!(meaning(&after).iter().any(|line| line.contains(new)));
        if m.kind == SymbolKind::Attribute || !kinds.contains_key(&m.kind) {
            assert_eq!(values(&after), numbers, "{} {}", m.kind, m.name);
        }
        *kinds.entry(m.kind).or_insert(0) += 1;
    }
    let wanted =
        [SymbolKind::Tag, SymbolKind::Attribute, SymbolKind::Effect, SymbolKind::Ability, SymbolKind::InputAction];
    assert!(wanted.iter().all(|k| kinds.get(k).is_some_and(|n| *n > 1)), "{kinds:?}");
}

// covers: OWN-09
#[test]
fn renaming_a_tag_rewrites_queries_expressions_and_the_tags_below() {
    let text = "Kind: gameplay_tag\nTags: [{Tag: State.Hurt}, {Tag: State.Hurt.Badly}, {Tag: State.Hurting}]\n---\n\
                Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}]\n---\n\
                Kind: calculation\nName: C_It\nValue: \"if(has_tag(target, State.Hurt.Badly), target.Health, 0)\"\n---\n\
                Kind: gameplay_ability\nName: GA_It\nTags: {AbilityTags: [\"State.Hurt\", State.Hurting]}\n\
                ActivationQuery: \"State.Hurt | !State.Hurt.Badly\"\n";
    let mut project = Project::default();
    project.put("a.yaml", text);
    let rename =
        language::rename(&project, Path::new("a.yaml"), text.find("State.Hurt").unwrap(), "Body.Wounded").unwrap();
    let after = rename.applied(&project);
    let expected =
        text.replace("State.Hurting", "\u{1}").replace("State.Hurt", "Body.Wounded").replace('\u{1}', "State.Hurting");
    assert_eq!(&*after.sources()[0].text, expected);
    assert_eq!(rename.edits[Path::new("a.yaml")].len(), 6);
}

#[test]
fn renaming_an_attribute_reaches_expressions_curves_captures_and_texts() {
    let text = "Kind: attribute_set\nName: Vitals\nAttributes:\n- {Name: Power, DefaultBaseValue: 1}\n- {Name: Health, DefaultBaseValue: 9, Clamping: {Max: Power}}\n---\n\
                Kind: curve\nName: C_Up\nPoints: [{X: 1, Y: 1}]\n---\n\
                {\"Kind\": \"calculation\", \"Name\": \"C_It\", \"Capture\": {\"Source\": {\"Power\": \"OnApplication\"}}, \"Value\": \"source.Power * 2\"}\n---\n\
                Kind: gameplay_effect\nName: GE_It\nDurationPolicy: Instant\n\
                Modifiers: [{Attribute: Power, Operation: Add, Magnitude: {Type: ScalableFloat, Curve: C_Up, CurveInput: Power}}]\n\
                Metadata: {Description: 'Gives {GE_It.Power} of {Power}'}\n";
    let mut project = Project::default();
    project.put("a.yaml", text);
    assert_eq!(errors(&project), 0);
    let rename = language::rename(&project, Path::new("a.yaml"), text.find("Power").unwrap(), "Might").unwrap();
    assert_eq!(&*rename.applied(&project).sources()[0].text, text.replace("Power", "Might"));
}

#[test]
fn a_rename_that_would_change_a_meaning_is_refused() {
    let text = "Kind: gameplay_tag\nTags: [{Tag: State.Hurt}, {Tag: State.Dead}]\n---\n\
                Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 9}, {Name: Mana, DefaultBaseValue: 9}]\n";
    let mut project = Project::default();
    project.put("a.yaml", text);
    let refused = |what: &str, new: &str| {
        let at = text.find(what).unwrap();
        language::rename(&project, Path::new("a.yaml"), at, new).unwrap_err().to_string()
    };
    assert_eq!(refused("State.Hurt", "State.Dead"), "State.Dead is already used at a.yaml:2:33; choose another name");
    assert_eq!(refused("Health", "Mana"), "Mana is already used at a.yaml:6:58; choose another name");
    assert_eq!(refused("Kind", "Mana"), "found no name to rename at this place; select a name");
    for (what, bad) in [
        ("State.Hurt", ""),
        ("State.Hurt", "a..b"),
        ("State.Hurt", "a b"),
        ("State.Hurt", "state.Hurt"),
        ("State.Hurt", "State.Badly_Hurt"),
        ("Health", "health"),
        ("Health", "A.B"),
        ("Vitals", "x: y"),
        ("Vitals", ""),
    ] {
        assert!(refused(what, bad).contains("is not a valid"), "{bad}");
    }
    let mut other = Project::default();
    other.put("b.yaml", "Kind: gameplay_tag\nTags: [{Tag: Cooldown.Fire}, {Tag: State.Moving}]\n");
    let refused_there =
        |at: usize, new: &str| language::rename(&other, Path::new("b.yaml"), at, new).unwrap_err().to_string();
    assert!(refused_there(34, "State.Fire").contains("tags below Cooldown have a special meaning"));
    assert!(refused_there(56, "State.Walking").starts_with("the runtime uses the tag State.Moving"));
    // YAML would read these as something else than a text.
    assert!(refused("Vitals", "true").contains("would change other values"));
}

#[test]
fn a_rename_changes_the_scenarios_that_use_the_pack() {
    let mut project = Project::default();
    project.put("packs/p/pack.yaml", "Name: p\n");
    let pack = "Kind: attribute_set\nName: V\nAttributes: [{Name: Level, DefaultBaseValue: 1}]\n---\n\
                Kind: gameplay_effect\nName: GE_Up\nDurationPolicy: Instant\n\
                Modifiers: [{Attribute: Level, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}]\n";
    project.put("packs/p/a.yaml", pack);
    let scenario = "Scenario: Level GE_Up\nPacks: [../packs/p]\nEntities:\n  - {Kind: gameplay_ability, Name: GA_It, Cost: GE_Up}\n\
                    Actors: {Hero: {AttributeSets: [V], Base: {Level: 3}}}\nTimeline:\n  - At: 0\n    Do:\n      \
                    - Apply: {Effect: GE_Up, To: Hero, Level: 2}\n      - Expect: {Hero.Level: 4}\n      \
                    - ExpectFacts: [{Kind: AttributeChanged, Attribute: Level}]\n";
    project.put("scenarios/s.yaml", scenario);
    project.put("scenarios/other.yaml", scenario.replace("../packs/p", "../packs/q"));
    let at = |word: &str| pack.find(word).unwrap() + 1;
    let renamed = |word: &str, new: &str| {
        let rename = language::rename(&project, "packs/p/a.yaml".as_ref(), at(word), new).unwrap();
        assert!(!rename.edits.contains_key(Path::new("scenarios/other.yaml")));
        rename.applied(&project).source("scenarios/s.yaml").unwrap().text.to_string()
    };
    let text = renamed("GE_Up", "GE_Rise");
    assert_eq!(text, scenario.replace("Cost: GE_Up", "Cost: GE_Rise").replace("Effect: GE_Up", "Effect: GE_Rise"));
    // `Level` is also a field of verbs, which is not renamed.
    let wanted = scenario.replace("{Level: 3}", "{Rank: 3}").replace("Hero.Level", "Hero.Rank");
    assert_eq!(renamed("Level", "Rank"), wanted.replace("Attribute: Level", "Attribute: Rank"));
}

const ROBOT: &str = "Kind: capability\nName: Regen\nQuery: \"!State.Hurt\"\nWhen: Health < 30\n---\n\
                     Kind: capability_set\nName: CS_Robot\nCapabilities: [{Class: Regen}, {Class: FlyMove}]\n---\n\
                     Kind: capability_set\nName: CS_Hero\nSets: [CS_Robot]\n";

#[test]
fn classes_and_sets_of_capabilities_are_completed_hovered_and_renamed() {
    let with = |text: &str| in_world(&format!("{ROBOT}---\n{text}"));
    assert_eq!(with("Kind: capability_set\nName: CS_It\nSets: [|]\n"), ["CS_Hero", "CS_It", "CS_Robot"]);
    assert_eq!(with("Kind: capability_set\nName: CS_It\nCapabilities: [{Class: |}]\n"), ["Regen"]);
    assert_eq!(with("Kind: capability_set\nName: CS_It\nDataComponents: [|]\n"), ["Vitals"]);
    assert_eq!(with("Kind: capability\nName: It\nUntil: Po|\n"), ["Health", "Power"]);
    assert_eq!(with("Kind: capability\nName: It\nBlock: [|]\n"), ["State.Dead", "State.Hurt"]);
    let sides = with("Kind: capability_set\nName: CS_It\nCapabilities: [{Class: Regen, Side: |}]\n");
    assert!(sides.contains(&"LocalControlledOnly".to_owned()), "{sides:?}");

    let mut project = Project::default();
    project.put("p/pack.yaml", "Name: p\nHost: {Capabilities: [FlyMove]}\n");
    let text = format!("{WORLD}{ROBOT}");
    project.put("p/a.yaml", text.as_str());
    let path = Path::new("p/a.yaml");
    let hover = |word: &str| language::hover(&project, path, text.rfind(word).unwrap()).unwrap().text;
    assert_eq!(hover("Regen}"), "**Regen** capability\n\n`active while !State.Hurt and Health < 30`");
    assert_eq!(hover("FlyMove}"), "**FlyMove** capability\n\nprovided by host code");
    assert_eq!(hover("CS_Robot]"), "**CS_Robot** capability set\n\n`adds Regen, FlyMove`");
    let places = language::references(&project, path, SymbolKind::Capability, "Regen");
    assert_eq!(places.len(), 2, "{places:?}");
    assert_eq!(language::references(&project, path, SymbolKind::CapabilitySet, "CS_Robot").len(), 2);
    let found: Vec<_> = project.check().into_iter().filter(|f| f.severity == Severity::Error).collect();
    assert!(found.is_empty(), "{found:?}");

    let renamed = |word: &str, new: &str| {
        let rename = language::rename(&project, path, text.find(word).unwrap(), new).unwrap();
        rename.applied(&project).source("p/a.yaml").unwrap().text.to_string()
    };
    assert_eq!(renamed("Regen\n", "Heal"), text.replace("Regen", "Heal"));
    assert_eq!(renamed("CS_Robot\n", "CS_Golem"), text.replace("CS_Robot", "CS_Golem"));
}

#[test]
fn functions_of_host_code_are_completed() {
    let completed = |text: &str| {
        let (mut project, cursor) = (Project::default(), text.find('|').unwrap());
        project.put("p/pack.yaml", "Name: p\nHost: {Calculations: [ExecCalc_Wind], Hooks: [Lucky, Armor]}\n");
        project.put("q/pack.yaml", "Name: q\nHost: {Hooks: [Other]}\n");
        project.put("p/a.yaml", text.replacen('|', "", 1));
        let found = language::complete(&project, Path::new("p/a.yaml"), cursor);
        found.into_iter().map(|c| (c.text, c.detail)).collect::<Vec<_>>()
    };
    let hooks = ["Armor", "Lucky"].map(|name| (name.to_owned(), "function of host code".to_owned()));
    let effect = "Kind: gameplay_effect\nName: GE_It\nDurationPolicy: Infinite\n";
    assert_eq!(completed(&format!("{effect}Rules:\n  - {{On: DamageDone, Function: Ar|}}\n")), hooks);
    assert_eq!(completed(&format!("{effect}Rules:\n  - On: DamageDone\n    Function: |\n")), hooks);
    assert_eq!(completed(&format!("{effect}ApplicationRequirement: |\n")), hooks);
    assert_eq!(completed("Kind: gameplay_ability\nName: GA_It\nCanActivate: |\n"), hooks);
    assert_eq!(completed(&format!("{effect}Rules:\n  - {{On: DamageDone, When: |}}\n")), []);
}

#[test]
fn a_capability_set_is_renamed_in_lists_of_ability_sets() {
    let mut project = Project::default();
    let text = format!(
        "{WORLD}{ROBOT}---\nKind: gameplay_controller\nOwnerActor: {{ActorID: Hero}}\nAttributeSets: [{{Name: Vitals}}]\n\
                        AbilitySets: [CS_Hero]\n"
    );
    let text = text.replace(", {Class: FlyMove}", "");
    project.put("p/pack.yaml", "Name: p\n");
    project.put("p/a.yaml", text.as_str());
    let at = text.find("CS_Hero").unwrap();
    let rename = language::rename(&project, Path::new("p/a.yaml"), at, "CS_Knight").unwrap();
    let renamed = rename.applied(&project).source("p/a.yaml").unwrap().text.to_string();
    assert_eq!(renamed, text.replace("CS_Hero", "CS_Knight"));
}

#[test]
fn a_resource_is_completed_hovered_and_renamed_with_its_bounds() {
    let mana = "Kind: resource\nName: Mana\nInitial: 50\nMax: 100\nMin: 0\nOnChanged: [GE_Up]\n---\n\
                Kind: gameplay_effect\nName: GE_Up\nDurationPolicy: Instant\n---\n\
                Kind: capability\nName: Low\nWhen: Mana < MaxMana - MinMana\n";
    let with = |text: &str| in_world(&format!("{mana}---\n{text}"));
    let hero = "Kind: gameplay_controller\nOwnerActor: {ActorID: Hero}\nAttributeSets: [{Name: Vitals}]\n";
    assert!(with(&format!("{hero}Resources: [{{Resource: Ma|}}]\n")).contains(&"Mana".to_owned()));
    assert!(with("Kind: resource\nName: Rage\nInitial: 1\nMax: 2\nOnChanged: [|]\n").contains(&"GE_Up".to_owned()));

    let mut project = Project::default();
    let text = format!("{WORLD}{mana}---\n{hero}Resources: [{{Resource: Mana, Max: 80}}]\n");
    let scenario = "Scenario: S\nPacks: [../p]\nActors: {Hero: {Resources: [Mana]}}\nTimeline:\n  - At: 1\n    Do:\n      \
                    - ModifyResource: {Actor: Hero, Resource: Mana, By: 5}\n      - Expect: [\"Hero.MaxMana == 100\"]\n";
    project.put("p/pack.yaml", "Name: p\n");
    project.put("p/a.yaml", text.as_str());
    project.put("scenarios/s.yaml", scenario);
    let path = Path::new("p/a.yaml");
    let hover = |word: &str| language::hover(&project, path, text.find(word).unwrap()).unwrap().text;
    assert!(hover("MaxMana").contains("Mana"), "{}", hover("MaxMana"));
    let rename = language::rename(&project, path, text.find("Mana\n").unwrap(), "Energy").unwrap();
    let after = rename.applied(&project);
    assert_eq!(*after.source("p/a.yaml").unwrap().text, *text.replace("Mana", "Energy"));
    assert_eq!(*after.source("scenarios/s.yaml").unwrap().text, *scenario.replace("Mana", "Energy"));
}
