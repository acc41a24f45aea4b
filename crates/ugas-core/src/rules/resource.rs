//! The compiler of resources. A resource becomes an attribute set with the value and its bounds. A bound that follows a
//! stat is derived from the stat on controllers that have it, and a plain attribute on all others.

use super::Rules;
use super::attribute::AttributeDef;
use super::compile::Compiler;
use super::compiled::CompiledText;
use super::document::{Phase, RulesDocument};
use crate::{AttributeId, EffectId, NameKind, ResourceSpec, SetId};
use ugas_doc::{Combat, CombatKind, Controller, Effect, Origin, Resource, ResourceValues, STAT_PREFIX};

/// The name of the built-in effect that [`Op::ModifyResource`](crate::Op::ModifyResource) applies. Rules without
/// resources do not have it.
pub(crate) const MODIFY_RESOURCE_NAME: &str = "GE_ModifyResource";

/// What a resource has beside its attributes.
#[derive(Clone, Debug)]
pub(crate) struct ResourceDef {
    /// The attribute of the value.
    pub(crate) attribute: AttributeId,
    pub(crate) max: Option<BoundOf>,
    pub(crate) min: Option<BoundOf>,
    /// The effects that are applied and removed with the resource.
    pub(crate) effects: Box<[EffectId]>,
    /// The effects that are applied when the value changes.
    pub(crate) on_changed: Box<[EffectId]>,
}

/// A bound of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundOf {
    pub(crate) attribute: AttributeId,
    /// The id of the tag of the stat that the bound follows.
    pub(crate) stat: Option<AttributeId>,
}

impl CompiledText for ResourceDef {}

impl ResourceDef {
    /// Returns the stat that an attribute of the set follows as a bound.
    pub(crate) fn stat_of(&self, attribute: AttributeId) -> Option<AttributeId> {
        self.max.iter().chain(&self.min).find(|bound| bound.attribute == attribute)?.stat
    }
}

impl RulesDocument for Resource {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Set)
    }

    fn declare(&self, c: &mut Compiler<'_>) {
        c.declare_set(&self.name, &self.attribute_set().attributes);
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        let (max_stat, min_stat) = (c.bound_stat("MaxStat", &self.max_stat), c.bound_stat("MinStat", &self.min_stat));
        c.check_resource(self);
        // A stat with an error is already reported. Without it, its bound compiles.
        let keep = |stat: Option<AttributeId>, name: &Option<String>| name.clone().filter(|_| stat.is_some());
        let sound = Resource {
            max_stat: keep(max_stat, &self.max_stat),
            min_stat: keep(min_stat, &self.min_stat),
            max: self.max.or(self.max_stat.as_ref().map(|_| 0.0)),
            min: self.min.or(self.min_stat.as_ref().map(|_| 0.0)),
            ..self.clone()
        };
        c.set(&sound.attribute_set());
        let effects = self.effects.iter().filter_map(|e| c.effect_ref("Effects", e)).collect();
        let on_changed = self.on_changed.iter().filter_map(|e| c.effect_ref("OnChanged", e)).collect();
        let Some(id) = c.find(NameKind::Set, &self.name) else { return };
        let rules = c.rules.to_mut();
        let mut bound = |is_there: bool, which: &str, stat: Option<AttributeId>| {
            is_there.then(|| BoundOf { attribute: AttributeId(rules.attributes.intern(&self.bound_name(which))), stat })
        };
        let (max, min) = (bound(sound.max.is_some(), "Max", max_stat), bound(sound.min.is_some(), "Min", min_stat));
        let attribute = AttributeId(rules.attributes.intern(&self.name));
        if let Some(set) = rules.sets.get_mut(id) {
            set.resource = Some(Box::new(ResourceDef { attribute, max, min, effects, on_changed }));
        }
    }
}

impl Compiler<'_> {
    /// Returns the id of the stat that a bound follows, or reports an error.
    fn bound_stat(&mut self, field: &str, stat: &Option<String>) -> Option<AttributeId> {
        let stat = stat.as_ref()?;
        if !stat.starts_with(STAT_PREFIX) {
            self.error("bad-resource", format!("{field}: {stat} is not the tag of a stat; write Stat. and one name"));
            return None;
        }
        self.attribute_ref(field, stat)
    }

    fn check_resource(&mut self, doc: &Resource) {
        let numbers = [("Initial", Some(doc.initial)), ("Max", doc.max), ("Min", doc.min)];
        for (field, value) in numbers.into_iter().filter_map(|(field, value)| Some((field, value?))) {
            if !value.is_finite() {
                self.error("not-finite", format!("{field} is {value}; write a finite number"));
            }
        }
        if let (Some(min), Some(max)) = (doc.min, doc.max)
            && min > max
        {
            self.error("bad-resource", format!("Min {min} is above Max {max}; swap them"));
        }
        if doc.max_stat.is_some() && doc.max.is_none() {
            let message =
                "MaxStat: a controller without the stat has no maximum; add Max, the maximum of such a controller";
            self.error("bad-resource", message.into());
        }
    }

    /// Compiles the resources of a controller document.
    pub(crate) fn template_resources(&mut self, doc: &Controller) -> Vec<ResourceSpec> {
        let resources = doc.resources.iter().enumerate();
        resources.filter_map(|(at, values)| self.template_resource(doc, &format!("Resources[{at}]"), values)).collect()
    }

    fn template_resource(&mut self, doc: &Controller, place: &str, values: &ResourceValues) -> Option<ResourceSpec> {
        let name = &values.resource;
        let found = self.find(NameKind::Set, name).map(SetId);
        let Some(set) = found else {
            let near = self.nearest_suggestion(NameKind::Set, name);
            self.error("unknown-set", format!("{place}: unknown resource {name}{near}"));
            return None;
        };
        let Some(def) = self.rules.resource_def(set).cloned() else {
            let list = if self.rules.is_stat_table(set) { "Stats" } else { "AttributeSets" };
            self.error("unknown-set", format!("{place}: {name} is not a resource; move it to {list}"));
            return None;
        };
        let numbers = [("Initial", values.initial), ("Max", values.max), ("Min", values.min)];
        for (field, value) in numbers.into_iter().filter_map(|(field, value)| Some((field, value?))) {
            if !value.is_finite() {
                self.error("not-finite", format!("{place}.{field} is {value}; write a finite number"));
            }
        }
        let tables: Vec<SetId> = doc.stats.iter().filter_map(|t| self.find(NameKind::Set, t).map(SetId)).collect();
        for (field, value, bound) in [("Max", values.max, def.max), ("Min", values.min, def.min)] {
            if value.is_none() {
                continue;
            }
            let Some(bound) = bound else {
                let message = format!("{place}.{field}: {name} has no {field}; add {field} to the resource");
                self.error("bad-resource", message);
                continue;
            };
            if let Some(stat) = bound.stat.filter(|&stat| tables.iter().any(|&t| self.rules.table_has(t, stat))) {
                let stat = self.rules.attribute_name(stat).unwrap_or("?").to_owned();
                let message = format!("{place}.{field}: the bound follows {stat} of the controller; remove {field}");
                self.error("bad-resource", message);
            }
        }
        Some(ResourceSpec { resource: set, initial: values.initial, max: values.max, min: values.min })
    }
}

/// Returns the built-in effect that a change of a resource applies.
pub(super) fn modify_effect() -> Effect {
    let combat = Combat { kind: CombatKind::Resource, ..Combat::default() };
    Effect { combat: Some(combat), ..Effect::instant(MODIFY_RESOURCE_NAME) }
}

impl Rules {
    /// Returns the resource that an attribute set is, if it is one.
    pub(crate) fn resource_def(&self, set: SetId) -> Option<&ResourceDef> {
        self.set_def(set)?.resource.as_deref()
    }

    /// Returns whether a set is a stat table with the stat of this tag.
    pub(super) fn table_has(&self, table: SetId, stat: AttributeId) -> bool {
        self.set_def(table).is_some_and(|def| def.stats.iter().any(|s| s.alias == stat))
    }

    /// Returns whether one of these sets is a stat table whose stat has both the tag that a bound follows and the
    /// attribute name of the bound. On a controller with these sets, the stat is the bound.
    pub(super) fn is_bound_a_stat(&self, sets: &[SetId], resource: &ResourceDef, bound: &AttributeDef) -> bool {
        let Some(stat) = resource.stat_of(bound.attribute) else { return false };
        let is_it = |set: &SetId| {
            let def = self.set_def(*set);
            def.and_then(|def| def.stat(bound.attribute)).is_some_and(|s| s.alias == stat)
        };
        sets.iter().any(is_it)
    }

    /// Returns the attribute of a resource, or `None` if the attribute set is not a resource.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::Resource;
    /// let rules = Rules::builder().add(Resource::new("Mana", 100.0).max(100.0)).build()?;
    /// assert_eq!(rules.resource_attribute(rules.set("Mana")?), Some(rules.attribute("Mana")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resource_attribute(&self, set: SetId) -> Option<AttributeId> {
        Some(self.resource_def(set)?.attribute)
    }
}
