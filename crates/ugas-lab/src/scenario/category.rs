//! The debug categories of controllers, by which tools select actors.

use super::Scenario;
use std::collections::BTreeMap;
use ugas_data::Project;
use ugas_doc::Doc;

impl Scenario {
    /// Returns the `DebugCategory` of each actor whose controller document has one.
    ///
    /// ```
    /// let text = r#"
    /// Scenario: Two
    /// Entities:
    ///   - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
    ///   - Kind: gameplay_controller
    ///     OwnerActor: {ActorID: Knight, ActorType: PlayerCharacter}
    ///     AttributeSets: [{Name: Vitals}]
    ///     Metadata: {DebugCategory: heroes}
    /// Actors: {Ann: {Controller: Knight}, Stone: {AttributeSets: [Vitals]}}
    /// "#;
    /// let tree = &ugas_data::read_trees("two.yaml", text).unwrap()[0];
    /// let scenario = ugas_lab::Scenario::from_node("two.yaml", tree).unwrap();
    /// assert_eq!(scenario.categories().into_iter().collect::<Vec<_>>(), [("Ann".into(), "heroes".into())]);
    /// ```
    pub fn categories(&self) -> BTreeMap<String, String> {
        let mut known = BTreeMap::new();
        let mut note = |doc: &Doc| {
            if let Doc::Controller(c) = doc
                && let Some(category) = c.metadata.as_ref().and_then(|m| m.debug_category.clone())
            {
                known.insert(c.owner_actor.actor_id.clone(), category);
            }
        };
        for folder in self.pack_folders() {
            let (project, _) = Project::open_readable(&folder);
            let docs = project.sources().iter().flat_map(|s| &s.docs).filter_map(|d| d.loaded.as_ref());
            docs.for_each(|loaded| note(&loaded.doc));
        }
        self.entities.iter().for_each(|loaded| note(&loaded.doc));
        let of = |actor: &super::ActorDef| {
            // The name may be qualified with a namespace.
            let controller = actor.controller.as_ref()?.text.rsplit("::").next()?.to_owned();
            Some((actor.name.text.clone(), known.get(&controller)?.clone()))
        };
        self.actors.iter().filter_map(of).collect()
    }
}
