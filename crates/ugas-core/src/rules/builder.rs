//! The builder of rules. It compiles documents, adds the registered code, and returns the rules or all errors.

use super::calc::{AfterCx, Calc, CalcDef, Calculator, DamageCx, FnCalculator, HookCx, Read, ReadDef, ResourceCx};
use super::combat_fn::{CombatChange, CombatCx, CombatFn};
use super::compile::Compiler;
use super::document::{Phase, RulesDocument, rules_document};
use super::error::{LoadError, LoadIssue, Severity};
use super::hook::{AbilityHookCx, ActivationHook, HookReads};
use super::{INITIAL_TAGS_NAME, NameTable, Rules};
use crate::{CapabilityId, HookId, NameKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_doc::{Doc, DocumentKind, Effect, Origin};

/// A builder of rules. It collects documents and code. [`RulesBuilder::build`] compiles the documents.
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
    /// Whether the host code of the older rules is kept.
    keeps_code: bool,
    docs: Vec<(Doc, Option<Origin>)>,
    calcs: Vec<(String, Arc<dyn Calculator>)>,
    hooks: Vec<(String, HookCode)>,
    pub(super) codes: Vec<(String, Arc<dyn super::coded::ErasedAbility>)>,
    pub(super) tasks: Vec<(String, Arc<dyn super::code::ErasedTask>)>,
    /// Capabilities with their code, or without code if they are only announced.
    pub(super) capabilities: Vec<(String, Option<Arc<dyn super::capability_code::ErasedCapability>>)>,
}

enum HookCode {
    Before(super::calc::Predicate),
    After(super::calc::AfterHook),
    Damage(super::calc::OnDamage),
    Requirement(super::calc::Predicate),
    Avatar(super::calc::Predicate),
    Activation(ActivationHook),
    Resource(super::calc::OnResource),
    Combat(CombatFn),
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
            HookCode::Resource(_) => "a resource hook",
            HookCode::Combat(_) => "a combat function",
        }
    }
}

impl RulesBuilder {
    /// Returns an empty builder.
    pub fn new() -> RulesBuilder {
        RulesBuilder::default()
    }

    /// Keeps the ids of older rules. Every name in `rules` keeps its id, and new names get new ids. The definitions and
    /// code of `rules` are not copied.
    pub fn after(mut self, rules: Arc<Rules>) -> RulesBuilder {
        self.before = Some(rules);
        self
    }

    /// Keeps the ids of older rules like [`RulesBuilder::after`], and also their host code: calculators, hooks, task
    /// types and coded abilities. Call this method before other code is registered.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Attribute, AttributeSet, Effect};
    /// let set = || AttributeSet::new("V").with(Attribute::new("Health", 100.0));
    /// let hit = |times: usize| (0..times).fold(Effect::instant("GE_Hit"), |hit, _| hit.execute("ExecCalc_Hit"));
    /// let old = Rules::builder().add(set()).add(hit(1)).calc_fn("ExecCalc_Hit", [], |cx| cx.add("Health", -1.0)).build()?;
    /// let new = Rules::builder().after_with_code(old).add(set()).add(hit(2)).build()?;
    /// assert!(new.find_calculator("ExecCalc_Hit").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn after_with_code(mut self, rules: Arc<Rules>) -> RulesBuilder {
        let code_of = |at: usize| rules.calcs.get(at as u32).filter(|def| def.formulas.is_none()).map(|def| &def.code);
        let calcs = rules.calcs.names().list().iter().enumerate();
        self.calcs.extend(calcs.filter_map(|(at, name)| Some((name.to_string(), code_of(at)?.clone()))));
        let tasks = rules.task_code.iter().filter_map(|(id, code)| Some((rules.task_names.name(id.0)?, &code.0)));
        self.tasks.extend(tasks.map(|(name, code)| (name.to_owned(), code.clone())));
        let codes = rules.ability_code.iter().filter_map(|(id, code)| Some((rules.ability_name(*id)?, &code.0)));
        self.codes.extend(codes.map(|(name, code)| (name.to_owned(), code.clone())));
        let capabilities = (0..).map(CapabilityId).zip(&rules.capability_code);
        let capabilities =
            capabilities.filter_map(|(id, code)| Some((rules.capability_name(id)?, &code.as_ref()?.code)));
        self.capabilities.extend(capabilities.map(|(name, code)| (name.to_owned(), Some(code.clone()))));
        self.keeps_code = true;
        self.after(rules)
    }

    /// Adds a document created in code.
    #[allow(clippy::should_implement_trait)]
    pub fn add(mut self, doc: impl Into<Doc>) -> RulesBuilder {
        self.docs.push((doc.into(), None));
        self
    }

    /// Adds a document with its origin (file and line), which error messages show.
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

    /// Registers a hook that runs immediately before an effect is applied and may refuse the application.
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

    /// Registers the validator for a change of avatar. The validator decides which effects bound to the avatar's
    /// position stay active.
    pub fn avatar_validator(mut self, valid: impl Fn(&HookCx<'_>) -> bool + Send + Sync + 'static) -> RulesBuilder {
        self.hooks.push(("AvatarValidator".into(), HookCode::Avatar(Arc::new(valid))));
        self
    }

    /// Registers a hook that abilities refer to with `CanActivate`. `reads` declares which state the hook reads, which
    /// determines whether the result of the hook may be cached.
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

    /// Registers a hook that runs after each change of a resource, after the effects in `OnChanged` of the resource. The
    /// hook may request further effects.
    ///
    /// ```
    /// use ugas_core::{Rules, Spec};
    /// use ugas_doc::{Effect, Resource};
    /// let rules = Rules::builder()
    ///     .add(Resource::new("Rage", 0.0).max(100.0))
    ///     .add(Effect::infinite("GE_Enraged").grants("State.Enraged"))
    ///     .resource_hook("Enrage", |cx| {
    ///         if cx.new == 100.0 && let Some(enraged) = cx.rules().find_effect("GE_Enraged") {
    ///             cx.then(Spec::new(enraged, cx.who));
    ///         }
    ///     })
    ///     .build();
    /// assert!(rules.is_ok());
    /// ```
    pub fn resource_hook(
        mut self,
        name: impl Into<String>,
        hook: impl Fn(&mut ResourceCx<'_>) + Send + Sync + 'static,
    ) -> RulesBuilder {
        self.hooks.push((name.into(), HookCode::Resource(Arc::new(hook))));
        self
    }

    /// Registers a function that combat rules refer to with `Function`. For each event, the function returns a change, a
    /// restriction or nothing. `reads` declares the attributes of source and target that the function reads.
    ///
    /// ```
    /// use ugas_core::{CombatChange, Read, Rules};
    /// use ugas_doc::{Attribute, AttributeSet, CombatRule, Effect};
    /// let mut armor = Effect::infinite("GE_Armor");
    /// let function = Some("Armor".to_owned());
    /// armor.rules.push(CombatRule { on: "DamageTaken".into(), function, ..CombatRule::default() });
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("V").with(Attribute::new("Health", 100.0)).with(Attribute::new("Armor", 50.0)))
    ///     .add(armor)
    ///     .combat_fn("Armor", [Read::target("Armor")], |cx| {
    ///         CombatChange::Factor(100.0 / (100.0 + cx.target("Armor").unwrap_or(0.0)))
    ///     })
    ///     .build();
    /// assert!(rules.is_ok());
    /// ```
    pub fn combat_fn(
        mut self,
        name: impl Into<String>,
        reads: impl IntoIterator<Item = Read>,
        decide: impl Fn(&mut CombatCx<'_>) -> CombatChange + Send + Sync + 'static,
    ) -> RulesBuilder {
        let function =
            CombatFn { reads: reads.into_iter().collect(), declared: Box::default(), decide: Arc::new(decide) };
        self.hooks.push((name.into(), HookCode::Combat(function)));
        self
    }

    /// Compiles all documents, adds the registered code, and returns the rules or all errors.
    pub fn build(mut self) -> Result<Arc<Rules>, LoadError> {
        let mut c = Compiler::new(self.before.as_deref());
        let initial = Doc::from(Effect::infinite(INITIAL_TAGS_NAME));
        c.rules.to_mut().intern(NameKind::Effect, INITIAL_TAGS_NAME);
        let docs: Vec<(Doc, Option<Origin>)> = std::mem::take(&mut self.docs);
        let has_resources = docs.iter().any(|(doc, _)| doc.kind() == ugas_doc::Kind::Resource);
        let modify = has_resources.then(|| (Doc::from(super::resource::modify_effect()), None));
        let docs: Vec<_> = std::iter::once((initial, None)).chain(docs).chain(modify).collect();

        self.declare(&mut c, &docs);
        for (name, code) in &self.tasks {
            c.custom_task(name, code.clone());
        }
        let mut unread: Vec<(String, String)> = Vec::new();
        for &phase in Phase::ALL {
            compile_documents(&mut c, phase, &docs);
            match phase {
                Phase::Sets => {
                    c.finish_sets();
                    c.finish_action_sets();
                    unread = c.resolve_combat_reads();
                }
                Phase::Calculations => unread.extend(self.add_calculators(&mut c)),
                Phase::Abilities => {
                    self.codes.iter().for_each(|(name, code)| c.ability_code(name, code.clone()));
                    self.capabilities.iter().for_each(|(name, code)| c.capability_code(name, code.clone()));
                }
                Phase::AbilitySets => c.finish_capability_sets(&capability_sets(&docs)),
                Phase::Curves | Phase::Effects | Phase::Timelines | Phase::Controllers | Phase::Scenes => {}
            }
        }
        for (name, why) in unread {
            // If a document has the same error, its report contains file and line, so this report is omitted.
            if !c.issues.iter().any(|i| i.code == "unknown-attribute" && i.message.ends_with(&why)) {
                c.about(&name, None);
                c.error("unknown-attribute", format!("reads the {why}"));
            }
        }
        for (doc, _) in &docs {
            c.rules.to_mut().note(doc);
        }
        // The first document is built in, and so is the last one of rules with resources.
        let last = docs.len() - has_resources as usize;
        c.rules.to_mut().documents = docs.into_iter().take(last).skip(1).map(|(doc, _)| Arc::new(doc)).collect();
        c.finish()
    }

    /// Adds the host's calculators. Each replaces a calculation document of the same name. Returns the declared reads
    /// that no attribute set defines.
    fn add_calculators(&self, c: &mut Compiler<'_>) -> Vec<(String, String)> {
        let mut unread = Vec::new();
        for (name, code) in &self.calcs {
            let def = CalcDef { code: code.clone(), reads: [].into(), params: [].into(), rolls: false, formulas: None };
            unread.extend(c.calculator(name, def).into_iter().map(|why| (name.clone(), why)));
        }
        unread
    }

    /// Assigns an id to every defined name before documents are compiled, so that documents may refer to each other in
    /// any order.
    fn declare(&self, c: &mut Compiler<'_>, docs: &[(Doc, Option<Origin>)]) {
        let mut seen: BTreeMap<(ugas_doc::Kind, &str), (ugas_doc::Kind, Option<&Origin>)> = BTreeMap::new();
        for (doc, origin) in docs {
            c.about(doc.name(), origin.clone());
            let first = seen.insert((named_as(doc.kind()), doc.name()), (doc.kind(), origin.as_ref()));
            if let Some((kind, first)) = first
                && doc.kind().defines().is_some()
            {
                let place = first.map_or(String::new(), |o| format!(", at {}:{}", o.file, o.line));
                c.error("duplicate-name", format!("another {} already has this name{place}; rename one", kind.name()));
            }
            rules_document(doc).declare(c);
        }
        for (doc, origin) in docs {
            let Some(effect) = rules_document(doc).own_effect() else { continue };
            if seen.contains_key(&(ugas_doc::Kind::Effect, &*effect.name)) {
                c.about(doc.name(), origin.clone());
                let message = format!(
                    "the effect name {} is reserved for the ability's ActivationOwnedTags; rename the effect",
                    effect.name
                );
                c.error("duplicate-name", message);
            }
            c.declare(NameKind::Effect, &effect.name);
        }
        self.declare_code(c);
    }

    /// Assigns ids to calculators and hooks.
    fn declare_code(&self, c: &mut Compiler<'_>) {
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut once = |c: &mut Compiler<'_>, kind: &'static str, name| {
            c.about(name, None);
            if !seen.insert((kind, name)) {
                c.error("duplicate-name", format!("{kind} with this name is already registered; choose another name"));
            }
        };
        if let Some(before) = self.before.as_ref().filter(|_| self.keeps_code) {
            c.rules.to_mut().hooks = before.hooks.clone();
        }
        for (name, _) in &self.calcs {
            once(c, "a calculator", name);
            c.declare(NameKind::Calculation, name);
        }
        for (name, _) in &self.capabilities {
            once(c, "a capability", name);
            c.declare(NameKind::Capability, name);
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
                HookCode::Resource(f) => hooks.resource.push(f.clone()),
                HookCode::Combat(function) => {
                    hooks.combat.insert(id, function.clone());
                }
            }
        }
    }
}

/// Returns the kind with which a kind shares its names: attributes, stat tables and resources are attribute sets, and
/// capability sets are ability sets.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other kind has names of its own")]
fn named_as(kind: ugas_doc::Kind) -> ugas_doc::Kind {
    use ugas_doc::Kind;
    match kind {
        Kind::Attribute | Kind::StatTable | Kind::Resource => Kind::AttributeSet,
        Kind::CapabilitySet => Kind::AbilitySet,
        _ => kind,
    }
}

/// Returns the capability sets among the documents.
fn capability_sets(docs: &[(Doc, Option<Origin>)]) -> Vec<(&ugas_doc::CapabilitySet, Option<Origin>)> {
    docs.iter().filter_map(|(doc, origin)| Some((ugas_doc::CapabilitySet::of(doc)?, origin.clone()))).collect()
}

/// Compiles the documents of one phase in order. The effect phase also compiles the effects inside other documents.
fn compile_documents(c: &mut Compiler<'_>, phase: Phase, docs: &[(Doc, Option<Origin>)]) {
    for (doc, origin) in docs {
        let document = rules_document(doc);
        c.about(doc.name(), origin.clone());
        if document.phase() == phase {
            document.compile(c, origin);
        }
        if phase == Phase::Effects
            && let Some(effect) = document.own_effect()
        {
            effect.compile(c, origin);
        }
    }
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
    /// Returns a compiler for new rules that keep the ids of older rules.
    fn new(before: Option<&Rules>) -> Compiler<'static> {
        let mut rules = before.map_or_else(Rules::empty, Rules::to_names);
        rules.tags.undeclare();
        for task in crate::task::BUILT_IN {
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

    /// Stores a calculator. Returns the attributes that it reads but no attribute set defines.
    pub(super) fn calculator(&mut self, name: &str, def: CalcDef) -> Vec<String> {
        let (mut reads, mut slips) = (Vec::new(), Vec::new());
        for r in def.code.reads() {
            match self.find_attribute(&r.attribute) {
                Ok(attribute) => reads.push(ReadDef { attribute, of_target: r.of_target, when: r.when }),
                Err(why) => slips.push(why),
            }
        }
        if let Some(id) = self.rules.names(NameKind::Calculation).find(name) {
            self.rules.to_mut().calcs.define(id, CalcDef { reads: reads.into(), ..def });
        }
        slips
    }

    fn finish(mut self) -> Result<Arc<Rules>, LoadError> {
        self.finish_suppression();
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
