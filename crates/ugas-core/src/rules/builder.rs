//! The builder: takes documents and code, and returns rules or every error.

use super::ability_compile::owned_tags_effect;
use super::calc::{AfterCx, Calc, CalcDef, Calculator, DamageCx, FnCalculator, HookCx, Read, ReadDef};
use super::compile::Compiler;
use super::curve::CurveDef;
use super::error::{LoadError, LoadIssue, Severity};
use super::hook::{AbilityHookCx, ActivationHook, HookReads};
use super::lookup::Kind;
use super::names::Names;
use super::tag::tag_segments;
use super::task_parse::BUILT_IN;
use super::{INITIAL_TAGS_NAME, Rules};
use crate::{AbilityId, AttributeId, EffectId, HookId, SetId};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_doc::{Attribute, AttributeSet, Doc, Effect, Origin};

/// Collects documents and code. [`RulesBuilder::build`] compiles them or returns every error.
///
/// ```
/// use ugas_core::{Read, Rules};
/// use ugas_doc::{Attribute, AttributeSet, Effect};
/// let rules = Rules::builder()
///     .add(AttributeSet::new("V").with(Attribute::new("Health", 100.0)).with(Attribute::new("Attack", 7.0)))
///     .add(Effect::instant("GE_Hit").execute("ExecCalc_Hit"))
///     .calc_fn("ExecCalc_Hit", [Read::source("Attack")], |cx| {
///         let attack = cx.source("Attack");
///         cx.add("Health", -attack);
///     })
///     .build()
///     .unwrap();
/// assert!(rules.find_calculator("ExecCalc_Hit").is_some());
/// ```
#[derive(Default)]
pub struct RulesBuilder {
    before: Option<Arc<Rules>>,
    docs: Vec<(Doc, Option<Origin>)>,
    calcs: Vec<(String, Arc<dyn Calculator>)>,
    hooks: Vec<(String, HookCode)>,
    pub(super) codes: Vec<(String, Arc<dyn super::coded::ErasedAbility>)>,
    pub(super) tasks: Vec<(String, Arc<dyn super::code::ErasedTask>)>,
}

enum HookCode {
    Before(super::calc::Predicate),
    After(super::calc::AfterHook),
    Damage(super::calc::OnDamage),
    Requirement(super::calc::Predicate),
    Avatar(super::calc::Predicate),
    Activation(ActivationHook),
}

impl HookCode {
    fn kind(&self) -> &'static str {
        match self {
            HookCode::Before(_) => "a before-hook",
            HookCode::After(_) => "an after-hook",
            HookCode::Damage(_) => "a damage hook",
            HookCode::Requirement(_) => "a requirement",
            HookCode::Avatar(_) => "an avatar validator",
            HookCode::Activation(_) => "an activation hook",
        }
    }
}

impl RulesBuilder {
    /// Returns an empty builder.
    pub fn new() -> RulesBuilder {
        RulesBuilder::default()
    }

    /// Keeps the ids of older rules: every known name keeps its id and new names get the ids after them. Definitions
    /// and code are not copied.
    pub fn after(mut self, rules: Arc<Rules>) -> RulesBuilder {
        self.before = Some(rules);
        self
    }

    /// Adds a document created in code.
    #[allow(clippy::should_implement_trait)]
    pub fn add(mut self, doc: impl Into<Doc>) -> RulesBuilder {
        self.docs.push((doc.into(), None));
        self
    }

    /// Adds a document from a file.
    pub fn add_at(mut self, doc: impl Into<Doc>, origin: Origin) -> RulesBuilder {
        self.docs.push((doc.into(), Some(origin)));
        self
    }

    /// Adds documents created in code.
    pub fn add_all(mut self, docs: impl IntoIterator<Item = Doc>) -> RulesBuilder {
        self.docs.extend(docs.into_iter().map(|d| (d, None)));
        self
    }

    /// Registers a calculator under the name that documents use.
    pub fn calculator(mut self, name: impl Into<String>, code: impl Calculator) -> RulesBuilder {
        self.calcs.push((name.into(), Arc::new(code)));
        self
    }

    /// Registers a closure as a calculator, with its declared reads.
    pub fn calc_fn(
        self,
        name: impl Into<String>,
        reads: impl IntoIterator<Item = Read>,
        run: impl Fn(&mut Calc<'_>) + Send + Sync + 'static,
    ) -> RulesBuilder {
        self.calculator(name, FnCalculator { reads: reads.into_iter().collect(), run })
    }

    /// Registers a hook that runs immediately before an effect changes a controller and may refuse it.
    pub fn before_hook(
        mut self,
        name: impl Into<String>,
        hook: impl Fn(&HookCx<'_>) -> bool + Send + Sync + 'static,
    ) -> RulesBuilder {
        self.hooks.push((name.into(), HookCode::Before(Arc::new(hook))));
        self
    }

    /// Registers a hook that runs immediately after an application and may request further effects.
    pub fn after_hook(
        mut self,
        name: impl Into<String>,
        hook: impl Fn(&mut AfterCx<'_>) + Send + Sync + 'static,
    ) -> RulesBuilder {
        self.hooks.push((name.into(), HookCode::After(Arc::new(hook))));
        self
    }

    /// Registers a hook that runs after each damage, healing or threat event and may request further effects.
    pub fn after_damage(
        mut self,
        name: impl Into<String>,
        hook: impl Fn(&mut DamageCx<'_>) + Send + Sync + 'static,
    ) -> RulesBuilder {
        self.hooks.push((name.into(), HookCode::Damage(Arc::new(hook))));
        self
    }

    /// Registers a requirement that effects refer to with `ApplicationRequirement`.
    pub fn requirement(
        mut self,
        name: impl Into<String>,
        holds: impl Fn(&HookCx<'_>) -> bool + Send + Sync + 'static,
    ) -> RulesBuilder {
        self.hooks.push((name.into(), HookCode::Requirement(Arc::new(holds))));
        self
    }

    /// Registers the validator that decides which effects bound to an avatar's place survive a change of avatar.
    pub fn avatar_validator(mut self, valid: impl Fn(&HookCx<'_>) -> bool + Send + Sync + 'static) -> RulesBuilder {
        self.hooks.push(("AvatarValidator".into(), HookCode::Avatar(Arc::new(valid))));
        self
    }

    /// Registers a hook that abilities refer to with `CanActivate`. `reads` declares whether its result may be cached.
    ///
    /// ```
    /// use ugas_core::{HookReads, Rules};
    /// use ugas_doc::{Ability, Attribute, AttributeSet};
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("V").with(Attribute::new("Mana", 10.0)))
    ///     .add(Ability::new("GA_Spell").hook("Rich"))
    ///     .can_activate("Rich", HookReads::Owner, |cx| cx.get("Mana") >= Some(5.0))
    ///     .build();
    /// assert!(rules.is_ok());
    /// ```
    pub fn can_activate(
        mut self,
        name: impl Into<String>,
        reads: HookReads,
        agrees: impl Fn(&AbilityHookCx<'_>) -> bool + Send + Sync + 'static,
    ) -> RulesBuilder {
        let hook = ActivationHook { own_only: reads == HookReads::Owner, run: Arc::new(agrees) };
        self.hooks.push((name.into(), HookCode::Activation(hook)));
        self
    }

    /// Compiles everything or returns every error.
    pub fn build(mut self) -> Result<Arc<Rules>, LoadError> {
        let mut c = Compiler::new(self.before.as_deref());
        let initial = Doc::from(Effect::infinite(INITIAL_TAGS_NAME));
        c.rules.to_mut().effect_names.intern(INITIAL_TAGS_NAME);
        let docs: Vec<(Doc, Option<Origin>)> =
            std::iter::once((initial, None)).chain(std::mem::take(&mut self.docs)).collect();

        self.declare(&mut c, &docs);
        for (name, code) in &self.tasks {
            c.custom_task(name, code.clone());
        }
        // Curves first: expressions of attributes and calculations contain them.
        for (doc, origin) in &docs {
            if let Doc::Curve(curve) = doc {
                c.about(doc.name(), origin.clone());
                c.curve_doc(curve);
            }
        }
        for (doc, origin) in &docs {
            c.about(doc.name(), origin.clone());
            match doc {
                Doc::Attribute(a) => c.set(&AttributeSet::new(a.name.clone()).with((**a).clone())),
                Doc::AttributeSet(s) => c.set(s),
                Doc::TagRegistry(r) => c.registry(r),
                Doc::Effect(_) | Doc::Ability(_) | Doc::Controller(_) => {}
                Doc::AbilitySet(_) | Doc::Timeline(_) | Doc::Calculation(_) | Doc::Curve(_) => {}
                // The host reads input and scene documents; only the names of actions are compared with grants.
                Doc::InputAction(action) => c.refuse_in_input_action(action),
                Doc::InputActionSet(_) | Doc::InputMapping(_) | Doc::InputModifier(_) => {}
                Doc::Scene(_) => {}
                Doc::Patch(patch) => {
                    let message =
                        format!("a patch of {} is applied where packs are read; read the pack's folder", patch.target);
                    c.error("patch-not-applied", message);
                }
            }
        }
        c.finish_sets();
        let mut slips = Vec::new();
        for (doc, origin) in &docs {
            if let Doc::Calculation(calculation) = doc {
                c.about(doc.name(), origin.clone());
                c.calculation_doc(calculation);
            }
        }
        // Host code replaces a document of the same name.
        for (name, code) in &self.calcs {
            let def = CalcDef { code: code.clone(), reads: [].into(), params: [].into(), rolls: false, formulas: None };
            slips.extend(c.calculator(name, def).into_iter().map(|why| (name, why)));
        }
        // Each kind after those it refers to: abilities refer to effects and timelines, templates to ability sets.
        for (doc, origin) in &docs {
            c.about(doc.name(), origin.clone());
            let owned = match doc {
                Doc::Ability(a) => owned_tags_effect(a),
                _ => None,
            };
            match (doc, &owned) {
                (Doc::Effect(e), _) => c.effect_doc(e, origin),
                (_, Some(e)) => c.effect_doc(e, origin),
                _ => {}
            }
        }
        for (doc, origin) in &docs {
            if let Doc::Timeline(t) = doc {
                c.about(doc.name(), origin.clone());
                c.timeline(t);
            }
        }
        for (doc, origin) in &docs {
            if let Doc::Ability(a) = doc {
                c.about(doc.name(), origin.clone());
                c.ability_doc(a, origin);
            }
        }
        for (name, code) in &self.codes {
            c.ability_code(name, code.clone());
        }
        for (doc, origin) in &docs {
            if let Doc::AbilitySet(s) = doc {
                c.about(doc.name(), origin.clone());
                c.ability_set(s);
            }
        }
        for (doc, origin) in &docs {
            if let Doc::Controller(t) = doc {
                c.about(doc.name(), origin.clone());
                c.template(t);
            }
        }
        for (name, why) in slips {
            // The same error in a document is reported there, with its file and line.
            if !c.issues.iter().any(|i| i.code == "unknown-attribute" && i.message.ends_with(&why)) {
                c.about(name, None);
                c.error("unknown-attribute", format!("reads the {why}"));
            }
        }
        for (doc, _) in &docs {
            c.rules.to_mut().note(doc);
        }
        c.finish()
    }

    /// Assigns an id to every defined name first, so that documents may refer to each other in any order.
    fn declare(&self, c: &mut Compiler<'_>, docs: &[(Doc, Option<Origin>)]) {
        let mut seen: BTreeMap<(u8, &str), Option<&Origin>> = BTreeMap::new();
        for (doc, origin) in docs {
            c.about(doc.name(), origin.clone());
            let first = seen.insert((doc.kind() as u8, doc.name()), origin.as_ref());
            // Several registries are merged, and an action set has one mapping per platform.
            if let Some(first) = first
                && !matches!(doc, Doc::TagRegistry(_) | Doc::InputMapping(_) | Doc::Patch(_))
            {
                let place = first.map_or(String::new(), |o| format!(", at {}:{}", o.file, o.line));
                c.error("duplicate-name", format!("another {} has this name already{place}", doc.kind().name()));
            }
            let rules = c.rules.to_mut();
            let declared = match doc {
                Doc::Attribute(a) => Some((Kind::Set, declare_set(rules, &a.name, [&**a]))),
                Doc::AttributeSet(s) => Some((Kind::Set, declare_set(rules, &s.name, &s.attributes))),
                Doc::TagRegistry(r) => {
                    for t in &r.tags {
                        match tag_segments(&t.tag) {
                            Some(_) => {
                                c.rules.to_mut().tags.intern(&t.tag);
                            }
                            None => c.bad_tag(&t.tag),
                        }
                    }
                    None
                }
                Doc::Effect(e) => Some((Kind::Effect, intern(&mut rules.effect_names, &mut rules.effects, &e.name))),
                Doc::Ability(a) => {
                    Some((Kind::Ability, intern(&mut rules.ability_names, &mut rules.abilities, &a.name)))
                }
                Doc::Controller(t) => {
                    intern(&mut rules.template_names, &mut rules.templates, &t.owner_actor.actor_id);
                    None
                }
                Doc::Curve(curve) => {
                    Some((Kind::Curve, intern(&mut rules.curve_names, &mut rules.curves, &curve.name)))
                }
                Doc::AbilitySet(s) => {
                    Some((Kind::AbilitySet, intern(&mut rules.ability_set_names, &mut rules.ability_sets, &s.name)))
                }
                Doc::Calculation(calculation) => {
                    intern(&mut rules.calc_names, &mut rules.calcs, &calculation.name);
                    None
                }
                Doc::InputAction(_) | Doc::InputActionSet(_) | Doc::InputMapping(_) | Doc::InputModifier(_) => None,
                Doc::Scene(_) | Doc::Patch(_) => None,
                Doc::Timeline(t) => {
                    Some((Kind::Timeline, intern(&mut rules.timeline_names, &mut rules.timelines, &t.name)))
                }
            };
            c.declared.extend(declared);
        }
        for (doc, origin) in docs {
            let Doc::Ability(a) = doc else { continue };
            let Some(effect) = owned_tags_effect(a) else { continue };
            if seen.contains_key(&(ugas_doc::Kind::Effect as u8, &*effect.name)) {
                c.about(&a.name, origin.clone());
                let message = format!("the effect {} is its own, for ActivationOwnedTags; rename yours", effect.name);
                c.error("duplicate-name", message);
            }
            let rules = c.rules.to_mut();
            let id = intern(&mut rules.effect_names, &mut rules.effects, &effect.name);
            c.declared.insert((Kind::Effect, id));
        }
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut once = |c: &mut Compiler<'_>, kind: &'static str, name| {
            c.about(name, None);
            if !seen.insert((kind, name)) {
                c.error("duplicate-name", format!("{kind} with this name is already registered"));
            }
        };
        for (name, _) in &self.calcs {
            once(c, "a calculator", name);
            let rules = c.rules.to_mut();
            intern(&mut rules.calc_names, &mut rules.calcs, name);
        }
        for (name, code) in &self.hooks {
            once(c, code.kind(), name);
            let rules = c.rules.to_mut();
            let id = HookId(rules.hook_names.intern(name));
            let hooks = &mut rules.hooks;
            match code {
                HookCode::Before(f) => hooks.before.push((id, f.clone())),
                HookCode::After(f) => hooks.after.push(f.clone()),
                HookCode::Damage(f) => hooks.damage.push(f.clone()),
                HookCode::Requirement(f) => {
                    hooks.requirements.insert(id, f.clone());
                }
                HookCode::Avatar(f) => hooks.avatar = Some(f.clone()),
                HookCode::Activation(hook) => {
                    hooks.activations.insert(id, hook.clone());
                }
            }
        }
    }
}

fn intern<T>(names: &mut Names, table: &mut Vec<Option<T>>, name: &str) -> u32 {
    let id = names.intern(name);
    while table.len() <= id as usize {
        table.push(None);
    }
    id
}

fn declare_set<'a>(rules: &mut Rules, name: &str, attributes: impl IntoIterator<Item = &'a Attribute>) -> u32 {
    let set = intern(&mut rules.set_names, &mut rules.sets, name);
    for a in attributes {
        let attribute = AttributeId(rules.attributes.intern(&a.name));
        rules.homes.insert((attribute, SetId(set)));
    }
    set
}

impl<'r> Compiler<'r> {
    /// Returns a compiler for a run-time definition on top of finished rules.
    pub(crate) fn over(rules: &'r Rules) -> Compiler<'r> {
        Compiler {
            rules: Cow::Borrowed(rules),
            declared: BTreeSet::new(),
            issues: Vec::new(),
            document: String::new(),
            origin: None,
            defined: Vec::new(),
        }
    }
}

impl Compiler<'_> {
    /// Returns a compiler for new rules that keep the ids of older ones.
    fn new(before: Option<&Rules>) -> Compiler<'static> {
        let mut rules = match before {
            // Names are kept, definitions and code are dropped: a name that no document defines any more is a
            // tombstone.
            Some(old) => Rules {
                sets: old.sets.iter().map(|_| None).collect(),
                effects: old.effects.iter().map(|_| None).collect(),
                abilities: old.abilities.iter().map(|_| None).collect(),
                curves: old.curves.iter().map(|_| None).collect(),
                calcs: old.calcs.iter().map(|_| None).collect(),
                templates: old.templates.iter().map(|_| None).collect(),
                ability_sets: old.ability_sets.iter().map(|_| None).collect(),
                timelines: old.timelines.iter().map(|_| None).collect(),
                by_montage: BTreeMap::new(),
                by_ability: BTreeMap::new(),
                task_code: BTreeMap::new(),
                ability_code: BTreeMap::new(),
                homes: BTreeSet::new(),
                hooks: super::Hooks::default(),
                attribute_patches: BTreeMap::new(),
                warnings: Vec::new(),
                prints: BTreeMap::new(),
                fingerprint: 1,
                ..old.clone()
            },
            None => Rules {
                tags: Default::default(),
                attributes: Default::default(),
                homes: BTreeSet::new(),
                aliases: Vec::new(),
                set_names: Default::default(),
                sets: Vec::new(),
                effect_names: Default::default(),
                effects: Vec::new(),
                ability_names: Default::default(),
                abilities: Vec::new(),
                ability_set_names: Default::default(),
                ability_sets: Vec::new(),
                timeline_names: Default::default(),
                timelines: Vec::new(),
                by_montage: BTreeMap::new(),
                by_ability: BTreeMap::new(),
                task_code: BTreeMap::new(),
                ability_code: BTreeMap::new(),
                task_names: Default::default(),
                group_names: BTreeMap::new(),
                param_names: BTreeMap::new(),
                curve_names: Default::default(),
                curves: Vec::new(),
                calc_names: Default::default(),
                calcs: Vec::new(),
                hook_names: Default::default(),
                hooks: super::Hooks::default(),
                key_names: Default::default(),
                input_names: Default::default(),
                template_names: Default::default(),
                templates: Vec::new(),
                attribute_patches: BTreeMap::new(),
                warnings: Vec::new(),
                prints: BTreeMap::new(),
                fingerprint: 1,
            },
        };
        rules.tags.undeclare();
        for task in &BUILT_IN {
            rules.task_names.intern(task.name);
        }
        Compiler {
            rules: Cow::Owned(rules),
            declared: BTreeSet::new(),
            issues: Vec::new(),
            document: String::new(),
            origin: None,
            defined: Vec::new(),
        }
    }

    pub(crate) fn about(&mut self, document: &str, origin: Option<Origin>) {
        self.document = document.to_owned();
        self.origin = origin;
    }

    pub(crate) fn error(&mut self, code: &'static str, message: String) {
        self.issue(Severity::Error, code, message);
    }

    pub(crate) fn warn(&mut self, code: &'static str, message: String) {
        self.issue(Severity::Warning, code, message);
    }

    fn issue(&mut self, severity: Severity, code: &'static str, message: String) {
        self.issues.push(LoadIssue {
            severity,
            code,
            document: self.document.clone(),
            message,
            origin: self.origin.clone(),
        });
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.issues.iter().any(|i| i.severity == Severity::Error)
    }

    fn curve_doc(&mut self, doc: &ugas_doc::Curve) {
        match (CurveDef::new(doc), self.rules.curve_names.find(&doc.name)) {
            (Ok(def), Some(id)) => self.rules.to_mut().curves[id as usize] = Some(Arc::new(def)),
            (Ok(_), None) => {}
            (Err(why), _) => self.error("bad-curve", why),
        }
    }

    /// Stores a calculator and returns those of its reads that no set defines.
    fn calculator(&mut self, name: &str, def: CalcDef) -> Vec<String> {
        let (mut reads, mut slips) = (Vec::new(), Vec::new());
        for r in def.code.reads() {
            match self.find_attribute(&r.attribute) {
                Ok(attribute) => reads.push(ReadDef { attribute, of_target: r.of_target, when: r.when }),
                Err(why) => slips.push(why),
            }
        }
        if let Some(id) = self.rules.calc_names.find(name) {
            self.rules.to_mut().calcs[id as usize] = Some(CalcDef { reads: reads.into(), ..def });
        }
        slips
    }

    fn calculation_doc(&mut self, doc: &ugas_doc::Calculation) {
        if let Some(formulas) = self.formulas(doc) {
            let (params, rolls, code) = (formulas.params().into(), formulas.rolls(), Arc::new(formulas));
            let def = CalcDef { code: code.clone(), reads: [].into(), params, rolls, formulas: Some(code) };
            self.calculator(&doc.name, def);
        }
    }

    fn effect_doc(&mut self, doc: &Effect, origin: &Option<Origin>) {
        let id = EffectId(self.rules.effect_names.find(&doc.name).unwrap_or(0));
        if let Some(def) = self.effect(doc, id, origin.clone()) {
            self.rules.to_mut().effects[id.index()] = Some(Arc::new(def));
        }
    }

    fn ability_doc(&mut self, doc: &ugas_doc::Ability, origin: &Option<Origin>) {
        let Some(id) = self.rules.ability_names.find(&doc.name).map(AbilityId) else { return };
        let owned = owned_tags_effect(doc).and_then(|e| self.rules.effect_names.find(&e.name)).map(EffectId);
        if let Some(def) = self.ability(doc, id, owned, origin.clone()) {
            self.rules.to_mut().abilities[id.index()] = Some(Arc::new(def));
        }
    }

    fn finish(mut self) -> Result<Arc<Rules>, LoadError> {
        self.rules.to_mut().tags.rank();
        self.lint_tags();
        if self.has_errors() {
            return Err(LoadError { issues: self.issues });
        }
        let mut rules = self.rules.into_owned();
        rules.name_shared_attributes();
        rules.seal();
        rules.warnings = self.issues;
        Ok(Arc::new(rules))
    }
}
