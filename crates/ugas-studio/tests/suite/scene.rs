//! A session of a scene: the placements of the scene and of the scenes it extends, each with its additions to the
//! controller.

use ugas_data::Project;
use ugas_studio::Library;
use ugas_studio::session::Session;

const CONTROLLERS: &str = "\
Kind: gameplay_tag
Tags: [{Tag: State.Alert}]
---
Kind: attribute_set
Name: Vitals
Attributes:
  - {Name: Health, DefaultBaseValue: 100}
  - {Name: Armor, DefaultBaseValue: 0}
---
Kind: gameplay_effect
Name: GE_Shield
DurationPolicy: Infinite
Modifiers: [{Attribute: Armor, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 5}}]
---
Kind: gameplay_controller
OwnerActor: {ActorID: Guard}
AttributeSets: [{Name: Vitals}]
---
Kind: scene
Name: SC_Wall
Placements: [{Controller: Guard, InstanceId: watch, Position: [1, 0, 0]}]
";

/// Opens a scene with a gate whose placement has `fields`; the scene extends another scene with a wall.
fn gate(fields: &str) -> Result<Session, String> {
    let mut project = Project::default();
    project.put("all.yaml", CONTROLLERS);
    let placement = format!("{{Controller: Guard, InstanceId: captain{fields}}}");
    project.put("gate.yaml", format!("Kind: scene\nName: SC_Gate\nExtends: [SC_Wall]\nPlacements: [{placement}]\n"));
    let library = Library::new(project, None).map_err(|findings| format!("{findings:?}"))?;
    Session::of_scene(library, "SC_Gate", 7)
}

#[test]
fn a_scene_spawns_what_it_extends_and_what_a_placement_adds() {
    let session = gate(
        ", StartupTags: [State.Alert], StartupEffects: [GE_Shield], AttributeOverrides: {Health: 250}, Enabled: true",
    );
    let session = session.unwrap();
    let rules = session.library().rules();
    let (health, armor) = (rules.attribute("Health").unwrap(), rules.attribute("Armor").unwrap());
    let values = |name: &str| {
        let who = session.who(name).unwrap();
        let alert = session.sim().has_tag(who, rules.tag("State.Alert").unwrap()).unwrap();
        (session.sim().get(who, health).unwrap(), session.sim().get(who, armor).unwrap(), alert)
    };
    assert_eq!(values("captain"), (250.0, 5.0, true));
    assert_eq!(values("watch"), (100.0, 0.0, false));
    assert_eq!(session.sim().controllers().count(), 2);
}

#[test]
fn a_tag_that_only_a_scene_uses_opens_as_the_check_says() {
    let session = gate(", StartupTags: [State.Asleep]").unwrap();
    let tag = session.library().rules().tag("State.Asleep").unwrap();
    assert_eq!(session.sim().has_tag(session.who("captain").unwrap(), tag), Ok(true));
    let refused = gate(", StartupTags: ['not a tag']").err().unwrap();
    assert!(refused.contains("not a tag"), "{refused}");
}

#[test]
fn a_disabled_placement_is_not_spawned() {
    let session = gate(", Enabled: false").unwrap();
    assert_eq!((session.who("captain"), session.sim().controllers().count()), (None, 1));
}

#[test]
fn a_duplicate_instance_is_refused_with_the_reason() {
    let mut project = Project::default();
    project.put("all.yaml", CONTROLLERS);
    let twice =
        "Kind: scene\nName: SC_Gate\nExtends: [SC_Wall]\nPlacements: [{Controller: Guard, InstanceId: watch}]\n";
    project.put("gate.yaml", twice);
    let library = Library::new(project, None);
    // Either the documents are refused, or the scene is.
    let refused = match library {
        Err(findings) => findings.iter().map(|f| f.message.clone()).collect(),
        Ok(library) => Session::of_scene(library, "SC_Gate", 7).err().unwrap_or_default(),
    };
    assert!(refused.contains("watch"), "{refused}");
}
