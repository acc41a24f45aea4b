//! Look-ups by name. [`Rules::effect`] and its siblings return an error that names the nearest candidate of the same
//! kind; [`Rules::find_effect`] and its siblings return an `Option` where absence is not a mistake.

use super::Rules;
use crate::{
    AbilityId, AbilitySetId, AttributeId, CalcId, CurveId, EffectId, InputId, KeyId, NameKind, SetId, TagId,
    TaskKindId, TemplateId, TimelineId,
};

/// A name that the rules do not define, with the nearest defined name of the same kind.
///
/// ```
/// use ugas_core::Rules;
/// use ugas_doc::Effect;
/// let rules = Rules::builder().add(Effect::instant("GE_Burn")).build()?;
/// let error = rules.effect("GE_Brun").unwrap_err();
/// assert_eq!(error.to_string(), "unknown effect 'GE_Brun'; did you mean 'GE_Burn'?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of definition that was asked for.
    pub kind: NameKind,
    /// The name that was asked for.
    pub name: String,
    /// The nearest defined name of that kind, if one is close enough.
    pub nearest: Option<String>,
}

impl std::fmt::Display for UnknownName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown {} '{}'", self.kind, self.name.escape_debug())?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean '{nearest}'?"),
            None => Ok(()),
        }
    }
}
impl std::error::Error for UnknownName {}

macro_rules! by_name {
    ($($find:ident, $get:ident, $id:ident, $kind:ident, $what:literal;)*) => {
        impl Rules {$(
            #[doc = concat!("Returns the id of ", $what, ", or an error that names the nearest one.")]
            pub fn $get(&self, name: &str) -> Result<$id, UnknownName> {
                self.$find(name).ok_or_else(|| self.unknown_name(NameKind::$kind, name))
            }
        )*}
    };
}
by_name! {
    find_attribute, attribute, AttributeId, Attribute, "an attribute (`Health`, or `Vitals.Health`, which names its set)";
    find_set, set, SetId, Set, "an attribute set";
    find_tag, tag, TagId, Tag, "a tag";
    find_effect, effect, EffectId, Effect, "an effect";
    find_ability, ability, AbilityId, Ability, "an ability";
    find_ability_set, ability_set, AbilitySetId, AbilitySet, "an ability set";
    find_timeline, timeline, TimelineId, Timeline, "a timeline";
    find_task_kind, task_kind, TaskKindId, TaskKind, "a task type";
    find_curve, curve, CurveId, Curve, "a curve";
    find_calculator, calculator, CalcId, Calculation, "a calculation";
    find_key, key, KeyId, Key, "a set-by-caller key";
    find_input, input, InputId, Input, "an input";
    find_template, template, TemplateId, Template, "a controller template, by the `ActorID` of its document";
}

impl Rules {
    /// Finds an attribute by name: `Health`, or `Vitals.Health`, which names its set. Where several sets define `Health`,
    /// the second form means the attribute only on controllers that have that set.
    pub fn find_attribute(&self, name: &str) -> Option<AttributeId> {
        self.attributes.find(name).map(AttributeId).or_else(|| self.attribute_of_set(name))
    }
    /// Finds an attribute set by name.
    pub fn find_set(&self, name: &str) -> Option<SetId> {
        self.set_names.find(name).map(SetId).filter(|&s| self.set_def(s).is_some())
    }
    /// Finds a tag by name.
    pub fn find_tag(&self, name: &str) -> Option<TagId> {
        self.tags.find(name)
    }
    /// Finds an effect by name.
    pub fn find_effect(&self, name: &str) -> Option<EffectId> {
        self.effect_names.find(name).map(EffectId).filter(|&e| self.effect_def(e).is_some())
    }
    /// Finds an ability by name.
    pub fn find_ability(&self, name: &str) -> Option<AbilityId> {
        self.ability_names.find(name).map(AbilityId).filter(|&a| self.ability_def(a).is_some())
    }
    /// Finds an ability set by name.
    pub fn find_ability_set(&self, name: &str) -> Option<AbilitySetId> {
        self.ability_set_names.find(name).map(AbilitySetId).filter(|&s| self.ability_set_def(s).is_some())
    }
    /// Finds a timeline by name.
    pub fn find_timeline(&self, name: &str) -> Option<TimelineId> {
        self.timeline_names.find(name).map(TimelineId).filter(|&t| self.timeline_def(t).is_some())
    }
    /// Finds a task type by name.
    pub fn find_task_kind(&self, name: &str) -> Option<TaskKindId> {
        self.task_names.find(name).map(TaskKindId)
    }
    /// Finds a curve by name.
    pub fn find_curve(&self, name: &str) -> Option<CurveId> {
        self.curve_names.find(name).map(CurveId).filter(|c| self.curves[c.index()].is_some())
    }
    /// Finds a calculation by name.
    pub fn find_calculator(&self, name: &str) -> Option<CalcId> {
        self.calc_names.find(name).map(CalcId).filter(|c| self.calcs[c.index()].is_some())
    }
    /// Finds a set-by-caller key by name.
    pub fn find_key(&self, name: &str) -> Option<KeyId> {
        self.key_names.find(name).map(KeyId)
    }
    /// Finds an input by name.
    pub fn find_input(&self, name: &str) -> Option<InputId> {
        self.input_names.find(name).map(InputId)
    }
    /// Finds a controller template by the `ActorID` of its document.
    pub fn find_template(&self, name: &str) -> Option<TemplateId> {
        self.template_names.find(name).map(TemplateId).filter(|t| self.templates[t.index()].is_some())
    }

    fn unknown_name(&self, kind: NameKind, name: &str) -> UnknownName {
        let nearest = self.nearest_name(kind, name).map(str::to_owned);
        UnknownName { kind, name: name.to_owned(), nearest }
    }

    /// Returns the defined name of a kind that is most like a misspelt one, if one is close enough.
    ///
    /// ```
    /// use ugas_core::{NameKind, Rules};
    /// use ugas_doc::Effect;
    /// let rules = Rules::builder().add(Effect::instant("GE_Burn")).build()?;
    /// assert_eq!(rules.nearest_name(NameKind::Effect, "GE_Bun"), Some("GE_Burn"));
    /// assert_eq!(rules.nearest_name(NameKind::Ability, "GE_Bun"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest_name(&self, kind: NameKind, name: &str) -> Option<&str> {
        fn there<T>(table: &[Option<T>], id: u32) -> bool {
            table.get(id as usize).is_some_and(Option::is_some)
        }
        match kind {
            NameKind::Attribute => self.attributes.nearest_of(name, |id| self.is_defined(AttributeId(id))),
            NameKind::Set => self.set_names.nearest_of(name, |id| there(&self.sets, id)),
            NameKind::Tag => self.tags.nearest(name),
            NameKind::Effect => self.effect_names.nearest_of(name, |id| there(&self.effects, id)),
            NameKind::Ability => self.ability_names.nearest_of(name, |id| there(&self.abilities, id)),
            NameKind::AbilitySet => self.ability_set_names.nearest_of(name, |id| there(&self.ability_sets, id)),
            NameKind::Timeline => self.timeline_names.nearest_of(name, |id| there(&self.timelines, id)),
            NameKind::TaskKind => self.task_names.nearest(name),
            NameKind::Curve => self.curve_names.nearest_of(name, |id| there(&self.curves, id)),
            NameKind::Calculation => self.calc_names.nearest_of(name, |id| there(&self.calcs, id)),
            NameKind::Key => self.key_names.nearest(name),
            NameKind::Input => self.input_names.nearest(name),
            NameKind::Template => self.template_names.nearest_of(name, |id| there(&self.templates, id)),
            NameKind::Definition => None,
        }
    }
}
