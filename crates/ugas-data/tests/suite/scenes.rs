//! Scenes that extend others: the merged result, and duplicate names.

use ugas_data::{Diagnostic, Project, Severity};

const BASE: &str = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}]\n---\n\
                    Kind: gameplay_controller\nOwnerActor: {ActorID: Ogre}\nAttributeSets: [{Name: Vitals}]\n";

fn project(files: &[(&str, &str)]) -> Project {
    let mut project = Project::default();
    project.put("base.yaml", BASE);
    files.iter().for_each(|(name, text)| project.put(*name, *text));
    project
}

fn found(project: &Project) -> Vec<(String, String, u32, u32, String)> {
    let row = |f: Diagnostic| (f.id.to_string(), f.file.to_string(), f.line, f.column, f.message);
    project.check().into_iter().filter(|f| f.severity == Severity::Error).map(row).collect()
}

const CAVE: (&str, &str) = (
    "cave.yaml",
    "Kind: scene\nName: SC_Cave\nPlacements:\n- {Controller: Ogre, InstanceId: boss}\nRegions: [{Name: Lava, Shape: Sphere, Radius: 2}]\n",
);
const CAMP: (&str, &str) = (
    "camp.yaml",
    "Kind: scene\nName: SC_Camp\nPlacements:\n- {Controller: Ogre, InstanceId: cook}\n- {Controller: Ogre, InstanceId: boss}\n",
);

// covers: NXT-18-02
#[test]
fn an_instance_id_of_two_parents_refuses_the_scene_and_both_files_are_named() {
    let both = ("both.yaml", "Kind: scene\nName: SC_Both\nExtends: [SC_Cave, SC_Camp]\n");
    let project = project(&[CAVE, CAMP, both]);
    let message = "SC_Both: the instance id boss is in both SC_Cave (cave.yaml:4) and SC_Camp (camp.yaml:5)";
    let wanted = ("duplicate-instance".to_owned(), "both.yaml".to_owned(), 3, 20, message.to_owned());
    assert_eq!(found(&project), [wanted]);
    let refused = project.scene(&project.sets()[0], "SC_Both").unwrap().unwrap_err();
    assert_eq!(refused[0].message, message);
    // An error of a parent is not reported again for its children.
    let mut project = project;
    project.put("child.yaml", "Kind: scene\nName: SC_Child\nExtends: [SC_Both]\n");
    assert_eq!(found(&project).len(), 1);
    assert!(project.scene(&project.sets()[0], "SC_Child").unwrap().is_err());
}

#[test]
fn an_undeclared_tag_of_a_scene_is_a_warning_at_the_tag() {
    let camp =
        "Kind: scene\nName: SC_Camp\nPlacements:\n- {Controller: Ogre, InstanceId: cook, StartupTags: [State.Fed]}\n";
    let project = project(&[("camp.yaml", camp)]);
    let found: Vec<_> = project.check().into_iter().filter(|f| f.id == "undeclared-tag").collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].severity, &*found[0].file, found[0].line), (Severity::Warning, "camp.yaml", 4));
    assert_eq!(&camp[found[0].span.start as usize..found[0].span.end as usize], "State.Fed");
    let (rules, _) = project.build(&project.sets()[0]);
    assert!(rules.unwrap().tag("State.Fed").is_ok());
}

// covers: NXT-18-02
#[test]
fn a_region_that_repeats_one_of_a_parent_is_reported_at_the_own_region() {
    let deep = "Kind: scene\nName: SC_Deep\nExtends: [SC_Cave]\nRegions:\n- {Name: Lava, Shape: Sphere, Radius: 9}\n";
    let found = found(&project(&[CAVE, ("deep.yaml", deep)]));
    let message = "SC_Deep: the region Lava is in both SC_Cave (cave.yaml:5) and SC_Deep (deep.yaml:5)";
    assert_eq!(found, [("duplicate-region".to_owned(), "deep.yaml".to_owned(), 5, 10, message.to_owned())]);
}

// covers: NXT-18-02
#[test]
fn parent_scenes_are_merged_first_and_once() {
    let left = "Kind: scene\nName: SC_Left\nExtends: [SC_Cave]\nSpawnPoints: [{Name: L}]\n";
    let right = "Kind: scene\nName: SC_Right\nExtends: [SC_Cave]\nSpawnPoints: [{Name: R}]\n";
    let all = "Kind: scene\nName: SC_All\nExtends: [SC_Right, SC_Left]\nPlacements: [{Controller: Ogre, InstanceId: own}]\nSpawnPoints: [{Name: A}]\n";
    let project = project(&[CAVE, ("left.yaml", left), ("right.yaml", right), ("all.yaml", all)]);
    assert_eq!(found(&project), []);
    let scene = project.scene(&project.sets()[0], "SC_All").unwrap().unwrap();
    let ids: Vec<&str> = scene.placements.iter().map(|p| p.instance_id.as_str()).collect();
    let points: Vec<&str> = scene.spawn_points.iter().map(|p| p.name.as_str()).collect();
    assert_eq!((ids, points), (vec!["boss", "own"], vec!["R", "L", "A"]));
    assert_eq!((scene.name.as_str(), scene.regions.len(), scene.extends.len()), ("SC_All", 1, 0));
    assert!(project.scene(&project.sets()[0], "SC_None").is_none());
}

#[test]
fn a_cycle_of_scenes_is_reported_at_each_scene() {
    let a = "Kind: scene\nName: SC_A\nExtends: [SC_Cave, SC_B]\n";
    let b = "Kind: scene\nName: SC_B\nExtends: [SC_A]\n";
    let project = project(&[CAVE, ("a.yaml", a), ("b.yaml", b)]);
    let found: Vec<_> = found(&project).into_iter().map(|f| (f.0, f.1, f.2, f.3)).collect();
    let cycle = |file: &str, column| ("scene-cycle".to_owned(), file.to_owned(), 3, column);
    assert_eq!(found, [cycle("a.yaml", 20), cycle("b.yaml", 11)]);
    assert!(project.scene(&project.sets()[0], "SC_A").unwrap().is_err());
}

// Outside data must not nest calls without end.
#[test]
fn a_chain_of_many_thousand_scenes_is_refused_and_costs_little() {
    let mut text = "Kind: scene\nName: SC_0\n".to_owned();
    for n in 1..5_000 {
        text += &format!("---\nKind: scene\nName: SC_{n}\nExtends: [SC_{}]\n", n - 1);
    }
    let found = found(&project(&[("chain.yaml", &text)]));
    assert!(found.iter().all(|f| f.0 == "too-many-scenes" || f.0 == "too-many-documents"), "{:?}", found.first());
    assert!(!found.is_empty());
}
