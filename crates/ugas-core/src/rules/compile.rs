//! The state of the compiler, and the compilation of tags. Each kind of document is compiled in a separate file. The
//! compiler collects all errors.

use super::Rules;
use super::document::{Phase, RulesDocument};
use super::effect::EffectDef;
use super::error::LoadIssue;
use super::lookup::suggestion;
use super::tag::{MAX_NAME, tag_segments};
use crate::{NameKind, SetId, TagId};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_doc::{Origin, TagRegistry};

pub(crate) struct Compiler<'r> {
    /// Owned while rules are built; borrowed and never changed while a run-time definition is compiled.
    pub(crate) rules: Cow<'r, Rules>,
    /// The definitions of this build, collected before any document is compiled.
    pub(crate) declared: BTreeSet<(NameKind, u32)>,
    pub(crate) issues: Vec<LoadIssue>,
    pub(crate) document: String,
    pub(crate) origin: Option<Origin>,
    /// Attribute sets in document order. They are validated when all of them are known.
    pub(crate) defined: Vec<(SetId, String, Option<Origin>)>,
}

impl RulesDocument for TagRegistry {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn declare(&self, c: &mut Compiler<'_>) {
        for t in &self.tags {
            match tag_segments(&t.tag) {
                Some(_) => {
                    c.rules.to_mut().tags.intern(&t.tag);
                }
                None => c.bad_tag(&t.tag),
            }
        }
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.registry(self);
    }
}

impl Compiler<'_> {
    pub(crate) fn bad_tag(&mut self, name: &str) {
        if name.len() > MAX_NAME {
            let head: String = name.chars().take(32).collect();
            let message = format!("{head}… is not a valid tag: it has {} bytes; use at most {MAX_NAME}", name.len());
            return self.error("bad-tag", message);
        }
        self.error(
            "bad-tag",
            format!(
                "{name:?} is not a valid tag; write segments such as State.Debuff, each A-Z, then letters or digits"
            ),
        );
    }

    fn registry(&mut self, doc: &TagRegistry) {
        for entry in &doc.tags {
            let Some(tag) = self.rules.tags.find(&entry.tag) else {
                continue;
            };
            let def = self.rules.to_mut().tags.def_mut(tag);
            if def.declared && def.allow_multiple != entry.allow_multiple {
                let message = format!(
                    "{} has AllowMultiple {} here and {} in an earlier declaration, which is used; write the same",
                    entry.tag, entry.allow_multiple, def.allow_multiple
                );
                self.warn("tag-conflict", message);
                continue;
            }
            def.declared = true;
            def.allow_multiple = entry.allow_multiple;
        }
    }

    pub(crate) fn tag_list(&mut self, names: &[String]) -> Box<[TagId]> {
        names.iter().filter_map(|n| self.tag(n)).collect()
    }

    /// Resolves the tags of two lists with the same meaning.
    pub(crate) fn tags_of(&mut self, lists: [&[String]; 2]) -> Box<[TagId]> {
        lists.into_iter().flatten().filter_map(|n| self.tag(n)).collect()
    }

    /// Resolves a tag. Using a tag declares it, except at run time.
    pub(crate) fn tag(&mut self, name: &str) -> Option<TagId> {
        if tag_segments(name).is_none() {
            self.bad_tag(name);
            return None;
        }
        if let Some(tag) = self.rules.find_tag(name) {
            return Some(tag);
        }
        if self.is_fixed() {
            let near = suggestion(self.rules.tags.nearest(name));
            let message = format!("unknown tag {name}, and a run-time definition cannot add tags{near}");
            self.error("undeclared-tag", message);
            return None;
        }
        let near = match self.are_suggestions_too_costly(self.rules.tags.len()) {
            true => String::new(),
            false => suggestion(self.rules.tags.nearest_declared(name)),
        };
        self.warn("undeclared-tag", format!("no tag registry declares {name}{near}"));
        Some(self.rules.to_mut().tags.intern(name))
    }

    /// Reports problems that need all tags to be known.
    pub(crate) fn lint_tags(&mut self) {
        let tags: Vec<(TagId, String)> =
            self.rules.tags.ids().map(|t| (t, self.rules.tag_name(t).unwrap_or("").to_owned())).collect();
        for (_, name) in &tags {
            let levels = name.split('.').count();
            if levels > 5 {
                self.about(name, None);
                self.warn("tag-depth", format!("the tag has {levels} levels; write at most 5"));
            }
        }
        // The first child of each tag, found once: a search per grant would cost effects times tags.
        let mut children: BTreeMap<TagId, &str> = BTreeMap::new();
        for (tag, name) in &tags {
            if let Some(parent) = self.rules.tags.parent(*tag) {
                children.entry(parent).or_insert(name);
            }
        }
        let effects: Vec<Arc<EffectDef>> = self.rules.effects.iter().flatten().cloned().collect();
        for e in effects {
            for &tag in &e.granted_tags {
                if let Some(child) = children.get(&tag) {
                    let parent = self.rules.tag_name(tag).unwrap_or("").to_owned();
                    self.about(&e.name, e.origin.clone());
                    self.warn(
                        "parent-granted",
                        format!("grants {parent}, which has child tags such as {child}; grant a child tag instead"),
                    );
                }
            }
            for &cue in &e.cues {
                let name = self.rules.tag_name(cue).unwrap_or("").to_owned();
                if !name.starts_with("GameplayCue.") {
                    self.about(&e.name, e.origin.clone());
                    self.warn(
                        "cue-prefix",
                        format!("the cue {name} lacks the prefix GameplayCue; rename it to GameplayCue.{name}"),
                    );
                }
            }
        }
    }
}
